/* The smallest story behind a failing run, told in a few lines and kept as a file: what `run` and
 * `explore` do after something unexpected, and what `shrink` is for.
 */
#ifndef SIM_SHRINK_REPORT_H
#define SIM_SHRINK_REPORT_H

#include "sim/shrink.h"

/* Bounds of shrinking that nobody asked for: some seconds at most, and the same on any machine. */
#define SHRINK_QUICK_RUNS 2000
#define SHRINK_QUICK_EVENTS 2000000

struct shrink_plan {
    const char *keep; /* directory that gets the scenario, made where it is missing; NULL: none */
    bool listed; /* the faults that fired are the whole schedule: `faults:` and rates were off */
    bool (*stop)(void *context); /* as of struct shrink_task */
    void *context;
};

/* The lines to be told on a failing result, each ended; the caller frees them. NULL: it did not
 * fail, or cannot be shrunk. *error: SIM_ERR_IO where the scenario could not be kept, which was
 * said to standard error. */
char *shrink_report(const struct result *r, const struct shrink_plan *plan, enum sim_error *error);

/* The story as a file; a comment says with which seed where that is not the default. */
void shrink_print(const struct shrink_result *s, FILE *out);
/* "7 faults -> 1, 300 messages -> 1". Returns out. */
#define SHRINK_SIZES 160
const char *shrink_sizes(const struct shrink_result *s, char out[SHRINK_SIZES]);

/* The name of a file for the story of a receiver under a scenario: letters, digits, "_", "-" and
 * "." only. What had other characters ends in a number of its own. */
#define SHRINK_FILE 256
void shrink_file_name(const char *scenario, const char *receiver, char out[SHRINK_FILE]);

#endif
