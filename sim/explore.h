/* Every schedule with at most K faults, each exactly once.
 *
 * In: a scenario, a receiver, a seed, a bound. The empty schedule is run; then each schedule F is
 * extended by every (site, value) whose index in the run of F is greater than the index at which
 * F's last fault fired. A site is evaluated at most once in a run and acts only from its index on,
 * so a run with F and one more fault is the run of F up to there: no schedule is missed and none
 * comes twice, also where a fault makes new sites. In order of size, so the first counterexample
 * has the fewest faults. Out: a certificate.
 *
 * The scenario's own `faults:` and random rates are off; `keep` holds listed faults in every
 * schedule, uncounted, and extends around them.
 */
#ifndef SIM_EXPLORE_H
#define SIM_EXPLORE_H

#include "sim/grid.h"
#include "sim/world.h"

#define EXPLORE_FAULTS_MAX 5
#define EXPLORE_FILTERS_MAX 32
#define EXPLORE_JOBS_MAX 64

/* `lose:reply`, `crash:commit`, `pause`: a kind, and a direction or a step. */
struct explore_filter {
    enum fault_kind kind;
    uint8_t direction; /* 0: any */
    uint8_t step;      /* 0: any */
};

struct explore_task {
    const struct scenario *scenario;
    size_t receiver;
    uint64_t seed;
    unsigned faults;                   /* K, at most EXPLORE_FAULTS_MAX */
    uint32_t kinds;                    /* bits of enum fault_kind that may be used */
    const struct explore_filter *only; /* NULL: everything of those kinds */
    size_t only_count;
    bool keep; /* the scenario's own faults are in every schedule */
    bool full_power;
    unsigned jobs;       /* processes; 1: this one */
    uint64_t limit_runs; /* 0: none */
    uint64_t limit_ns;   /* of wall time; 0: none */
    const struct expectation *expectation;
    /* Asked now and then; true: end here and tell what was covered. May be NULL. */
    bool (*stop)(void *context);
    /* Told now and then by the parent: runs so far, and of the present size how many of the `total`
     * parts are done. May be NULL. */
    void (*progress)(void *context, uint64_t runs, unsigned faults, uint64_t done, uint64_t total);
    /* Told each schedule that was judged, in the process that played it. May be NULL. */
    void (*visited)(void *context, const struct fault *faults, unsigned count,
                    const struct result *r);
    uint64_t (*wall_clock)(void); /* ns; needed with limit_ns; never reaches a history */
    void *context;
};

enum explore_end { EXPLORED_ALL, EXPLORED_TO_COUNTEREXAMPLE, EXPLORED_TO_LIMIT, EXPLORED_TO_STOP };

/* Schedules of one size. */
struct explore_level {
    uint64_t schedules, failed, vacuous;
    bool whole; /* none of this size is missing */
};

struct certificate {
    const struct explore_task *task; /* borrowed */
    enum verdict_kind verdict;
    bool expected;
    enum sim_error error;
    enum explore_end end;
    struct explore_level levels[EXPLORE_FAULTS_MAX + 1];
    uint64_t schedules;
    uint64_t sites[FAULT_KIND_COUNT]; /* distinct sites at which a fault was tried, by kind */
    uint64_t judged[CHECK_COUNT];     /* items, summed over all schedules */
    uint64_t violated[CHECK_COUNT];   /* schedules */
    uint64_t digest;                  /* sum of the history hashes: equal on every build */
    /* The first that answers the expectation, or else the first. */
    struct fault counterexample[EXPLORE_FAULTS_MAX];
    unsigned counterexample_faults; /* its size; meaningful where `found` */
    bool found;
    bool answers; /* it violates a check that the expectation looks for, or any where it names none
                   */
};

/* Kinds that a right receiver must survive. */
uint32_t explore_covered_kinds(void);

void explore(const struct explore_task *task, FILE *errors, struct certificate *c);

#endif
