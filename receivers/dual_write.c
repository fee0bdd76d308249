/* The dual write: a canary that tells downstream behind its commit, with nothing that remembers.
 *
 * The flaw: the database and the message are two writes. Where the process dies between them, the
 * effect is there and downstream never hears of it; the retry is a duplicate and sends nothing.
 *
 * Met as "save, then publish" in handlers of every framework without an outbox.
 */
#include "receivers/receiver.h"

#include <stdio.h>

enum { INSERT_ID };

static const struct statement statements[] = {
    {"INSERT INTO processed_message(id) VALUES(?1)", "insert id"},
    {NULL, NULL},
};

static void dual_write_handle(struct handling *h)
{
    char id[KEY_MAX + 8];
    int64_t parcel = 0;
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
        parcel = handling_parcel(h);
        o = commit(h);
    }
    if (o == OK && !handling_registers(h)) {
        snprintf(id, sizeof(id), "%s/out", handling_key(h));
        o = transmit(h, parcel, id, 0);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

const struct receiver receiver_dual_write = {
    .name = "dual_write",
    .about = "canary: commits, then tells downstream, with no outbox",
    .source = "wrong on purpose",
    .schema = "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;",
    .statements = statements,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "with the effect; the message behind it",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_REMOVAL] = "never",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after the outgoing message",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) |
             STEP_BIT(STEP_SEND) | STEP_BIT(STEP_REPLY),
    .handle = dual_write_handle,
};
