/* The smallest story that still fails: from a run to a list, and the order of the steps.
 *
 * Worked example: a workload of 10,000 messages at `lose: 1/50` charges message 37 twice. Its first
 * 64 messages fail as well; they are listed, with the faults that fired. Message 37 alone, sent at
 * its moment with the two faults that name it, fails as well; one of the two can go; without `at:`
 * it fails at 1 s; and so on.
 */
#include "sim/shrink_internal.h"

#include <stdlib.h>
#include <string.h>

#include "sim/scenario_print.h"

/* Beyond these a story is not listed message by message. */
#define LISTED_MAX 100000
#define HISTORY_MAX 8000000
#define FIRST_MESSAGES 16

bool shrink_check(const struct result *r, enum check *check)
{
    if (r->verdict != VERDICT_FAIL) {
        return false;
    }
    const struct expectation *e = r->expectation;
    uint32_t wanted = e->given && e->violates ? e->checks : 0;
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if ((wanted & CHECK_BIT(c)) && r->violated[c] > 0) {
            *check = (enum check)c;
            return true;
        }
    }
    for (size_t i = 0; i < r->violation_count; i++) {
        if (r->checks & CHECK_BIT(r->violations[i].check)) {
            *check = r->violations[i].check;
            return true;
        }
    }
    return false;
}

/* ---- from the run to a list ---- */

static void rates_off(struct fault_rates *r)
{
    const struct ratio never = {0, 1};
    r->lose[0] = r->lose[1] = r->duplicate[0] = r->duplicate[1] = never;
    r->crash = r->power = r->pause = r->store = r->handler = never;
}

/* The scenario as it was handed in. */
static void first_story(const struct shrinker *x, struct scenario *s)
{
    const struct shrink_task *t = x->task;
    scenario_copy(t->scenario, s);
    scenario_keep_receiver(s, t->receiver);
    if (t->faults != NULL) {
        rates_off(&s->rates);
        scenario_set_faults(s, t->faults, t->fault_count);
    }
}

/* A long workload loses what comes after its first violation, as long as nothing is listed. */
static void cut_workloads(struct shrinker *x)
{
    for (uint64_t n = scenario_generated(x->now); n > 1; n = scenario_generated(x->now)) {
        struct scenario *half = shrink_copy(x);
        scenario_cut_workloads(half, n / 2);
        if (!shrink_try_random(x, half)) {
            return;
        }
    }
}

static bool too_long(const struct shrinker *x)
{
    uint64_t messages = scenario_listed(x->now);
    for (size_t i = 0; i < x->now->sender_count; i++) {
        messages += x->now->senders[i].workload.count;
    }
    return messages > LISTED_MAX || x->last.history_count > HISTORY_MAX;
}

static bool list_everything(struct shrinker *x)
{
    struct scenario *list = shrink_copy(x);
    rates_off(&list->rates);
    scenario_set_faults(list, x->last.fired, x->last.fired_count);
    if (scenario_generated(list) > 0) {
        scenario_list_workloads(list, x->seed);
    }
    return shrink_try(x, list, x->seed);
}

/* A listed message keeps its slot and a generated one does not, so that the rows of the ledger have
 * other numbers, SQLite's pages another order, and a crash inside a commit may meet another write.
 * Where the violation hangs on that, more of the workload may show it again. */
static enum sim_error list_some(struct shrinker *x)
{
    uint64_t all = scenario_generated(x->task->scenario);
    for (uint64_t n = scenario_generated(x->now); !too_long(x); n *= 2) {
        x->listed = true;
        if (list_everything(x)) {
            return SIM_OK;
        }
        x->listed = false;
        if (shrink_over(x)) {
            return SIM_ERR_LIMIT;
        }
        if (n >= all) {
            return SIM_ERR_DIFFERS;
        }
        struct scenario *more = sim_alloc(sizeof(*more));
        first_story(x, more);
        scenario_cut_workloads(more, 2 * n);
        shrink_try_random(x, more);
    }
    return SIM_ERR_LIMIT;
}

/* ---- the steps ---- */

static bool default_seed(struct shrinker *x)
{
    return x->seed != 1 && shrink_try(x, shrink_copy(x), 1);
}

static void run_steps(struct shrinker *x)
{
    static bool (*const steps[])(struct shrinker *) = {
        shrink_focus,    shrink_faults,  shrink_shifts,   shrink_starts,  shrink_senders,
        shrink_messages, shrink_workers, shrink_attempts, shrink_network, shrink_values,
        shrink_settings, shrink_moments, default_seed,
    };
    for (bool changed = true; changed && !shrink_over(x);) {
        changed = false;
        for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
            changed = steps[i](x) || changed;
        }
    }
}

/* ---- begin and end ---- */

static struct shrink_size size_of(const struct scenario *s, size_t faults)
{
    struct shrink_size size = {.faults = faults, .senders = s->sender_count};
    for (size_t i = 0; i < s->sender_count; i++) {
        size.messages += s->senders[i].message_count + s->senders[i].workload.count;
    }
    return size;
}

/* The run that was handed in, played again. */
static enum sim_error begin_whole(struct shrinker *x)
{
    enum sim_error e = SIM_OK;
    x->now = sim_alloc(sizeof(*x->now));
    first_story(x, x->now);
    x->world = world_new(x->now, 0, x->errors, &e);
    if (x->world == NULL) {
        return e;
    }
    struct result r;
    shrink_play(x, x->world, x->now->faults, x->now->fault_count, x->seed, &r);
    bool good = shrink_fails(x, &r);
    shrink_accept(x, &r);
    return good ? SIM_OK : r.error != SIM_OK ? r.error : SIM_ERR_DIFFERS;
}

/* Random numbers are keyed, so what the first messages of a workload meet does not depend on how
 * many follow: the story most often is found among the first ones, for a fraction of the run. */
static enum sim_error begin(struct shrinker *x)
{
    uint64_t all = scenario_generated(x->task->scenario);
    for (uint64_t n = FIRST_MESSAGES; n < all && x->now == NULL; n *= 2) {
        struct scenario *few = sim_alloc(sizeof(*few));
        first_story(x, few);
        scenario_cut_workloads(few, n);
        shrink_try_random(x, few);
    }
    if (x->now != NULL) {
        return SIM_OK;
    }
    return shrink_over(x) ? SIM_ERR_LIMIT : begin_whole(x);
}

static const struct violation *violation_of(const struct shrinker *x)
{
    for (size_t i = 0; i < x->last.violation_count; i++) {
        if (x->last.violations[i].check == x->task->check) {
            return &x->last.violations[i];
        }
    }
    return NULL;
}

static void name_it(struct shrinker *x, struct shrink_result *out)
{
    static const char mark[] = "-shrunk";
    struct scenario *s = x->now;
    size_t len = strlen(s->name), width = strlen(mark);
    if ((len < width || strcmp(s->name + len - width, mark) != 0) && len + width < KEY_MAX) {
        s->name = sim_realloc(s->name, len + width + 1, 1);
        memcpy(s->name + len, mark, width + 1);
    }
    const struct violation *v = violation_of(x);
    if (v != NULL) {
        violation_text(s, v, out->sentence, sizeof(out->sentence));
    } else { /* more were violated than are kept */
        snprintf(out->sentence, sizeof(out->sentence), "%s is violated",
                 check_text(x->task->check));
    }
    free(s->about);
    size_t size = strlen(out->sentence) + 2;
    s->about = sim_alloc(size);
    snprintf(s->about, size, "%s.", out->sentence);
    s->expectations[0] = x->expectation;
}

/* What is handed out is what a file of it says. */
static bool reads_back(struct shrinker *x)
{
    struct scenario read;
    char *text = scenario_print_text(x->now);
    enum sim_error e = scenario_parse(x->now->file, text, strlen(text), x->errors, &read);
    free(text);
    if (e != SIM_OK) {
        return false;
    }
    struct result r = {0};
    struct world *w = world_new(&read, 0, x->errors, &e);
    if (w != NULL) {
        shrink_play(x, w, read.faults, read.fault_count, x->seed, &r);
    }
    bool same = w != NULL && shrink_fails(x, &r) && shrink_all_fired(&r);
    result_fini(&r);
    world_free(w);
    scenario_fini(&read);
    return same;
}

static enum sim_error shrink_all(struct shrinker *x, struct shrink_result *out)
{
    enum sim_error e = begin(x);
    if (e != SIM_OK) {
        return e;
    }
    out->before = size_of(x->task->scenario, x->task->fired);
    cut_workloads(x);
    e = list_some(x);
    if (e != SIM_OK) {
        return e;
    }
    run_steps(x);
    name_it(x, out);
    if (!reads_back(x)) {
        return SIM_ERR_DIFFERS;
    }
    out->after = size_of(x->now, x->now->fault_count);
    out->seed = x->seed;
    out->end = x->end;
    out->runs = x->runs;
    out->events = x->events;
    return SIM_OK;
}

enum sim_error shrink(const struct shrink_task *task, FILE *errors, struct shrink_result *out)
{
    struct shrinker x = {
        .task = task,
        .errors = errors,
        .expectation = {.given = true, .violates = true, .checks = CHECK_BIT(task->check)},
        .seed = task->seed,
    };
    *out = (struct shrink_result){0};
    enum sim_error e = shrink_all(&x, out);
    result_fini(&x.last);
    world_free(x.world);
    free(x.sendings);
    if (e == SIM_OK) {
        out->scenario = *x.now;
    } else if (x.now != NULL) {
        scenario_fini(x.now);
    }
    free(x.now);
    return e;
}
