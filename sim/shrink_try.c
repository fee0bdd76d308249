/* Trials: a candidate is played, and taken for the present story where it fails as it should.
 *
 * In: a scenario or a list of faults. Out: whether it violates the check; faults that did not fire
 * in it are left out of what is kept.
 */
#include "sim/shrink_internal.h"

#include <stdlib.h>
#include <string.h>

bool shrink_over(struct shrinker *x)
{
    const struct shrink_task *t = x->task;
    uint64_t most = t->limit_runs > 0 ? t->limit_runs : SHRINK_RUNS;
    if (x->end == SHRUNK_ALL && t->stop != NULL && t->stop(t->context)) {
        x->end = SHRUNK_TO_STOP;
    }
    if (x->end == SHRUNK_ALL &&
        (x->runs >= most || (t->limit_events > 0 && x->events >= t->limit_events))) {
        x->end = SHRUNK_TO_LIMIT;
    }
    return x->end != SHRUNK_ALL;
}

struct scenario *shrink_copy(const struct shrinker *x)
{
    struct scenario *copy = sim_alloc(sizeof(*copy));
    scenario_copy(x->now, copy);
    return copy;
}

static void discard(struct scenario *s, struct world *w)
{
    world_free(w);
    scenario_fini(s);
    free(s);
}

bool shrink_fails(const struct shrinker *x, const struct result *r)
{
    return r->error == SIM_OK && r->verdict == VERDICT_FAIL && r->violated[x->task->check] > 0;
}

bool shrink_all_fired(const struct result *r)
{
    for (size_t i = 0; i < r->listed_count; i++) {
        if (r->fates[i] != FATE_FIRED) {
            return false;
        }
    }
    return true;
}

void shrink_play(struct shrinker *x, struct world *w, const struct fault *faults, size_t count,
                 uint64_t seed, struct result *r)
{
    static const struct fault none;
    struct play p = {.seed = seed,
                     .keep_history = x->listed,
                     .faults = count > 0 ? faults : &none,
                     .fault_count = count,
                     .no_counts = true,
                     .expectation = &x->expectation};
    world_play(w, &p, r);
    x->runs++;
    x->events += r->events;
}

/* Plays until each listed fault fires: what did not fire is left out, in the order in which the
 * others did. False, with nothing in *r: it does not fail any more. */
static bool trial(struct shrinker *x, struct world *w, const struct fault *faults, size_t count,
                  uint64_t seed, struct result *r)
{
    shrink_play(x, w, faults, count, seed, r);
    while (shrink_fails(x, r) && !shrink_all_fired(r)) {
        struct result less = {0};
        struct fault *fired = sim_alloc((r->fired_count + 1) * sizeof(*fired));
        size_t fired_count = r->fired_count;
        memcpy(fired, r->fired, fired_count * sizeof(*fired));
        scenario_number_faults(fired, fired_count);
        shrink_play(x, w, fired, fired_count, seed, &less);
        free(fired);
        result_fini(r);
        *r = less;
    }
    if (!shrink_fails(x, r)) {
        result_fini(r);
        return false;
    }
    return true;
}

static void remember_sendings(struct shrinker *x, struct world *w)
{
    size_t count = 0;
    const struct record *records = x->listed ? world_history(w, &count) : NULL;
    x->sending_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (r->kind != RECORD_SEND) {
            continue;
        }
        if (x->sending_count == x->sending_capacity) {
            x->sending_capacity = x->sending_capacity > 0 ? 2 * x->sending_capacity : 64;
            x->sendings = sim_realloc(x->sendings, x->sending_capacity, sizeof(*x->sendings));
        }
        x->sendings[x->sending_count++] =
            (struct sending){.op = r->op, .at = r->at, .attempt = r->attempt};
    }
}

uint64_t shrink_sent_at(const struct shrinker *x, uint64_t op, unsigned attempt)
{
    for (size_t i = 0; i < x->sending_count; i++) {
        if (x->sendings[i].op == op && x->sendings[i].attempt == attempt) {
            return x->sendings[i].at;
        }
    }
    return 0;
}

void shrink_accept(struct shrinker *x, struct result *r)
{
    result_fini(&x->last);
    x->last = *r;
    remember_sendings(x, x->world);
}

/* The story from now on. */
static void replace(struct shrinker *x, struct scenario *s, struct world *w, uint64_t seed,
                    struct result *r)
{
    if (x->now != NULL) {
        discard(x->now, x->world);
    }
    x->now = s;
    x->world = w;
    x->seed = seed;
    shrink_accept(x, r);
}

static struct world *open_world(struct shrinker *x, struct scenario *s)
{
    enum sim_error e = SIM_OK;
    return shrink_over(x) ? NULL : world_new(s, 0, x->errors, &e);
}

bool shrink_try(struct shrinker *x, struct scenario *candidate, uint64_t seed)
{
    struct result r = {0};
    struct world *w = open_world(x, candidate);
    if (w == NULL || !trial(x, w, candidate->faults, candidate->fault_count, seed, &r)) {
        discard(candidate, w);
        return false;
    }
    scenario_set_faults(candidate, r.fired, r.fired_count);
    replace(x, candidate, w, seed, &r);
    return true;
}

bool shrink_try_faults(struct shrinker *x, const struct fault *faults, size_t count)
{
    if (shrink_over(x)) {
        return false;
    }
    struct fault *list = sim_alloc((count + 1) * sizeof(*list));
    if (count > 0) {
        memcpy(list, faults, count * sizeof(*list));
    }
    scenario_number_faults(list, count);
    if (x->task->check == CHECK_RETENTION) { /* it is computed from what the scenario lists */
        struct scenario *candidate = shrink_copy(x);
        scenario_set_faults(candidate, list, count);
        free(list);
        return shrink_try(x, candidate, x->seed);
    }
    struct result r = {0};
    bool good = trial(x, x->world, list, count, x->seed, &r);
    free(list);
    if (good) {
        scenario_set_faults(x->now, r.fired, r.fired_count);
        shrink_accept(x, &r);
    }
    return good;
}

/* As shrink_try while random faults may still strike. */
bool shrink_try_random(struct shrinker *x, struct scenario *candidate)
{
    struct result r = {0};
    struct world *w = open_world(x, candidate);
    if (w != NULL) {
        shrink_play(x, w, candidate->faults, candidate->fault_count, x->seed, &r);
    }
    if (w == NULL || !shrink_fails(x, &r)) {
        result_fini(&r);
        discard(candidate, w);
        return false;
    }
    replace(x, candidate, w, x->seed, &r);
    return true;
}
