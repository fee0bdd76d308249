/* The client: sends operations, waits, sends again, and believes something of each.
 *
 * In: moments (next operation, send, time-out) and answers. Out: messages to transmit, which the
 * caller hands to the network, and events of its own in the run's queue. A time-out leaves the
 * belief unknown, never failed. It may die and come back: sim/sender_life.c. Durations are measured
 * and operations dated by the sender's own clock, which may be wrong and may drift.
 *
 * Owns: its position in its list or workload. Borrows: its configuration and the operations.
 */
#ifndef SIM_SENDER_H
#define SIM_SENDER_H

#include "sim/clock.h"
#include "sim/operation.h"
#include "sim/run.h"
#include "sim/sender_config.h"

/* A session of its own, before anything else begins. */
enum opening { OPENING_NOTHING, OPENING_DUE, OPENING_ASKED };

struct sender {
    const struct sender_config *config;
    struct run *run;
    struct operations *operations;
    unsigned place;
    struct zipf zipf;        /* of a skewed workload */
    uint64_t next;           /* number of the next operation in the loop, from 1 */
    uint64_t waiting;        /* operations with a time of their own, not started yet */
    uint64_t last_first;     /* time of the latest first send */
    struct host_clock clock; /* as the schedule's clock faults have it now */
    bool up;
    uint32_t incarnation;
    bool counter_behind; /* its next operation takes the key of the newest */
    uint64_t newest;     /* number of the operation begun last */
    int64_t newest_said; /* what it said its number to be */
    int64_t lag;         /* by how much its counter is behind */
    uint8_t opening;     /* enum opening */
    bool stopped;        /* it got no session and begins nothing */
    int64_t session;     /* the latest that it knows; 0: none */
    uint64_t *deferred;  /* numbers of first sends that fell due while it was down; owned */
    uint32_t deferred_count, deferred_capacity;
    /* For sender_acknowledged: open operations of a workload by number; of a list, which have ended
     * (owned) and how many from the first on. */
    struct operation *first_open, *last_open;
    bool *ended;
    uint64_t ended_to;
    uint64_t attempts, gave_up, closed_done;
    uint64_t latency_sum, latency_max; /* first send to close, of operations believed done */
};

void sender_init(struct sender *s, const struct sender_config *config, unsigned place,
                 struct run *run, struct operations *operations);
void sender_fini(struct sender *s);
/* Puts its first moments into the run's queue. */
void sender_start(struct sender *s);

/* EVENT_NEXT_OPERATION: opens an operation and fills *out with its first attempt. number: of a
 * listed message with a time of its own, else 0. False: there is none left, or it is down. */
bool sender_next(struct sender *s, uint64_t number, struct message *out);
/* EVENT_SEND. */
void sender_send(struct sender *s, struct operation *op, struct message *out);
/* EVENT_TIMEOUT. True: *out is the next attempt, to be sent at once. */
bool sender_timeout(struct sender *s, struct operation *op, struct message *out);
/* The attempt has been handed to the network: here the sender may die. True: it did, and may have
 * closed operations. Two sites, evaluated at each send. */
bool sender_transmitted(struct sender *s, const struct operation *op);
/* EVENT_RESTART. */
void sender_restart(struct sender *s, uint32_t incarnation);
/* A reply has arrived. op may be NULL or closed: the answer is late. */
void sender_answer(struct sender *s, struct operation *op, const struct message *reply);
/* The highest number such that all its operations up to it have ended, 0: the first has not. */
uint64_t sender_acknowledged(const struct sender *s);
/* Nothing left to begin. */
bool sender_exhausted(const struct sender *s);
/* Number of operations it will send in all. */
uint64_t sender_total(const struct sender_config *c);

#endif
