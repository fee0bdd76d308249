/* The idempotent repository: a set of keys beside the handler, asked before it and told after it.
 *
 * In: a message with its key. Out: its effect, and its key in the repository. Who adds the key
 * first (`eager`) lets one copy of a message in at a time, and loses the effect where the process
 * dies between the two transactions. Who looks first and adds on success lets in whoever looks
 * before that. A failure removes the key or leaves it there: a failure of the handler alone, or
 * also of what follows it up to the answer, here one more step, `ack`. A duplicate is skipped and
 * answered as done, although the first copy may yet fail; or it is handed to a handler that does
 * not heed the flag; or it is an error. Sound is the repository that joins the effect's
 * transaction.
 *
 * Apache Camel's Idempotent Consumer is eager and removes keys on failure; Spring Integration's
 * interceptor never removes one and hands duplicates on unless it is told otherwise; the exchange
 * of RabbitMQ's deduplication plugin takes the key before it routes and never gives it back.
 *
 * A repository in memory (`store: memory`) has rows all the same, and those of a process that has
 * died do not count: it is one map for all workers. Its steps may meet trouble that a map has not.
 * `orphans` is for keys whose process has died: they count as absent when they were added so long
 * ago. A live process would refresh its own, so they never lapse; that its last refresh comes later
 * than the addition is left out. Nothing in such a repository says that the work was finished
 * unless `confirms` asks for it.
 */
#include "receivers/retention.h"

enum { FORGET, REAP, LOOK, PUT, CONFIRM, REMOVE };

/* A key whose value is below the limit is no duplicate. copy: 0 where there is a unique key, else
 * another one for each row. */
static const struct statement statements[] = {
    {"DELETE FROM repository WHERE id = ?1 AND process <> ?2", "forget key of a dead process"},
    {"DELETE FROM repository WHERE id = ?1 AND process <> ?2 AND confirmed = 0 AND added <= ?3",
     "remove orphaned key"},
    {"SELECT 1 FROM repository WHERE id = ?1 AND value >= ?2", "look for key"},
    {"INSERT INTO repository(id, copy, process, added, value, confirmed)"
     " VALUES(?1, ?2, ?3, ?4, ?5, 0) ON CONFLICT(id, copy) DO UPDATE"
     " SET process = ?3, added = ?4, value = ?5, confirmed = 0 WHERE value < ?6",
     "add key"},
    {"UPDATE repository SET confirmed = 1 WHERE id = ?1", "confirm key"},
    {"DELETE FROM repository WHERE id = ?1", "remove key"},
    {NULL, NULL},
};

static const uint8_t moves[] = {
    [FORGET] = MOVE_EXPIRE, [REAP] = MOVE_EXPIRE,      [LOOK] = MOVE_NONE,
    [PUT] = MOVE_CLAIM,     [CONFIRM] = MOVE_COMPLETE, [REMOVE] = MOVE_RELEASE,
};

enum {
    STORE = RETENTION_SETTINGS_COUNT,
    EAGER,
    UNIQUE,
    DUPLICATE,
    ON_FAILURE,
    COMPLETION,
    CONFIRMS,
    ORPHANS,
    VALUE,
    KEY_NEEDED
};
enum { STORE_JOINED, STORE_OWN, STORE_MEMORY };
enum { DUPLICATE_SKIPPED, DUPLICATE_HANDLED, DUPLICATE_THROWN };
enum { FAILURE_REMOVES, FAILURE_KEEPS };
enum { COMPLETION_ROUTE, COMPLETION_HANDLER };
enum { VALUE_FIRST, VALUE_LATEST };

static const struct setting settings[] = {
    RETENTION_SETTINGS("retention", 0, REMOVAL_LOOK_UP),
    {"store", SETTING_CHOICE, STORE_JOINED, 0, 0, "joined own memory",
     "keys change in the effect's transaction, in one of their own, or in the process's memory"},
    {"eager", SETTING_FLAG, 1, 0, 0, NULL,
     "the key is added before the effect; false: looked for, and added on success"},
    {"unique", SETTING_FLAG, 1, 0, 0, NULL,
     "a key is added if it is absent; false: looked for and then added, in two steps"},
    {"duplicate", SETTING_CHOICE, DUPLICATE_SKIPPED, 0, 0, "skipped handled thrown",
     "answered as a duplicate, executed by a handler that heeds no flag, or an error"},
    {"on_failure", SETTING_CHOICE, FAILURE_REMOVES, 0, 0, "removes keeps",
     "what a failed handling does with its key"},
    {"completion", SETTING_CHOICE, COMPLETION_ROUTE, 0, 0, "route handler",
     "whose failure that is: also of what follows the handler, or the handler's alone"},
    {"confirms", SETTING_FLAG, 0, 0, 0, NULL, "a key is marked when the work is done"},
    {"orphans", SETTING_DURATION, 0, 0, RETENTION_LONGEST, NULL,
     "a dead process's key that is not marked counts for so long after it was added; 0s: for ever"},
    {"value", SETTING_CHOICE, VALUE_FIRST, 0, 0, "first latest",
     "a known key is a duplicate, or is one up to the highest version that came with it"},
    {"key_needed", SETTING_FLAG, 1, 0, 0, NULL,
     "a message without a key is an error; else it is processed unprotected"},
    {.name = NULL},
};

/* The key of a live process never lapses, so no owner outlives its time. Only where a duplicate is
 * an error does anybody wait for a dead one's. */
static void promise(const int64_t *values, struct promise *out)
{
    *out = (struct promise){.retention = retention_promised(values),
                            .retention_name = "retention",
                            .records = (uint64_t)values[RETENTION_MOST],
                            .lease_name = "orphans",
                            .fenced = true};
    if (values[STORE] == STORE_OWN && values[EAGER] != 0) {
        bool waits = values[DUPLICATE] == DUPLICATE_THROWN;
        out->lease = values[ORPHANS] > 0 ? (uint64_t)values[ORPHANS] : waits ? SIM_TIME_MAX : 0;
    }
}

static bool joined(const struct handling *h)
{
    return handling_setting(h, STORE) == STORE_JOINED;
}

static int64_t value_limit(const struct handling *h)
{
    return handling_setting(h, VALUE) == VALUE_LATEST ? handling_version(h) : INT64_MIN;
}

/* Keys that count no more go, in the open transaction. */
static enum outcome tidy(struct handling *h)
{
    const char *id = handling_key(h);
    int64_t orphans = handling_setting(h, ORPHANS), process = handling_process(h);
    enum outcome o = OK;
    if (handling_setting(h, STORE) == STORE_MEMORY) {
        o = sql(h, STEP_EXPIRE, FORGET, "ti", id, process);
    }
    if (o == OK && orphans > 0) {
        o = sql(h, STEP_EXPIRE, REAP, "tii", id, process, (int64_t)handling_now(h) - orphans);
    }
    return o == OK ? retention_look(h, id, NULL) : o;
}

enum found { ABSENT, KNOWN, STALE };

/* In the open transaction. */
static enum outcome look(struct handling *h, enum found *found)
{
    enum outcome o = tidy(h);
    *found = retention_stale(h) ? STALE : ABSENT;
    if (o != OK || *found == STALE) {
        return o;
    }
    o = sql(h, STEP_LOOK_UP, LOOK, "ti", handling_key(h), value_limit(h));
    *found = o == ROW ? KNOWN : ABSENT;
    return o == ROW ? OK : o;
}

/* In the open transaction. */
static enum outcome add(struct handling *h, enum found *found)
{
    int64_t copy = handling_setting(h, UNIQUE) ? 0 : handling_token(h);
    enum outcome o = tidy(h);
    *found = retention_stale(h) ? STALE : ABSENT;
    if (o != OK || *found == STALE) {
        return o;
    }
    o = sql(h, STEP_RECORD, PUT, "tiiiii", handling_key(h), copy, handling_process(h),
            (int64_t)handling_arrived(h), handling_version(h), value_limit(h));
    *found = o == OK && handling_changes(h) == 0 ? KNOWN : ABSENT;
    return o == OK && *found == ABSENT ? retention_keep(h, handling_key(h), NULL) : o;
}

/* What follows success. Its trouble changes nothing more: who adds the key only now is not even
 * told whether it was there. */
static void complete(struct handling *h)
{
    const char *id = handling_key(h);
    if (joined(h) || id[0] == '\0') {
        return;
    }
    if (handling_setting(h, EAGER)) {
        if (handling_setting(h, CONFIRMS)) {
            sql(h, STEP_RECORD, CONFIRM, "t", id);
        }
        return;
    }
    enum found found;
    enum outcome o = begin_immediate(h);
    o = o == OK ? add(h, &found) : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        rollback(h);
    }
}

/* The handler has ended with this outcome. Who removes a key asks nobody whose it is. */
static void finish(struct handling *h, enum outcome o)
{
    bool alone = handling_setting(h, COMPLETION) == COMPLETION_HANDLER, failed = o != OK;
    if (o == OK && alone) {
        complete(h);
    }
    if (o == OK) {
        o = work(h, STEP_ACK, 0);
        failed = o != OK && !alone;
    }
    if (o == OK && !alone) {
        complete(h);
    }
    if (o == OK) {
        reply(h, REPLY_DONE, handling_receipt(h));
        return;
    }
    bool removes = failed && !joined(h) && handling_setting(h, ON_FAILURE) == FAILURE_REMOVES;
    if (o != DEAD && removes && rollback(h) == OK) {
        sql(h, STEP_RELEASE, REMOVE, "t", handling_key(h));
    }
    give_up(h, o);
}

/* The handler, in a transaction of its own. */
static void execute(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    o = o == OK ? apply_effect(h) : o;
    o = o == OK ? commit(h) : o;
    finish(h, o);
}

/* Known, or stale. A transaction is open. */
static void not_new(struct handling *h, enum found found)
{
    if (found == STALE) {
        rollback(h);
        return;
    }
    enum outcome o = retention_end_duplicate(h, handling_key(h), NULL);
    if (o != OK) {
        give_up(h, o);
        return;
    }
    switch (handling_setting(h, DUPLICATE)) {
    case DUPLICATE_SKIPPED:
        reply(h, REPLY_DUPLICATE, 0);
        return;
    case DUPLICATE_HANDLED:
        execute(h);
        return;
    default: /* not our enum */
        reply(h, REPLY_ERROR, 0);
        return;
    }
}

static void repository_handle(struct handling *h)
{
    if (handling_key(h)[0] == '\0') {
        if (handling_setting(h, KEY_NEEDED)) {
            reply(h, REPLY_ERROR, 0);
        } else {
            execute(h);
        }
        return;
    }
    bool eager = joined(h) || handling_setting(h, EAGER);
    enum found found = ABSENT;
    enum outcome o = begin_immediate(h);
    if (!eager || !handling_setting(h, UNIQUE)) {
        o = o == OK ? look(h, &found) : o;
        if (o == OK && found == ABSENT && eager) { /* two steps: others may come between them */
            o = commit(h);
            o = o == OK ? begin_immediate(h) : o;
        }
    }
    if (o == OK && found == ABSENT && eager) {
        o = add(h, &found);
    }
    if (o == OK && found != ABSENT) {
        not_new(h, found);
        return;
    }
    if (o == OK && joined(h)) {
        o = apply_effect(h);
    }
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
    } else if (joined(h)) {
        finish(h, OK);
    } else {
        execute(h);
    }
}

static const struct keeping keeping = {.table = "repository", .key = "id = ?1"};

const struct receiver receiver_repository = {
    .name = "repository",
    .about = "an idempotent repository of keys, in the effect's transaction or beside it",
    .source =
        "Apache Camel, Idempotent Consumer; Spring Integration, IdempotentReceiverInterceptor",
    .schema = "CREATE TABLE repository(id TEXT NOT NULL, copy INTEGER NOT NULL,"
              " process INTEGER NOT NULL, added INTEGER NOT NULL, value INTEGER NOT NULL,"
              " confirmed INTEGER NOT NULL, PRIMARY KEY(id, copy)) WITHOUT ROWID;",
    .statements = statements,
    .moves = moves,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set; a watermark for each key with `value: latest`",
            [AXIS_MOMENT] = "with the effect; before or after it, see `store` and `eager`",
            [AXIS_CONCURRENT] = "blocked; skipped beside the effect, both run if not `eager`",
            [AXIS_ANSWER] = "ignored; executed or an error, see `duplicate`",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back; delete or keep beside the effect",
            [AXIS_TAKEOVER] = "never; `orphans` of a dead process, not fenced",
            [AXIS_WINDOW_CLOCK] = "receipt; see `starts`",
            [AXIS_REMOVAL] = "never; see settings",
            [AXIS_RECOVERY] = "durable; empty with `store: memory`",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_ACK) | STEP_BIT(STEP_REPLY) |
             STEP_BIT(STEP_RELEASE) | STEP_BIT(STEP_EXPIRE),
    .handle = repository_handle,
    .keeping = &keeping,
    .promise = promise,
};
