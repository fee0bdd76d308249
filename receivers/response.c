/* The saved response.
 *
 * In: a client's request with its key. Out: its effect, once, and the response to it; a repeat gets
 * the response that was saved for this client and request, without processing again. The row is
 * claimed before the effect and completed with the response before the same commit.
 */
#include "receivers/retention.h"

enum { CLAIM, SAVE, LOOK_UP };

static const struct statement statements[] = {
    {"INSERT INTO response(client, request) VALUES(?1, ?2)", "claim client and request"},
    {"UPDATE response SET status = ?3, receipt = ?4 WHERE client = ?1 AND request = ?2",
     "save response"},
    {"SELECT status, receipt FROM response WHERE client = ?1 AND request = ?2",
     "read saved response"},
    {NULL, NULL},
};

static const struct setting settings[] = {
    RETENTION_SETTINGS("retention", 0, REMOVAL_LOOK_UP),
    {.name = NULL},
};

static const struct keeping keeping = {.table = "response", .key = "client = ?1 AND request = ?2"};

static void answer_saved(struct handling *h)
{
    enum outcome o = sql(h, STEP_LOOK_UP, LOOK_UP, "tt", handling_client(h), handling_key(h));
    if (o != ROW) {
        give_up(h, o == OK ? STORE_ERROR : o);
        return;
    }
    enum reply_status status = (enum reply_status)handling_column_int(h, 0);
    int64_t receipt = handling_column_int(h, 1);
    o = retention_end_duplicate(h, handling_client(h), handling_key(h));
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, status, receipt);
}

static void response_handle(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = retention_look(h, handling_client(h), handling_key(h));
    }
    if (o == OK && retention_stale(h)) {
        rollback(h);
        return;
    }
    if (o == OK) {
        o = sql(h, STEP_CLAIM, CLAIM, "tt", handling_client(h), handling_key(h));
    }
    if (o == CONSTRAINT) {
        answer_saved(h);
        return;
    }
    if (o == OK) {
        o = apply_effect(h);
    }
    int64_t receipt = handling_receipt(h);
    if (o == OK) {
        o = sql(h, STEP_RECORD, SAVE, "ttii", handling_client(h), handling_key(h),
                (int64_t)REPLY_DONE, receipt);
    }
    if (o == OK) {
        o = retention_keep(h, handling_client(h), handling_key(h));
    }
    if (o == OK) {
        o = commit(h);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, receipt);
}

const struct receiver receiver_response = {
    .name = "response",
    .about = "the response saved per client and request, returned without processing again",
    .source = "U. Joshi, Patterns of Distributed Systems, Idempotent Receiver",
    .schema = "CREATE TABLE response(client TEXT NOT NULL, request TEXT NOT NULL, status INTEGER,"
              " receipt INTEGER, PRIMARY KEY(client, request)) WITHOUT ROWID;",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "client + request",
            [AXIS_SCOPE] = "client",
            [AXIS_STRUCTURE] = "set + response",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "saved response",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_WINDOW_CLOCK] = "none; with `retention`: see `starts` and `clock`",
            [AXIS_REMOVAL] = "never; see `retention`, `most`, `acknowledged`, `removal`",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_CLAIM) |
             STEP_BIT(STEP_LOOK_UP) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY) |
             STEP_BIT(STEP_EXPIRE),
    .saves_responses = true,
    .handle = response_handle,
    .keeping = &keeping,
};
