/* The body as the id: a canary where two messages may mean to say the same.
 *
 * The flaw: what travels twice and what is meant twice look alike. Two charges of one amount to one
 * order, each wanted, are taken for one message and its repeat; and a field that changes from
 * attempt to attempt (a time, a trace id) would make repeats look new. Right only where no two
 * operations ever have the same body.
 *
 * Met as "content-based deduplication", as a hash of the payload in a cache, and as a unique index
 * over the business columns.
 */
#include "receivers/retention.h"

enum { INSERT_BODY };

static const struct statement statements[] = {
    {"INSERT INTO processed_body(body) VALUES(?1)", "insert body"},
    {NULL, NULL},
};

static const struct setting settings[] = {
    RETENTION_SETTINGS("retention", 0, REMOVAL_LOOK_UP),
    {.name = NULL},
};

static const struct keeping keeping = {.table = "processed_body", .key = "body = ?1"};

static void content_hash_handle(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = retention_look(h, handling_body(h), NULL);
    }
    if (o == OK && retention_stale(h)) {
        rollback(h);
        return;
    }
    if (o == OK) {
        o = sql(h, STEP_RECORD, INSERT_BODY, "t", handling_body(h));
    }
    if (o == CONSTRAINT) {
        o = retention_end_duplicate(h, handling_body(h), NULL);
        if (o == OK) {
            reply(h, REPLY_DUPLICATE, 0);
            return;
        }
    }
    if (o == OK) {
        o = apply_effect(h);
    }
    if (o == OK) {
        o = retention_keep(h, handling_body(h), NULL);
    }
    if (o == OK) {
        o = commit(h);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

const struct receiver receiver_content_hash = {
    .name = "content_hash",
    .about = "duplicates recognised by their body, for ever; twins that are meant are lost",
    .source = "Amazon SQS FIFO content-based deduplication, without its window",
    .schema = "CREATE TABLE processed_body(body TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "content",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_WINDOW_CLOCK] = "none; with `retention`: see `starts` and `clock`",
            [AXIS_REMOVAL] = "never; see `retention`, `most`, `acknowledged`, `removal`",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) |
             STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_LOOK_UP) | STEP_BIT(STEP_EXPIRE),
    .handle = content_hash_handle,
    .breaks = "twins that are meant have one body",
    .keeping = &keeping,
};
