/* The window: duplicates are recognised for a time, as a queue's send side does.
 *
 * In: a message with its deduplication id. Out: its effect, unless the same id was accepted less
 * than `window` ago by the host's own clock; then the answer duplicate and nothing else. The id may
 * be given or taken from the body, its scope is the queue or the message group (the entity). A
 * record that has grown older than the window is replaced by the next message with its id, which is
 * new.
 *
 * Amazon SQS FIFO: 5 minutes from the first accepted send, whatever became of the message since.
 * Whether a duplicate starts the window anew it leaves open: `restart`.
 */
#include "receivers/receiver.h"

enum { LOOK_UP, ACCEPT, RESTART };

static const struct statement statements[] = {
    {"SELECT accepted_at FROM accepted WHERE id = ?1 AND scope = ?2", "look for id"},
    {"INSERT OR REPLACE INTO accepted(id, scope, accepted_at) VALUES(?1, ?2, ?3)", "accept id"},
    {"UPDATE accepted SET accepted_at = ?3 WHERE id = ?1 AND scope = ?2", "start window anew"},
    {NULL, NULL},
};

enum { WINDOW, ID, SCOPE, RESTARTS };
enum { ID_GIVEN, ID_BODY };
enum { SCOPE_QUEUE, SCOPE_GROUP };

#define SECOND INT64_C(1000000000)

static const struct setting settings[] = {
    {"window", SETTING_DURATION, 300 * SECOND, SECOND, 7 * 86400 * SECOND, NULL,
     "how long an accepted id is remembered"},
    {"id", SETTING_CHOICE, ID_GIVEN, 0, 0, "given body", "the message's key, or its content"},
    {"scope", SETTING_CHOICE, SCOPE_QUEUE, 0, 0, "queue group",
     "where ids are told apart: all together, or in each entity's group"},
    {"restart", SETTING_FLAG, 0, 0, 0, NULL, "a duplicate starts the window anew"},
    {.name = NULL},
};

static void ignore_duplicate(struct handling *h, const char *id, const char *scope, int64_t now)
{
    enum outcome o = OK;
    if (handling_setting(h, RESTARTS)) {
        o = sql(h, STEP_RECORD, RESTART, "tti", id, scope, now);
        o = o == OK ? commit(h) : o;
    } else {
        o = rollback(h);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DUPLICATE, 0);
}

static void window_handle(struct handling *h)
{
    const char *id = handling_setting(h, ID) == ID_BODY ? handling_body(h) : handling_key(h);
    const char *scope = handling_setting(h, SCOPE) == SCOPE_GROUP ? handling_entity(h) : "";
    int64_t now = (int64_t)handling_now(h);
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = sql(h, STEP_LOOK_UP, LOOK_UP, "tt", id, scope);
    }
    if (o == ROW && now - handling_column_int(h, 0) < handling_setting(h, WINDOW)) {
        ignore_duplicate(h, id, scope, now);
        return;
    }
    if (o == OK || o == ROW) {
        o = sql(h, STEP_RECORD, ACCEPT, "tti", id, scope, now);
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

const struct receiver receiver_window = {
    .name = "window",
    .about = "ids remembered for a window from the first accepted message, 5 minutes by default",
    .source = "Amazon SQS FIFO, send side; Azure Service Bus duplicate detection",
    .schema = "CREATE TABLE accepted(id TEXT NOT NULL, scope TEXT NOT NULL, accepted_at INTEGER NOT"
              " NULL, PRIMARY KEY(id, scope)) WITHOUT ROWID;",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given id, or content",
            [AXIS_SCOPE] = "queue, or message group",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_WINDOW_CLOCK] = "receipt by the host's clock; last seen with `restart`",
            [AXIS_REMOVAL] = "at look-up, by the next message with the id",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY),
    .handle = window_handle,
};
