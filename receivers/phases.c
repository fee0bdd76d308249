/* Phases with recovery points: an API that calls another system in the middle of its work.
 *
 * In: a request with its key. Out: its effect in the database and one outside, once each, and a
 * response that is saved. Work is cut where the foreign call is: each phase is one transaction that
 * stores what it has come to together with the point that it has reached,
 *
 *     started -> ride_created -> charge_created -> finished
 *
 * so that whoever comes again goes on at the stored point. A key in use is locked: others get 409
 * until its owner has ended, or until `lock` has passed, when the next one takes over; an owner
 * that was overtaken stores nothing. What is left between a call and its transaction, a repeat of
 * the call, is the other system's to recognise: by a key that is derived from the request's own.
 *
 * rocket-rides-atomic makes the call inside the phase's transaction (`call: inside`) and takes an
 * answer that never came for a failure, which it saves as the final response (`lost_answer:
 * saved`). A background job that completes what nobody asks for any more is left out.
 */
#include "receivers/retention.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LOOK_UP, INSERT, TAKE, RIDE, CHARGE, FINISH, FREE };
enum { STARTED, RIDE_CREATED, CHARGE_CREATED, FINISHED };

#define HELD " WHERE account = ?1 AND key = ?2 AND owner = ?3"

static const struct statement statements[] = {
    {"SELECT point, parameters, status, code, receipt, owner, locked_at FROM phase_key"
     " WHERE account = ?1 AND key = ?2",
     "look for key"},
    {"INSERT INTO phase_key(account, key, parameters, point, owner, locked_at)"
     " VALUES(?1, ?2, ?3, 0, ?4, ?5)",
     "insert key, started"},
    {"UPDATE phase_key SET owner = ?3, locked_at = ?4 WHERE account = ?1 AND key = ?2", "lock key"},
    {"UPDATE phase_key SET point = 1, receipt = ?4" HELD, "store ride, ride_created"},
    {"UPDATE phase_key SET point = 2, charge = ?4" HELD, "store charge, charge_created"},
    {"UPDATE phase_key SET point = 3, owner = 0, status = ?4, code = ?5" HELD,
     "save response, finished"},
    {"UPDATE phase_key SET owner = 0" HELD, "unlock key"},
    {NULL, NULL},
};

static const uint8_t moves[] = {
    [LOOK_UP] = MOVE_NONE, [INSERT] = MOVE_CLAIM,    [TAKE] = MOVE_CLAIM,   [RIDE] = MOVE_NONE,
    [CHARGE] = MOVE_NONE,  [FINISH] = MOVE_COMPLETE, [FREE] = MOVE_RELEASE,
};

enum { LOCK = RETENTION_SETTINGS_COUNT, CALL_WHEN, CALL_KEY, LOST_ANSWER };
enum { CALL_BETWEEN, CALL_INSIDE };
enum { KEY_DERIVED, KEY_NONE, KEY_NEW };
enum { LOST_RETRIED, LOST_SAVED };

static const struct setting settings[] = {
    RETENTION_SETTINGS("retention", 72 * 3600 * RETENTION_SECOND, REMOVAL_BOTH),
    {"lock", SETTING_DURATION, 90 * RETENTION_SECOND, 0, RETENTION_LONGEST, NULL,
     "how long a request holds its key; 0s: until it ends, even if it has died"},
    {"call", SETTING_CHOICE, CALL_BETWEEN, 0, 0, "between inside",
     "the foreign call, before the transaction of its phase or in it"},
    {"call_key", SETTING_CHOICE, KEY_DERIVED, 0, 0, "derived none new",
     "the call's key: made from the request's, none, or another one in each handling"},
    {"lost_answer", SETTING_CHOICE, LOST_RETRIED, 0, 0, "retried saved",
     "a call without an answer: 503 and the next request calls again, or 503 for good"},
    {.name = NULL},
};

static void promise(const int64_t *values, struct promise *out)
{
    *out = (struct promise){.retention = (uint64_t)values[RETENTION],
                            .retention_name = "retention",
                            .records = (uint64_t)values[RETENTION_MOST],
                            .lease = (uint64_t)values[LOCK],
                            .lease_name = "lock",
                            .fenced = true};
}

/* A statement that only the present owner of the key may run. BUSY: it is another's now. */
static enum outcome held(struct handling *h, enum outcome o)
{
    return o == OK && handling_changes(h) == 0 ? BUSY : o;
}

/* This request goes no further; the point is kept and the next one goes on there. */
static void unlock(struct handling *h, enum reply_status status, unsigned code)
{
    const char *account = handling_client(h), *key = handling_key(h);
    enum outcome o = rollback(h);
    o = o == OK ? begin_immediate(h) : o;
    o = o == OK ? sql(h, STEP_RELEASE, FREE, "tti", account, key, handling_token(h)) : o;
    o = o == OK ? commit(h) : o;
    if (o == DEAD || (o != OK && rollback(h) == DEAD)) {
        return;
    }
    reply_http(h, status, 0, code, false);
}

static void fail(struct handling *h, enum outcome o)
{
    if (o != DEAD) {
        bool conflict = o == BUSY;
        unlock(h, conflict ? REPLY_RETRY_LATER : REPLY_ERROR, conflict ? 409 : 500);
    }
}

/* In a transaction of its own or in the phase's, which it ends. The answer is final. */
static void finish(struct handling *h, enum reply_status status, unsigned code, int64_t receipt)
{
    const char *account = handling_client(h), *key = handling_key(h);
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = held(h, sql(h, STEP_RECORD, FINISH, "ttiii", account, key, handling_token(h),
                        (int64_t)status, (int64_t)code));
    }
    if (o == OK && handling_setting(h, RETENTION_STARTS) == STARTS_COMPLETION) {
        o = retention_keep(h, account, key);
    }
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        fail(h, o);
        return;
    }
    reply_http(h, status, receipt, code, false);
}

/* started -> ride_created: the effect in the database. */
static bool create_ride(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    o = o == OK ? apply_effect(h) : o;
    if (o == OK) {
        o = held(h, sql(h, STEP_RECORD, RIDE, "ttii", handling_client(h), handling_key(h),
                        handling_token(h), handling_receipt(h)));
    }
    o = o == OK ? commit(h) : o;
    if (o == DECLINED || o == CONSTRAINT) {
        o = rollback(h);
        if (o == OK) {
            finish(h, REPLY_REFUSED, 402, 0);
            return false;
        }
    }
    if (o != OK) {
        fail(h, o);
    }
    return o == OK;
}

#define CALL_KEY_TEXT (2 * KEY_MAX + 32)

static const char *call_key(struct handling *h, char out[CALL_KEY_TEXT])
{
    int64_t which = handling_setting(h, CALL_KEY);
    if (which == KEY_NONE) {
        return "";
    }
    if (which == KEY_NEW) {
        snprintf(out, CALL_KEY_TEXT, "%s/%s/%" PRId64, handling_client(h), handling_key(h),
                 handling_token(h));
    } else {
        snprintf(out, CALL_KEY_TEXT, "%s/%s", handling_client(h), handling_key(h));
    }
    return out;
}

/* The call has come to o, which is not OK. */
static void call_failed(struct handling *h, enum outcome o)
{
    if (o == DEAD || (o != BUSY && o != STORE_ERROR)) {
        fail(h, o);
        return;
    }
    if (o == BUSY && handling_setting(h, LOST_ANSWER) == LOST_RETRIED) {
        unlock(h, REPLY_RETRY_LATER, 503);
        return;
    }
    if (rollback(h) == DEAD) {
        return;
    }
    if (o == BUSY) { /* what became of it is not known, and nobody will ask */
        finish(h, REPLY_ERROR, 503, 0);
    } else {
        finish(h, REPLY_REFUSED, 402, 0);
    }
}

/* ride_created -> charge_created: the effect outside. */
static bool create_charge(struct handling *h)
{
    char key[CALL_KEY_TEXT];
    bool inside = handling_setting(h, CALL_WHEN) == CALL_INSIDE;
    enum outcome o = inside ? begin_immediate(h) : OK;
    if (o == OK) {
        o = external_effect(h, call_key(h, key));
        if (o != OK) {
            call_failed(h, o);
            return false;
        }
    }
    o = o == OK && !inside ? begin_immediate(h) : o;
    if (o == OK) {
        o = held(h, sql(h, STEP_RECORD, CHARGE, "ttii", handling_client(h), handling_key(h),
                        handling_token(h), handling_external_receipt(h)));
    }
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        fail(h, o);
    }
    return o == OK;
}

/* From the stored point on; receipt: the ride's, once there is one. */
static void go_on(struct handling *h, int64_t point, int64_t receipt)
{
    if (point == STARTED) {
        if (!create_ride(h)) {
            return;
        }
        receipt = handling_receipt(h);
    }
    if (point <= RIDE_CREATED && !create_charge(h)) {
        return;
    }
    finish(h, REPLY_DONE, 200, receipt);
}

static void refuse(struct handling *h, enum reply_status status)
{
    enum outcome o = rollback(h);
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply_http(h, status, 0, 409, false);
}

/* The key is finished: its response again. The row's columns are still to be read. */
static void replay(struct handling *h)
{
    enum reply_status status = (enum reply_status)handling_column_int(h, 2);
    unsigned code = (unsigned)handling_column_int(h, 3);
    int64_t receipt = status == REPLY_DONE ? handling_column_int(h, 4) : 0;
    enum outcome o = retention_end_duplicate(h, handling_client(h), handling_key(h));
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply_http(h, status == REPLY_DONE ? REPLY_DUPLICATE : status, receipt, code, true);
}

/* The key is known; its row can be read. */
static void known(struct handling *h)
{
    int64_t point = handling_column_int(h, 0), receipt = handling_column_int(h, 4);
    int64_t owner = handling_column_int(h, 5), locked_at = handling_column_int(h, 6);
    int64_t lock = handling_setting(h, LOCK), now = (int64_t)handling_now(h);
    if (strcmp(handling_column_text(h, 1), handling_body(h)) != 0) {
        refuse(h, REPLY_REFUSED);
        return;
    }
    if (point == FINISHED) {
        replay(h);
        return;
    }
    if (owner != 0 && (lock == 0 || now - locked_at < lock)) {
        refuse(h, REPLY_RETRY_LATER);
        return;
    }
    enum outcome o = sql(h, STEP_CLAIM, TAKE, "ttii", handling_client(h), handling_key(h),
                         handling_token(h), now);
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    go_on(h, point, receipt);
}

static void phases_handle(struct handling *h)
{
    const char *account = handling_client(h), *key = handling_key(h);
    if (key[0] == '\0' || !handling_valid(h)) {
        reply_http(h, REPLY_REFUSED, 0, 400, false);
        return;
    }
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
                (int64_t)handling_now(h));
    }
    o = o == OK ? retention_keep(h, account, key) : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    go_on(h, STARTED, 0);
}

static const struct keeping keeping = {
    .table = "phase_key",
    .key = "account = ?1 AND key = ?2",
};

const struct receiver receiver_phases = {
    .name = "phases",
    .about =
        "recovery points between phases, one of them a call to another system with its own key",
    .source = "brandur, rocket-rides-atomic",
    .schema = "CREATE TABLE phase_key(account TEXT NOT NULL, key TEXT NOT NULL,"
              " parameters TEXT NOT NULL, point INTEGER NOT NULL, owner INTEGER NOT NULL,"
              " locked_at INTEGER NOT NULL, receipt INTEGER, charge INTEGER, status INTEGER,"
              " code INTEGER, PRIMARY KEY(account, key)) WITHOUT ROWID;",
    .statements = statements,
    .moves = moves,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given key",
            [AXIS_SCOPE] = "account",
            [AXIS_STRUCTURE] = "set + recovery point + response",
            [AXIS_MOMENT] = "before the effect, then a point with each phase",
            [AXIS_CONCURRENT] = "refused",
            [AXIS_ANSWER] = "saved response",
            [AXIS_MISMATCH] = "refused",
            [AXIS_FAILURE] = "resume at recovery point; a refusal is saved",
            [AXIS_TAKEOVER] = "lock time-out, fenced",
            [AXIS_WINDOW_CLOCK] = "receipt; see `starts` and `clock`",
            [AXIS_REMOVAL] = "at look-up and by sweep, finished or not; see settings",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_CLAIM) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_EXTERNAL) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) |
             STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_RELEASE) | STEP_BIT(STEP_EXPIRE),
    .saves_responses = true,
    .handle = phases_handle,
    .keeping = &keeping,
    .promise = promise,
};
