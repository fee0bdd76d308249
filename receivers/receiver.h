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
    X(DEAD, "dead")             /* the host has died */

enum outcome {
#define X(name, text) name,
    OUTCOMES(X)
#undef X
};
const char *outcome_text(enum outcome o);

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

#define SETTINGS_MAX 16

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
    const struct setting *settings;     /* ended by a NULL name; NULL: none; at most SETTINGS_MAX */
    const char *axes[AXIS_COUNT];       /* NULL: does not apply */
    uint32_t steps;                     /* bits 1 << enum step that it declares */
    bool saves_responses;               /* a duplicate gets the first response again */
    void (*handle)(struct handling *h);
};

#define STEP_BIT(s) (UINT32_C(1) << (s))
#define STATEMENTS_MAX 24

/* The message. Valid while the handling runs. */
const char *handling_key(const struct handling *h);
const char *handling_client(const struct handling *h); /* the sender's name */
const char *handling_entity(const struct handling *h);
int64_t handling_amount(const struct handling *h);
/* The message's body as one line of text: what it asks for, without its key. */
const char *handling_body(struct handling *h);
/* The scenario's value of the receiver's setting with this index, in its table's order. */
int64_t handling_setting(const struct handling *h, unsigned index);
/* The host's own clock, ns. */
uint64_t handling_now(const struct handling *h);

/* Runs statement `index` with the values to bind: t text, i int64, as `types` says; "" for none.
 * A query answers ROW with its first row, or OK where there is none. */
enum outcome sql(struct handling *h, enum step step, unsigned index, const char *types, ...);
/* Columns of the row that the last sql() returned; valid until the next call. */
int64_t handling_column_int(const struct handling *h, int column);
const char *handling_column_text(const struct handling *h, int column);

enum outcome begin_immediate(struct handling *h);
enum outcome begin_deferred(struct handling *h);
enum outcome commit(struct handling *h);
/* Also answers OK where no transaction is open any more. */
enum outcome rollback(struct handling *h);

/* Writes the business change (balance of the entity plus the amount; the entity is created where it
 * is missing) together with the harness's own ledger row, in the open transaction or, without one,
 * in one of its own. handling_receipt then names the effect, as a charge id would. */
enum outcome apply_effect(struct handling *h);
int64_t handling_receipt(const struct handling *h);

/* Lets virtual time pass, ns, as one step. */
enum outcome work(struct handling *h, enum step step, uint64_t ns);

/* Answers the sender. Once in a handling; a handler that never does leaves its sender waiting. */
enum outcome reply(struct handling *h, enum reply_status status, int64_t receipt);
/* The common error path: rolls back what is open, then answers retry-later where the store was busy
 * or full, error otherwise, nothing where the host is dead. */
void give_up(struct handling *h, enum outcome o);

/* receivers/registry.c: one line each. */
extern const struct receiver *const receivers[];
extern const size_t receivers_count;
const struct receiver *receiver_find(const char *name, size_t len);

#endif
