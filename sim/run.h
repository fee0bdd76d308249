/* What every part of a running world shares: the moment, what comes, what was, what goes wrong. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "sim/history.h"
#include "sim/queue.h"
#include "sim/schedule.h"

struct run {
    uint64_t now;
    uint64_t seed;
    struct queue queue;
    struct history history;
    struct schedule schedule;
};

static inline void run_record(struct run *r, struct record line)
{
    line.at = r->now;
    history_add(&r->history, &line);
}

static inline uint8_t record_copy(uint16_t copy)
{
    return copy > 255 ? 255 : (uint8_t)copy;
}

/* A keyed number of this run. */
static inline uint64_t run_draw(const struct run *r, const struct rng_key *key)
{
    return rng_keyed(r->seed, key);
}

#endif
