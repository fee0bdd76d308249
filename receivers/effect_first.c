/* The effect before the record, each in a transaction of its own: a canary.
 *
 * The flaw: between the two commits the effect is there and the id is not known. A crash or a
 * failing insert at that point makes the retry look new, and it is applied a second time.
 *
 * Met where the handler commits its business rows and the framework marks the inbox row handled
 * afterwards, and where a webhook updates a balance and then saves the event's id.
 */
#include "receivers/receiver.h"

enum { LOOK_UP, INSERT_ID };

static const struct statement statements[] = {
    {"SELECT 1 FROM processed_message WHERE id = ?1", "look for id"},
    {"INSERT INTO processed_message(id) VALUES(?1)", "insert id"},
    {NULL, NULL},
};

static void effect_first_handle(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = sql(h, STEP_LOOK_UP, LOOK_UP, "t", handling_key(h));
    }
    if (o == ROW) {
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
    /* Outside the transaction, which has ended. */
    if (o == OK) {
        o = sql(h, STEP_RECORD, INSERT_ID, "t", handling_key(h));
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

const struct receiver receiver_effect_first = {
    .name = "effect_first",
    .about = "canary: commits the effect, then the id in a second transaction",
    .source = "wrong on purpose",
    .schema = "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "after the effect",
            [AXIS_CONCURRENT] = "both run, if the second comes between effect and record",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back; the effect is kept where the record fails",
            [AXIS_REMOVAL] = "never",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after record",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_REPLY),
    .handle = effect_first_handle,
};
