/* The window: duplicates are recognised for a time, as a queue's send side does.
 *
 * In: a message with its deduplication id. Out: its effect, unless the same id was accepted less
 * than `window` ago by the host's own clock; then the answer duplicate and nothing else. The id may
 * be given or taken from the body, its scope is the queue or the message group. A record that has
 * grown older than the window is removed by the next message with its id, which is new.
 *
 * Amazon SQS FIFO: 5 minutes from the first accepted send, whatever became of the message since; a
 * message without an id is refused, or goes by its content where the queue is told so (`id:
 * given-or-body`), among the ids that are given. Whether a duplicate starts the window anew, and
 * what its answer carries, it leaves open: `starts: last-seen`, `answer`.
 *
 * NATS JetStream keeps the ids in memory and rebuilds them, when it starts, from the messages that
 * are still stored: `memory: rebuilt`. Where consumed messages are removed (`messages: consumed`,
 * a work queue) what it accepted before the restart is forgotten. The records here are rows all the
 * same; one of a process that has died counts only if its message is kept.
 */
#include "receivers/retention.h"

enum { ACCEPT, READ, ACCEPT_ANEW, SAVE_ANSWER };

static const struct statement statements[] = {
    {"INSERT INTO accepted(id, scope, process) VALUES(?1, ?2, ?3)", "accept id"},
    {"SELECT process, receipt FROM accepted WHERE id = ?1 AND scope = ?2", "read id"},
    {"UPDATE accepted SET process = ?3 WHERE id = ?1 AND scope = ?2", "accept forgotten id"},
    {"UPDATE accepted SET receipt = ?3 WHERE id = ?1 AND scope = ?2", "save answer"},
    {NULL, NULL},
};

enum { ID = RETENTION_SETTINGS_COUNT, SCOPE, ANSWERS, MEMORY, MESSAGES };
enum { ID_GIVEN, ID_BODY, ID_GIVEN_OR_BODY };
enum { SCOPE_QUEUE, SCOPE_GROUP };
enum { ANSWER_SILENT, ANSWER_FIRST };
enum { MEMORY_DURABLE, MEMORY_REBUILT };
enum { MESSAGES_KEPT, MESSAGES_CONSUMED };

static const struct setting settings[] = {
    RETENTION_SETTINGS("window", 300 * RETENTION_SECOND, REMOVAL_LOOK_UP),
    {"id", SETTING_CHOICE, ID_GIVEN, 0, 0, "given body given-or-body",
     "the message's key, its content, or its content where it has no key"},
    {"scope", SETTING_CHOICE, SCOPE_QUEUE, 0, 0, "queue group",
     "where ids are told apart: all together, or in each message group"},
    {"answer", SETTING_CHOICE, ANSWER_SILENT, 0, 0, "silent first",
     "what a duplicate's answer carries: nothing, or the first one's receipt"},
    {"memory", SETTING_CHOICE, MEMORY_DURABLE, 0, 0, "durable rebuilt",
     "ids survive a restart, or are rebuilt from the messages that are still stored"},
    {"messages", SETTING_CHOICE, MESSAGES_KEPT, 0, 0, "kept consumed",
     "whether a message that has been processed is still stored"},
    {.name = NULL},
};

static const struct keeping keeping = {.table = "accepted", .key = "id = ?1 AND scope = ?2"};

/* A restart forgets what is not stored any more. */
static bool forgets(const struct handling *h)
{
    return handling_setting(h, MEMORY) == MEMORY_REBUILT &&
           handling_setting(h, MESSAGES) == MESSAGES_CONSUMED;
}

/* The id has a row. True: it is a duplicate, and answered. False with *o OK: the row was forgotten,
 * the message is new. */
static bool is_duplicate(struct handling *h, const char *id, const char *scope, enum outcome *o)
{
    int64_t process = 0, receipt = 0;
    if (forgets(h) || handling_setting(h, ANSWERS) == ANSWER_FIRST) {
        *o = sql(h, STEP_LOOK_UP, READ, "tt", id, scope);
        if (*o != ROW) {
            *o = *o == OK ? STORE_ERROR : *o;
            return false;
        }
        process = handling_column_int(h, 0);
        receipt = handling_column_int(h, 1);
    }
    if (forgets(h) && process != handling_process(h)) {
        *o = sql(h, STEP_RECORD, ACCEPT_ANEW, "tti", id, scope, handling_process(h));
        return false;
    }
    *o = retention_end_duplicate(h, id, scope);
    if (*o == OK) {
        reply(h, REPLY_DUPLICATE, handling_setting(h, ANSWERS) == ANSWER_FIRST ? receipt : 0);
    }
    return *o == OK;
}

/* The effect and what is kept of it, in the transaction that holds the id. */
static enum outcome process_message(struct handling *h, const char *id, const char *scope)
{
    enum outcome o = apply_effect(h);
    if (o == OK && handling_setting(h, ANSWERS) == ANSWER_FIRST) {
        o = sql(h, STEP_RECORD, SAVE_ANSWER, "tti", id, scope, handling_receipt(h));
    }
    if (o == OK) {
        o = retention_keep(h, id, scope);
    }
    return o == OK ? commit(h) : o;
}

/* Empty: it has none. */
static const char *deduplication_id(struct handling *h)
{
    int64_t from = handling_setting(h, ID);
    const char *key = handling_key(h);
    bool given = from == ID_GIVEN || (from == ID_GIVEN_OR_BODY && key[0] != '\0');
    return given ? key : handling_body(h);
}

static void window_handle(struct handling *h)
{
    const char *id = deduplication_id(h);
    const char *scope = handling_setting(h, SCOPE) == SCOPE_GROUP ? handling_group(h) : "";
    if (id[0] == '\0') {
        reply(h, REPLY_REFUSED, 0);
        return;
    }
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = retention_look(h, id, scope);
    }
    if (o == OK && retention_stale(h)) {
        rollback(h);
        return;
    }
    if (o == OK) {
        o = sql(h, STEP_RECORD, ACCEPT, "tti", id, scope, handling_process(h));
    }
    if (o == CONSTRAINT && is_duplicate(h, id, scope, &o)) {
        return;
    }
    if (o == OK) {
        o = process_message(h, id, scope);
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
    .source = "Amazon SQS FIFO, send side; Azure Service Bus; NATS JetStream",
    .schema =
        "CREATE TABLE accepted(id TEXT NOT NULL, scope TEXT NOT NULL, process INTEGER NOT NULL,"
        " receipt INTEGER, PRIMARY KEY(id, scope)) WITHOUT ROWID;",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given id, content, or content where no id is given",
            [AXIS_SCOPE] = "queue, or message group",
            [AXIS_STRUCTURE] = "set",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored; the first receipt with `answer: first`",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_WINDOW_CLOCK] = "receipt by the host's clock; see `starts` and `clock`",
            [AXIS_REMOVAL] = "at look-up, by the next message with the id; see `removal`",
            [AXIS_RECOVERY] = "durable; rebuilt from stored messages with `memory: rebuilt`",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_EXPIRE),
    .handle = window_handle,
    .keeping = &keeping,
};
