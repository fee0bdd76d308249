/* Fewer workers, fewer attempts, a constant delay, default settings.
 *
 * A setting is one line in the list below: how it becomes simpler. False: it is as simple as it
 * gets.
 */
#include "sim/shrink_internal.h"

#include "receivers/receiver.h"
#include "sim/scenario_settings.h"

#include <stdlib.h>
#include <string.h>

/* ---- workers ---- */

static const struct dist still = {.kind = DIST_CONSTANT};
static const struct dist busy = {.kind = DIST_UNIFORM, .b = SIM_MS};

static bool try_workers(struct shrinker *x, uint32_t workers, bool usual_step)
{
    struct scenario *other = shrink_copy(x);
    other->receiver.workers = workers;
    if (usual_step) {
        other->receiver.step = workers > 1 ? busy : still;
    }
    return shrink_try(x, other, x->seed);
}

bool shrink_workers(struct shrinker *x)
{
    for (uint32_t n = 1; n < x->now->receiver.workers && !shrink_over(x); n++) {
        if (try_workers(x, n, true) || try_workers(x, n, false)) {
            return true;
        }
    }
    return false;
}

/* ---- attempts ---- */

/* sender SIZE_MAX: all of them. */
static bool try_limit(struct shrinker *x, size_t sender, uint32_t limit)
{
    struct scenario *other = shrink_copy(x);
    bool changed = false;
    for (size_t i = 0; i < other->sender_count; i++) {
        struct retry_policy *r = &other->senders[i].retry;
        if ((sender == SIZE_MAX || sender == i) && r->limit > limit) {
            r->limit = limit;
            changed = true;
        }
    }
    if (!changed) {
        scenario_fini(other);
        free(other);
        return false;
    }
    return shrink_try(x, other, x->seed);
}

static bool fewer_attempts(struct shrinker *x, size_t sender)
{
    uint32_t most = 0;
    for (size_t i = 0; i < x->now->sender_count; i++) {
        uint32_t limit = x->now->senders[i].retry.limit;
        most = (sender == SIZE_MAX || sender == i) && limit > most ? limit : most;
    }
    for (uint32_t n = 1; n < most && !shrink_over(x); n += n < 8 ? 1 : n / 2) {
        if (try_limit(x, sender, n)) {
            return true;
        }
    }
    return false;
}

bool shrink_attempts(struct shrinker *x)
{
    bool changed = fewer_attempts(x, SIZE_MAX);
    for (size_t i = 0; x->now->sender_count > 1 && i < x->now->sender_count; i++) {
        changed = fewer_attempts(x, i) || changed;
    }
    return changed;
}

/* ---- network ---- */

/* The simpler, the smaller. */
static unsigned delay_rank(const struct dist d[2])
{
    static const struct dist usual = {
        .kind = DIST_UNIFORM, .a = SHRINK_DELAY, .b = 4 * SHRINK_DELAY};
    bool equal = shrink_same_dist(&d[0], &d[1]);
    if (equal && d[0].kind == DIST_CONSTANT) {
        return d[0].a == SHRINK_DELAY ? 0 : 1;
    }
    if (d[0].kind == DIST_CONSTANT && d[1].kind == DIST_CONSTANT) {
        return 2;
    }
    if (equal) {
        return shrink_same_dist(&d[0], &usual) ? 3 : 4;
    }
    return 5;
}

/* A middle value in whole milliseconds. */
static uint64_t middle(const struct dist *d)
{
    uint64_t ns = d->kind == DIST_UNIFORM ? d->a + (d->b - d->a) / 2 : d->a;
    return ns < SIM_MS ? ns : ns - ns % SIM_MS;
}

bool shrink_network(struct shrinker *x)
{
    const struct dist *now = x->now->network.delay;
    struct dist usual = {.kind = DIST_UNIFORM, .a = SHRINK_DELAY, .b = 4 * SHRINK_DELAY};
    uint64_t m0 = middle(&now[0]), m1 = middle(&now[1]);
    const struct dist choices[][2] = {
        {shrink_constant(SHRINK_DELAY), shrink_constant(SHRINK_DELAY)},
        {shrink_constant(m0), shrink_constant(m0)},
        {shrink_constant(m1), shrink_constant(m1)},
        {shrink_constant(m0), shrink_constant(m1)},
        {usual, usual},
        {now[0], now[0]},
        {now[1], now[1]},
    };
    unsigned rank = delay_rank(now);
    for (size_t i = 0; i < ARRAY_LEN(choices) && !shrink_over(x); i++) {
        if (delay_rank(choices[i]) < rank) {
            struct scenario *other = shrink_copy(x);
            other->network.delay[0] = choices[i][0];
            other->network.delay[1] = choices[i][1];
            if (shrink_try(x, other, x->seed)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- settings ---- */

static bool no_contract(struct scenario *s)
{
    SHRINK_SET(s->no_give_up, false);
}

static bool any_records(struct scenario *s)
{
    SHRINK_SET(s->most_records, 0);
}

static bool faults_any_time(struct scenario *s)
{
    SHRINK_SET(s->faults_until, 0);
}

static bool journal(struct scenario *s)
{
    SHRINK_SET(s->receiver.database.journal, JOURNAL_TRUNCATE);
}

static bool synchronous(struct scenario *s)
{
    SHRINK_SET(s->receiver.database.synchronous, SYNC_FULL);
}

static bool page_size(struct scenario *s)
{
    SHRINK_SET(s->receiver.database.page_size, 1024);
}

static bool busy_timeout(struct scenario *s)
{
    SHRINK_SET(s->receiver.database.busy_timeout, 5 * SIM_S);
}

static bool clock_offset(struct scenario *s)
{
    SHRINK_SET(s->receiver.clock_offset, 0);
}

static bool clock_drift(struct scenario *s)
{
    SHRINK_SET(s->receiver.clock_drift, 0);
}

static bool step(struct scenario *s)
{
    return shrink_set_dist(&s->receiver.step, s->receiver.workers > 1 ? busy : still);
}

static bool no_work(struct scenario *s)
{
    return shrink_set_dist(&s->receiver.work, still);
}

static bool restart(struct scenario *s)
{
    return shrink_set_dist(&s->receiver.restart, shrink_constant(100 * SIM_MS));
}

static bool copy_after(struct scenario *s)
{
    struct dist usual = {.kind = DIST_UNIFORM, .b = SIM_S};
    return shrink_set_dist(&s->rates.copy_after, usual);
}

static bool pause_for(struct scenario *s)
{
    struct dist usual = {.kind = DIST_UNIFORM, .b = 5 * SIM_S};
    return shrink_set_dist(&s->rates.pause_for, usual);
}

static bool (*const settings[])(struct scenario *) = {
    no_contract, any_records,  faults_any_time, journal,     synchronous,
    page_size,   busy_timeout, clock_offset,    clock_drift, step,
    restart,     copy_after,   pause_for,       no_work,
};

/* A receiver asks something of its senders. */
static bool asks(const struct scenario *s)
{
    bool any = false;
    for (size_t i = 0; i < s->receiver_count; i++) {
        any = any || s->receivers[i].code->asks != NULL;
    }
    return any;
}

static bool try_setting(struct shrinker *x, struct scenario *other, bool changed)
{
    if (!changed) {
        scenario_fini(other);
        free(other);
        return false;
    }
    return shrink_try(x, other, x->seed);
}

/* Each setting of the receiver. */
static bool receiver_settings(struct shrinker *x, size_t receiver)
{
    const struct receiver *code = x->now->receivers[receiver].code;
    bool changed = false;
    for (size_t i = 0; i < settings_count(code) && !shrink_over(x); i++) {
        if (x->now->receivers[receiver].swept != NULL &&
            x->now->receivers[receiver].swept_setting == i) {
            continue; /* its name says the value */
        }
        struct scenario *other = shrink_copy(x);
        int64_t *value = &other->receivers[receiver].settings[i];
        bool differs = *value != code->settings[i].value;
        *value = code->settings[i].value;
        changed = try_setting(x, other, differs) || changed;
    }
    return changed;
}

static bool downstream_settings(struct shrinker *x)
{
    bool changed = false;
    const struct receiver *code = x->now->downstream != NULL ? x->now->downstream->code : NULL;
    for (size_t i = 0; code != NULL && i < settings_count(code) && !shrink_over(x); i++) {
        struct scenario *other = shrink_copy(x);
        int64_t *value = &other->downstream->settings[i];
        bool differs = *value != code->settings[i].value;
        *value = code->settings[i].value;
        changed = try_setting(x, other, differs) || changed;
    }
    return changed;
}

bool shrink_settings(struct shrinker *x)
{
    bool changed = false;
    for (size_t i = 0; i < shrink_beside_count && !shrink_over(x); i++) {
        struct scenario *other = shrink_copy(x);
        changed = try_setting(x, other, shrink_beside[i](other)) || changed;
    }
    for (size_t i = 0; i < ARRAY_LEN(settings) && !shrink_over(x); i++) {
        struct scenario *other = shrink_copy(x);
        changed = try_setting(x, other, settings[i](other)) || changed;
    }
    for (size_t i = 0; i < x->now->receiver_count; i++) {
        changed = receiver_settings(x, i) || changed;
    }
    changed = downstream_settings(x) || changed;
    for (size_t s = 0; s < x->now->sender_count; s++) {
        for (size_t i = 0; i < shrink_of_sender_count && !shrink_over(x); i++) {
            if (shrink_of_sender[i] == shrink_no_session && asks(x->now)) {
                continue; /* it would fail for want of one, which is another story */
            }
            struct scenario *other = shrink_copy(x);
            changed = try_setting(x, other, shrink_of_sender[i](&other->senders[s])) || changed;
        }
    }
    return changed;
}
