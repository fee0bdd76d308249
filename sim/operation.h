/* The operations that are alive: one slot for each, from its first send until nothing in the world
 * can touch it any more.
 *
 * The three ledgers meet here. The sender writes what it believes, the host what it did and
 * acknowledged, the verdict reads both against the effects. Slots are reused, so memory follows
 * what is in flight and not what was sent; listed operations keep theirs for the whole run.
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

struct operation {
    /* What it is. */
    uint64_t op; /* 0: slot is free */
    uint64_t op_hash;
    uint32_t slot;
    uint32_t entity;
    int64_t amount;
    bool listed;

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

    /* Whether faults left it a fair chance: see operation_waited. */
    bool waits;            /* for the answer to its present attempt */
    bool met_fault;        /* something lay in the way of the present attempt */
    bool late;             /* a fault has delayed the present attempt */
    uint64_t waits_until;  /* when the present wait ends by itself */
    uint16_t hindered;     /* attempts that met a fault */
    uint16_t fair_attempt; /* first attempt that met none and was not finally answered; 0: none */

    /* The network's and the host's: what could still touch it. */
    uint32_t in_flight; /* copies under way, deliveries queued, handlings running */

    /* The host's. */
    uint32_t deliveries, handlings;
    uint32_t wrote;         /* handlings that changed the store successfully */
    uint32_t effects_begun; /* effects ever written, committed or not: numbers the ledger rows */
    uint32_t effects;       /* ledger rows in the store as of now */
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

    /* What sentences on violations tell of it. */
    struct occasion effect_at[EFFECTS_TOLD]; /* commits of the first effects that are state */
    struct occasion dying;                   /* handling whose commit a crash has cut off */
    struct occasion replied, acked;          /* latest reply to leave; first success to leave */

    char key[KEY_MAX]; /* what travels */

    /* Stays with the slot. With a window: when the delivery arrived that began each effect, and
     * whether the audit under way has found its row. */
    uint64_t *arrivals;
    uint32_t arrivals_capacity;
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
/* So many effects of one handling have become state. */
void operation_committed(const struct operations *o, struct operation *op, uint32_t effects,
                         uint64_t arrived, struct occasion when);
/* An audit: begins, finds a ledger row, has found them all. Effects as of now are then what the
 * disk has kept of those committed before and of a commit that was cut off. */
void operation_audit_begin(const struct operations *o, struct operation *op);
void operation_audit_row(const struct operations *o, struct operation *op, uint32_t nth);
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
