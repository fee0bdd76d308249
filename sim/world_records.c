/* How many records the receiver keeps, and how many it may: bounded-records.
 *
 * In: deliveries that are over, deaths and restarts, moments of virtual time. Out: counts of the
 * receiver's table on the auditor's copy of the disk, each against what may be there at that time.
 * Nothing here changes a history: no event, no draw, no record but a violation.
 *
 * The bound, where the contract does not name it: an operation that was under way in the last W, or
 * is so now, may have a record. W is the longer of the contract's window and the receiver's own
 * retention, and what may pass before a sweep removes what has expired. Counted are operations, or
 * their deliveries where attempts of one may make records of their own.
 */
#include "sim/cover.h"
#include "sim/world_internal.h"

#include "receivers/retention.h"

#include <stdlib.h>

#define FIRST_GAP SIM_S
#define SAMPLES_MAX 63 /* in a run, besides the one at its end */
#define SAMPLES_A_GAP 3

static bool sweeps(const struct world *w)
{
    const struct scenario_receiver *r = &w->scenario->receivers[w->receiver];
    return r->code->keeping != NULL && r->code->settings != NULL &&
           (r->settings[RETENTION_REMOVAL] == REMOVAL_SWEEP ||
            r->settings[RETENTION_REMOVAL] == REMOVAL_BOTH);
}

static bool one_record_an_operation(const struct scenario *s)
{
    for (size_t i = 0; i < s->sender_count; i++) {
        const struct sender_config *c = &s->senders[i];
        if (c->keys == KEYS_NEW_PER_ATTEMPT || c->stamped || c->group_changes) {
            return false;
        }
    }
    return true;
}

/* What a date by another clock than the receiver's may be ahead. */
static uint64_t sender_ahead(const struct world *w)
{
    int64_t worst = 0;
    for (size_t i = 0; w->verdict.dated_by_sender && i < w->scenario->sender_count; i++) {
        int64_t by = w->scenario->senders[i].clock_offset - w->scenario->receiver.clock_offset;
        worst = by > worst ? by : worst;
    }
    return (uint64_t)worst;
}

void world_records_start(struct world *w, bool counted)
{
    struct world_records *c = &w->records;
    const struct scenario *s = w->scenario;
    const struct promise *p = &w->verdict.promise;
    uint64_t window = s->window > p->retention ? s->window : p->retention;
    *c = (struct world_records){.touches = c->touches, .capacity = c->capacity};
    c->counted = counted && w->auditor.records != NULL;
    c->limited = w->auditor.records != NULL &&
                 (w->verdict.checks & CHECK_BIT(CHECK_BOUNDED_RECORDS)) &&
                 (s->most_records > 0 || window > 0 || p->records > 0);
    c->most_allowed = s->most_records > 0 ? s->most_records : p->records;
    c->window = s->most_records > 0 ? 0 : window;
    c->single = one_record_an_operation(s);
    if (c->window > 0) {
        c->window += cover_clock_error(s, window, false) + sender_ahead(w);
    }
    if (sweeps(w)) {
        c->sweep = (uint64_t)s->receivers[w->receiver].settings[RETENTION_SWEEP];
    }
    c->gap = FIRST_GAP;
    /* A sweep over a setting shows what each value keeps. */
    bool sampled = c->limited || (c->counted && s->receivers[w->receiver].swept != NULL);
    c->next = sampled ? SIM_START + FIRST_GAP : SIM_TIME_MAX;
}

void world_records_fini(struct world *w)
{
    free(w->records.touches);
}

/* A delivery of op is over. */
void world_touch(struct world *w, struct operation *op)
{
    struct world_records *c = &w->records;
    if (!c->limited || c->window == 0) {
        return;
    }
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 64;
        c->touches = sim_realloc(c->touches, c->capacity, sizeof(c->touches[0]));
    }
    if (op->touched > 0 && c->single) {
        c->touches[op->touched - 1] = 0;
    }
    c->touches[c->count++] = w->run.now;
    op->touched = c->count;
}

void world_records_died(struct world *w)
{
    w->records.died_at = w->run.now;
}

void world_records_restarted(struct world *w)
{
    struct world_records *c = &w->records;
    if (c->died_at > 0) {
        c->down += w->run.now - c->died_at + c->sweep; /* its sweeps begin anew */
        c->died_at = 0;
    }
}

/* The most records that there may be; at: the time of the latest event that was dealt with. */
static uint64_t bound(const struct world *w, uint64_t at)
{
    const struct world_records *c = &w->records;
    if (c->window == 0) {
        return c->most_allowed;
    }
    uint64_t back = c->window;
    if (c->sweep > 0) {
        /* One period until it comes, and one more where it did not get the lock. */
        back += 2 * c->sweep + c->down + (c->died_at > 0 ? at - c->died_at : 0);
    }
    uint64_t from = at > back ? at - back : 0, n = 0;
    for (size_t i = c->count; i > 0 && (c->touches[i - 1] == 0 || c->touches[i - 1] > from); i--) {
        n += c->touches[i - 1] != 0;
    }
    for (uint32_t i = 0; i < w->operations.count; i++) {
        const struct operation *op = w->operations.slots[i];
        bool in_window = op->touched > 0 && c->touches[op->touched - 1] > from;
        if (op->op != 0 && op->in_flight > 0) {
            n += c->single ? !in_window : op->in_flight;
        }
    }
    return c->most_allowed > 0 && c->most_allowed < n ? c->most_allowed : n;
}

static void take(struct world *w, const struct disk *of, uint64_t at)
{
    struct world_records *c = &w->records;
    struct record_counts n = auditor_count(&w->auditor, of);
    c->at_end = n;
    if (!n.known) {
        return;
    }
    c->most = n.records > c->most ? n.records : c->most;
    if (c->limited) {
        verdict_records(&w->verdict, n.records, bound(w, at));
    }
}

/* The first event after a moment of counting; before: the time of the event before it. */
void world_sample(struct world *w, uint64_t before)
{
    struct world_records *c = &w->records;
    take(w, w->host.disk, before);
    if (++c->samples % SAMPLES_A_GAP == 0) {
        c->gap *= 2;
    }
    c->next = c->samples < SAMPLES_MAX ? w->run.now + c->gap : SIM_TIME_MAX;
}

/* Behind the last audit, whose copy of the disk is read. quiet: the receiver was up and handled
 * nothing when the run ended. */
void world_records_end(struct world *w, bool quiet)
{
    bool judged = w->verdict.checks & CHECK_BIT(CHECK_BOUNDED_RECORDS);
    if (!w->records.counted && !judged) {
        return;
    }
    take(w, NULL, w->run.now);
    if (judged && quiet && w->records.at_end.known) {
        verdict_unowned(&w->verdict, w->records.at_end.unowned);
    }
}
