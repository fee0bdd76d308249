/* The record before the effect, each in a transaction of its own: a canary.
 *
 * The flaw: between the two commits the id is known and the effect is not there. A crash or a
 * failing effect at that point leaves a record that turns every retry away as a duplicate: the
 * effect is lost, and the sender is told that all is well.
 *
 * Met where a guard claims the id in one store (SETNX, an inbox row, a deduplicating broker) and
 * the handler writes to another, and where a webhook is noted as received before it is processed.
 */
#include "receivers/receiver.h"

enum { INSERT_ID };

static const struct statement statements[] = {
    {"INSERT INTO processed_message(id) VALUES(?1)", "insert id"},
    {NULL, NULL},
};

static void record_first_handle(struct handling *h)
{
    /* No transaction is open: the row is durable at once. */
    enum outcome o = sql(h, STEP_RECORD, INSERT_ID, "t", handling_key(h));
    if (o == CONSTRAINT) {
        reply(h, REPLY_DUPLICATE, 0);
        return;
    }
    if (o == OK) {
        o = begin_immediate(h);
    }
    if (o == OK) {
        o = apply_effect(h);
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

const struct receiver receiver_record_first = {
    .name = "record_first",
    .about = "canary: commits the id, then the effect in a second transaction",
    .source = "wrong on purpose",
    .schema = "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "before the effect",
            [AXIS_CONCURRENT] = "dropped",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "keep",
            [AXIS_REMOVAL] = "never",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_BEGIN) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) |
             STEP_BIT(STEP_REPLY),
    .handle = record_first_handle,
};
