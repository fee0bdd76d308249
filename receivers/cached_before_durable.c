/* The id in a cache before it is in the database: a canary.
 *
 * The flaw: the process notes an id as seen when the message comes, and leaves it there when the
 * transaction fails. The retry is turned away from memory as a duplicate, with nothing recorded and
 * nothing done: the effect is lost until the process ends and forgets. A crash does no harm. The
 * TEMP table stands for the cache: it lives in memory, one for each connection. It is written
 * outside the transaction, so a rollback does not undo it; what is durable is right.
 *
 * Met as a cache of seen ids in front of a table of them, and as a broker's highest sequence number
 * that is moved up when a message is taken and not back when it cannot be stored.
 */
#include "receivers/receiver.h"

enum { CACHE_ID, INSERT_ID };

static const struct statement statements[] = {
    {"INSERT INTO cached(id) VALUES(?1)", "cache id"},
    {"INSERT INTO processed_message(id) VALUES(?1)", "insert id"},
    {NULL, NULL},
};

static void cached_before_durable_handle(struct handling *h)
{
    /* No transaction is open: nothing takes it back. */
    enum outcome o = sql(h, STEP_LOOK_UP, CACHE_ID, "t", handling_key(h));
    if (o == CONSTRAINT) {
        reply(h, REPLY_DUPLICATE, 0);
        return;
    }
    /* Without its cache it would still have the table. */
    if (o == OK || o == STORE_ERROR) {
        o = begin_immediate(h);
    }
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
    if (o == OK) {
        o = commit(h);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

const struct receiver receiver_cached_before_durable = {
    .name = "cached_before_durable",
    .about = "canary: the id in a cache before the transaction, and left there when it fails",
    .source = "wrong on purpose",
    .schema = "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .session = "CREATE TEMP TABLE cached(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set, behind a cache",
            [AXIS_MOMENT] = "with the effect; in the cache before it",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back, but for the cache",
            [AXIS_REMOVAL] = "never",
            [AXIS_RECOVERY] = "durable; the cache is empty",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_LOOK_UP) | STEP_BIT(STEP_BEGIN) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY),
    .handle = cached_before_durable_handle,
};
