/* Simpler faults: the process and not the power, fewer copies, rounder times, earlier places.
 *
 * Values are ordered; only one that comes before the present value is tried, so this ends.
 */
#include "sim/shrink_internal.h"

#include <stdlib.h>
#include <string.h>

#include "sim/crash.h"

/* ---- durations ---- */

/* The simplest, then multiples of a second, of 100 ms, of 10 ms, of 1 ms, then all others; of two
 * alike the smaller. */
static const uint64_t simplest[] = {SIM_S,        2 * SIM_S,   5 * SIM_S,    10 * SIM_S,
                                    60 * SIM_S,   600 * SIM_S, 3600 * SIM_S, 86400 * SIM_S,
                                    100 * SIM_MS, 10 * SIM_MS};
static const uint64_t units[] = {SIM_S, 100 * SIM_MS, 10 * SIM_MS, SIM_MS};

static size_t rank(uint64_t ns)
{
    if (ns == 0) {
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(simplest); i++) {
        if (ns == simplest[i]) {
            return 1 + i;
        }
    }
    size_t i = 0;
    while (i < ARRAY_LEN(units) && ns % units[i] != 0) {
        i++;
    }
    return 1 + ARRAY_LEN(simplest) + i;
}

size_t shrink_durations(uint64_t ns, bool zero, uint64_t out[SHRINK_DURATIONS])
{
    size_t count = 0, own = rank(ns);
    if (zero && ns != 0) {
        out[count++] = 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(simplest) && 1 + i < own; i++) {
        out[count++] = simplest[i];
    }
    for (size_t i = 0; i < ARRAY_LEN(units) && own > ARRAY_LEN(simplest) && ns > 0; i++) {
        uint64_t down = ns - ns % units[i];
        uint64_t both[] = {down, down + units[i]};
        for (size_t k = 0; k < ARRAY_LEN(both); k++) {
            bool new = true;
            for (size_t j = 0; j < count; j++) {
                new = new &&out[j] != both[k];
            }
            /* A sum of two stays below the reader's bound by far for all that rounding adds. */
            if (new &&both[k] != 0 && both[k] <= (uint64_t)CLOCK_OFFSET_MAX &&
                rank(both[k]) < own) {
                out[count++] = both[k];
            }
        }
    }
    must(count <= SHRINK_DURATIONS);
    return count;
}

/* ---- one fault ---- */

/* The fault at `which`, changed. */
static bool try_fault(struct shrinker *x, size_t which, const struct fault *f)
{
    size_t count = x->now->fault_count;
    struct fault *list = sim_alloc(count * sizeof(*list));
    memcpy(list, x->now->faults, count * sizeof(*list));
    list[which] = *f;
    bool good = shrink_try_faults(x, list, count);
    free(list);
    return good;
}

/* The kinds of a crash, of a store's error and so on are listed with the simplest first. */
static bool simpler_choice(struct shrinker *x, size_t which)
{
    struct fault f = x->now->faults[which];
    unsigned choices = f.value.choice;
    if (fault_kind(&f) == FAULT_CLOCK) {
        return false; /* a drift is no offset */
    }
    for (unsigned c = 0; c < choices; c++) {
        struct fault other = f;
        other.value.choice = (uint8_t)c;
        if (fault_kind(&f) == FAULT_CRASH && !crash_mode_counted((enum crash_mode)c)) {
            other.value.n = 0;
        }
        bool fits = fault_kind(&f) != FAULT_CRASH || other.value.n > 0 ||
                    !crash_mode_counted((enum crash_mode)c);
        if (fits && try_fault(x, which, &other)) {
            return true;
        }
    }
    return false;
}

static bool smaller_count(struct shrinker *x, size_t which)
{
    struct fault f = x->now->faults[which];
    for (uint32_t n = 1; n < f.value.n; n++) {
        struct fault other = f;
        other.value.n = n;
        if (try_fault(x, which, &other)) {
            return true;
        }
    }
    return false;
}

/* One of the times of a fault. zero: 0 stands for the default. */
static bool rounder(struct shrinker *x, size_t which, bool until, bool zero, uint64_t least)
{
    struct fault f = x->now->faults[which];
    uint64_t simpler[SHRINK_DURATIONS];
    size_t n = shrink_durations(until ? f.value.until : f.value.time, zero, simpler);
    for (size_t i = 0; i < n; i++) {
        struct fault other = f;
        *(until ? &other.value.until : &other.value.time) = simpler[i];
        bool fits = simpler[i] >= least || (zero && simpler[i] == 0);
        if (fault_kind(&f) == FAULT_PARTITION) {
            fits = fits && other.value.time < other.value.until;
        }
        if (fits && try_fault(x, which, &other)) {
            return true;
        }
    }
    return false;
}

static bool rounder_times(struct shrinker *x, size_t which)
{
    const struct fault *f = &x->now->faults[which];
    enum fault_kind kind = fault_kind(f);
    bool moment = kind == FAULT_PARTITION || kind == FAULT_CLOCK;
    bool zero = kind != FAULT_PARTITION && kind != FAULT_DELAY && kind != FAULT_PAUSE;
    if (f->value.time != 0 && rounder(x, which, false, zero, moment ? SIM_START : 1)) {
        return true;
    }
    f = &x->now->faults[which];
    return f->value.until != 0 &&
           rounder(x, which, true, kind != FAULT_PARTITION, moment ? SIM_START : 1);
}

static bool rounder_offset(struct shrinker *x, size_t which)
{
    struct fault f = x->now->faults[which];
    uint64_t simpler[SHRINK_DURATIONS];
    int64_t offset = f.value.offset;
    if (fault_kind(&f) != FAULT_CLOCK || f.value.choice != CLOCK_OFFSET) {
        return false;
    }
    size_t n = shrink_durations((uint64_t)(offset < 0 ? -offset : offset), false, simpler);
    for (size_t i = 0; i < n; i++) {
        struct fault other = f;
        other.value.offset = offset < 0 ? -(int64_t)simpler[i] : (int64_t)simpler[i];
        if (try_fault(x, which, &other)) {
            return true;
        }
    }
    return false;
}

/* ---- where it strikes ---- */

/* At the step's boundary and not inside it, at an earlier operation of the disk, at an earlier one
 * of several such steps. */
static bool earlier_place(struct shrinker *x, size_t which)
{
    struct fault f = x->now->faults[which];
    if (fault_kind_scope(fault_kind(&f)) != SCOPE_STEP) {
        return false;
    }
    static const enum moment boundaries[] = {AFTER, BEFORE};
    for (size_t i = 0; i < ARRAY_LEN(boundaries) && f.site.key.moment == INSIDE; i++) {
        struct fault other = f;
        other.site.key.moment = (uint8_t)boundaries[i];
        other.site.key.disk = 0;
        if (try_fault(x, which, &other)) {
            return true;
        }
    }
    for (unsigned disk = 1; disk < f.site.key.disk; disk++) {
        struct fault other = f;
        other.site.key.disk = (uint16_t)disk;
        if (try_fault(x, which, &other)) {
            return true;
        }
    }
    for (unsigned nth = 1; nth < f.site.key.nth; nth++) {
        struct fault other = f;
        other.site.key.nth = (uint16_t)nth;
        if (try_fault(x, which, &other)) {
            return true;
        }
    }
    return false;
}

bool shrink_values(struct shrinker *x)
{
    static bool (*const simpler[])(struct shrinker *, size_t) = {
        simpler_choice, smaller_count, rounder_times, rounder_offset, earlier_place,
    };
    bool changed = false;
    /* A change may move a fault to another place in the list; it is seen again in the next pass. */
    for (size_t i = 0; i < x->now->fault_count; i++) {
        for (size_t k = 0; k < ARRAY_LEN(simpler) && !shrink_over(x); k++) {
            if (i < x->now->fault_count && simpler[k](x, i)) {
                changed = true;
            }
        }
    }
    return changed;
}
