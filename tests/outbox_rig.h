/* Stories of two stages: a receiver that tells another one downstream, `table`, which holds. */
#ifndef TESTS_OUTBOX_RIG_H
#define TESTS_OUTBOX_RIG_H

#include "tests/world_rig.h"

#define EMITTED CHECK_BIT(CHECK_EMITTED_ONCE)
#define CHARGED(id) "{id: " id ", entity: e, charge: 1}"
#define SENT_BY(policy, ...) "senders: [{name: shop, " policy " messages: [" __VA_ARGS__ "]}]\n"
#define LISTED(...) "faults: [" __VA_ARGS__ "]\n"

struct tale {
    const char *it;      /* name and settings: "outbox, dispatch: both" */
    const char *lines;   /* senders, hosts, faults */
    const char *answers; /* of the first stage, in the order in which they left */
    uint64_t effects;    /* of the first stage */
    uint64_t sent;       /* transmissions of follow-ons */
    uint64_t below;      /* effects downstream */
    uint32_t violated;   /* exactly these checks, of exactly-once, emitted-once and in-order */
};

/* Each way takes 20 ms. To be ended with tale_fini. */
struct result tale_play(struct scenario *s, struct world **w, const char *it, const char *lines);
void tale_fini(struct scenario *s, struct world *w, struct result *r);
/* Transmissions of follow-ons in the history kept last. */
uint64_t tale_sent(struct world *w);
/* Plays it, and all is as written. */
void tale_check(const struct tale *t);

TCase *rules_outbox_tests(void); /* tests/rules_outbox.c */

#endif
