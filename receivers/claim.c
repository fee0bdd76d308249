/* The claim: a record in progress that only one handling holds, under a lease.
 *
 * In: a message with its key. Out: its effect, and a record that says so. A conditional put makes
 * the record, in progress until its lease ends; who finds it in progress is told to come back, who
 * finds it lapsed takes it over, who finds it completed gets the saved response. A failure deletes
 * it, so that a retry executes again.
 *
 * With `fencing` whoever completes or deletes must still hold the claim, and with completion
 * `with-effect` that is asked in the transaction of the effect: an owner that has outlived its
 * lease commits nothing. Without them a slow owner and its successor both take effect.
 *
 * AWS Lambda Powertools completes after the effect, in a store of its own, and does not fence. A
 * lock alone (`record: false`) keeps nothing once it is released, as a Redis lock does.
 */
#include "receivers/retention.h"

#include <string.h>

enum { PUT, LOOK_UP, COMPLETE, RELEASE, PUT_COMPLETED };
enum { IN_PROGRESS = 1, COMPLETED = 2 };

/* ?: a lease that never ends is NULL; owner 0 asks for no owner. */
static const struct statement statements[] = {
    {"INSERT INTO claim(id, state, owner, lease_until, payload) VALUES(?1, 1, ?2, ?3, ?4)"
     " ON CONFLICT(id) DO UPDATE SET owner = ?2, lease_until = ?3, payload = ?4"
     " WHERE state = 1 AND lease_until <= ?5",
     "claim"},
    {"SELECT state, payload, receipt FROM claim WHERE id = ?1", "read claim"},
    {"UPDATE claim SET state = 2, receipt = ?3 WHERE id = ?1"
     " AND (?2 = 0 OR (owner = ?2 AND state = 1))",
     "complete claim"},
    {"DELETE FROM claim WHERE id = ?1 AND (?2 = 0 OR (owner = ?2 AND state = 1))", "delete claim"},
    {"INSERT INTO claim(id, state, owner, lease_until, payload, receipt)"
     " VALUES(?1, 2, ?2, 0, ?3, ?4)",
     "put completed claim"},
    {NULL, NULL},
};

static const uint8_t moves[] = {
    [PUT] = MOVE_CLAIM,       [LOOK_UP] = MOVE_NONE,           [COMPLETE] = MOVE_COMPLETE,
    [RELEASE] = MOVE_RELEASE, [PUT_COMPLETED] = MOVE_COMPLETE,
};

enum {
    LEASE = RETENTION_SETTINGS_COUNT,
    FENCING,
    RECORD,
    COMPLETION,
    FAILURE,
    PAYLOAD,
    IN_FLIGHT,
    ID,
    KEY_NEEDED
};
enum { WITH_EFFECT, AFTER_EFFECT };
enum { FAILURE_DELETES, FAILURE_KEEPS };
enum { PAYLOAD_CHECKED, PAYLOAD_IGNORED };
enum { IN_FLIGHT_REFUSED, IN_FLIGHT_ACKED };
enum { ID_GIVEN, ID_BODY };

static const struct setting settings[] = {
    RETENTION_SETTINGS("retention", 3600 * RETENTION_SECOND, REMOVAL_BOTH),
    {"lease", SETTING_DURATION, 30 * RETENTION_SECOND, 0, RETENTION_LONGEST, NULL,
     "how long a claim in progress is respected; 0s: as long as the record is kept"},
    {"fencing", SETTING_FLAG, 1, 0, 0, NULL, "only the present owner completes or deletes"},
    {"record", SETTING_FLAG, 1, 0, 0, NULL,
     "a completed claim stays as the record; false: a lock alone, released after the effect"},
    {"completion", SETTING_CHOICE, WITH_EFFECT, 0, 0, "with-effect after-effect",
     "completed in the effect's transaction, or in one of its own behind it"},
    {"failure", SETTING_CHOICE, FAILURE_DELETES, 0, 0, "deletes keeps",
     "what a failed handling does with its claim"},
    {"payload", SETTING_CHOICE, PAYLOAD_CHECKED, 0, 0, "checked ignored",
     "whether another payload under a known key is refused"},
    {"in_flight", SETTING_CHOICE, IN_FLIGHT_REFUSED, 0, 0, "refused acked",
     "what a duplicate gets while the first is in progress: retry-later, or duplicate"},
    {"id", SETTING_CHOICE, ID_GIVEN, 0, 0, "given body", "the message's key, or its content"},
    {"key_needed", SETTING_FLAG, 1, 0, 0, NULL,
     "a message without a key is refused; else it is processed unprotected"},
    {.name = NULL},
};

static void promise(const int64_t *values, struct promise *out)
{
    bool record = values[RECORD] != 0;
    *out = (struct promise){.retention = record ? retention_promised(values) : 1,
                            .retention_name = record ? "retention" : "record",
                            .records = (uint64_t)values[RETENTION_MOST],
                            .lease = (uint64_t)values[LEASE],
                            .lease_name = "lease",
                            .fenced = values[FENCING] != 0 && values[COMPLETION] == WITH_EFFECT};
    if (out->lease == 0 && values[RETENTION] > 0) {
        out->lease = (uint64_t)values[RETENTION];
        out->lease_name = "retention";
    } else if (out->lease == 0) {
        out->lease = SIM_TIME_MAX;
    }
}

static const char *claim_id(struct handling *h)
{
    return handling_setting(h, ID) == ID_BODY ? handling_body(h) : handling_key(h);
}

/* Who may end the claim: this handling, or, without fencing, anybody. */
static int64_t asked_owner(const struct handling *h)
{
    return handling_setting(h, FENCING) ? handling_token(h) : 0;
}

/* The record completed. Not fenced, it is made where it has gone: nothing is asked of it. */
static enum outcome complete(struct handling *h)
{
    const char *id = claim_id(h);
    bool dated = handling_setting(h, RETENTION_STARTS) != STARTS_COMPLETION;
    enum outcome o = sql(h, STEP_RECORD, COMPLETE, "tii", id, asked_owner(h), handling_receipt(h));
    if (o == OK && handling_changes(h) == 0) {
        if (handling_setting(h, FENCING)) {
            return BUSY;
        }
        dated = false;
        o = sql(h, STEP_RECORD, PUT_COMPLETED, "titi", id, handling_token(h), handling_body(h),
                handling_receipt(h));
    }
    return o == OK && !dated ? retention_keep(h, id, NULL) : o;
}

/* What ends a claim well: its record completed, or the lock released. BUSY: it is another's now. */
static enum outcome finish(struct handling *h)
{
    if (handling_setting(h, RECORD)) {
        return complete(h);
    }
    enum outcome o = sql(h, STEP_RELEASE, RELEASE, "ti", claim_id(h), asked_owner(h));
    return o == OK && handling_changes(h) == 0 && handling_setting(h, FENCING) ? BUSY : o;
}

static void fail(struct handling *h, enum outcome why)
{
    enum outcome o = rollback(h);
    if (o == OK && handling_setting(h, FAILURE) == FAILURE_DELETES) {
        o = sql(h, STEP_RELEASE, RELEASE, "ti", claim_id(h), asked_owner(h));
    }
    if (o != DEAD) {
        give_up(h, why);
    }
}

static void execute(struct handling *h)
{
    bool after = handling_setting(h, COMPLETION) == AFTER_EFFECT;
    enum outcome o = business_work(h);
    o = o == OK ? begin_immediate(h) : o;
    o = o == OK ? apply_effect(h) : o;
    if (o == OK && !after) {
        o = finish(h);
    }
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        fail(h, o);
        return;
    }
    if (after) {
        o = begin_immediate(h);
        o = o == OK ? finish(h) : o;
        o = o == OK ? commit(h) : o;
        if (o != OK) { /* the effect is there, and no record says so */
            give_up(h, o);
            return;
        }
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

/* The claim is another's, or completed. */
static void not_ours(struct handling *h)
{
    const char *id = claim_id(h);
    enum outcome o = sql(h, STEP_LOOK_UP, LOOK_UP, "t", id);
    if (o != ROW) {
        give_up(h, o == OK ? STORE_ERROR : o);
        return;
    }
    bool completed = handling_column_int(h, 0) == COMPLETED;
    bool other = handling_setting(h, PAYLOAD) == PAYLOAD_CHECKED &&
                 strcmp(handling_column_text(h, 1), handling_body(h)) != 0;
    int64_t receipt = handling_column_int(h, 2);
    bool acked = completed || handling_setting(h, IN_FLIGHT) == IN_FLIGHT_ACKED;
    o = completed && !other ? retention_end_duplicate(h, id, NULL) : rollback(h);
    if (o != OK) {
        give_up(h, o);
        return;
    }
    enum reply_status status = other ? REPLY_REFUSED : acked ? REPLY_DUPLICATE : REPLY_RETRY_LATER;
    reply(h, status, completed && !other ? receipt : 0);
}

/* Nothing to claim by. */
static void process_unprotected(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    o = o == OK ? apply_effect(h) : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

static void claim_handle(struct handling *h)
{
    const char *id = claim_id(h);
    if (id[0] == '\0' && handling_setting(h, KEY_NEEDED)) {
        reply(h, REPLY_REFUSED, 0);
        return;
    }
    if (id[0] == '\0') {
        process_unprotected(h);
        return;
    }
    int64_t now = (int64_t)handling_now(h);
    int64_t lease = handling_setting(h, LEASE);
    lease = lease > 0 ? lease : handling_setting(h, RETENTION);
    int64_t until = lease > 0 ? now + lease : INT64_MAX;
    enum outcome o = begin_immediate(h);
    o = o == OK ? retention_look(h, id, NULL) : o;
    if (o == OK && retention_stale(h)) {
        rollback(h);
        return;
    }
    if (o == OK) {
        o = sql(h, STEP_CLAIM, PUT, "tiiti", id, handling_token(h), until, handling_body(h), now);
    }
    if (o == OK && handling_changes(h) == 0) {
        not_ours(h);
        return;
    }
    o = o == OK ? retention_keep(h, id, NULL) : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    execute(h);
}

static const struct keeping keeping = {
    .table = "claim",
    .key = "id = ?1",
    .unowned = "state = 1 AND lease_until = 9223372036854775807",
};

const struct receiver receiver_claim = {
    .name = "claim",
    .about = "a record in progress under a lease, fenced, completed with the effect",
    .source = "AWS Lambda Powertools, Idempotency, with the owner's fencing that it lacks",
    .schema = "CREATE TABLE claim(id TEXT PRIMARY KEY, state INTEGER NOT NULL,"
              " owner INTEGER NOT NULL, lease_until INTEGER NOT NULL, payload TEXT NOT NULL,"
              " receipt INTEGER) WITHOUT ROWID;",
    .statements = statements,
    .moves = moves,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given id, or content",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set + response; a lock alone without `record`",
            [AXIS_MOMENT] = "claimed before the effect, completed with or after it",
            [AXIS_CONCURRENT] = "refused; acknowledged with `in_flight: acked`",
            [AXIS_ANSWER] = "saved response",
            [AXIS_MISMATCH] = "refused; ignored with `payload: ignored`",
            [AXIS_FAILURE] = "delete; keep with `failure: keeps`",
            [AXIS_TAKEOVER] = "lease; fenced or not",
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
    .handle = claim_handle,
    .keeping = &keeping,
    .promise = promise,
};
