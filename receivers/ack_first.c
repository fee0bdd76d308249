/* The answer before the commit: a canary.
 *
 * The flaw: `done` leaves while the transaction is still open. A crash or a commit that fails
 * afterwards takes the effect back, and nobody will ask again. Record and effect are one
 * transaction, as they should be; it is only that the answer runs ahead of it.
 *
 * Met where a consumer acknowledges on receipt (auto-ack, auto-commit of offsets), where a
 * framework sends the response inside the transaction that it commits on the way out, and where a
 * write is answered from memory and flushed later.
 */
#include "receivers/receiver.h"

enum { INSERT_ID };

static const struct statement statements[] = {
    {"INSERT INTO processed_message(id) VALUES(?1)", "insert id"},
    {NULL, NULL},
};

static void ack_first_handle(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = sql(h, STEP_RECORD, INSERT_ID, "t", handling_key(h));
    }
    if (o == CONSTRAINT) {
        o = rollback(h);
        if (o == OK) {
            reply(h, REPLY_DUPLICATE, 0);
            return;
        }
    }
    if (o == OK) {
        o = apply_effect(h);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    o = reply(h, REPLY_DONE, handling_receipt(h));
    if (o == OK) {
        o = commit(h);
    }
    if (o != OK) {
        rollback(h); /* too late to tell anybody */
    }
}

const struct receiver receiver_ack_first = {
    .name = "ack_first",
    .about = "canary: answers done, then commits",
    .source = "wrong on purpose",
    .schema = "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
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
            [AXIS_REMOVAL] = "never",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after record, before commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK),
    .handle = ack_first_handle,
};
