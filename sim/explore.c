/* From walkers to a certificate: sizes in order, one walker or one process for each job, sums.
 *
 * Each size is walked whole before the next begins, by all jobs; what they found lies in memory
 * that they share. Sums and the first counterexample (by its path, not by who came first) do not
 * depend on how many jobs there were.
 */
#include "sim/explore_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *shared_alloc(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    must(p != MAP_FAILED);
    return p;
}

static bool earlier(const struct explore_report *a, const struct explore_report *b, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        if (a->path[i] != b->path[i]) {
            return a->path[i] < b->path[i];
        }
    }
    return false;
}

/* Adds up what the walkers found of one size. */
static void sum_up(struct certificate *c, unsigned size, const struct explore_report *reports,
                   unsigned jobs)
{
    const struct explore_report *first = NULL;
    struct explore_level *level = &c->levels[size];
    level->whole = true;
    for (unsigned j = 0; j < jobs; j++) {
        const struct explore_report *r = &reports[j];
        level->schedules += r->level.schedules;
        level->failed += r->level.failed;
        level->vacuous += r->level.vacuous;
        level->whole = level->whole && !r->stopped && !r->limited && r->error == SIM_OK;
        c->digest += r->digest;
        for (unsigned k = 0; k < CHECK_COUNT; k++) {
            c->judged[k] += r->judged[k];
            c->violated[k] += r->violated[k];
        }
        c->error = c->error != SIM_OK ? c->error : r->error;
        if (r->stopped) {
            c->end = EXPLORED_TO_STOP;
        } else if (r->limited && c->end == EXPLORED_ALL) {
            c->end = EXPLORED_TO_LIMIT;
        }
        if (r->found && (first == NULL || r->answers > first->answers ||
                         (r->answers == first->answers && earlier(r, first, size)))) {
            first = r;
        }
    }
    c->schedules += level->schedules;
    if (first && (!c->found || first->answers > c->answers)) {
        c->found = true;
        c->answers = first->answers;
        c->counterexample_faults = size;
        memcpy(c->counterexample, first->counterexample, sizeof(c->counterexample));
    }
}

/* Waits for the children, telling the progress meanwhile. */
static void await(const struct explore_task *t, struct explore_report *reports, pid_t *children,
                  unsigned size)
{
    unsigned left = t->jobs;
    while (left > 0) {
        uint64_t runs = 0, done = 0;
        for (unsigned j = 0; j < t->jobs; j++) {
            runs += atomic_load(&reports[j].runs);
            done += atomic_load(&reports[j].parts);
            int status;
            if (children[j] > 0 && waitpid(children[j], &status, WNOHANG) == children[j]) {
                children[j] = 0;
                left--;
                if (status != 0 && reports[j].error == SIM_OK) {
                    reports[j].error = SIM_ERR_RECEIVER; /* it has said why before it died */
                }
            }
        }
        if (t->progress) {
            t->progress(t->context, runs, size, done, atomic_load(&reports[0].parts_total));
        }
        if (left > 0) {
            nanosleep(&(struct timespec){.tv_nsec = 2 * (long)SIM_MS}, NULL);
        }
    }
}

static void walk_in_processes(struct explorer *e, struct explore_report *reports)
{
    const struct explore_task *t = e->task;
    pid_t children[EXPLORE_JOBS_MAX];
    fflush(NULL);
    for (unsigned j = 0; j < t->jobs; j++) {
        children[j] = fork();
        must(children[j] >= 0);
        if (children[j] == 0) {
            e->job = j;
            e->report = &reports[j];
            explorer_walk(e);
            _exit(0);
        }
    }
    await(t, reports, children, e->size);
}

static void conclude(struct certificate *c, uint64_t vacuous)
{
    const struct expectation *x = c->task->expectation;
    bool whole = c->end == EXPLORED_ALL;
    if (c->error != SIM_OK) {
        c->verdict = VERDICT_ERROR;
    } else if (c->found) {
        c->verdict = VERDICT_FAIL;
    } else {
        c->verdict = vacuous == c->schedules ? VERDICT_VACUOUS : VERDICT_PASS;
    }
    if (x->given && x->violates) {
        c->expected = c->verdict == VERDICT_FAIL && c->answers;
    } else {
        /* Under an assumption nobody is acquitted: who holds there was only not convicted. */
        bool assumed = (c->task->kinds & ~explore_covered_kinds()) != 0;
        c->expected = c->verdict == VERDICT_PASS && whole && !assumed;
    }
}

void explore(const struct explore_task *task, FILE *errors, struct certificate *c)
{
    struct explorer e;
    memset(c, 0, sizeof(*c));
    c->task = task;
    must(task->jobs >= 1 && task->jobs <= EXPLORE_JOBS_MAX);
    size_t bytes = task->jobs * sizeof(struct explore_report);
    struct explore_report *reports = shared_alloc(bytes);
    struct explore_sites *sites = shared_alloc(sizeof(*sites));
    uint64_t vacuous = 0;
    c->error = explorer_init(&e, task, errors);
    e.sites = sites;
    e.jobs = task->jobs;
    e.deadline = task->limit_ns ? task->wall_clock() + task->limit_ns : 0;
    e.limit_runs = task->limit_runs ? (task->limit_runs + task->jobs - 1) / task->jobs : 0;
    for (e.size = 0; c->error == SIM_OK && e.size <= task->faults; e.size++) {
        for (unsigned j = 0; j < task->jobs; j++) {
            uint64_t runs = atomic_load(&reports[j].runs);
            memset(&reports[j], 0, sizeof(reports[j]));
            atomic_store(&reports[j].runs, runs);
        }
        if (task->jobs == 1) {
            e.report = &reports[0];
            explorer_walk(&e);
        } else {
            walk_in_processes(&e, reports);
        }
        sum_up(c, e.size, reports, task->jobs);
        vacuous += c->levels[e.size].vacuous;
        if (c->end != EXPLORED_ALL) {
            break;
        }
        if (c->answers && e.size < task->faults) {
            c->end = EXPLORED_TO_COUNTEREXAMPLE;
            break;
        }
    }
    for (unsigned k = 0; k < FAULT_KIND_COUNT; k++) {
        c->sites[k] = atomic_load(&sites->counts[k]);
    }
    conclude(c, vacuous);
    explorer_fini(&e);
    munmap(reports, bytes);
    munmap(sites, sizeof(*sites));
}
