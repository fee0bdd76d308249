/* The judge: belief, record and effect compared, check by check.
 *
 * In: what the host replied, which ledger rows a copy of the disk holds after each death and at the
 * end, what each sender believed when it closed an operation. Out: violations, and how many items
 * each check judged. A long run is judged as it goes: an operation that nothing can touch any more
 * is judged and forgotten.
 *
 * Owns: its arrays.
 */
#ifndef SIM_VERDICT_H
#define SIM_VERDICT_H

#include "receivers/receiver.h"
#include "sim/checks.h"
#include "sim/operation.h"
#include "sim/run.h"

/* Why a check was violated; what a and b mean stands behind each. Known facts of the operation are
 * in the violation's testimony. */
#define REASONS(X)                                                                                 \
    X(WHY_EFFECTS)        /* a: effects of the operation, late ones too, b: entity */              \
    X(WHY_LOST)           /* believed done, no effect; b: entity */                                \
    X(WHY_GHOST)          /* believed failed, a effects; b: entity */                              \
    X(WHY_NOT_DURABLE)    /* acknowledged at a, gone after the crash at b */                       \
    X(WHY_FOREIGN_REPLY)  /* reply carries the receipt a of another operation */                   \
    X(WHY_REFUSED_LATER)  /* success at a, refused now */                                          \
    X(WHY_OTHER_RESPONSE) /* receipt a differs from the first, b */                                \
    X(WHY_MERGED)         /* answered as a duplicate though never handled before; b: receipt */    \
    X(WHY_STUCK)          /* no final answer at the limit; a: attempts */                          \
    X(WHY_GAVE_UP)        /* contract no_give_up; a: attempts */                                   \
    X(WHY_BALANCE)        /* a: balance of entity b less the sum of its effects */                 \
    X(WHY_CORRUPT)        /* the database cannot be read */                                        \
    X(WHY_NO_RECEIPT)     /* success for a create without the handle that its client needs */      \
    X(WHY_TRANSITION)     /* a: enum record_move, b: enum standing in which it came */             \
    X(WHY_NOT_OWNER)      /* a: enum record_move, by another than who claimed last */              \
    X(WHY_RECORDS)        /* a records where b are the most that there may be */                   \
    X(WHY_UNOWNED)        /* a records in progress at the end that nothing will ever end */        \
    X(WHY_NOT_COVERED)    /* retention or lease; b: index of the receiver in the scenario */       \
    X(WHY_HELD)           /* closed, and the broker holds a entries of it at the limit */          \
    X(WHY_OUT_OF_ORDER)   /* a: operation begun later that took effect before; b: entity */        \
    X(WHY_NOT_EMITTED)    /* an effect, and downstream never heard of it */                        \
    X(WHY_TWO_IDS)        /* told downstream under a ids */                                        \
    X(WHY_UNFOUNDED)      /* told downstream, and no effect */                                     \
    X(WHY_EXTERNAL)       /* a: effects of the operation at the service, late ones too */          \
    X(WHY_EXTERNAL_LOST)  /* believed done, no effect at the service */                            \
    X(WHY_EXTERNAL_GHOST) /* believed failed, a effects at the service */

enum reason {
#define X(name) name,
    REASONS(X)
#undef X
};

/* What contradicts what: the three ledgers' word on the operation when it was certain, or, of its
 * belief and the number of its effects, at the end. Zero: not known. */
struct testimony {
    uint8_t belief; /* enum belief */
    bool closed, gave_up;
    uint64_t closed_at;
    struct occasion effects[EFFECTS_TOLD]; /* that were state */
    uint32_t effects_ever;                 /* most that were state at a time */
    uint32_t effects_late;                 /* most of them that were late */
    struct occasion acked;                 /* first success to leave the receiver */
    struct occasion replied;               /* latest reply to leave it */
    struct deed moved;                     /* of its record, which is the violation */
    struct deed claimed, completed;        /* what is known of the record before that */
    uint64_t key_of;               /* operation whose key it carried by a fault; 0: its own */
    uint16_t echoes[EFFECTS_TOLD]; /* of effects at the service: the network's copy of the call */
    uint16_t fair_attempt; /* first that no fault touched and that was not finally answered */
    uint32_t deliveries;   /* by a broker */
    uint32_t dead_letters; /* there, that nobody puts back */
};

struct violation {
    enum check check;
    enum reason reason;
    uint64_t op; /* 0: of no single operation */
    uint64_t at; /* when it was certain */
    int64_t a, b;
    struct testimony testimony;
};

/* The latest operation, by its number, that a sender has had an effect of on an entity. */
struct latest {
    uint64_t key; /* sender and entity, from 1; 0: free */
    uint64_t number, began;
};

#define VIOLATIONS_KEPT 64

struct verdict {
    struct run *run; /* its moment and its history, where violations are marked */
    uint32_t checks; /* which are judged */
    bool no_give_up;
    bool late_forbidden;
    struct promise promise; /* what the receiver says of its records */
    bool evicts;          /* a record may go before its time: there is a most, or clients say so */
    bool dated_by_sender; /* a record's time counts from when its message was made */
    bool calls;           /* the receiver calls the service: what is done is done there, too */
    struct violation violations[VIOLATIONS_KEPT];
    uint32_t kept;
    uint64_t violated[CHECK_COUNT]; /* all of them, kept or not */
    uint64_t judged[CHECK_COUNT];
    uint64_t repeated;     /* operations with a second attempt, delivery or call */
    uint64_t operations;   /* judged in all */
    uint64_t unfinishable; /* not judged by progress: faults left no attempt alone */
    uint64_t effects;      /* of all operations judged, in the store */
    uint64_t external;     /* the same at the service */
    uint64_t with_effect;  /* operations with at least one effect, here or there */
    uint64_t beyond;       /* effects beyond the first of their operation, here and there */
    uint64_t late;         /* those of them that came when the contract's window was over */
    uint64_t doubled;      /* operations with more than one: DSEVR is doubled / with_effect */
    uint64_t rows;         /* ledger rows of live operations that the latest audit found */
    struct latest *latest; /* by sender and entity, for in-order; owned, a hash table */
    size_t latest_count, latest_capacity;
    int64_t *retired_sum; /* by entity: effects of operations that are forgotten */
    int64_t *live_sum;    /* scratch of an audit */
    size_t entities;
};

/* Borrows run. */
void verdict_init(struct verdict *v, struct run *run, size_t entities);
void verdict_fini(struct verdict *v);
void verdict_reset(struct verdict *v, uint32_t checks, bool no_give_up, bool late_forbidden);

/* A reply leaves the receiver. saves_responses: where a duplicate must get the first one again,
 * unless it is late and may be. A success for a create must carry a receipt, with the same
 * exception. */
void verdict_reply(struct verdict *v, struct operation *op, enum reply_status status,
                   int64_t receipt, bool saves_responses);

/* A transaction with effects of op has become state, or the service has done what a call of it
 * asked for: more than one is certain from now on. A late one does not count, unless the contract
 * forbids it. */
void verdict_committed(struct verdict *v, struct operation *op);

/* A transaction of op is committed: where that was its first effect, none that its sender began
 * later on the same entity has taken effect before it. */
void verdict_in_order(struct verdict *v, struct operation *op);
/* At the end: op against its follow-on; NULL: none was ever sent. */
void verdict_emitted(struct verdict *v, struct operation *op, const struct operation *follow);

/* An audit: begin, one call for each ledger row and each entity that the copy of the disk holds,
 * end. crashed: after a death, else at the end of the run. */
void verdict_audit_begin(struct verdict *v, struct operations *ops);
void verdict_audit_row(struct verdict *v, struct operations *ops, int64_t row, uint64_t op,
                       uint32_t entity, int64_t amount);
void verdict_audit_entity(struct verdict *v, uint32_t entity, int64_t balance);
void verdict_audit_end(struct verdict *v, struct operations *ops, bool crashed);
void verdict_audit_corrupt(struct verdict *v);

/* A handling has moved the record of op's key. Allowed are: to claim what is absent or whose time
 * is over; to renew, complete or release what is in progress. Who does the latter must have claimed
 * it last. A time is over as soon as the world's clock or the host's says so, from the earliest
 * moment that the receiver can have dated the record with: the arrival of the delivery whose
 * handling claimed it, or, where one is claimed that was in progress or set free, of the first of
 * them. After a loss of power, and after a crash in the handling that moves it, the record's
 * standing is unknown until the next claim.
 *
 * Each operation's moves are followed by themselves. Not seen are: a record that several operations
 * share by their key, between them; rows that a sweep removes, for which a claim comes when the
 * time is over or not at all. */
void verdict_moved(struct verdict *v, struct operation *op, const struct moved *m);
/* The host has died; before the audit. unpowered: what was not synced may be gone. */
void verdict_unsettled(struct operations *ops, bool unpowered);
/* The receiver's table holds so many records, and may hold `most`. */
void verdict_records(struct verdict *v, uint64_t records, uint64_t most);
/* So many are in progress at the end without anybody who will ever end them. */
void verdict_unowned(struct verdict *v, uint64_t records);
/* Retention and lease against the senders, as sim/cover.h computed it before the run. */
void verdict_cover(struct verdict *v, bool holds, size_t receiver);

/* op is closed: what is certain of it by now, with what is under way. Again after each change.
 * durable: no crash can take an effect back. */
void verdict_closed(struct verdict *v, struct operation *op, bool durable);

/* Nothing can touch op any more, or the run has ended. Once for each operation. */
void verdict_operation(struct verdict *v, struct operation *op);

#endif
