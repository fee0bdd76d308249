/* The way between sender and receiver: delay, loss, copies, overtaking, partitions.
 *
 * In: one message. Out: zero, one or several arrivals in the run's queue. Its fate is decided when
 * it is sent. Order is not kept: each copy has its own delay, so copies overtake each other.
 */
#ifndef SIM_NETWORK_H
#define SIM_NETWORK_H

#include "sim/network_config.h"
#include "sim/operation.h"
#include "sim/run.h"

struct partition {
    uint8_t from, to;
    bool one_way;
    uint64_t begin, end; /* begin <= t < end, and not beyond the time until which faults strike */
    uint32_t fault;      /* index of its fault in the list */
    uint64_t cut;        /* copies that it kept back */
};

struct network {
    const struct network_config *config;
    struct run *run;
    struct operations *operations;
    struct partition *partitions; /* owned */
    uint32_t partition_count, partition_capacity;
    uint64_t copies, lost;
};

void network_init(struct network *n, const struct network_config *config, struct run *run,
                  struct operations *operations);
void network_start(struct network *n);
void network_fini(struct network *n);
void network_partition(struct network *n, const struct partition *p);
/* Sends m from one place to another. op: the operation it belongs to. */
void network_send(struct network *n, struct operation *op, const struct message *m, unsigned from,
                  unsigned to);

#endif
