/* Fewer faults: chunks of the list, then each alone; and faults that move to an earlier attempt or
 * copy when the one that made the later attempt or copy necessary goes.
 */
#include "sim/shrink_internal.h"

#include <stdlib.h>
#include <string.h>

/* The present faults, to be changed; behind them there is room for one. */
static struct fault *copy_faults(const struct shrinker *x)
{
    size_t count = x->now->fault_count;
    struct fault *list = sim_alloc((count + 1) * sizeof(*list));
    if (count > 0) {
        memcpy(list, x->now->faults, count * sizeof(*list));
    }
    return list;
}

static bool without(struct shrinker *x, size_t first, size_t count)
{
    struct fault *list = copy_faults(x);
    size_t total = x->now->fault_count;
    memmove(list + first, list + first + count, (total - first - count) * sizeof(*list));
    bool good = shrink_try_faults(x, list, total - count);
    free(list);
    return good;
}

bool shrink_faults(struct shrinker *x)
{
    bool changed = false;
    for (size_t chunk = x->now->fault_count; chunk > 0; chunk /= 2) {
        for (size_t i = 0; i < x->now->fault_count;) {
            size_t rest = x->now->fault_count - i;
            if (without(x, i, chunk < rest ? chunk : rest)) {
                changed = true;
            } else {
                i += chunk;
            }
            if (shrink_over(x)) {
                return changed;
            }
        }
    }
    return changed;
}

/* What becomes of the faults that are left when one goes: they move to the attempt before, to the
 * copy before, or both; of its operation, or of all, since what befalls one can delay another. */
enum shift {
    SHIFT_ATTEMPT,
    SHIFT_COPY,
    SHIFT_BOTH,
    SHIFTS_OF_ONE,
    SHIFT_ALL = SHIFTS_OF_ONE,
    SHIFTS
};

static void shift(struct rng_key *key, enum shift how, unsigned attempt)
{
    if (how != SHIFT_COPY && key->attempt > 1 && key->attempt >= attempt) {
        key->attempt--;
    }
    if (how != SHIFT_ATTEMPT && key->copy > 1) {
        key->copy--;
    }
}

static bool shift_without(struct shrinker *x, size_t gone, enum shift how)
{
    struct fault *list = copy_faults(x);
    size_t total = x->now->fault_count;
    struct site site = list[gone].site;
    memmove(list + gone, list + gone + 1, (total - gone - 1) * sizeof(*list));
    bool moved = false;
    for (size_t i = 0; i + 1 < total; i++) {
        struct rng_key before = list[i].site.key;
        if (how == SHIFT_ALL) {
            shift(&list[i].site.key, SHIFT_ATTEMPT, 1);
        } else if (list[i].site.op == site.op && site.op != 0) {
            shift(&list[i].site.key, how, site.key.attempt);
        }
        moved = moved || memcmp(&before, &list[i].site.key, sizeof(before)) != 0;
    }
    bool good = moved && shrink_try_faults(x, list, total - 1);
    free(list);
    return good;
}

static bool shift_alone(struct shrinker *x, size_t which, enum shift how)
{
    struct fault *list = copy_faults(x);
    struct rng_key before = list[which].site.key;
    shift(&list[which].site.key, how, 1);
    bool good = memcmp(&before, &list[which].site.key, sizeof(before)) != 0 &&
                shrink_try_faults(x, list, x->now->fault_count);
    free(list);
    return good;
}

bool shrink_shifts(struct shrinker *x)
{
    bool changed = false;
    for (size_t i = 0; i < x->now->fault_count && !shrink_over(x);) {
        bool gone = false;
        for (unsigned how = 0; how < SHIFTS && !gone; how++) {
            gone = shift_without(x, i, (enum shift)how);
        }
        changed = changed || gone;
        i += !gone;
    }
    for (size_t i = 0; i < x->now->fault_count && !shrink_over(x);) {
        bool moved = false;
        for (unsigned how = 0; how < SHIFTS_OF_ONE && !moved; how++) {
            moved = shift_alone(x, i, (enum shift)how);
        }
        changed = changed || moved;
        i += !moved;
    }
    return changed;
}
