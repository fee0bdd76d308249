/* A probe in a receiver's place: it notes what a handler may read, and then does as it is told. So
 * a message is seen as a receiver sees it. What it has noted is of the world made last.
 */
#ifndef TESTS_PROBE_H
#define TESTS_PROBE_H

#include "receivers/receiver.h"
#include "tests/world_rig.h"

#define SEEN_MAX 64

struct seen {
    char key[KEY_MAX], group[KEY_MAX], body[512];
    int64_t number, acknowledged, version, made_at;
    bool valid;
};
extern struct seen seen[SEEN_MAX];
extern size_t seen_count;
/* Of apply_effect, as effect_noted has it. */
extern enum outcome outcomes[SEEN_MAX];
extern size_t outcome_count;

/* For handlers. */
void look(struct handling *h);
enum outcome effect_noted(struct handling *h);
/* Looks, and does what `table` does. */
void probe_table(struct handling *h);

/* A world in which the first receiver runs that handler over the table of `table`. *code is of the
 * caller, for as long as the world. Nothing has been seen. */
struct world *probed(struct scenario *s, struct receiver *code, void (*handle)(struct handling *h));

/* One sender, shop, with these messages (what stands between the brackets), lines of its own and
 * faults; each way takes 50 ms. */
void shop(struct scenario *s, const char *policy, const char *messages, const char *faults);

/* Set of the checks that a run violates. */
uint32_t violated(const struct result *r);

TCase *acknowledged_tests(void); /* tests/messages_acknowledged.c */
TCase *effect_tests(void);       /* tests/messages_effects.c */

#endif
