/* One scenario on one receiver: made once, played as often as there are seeds and schedules.
 *
 * Owns: clock, queue, history, schedule, senders, network, broker, hosts, verdict. Borrows: the
 * scenario. Only one world can be running at a time in a process (SQLite's allocator is global);
 * several may exist.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "sim/result.h"

struct world;

/* receiver: index into scenario->receivers. NULL with *error set: the schema or a statement of the
 * receiver is refused by SQLite, or memory settings failed; SQLite's text goes to `errors`. */
struct world *world_new(const struct scenario *s, size_t receiver, FILE *errors,
                        enum sim_error *error);
void world_free(struct world *w);

struct play {
    uint64_t seed;
    bool keep_history;          /* records stay readable by world_history until the next play */
    const struct fault *faults; /* NULL: the scenario's own */
    size_t fault_count;
    bool no_rates;  /* the scenario's random rates are off */
    bool no_counts; /* records are not counted for the result; only for speed */
    /* Reset and restart by opening everything anew, not by the image: slow, for tests. Recovery
     * then happens while opening, outside any step, and not in the first statement. */
    bool reopen;
    struct schedule_observer observer;
    const struct expectation *expectation; /* judged instead of the scenario's own; NULL: that */
};

/* Plays one run to its end and fills *result (result_fini by the caller). */
void world_play(struct world *w, const struct play *p, struct result *result);

/* Operations on the receiver's disk that a power loss at this moment could lose; for an observer.
 */
size_t world_unsynced(const struct world *w);

/* Records of the last play with keep_history. */
const struct record *world_history(struct world *w, size_t *count);

#endif
