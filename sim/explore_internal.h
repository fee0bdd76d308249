/* What exploration's two files share: one walker's tree walk, and the walkers as processes. */
#ifndef SIM_EXPLORE_INTERNAL_H
#define SIM_EXPLORE_INTERNAL_H

#include "sim/explore.h"

#include <stdatomic.h>

/* One size's worth of one walker's work. Lies in memory that processes share. */
struct explore_report {
    _Atomic uint64_t runs;  /* played by this walker in all, for the limit and the progress */
    _Atomic uint64_t parts; /* first faults of this size that are done */
    _Atomic uint64_t parts_total;
    struct explore_level level;
    uint64_t judged[CHECK_COUNT];
    uint64_t violated[CHECK_COUNT];
    uint64_t digest;
    struct fault counterexample[EXPLORE_FAULTS_MAX];
    uint32_t path[EXPLORE_FAULTS_MAX]; /* index of the extension at each depth: orders the found */
    bool found;
    bool answers; /* the counterexample violates a check that is looked for */
    bool stopped, limited;
    enum sim_error error;
};

/* A set of site hashes with room for SITES_MAX, filled by all walkers at once. */
#define EXPLORE_SITES_MAX (UINT32_C(1) << 20)
struct explore_sites {
    _Atomic uint64_t counts[FAULT_KIND_COUNT];
    _Atomic uint64_t slots[EXPLORE_SITES_MAX];
};

struct explorer {
    const struct explore_task *task;
    struct world *world;
    struct grid grid;
    unsigned size;       /* of the schedules of this pass */
    unsigned job, jobs;  /* takes each jobs-th first fault, from the job-th on */
    uint64_t deadline;   /* by the wall clock; 0: none */
    uint64_t limit_runs; /* of this walker; 0: none */
    struct explore_report *report;
    struct explore_sites *sites;
    struct fault *schedule; /* kept faults, then those of the walk */
    size_t kept;
    uint32_t path[EXPLORE_FAULTS_MAX];
    struct extensions {
        struct fault *faults;
        size_t count, capacity;
    } extensions[EXPLORE_FAULTS_MAX]; /* of each depth */
};

enum sim_error explorer_init(struct explorer *e, const struct explore_task *task, FILE *errors);
void explorer_fini(struct explorer *e);
/* Plays every schedule of e->size faults that falls to this walker. */
void explorer_walk(struct explorer *e);

#endif
