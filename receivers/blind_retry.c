/* A store's error taken for "not applied": a canary.
 *
 * The flaw: a commit may be durable although it reports an error. This handler runs its
 * transaction a second time, meets the row that the first run left, takes it for its own unfinished
 * work, and applies the effect once more. A commit that really failed it repeats rightly, which is
 * why the retry was put there.
 *
 * Met as a retry wrapper around a transaction or around a client of the store that treats a lost
 * connection or a time-out as a failure, and as a conflict with one's own first attempt that is
 * "resolved" by adding the work again.
 */
#include "receivers/receiver.h"

enum { INSERT_ID };

static const struct statement statements[] = {
    {"INSERT INTO processed_message(id) VALUES(?1)", "insert id"},
    {NULL, NULL},
};

/* The transaction that is repeated. */
static enum outcome record_and_apply(struct handling *h, bool again)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = sql(h, STEP_RECORD, INSERT_ID, "t", handling_key(h));
    }
    if (o == CONSTRAINT && again) {
        o = OK; /* "our own row, from the run that failed" */
    }
    if (o == OK) {
        o = apply_effect(h);
    }
    if (o == OK) {
        o = commit(h);
    }
    return o;
}

static void blind_retry_handle(struct handling *h)
{
    enum outcome o = record_and_apply(h, false);
    if (o == CONSTRAINT) {
        o = rollback(h);
        if (o == OK) {
            reply(h, REPLY_DUPLICATE, 0);
            return;
        }
    } else if (o == STORE_ERROR) {
        o = rollback(h);
        if (o == OK) {
            o = record_and_apply(h, true);
        }
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

const struct receiver receiver_blind_retry = {
    .name = "blind_retry",
    .about = "canary: takes a store error for \"not applied\" and applies again",
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
            [AXIS_FAILURE] = "roll back; a store error: once more, its own row ignored",
            [AXIS_REMOVAL] = "never",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) |
             STEP_BIT(STEP_REPLY),
    .handle = blind_retry_handle,
};
