/* Words of the rules that the receiver `repository` stands for: what is sent, and what goes wrong
 * with one message.
 */
#ifndef TESTS_RULES_REPOSITORY_H
#define TESTS_RULES_REPOSITORY_H

#include "tests/rules_rig.h"

#define LOST CHECK_BIT(CHECK_NO_LOST_EFFECT)
#define DOUBLE CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)

#define TWO "hosts: {receiver: {workers: 2, step: 0ms}}\n"
#define FAILS "handler receiver at m/1 after effect fails"
/* With a repository of its own: begin and commit of the key, begin 2 and commit 2 of the effect. */
#define BETWEEN "pause receiver at m/1 before begin 2 for 3s"
#define COPY "duplicate request m/1 after 1s"
#define KEY_THERE "crash receiver at m/1 after commit (process)"
#define DONE_NOT_SAID "crash receiver at m/1 before reply (process)"
#define THRICE SENT("retry: {after: 3s, limit: 3},", MESSAGE)

/* a, b, a, c: under three keys */
#define FOUR                                                                                       \
    "senders: [{name: shop, loop: open, every: 1s, retry: {after: 1h}, messages: ["                \
    "{id: a, entity: e, charge: 1}, {id: b, entity: e, charge: 1}, "                               \
    "{id: m, key: a, entity: e, charge: 1}, {id: c, entity: e, charge: 1}]}]\n"

/* The business says no to its first execution. */
#define DECLINED_ONCE SENT(PATIENT, "{id: m, entity: e, charge: 1, declined: 1}")

#endif
