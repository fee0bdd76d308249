/* The table of processed ids.
 *
 * In: a message with its key. Out: its effect, once, and the answer done; or the answer duplicate.
 * The key is inserted in the transaction of the effect, so both become durable together or not at
 * all. A repeat violates the primary key, is rolled back and ignored.
 */
#include "receivers/retention.h"

enum { INSERT_ID };

static const struct statement statements[] = {
    {"INSERT INTO processed_message(id) VALUES(?1)", "insert id"},
    {NULL, NULL},
};

static const struct setting settings[] = {
    RETENTION_SETTINGS("retention", 0, REMOVAL_LOOK_UP),
    {.name = NULL},
};

static const struct keeping keeping = {.table = "processed_message", .key = "id = ?1"};

static void table_handle(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = retention_look(h, handling_key(h), NULL);
    }
    if (o == OK && retention_stale(h)) {
        rollback(h);
        return;
    }
    if (o == OK) {
        o = sql(h, STEP_RECORD, INSERT_ID, "t", handling_key(h));
    }
    if (o == CONSTRAINT) {
        o = retention_end_duplicate(h, handling_key(h), NULL);
        if (o == OK) {
            reply(h, REPLY_DUPLICATE, 0);
            return;
        }
    }
    if (o == OK) {
        o = apply_effect(h);
    }
    if (o == OK) {
        o = retention_keep(h, handling_key(h), NULL);
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

const struct receiver receiver_table = {
    .name = "table",
    .about = "ids of processed messages in a table, inserted in the transaction of the effect",
    .source = "C. Richardson, microservices.io, Idempotent Consumer",
    .schema = "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_WINDOW_CLOCK] = "none; with `retention`: see `starts` and `clock`",
            [AXIS_REMOVAL] = "never; see `retention`, `most`, `acknowledged`, `removal`",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) |
             STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_LOOK_UP) | STEP_BIT(STEP_EXPIRE),
    .handle = table_handle,
    .keeping = &keeping,
};
