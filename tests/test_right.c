/* The right receivers under every schedule: table, entity and response with two workers, in each
 * scenario of at most three operations, and every sound setting in those of scenarios/sound, hold
 * for all schedules with one covered fault; with ONLYONCE_HEAVY=1 in the environment
 * (tests/heavy/explore.sh) for all with two. Left out are scenarios that expect a right receiver to
 * be convicted: their trouble is not the receiver's. */
#include "tests/suites.h"

#include "sim/explore.h"

#include <stdlib.h>
#include <string.h>

static const char *const right[] = {"table", "entity", "response"};

static bool is_right(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(right); i++) {
        if (strcmp(right[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_small(const struct scenario *s)
{
    size_t operations = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        operations += s->senders[i].message_count;
        if (s->senders[i].workload.count > 0) {
            return false;
        }
    }
    return operations <= 3;
}

/* Explores one scenario on one receiver; returns the schedules played. */
static uint64_t hold(const struct scenario *s, size_t receiver, unsigned faults)
{
    static const struct expectation exactly_once;
    struct certificate c;
    struct explore_task task = {.scenario = s,
                                .receiver = receiver,
                                .seed = 1,
                                .faults = faults,
                                .kinds = explore_covered_kinds(),
                                .jobs = 2,
                                .expectation = &exactly_once};
    explore(&task, stderr, &c);
    if (c.verdict != VERDICT_PASS) {
        struct sentence_names names = scenario_names(s);
        char text[3 * SENTENCE_MAX] = "", one[SENTENCE_MAX];
        for (unsigned i = 0; i < c.counterexample_faults && i < 3; i++) {
            sentence_print(&names, &c.counterexample[i], one);
            strcat(text, "\n  - ");
            strcat(text, one);
        }
        ck_abort_msg("%s on %s: %s%s", s->file, s->receivers[receiver].name,
                     verdict_text(c.verdict), text);
    }
    return c.schedules;
}

/* _i: whether steps take time, so that workers interleave by themselves too */
START_TEST(two_workers)
{
    char *paths[] = {"scenarios"};
    struct scenario_list list;
    unsigned faults = getenv("ONLYONCE_HEAVY") ? 2 : 1;
    uint64_t schedules = 0, worlds = 0;
    ck_assert_int_eq(scenario_list_read(paths, 1, stderr, &list), SIM_OK);
    for (size_t i = 0; i < list.count; i++) {
        struct scenario *s = &list.items[i];
        s->receiver.workers = 2;
        s->receiver.step = _i ? (struct dist){DIST_UNIFORM, 0, 0, SIM_MS}
                              : (struct dist){DIST_CONSTANT, 0, 0, 0};
        for (size_t r = 0; r < s->receiver_count && is_small(s); r++) {
            bool sound = strncmp(s->file, "scenarios/sound/", 16) == 0;
            if ((sound || is_right(s->receivers[r].name)) && !s->expectations[r].violates) {
                schedules += hold(s, r, faults);
                worlds++;
            }
        }
    }
    ck_assert_uint_gt(worlds, 30);
    ck_assert_uint_gt(schedules, 100 * worlds);
    if (faults > 1) {
        printf("two workers, steps %s: %llu schedules in %llu worlds hold\n",
               _i ? "of 0..1ms" : "of no time", (unsigned long long)schedules,
               (unsigned long long)worlds);
    }
    scenario_list_fini(&list);
}
END_TEST

Suite *right_suite(void)
{
    Suite *s = suite_create("right");
    TCase *t = tcase_create("right");
    tcase_set_timeout(t, getenv("ONLYONCE_HEAVY") ? 3600 : 60);
    tcase_add_loop_test(t, two_workers, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
