/* In: sites, in the order in which a run reaches them. Out: whether each fires, with which value.
 *
 * A listed fault is found by its site's key. Lists are short, so a scan is enough; the scan happens
 * only for kinds that are armed. A random rate compares the site's keyed number with its odds; the
 * value of a site that fires is a further number of the same key.
 */
#include "sim/schedule.h"

#include "sim/crash.h"

#include <stdlib.h>
#include <string.h>

void schedule_init(struct schedule *s)
{
    memset(s, 0, sizeof(*s));
}

void schedule_fini(struct schedule *s)
{
    free(s->fates);
    free(s->fired);
    memset(s, 0, sizeof(*s));
}

static uint32_t rates_armed(const struct fault_rates *r)
{
    uint32_t armed = 0;
    armed |= r->lose[0].num || r->lose[1].num ? 1u << FAULT_LOSE : 0;
    armed |= r->duplicate[0].num || r->duplicate[1].num ? 1u << FAULT_DUPLICATE : 0;
    armed |= r->crash.num || r->power.num ? 1u << FAULT_CRASH : 0;
    armed |= r->pause.num ? 1u << FAULT_PAUSE : 0;
    armed |= r->store.num ? 1u << FAULT_STORE : 0;
    armed |= r->handler.num ? 1u << FAULT_HANDLER : 0;
    return armed;
}

void schedule_reset(struct schedule *s, uint64_t seed, uint64_t until, const struct fault *listed,
                    size_t count, const struct fault_rates *rates)
{
    s->seed = seed;
    s->until = until;
    s->listed = listed;
    if (count > s->listed_count || s->fates == NULL) {
        s->fates = sim_realloc(s->fates, count, sizeof(s->fates[0]));
    }
    memset(s->fates, FATE_UNREACHED, count);
    s->listed_count = count;
    s->rates = rates;
    s->armed = rates ? rates_armed(rates) : 0;
    for (size_t i = 0; i < count; i++) {
        s->armed |= 1u << fault_kind(&listed[i]);
    }
    if (s->observer.reached) {
        s->armed = UINT32_MAX;
    }
    s->evaluated = 0;
    s->fired_count = 0;
}

static void remember(struct schedule *s, const struct site *site, const struct fault_value *value,
                     const struct fault *from)
{
    if (s->fired_count == s->fired_capacity) {
        s->fired_capacity = s->fired_capacity ? 2 * s->fired_capacity : 16;
        s->fired = sim_realloc(s->fired, s->fired_capacity, sizeof(s->fired[0]));
    }
    struct fault *f = &s->fired[s->fired_count++];
    *f = (struct fault){.site = *site, .value = *value};
    if (from) {
        f->line = from->line;
        f->column = from->column;
    }
}

/* Several numbers of one site: the first decides whether it fires, the others its value. */
static uint64_t draw(const struct schedule *s, const struct site *site, uint8_t which)
{
    struct rng_key key = site->key;
    key.value = which;
    return rng_keyed(s->seed, &key);
}

static bool random_crash(const struct schedule *s, const struct site *site,
                         struct fault_value *value)
{
    if (s->rates->power.num && rng_chance(draw(s, site, 1), s->rates->power)) {
        /* Any of the six power values; a count beyond what is unsynced acts as "all". */
        value->choice = (uint8_t)rng_range(draw(s, site, 2), CRASH_NONE, CRASH_TORN);
        value->n = crash_mode_counted((enum crash_mode)value->choice)
                       ? (uint32_t)rng_range(draw(s, site, 3), 1, 12)
                       : 0;
        return true;
    }
    value->choice = CRASH_PROCESS;
    return s->rates->crash.num && rng_chance(draw(s, site, 0), s->rates->crash);
}

static bool random_fires(const struct schedule *s, const struct site *site,
                         struct fault_value *value)
{
    const struct fault_rates *r = s->rates;
    unsigned leg = direction_leg((enum direction)site->key.direction);
    switch ((enum fault_kind)site->key.draw) {
    case FAULT_LOSE:
        return r->lose[leg].num && rng_chance(draw(s, site, 0), r->lose[leg]);
    case FAULT_DUPLICATE:
        value->n = 1;
        value->time = dist_sample(&r->copy_after, draw(s, site, 1));
        return r->duplicate[leg].num && rng_chance(draw(s, site, 0), r->duplicate[leg]);
    case FAULT_CRASH:
        return random_crash(s, site, value);
    case FAULT_PAUSE:
        value->time = dist_sample(&r->pause_for, draw(s, site, 1));
        return r->pause.num && rng_chance(draw(s, site, 0), r->pause);
    case FAULT_STORE:
        value->choice = (uint8_t)rng_range(draw(s, site, 1), STORE_NOT_APPLIED, STORE_FULL);
        return r->store.num && rng_chance(draw(s, site, 0), r->store);
    case FAULT_HANDLER:
        return r->handler.num && rng_chance(draw(s, site, 0), r->handler);
    case FAULT_DELAY: /* random delays are the network's distribution */
    case FAULT_CLOCK:
    case FAULT_PARTITION:
    case FAULT_LYING_DISK:
    case FAULT_STOP:
    case FAULT_SENDER_CRASH:
    case FAULT_SENDER_AMNESIA:
    case FAULT_NONE:
    case FAULT_KIND_COUNT:
        return false;
    }
    return false;
}

bool schedule_ask(struct schedule *s, const struct site *site, uint64_t now,
                  struct fault_value *value)
{
    if (now > s->until) {
        return false;
    }
    if (s->observer.reached) {
        s->observer.reached(s->observer.context, site, s->evaluated - 1);
    }
    for (size_t i = 0; i < s->listed_count; i++) {
        const struct fault *f = &s->listed[i];
        if (memcmp(&f->site.key, &site->key, sizeof(site->key)) == 0) {
            s->fates[i] = FATE_FIRED;
            *value = f->value;
            remember(s, site, value, f);
            return true;
        }
    }
    *value = (struct fault_value){0};
    if (s->rates && random_fires(s, site, value)) {
        remember(s, site, value, NULL);
        return true;
    }
    return false;
}
