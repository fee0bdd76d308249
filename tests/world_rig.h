/* Worlds for tests: a scenario from its text, a world on it, runs with the faults of the moment.
 *
 * What fails here fails the test that called: a scenario that does not parse, a receiver that is
 * not there, a sentence that is none.
 */
#ifndef TESTS_WORLD_RIG_H
#define TESTS_WORLD_RIG_H

#include "sim/world.h"
#include "tests/suites.h"

#include <string.h>

/* Text of a scenario, printf's way; scenario_fini by the caller. */
__attribute__((format(printf, 2, 3))) void rig_scenario(struct scenario *s, const char *format,
                                                        ...);
/* Place of a receiver by its name. */
size_t rig_receiver(const struct scenario *s, const char *name);
/* A world on that receiver; world_free by the caller. */
struct world *rig_world(const struct scenario *s, const char *receiver);
/* A fault from its sentence. */
__attribute__((format(printf, 2, 3))) struct fault rig_fault(const struct scenario *s,
                                                             const char *format, ...);

/* One run with exactly these faults, none for count 0; result_fini by the caller. */
struct result rig_play(struct world *w, uint64_t seed, const struct fault *faults, size_t count);
/* The same with the scenario's own faults, and the history kept. */
struct result rig_play_kept(struct world *w, uint64_t seed);
/* Plays a scenario's own faults on a receiver in a world of its own. */
struct result rig_once(const struct scenario *s, const char *receiver, uint64_t seed);

/* Sites of one kind that a run reaches, in that order. */
struct rig_sites {
    enum fault_kind kind;
    struct site *list;
    size_t count, capacity;
};
/* Plays and collects; sites->kind says which, what was in the list is dropped. */
struct result rig_collect(struct world *w, uint64_t seed, const struct fault *faults, size_t count,
                          struct rig_sites *sites);
void rig_sites_fini(struct rig_sites *sites);
/* The sites of the n-th handling (from 0) that a run began; false: fewer did. They need not stand
 * together in the list where several workers run. */
bool rig_handling(const struct rig_sites *sites, size_t n, struct rig_sites *out);

/* The values of a crash: the process alone, then each loss of power, with n in 1..most. Index
 * 0..rig_crash_values(most) - 1. */
size_t rig_crash_values(uint32_t most);
struct fault rig_crash_at(const struct site *site, size_t value, uint32_t most);

/* One line on a run and the fault it is about (may be NULL), for a failure's message; static. */
const char *rig_say(const struct result *r, const struct fault *f);

/* Records of a kind in the history kept last. */
size_t rig_count(struct world *w, enum record_kind kind);
/* The n-th (from 0) record of a kind, or NULL. */
const struct record *rig_find(struct world *w, enum record_kind kind, size_t n);

/* The rows of a query on the disk at the end of the last run, its first column as text with a blank
 * behind each. */
void rig_holds(struct world *w, const char *sql, const char *rows);

static inline bool rig_violated(const struct result *r, enum check c)
{
    return r->violated[c] > 0;
}
/* Every operation has its effect, and none has two. */
static inline bool rig_exactly_once(const struct result *r)
{
    return r->effects == r->operations && r->with_effect == r->operations && r->doubled == 0;
}

#endif
