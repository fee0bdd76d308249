/* Fewer messages, and those without times of their own.
 *
 * A message that goes moves those behind it in their loop to other moments. Each candidate is
 * therefore tried twice: as the loop has it then, and with every message sent at the moment at
 * which it was sent before (`at:`).
 */
#include "sim/shrink_internal.h"

#include <stdlib.h>
#include <string.h>

#define FOCUS_MAX 3 /* violations that are tried alone */

static struct listed_message *message_at(struct scenario *s, size_t place)
{
    for (size_t i = 0; i < s->sender_count; i++) {
        if (place < s->senders[i].message_count) {
            return &s->senders[i].messages[place];
        }
        place -= s->senders[i].message_count;
    }
    must(!"a listed message");
}

static size_t place_of(const struct scenario *s, uint64_t op)
{
    op = op_is_follow(op) ? op_parent(op) : op;
    size_t place = op_number(op) - 1;
    for (size_t i = 0; i < op_sender(op) - PLACE_SENDER; i++) {
        place += s->senders[i].message_count;
    }
    return place;
}

static bool drop(struct scenario *s)
{
    scenario_fini(s);
    free(s);
    return false;
}

/* Every message gets the time of its first send. False: all have one already. */
static bool pin(const struct shrinker *x, struct scenario *s)
{
    bool changed = false;
    for (size_t i = 0; i < s->sender_count; i++) {
        for (size_t n = 0; n < s->senders[i].message_count; n++) {
            struct listed_message *m = &s->senders[i].messages[n];
            changed = changed || m->at == 0;
            m->at = m->at != 0 ? m->at
                               : shrink_sent_at(x, op_make(PLACE_SENDER + (unsigned)i, n + 1), 1);
        }
    }
    return changed;
}

static bool try_keep(struct shrinker *x, const bool *keep, bool pinned)
{
    struct scenario *fewer = shrink_copy(x);
    if (pinned && !pin(x, fewer)) {
        return drop(fewer);
    }
    scenario_keep_messages(fewer, keep);
    return fewer->sender_count > 0 ? shrink_try(x, fewer, x->seed) : drop(fewer);
}

static bool keep_only(struct shrinker *x, const bool *keep)
{
    return try_keep(x, keep, false) || try_keep(x, keep, true);
}

/* The operation of a violation alone, with what has the same entity, with what faults name. */
static bool focus_on(struct shrinker *x, uint64_t op)
{
    size_t count = scenario_listed(x->now), kept = 1;
    bool *keep = sim_zalloc(count, sizeof(*keep));
    size_t place = place_of(x->now, op);
    keep[place] = true;
    bool good = keep_only(x, keep);
    uint32_t entity = good ? 0 : message_at(x->now, place)->entity;
    for (size_t i = 0; i < count && !good; i++) {
        bool related = message_at(x->now, i)->entity == entity;
        kept += related && !keep[i];
        keep[i] = keep[i] || related;
    }
    good = good || (kept > 1 && kept < count && keep_only(x, keep));
    size_t before = kept;
    for (size_t i = 0; i < x->now->fault_count && !good; i++) {
        uint64_t named = x->now->faults[i].site.op;
        named = op_is_follow(named) ? op_parent(named) : named;
        bool listed = named != 0 && !op_is_job(named) && !op_opens_session(named);
        bool *k = listed ? &keep[place_of(x->now, named)] : NULL;
        kept += k != NULL && !*k;
        if (k != NULL) {
            *k = true;
        }
    }
    good = good || (kept > before && kept < count && keep_only(x, keep));
    free(keep);
    return good;
}

bool shrink_focus(struct shrinker *x)
{
    uint64_t ops[FOCUS_MAX];
    size_t count = 0;
    if (scenario_listed(x->now) < 2) {
        return false;
    }
    for (size_t i = 0; i < x->last.violation_count && count < FOCUS_MAX; i++) {
        const struct violation *v = &x->last.violations[i];
        if (v->check == x->task->check && v->op != 0 && !op_opens_session(v->op)) {
            ops[count++] = v->op;
        }
    }
    for (size_t i = 0; i < count && !shrink_over(x); i++) {
        if (focus_on(x, ops[i])) {
            return true;
        }
    }
    return false;
}

/* Messages first..first+count-1 go. */
static bool without(struct shrinker *x, size_t first, size_t count)
{
    size_t total = scenario_listed(x->now);
    if (total <= count) {
        return false;
    }
    bool *keep = sim_alloc(total * sizeof(*keep));
    for (size_t i = 0; i < total; i++) {
        keep[i] = i < first || i >= first + count;
    }
    bool good = keep_only(x, keep);
    free(keep);
    return good;
}

bool shrink_senders(struct shrinker *x)
{
    bool changed = false;
    size_t first = 0;
    for (size_t i = 0; i < x->now->sender_count && x->now->sender_count > 1;) {
        size_t count = x->now->senders[i].message_count;
        if (without(x, first, count)) {
            changed = true;
        } else {
            first += count;
            i++;
        }
    }
    return changed;
}

bool shrink_messages(struct shrinker *x)
{
    bool changed = false;
    for (size_t chunk = scenario_listed(x->now) / 2; chunk > 0; chunk /= 2) {
        for (size_t i = 0; i < scenario_listed(x->now) && !shrink_over(x);) {
            size_t rest = scenario_listed(x->now) - i;
            if (without(x, i, chunk < rest ? chunk : rest)) {
                changed = true;
            } else {
                i += chunk;
            }
        }
    }
    return changed;
}

/* ---- moments ---- */

/* A message whose later attempt matters is sent for the first time when that attempt was: its
 * faults before go, those from there on move to the first attempts. */
static bool start_late(struct shrinker *x, uint64_t op, unsigned attempt)
{
    struct scenario *later = shrink_copy(x);
    struct fault *f = later->faults;
    size_t count = 0;
    for (size_t i = 0; i < later->fault_count; i++) {
        struct fault one = f[i];
        bool own = one.site.op == op && one.site.key.attempt > 0;
        if (own && one.site.key.attempt < attempt) {
            continue;
        }
        one.site.key.attempt = (uint16_t)(one.site.key.attempt - (own ? attempt - 1 : 0));
        f[count++] = one;
    }
    later->fault_count = count;
    message_at(later, place_of(later, op))->at = shrink_sent_at(x, op, attempt);
    return shrink_try(x, later, x->seed);
}

bool shrink_starts(struct shrinker *x)
{
    bool changed = false;
    for (size_t i = 0; i < x->now->fault_count && !shrink_over(x);) {
        struct site site = x->now->faults[i].site;
        bool listed = site.op != 0 && !op_is_job(site.op) && !op_opens_session(site.op) &&
                      !op_is_follow(site.op);
        bool good = listed && site.key.attempt > 1 && start_late(x, site.op, site.key.attempt);
        changed = changed || good;
        i += !good;
    }
    return changed;
}

static bool try_at(struct shrinker *x, size_t place, uint64_t at)
{
    struct scenario *other = shrink_copy(x);
    message_at(other, place)->at = at;
    return shrink_try(x, other, x->seed);
}

static bool no_times(struct shrinker *x, size_t count)
{
    struct scenario *other = shrink_copy(x);
    for (size_t i = 0; i < count; i++) {
        message_at(other, i)->at = 0;
    }
    return shrink_try(x, other, x->seed);
}

bool shrink_moments(struct shrinker *x)
{
    size_t count = scenario_listed(x->now), timed = 0;
    for (size_t i = 0; i < count; i++) {
        timed += message_at(x->now, i)->at != 0;
    }
    if (timed > 1 && no_times(x, count)) {
        return true;
    }
    bool changed = false;
    for (size_t i = 0; i < count && !shrink_over(x); i++) {
        uint64_t at = message_at(x->now, i)->at, simpler[SHRINK_DURATIONS];
        if (at == 0) {
            continue;
        }
        bool good = try_at(x, i, 0);
        size_t n = good ? 0 : shrink_durations(at, false, simpler);
        for (size_t k = 0; k < n && !good; k++) {
            good = simpler[k] >= SIM_START && try_at(x, i, simpler[k]);
        }
        changed = changed || good;
    }
    return changed;
}
