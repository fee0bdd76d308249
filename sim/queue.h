/* Events in the order in which they happen.
 *
 * A 4-ary heap ordered by (time, sequence): the sequence is given at push, so two events are never
 * equal and ties come out in the order in which they went in. Any event can be removed by its
 * handle. Worked example: push a at 5, b at 1, c at 5; pops give b, a, c.
 *
 * Owns: its arrays, which grow at a push that finds them full and never shrink. Holds at most
 * 2^24 events at a time and numbers at most 2^40 between two resets.
 */
#ifndef SIM_QUEUE_H
#define SIM_QUEUE_H

#include "sim/event.h"

/* Names one pushed event until it is popped or removed; never given to another event. Zeroed: no
 * handle. */
struct queue_handle {
    uint32_t slot; /* slot + 1; 0: none */
    uint32_t generation;
};

/* 16 bytes, so that four children lie side by side in 64. */
struct queue_key {
    uint64_t at;
    uint64_t order; /* sequence above, slot in the low QUEUE_SLOT_BITS */
};
#define QUEUE_SLOT_BITS 24

struct queue {
    struct queue_key *keys; /* heap order; beyond count, keys later than any event's */
    uint32_t *place;        /* by slot: index in the heap */
    uint32_t *generation;   /* by slot: guards old handles */
    struct event *events;   /* by slot */
    uint32_t *free_slots;
    uint32_t count; /* keys in the heap, with the hollow root: see queue_count */
    uint32_t capacity, free_count;
    bool hollow; /* the root was popped, and nothing has taken its place yet */
    uint64_t next_seq;
};

void queue_init(struct queue *q, uint32_t capacity);
void queue_fini(struct queue *q);
static inline uint32_t queue_count(const struct queue *q)
{
    return q->count - q->hollow;
}
/* Empties the queue and starts the sequence again. */
void queue_reset(struct queue *q);
/* at <= SIM_TIME_MAX; it may lie before the last pop. */
struct queue_handle queue_push(struct queue *q, uint64_t at, const struct event *e);
/* False: empty. */
bool queue_pop(struct queue *q, uint64_t *at, struct event *e);
/* False: that event has been popped or removed already. */
bool queue_remove(struct queue *q, struct queue_handle h);
/* Time of the earliest event; false: empty. */
bool queue_peek(const struct queue *q, uint64_t *at);

#endif
