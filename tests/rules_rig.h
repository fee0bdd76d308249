/* What the tests of a system's rules share: a rule is a receiver, what is sent, what goes wrong,
 * and the effects and answers that the rule wants.
 */
#ifndef TESTS_RULES_RIG_H
#define TESTS_RULES_RIG_H

#include "tests/world_rig.h"

/* policy: lines of the sender's, each with a comma behind it. */
#define SENT(policy, ...) "senders: [{name: shop, " policy " messages: [" __VA_ARGS__ "]}]\n"
#define MESSAGE "{id: m, entity: e, charge: 1}"
#define SENT_ONE SENT("", MESSAGE)
/* One whose sender would not try again for half a day. */
#define PATIENT "retry: {after: 12h, limit: 2},"
#define ONE SENT(PATIENT, MESSAGE)
#define AFTER(t) "faults: [duplicate request m/1 after " t "]"

struct rule {
    const char *it;   /* name and settings: "sqs_fifo, scope: group" */
    const char *sent; /* its senders */
    const char *more; /* lines of the scenario */
    uint64_t effects;
    const char *answers; /* all that leave the receiver, lost or not; a blank behind each */
};

/* Plays it, each way taking 20 ms; to be ended with rule_fini. */
struct result rule_play(struct scenario *s, struct world **w, const struct rule *rule);
void rule_fini(struct scenario *s, struct world *w, struct result *r);
/* Statuses of all replies of the history kept last; static. */
const char *rule_answers(struct world *w);

/* Each has these effects and answers, and its faults have happened. */
void rules_hold(const struct rule *rules, size_t count);
#define HOLD(...)                                                                                  \
    do {                                                                                           \
        static const struct rule rules[] = {__VA_ARGS__};                                          \
        rules_hold(rules, ARRAY_LEN(rules));                                                       \
    } while (0)

/* The same of one, with exactly these checks violated, and, unless query is NULL, its rows on the
 * disk at the end as rig_holds takes them. */
void rule_judged(const struct rule *rule, uint32_t checks, const char *query, const char *rows);
/* The default of a receiver's setting; of a choice the index of its word. */
void rule_default(const char *receiver, const char *setting, int64_t value);

TCase *rules_patterns_tests(void); /* tests/rules_patterns.c */
TCase *rules_brokers_tests(void);  /* tests/rules_brokers.c */

#endif
