/* The client session: a registered client, its numbered requests, the responses that are kept.
 *
 * In: a registration, or a request with the number of its session and its own number with its
 * client. Out: a new session, or the effect, once, with its response saved in the same transaction;
 * a repeat gets that response. What is kept of a session:
 *
 *     response  of each number that was executed, until it is discarded:
 *                 acknowledged  by a request that says up to where its client has the answers
 *                 next          by the next request, which releases all earlier ones
 *                 most          by another one, when there are more than `most`
 *     low       the highest number that may have been discarded. At or below it nobody can tell
 *               whether a request was executed: `below` says what becomes of one
 *     latest    the highest number executed; with `order: latest` only its response is known, and
 *               older requests are dropped
 *     seen      when it last executed (`expires: last-new`), or answered (`last-seen`), by the
 *               host's clock; `lease` later it is gone, with all that it knew
 *
 * A request whose session is not there may have been executed: `unknown: error` leaves that open,
 * `refused` takes it for a failure, `created` opens the session anew and executes.
 *
 * A registration is not recognised when it comes twice: the second opens a session that nobody
 * uses, and where there are too many sessions it puts out the one that has been idle longest. With
 * `register: once` a client that has a session gets that.
 */
#include "receivers/retention.h"

enum { EXPIRE, FIND, OPEN, EVICT, READ, SAVE, SURPLUS, DISCARD, NOTE, TOUCH };

#define NEXT_TURN "(SELECT coalesce(max(turn), 0) + 1 FROM session)"

static const struct statement statements[] = {
    {"DELETE FROM session WHERE seen <= ?1", "end idle sessions"},
    {"SELECT id, low, latest FROM session WHERE client = ?1 AND (id = ?2 OR ?2 = 0)"
     " ORDER BY id DESC LIMIT 1",
     "look for session"},
    {"INSERT INTO session(id, client, seen, low, latest, turn)"
     " VALUES(nullif(?1, 0), ?2, ?3, 0, 0, " NEXT_TURN ")",
     "open session"},
    {"DELETE FROM session WHERE turn IN (SELECT turn FROM session ORDER BY turn"
     " LIMIT (SELECT max(count(*) - ?1, 0) FROM session))",
     "evict sessions"},
    {"SELECT status, receipt FROM response WHERE session = ?1 AND number = ?2",
     "look for response"},
    {"INSERT INTO response(session, number, status, receipt) VALUES(?1, ?2, ?3, ?4)",
     "save response"},
    {"SELECT number FROM response WHERE session = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2",
     "look for too many responses"},
    {"DELETE FROM response WHERE session = ?1 AND number <= ?2", "discard responses"},
    {"UPDATE session SET seen = ?2, low = max(low, ?3), latest = max(latest, ?4),"
     " turn = " NEXT_TURN " WHERE id = ?1",
     "note number"},
    {"UPDATE session SET seen = ?2 WHERE id = ?1", "renew session"},
    {NULL, NULL},
};

enum { UNKNOWN, LEASE, EXPIRES, DISCARDED, MOST, BELOW, ORDER, SESSIONS, REGISTERED, FAILURES };
enum { UNKNOWN_REFUSED, UNKNOWN_ERROR, UNKNOWN_CREATED };
enum { EXPIRES_LAST_NEW, EXPIRES_LAST_SEEN };
enum { DISCARD_ACKNOWLEDGED, DISCARD_NEXT, DISCARD_MOST };
enum { BELOW_ERROR, BELOW_DROPPED, BELOW_EXECUTED };
enum { ORDER_ANY, ORDER_LATEST };
enum { REGISTER_ANEW, REGISTER_ONCE };
enum { FAILURES_SAVED, FAILURES_EXECUTED_AGAIN };

static const struct setting settings[] = {
    {"unknown", SETTING_CHOICE, UNKNOWN_REFUSED, 0, 0, "refused error created",
     "the answer to a request whose session is not there; created: it is opened by the request"},
    {"lease", SETTING_DURATION, 3600 * RETENTION_SECOND, 0, RETENTION_LONGEST, NULL,
     "how long an idle session is kept; 0s: for ever"},
    {"expires", SETTING_CHOICE, EXPIRES_LAST_NEW, 0, 0, "last-new last-seen",
     "what a session's idle time counts from: its last execution, or its last repeat too"},
    {"discard", SETTING_CHOICE, DISCARD_ACKNOWLEDGED, 0, 0, "acknowledged next most",
     "when a response goes: its client has it, the next request has come, there are too many"},
    {"most", SETTING_NUMBER, 5, 1, 1000000, NULL, "responses of a session, with `discard: most`"},
    {"below", SETTING_CHOICE, BELOW_ERROR, 0, 0, "error dropped executed",
     "what becomes of a request whose response may have been discarded"},
    {"order", SETTING_CHOICE, ORDER_ANY, 0, 0, "any latest",
     "latest: one request of a client at a time; what is older than the latest is dropped"},
    {"sessions", SETTING_NUMBER, 0, 0, 1000000, NULL,
     "most sessions; one too many puts out that which executed longest ago; 0: any number"},
    {"register", SETTING_CHOICE, REGISTER_ANEW, 0, 0, "anew once",
     "what a registration gives to a client that has a session"},
    {"failures", SETTING_CHOICE, FAILURES_SAVED, 0, 0, "saved executed-again",
     "what a repeat of a request gets that the business declined"},
    {.name = NULL},
};

static void promise(const int64_t *values, struct promise *out)
{
    *out = (struct promise){
        .retention = (uint64_t)values[LEASE],
        .retention_name = "lease",
        .records = values[DISCARDED] == DISCARD_MOST ? (uint64_t)values[MOST] : 0,
        .fenced = true,
    };
}

/* A session as it was found; ROW, or OK where there is none. */
struct session {
    int64_t id, low, latest;
};

static enum outcome find(struct handling *h, int64_t id, struct session *out)
{
    enum outcome o = sql(h, STEP_LOOK_UP, FIND, "ti", handling_client(h), id);
    if (o == ROW) {
        *out = (struct session){handling_column_int(h, 0), handling_column_int(h, 1),
                                handling_column_int(h, 2)};
    }
    return o;
}

/* id 0: a new number. The session is found then. */
static enum outcome open_session(struct handling *h, int64_t id, struct session *out)
{
    enum outcome o =
        sql(h, STEP_RECORD, OPEN, "iti", id, handling_client(h), (int64_t)handling_now(h));
    if (o == OK && handling_setting(h, SESSIONS) > 0) {
        o = sql(h, STEP_EXPIRE, EVICT, "i", handling_setting(h, SESSIONS));
    }
    o = o == OK ? find(h, id, out) : o;
    return o == OK ? STORE_ERROR : o;
}

/* The transaction of a repeat ends. */
static enum outcome end_repeat(struct handling *h, const struct session *s)
{
    if (handling_setting(h, LEASE) == 0 || handling_setting(h, EXPIRES) == EXPIRES_LAST_NEW) {
        return rollback(h);
    }
    enum outcome o = sql(h, STEP_RECORD, TOUCH, "ii", s->id, (int64_t)handling_now(h));
    return o == OK ? commit(h) : o;
}

static void register_client(struct handling *h)
{
    struct session s;
    enum outcome o = handling_setting(h, REGISTERED) == REGISTER_ONCE ? find(h, 0, &s) : OK;
    bool known = o == ROW;
    if (known) {
        o = end_repeat(h, &s);
    } else if (o == OK) {
        o = open_session(h, 0, &s);
        o = o == ROW ? commit(h) : o;
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, known ? REPLY_DUPLICATE : REPLY_DONE, s.id);
}

/* Ends a request that is not executed; REPLY_NONE: without a word. */
static void turn_away(struct handling *h, enum reply_status status)
{
    enum outcome o = rollback(h);
    if (o != OK) {
        give_up(h, o);
    } else if (status != REPLY_NONE) {
        reply(h, status, 0);
    }
}

/* The row is that of the response. */
static void replay(struct handling *h, const struct session *s)
{
    enum reply_status status = (enum reply_status)handling_column_int(h, 0);
    int64_t receipt = handling_column_int(h, 1);
    enum outcome o = end_repeat(h, s);
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, status == REPLY_DONE ? REPLY_DUPLICATE : status, receipt);
}

/* What the request with number n, just executed, allows to discard: *low is the highest number. */
static enum outcome discard(struct handling *h, const struct session *s, int64_t n, int64_t *low)
{
    enum outcome o = OK;
    int64_t said = handling_acknowledged(h);
    *low = 0;
    switch (handling_setting(h, DISCARDED)) {
    case DISCARD_ACKNOWLEDGED:
        *low = said < n ? said : n - 1; /* no message says that its own answer has come */
        break;
    case DISCARD_NEXT:
        *low = n - 1;
        break;
    default: /* not our enum */
        o = sql(h, STEP_LOOK_UP, SURPLUS, "ii", s->id, handling_setting(h, MOST));
        *low = o == ROW ? handling_column_int(h, 0) : 0;
        o = o == ROW ? OK : o;
        break;
    }
    if (o == OK && *low > s->low) {
        o = sql(h, STEP_EXPIRE, DISCARD, "ii", s->id, *low);
    }
    return o;
}

static void execute(struct handling *h, const struct session *s, int64_t n)
{
    enum outcome o = apply_effect(h);
    bool declined = o == DECLINED && handling_setting(h, FAILURES) == FAILURES_SAVED;
    enum reply_status status = declined ? REPLY_REFUSED : REPLY_DONE;
    int64_t receipt = declined ? 0 : handling_receipt(h), low = 0;
    if (o == OK || declined) {
        o = sql(h, STEP_RECORD, SAVE, "iiii", s->id, n, (int64_t)status, receipt);
    }
    if (o == OK) {
        o = discard(h, s, n, &low);
    }
    if (o == OK) {
        o = sql(h, STEP_RECORD, NOTE, "iiii", s->id, (int64_t)handling_now(h), low, n);
    }
    if (o == OK) {
        o = commit(h);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, status, receipt);
}

static void serve(struct handling *h, const struct session *s)
{
    int64_t n = handling_number(h), below = handling_setting(h, BELOW);
    if (handling_setting(h, ORDER) == ORDER_LATEST && n < s->latest) {
        turn_away(h, REPLY_NONE);
        return;
    }
    enum outcome o = sql(h, STEP_LOOK_UP, READ, "ii", s->id, n);
    if (o == ROW) {
        replay(h, s);
    } else if (o != OK) {
        give_up(h, o);
    } else if (n <= s->low && below != BELOW_EXECUTED) {
        turn_away(h, below == BELOW_ERROR ? REPLY_ERROR : REPLY_NONE);
    } else {
        execute(h, s, n);
    }
}

static void session_handle(struct handling *h)
{
    struct session s;
    int64_t lease = handling_setting(h, LEASE), unknown = handling_setting(h, UNKNOWN);
    enum outcome o = begin_immediate(h);
    if (o == OK && lease > 0) {
        o = sql(h, STEP_EXPIRE, EXPIRE, "i", (int64_t)handling_now(h) - lease);
    }
    if (o == OK && handling_registers(h)) {
        register_client(h);
        return;
    }
    bool created = unknown == UNKNOWN_CREATED;
    if (o == OK && (created || handling_session(h) != 0)) {
        o = find(h, handling_session(h), &s);
    }
    if (o == OK && created) {
        o = open_session(h, handling_session(h), &s);
    }
    if (o == ROW) {
        serve(h, &s);
    } else if (o == OK) {
        turn_away(h, unknown == UNKNOWN_REFUSED ? REPLY_REFUSED : REPLY_ERROR);
    } else {
        give_up(h, o);
    }
}

const struct receiver receiver_session = {
    .name = "session",
    .about = "a registered client's numbered requests; responses kept until it has them",
    .source = "U. Joshi, Idempotent Receiver; RIFL; Raft, section 6.3; VR Revisited",
    .asks = "session: registered",
    .schema = "CREATE TABLE session(id INTEGER PRIMARY KEY AUTOINCREMENT, client TEXT NOT NULL,"
              " seen INTEGER NOT NULL, low INTEGER NOT NULL, latest INTEGER NOT NULL,"
              " turn INTEGER NOT NULL);"
              "CREATE INDEX session_by_client ON session(client, id);"
              "CREATE TABLE response(session INTEGER NOT NULL, number INTEGER NOT NULL,"
              " status INTEGER NOT NULL, receipt INTEGER NOT NULL, PRIMARY KEY(session, number))"
              " WITHOUT ROWID;"
              "CREATE TRIGGER session_ends AFTER DELETE ON session"
              " BEGIN DELETE FROM response WHERE session = old.id; END;",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "client + number",
            [AXIS_SCOPE] = "the client's session",
            [AXIS_STRUCTURE] = "sparse set above a low water; last only with `order: latest`",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "saved response, until it is discarded",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back; what is declined is saved, see `failures`",
            [AXIS_WINDOW_CLOCK] = "last new request by the host's clock; see `expires`",
            [AXIS_REMOVAL] = "client acknowledgement, next request or cap; idle sessions",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_EXPIRE),
    .saves_responses = true,
    .handle = session_handle,
    .promise = promise,
};
