/* The operations that are alive: one slot for each, from its first send until nothing in the world
 * can touch it any more.
 *
 * The three ledgers meet here. The sender writes what it believes, the host what it did and
 * acknowledged, the verdict reads both against the effects. Slots are reused, so memory follows
 * what is in flight and not what was sent; listed operations keep theirs for the whole run.
 *
 * A `set` that finds its value there already writes nothing, so no ledger row and no effect is left
 * of it, and yet what its sender believes is true. Such sets are counted in `already` when their
 * transaction is committed (or may have been: a crash inside its commit), and when their handling
 * answers with success, while the operation has no effect of its own; an operation with one of them
 * has not lost its effect. A crash does not take them back: if what they found is gone then, so is
 * the effect of the operation that wrote it, and it is judged there. A set that found the
 * operation's own effect is not counted, so that an effect which a crash takes away is missed.
 *
 * Owns: the slots.
 */
#ifndef SIM_OPERATION_H
#define SIM_OPERATION_H

#include "sim/message.h"
#include "sim/queue.h"

#define BELIEFS(X)                                                                                 \
    X(BELIEF_UNKNOWN, "unknown")                                                                   \
    X(BELIEF_DONE, "done")                                                                         \
    X(BELIEF_FAILED, "failed")
enum belief {
#define X(name, text) name,
    BELIEFS(X)
#undef X
};
const char *belief_text(enum belief b);

#define EFFECTS_TOLD 2

/* When something was done to an operation, and for which of its messages. */
struct occasion {
    uint64_t at; /* 0: never */
    uint16_t attempt;
    uint16_t copy;
};

/* One handling's act, by its token. */
struct deed {
    int64_t token; /* 0: nobody's */
    struct occasion when;
};

/* Where the record of an operation's key stands, as far as committed moves tell: see
 * verdict_moved. */
#define STANDINGS(X)                                                                               \
    X(STANDING_ABSENT, "absent")                                                                   \
    X(STANDING_IN_PROGRESS, "in progress")                                                         \
    X(STANDING_COMPLETED, "completed")                                                             \
    X(STANDING_UNKNOWN, "unknown") /* a crash may have taken something back */

enum standing {
#define X(name, text) name,
    STANDINGS(X)
#undef X
};

struct standing_record {
    uint8_t standing; /* enum standing */
    bool cut;         /* a crash struck a handling that had moved it and not committed */
    struct deed claimed, completed; /* the last ones; who claimed last is the owner */
    /* The earliest moment that the receiver can have dated it with, true time and by the host's
     * clock, ns: of the last claim or renewal, and of the last claim. */
    uint64_t leased, leased_clock;
    uint64_t kept, kept_clock;
    /* The same of what the crash cut off, which the disk may hold; 0: none. */
    uint64_t cut_kept, cut_kept_clock;
};

/* A move that has become state. */
struct moved {
    uint8_t move; /* enum record_move, receivers/receiver.h */
    struct deed by;
    uint64_t since, since_clock; /* the earliest that it can have been dated, ns */
    uint64_t clock;              /* the host's, now */
    /* When the handling's delivery came, which may date it too; 0: not known. */
    uint64_t arrived, arrived_clock;
};

struct operation {
    /* What it is. */
    uint64_t op; /* 0: slot is free */
    uint64_t op_hash;
    uint32_t slot;
    uint32_t entity;
    int64_t amount;
    bool listed;
    uint8_t effect; /* enum effect */
    bool invalid;
    bool registers;    /* opens a session: no entity, no effect */
    int64_t number;    /* with its client, as it says: another's with a counter that is behind */
    uint32_t declined; /* executions that the business declines before it agrees */
    int64_t version;
    int64_t made_at;                    /* by its sender's clock */
    const char *group;                  /* borrowed from the scenario; NULL: the entity */
    const struct sender_config *sender; /* its key, body and group policies */

    /* The sender's. */
    uint8_t belief; /* enum belief */
    bool closed;    /* the sender waits for nothing any more */
    bool gave_up;
    uint16_t attempt; /* sent so far */
    uint64_t first_sent, last_sent, last_wait;
    struct queue_handle timer; /* its time-out or its next send */
    bool waiting_to_send;
    uint64_t key_of; /* operation whose key it carries by a fault; 0: its own */
    bool retiring;   /* only waits for its effect to be durable */
    uint64_t closed_at;
    struct operation *open_before, *open_after; /* its sender's open ones, of a workload */

    /* Whether faults left it a fair chance: see operation_waited. */
    bool waits;            /* for the answer to its present attempt */
    bool met_fault;        /* something lay in the way of the present attempt */
    bool late;             /* a fault has delayed the present attempt */
    uint64_t waits_until;  /* when the present wait ends by itself */
    uint16_t hindered;     /* attempts that met a fault */
    uint16_t fair_attempt; /* first attempt that met none and was not finally answered; 0: none */

    /* The network's and the host's: what could still touch it. */
    uint32_t in_flight; /* copies under way, deliveries queued, handlings running, entries */

    /* The broker's. */
    uint32_t entries;      /* that it holds, dead letters that wait for their replay too */
    uint32_t handed_out;   /* deliveries so far, of all its entries */
    uint32_t dead_letters; /* entries that became one and are not to come back */

    /* The host's. */
    uint32_t deliveries, handlings;
    uint32_t wrote;         /* handlings that changed the store successfully */
    uint32_t effects_begun; /* effects ever written, committed or not: numbers the ledger rows */
    uint32_t effects;       /* ledger rows in the store as of now */
    int64_t effects_sum;    /* sum of their amounts: what the store's balances owe to it */
    int64_t audited_sum;    /* the same of the rows that the latest audit found */
    uint32_t already;       /* sets that changed nothing, committed or answered */
    uint32_t executions;    /* times that an effect of it was asked for */
    uint32_t effects_ever;  /* most of them ever seen */
    uint32_t effects_late;  /* those of `effects` that are late */
    uint32_t late_ever;     /* most of them ever seen */
    uint64_t accepted_at;   /* arrival of the delivery that made the first of `effects` */
    uint64_t acked_at;      /* first done or duplicate that left the receiver; 0: none */
    int64_t first_receipt;  /* of that reply */
    bool reply_late;        /* the latest reply to leave it answers a late delivery */
    uint64_t disk_mark;     /* the host's commit count at its last commit */
    uint32_t audited;       /* ledger rows that the latest audit found */
    uint32_t violated;      /* set of checks already reported for it */
    struct standing_record record;
    bool ordered;     /* its first effect has been judged by in-order */
    uint64_t emitted; /* follow-on messages that it was given, committed or not */
    uint32_t follow;  /* slot of its follow-on among those, from 1; 0: none was sent */
    /* A follow-on's: ids under which it has arrived downstream, as bits; ids beyond the first. */
    uint32_t ids_arrived;
    uint64_t began; /* first send of the message that it follows from in the end */
    uint32_t other_count;
    uint64_t touched; /* the world's list of handlings has it at this place, from 1; 0: not */

    /* The service's, outside the store: nothing takes these effects back. */
    uint32_t external, external_late; /* effects; those of them that are late */
    uint64_t external_first;          /* when the first came */
    uint32_t called;                  /* calls that arrived there */
    uint32_t calls_known;             /* attempts whose calls are counted below */

    /* What sentences on violations tell of it. */
    struct occasion external_at[EFFECTS_TOLD]; /* copy: the call's number */
    uint16_t external_echo[EFFECTS_TOLD];      /* the network's copy of the call, from 1 */
    struct occasion effect_at[EFFECTS_TOLD];   /* commits of the first effects that are state */
    struct occasion dying;                     /* handling whose commit a crash has cut off */
    struct occasion replied, acked;            /* latest reply to leave; first success to leave */

    char key[KEY_MAX]; /* what travels */

    /* Stays with the slot. With a window: when the delivery arrived that began each effect, and
     * whether the audit under way has found its row. */
    uint64_t *arrivals;
    uint32_t arrivals_capacity;
    uint16_t *calls; /* by attempt - 1: made for it */
    uint32_t calls_capacity;
    char (*others)[KEY_MAX]; /* a follow-on's ids beyond the first; NULL: never had any */
};

/* A fault lay on the way of a message of this attempt, or in its handling. */
static inline void operation_hinder(struct operation *op, unsigned attempt)
{
    op->met_fault |= attempt == op->attempt;
}
/* No attempt has been left alone by faults: that it is unfinished says nothing of the receiver. */
static inline bool operation_excused(const struct operation *op)
{
    return op->attempt > 0 && op->hindered >= op->attempt;
}
struct sender_config; /* sim/sender_config.h */

struct operations {
    struct operation **slots; /* stable addresses */
    uint32_t count, capacity;
    uint32_t *free_slots;
    uint32_t free_count;
    uint32_t open;           /* not closed by their senders */
    uint64_t in_flight;      /* sum over all */
    uint64_t troubled_until; /* till then the receiver is down, ends or stands still by a fault */
    uint64_t window;         /* the contract's; 0: none, and nothing is late. Set after a reset */
};

void operations_init(struct operations *o);
void operations_fini(struct operations *o);
void operations_reset(struct operations *o);
/* A zeroed slot with op and hash set, open. */
struct operation *operations_open(struct operations *o, uint64_t op, uint64_t op_hash);
/* The sender has sent an attempt, and stops waiting for its answer. An attempt had a fair way if,
 * from its sending to the end of its wait, no fault touched its first copy, the reply to that, or
 * any handling of it, the sender did not die, and the receiver was neither down nor standing still
 * by a fault. A delay counts where it made the answer miss the wait. */
void operation_sent(struct operation *op);
void operation_waited(const struct operations *o, struct operation *op);
/* Until the given time; SIM_TIME_MAX while nobody knows the end. */
static inline void operations_trouble(struct operations *o, uint64_t until)
{
    o->troubled_until = until > o->troubled_until ? until : o->troubled_until;
}
void operations_release(struct operations *o, struct operation *op);

/* A delivery of op is late if it arrived when the window was over, which begins with the arrival of
 * the delivery whose handling committed the first of the effects that op has. The first effect is
 * never late; a handling that is late makes late effects. What a crash takes away counts no more:
 * the window begins with the first effect that is left, or with the next. */
static inline bool operation_late(const struct operations *o, const struct operation *op,
                                  uint64_t arrived)
{
    return o->window > 0 && op->effects > 0 && arrived >= op->accepted_at + o->window;
}
/* An effect is written by the handling of a delivery that arrived then. Its number, from 1. */
uint32_t operation_effect_begun(const struct operations *o, struct operation *op, uint64_t arrived);
/* So many effects of one handling have become state; sum: of their amounts. */
void operation_committed(const struct operations *o, struct operation *op, uint32_t effects,
                         int64_t sum, uint64_t arrived, struct occasion when);
/* So many sets of one handling that changed nothing have been committed, or may have been. */
void operation_already(struct operation *op, uint32_t sets);
/* A handling of that attempt calls the service: the call's number in it, from 1. */
uint16_t operation_call(struct operation *op, unsigned attempt);
/* The service has done what a copy of a call asked for; its number, from 1. With a window, it is
 * late if the window has passed since the first one was. */
uint32_t operation_external(const struct operations *o, struct operation *op, struct occasion when,
                            uint16_t echo);
/* Its effect, if it is believed done, is nowhere. */
static inline bool operation_effect_missing(const struct operation *op)
{
    return op->effects == 0 && op->already == 0;
}
/* An audit: begins, finds a ledger row, has found them all. Effects as of now are then what the
 * disk has kept of those committed before and of a commit that was cut off. */
void operation_audit_begin(const struct operations *o, struct operation *op);
void operation_audit_row(const struct operations *o, struct operation *op, uint32_t nth,
                         int64_t amount);
void operation_audited(const struct operations *o, struct operation *op);

static inline struct operation *operations_at(const struct operations *o, uint32_t slot)
{
    must(slot < o->count);
    return o->slots[slot];
}
/* The operation a message belongs to; NULL: its slot has gone to another. */
static inline struct operation *operations_of(const struct operations *o, const struct message *m)
{
    struct operation *p = operations_at(o, m->slot);
    return p->op == m->op ? p : NULL;
}
static inline void operations_enter(struct operations *o, struct operation *p)
{
    p->in_flight++;
    o->in_flight++;
}
static inline void operations_leave(struct operations *o, struct operation *p)
{
    must(p->in_flight > 0);
    p->in_flight--;
    o->in_flight--;
}

/* Ledger rows are numbered by slot and by the n-th effect begun of its operation, from 1. */
#define EFFECTS_MAX 65535
static inline int64_t ledger_row(uint32_t slot, uint32_t nth)
{
    return (int64_t)((uint64_t)slot << 16 | nth);
}

#endif
