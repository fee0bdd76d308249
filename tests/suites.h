/* The suites of `make test`. tests/test_NAME.c defines NAME_suite. */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include <check.h>
#include <stdio.h>

#define SUITES(X)                                                                                  \
    X(base)                                                                                        \
    X(rng)                                                                                         \
    X(dist)                                                                                        \
    X(queue)                                                                                       \
    X(history)                                                                                     \
    X(arena)                                                                                       \
    X(disk)                                                                                        \
    X(sentence)                                                                                    \
    X(coro)                                                                                        \
    X(verdict)                                                                                     \
    X(late)                                                                                        \
    X(sender)                                                                                      \
    X(network)                                                                                     \
    X(retention)                                                                                   \
    X(sweeps)                                                                                      \
    X(broker)                                                                                      \
    X(receivers)                                                                                   \
    X(rules_queues)                                                                                \
    X(rules_frameworks)                                                                            \
    X(session)                                                                                     \
    X(watermark)                                                                                   \
    X(shrink)                                                                                      \
    X(canaries)                                                                                    \
    X(flawed)                                                                                      \
    X(crash)                                                                                       \
    X(reset)                                                                                       \
    X(scenario)                                                                                    \
    X(sweep)                                                                                       \
    X(reports)                                                                                     \
    X(faults)                                                                                      \
    X(messages)                                                                                    \
    X(world_faults)                                                                                \
    X(records)                                                                                     \
    X(cover)                                                                                       \
    X(explore)                                                                                     \
    X(rules_keys)                                                                                  \
    X(keys)                                                                                        \
    X(right)                                                                                       \
    X(convictions)                                                                                 \
    X(outbox)                                                                                      \
    X(classes)                                                                                     \
    X(study)                                                                                       \
    X(golden)                                                                                      \
    X(service)

#define X(name) Suite *name##_suite(void);
SUITES(X)
#undef X

/* ck_assert for inner loops: libcheck's writes to a pipe each time it holds. */
#define expect(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            ck_abort_msg("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                     \
        }                                                                                          \
    } while (0)

/* For a test that must() is to end: its message is no news to who reads the report. */
static inline void test_ends_the_program(void)
{
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
}

#endif
