/* A process that can die: workers with connections of their own, a clock, a disk, a restart.
 *
 * In: requests that arrive. Out: handlings on coroutines, replies into the network, and word of
 * each reply and each death to whoever judges. What survives a death is what the disk holds; what
 * does not is everything else: the queue of deliveries, the workers' stacks, connections and
 * caches. Restart puts back the image of the process just started and lets the handlers find the
 * disk as it is.
 *
 * Owns: arena, disk, connections, coroutines. Borrows: configuration, receiver, run, network.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include "receivers/retention.h"
#include "sim/arena.h"
#include "sim/clock.h"
#include "sim/coro.h"
#include "sim/disk.h"
#include "sim/host_config.h"
#include "sim/network.h"
#include "sim/service_config.h"

#define PREPARED_MAX (RETENTION_STATEMENTS + RETENTION_STATEMENTS_MAX)
_Static_assert(RETENTION_STATEMENTS == STATEMENTS_MAX, "behind the receiver's own");

/* Statements of the harness itself, prepared once for each worker. */
enum own_statement {
    OWN_BEGIN_IMMEDIATE,
    OWN_BEGIN,
    OWN_COMMIT,
    OWN_ROLLBACK,
    OWN_UPDATE_ENTITY,
    OWN_INSERT_ENTITY,
    OWN_LEDGER,
    OWN_BALANCE,
    OWN_COUNT
};
/* Moves of a record in one transaction. */
#define MOVES_OPEN 8

/* One execution of the receiver's handler, or a sweep. */
struct handling {
    struct host *host;
    struct worker *worker;
    struct operation *op;
    struct message message;
    uint64_t arrived;         /* when its delivery did */
    uint16_t nth[STEP_COUNT]; /* times each step was entered */
    uint16_t disk;            /* disk operations inside the present step */
    uint8_t step;
    bool replied;
    bool changed;       /* wrote in the open transaction */
    bool repeated;      /* not the operation's first delivery */
    bool sweep;         /* of no message: op is the host's own; a sweep, or the relay's turn */
    bool parcels_open;  /* asked for a parcel in the open transaction */
    bool worked;        /* the business has done its work */
    uint8_t moving;     /* enum record_move of the statement that is run, if it changes a row */
    uint8_t moves_open; /* moves of the open transaction */
    uint8_t moves[MOVES_OPEN];
    /* The host's clock: first read since it began or moved a record; when the open transaction's
     * first move can have been dated. True time, own clock; 0: not. */
    uint64_t asked, asked_clock, since, since_clock;
    uint32_t effects_open; /* effects in the open transaction */
    uint32_t already_open; /* in it: sets that found their value there */
    bool already;          /* there was such a set */
    int64_t sum_open;      /* of the amounts of effects_open */
    uint32_t calls, calls_after_death, statements;
    int64_t token; /* that no other handling of the run has */
    int64_t receipt;
    int64_t external_receipt; /* of the latest call that was answered */
    int64_t note;
    sqlite3_stmt *row; /* stands on a row that the handler may read */
};

/* A body: its longest words, an entity's name (NAME_BYTES), an amount, an attempt. */
#define BODY_MAX (NAME_BYTES + 128)

/* A call of a worker's handling to the service. */
struct waiting_call {
    bool waits, answered;
    uint8_t did;     /* enum service_did, of the answer; as the following */
    uint16_t number; /* in the attempt */
    int64_t receipt;
};

struct worker {
    struct host *host;
    uint8_t number;
    sqlite3 *db; /* in the host's arena, as are the statements */
    sqlite3_stmt *own[OWN_COUNT];
    sqlite3_stmt *statements[PREPARED_MAX]; /* the receiver's, retention's behind them */
    struct coro *coro;
    struct handling handling; /* while the coroutine is busy */
    uint32_t serial;          /* of its present sleep; an event with another one is stale */
    struct waiting_call call;
    bool waits_for_lock;
    /* The answer downstream that it waits for: the follow-on (0: none), its attempt, what came. */
    uint64_t waits_for;
    uint16_t waits_for_attempt;
    uint8_t answer;         /* enum reply_status */
    uint64_t lock_deadline; /* of the present wait; 0: none */
    char body[BODY_MAX];    /* where a handling's body is written */
    char entity[KEY_MAX];   /* where a generated entity's name is written */
    char key[KEY_MAX];      /* where a key, a group that changes with the attempt is written */
    char group[KEY_MAX];
};

/* A delivery that no worker has taken. */
struct arrival {
    struct message message;
    uint64_t at;
};

struct host_listener {
    void *context;
    void (*replied)(void *context, struct operation *op, enum reply_status s, int64_t receipt);
    void (*committed)(void *context, struct operation *op); /* its effects are counted anew */
    void (*died)(void *context);                            /* the disk holds what survived */
    void (*left)(void *context, struct operation *op); /* a delivery of it is over or dropped */
    void (*moved)(void *context, struct operation *op, const struct moved *m); /* became state */
};

/* The way downstream: operations and network of its stage. */
struct host_outlet {
    struct operations *operations;
    struct network *network;
    uint64_t messages, transmissions;
    uint64_t moved_at; /* when a message was sent for the first time, or answered for good */
};

struct host_counters {
    uint64_t deliveries, repeated_deliveries, handlings, crashes, stops, restarts, commits;
    uint64_t handlings_fresh, handlings_duplicate, sql_fresh, sql_duplicate;
    /* Claims taken over while the handling that owned them still ran. */
    uint64_t premature;
};

struct host {
    const struct host_config *config;
    const struct receiver *code;
    const int64_t *settings;              /* values of code->settings, in its order */
    const struct service_config *service; /* that its handlers may call */
    struct run *run;
    struct network *network;
    struct operations *operations;
    struct host_listener listener;
    const void *names; /* for client and entity names, see the two functions below */
    const char *(*client_name)(const void *names, unsigned place);
    const char *(*entity_name)(const void *names, uint32_t entity, char *out);
    size_t (*operation_id)(const void *names, uint64_t op, char *out);

    struct arena arena;
    struct arena_image just_started;  /* the process: connections open, statements prepared */
    struct arena_image never_started; /* for opening anew */
    struct {
        sqlite3 *db;
        sqlite3_stmt *own[OWN_COUNT];
        sqlite3_stmt *statements[PREPARED_MAX];
    } kept[WORKERS_MAX + 2]; /* the handles that belong to just_started */
    bool reopen;             /* this run opens everything anew at each start */
    struct disk *disk;
    struct disk_image *first_disk;          /* the schema and nothing else */
    struct worker workers[WORKERS_MAX + 2]; /* as configured, behind them sweeper and relay */
    uint32_t connections;                   /* of workers, those two among them */
    struct worker *running;                 /* whose coroutine is on the stack */
    struct host_clock clock;
    bool up;
    bool buried;    /* death has been dealt with */
    bool stopping;  /* up, but takes nothing new */
    bool unwinding; /* dead; what survived has not been read yet */
    bool unpowered; /* its latest death was a loss of power */
    uint32_t incarnation;
    uint64_t down_for;     /* of the present crash; 0: by configuration */
    struct arrival *inbox; /* ring of deliveries no worker has taken */
    uint32_t inbox_head, inbox_count, inbox_capacity;
    uint8_t place;
    struct host_counters counters;
    struct operation *sweeping; /* stands for all sweeps; in no list. NULL: there are none */
    uint64_t sweeps;            /* begun in this run */
    uint32_t sweeps_due;        /* EVENT_SWEEPs that lie in the queue: they keep no run going */
    struct operation *relaying; /* stands for all turns of the relay; NULL: there is none */
    uint64_t relays;            /* begun in this run */
    bool relay_due;             /* an EVENT_RELAY of this process lies in the queue */
    bool relay_wanted;          /* the turn that runs asks for another */
    struct host_outlet *outlet; /* where follow-on messages go; NULL: nowhere. Borrowed */
};

/* Business tables and the ledger; run before the receiver's own schema. */
extern const char host_schema[];

/* Everything borrowed must be set in h (config, code, run, network, operations, listener, names)
 * before; the rest is filled in. SIM_ERR_STORE: SQLite refused schema, setting or statement, with
 * its text on `errors`. host_fini is safe after a failure. */
enum sim_error host_init(struct host *h, const char *vfs_name, FILE *errors);
void host_fini(struct host *h);
/* A new run on the first disk. reopen: each start and restart opens everything anew instead of
 * putting the image back. */
enum sim_error host_start(struct host *h, bool reopen, FILE *errors);

/* The run is over: whatever still runs is unwound as at a death; the disk stays as it is. */
void host_stop(struct host *h);

/* EVENT_ARRIVE of a request. Takes over the message's hold on its operation. */
void host_deliver(struct host *h, struct operation *op, const struct message *m);
/* EVENT_ARRIVE of the service's answer to a call. The hold stays with the caller. */
void host_answer(struct host *h, const struct message *m);
/* EVENT_RESUME, EVENT_RESTART. */
void host_resume(struct host *h, unsigned worker, uint32_t serial);
void host_restart(struct host *h, uint32_t incarnation);
/* EVENT_SWEEP: a process of that incarnation sweeps, unless it does already, and then again. */
void host_sweep(struct host *h, uint32_t incarnation);
/* EVENT_RELAY: a process of that incarnation sends what lies in its outbox. */
void host_relay(struct host *h, uint32_t incarnation);
/* EVENT_ARRIVE of an answer from downstream, to whoever waits for it. */
void host_answered(struct host *h, const struct message *m);
/* Whether the relay may have something to send, now or when the host is up again. */
static inline bool host_relay_busy(const struct host *h)
{
    return h->relaying != NULL && (h->relay_due || !h->up);
}
/* A transaction that asked for a parcel is committed: a turn of the relay is due. */
void host_relay_later(struct host *h);
/* EVENT_KILL: what was asked to stop and still runs dies as at a crash of the process. */
void host_kill(struct host *h, uint32_t incarnation);

/* The two ways a handler's calls touch the host's life; for sim/handling.c. */
void host_die(struct host *h, enum crash_mode mode, uint32_t n, uint64_t down_for);
/* It takes nothing new, ends what runs and ends; killed after that long, 0: never. */
void host_ask_to_stop(struct host *h, uint64_t killed_after, uint64_t down_for);
void host_sleep(struct worker *w, uint64_t until);
/* A transaction has ended: whoever waits for a lock tries again. */
void host_wake_waiting(struct host *h);
/* Runs the receiver's handler from its receive step on; a coroutine's entry. */
void handling_run(void *worker);
/* The same for a sweep. */
void handling_run_sweep(void *worker);
void handling_run_relay(void *worker);
/* Before an operation on the disk of the host's running handling. False: the host died. */
bool handling_disk_operation(struct handling *h);

#endif
