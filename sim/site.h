/* The one list of fault kinds, and the places where the world may go another way.
 *
 * A site is where a fault may happen, a fault is a site with one value. Each fault is one sentence,
 * the same in scenario files, JSON, diagrams and `list sites`; sim/sentence prints and parses it.
 * A new kind is one line in FAULT_KINDS, its sentence, and its place in the world.
 */
#ifndef SIM_SITE_H
#define SIM_SITE_H

#include "sim/message.h"
#include "sim/rng.h"

enum fault_scope {
    SCOPE_NETWORK, /* at a copy under way: direction, message */
    SCOPE_STEP,    /* at a step of a handling: host, message, step */
    SCOPE_WORLD,   /* of the whole world, evaluated before the first event */
    SCOPE_SENDER,  /* at a sender, after it has transmitted an attempt: host, operation, attempt */
};

/* X(name, text, scope, covered, help). covered: a right receiver must survive it; else it is an
 * assumption that exploration uses only by name. */
#define FAULT_KINDS(X)                                                                             \
    X(FAULT_LOSE, "lose", SCOPE_NETWORK, true, "a message under way never arrives")                \
    X(FAULT_DUPLICATE, "duplicate", SCOPE_NETWORK, true,                                           \
      "the network makes copies that arrive on their own")                                         \
    X(FAULT_DELAY, "delay", SCOPE_NETWORK, true, "a message under way arrives that much later")    \
    X(FAULT_CRASH, "crash", SCOPE_STEP, true,                                                      \
      "the process dies, alone or with its power, and starts again")                               \
    X(FAULT_PAUSE, "pause", SCOPE_STEP, true, "one worker stands still while the others go on")    \
    X(FAULT_STORE, "store", SCOPE_STEP, true,                                                      \
      "the store answers with an error, having done it or not")                                    \
    X(FAULT_HANDLER, "handler", SCOPE_STEP, true, "the handler fails by itself after a step")      \
    X(FAULT_CLOCK, "clock", SCOPE_WORLD, true, "a host's clock is off, drifts or jumps")           \
    X(FAULT_PARTITION, "partition", SCOPE_WORLD, true,                                             \
      "nothing passes between two hosts for a time")                                               \
    X(FAULT_LYING_DISK, "lying-disk", SCOPE_WORLD, false,                                          \
      "syncs report success and harden nothing")                                                   \
    X(FAULT_STOP, "stop", SCOPE_STEP, true,                                                        \
      "the process is asked to stop, ends what it runs, or is killed, and starts again")           \
    X(FAULT_SENDER_CRASH, "sender-crash", SCOPE_SENDER, true,                                      \
      "a sender dies, keeps its outbox and counter, and starts again")                             \
    X(FAULT_SENDER_AMNESIA, "sender-amnesia", SCOPE_SENDER, false,                                 \
      "a sender dies and forgets what it had sent, or under which key")

enum fault_kind {
    FAULT_NONE,
#define X(name, text, scope, covered, help) name,
    FAULT_KINDS(X)
#undef X
        FAULT_KIND_COUNT
};
_Static_assert((int)FAULT_KIND_COUNT < (int)DRAW_FIRST, "kinds and draws share rng_key.draw");

/* Named places inside a handling. Each call of a handler into the world is one of them. */
#define STEPS(X)                                                                                   \
    X(STEP_RECEIVE, "receive")                                                                     \
    X(STEP_BEGIN, "begin")                                                                         \
    X(STEP_LOOK_UP, "look-up")                                                                     \
    X(STEP_CLAIM, "claim")                                                                         \
    X(STEP_EFFECT, "effect")                                                                       \
    X(STEP_RECORD, "record")                                                                       \
    X(STEP_COMMIT, "commit")                                                                       \
    X(STEP_ROLLBACK, "rollback")                                                                   \
    X(STEP_REPLY, "reply")                                                                         \
    X(STEP_ACK, "ack")                                                                             \
    X(STEP_RELEASE, "release")                                                                     \
    X(STEP_EXPIRE, "expire")                                                                       \
    X(STEP_SEND, "send") /* to a receiver downstream */                                            \
    X(STEP_EXTERNAL, "external")

enum step {
    STEP_NONE,
#define X(name, text) name,
    STEPS(X)
#undef X
        STEP_COUNT
};

/* Of a handling that does not call the service, with STEP_NONE; spans of time are computed from it.
 */
#define STEPS_INSIDE (STEP_SEND + 1)

enum moment { MOMENT_NONE, BEFORE, AFTER, INSIDE };

/* What a store fault does to a statement. */
#define STORE_FAULTS(X)                                                                            \
    X(STORE_NOT_APPLIED,                                                                           \
      "not applied")            /* not run; the transaction stays open, a COMMIT is undone */      \
    X(STORE_APPLIED, "applied") /* run, and the caller sees an error */                            \
    X(STORE_BUSY, "busy")       /* not run; the store says that it is locked */                    \
    X(STORE_FULL, "full")       /* SQLite's own answer to a full disk */

enum store_fault {
#define X(name, text) name,
    STORE_FAULTS(X)
#undef X
};

/* What a sender has forgotten when it starts again. */
#define AMNESIAS(X)                                                                                \
    X(AMNESIA_OUTBOX_LOST, "outbox lost")       /* open operations are never sent again */         \
    X(AMNESIA_COUNTER_BEHIND, "counter behind") /* the next one carries the key of the last */

enum amnesia {
#define X(name, text) name,
    AMNESIAS(X)
#undef X
};

/* Places: who is who in a world. Hosts that receive come first, then the senders in file order. */
#define PLACE_NONE 0
#define PLACE_RECEIVER 1
#define PLACE_BROKER 2     /* where there is one */
#define PLACE_DOWNSTREAM 3 /* where there is one */
#define PLACE_SERVICE 4    /* outside the receiver's database: sim/service.h */
#define PLACE_SENDER 32    /* of the first sender */
#define SENDERS_MAX 200

/* A sweep of a host has steps as a handling has. It is named as an attempt of a message would be,
 * sweep/3, by its number in the run; its key has copy 0. Those beyond the last number are no sites.
 */
#define OP_SWEEP op_make(PLACE_RECEIVER, 1)
#define SWEEP_NAME "sweep"
#define SWEEPS_NAMED 65535
static inline bool op_is_sweep(uint64_t op)
{
    return op == OP_SWEEP;
}

/* So is a turn of the host's relay, which sends what lies in its outbox. */
#define OP_RELAY op_make(PLACE_RECEIVER, 2)
#define RELAY_NAME "relay"
static inline bool op_is_relay(uint64_t op)
{
    return op == OP_RELAY;
}
/* Work of a host that no message asks for. */
static inline bool op_is_job(uint64_t op)
{
    return op_is_sweep(op) || op_is_relay(op);
}
/* Behind the id of an operation: its follow-on's. */
#define FOLLOW_SUFFIX ":out"

/* key.draw is the fault kind, key.host the place (0 for network kinds). Of a partition, key.host
 * and key.value are the two places (from, to); of a clock fault, key.nth tells several apart. At a
 * sender, an operation and an attempt of it are all, besides the place. Of a call, key.copy is its
 * number and key.nth its network copy (0: the first); of an answer, key.redelivery is the copy of
 * the call that it answers (0: the first). */
struct site {
    struct rng_key key;
    uint64_t op; /* for naming; key.operation is its hash */
};

/* By kind:
 *   duplicate  n copies beside the first (1..100), each `time` after the one before
 *   delay      by `time`
 *   crash      choice: enum crash_mode, n: its n; `time`: down for that long, 0: the host's default
 *   pause      for `time`
 *   store      choice: enum store_fault
 *   clock      choice: enum clock_fault; offset in ns or, of a drift, in parts per million;
 *              from `time` on (0: from the start)
 *   partition  from `time` to `until`; choice: 1 where only from -> to is cut
 *   stop       killed after `until`, 0: never; `time`: down for that long, 0: as crash
 *   sender-*   choice: enum amnesia; `time`: down for that long, 0: SENDER_RESTART */
struct fault_value {
    uint8_t choice;
    uint32_t n;
    uint64_t time;
    uint64_t until;
    int64_t offset;
};

enum clock_fault { CLOCK_OFFSET, CLOCK_DRIFT };
#define DRIFT_MAX_PPM 100000
#define SENDER_RESTART SIM_S
#define CLOCK_OFFSET_MAX ((int64_t)(3650 * UINT64_C(86400) * SIM_S)) /* ten years */

struct fault {
    struct site site;
    struct fault_value value;
    int line, column; /* in its scenario file; 0: not from a file */
};

static inline enum fault_kind fault_kind(const struct fault *f)
{
    return (enum fault_kind)f->site.key.draw;
}

const char *fault_kind_text(enum fault_kind k);
const char *fault_kind_help(enum fault_kind k);
enum fault_scope fault_kind_scope(enum fault_kind k);
bool fault_kind_covered(enum fault_kind k);
const char *step_text(enum step s);
const char *store_fault_text(enum store_fault s);
const char *amnesia_text(enum amnesia a);

#endif
