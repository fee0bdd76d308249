/* Only the last id inside the business entity: a canary.
 *
 * The flaw: each message overwrites the id of the one before. A retry or a late copy that a newer
 * message of the same entity has overtaken is no longer recognised and is applied again. It is
 * right as long as an entity's messages come strictly one after the other.
 *
 * Met as a column `last_request_id` or `last_event_id` on the row, and as a request id kept in the
 * very field that the opposite operation clears.
 */
#include "receivers/receiver.h"

enum { LOOK_UP, SET_ID };

static const struct statement statements[] = {
    {"SELECT 1 FROM entity WHERE id = ?1 AND last_id = ?2", "compare with entity's last id"},
    {"UPDATE entity SET last_id = ?2 WHERE id = ?1", "set entity's last id"},
    {NULL, NULL},
};

static void last_id_only_handle(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = sql(h, STEP_LOOK_UP, LOOK_UP, "tt", handling_entity(h), handling_key(h));
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
        o = sql(h, STEP_RECORD, SET_ID, "tt", handling_entity(h), handling_key(h));
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

const struct receiver receiver_last_id_only = {
    .name = "last_id_only",
    .about = "canary: the business entity keeps the id of its last message only",
    .source = "wrong on purpose",
    .schema = "ALTER TABLE entity ADD COLUMN last_id TEXT;",
    .statements = statements,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "entity",
            [AXIS_STRUCTURE] = "last only, in the entity's row",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_REMOVAL] = "by the entity's next message",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY),
    .handle = last_id_only_handle,
};
