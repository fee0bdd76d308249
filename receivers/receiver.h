/* What a receiver is, and everything that its handler may ask of the world.
 *
 * A receiver is a name, a schema, its statements, the steps it declares, and a handler that reads
 * like the code a user would write:
 *
 *     begin immediate
 *     insert the key into processed_message   -> constraint? rollback, answer duplicate
 *     apply the effect
 *     commit
 *     answer done
 *
 * Each call below is a step: there the world may crash the host, pause the worker, run another
 * worker, let time pass, or make the store fail. Calls return an outcome. After the host's death
 * each call answers DEAD and does nothing, so a handler leaves through its own error path. A
 * handler that makes 1,000 calls after death ends the program with exit status 3 and its name.
 *
 * The receiver sees the key, the client, the entity and the amount; never the operation.
 */
#ifndef RECEIVERS_RECEIVER_H
#define RECEIVERS_RECEIVER_H

#include "sim/message.h"
#include "sim/site.h"

#define OUTCOMES(X)                                                                                \
    X(OK, "ok")                                                                                    \
    X(ROW, "row")               /* a query returned a row: see handling_column */                  \
    X(CONSTRAINT, "constraint") /* a primary key, unique or check constraint refused it */         \
    X(BUSY, "busy")             /* the store is locked */                                          \
    X(FULL, "full")             /* the disk is full */                                             \
    X(STORE_ERROR, "error")     /* anything else the store may say */                              \
    X(FAILED, "failed")         /* the handler itself fails here, as an exception would */         \
    X(DEAD, "dead")             /* the host has died */                                            \
    X(DECLINED, "declined")     /* the business says no; nothing was changed */

enum outcome {
#define X(name, text) name,
    OUTCOMES(X)
#undef X
};
const char *outcome_text(enum outcome o);

/* What a statement does to the record of the message's key, if it changes a row; it counts when its
 * transaction is committed. Checks record-states and owner-only go by it. A receiver whose records
 * are made in one go with their effect need not say. */
#define MOVES(X)                                                                                   \
    X(MOVE_NONE, "none")                                                                           \
    X(MOVE_CLAIM, "claim") /* absent, lapsed or expired -> in progress, owned by this handling */  \
    X(MOVE_RENEW, "renew") /* in progress, by its owner: a longer lease */                         \
    X(MOVE_COMPLETE, "complete") /* in progress -> completed, by its owner */                      \
    X(MOVE_RELEASE, "release")   /* in progress -> absent, by its owner */                         \
    X(MOVE_EXPIRE, "expire")     /* completed or lapsed -> absent, by anybody */

enum record_move {
#define X(name, text) name,
    MOVES(X)
#undef X
};
const char *record_move_text(enum record_move m);

struct statement {
    const char *sql;
    const char *brief; /* how diagrams name it: "insert id" */
};

struct handling; /* one execution of a handler for one delivery */

/* What a scenario may set of a receiver: `{name: fifo, is: window, window: 20s}`. */
enum setting_kind {
    SETTING_DURATION, /* ns */
    SETTING_NUMBER,
    SETTING_FLAG,   /* true or false: 1 or 0 */
    SETTING_CHOICE, /* index of a word of `choices` */
};

struct setting {
    const char *name;
    enum setting_kind kind;
    int64_t value;       /* default */
    int64_t least, most; /* of a duration or a number, both included */
    const char *choices; /* words with one blank between them; NULL for the other kinds */
    const char *about;
};

#define SETTINGS_MAX 24

/* The table in which a receiver keeps its records, for what is common to all such receivers: how
 * long a record is kept (receivers/retention.h), how many there are (bounded-records). A receiver
 * that has one begins its settings with RETENTION_SETTINGS. */
struct keeping {
    const char *table;
    const char *key;     /* SQL condition on one record over ?1 and ?2: "id = ?1" */
    const char *unowned; /* SQL condition on a record in progress that nothing will ever end; NULL:
                          * there can be none */
};

/* What a receiver promises with its settings, for the static check retention-covers-retries; times
 * in ns, 0: not limited. Filled in by `promise`. */
struct promise {
    uint64_t retention; /* a finished record is there for so long after its first delivery; 1: there
                         * is none, as a setting says */
    const char *retention_name; /* the setting that says so */
    uint64_t records;           /* the most that are kept; older ones go */
    uint64_t lease;             /* a record in progress blocks others for so long */
    const char *lease_name;
    bool fenced; /* one that outlives its lease can do no harm */
};

/* Where a receiver stands in the space of receivers, one line of text for each axis. */
#define AXES(X)                                                                                    \
    X(AXIS_KEY, "key")                                                                             \
    X(AXIS_SCOPE, "scope of the key")                                                              \
    X(AXIS_STRUCTURE, "structure")                                                                 \
    X(AXIS_MOMENT, "moment of record")                                                             \
    X(AXIS_CONCURRENT, "concurrent duplicate")                                                     \
    X(AXIS_ANSWER, "answer")                                                                       \
    X(AXIS_MISMATCH, "payload mismatch")                                                           \
    X(AXIS_FAILURE, "handler failure")                                                             \
    X(AXIS_TAKEOVER, "takeover")                                                                   \
    X(AXIS_WINDOW_CLOCK, "clock that starts the window")                                           \
    X(AXIS_REMOVAL, "removal")                                                                     \
    X(AXIS_RECOVERY, "recovery")                                                                   \
    X(AXIS_ACK, "ack")

enum axis {
#define X(name, text) name,
    AXES(X)
#undef X
        AXIS_COUNT
};

struct receiver {
    const char *name;
    const char *about; /* one line */
    const char
        *source; /* where its rule comes from; "wrong on purpose": a canary, tests go by it */
    const char *schema;  /* SQL run once beside the business schema; may alter table entity */
    const char *session; /* SQL run on each connection when it is opened: what it makes (a TEMP
                          * table) dies with the process */
    const struct statement *statements; /* ended by a NULL sql; prepared once a worker */
    const uint8_t *moves; /* enum record_move of each statement, in their order; NULL: none */
    const struct setting *settings; /* ended by a NULL name; NULL: none; at most SETTINGS_MAX */
    const char *axes[AXIS_COUNT];   /* NULL: does not apply */
    uint32_t steps;                 /* bits 1 << enum step that it declares */
    bool saves_responses;           /* a duplicate gets the first response again */
    void (*handle)(struct handling *h);
    /* A turn of the relay, on a connection of its own: sends what lies in the outbox. It comes
     * relay_every(settings) ns after a transaction in which a parcel was asked for has been
     * committed, after a start of the process, and after relay_again. NULL: there is none; 0: not
     * with these settings. */
    void (*relay)(struct handling *h);
    uint64_t (*relay_every)(const int64_t *settings);
    /* How long it waits for an answer from downstream at most, ns. NULL: it never does. */
    uint64_t (*waits)(const int64_t *settings);
    const struct keeping *keeping; /* NULL: none, or not in a table of their own */
    /* NULL: what RETENTION_SETTINGS say where there is `keeping`, else no limit. */
    void (*promise)(const int64_t *settings, struct promise *out);
    /* What breaks it although it is not wrong on purpose: a rule of the system that it stands for.
     * NULL: nothing that is covered, inside its contract. Tests go by it. */
    const char *breaks;
    /* What it asks of its senders: without that it does no harm, but not all that is sent gets
     * done. NULL: nothing. Tests go by it. */
    const char *asks;
    const struct receiver *preset_of; /* NULL: it is no preset */
};

/* A receiver under a name that users know: another one with other defaults. What it does not say is
 * the other one's. */
struct preset {
    const char *name, *about, *source;
    const char *breaks;
    const char *asks;
    const struct receiver *is;
    struct {
        const char *setting;
        int64_t value;            /* ns, number, or 1 for true */
        const char *word;         /* of a choice, instead of the value */
        int64_t least, most;      /* of the system, narrower than the receiver's; 0, 0: those */
    } defaults[SETTINGS_MAX + 1]; /* ended by a NULL setting */
};

#define STEP_BIT(s) (UINT32_C(1) << (s))
/* All of them, but for the call to the service: who declares that must make it. */
#define STEPS_EVERY (UINT32_MAX & ~STEP_BIT(STEP_EXTERNAL))
#define STATEMENTS_MAX 24

/* The message. Valid while the handling runs. */
const char *handling_key(const struct handling *h);
const char *handling_client(const struct handling *h); /* the sender's name */
const char *handling_entity(const struct handling *h);
int64_t handling_amount(const struct handling *h);
/* The message group (SQS), partition key (Azure Service Bus): the entity unless a scenario says
 * otherwise; a sender may change it between attempts. */
const char *handling_group(const struct handling *h);
/* Number of the operation with its client, from 1 in the order of the client's list; 0: the
 * registration that it makes by itself before. */
int64_t handling_number(const struct handling *h);
/* True: the message has no entity and no effect, it opens a session. The receipt of the answer is
 * the session's number, above 0; apply_effect does nothing. */
bool handling_registers(const struct handling *h);
/* The latest session that its client knows; 0: none. */
int64_t handling_session(const struct handling *h);
/* As RIFL's ackId: the client has the final answers to all its operations up to this number. */
int64_t handling_acknowledged(const struct handling *h);
/* Version of the entity that the message makes; the number with its client unless a scenario says
 * otherwise. */
int64_t handling_version(const struct handling *h);
/* When the message was made, first attempt, by its client's clock, ns. */
int64_t handling_made_at(const struct handling *h);
/* False: parameters that a check before execution refuses. apply_effect would decline it. */
bool handling_valid(const struct handling *h);
/* The message's body as one line of text: what it asks for, without its key. */
const char *handling_body(struct handling *h);
/* The scenario's value of the receiver's setting with this index, in its table's order. */
int64_t handling_setting(const struct handling *h, unsigned index);
/* The host's own clock, ns. */
uint64_t handling_now(const struct handling *h);
/* The same when the delivery arrived. A clock that has jumped since is read as if it had before. */
uint64_t handling_arrived(const struct handling *h);
/* A number that a handling keeps for itself, 0 at first; receivers/retention.c's. */
void handling_note(struct handling *h, int64_t note);
int64_t handling_noted(const struct handling *h);

/* Runs statement `index` with the values to bind: t text, i int64, as `types` says; "" for none.
 * A query answers ROW with its first row, or OK where there is none. */
enum outcome sql(struct handling *h, enum step step, unsigned index, const char *types, ...);
/* Columns of the row that the last sql() returned; valid until the next call. */
int64_t handling_column_int(const struct handling *h, int column);
const char *handling_column_text(const struct handling *h, int column);
/* Rows that the last sql() inserted, changed or deleted. */
int64_t handling_changes(const struct handling *h);
/* A number that no other handling of the run has: an owner's or a fencing token. From 1, growing.
 */
int64_t handling_token(const struct handling *h);

/* Number of the process that runs it, from 1: one more with each restart of the host. */
int64_t handling_process(const struct handling *h);

enum outcome begin_immediate(struct handling *h);
enum outcome begin_deferred(struct handling *h);
enum outcome commit(struct handling *h);
/* Also answers OK where no transaction is open any more. */
enum outcome rollback(struct handling *h);

/* Writes the business change together with the harness's own ledger row, in the open transaction
 * or, without one, in one of its own. handling_receipt then names the effect, as a charge id would;
 * where there was none it stays as it was, 0 before the first.
 * What the change is, the message says: the amount added to the entity's balance (add, and create,
 * whose client needs the receipt), the balance set to it (no effect where it is that already), or
 * the entity inserted with it (CONSTRAINT where it is there). An entity that is missing is created.
 * DECLINED: the business refuses the message, for good or, as the scenario says, so many times. */
enum outcome apply_effect(struct handling *h);
int64_t handling_receipt(const struct handling *h);

/* Calls the service outside the database, another system with a state of its own, for the effect
 * that the message asks for, and waits for the answer. key: by which the service tells a repeat, at
 * most KEY_MAX bytes; "" or NULL: none, each call is a new effect.
 * OK: it is done, or was before under this key; handling_external_receipt names it. BUSY: no answer
 * in time, and what became of the call is unknown; it may even be done later. STORE_ERROR: refused,
 * the key is known with other parameters. A transaction that is open stays open. */
enum outcome external_effect(struct handling *h, const char *key);
int64_t handling_external_receipt(const struct handling *h);

/* What the business does before its effect, where the scenario says that it takes time: calls of
 * others, outside the store. No step. A receiver that calls it does so without a transaction, so
 * that nobody waits for the store meanwhile; of one that does not, apply_effect does the work
 * within its step. Once in a handling. OK, or DEAD. */
enum outcome business_work(struct handling *h);

/* Lets virtual time pass, ns, as one step. */
enum outcome work(struct handling *h, enum step step, uint64_t ns);

/* Follow-on messages, to a second receiver downstream. A receiver that emits asks for a parcel in
 * the handling, keeps its number (in its outbox, beside the id of the message to send) and hands it
 * to transmit, now or later, in this process or the next.
 *
 * handling_parcel: an opaque number that names what the message is a follow-on of.
 * transmit: sends a message under that id and waits for the answer, up to `wait` ns: OK, the other
 * side has it; DECLINED, it refuses it; BUSY, no such answer in time, or to be tried again. With
 * wait 0 nobody waits: OK. Without a receiver downstream nothing is sent, and the answer is OK.
 * Each transmission of a message is an attempt of the operation "<id of its parent>:out". */
int64_t handling_parcel(struct handling *h);
enum outcome transmit(struct handling *h, int64_t parcel, const char *id, uint64_t wait);
/* In a relay's turn: there may be more to send, so another is due. */
void relay_again(struct handling *h);

/* Answers the sender. Once in a handling; a handler that never does leaves its sender waiting. */
enum outcome reply(struct handling *h, enum reply_status status, int64_t receipt);
/* The same with what an HTTP API would say beside it: the status code, 100..599, and whether the
 * answer is marked as a replay of a saved one. */
enum outcome reply_http(struct handling *h, enum reply_status status, int64_t receipt,
                        unsigned code, bool replayed);
/* The common error path: rolls back what is open, then answers retry-later where the store was busy
 * or full, refused where the business declined, error otherwise, nothing where the host is dead. */
void give_up(struct handling *h, enum outcome o);

/* receivers/presets.c: one entry each. */
extern const struct preset presets[];
extern const size_t presets_count;

/* receivers/registry.c: one line each; then the presets, as receivers like any other. */
size_t receivers_count(void);
const struct receiver *receiver_at(size_t i); /* i < receivers_count() */
const struct receiver *receiver_find(const char *name, size_t len);

#endif
