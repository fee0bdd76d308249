/* The smallest story that still fails.
 *
 * In: a run that violates a check. Out: a scenario with one receiver, no random rates and a list of
 * faults, each of which fires, that violates the same check; nothing of it can be left out or made
 * simpler by one of the steps below:
 *
 *     fewer faults · fewer senders and messages · fewer workers · fewer attempts · a constant delay
 *     simpler faults (the process and not the power, rounder times, fewer copies, earlier places)
 *     default settings · no times of their own for messages · the default seed
 *
 * A workload first loses count, then becomes listed messages: random numbers are keyed by id, so a
 * listed message meets the fate of the generated one. Where only the moment of a message matters,
 * it is kept as `at:` when the messages before it go.
 *
 * The steps are repeated until none changes anything, so shrinking the result changes nothing. It
 * is a function of the task alone.
 */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "sim/world.h"

#define SHRINK_RUNS 20000

struct shrink_task {
    const struct scenario *scenario;
    size_t receiver;
    uint64_t seed;
    /* What fired in the failing run: scripted, random or explored. NULL: the scenario's own faults
     * and rates are played to find out. */
    const struct fault *faults;
    size_t fault_count;
    uint64_t fired;              /* how many faults fired in that run; only to be told */
    enum check check;            /* must still be violated */
    uint64_t limit_runs;         /* 0: SHRINK_RUNS */
    uint64_t limit_events;       /* of all runs together; 0: any */
    bool (*stop)(void *context); /* asked before each run; true: what is small by now is the result.
                                    May be NULL. */
    void *context;
};

struct shrink_size {
    uint64_t faults, messages, senders;
};

enum shrink_end {
    SHRUNK_ALL,      /* nothing more can be left out */
    SHRUNK_TO_LIMIT, /* the bound of runs or events was hit: perhaps it can */
    SHRUNK_TO_STOP,
};

struct shrink_result {
    struct scenario scenario; /* scenario_fini by the caller */
    uint64_t seed;            /* with which it fails */
    enum shrink_end end;
    uint64_t runs, events;
    struct shrink_size before, after; /* before: as the run was that was handed in */
    char sentence[VIOLATION_TEXT];    /* on the violation */
};

/* SIM_OK: *out is filled. SIM_ERR_LIMIT: the story is too long to be told message by message.
 * SIM_ERR_DIFFERS: the list of faults does not repeat the violation. Others: as world_new; text
 * goes to errors. */
enum sim_error shrink(const struct shrink_task *task, FILE *errors, struct shrink_result *out);

/* The check that a failing result is shrunk by: one that was expected to be violated, else the
 * first that was. False: it did not fail. */
bool shrink_check(const struct result *r, enum check *check);

#endif
