/* What the steps of shrinking share: the smallest story so far, and the trial of a smaller one. */
#ifndef SIM_SHRINK_INTERNAL_H
#define SIM_SHRINK_INTERNAL_H

#include "sim/scenario_edit.h"
#include "sim/shrink.h"

struct shrinker {
    const struct shrink_task *task;
    FILE *errors;
    struct expectation expectation;
    struct scenario *now; /* the smallest that fails; owned, as its world and its result */
    struct world *world;
    struct result last;
    struct sending {
        uint64_t op, at;
        uint16_t attempt;
    } * sendings; /* of the last run, in order */
    size_t sending_count, sending_capacity;
    bool listed; /* there are no workloads any more, so histories are short enough to keep */
    uint64_t seed;
    uint64_t runs, events;
    enum shrink_end end;
};

/* No more trials. */
bool shrink_over(struct shrinker *x);
/* A copy of the present story, to be made smaller. */
struct scenario *shrink_copy(const struct shrinker *x);
/* Plays a candidate, which is taken over. True: it fails as it should and is the story from now on,
 * without the faults that did not fire. */
bool shrink_try(struct shrinker *x, struct scenario *candidate, uint64_t seed);
/* The same with other faults; cheaper. */
bool shrink_try_faults(struct shrinker *x, const struct fault *faults, size_t count);

/* The same while random faults may still strike. */
bool shrink_try_random(struct shrinker *x, struct scenario *candidate);

/* One run, counted. */
void shrink_play(struct shrinker *x, struct world *w, const struct fault *faults, size_t count,
                 uint64_t seed, struct result *r);
bool shrink_fails(const struct shrinker *x, const struct result *r);
bool shrink_all_fired(const struct result *r);
/* The result of x->world becomes the last one. */
void shrink_accept(struct shrinker *x, struct result *r);

/* When an attempt was sent in the last run; 0: never. */
uint64_t shrink_sent_at(const struct shrinker *x, uint64_t op, unsigned attempt);

/* One pass each. True: the story has become smaller. */
bool shrink_faults(struct shrinker *x); /* sim/shrink_faults.c */
bool shrink_shifts(struct shrinker *x);
bool shrink_focus(struct shrinker *x); /* sim/shrink_messages.c */
bool shrink_senders(struct shrinker *x);
bool shrink_messages(struct shrinker *x);
bool shrink_starts(struct shrinker *x);
bool shrink_moments(struct shrinker *x);
bool shrink_values(struct shrinker *x);  /* sim/shrink_values.c */
bool shrink_workers(struct shrinker *x); /* sim/shrink_settings.c */
bool shrink_attempts(struct shrinker *x);
bool shrink_network(struct shrinker *x);
bool shrink_settings(struct shrinker *x);

/* Simpler durations than ns, the simplest first, none twice; returns how many. zero: 0s is one. */
#define SHRINK_DURATIONS 24
size_t shrink_durations(uint64_t ns, bool zero, uint64_t out[SHRINK_DURATIONS]);

/* What the settings share: sim/shrink_settings.c, shrink_beside.c, shrink_sender.c. Each setting is
 * a function that makes it usual and says whether it was not. */
#define SHRINK_SET(field, usual)                                                                   \
    bool other = (field) != (usual);                                                               \
    (field) = (usual);                                                                             \
    return other
#define SHRINK_DELAY (20 * SIM_MS) /* the least of the default span */

static inline struct dist shrink_constant(uint64_t ns)
{
    return (struct dist){.kind = DIST_CONSTANT, .a = ns};
}
static inline bool shrink_same_dist(const struct dist *a, const struct dist *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->sigma == b->sigma;
}
static inline bool shrink_set_dist(struct dist *d, struct dist usual)
{
    bool other = !shrink_same_dist(d, &usual);
    *d = usual;
    return other;
}

extern bool (*const shrink_beside[])(struct scenario *);
extern const size_t shrink_beside_count;
extern bool (*const shrink_of_sender[])(struct sender_config *);
extern const size_t shrink_of_sender_count;
bool shrink_no_session(struct sender_config *c);

#endif
