/* Faults of the whole world that nobody met have not fired, and what is cut heals when faults end.
 */
#include "tests/world_rig.h"

#define QUICK                                                                                      \
    "receivers: [table]\n"                                                                         \
    "senders:\n"                                                                                   \
    "  - name: shop\n"                                                                             \
    "    messages: [{id: m-1, entity: box, charge: 5}]\n"                                          \
    "    retry: {after: 1s, limit: 8}\n"

START_TEST(idle_world_faults_have_not_fired)
{
    static const struct {
        const char *fault;
        enum verdict_kind verdict;
    } cases[] = {
        {"partition shop receiver 3h..4h", VERDICT_UNFIRED},         /* the run is over by then */
        {"partition shop receiver 1001ms..1002ms", VERDICT_UNFIRED}, /* nothing was sent in it */
        {"clock receiver +3s at 3h", VERDICT_UNFIRED},
        {"partition receiver to shop 1s..2s", VERDICT_PASS},
        {"clock receiver +3s at 2s", VERDICT_PASS},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct result r;
        rig_scenario(&s, QUICK "faults: [duplicate request m-1/1 after 2s, %s]\n", cases[i].fault);
        struct world *w = rig_world(&s, "table");
        world_play(w, &(struct play){.seed = 1}, &r);
        bool struck = cases[i].verdict == VERDICT_PASS;
        ck_assert_msg(r.verdict == cases[i].verdict, "%s: %s", cases[i].fault,
                      verdict_text(r.verdict));
        ck_assert_int_eq(r.fates[1], struck ? FATE_FIRED : FATE_HELD);
        ck_assert_uint_eq(r.fired_count, struck ? 2 : 1);
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* Nothing goes wrong after faults_until: what is cut then is healed. */
START_TEST(partitions_heal_when_faults_end)
{
    struct scenario s;
    struct result r;
    rig_scenario(&s, QUICK "faults: [partition shop receiver 1s..1h]\n"
                           "faults_until: 3500ms\n"
                           "contract: {no_give_up: true}\n");
    struct world *w = rig_world(&s, "table");
    world_play(w, &(struct play){.seed = 1}, &r);
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    ck_assert_uint_eq(r.attempts, 4); /* at 1, 2 and 3 s in vain, at 4 s through */
    ck_assert_uint_eq(r.deliveries, 1);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *world_faults_suite(void)
{
    Suite *s = suite_create("world_faults");
    TCase *t = tcase_create("world_faults");
    tcase_add_test(t, idle_world_faults_have_not_fired);
    tcase_add_test(t, partitions_heal_when_faults_end);
    suite_add_tcase(s, t);
    return s;
}
