/* Look up, then act: a canary.
 *
 * The flaw: the look-up stands outside the transaction, and the insert inside it cannot fail. Two
 * workers that hold copies of one message both look before either has recorded it, and both apply.
 * One worker alone never shows it.
 *
 * Met wherever an `if (!seen(id))` guards a handler: an interceptor or middleware that asks the
 * inbox first, an ORM's exists() before save(), INSERT OR IGNORE "so that the id is not a problem".
 */
#include "receivers/receiver.h"

enum { LOOK_UP, INSERT_ID };

static const struct statement statements[] = {
    {"SELECT 1 FROM processed_message WHERE id = ?1", "look for id"},
    {"INSERT OR IGNORE INTO processed_message(id) VALUES(?1)", "insert id, or ignore"},
    {NULL, NULL},
};

static void check_then_act_handle(struct handling *h)
{
    enum outcome o = sql(h, STEP_LOOK_UP, LOOK_UP, "t", handling_key(h));
    if (o == ROW) {
        reply(h, REPLY_DUPLICATE, 0);
        return;
    }
    /* From here on another worker may have looked, too. */
    if (o == OK) {
        o = begin_immediate(h);
    }
    if (o == OK) {
        o = apply_effect(h);
    }
    if (o == OK) {
        o = sql(h, STEP_RECORD, INSERT_ID, "t", handling_key(h));
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

const struct receiver receiver_check_then_act = {
    .name = "check_then_act",
    .about = "canary: looks for the id before the transaction, and ignores it inside",
    .source = "wrong on purpose",
    .schema = "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "with the effect; looked up before the transaction",
            [AXIS_CONCURRENT] = "both run",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_REMOVAL] = "never",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_LOOK_UP) | STEP_BIT(STEP_BEGIN) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY),
    .handle = check_then_act_handle,
};
