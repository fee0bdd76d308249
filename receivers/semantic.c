/* Idempotent by meaning: the message says what shall be, not what to add.
 *
 * In: a message that sets, or that inserts. Out: the entity as the message wants it; a repeat finds
 * it so and changes nothing. No id is kept. Three ways, by `check`:
 *
 *     none     the effect is applied each time; a set to the present value changes nothing
 *     version  the entity carries the version of its latest message; an older one is not applied
 *     exists   the effect fails where it has been made, and that means done
 *
 * What it costs: with `none` an old copy that comes after a newer message undoes it; with `version`
 * a message that is overtaken is never applied, and nobody can tell it from a repeat; with `exists`
 * two messages for one entity are one. A message that adds is applied as often as it comes.
 */
#include "receivers/receiver.h"

enum { READ_VERSION, WRITE_VERSION };

static const struct statement statements[] = {
    {"SELECT version FROM entity WHERE id = ?1", "read version"},
    {"UPDATE entity SET version = ?2 WHERE id = ?1", "write version"},
    {NULL, NULL},
};

enum { CHECK, STALE };
enum { CHECK_NOTHING, CHECK_VERSION, CHECK_EXISTS };
enum { STALE_DUPLICATE, STALE_REFUSED };

static const struct setting settings[] = {
    {"check", SETTING_CHOICE, CHECK_NOTHING, 0, 0, "none version exists",
     "how a repeat is told, beside its meaning"},
    {"stale", SETTING_CHOICE, STALE_DUPLICATE, 0, 0, "duplicate refused",
     "the answer to an older version than the entity's"},
    {.name = NULL},
};

/* True: the entity is at this version or beyond, and has been answered for. */
static bool not_newer(struct handling *h, enum outcome *o)
{
    *o = sql(h, STEP_LOOK_UP, READ_VERSION, "t", handling_entity(h));
    if (*o != ROW) {
        return false;
    }
    int64_t present = handling_column_int(h, 0), mine = handling_version(h);
    *o = OK;
    if (present < mine) {
        return false;
    }
    enum outcome end = rollback(h);
    bool refuse = present > mine && handling_setting(h, STALE) == STALE_REFUSED;
    if (end != OK) {
        give_up(h, end);
    } else {
        reply(h, refuse ? REPLY_REFUSED : REPLY_DUPLICATE, 0);
    }
    return true;
}

static void semantic_handle(struct handling *h)
{
    int64_t check = handling_setting(h, CHECK);
    enum outcome o = begin_immediate(h);
    if (o == OK && check == CHECK_VERSION && not_newer(h, &o)) {
        return;
    }
    o = o == OK ? apply_effect(h) : o;
    if (o == CONSTRAINT && check == CHECK_EXISTS) {
        o = rollback(h);
        if (o == OK) {
            reply(h, REPLY_DUPLICATE, 0);
            return;
        }
    }
    if (o == OK && check == CHECK_VERSION) {
        o = sql(h, STEP_RECORD, WRITE_VERSION, "ti", handling_entity(h), handling_version(h));
    }
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

const struct receiver receiver_semantic = {
    .name = "semantic",
    .about = "no ids: a message that sets or inserts means the same when it is repeated",
    .source = "G. Hohpe, B. Woolf, Enterprise Integration Patterns, Idempotent Receiver",
    .breaks = "messages that add, and an old copy that comes after a newer message",
    .schema = "ALTER TABLE entity ADD COLUMN version INTEGER NOT NULL DEFAULT 0;",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "none; the entity's version with `check: version`",
            [AXIS_SCOPE] = "entity",
            [AXIS_STRUCTURE] = "none, or high watermark",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "fresh response; ignored where it is told",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY),
    .handle = semantic_handle,
};
