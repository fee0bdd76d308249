/* Which values a fault takes at a site: the grid that exploration and `list sites` walk.
 *
 * Values are derived from the scenario (longer than its retry, than its busy time-out, ...) and are
 * few on purpose: one for each way in which the world may go another way, not one for each number.
 * A power loss is the exception: with `full_power` each of the unsynced operations is lost, kept
 * and torn in turn.
 */
#ifndef SIM_GRID_H
#define SIM_GRID_H

#include "sim/scenario.h"

struct grid {
    const struct scenario *scenario;
    uint64_t past_retry; /* longer than a sender waits before its second attempt */
    uint64_t past_call;  /* longer than a handling waits for the service */
    uint64_t past_busy;  /* longer than a worker waits for a lock, and longer than past_retry */
    uint64_t past_visibility; /* longer than a broker hides a delivery; 0: there is none */
    uint64_t past_answer;     /* longer than anybody waits for downstream; 0: nobody does */
    bool full_power;
};

#define GRID_VALUES_MAX 256

void grid_init(struct grid *g, const struct scenario *s, bool full_power);
/* Fills out with the values at a site; returns how many. unsynced: operations that a power loss at
 * this moment could lose. 0: no fault makes sense here. */
size_t grid_values(const struct grid *g, const struct site *site, size_t unsynced,
                   struct fault_value out[GRID_VALUES_MAX]);

#endif
