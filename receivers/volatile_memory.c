/* The ids in the memory of the process: a canary.
 *
 * The flaw: the effect is durable and the id is not. After a restart, planned or not, everything
 * that was seen is new again; and a second worker has a memory of its own. The TEMP table stands
 * for the process's set of ids: it lives in memory, one for each connection. In the same
 * transaction as the effect, so that nothing but forgetting is wrong with it.
 *
 * Met as a hash set or a cache of ids beside a durable queue or database, a broker's deduplication
 * index that is not stored, and as a cache without persistence that all are told to use.
 */
#include "receivers/receiver.h"

enum { REMEMBER_ID };

static const struct statement statements[] = {
    {"INSERT INTO remembered(id) VALUES(?1)", "remember id in memory"},
    {NULL, NULL},
};

static void volatile_memory_handle(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = sql(h, STEP_RECORD, REMEMBER_ID, "t", handling_key(h));
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

const struct receiver receiver_volatile_memory = {
    .name = "volatile_memory",
    .about = "canary: ids in the memory of the process only",
    .source = "wrong on purpose",
    .session = "CREATE TEMP TABLE remembered(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "worker",
            [AXIS_STRUCTURE] = "set, in memory",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "both run on two workers",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_REMOVAL] = "at restart",
            [AXIS_RECOVERY] = "empty",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) |
             STEP_BIT(STEP_REPLY),
    .handle = volatile_memory_handle,
};
