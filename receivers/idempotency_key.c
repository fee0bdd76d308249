/* The idempotency key of a payment API.
 *
 * In: a request with its key. Out: its effect, once, and a response that is saved with it and
 * replayed, marked, to whoever sends the same key again with the same parameters. Three states of a
 * key, each reached in a transaction of its own:
 *
 *     running    locked by the request that executes it; others get 409 until it has ended, or
 *                until `lock` has passed, when the next one takes over
 *     free       an execution ended without a result: the next request executes it again
 *     completed  first status and response, until the key is pruned
 *
 * The effect and `completed` are one transaction, in which the lock must still be held: an executor
 * that was overtaken commits nothing. What is refused before execution (no key, a key that is too
 * long, invalid parameters) saves nothing.
 *
 * Stripe v1 saves failures too, 500 included, and replays them for the life of the key; v2 executes
 * them again. A process that dies while it executes leaves the key running: what becomes of it is
 * not published, `lock` is the rule of rocket-rides-atomic.
 */
#include "receivers/retention.h"

#include <string.h>

enum { LOOK_UP, INSERT, TAKE, COMPLETE, FREE };
enum { FREE_KEY, RUNNING, COMPLETED };

static const struct statement statements[] = {
    {"SELECT state, parameters, status, code, receipt, locked_at FROM idempotency_key"
     " WHERE account = ?1 AND key = ?2",
     "look for key"},
    {"INSERT INTO idempotency_key(account, key, parameters, state, owner, locked_at)"
     " VALUES(?1, ?2, ?3, 1, ?4, ?5)",
     "insert key, running"},
    {"UPDATE idempotency_key SET state = 1, owner = ?3, locked_at = ?4"
     " WHERE account = ?1 AND key = ?2",
     "lock key"},
    {"UPDATE idempotency_key SET state = 2, status = ?4, code = ?5, receipt = ?6"
     " WHERE account = ?1 AND key = ?2 AND owner = ?3 AND state = 1",
     "save response"},
    {"UPDATE idempotency_key SET state = 0 WHERE account = ?1 AND key = ?2 AND owner = ?3"
     " AND state = 1",
     "free key"},
    {NULL, NULL},
};

static const uint8_t moves[] = {
    [LOOK_UP] = MOVE_NONE,      [INSERT] = MOVE_CLAIM, [TAKE] = MOVE_CLAIM,
    [COMPLETE] = MOVE_COMPLETE, [FREE] = MOVE_RELEASE,
};

enum { LOCK = RETENTION_SETTINGS_COUNT, FAILURES, MISMATCH, KEY_NEEDED, MARKED };
enum { FAILURES_SAVED, FAILURES_EXECUTED_AGAIN };
enum { MISMATCH_400, MISMATCH_422, MISMATCH_IGNORED };

static const struct setting settings[] = {
    RETENTION_SETTINGS("retention", 86400 * RETENTION_SECOND, REMOVAL_BOTH),
    {"lock", SETTING_DURATION, 90 * RETENTION_SECOND, 0, RETENTION_LONGEST, NULL,
     "how long an execution holds its key; 0s: until it ends, even if it has died"},
    {"failures", SETTING_CHOICE, FAILURES_EXECUTED_AGAIN, 0, 0, "saved executed-again",
     "what a retry of a failed execution gets"},
    {"mismatch", SETTING_CHOICE, MISMATCH_400, 0, 0, "400 422 ignored",
     "the answer to other parameters under a known key"},
    {"key_needed", SETTING_FLAG, 0, 0, 0, NULL,
     "a request without a key is refused with 400; else it is executed unprotected"},
    {"marked", SETTING_FLAG, 1, 0, 0, NULL, "a replayed response says that it is one"},
    {.name = NULL},
};

#define KEY_LONGEST 255

/* Of a running key that only its executor can end. */
#define NEVER INT64_MAX

static void promise(const int64_t *values, struct promise *out)
{
    uint64_t kept = retention_promised(values);
    *out = (struct promise){.retention = kept,
                            .retention_name = "retention",
                            .records = (uint64_t)values[RETENTION_MOST],
                            .lease = (uint64_t)values[LOCK],
                            .lease_name = "lock",
                            .fenced = true};
    if (out->lease == 0) { /* a running key goes with its record */
        out->lease = kept > 0 ? kept : SIM_TIME_MAX;
        out->lease_name = kept > 0 ? "retention" : "lock";
    }
}

/* When the lock begins. */
static int64_t locked_from(const struct handling *h)
{
    bool ends =
        handling_setting(h, LOCK) > 0 || (handling_setting(h, RETENTION) > 0 &&
                                          handling_setting(h, RETENTION_REMOVAL) != REMOVAL_NEVER);
    return ends ? (int64_t)handling_now(h) : NEVER;
}

/* Without a key nothing can be recognised. */
static void execute_unprotected(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    o = o == OK ? apply_effect(h) : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply_http(h, REPLY_DONE, handling_receipt(h), 200, false);
}

/* The rest of the transaction that holds the effect, or none: a result for the key. */
static enum outcome complete(struct handling *h, enum reply_status status, unsigned code)
{
    const char *account = handling_client(h), *key = handling_key(h);
    int64_t receipt = status == REPLY_DONE ? handling_receipt(h) : 0;
    enum outcome o = sql(h, STEP_RECORD, COMPLETE, "ttiiii", account, key, handling_token(h),
                         (int64_t)status, (int64_t)code, receipt);
    if (o == OK && handling_changes(h) == 0) {
        o = BUSY; /* the lock has gone to another request */
    }
    if (o == OK && handling_setting(h, RETENTION_STARTS) == STARTS_COMPLETION) {
        o = retention_keep(h, account, key);
    }
    return o == OK ? commit(h) : o;
}

/* The key may be executed again by whoever comes next. */
static enum outcome set_free(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = sql(h, STEP_RELEASE, FREE, "tti", handling_client(h), handling_key(h),
                handling_token(h));
    }
    return o == OK ? commit(h) : o;
}

/* The execution has come to o, which is not OK; no effect is left. */
static void end_failed(struct handling *h, enum outcome o)
{
    bool declined = o == DECLINED;
    bool failed = o == FAILED || o == CONSTRAINT;
    enum reply_status status = declined ? REPLY_REFUSED : REPLY_ERROR;
    unsigned code = declined ? 402 : 500;
    enum outcome end = rollback(h);
    if (end == OK && (declined || failed) && handling_setting(h, FAILURES) == FAILURES_SAVED) {
        end = begin_immediate(h);
        end = end == OK ? complete(h, status, code) : end;
    } else if (end == OK) {
        end = set_free(h);
    }
    if (end == DEAD || (end != OK && rollback(h) == DEAD)) {
        return;
    }
    if (end != OK || !(declined || failed)) {
        /* Nothing was saved: the key is free, or will be when its lock has passed. */
        reply_http(h, REPLY_RETRY_LATER, 0, 503, false);
        return;
    }
    reply_http(h, status, 0, code, false);
}

static void execute(struct handling *h)
{
    enum outcome o = business_work(h);
    o = o == OK ? begin_immediate(h) : o;
    o = o == OK ? apply_effect(h) : o;
    o = o == OK ? complete(h, REPLY_DONE, 200) : o;
    if (o == DEAD) {
        return;
    }
    if (o != OK) {
        end_failed(h, o);
        return;
    }
    reply_http(h, REPLY_DONE, handling_receipt(h), 200, false);
}

/* The key is completed: its response again. The row's columns are still to be read. */
static void replay(struct handling *h)
{
    enum reply_status status = (enum reply_status)handling_column_int(h, 2);
    unsigned code = (unsigned)handling_column_int(h, 3);
    int64_t receipt = handling_column_int(h, 4);
    enum outcome o = retention_end_duplicate(h, handling_client(h), handling_key(h));
    if (o != OK) {
        give_up(h, o);
        return;
    }
    status = status == REPLY_DONE ? REPLY_DUPLICATE : status;
    reply_http(h, status, receipt, code, handling_setting(h, MARKED) != 0);
}

static void refuse(struct handling *h, enum reply_status status, unsigned code)
{
    enum outcome o = rollback(h);
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply_http(h, status, 0, code, false);
}

/* The key is known; its row can be read. */
static void known(struct handling *h)
{
    static const unsigned codes[] = {[MISMATCH_400] = 400, [MISMATCH_422] = 422};
    int64_t state = handling_column_int(h, 0), locked_at = handling_column_int(h, 5);
    int64_t mismatch = handling_setting(h, MISMATCH), lock = handling_setting(h, LOCK);
    int64_t now = (int64_t)handling_now(h);
    if (mismatch != MISMATCH_IGNORED && strcmp(handling_column_text(h, 1), handling_body(h)) != 0) {
        refuse(h, REPLY_REFUSED, codes[mismatch]);
        return;
    }
    if (state == COMPLETED) {
        replay(h);
        return;
    }
    if (state == RUNNING && (lock == 0 || now - locked_at < lock)) {
        refuse(h, REPLY_RETRY_LATER, 409);
        return;
    }
    enum outcome o = sql(h, STEP_CLAIM, TAKE, "ttii", handling_client(h), handling_key(h),
                         handling_token(h), locked_from(h));
    o = o == OK ? retention_touch(h, handling_client(h), handling_key(h)) : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    execute(h);
}

static void start(struct handling *h)
{
    const char *account = handling_client(h), *key = handling_key(h);
    enum outcome o = begin_immediate(h);
    o = o == OK ? retention_look(h, account, key) : o;
    if (o == OK && retention_stale(h)) {
        rollback(h);
        return;
    }
    o = o == OK ? sql(h, STEP_LOOK_UP, LOOK_UP, "tt", account, key) : o;
    if (o == ROW) {
        known(h);
        return;
    }
    if (o == OK) {
        o = sql(h, STEP_CLAIM, INSERT, "tttii", account, key, handling_body(h), handling_token(h),
                locked_from(h));
    }
    o = o == OK ? retention_keep(h, account, key) : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    execute(h);
}

static void idempotency_key_handle(struct handling *h)
{
    const char *key = handling_key(h);
    if (key[0] == '\0' && !handling_setting(h, KEY_NEEDED) && handling_valid(h)) {
        execute_unprotected(h);
    } else if (key[0] == '\0' || strlen(key) > KEY_LONGEST || !handling_valid(h)) {
        reply_http(h, REPLY_REFUSED, 0, 400, false);
    } else {
        start(h);
    }
}

static const struct keeping keeping = {
    .table = "idempotency_key",
    .key = "account = ?1 AND key = ?2",
    .unowned = "state = 1 AND locked_at = 9223372036854775807",
};

const struct receiver receiver_idempotency_key = {
    .name = "idempotency_key",
    .about = "first response saved under the client's key and replayed; 409 while it is made",
    .source = "Stripe, Idempotent requests; brandur, rocket-rides-atomic",
    .schema = "CREATE TABLE idempotency_key(account TEXT NOT NULL, key TEXT NOT NULL,"
              " parameters TEXT NOT NULL, state INTEGER NOT NULL, owner INTEGER NOT NULL,"
              " locked_at INTEGER NOT NULL, status INTEGER, code INTEGER, receipt INTEGER,"
              " PRIMARY KEY(account, key)) WITHOUT ROWID;",
    .statements = statements,
    .moves = moves,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given key, at most 255 bytes",
            [AXIS_SCOPE] = "account",
            [AXIS_STRUCTURE] = "set + response",
            [AXIS_MOMENT] = "before the effect, completed with it",
            [AXIS_CONCURRENT] = "refused",
            [AXIS_ANSWER] = "saved response",
            [AXIS_MISMATCH] = "refused",
            [AXIS_FAILURE] = "save the error; or execute again",
            [AXIS_TAKEOVER] = "lock time-out, fenced",
            [AXIS_WINDOW_CLOCK] = "receipt, completion or last seen",
            [AXIS_REMOVAL] = "at look-up and by sweep; see settings",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_CLAIM) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_RECORD) |
             STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY) |
             STEP_BIT(STEP_RELEASE) | STEP_BIT(STEP_EXPIRE),
    .saves_responses = true,
    .handle = idempotency_key_handle,
    .keeping = &keeping,
    .promise = promise,
};
