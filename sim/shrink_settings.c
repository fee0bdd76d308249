/* Fewer workers, fewer attempts, a constant delay, default settings.
 *
 * A setting is one line in the list below: how it becomes simpler. False: it is as simple as it
 * gets.
 */
#include "sim/shrink_internal.h"

#include "sim/scenario_settings.h"

#include <stdlib.h>
#include <string.h>

static bool same_dist(const struct dist *a, const struct dist *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->sigma == b->sigma;
}

static bool set_dist(struct dist *d, struct dist usual)
{
    bool other = !same_dist(d, &usual);
    *d = usual;
    return other;
}

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

#define DELAY (20 * SIM_MS) /* the least of the default span */

static struct dist constant(uint64_t ns)
{
    return (struct dist){.kind = DIST_CONSTANT, .a = ns};
}

/* The simpler, the smaller. */
static unsigned delay_rank(const struct dist d[2])
{
    static const struct dist usual = {.kind = DIST_UNIFORM, .a = DELAY, .b = 4 * DELAY};
    bool equal = same_dist(&d[0], &d[1]);
    if (equal && d[0].kind == DIST_CONSTANT) {
        return d[0].a == DELAY ? 0 : 1;
    }
    if (d[0].kind == DIST_CONSTANT && d[1].kind == DIST_CONSTANT) {
        return 2;
    }
    if (equal) {
        return same_dist(&d[0], &usual) ? 3 : 4;
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
    struct dist usual = {.kind = DIST_UNIFORM, .a = DELAY, .b = 4 * DELAY};
    uint64_t m0 = middle(&now[0]), m1 = middle(&now[1]);
    const struct dist choices[][2] = {
        {constant(DELAY), constant(DELAY)},
        {constant(m0), constant(m0)},
        {constant(m1), constant(m1)},
        {constant(m0), constant(m1)},
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

#define SET(field, usual)                                                                          \
    bool other = (field) != (usual);                                                               \
    (field) = (usual);                                                                             \
    return other

static bool no_contract(struct scenario *s)
{
    SET(s->no_give_up, false);
}

static bool any_records(struct scenario *s)
{
    SET(s->most_records, 0);
}

static bool faults_any_time(struct scenario *s)
{
    SET(s->faults_until, 0);
}

static bool journal(struct scenario *s)
{
    SET(s->receiver.database.journal, JOURNAL_TRUNCATE);
}

static bool synchronous(struct scenario *s)
{
    SET(s->receiver.database.synchronous, SYNC_FULL);
}

static bool page_size(struct scenario *s)
{
    SET(s->receiver.database.page_size, 1024);
}

static bool busy_timeout(struct scenario *s)
{
    SET(s->receiver.database.busy_timeout, 5 * SIM_S);
}

static bool clock_offset(struct scenario *s)
{
    SET(s->receiver.clock_offset, 0);
}

static bool clock_drift(struct scenario *s)
{
    SET(s->receiver.clock_drift, 0);
}

static bool step(struct scenario *s)
{
    return set_dist(&s->receiver.step, s->receiver.workers > 1 ? busy : still);
}

static bool restart(struct scenario *s)
{
    return set_dist(&s->receiver.restart, constant(100 * SIM_MS));
}

static bool copy_after(struct scenario *s)
{
    struct dist usual = {.kind = DIST_UNIFORM, .b = SIM_S};
    return set_dist(&s->rates.copy_after, usual);
}

static bool pause_for(struct scenario *s)
{
    struct dist usual = {.kind = DIST_UNIFORM, .b = 5 * SIM_S};
    return set_dist(&s->rates.pause_for, usual);
}

static bool has_fault_at(const struct scenario *s, size_t count, const struct rng_key *key)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&s->faults[i].site.key, key, sizeof(*key)) == 0) {
            return true;
        }
    }
    return false;
}

/* Senders and receiver talk directly, and what befell a delivery or an ack befalls a request or a
 * reply. */
static bool no_broker(struct scenario *s)
{
    size_t kept = 0;
    if (!s->broker.on) {
        return false;
    }
    for (size_t i = 0; i < s->fault_count; i++) {
        struct rng_key *k = &s->faults[i].site.key;
        k->direction = k->direction == DELIVERY ? REQUEST : k->direction;
        k->direction = k->direction == ACK ? REPLY : k->direction;
        bool partition = k->draw == FAULT_PARTITION;
        bool gone = partition && (k->host == PLACE_BROKER || k->value == PLACE_BROKER);
        if (!gone && !has_fault_at(s, kept, k)) {
            s->faults[kept++] = s->faults[i];
        }
    }
    s->fault_count = kept;
    s->broker = (struct broker_config){0};
    return true;
}

static bool visibility(struct scenario *s)
{
    SET(s->broker.visibility, s->broker.on ? BROKER_VISIBILITY : 0);
}

static bool redeliver(struct scenario *s)
{
    SET(s->broker.redeliver, s->broker.on ? BROKER_REDELIVER : 0);
}

static bool at_once(struct scenario *s)
{
    SET(s->broker.after, 0);
}

static bool no_order(struct scenario *s)
{
    SET(s->broker.order, ORDER_NONE);
}

static bool usual_prefetch(struct scenario *s)
{
    SET(s->broker.prefetch, 0);
}

static bool no_replay(struct scenario *s)
{
    s->broker.replay_after = s->broker.on ? BROKER_REPLAY_AFTER : 0;
    SET(s->broker.replay, false);
}

static bool replay_after(struct scenario *s)
{
    SET(s->broker.replay_after, s->broker.on ? BROKER_REPLAY_AFTER : 0);
}

static bool no_duplicate_window(struct scenario *s)
{
    bool queued = s->broker.while_queued, other = s->broker.duplicate_window > 0;
    s->broker.while_queued = false;
    s->broker.duplicate_window = 0;
    return queued || other;
}

static bool late_acks_work(struct scenario *s)
{
    SET(s->broker.late_ack_fails, false);
}

static bool (*const settings[])(struct scenario *) = {
    no_broker,      no_contract,  any_records,  faults_any_time,     journal,        synchronous,
    page_size,      busy_timeout, clock_offset, clock_drift,         step,           restart,
    copy_after,     pause_for,    visibility,   redeliver,           at_once,        no_order,
    usual_prefetch, no_replay,    replay_after, no_duplicate_window, late_acks_work,
};

/* Of one sender. */
static bool closed_loop(struct sender_config *c)
{
    c->gap = (struct dist){0};
    SET(c->open_loop, false);
}

static bool one_in_flight(struct sender_config *c)
{
    SET(c->in_flight, 1);
}

static bool honest(struct sender_config *c)
{
    SET(c->give_up_is_failed, false);
}

static bool sender_offset(struct sender_config *c)
{
    SET(c->clock_offset, 0);
}

static bool sender_drift(struct sender_config *c)
{
    SET(c->clock_drift, 0);
}

static bool no_deadline(struct sender_config *c)
{
    SET(c->retry.deadline, 0);
}

static bool no_timeout(struct sender_config *c)
{
    SET(c->retry.timeout, 0);
}

static bool fixed_backoff(struct sender_config *c)
{
    c->retry.max = 60 * SIM_S > c->retry.after ? 60 * SIM_S : c->retry.after;
    SET(c->retry.backoff, BACKOFF_FIXED);
}

static bool usual_max(struct sender_config *c)
{
    SET(c->retry.max, 60 * SIM_S > c->retry.after ? 60 * SIM_S : c->retry.after);
}

static bool retry_after_1s(struct sender_config *c)
{
    c->retry.max = c->retry.max > SIM_S ? c->retry.max : SIM_S;
    SET(c->retry.after, SIM_S);
}

/* No message has a key of its own. */
static bool own_keys(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].key != NULL;
        free(c->messages[i].key);
        c->messages[i].key = NULL;
    }
    return changed;
}

static bool stable_keys(struct sender_config *c)
{
    SET(c->keys, KEYS_STABLE);
}

static bool stable_body(struct sender_config *c)
{
    SET(c->stamped, false);
}

static bool stable_groups(struct sender_config *c)
{
    SET(c->group_changes, false);
}

/* The group of every message is its entity. */
static bool own_groups(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].group != NULL;
        free(c->messages[i].group);
        c->messages[i].group = NULL;
    }
    return changed;
}

static bool only_adds(struct sender_config *c)
{
    bool changed = c->workload.effect != EFFECT_ADD;
    c->workload.effect = EFFECT_ADD;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].effect != EFFECT_ADD;
        c->messages[i].effect = EFFECT_ADD;
    }
    return changed;
}

static bool no_versions(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].version != 0;
        c->messages[i].version = 0;
    }
    return changed;
}

static bool all_valid(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].invalid;
        c->messages[i].invalid = false;
    }
    return changed;
}

static bool none_declined(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].declined != 0;
        c->messages[i].declined = 0;
    }
    return changed;
}

static bool (*const sender_settings[])(struct sender_config *) = {
    closed_loop, one_in_flight, honest,        sender_offset, sender_drift,
    no_deadline, no_timeout,    fixed_backoff, usual_max,     retry_after_1s,
    own_keys,    stable_keys,   stable_body,   stable_groups, own_groups,
    only_adds,   no_versions,   all_valid,     none_declined,
};

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

bool shrink_settings(struct shrinker *x)
{
    bool changed = false;
    for (size_t i = 0; i < ARRAY_LEN(settings) && !shrink_over(x); i++) {
        struct scenario *other = shrink_copy(x);
        changed = try_setting(x, other, settings[i](other)) || changed;
    }
    for (size_t i = 0; i < x->now->receiver_count; i++) {
        changed = receiver_settings(x, i) || changed;
    }
    for (size_t s = 0; s < x->now->sender_count; s++) {
        for (size_t i = 0; i < ARRAY_LEN(sender_settings) && !shrink_over(x); i++) {
            struct scenario *other = shrink_copy(x);
            changed = try_setting(x, other, sender_settings[i](&other->senders[s])) || changed;
        }
    }
    return changed;
}
