/* An effect outside the transaction: a canary.
 *
 * The flaw: the table's handler, and in the middle of its transaction an e-mail is sent, under no
 * key. A rollback takes back the row and the effect, and not the e-mail: the retry, or the copy
 * that wins, sends it again. Data once, e-mail twice.
 *
 * Met as any call to a mail server, a card network or a webhook inside a handler whose framework
 * promises exactly-once for the database, in outboxes that insert their record behind the handler
 * too: two copies both run it, and one of them rolls back.
 */
#include "receivers/receiver.h"

enum { INSERT_ID };

static const struct statement statements[] = {
    {"INSERT INTO processed_message(id) VALUES(?1)", "insert id"},
    {NULL, NULL},
};

static void effect_outside_handle(struct handling *h)
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
    if (o == OK) {
        o = external_effect(h, "");
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

const struct receiver receiver_effect_outside = {
    .name = "effect_outside",
    .about = "canary: calls another system inside its transaction, without a key",
    .source = "wrong on purpose",
    .schema = "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .axes =
        {
            [AXIS_KEY] = "given id; none outside",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "with the effect; the one outside before the commit",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back, but for what is outside",
            [AXIS_REMOVAL] = "never",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_EXTERNAL) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY),
    .handle = effect_outside_handle,
};
