/* Decides which sites fire.
 *
 * A run is a scenario, a seed and the set of sites that fire. The world asks at each site; a listed
 * fault fires where its site is reached, a random rate fires when the site's keyed number says so.
 * Each evaluation has an index; a site is evaluated at most once in a run.
 *
 * Owns: the list of faults that fired. Borrows: the listed faults.
 */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include "sim/site.h"

/* Odds per site. Zeroed: never. A crash site is every step boundary and every disk operation. */
struct fault_rates {
    struct ratio lose[2]; /* by direction_leg: a call's odds are a request's */
    struct ratio duplicate[2];
    struct ratio crash; /* the process alone */
    struct ratio power; /* power loss, any value */
    struct ratio pause;
    struct ratio store;
    struct ratio handler;
    struct dist copy_after; /* how much later a random duplicate follows */
    struct dist pause_for;
};

/* What the fate of a listed fault was. */
enum fault_fate {
    FATE_UNREACHED,
    FATE_FIRED,
    FATE_NOT_APPLICABLE,
    FATE_HELD, /* of the whole world: took hold, and nothing met it in this run */
};

/* A site that was reached while faults may strike, told to whoever explores or lists. */
struct schedule_observer {
    void *context;
    void (*reached)(void *context, const struct site *site, uint64_t index);
};

struct schedule {
    uint64_t seed;
    uint64_t until; /* no site fires after this time */
    const struct fault *listed;
    uint8_t *fates; /* enum fault_fate of each listed fault */
    size_t listed_count;
    const struct fault_rates *rates;
    uint32_t armed; /* bit of each kind that a rate or a listed fault could make fire */
    uint64_t evaluated;
    struct fault *fired; /* in order */
    size_t fired_count, fired_capacity;
    struct schedule_observer observer;
};

void schedule_init(struct schedule *s);
void schedule_fini(struct schedule *s);
/* Starts a run. listed and rates are borrowed until the next reset; rates may be NULL. */
void schedule_reset(struct schedule *s, uint64_t seed, uint64_t until, const struct fault *listed,
                    size_t count, const struct fault_rates *rates);

/* schedule_fires behind its quick refusal. */
bool schedule_ask(struct schedule *s, const struct site *site, uint64_t now,
                  struct fault_value *value);

/* True: the site fires, with *value. Each call is one evaluation. */
static inline bool schedule_fires(struct schedule *s, const struct site *site, uint64_t now,
                                  struct fault_value *value)
{
    s->evaluated++;
    if (!(s->armed >> site->key.draw & 1)) {
        return false;
    }
    return schedule_ask(s, site, now, value);
}
/* True: nothing can fire or be observed at sites of this kind, so asking may be skipped if the
 * evaluation is counted with schedule_skip. */
static inline bool schedule_quiet(const struct schedule *s, enum fault_kind kind)
{
    return !(s->armed >> kind & 1);
}
static inline void schedule_skip(struct schedule *s, unsigned sites)
{
    s->evaluated += sites;
}

#endif
