/* One walker's walk over the schedules of one size, depth first.
 *
 * At each inner node the schedule is played with an observer that collects the extensions behind
 * its last fault; at the leaves it is played bare and judged. Worked example, K = 2, sites a < b
 * and, if a fires, c behind both: size 1 plays {a} {b}; size 2 plays {a b} {a c} and, since b has
 * nothing behind it, no more.
 */
#include "sim/explore_internal.h"

#include <stdlib.h>
#include <string.h>

uint32_t explore_covered_kinds(void)
{
    uint32_t kinds = 0;
    for (unsigned k = FAULT_NONE + 1; k < FAULT_KIND_COUNT; k++) {
        kinds |= fault_kind_covered((enum fault_kind)k) ? UINT32_C(1) << k : 0;
    }
    return kinds;
}

enum sim_error explorer_init(struct explorer *e, const struct explore_task *task, FILE *errors)
{
    enum sim_error error;
    must(task->faults <= EXPLORE_FAULTS_MAX);
    *e = (struct explorer){.task = task, .jobs = 1};
    grid_init(&e->grid, task->scenario, task->full_power);
    e->kept = task->keep ? task->scenario->fault_count : 0;
    e->schedule = sim_zalloc(e->kept + EXPLORE_FAULTS_MAX, sizeof(e->schedule[0]));
    for (size_t i = 0; i < e->kept; i++) {
        e->schedule[i] = task->scenario->faults[i];
    }
    e->world = world_new(task->scenario, task->receiver, errors, &error);
    return error;
}

void explorer_fini(struct explorer *e)
{
    world_free(e->world);
    free(e->schedule);
    for (size_t i = 0; i < ARRAY_LEN(e->extensions); i++) {
        free(e->extensions[i].faults);
    }
}

static bool wanted(const struct explore_task *task, const struct rng_key *key)
{
    if (!(task->kinds >> key->draw & 1)) {
        return false;
    }
    for (size_t i = 0; i < task->only_count; i++) {
        const struct explore_filter *f = &task->only[i];
        if ((unsigned)f->kind == key->draw && (!f->direction || f->direction == key->direction) &&
            (!f->step || f->step == key->step)) {
            return true;
        }
    }
    return task->only_count == 0;
}

static bool same_site(const struct site *a, const struct site *b)
{
    return memcmp(&a->key, &b->key, sizeof(a->key)) == 0;
}

static bool held(const struct explorer *e, const struct site *site)
{
    for (size_t i = 0; i < e->kept; i++) {
        if (same_site(&e->schedule[i].site, site)) {
            return true;
        }
    }
    return false;
}

/* Counts a site once in the whole exploration, whoever meets it first. */
static void count_site(struct explore_sites *sites, const struct rng_key *key)
{
    uint64_t hash = rng_keyed(0, key) | 1;
    for (uint32_t i = 0; i < EXPLORE_SITES_MAX; i++) {
        _Atomic uint64_t *slot = &sites->slots[(hash + i) & (EXPLORE_SITES_MAX - 1)];
        uint64_t empty = 0;
        if (atomic_compare_exchange_strong(slot, &empty, hash)) {
            atomic_fetch_add(&sites->counts[key->draw], 1);
            return;
        }
        if (empty == hash) {
            return;
        }
    }
}

struct collector {
    struct explorer *explorer;
    struct extensions *into;
    const struct fault *last; /* collect behind it; NULL: from the beginning */
    bool behind;
};

static void reached(void *context, const struct site *site, uint64_t index)
{
    struct collector *c = context;
    struct explorer *e = c->explorer;
    (void)index; /* sites come in the order of their indices */
    if (!c->behind) {
        c->behind = same_site(site, &c->last->site);
        return;
    }
    if (!wanted(e->task, &site->key) || held(e, site)) {
        return;
    }
    struct fault_value values[GRID_VALUES_MAX];
    size_t n = grid_values(&e->grid, site, world_unsynced(e->world), values);
    if (n > 0) {
        count_site(e->sites, &site->key);
    }
    for (size_t i = 0; i < n; i++) {
        if (c->into->count == c->into->capacity) {
            c->into->capacity = c->into->capacity ? 2 * c->into->capacity : 256;
            c->into->faults =
                sim_realloc(c->into->faults, c->into->capacity, sizeof(c->into->faults[0]));
        }
        c->into->faults[c->into->count++] = (struct fault){.site = *site, .value = values[i]};
    }
}

static void play(struct explorer *e, unsigned depth, struct collector *c, struct result *r)
{
    struct play p = {.seed = e->task->seed,
                     .faults = e->schedule,
                     .fault_count = e->kept + depth,
                     .no_rates = true,
                     .no_counts = true,
                     .expectation = e->task->expectation};
    if (c) {
        p.observer = (struct schedule_observer){c, reached};
    }
    world_play(e->world, &p, r);
    /* The sites of the walk were seen in a run that is the same up to them. */
    for (size_t i = e->kept; r->error == SIM_OK && i < p.fault_count; i++) {
        must(r->fates[i] == FATE_FIRED || r->fates[i] == FATE_HELD);
    }
}

/* All ways to go on behind the last fault of the schedule of `depth` faults. */
static void collect(struct explorer *e, unsigned depth)
{
    struct extensions *into = &e->extensions[depth];
    into->count = 0;
    struct collector c = {
        .explorer = e,
        .into = into,
        .last = depth > 0 ? &e->schedule[e->kept + depth - 1] : NULL,
        .behind = depth == 0,
    };
    struct result r;
    play(e, depth, &c, &r);
    if (r.error != SIM_OK) {
        e->report->error = r.error;
    }
    result_fini(&r);
}

/* Whether a failing run violates what the expectation names; any violation, where it names none. */
static bool looked_for(const struct expectation *x, const struct result *r)
{
    for (unsigned c = 0; x->given && x->violates && c < CHECK_COUNT; c++) {
        if ((x->checks & CHECK_BIT(c)) && r->violated[c] > 0) {
            return true;
        }
    }
    return !(x->given && x->violates);
}

static void judge(struct explorer *e, const struct result *r)
{
    struct explore_report *report = e->report;
    report->level.schedules++;
    report->level.failed += r->verdict == VERDICT_FAIL;
    report->level.vacuous += r->verdict == VERDICT_VACUOUS;
    report->digest += r->history_hash;
    if (r->error != SIM_OK) {
        report->error = r->error;
    }
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        report->judged[c] += r->judged[c];
        report->violated[c] += r->violated[c] > 0;
    }
    bool answers = r->verdict == VERDICT_FAIL && looked_for(e->task->expectation, r);
    if (r->verdict == VERDICT_FAIL && (!report->found || (answers && !report->answers))) {
        report->found = true;
        report->answers = answers;
        memcpy(report->counterexample, &e->schedule[e->kept],
               e->size * sizeof(report->counterexample[0]));
        memcpy(report->path, e->path, sizeof(report->path));
    }
}

/* True: the walk is to end here. */
static bool enough(struct explorer *e)
{
    struct explore_report *report = e->report;
    const struct explore_task *t = e->task;
    uint64_t runs = atomic_fetch_add(&report->runs, 1);
    report->limited = e->limit_runs > 0 && runs >= e->limit_runs;
    if (runs % 64 == 0) {
        report->limited = report->limited || (e->deadline > 0 && t->wall_clock() >= e->deadline);
        report->stopped = t->stop && t->stop(t->context);
        if (e->jobs == 1 && t->progress) {
            t->progress(t->context, runs, e->size, atomic_load(&report->parts),
                        atomic_load(&report->parts_total));
        }
    }
    return report->limited || report->stopped || report->error != SIM_OK;
}

static void walk(struct explorer *e, unsigned depth)
{
    if (depth == e->size) {
        struct result r;
        if (!enough(e)) {
            play(e, depth, NULL, &r);
            judge(e, &r);
            if (e->task->visited) {
                e->task->visited(e->task->context, &e->schedule[e->kept], depth, &r);
            }
            result_fini(&r);
        }
        return;
    }
    must(depth < EXPLORE_FAULTS_MAX);
    collect(e, depth);
    size_t count = e->extensions[depth].count;
    if (depth == 0) {
        atomic_store(&e->report->parts_total, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (depth == 0 && i % e->jobs != e->job) {
            continue;
        }
        e->schedule[e->kept + depth] = e->extensions[depth].faults[i];
        e->path[depth] = (uint32_t)i;
        walk(e, depth + 1);
        if (e->report->stopped || e->report->limited || e->report->error != SIM_OK) {
            return;
        }
        if (depth == 0) {
            atomic_fetch_add(&e->report->parts, 1);
        }
    }
}

void explorer_walk(struct explorer *e)
{
    if (e->size == 0 && e->job != 0) {
        return; /* there is one empty schedule */
    }
    walk(e, 0);
}
