/* The named checks, and sets of them. */
#ifndef SIM_CHECKS_H
#define SIM_CHECKS_H

#include "sim/base.h"

/* X(name, text, in exactly-once, holds when) */
#define CHECKS(X)                                                                                  \
    X(CHECK_NO_DOUBLE_EFFECT, "no-double-effect", true, "at most one effect per operation")        \
    X(CHECK_NO_LOST_EFFECT, "no-lost-effect", true,                                                \
      "every operation that the sender believes done has its effect")                              \
    X(CHECK_NO_GHOST_EFFECT, "no-ghost-effect", true,                                              \
      "no effect for an operation that the sender was finally told had failed")                    \
    X(CHECK_ACK_IMPLIES_DURABLE, "ack-implies-durable", true,                                      \
      "an acknowledged effect survives any later crash")                                           \
    X(CHECK_SAME_REPLY, "same-reply", true,                                                        \
      "every reply belongs to its operation, a success is not refused later, a saved response "    \
      "equals the first, a success of a create carries its receipt")                               \
    X(CHECK_DISTINCT_OPERATIONS, "distinct-operations", true,                                      \
      "two operations are never merged into one")                                                  \
    X(CHECK_PROGRESS, "progress", true,                                                            \
      "after the last fault every operation reaches a final answer within the limit")              \
    X(CHECK_STATE_MATCHES_EFFECTS, "state-matches-effects", true,                                  \
      "balances equal the sum of the effects")                                                     \
    X(CHECK_BOUNDED_RECORDS, "bounded-records", false,                                             \
      "records stay under what the contract's window and the messages in it give; none without "   \
      "an owner at the end")                                                                       \
    X(CHECK_RECORD_STATES, "record-states", false, "records move along allowed transitions only")  \
    X(CHECK_OWNER_ONLY, "owner-only", false,                                                       \
      "only the present holder of a claim renews, completes or deletes it")                        \
    X(CHECK_RETENTION, "retention-covers-retries", false,                                          \
      "before the run: longest retry horizon, delay and clock error against window and lease")     \
    X(CHECK_IN_ORDER, "in-order", false,                                                           \
      "operations of one sender on one entity take effect in the order in which it began them")    \
    X(CHECK_EMITTED_ONCE, "emitted-once", false,                                                   \
      "each operation that took effect is told downstream, at least once and under one id, and "   \
      "no other is")

enum check {
#define X(name, text, in_set, holds) name,
    CHECKS(X)
#undef X
        CHECK_COUNT
};

/* A set of checks: bit 1 << enum check. */
#define CHECK_BIT(c) (UINT32_C(1) << (c))
#define X(name, text, in_set, holds) | ((in_set) ? CHECK_BIT(name) : 0)
enum { CHECKS_EXACTLY_ONCE = 0 CHECKS(X) };
#undef X

const char *check_text(enum check c);
const char *check_holds(enum check c);
/* The set of a name, "exactly-once" included; 0: unknown. */
uint32_t check_set(const char *name, size_t len);

#endif
