/* From a run that has ended to its result. */
#include "sim/world_internal.h"

#include <string.h>

static void fill_counters(const struct world *w, struct result *r)
{
    const struct host_counters *c = &w->host.counters;
    r->deliveries = c->deliveries;
    r->duplicates = c->repeated_deliveries;
    r->handlings = c->handlings;
    r->crashes = c->crashes;
    r->restarts = c->restarts;
    r->premature = c->premature;
    r->copies = w->network.copies;
    r->lost = w->network.lost;
    r->dead_letters = w->broker.dead_letters;
    r->replayed = w->broker.replayed;
    r->kept_out = w->broker.kept_out;
    for (size_t i = 0; i < w->scenario->sender_count; i++) {
        const struct sender *s = &w->senders[i];
        r->attempts += s->attempts;
        r->gave_up += s->gave_up;
        r->costs.latency_sum += s->latency_sum;
        r->costs.latency_count += s->closed_done;
        r->costs.latency_max =
            s->latency_max > r->costs.latency_max ? s->latency_max : r->costs.latency_max;
    }
    r->costs.sql_fresh = c->sql_fresh;
    r->costs.sql_duplicate = c->sql_duplicate;
    r->costs.handlings_fresh = c->handlings_fresh;
    r->costs.handlings_duplicate = c->handlings_duplicate;
}

/* list may be NULL where there are no bytes. */
static void *copy_of(const void *list, size_t bytes)
{
    void *copy = sim_alloc(bytes);
    if (bytes > 0) {
        memcpy(copy, list, bytes);
    }
    return copy;
}

/* What the stage downstream judged, beside what the first did. */
static void add_downstream(const struct world *w, struct result *r)
{
    const struct downstream *d = &w->downstream;
    const struct verdict *v = &d->verdict;
    if (!d->on) {
        return;
    }
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        r->violated[c] += v->violated[c];
        r->judged[c] += v->judged[c];
    }
    size_t more = v->kept < VIOLATIONS_KEPT - r->violation_count
                      ? v->kept
                      : VIOLATIONS_KEPT - r->violation_count;
    r->violations =
        sim_realloc(r->violations, r->violation_count + more + 1, sizeof(r->violations[0]));
    memcpy(r->violations + r->violation_count, v->violations, more * sizeof(v->violations[0]));
    r->violation_count += more;
    r->repeated += v->repeated;
    r->follow_ons = d->outlet.messages;
    r->follow_deliveries = d->host.counters.deliveries;
    r->follow_effects = v->effects;
    r->crashes += d->host.counters.crashes;
    r->restarts += d->host.counters.restarts;
    r->premature += d->host.counters.premature;
    r->copies += d->network.copies;
    r->lost += d->network.lost;
}

static void fill_verdict(const struct world *w, struct result *r)
{
    const struct verdict *v = &w->verdict;
    r->checks = v->checks;
    r->operations = v->operations;
    r->effects = v->effects;
    r->calls = v->calls;
    r->external = v->external;
    r->repeated = v->repeated;
    r->doubled = v->doubled;
    r->beyond = v->beyond;
    r->late = v->late;
    r->with_effect = v->with_effect;
    r->unfinishable = v->unfinishable;
    memcpy(r->violated, v->violated, sizeof(r->violated));
    memcpy(r->judged, v->judged, sizeof(r->judged));
    r->violation_count = v->kept;
    r->violations = copy_of(v->violations, v->kept * sizeof(v->violations[0]));
    const struct schedule *s = &w->run.schedule;
    r->fired_count = s->fired_count;
    r->fired = copy_of(s->fired, s->fired_count * sizeof(s->fired[0]));
    r->listed_count = s->listed_count;
    r->fates = copy_of(s->fates, s->listed_count * sizeof(s->fates[0]));
}

void world_fill_result(struct world *w, struct result *r)
{
    world_settle_faults(w);
    fill_counters(w, r);
    fill_verdict(w, r);
    add_downstream(w, r);
    r->has_records = w->records.counted && w->records.at_end.known;
    r->records = w->records.at_end.records;
    r->records_most = w->records.most;
}
