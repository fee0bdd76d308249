/* The ids inside the business entity.
 *
 * In: a message with its key, for one entity. Out: its effect, once. The entity that the message
 * creates or updates carries the keys of all messages that it has absorbed, so the look-up, the
 * change and the record are one row in one transaction, and messages for one entity may interleave
 * in any order. (An entity that keeps only the last key forgets the others.) The keys have no
 * times: they can be limited by number, not by age.
 */
#include "receivers/receiver.h"

enum { LOOK_UP, ADD_ID, DROP_OLDEST };

static const struct statement statements[] = {
    {"SELECT 1 FROM entity, json_each(entity.processed_ids) AS seen"
     " WHERE entity.id = ?1 AND seen.value = ?2",
     "look for id in entity"},
    {"UPDATE entity SET processed_ids = json_insert(processed_ids, '$[#]', ?2) WHERE id = ?1",
     "add id to entity"},
    {"UPDATE entity SET processed_ids = json_remove(processed_ids, '$[0]')"
     " WHERE id = ?1 AND json_array_length(processed_ids) > ?2",
     "drop oldest id of entity"},
    {NULL, NULL},
};

enum { MOST };

static const struct setting settings[] = {
    {"most", SETTING_NUMBER, 0, 0, 1000000, NULL,
     "most ids kept in an entity, the oldest go; 0: any number"},
    {.name = NULL},
};

static void entity_handle(struct handling *h)
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
        o = sql(h, STEP_RECORD, ADD_ID, "tt", handling_entity(h), handling_key(h));
    }
    if (o == OK && handling_setting(h, MOST) > 0) {
        o = sql(h, STEP_EXPIRE, DROP_OLDEST, "ti", handling_entity(h), handling_setting(h, MOST));
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

const struct receiver receiver_entity = {
    .name = "entity",
    .about = "ids inside the business entity that the message creates or updates",
    .source = "C. Richardson, microservices.io, Idempotent Consumer",
    .schema = "ALTER TABLE entity ADD COLUMN processed_ids TEXT NOT NULL DEFAULT '[]';",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "entity",
            [AXIS_STRUCTURE] = "set, in the entity's row",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_REMOVAL] = "never; oldest first with `most`",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_EXPIRE),
    .handle = entity_handle,
};
