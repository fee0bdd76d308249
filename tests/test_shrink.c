/* Shrinking: stories become as small as they can be, stay failures of the same check, and shrinking
 * them again changes nothing. */
#include "tests/shrink_rig.h"

#include "sim/crash.h"
#include "sim/scenario_edit.h"
#include "sim/scenario_print.h"
#include "sim/scenario_settings.h"
#include "sim/shrink_internal.h"
#include "sim/shrink_report.h"
#include "tests/world_rig.h"

#include <stdlib.h>

/* Plays a scenario on a receiver, which must fail, and shrinks. */
static struct shrink_result shrunk(const struct scenario *s, const char *receiver, uint64_t seed,
                                   uint64_t runs)
{
    struct shrink_result out;
    struct result r = rig_once(s, receiver, seed);
    struct shrink_task task = {.scenario = s,
                               .receiver = rig_receiver(s, receiver),
                               .seed = seed,
                               .fired = r.fired_count,
                               .limit_runs = runs};
    ck_assert_msg(shrink_check(&r, &task.check), "%s", rig_say(&r, NULL));
    ck_assert_int_eq(shrink(&task, stderr, &out), SIM_OK);
    result_fini(&r);
    return out;
}

static void say_story(const struct shrink_result *s)
{
    char *text = scenario_print_text(&s->scenario);
    fprintf(stderr, "%s", text);
    free(text);
}

/* The story reads back, fails as it expects, with all of its faults. */
static void assert_stands(const struct shrink_result *s, enum check check)
{
    free(round_trip(&s->scenario));
    const struct expectation *e = &s->scenario.expectations[0];
    ck_assert(e->given && e->violates && e->checks == CHECK_BIT(check));
    struct result r = rig_once(&s->scenario, s->scenario.receivers[0].name, s->seed);
    ck_assert_msg(r.expected && rig_violated(&r, check), "%s", rig_say(&r, NULL));
    ck_assert_uint_eq(r.fired_count, s->scenario.fault_count);
    for (size_t i = 0; i < r.listed_count; i++) {
        ck_assert_uint_eq(r.fates[i], FATE_FIRED);
    }
    result_fini(&r);
}

/* Without any one of its faults it does not fail by that check, or another fault does not fire. */
static void assert_all_needed(const struct shrink_result *s, enum check check)
{
    size_t count = s->scenario.fault_count;
    struct fault *list = sim_zalloc(count + 1, sizeof(*list));
    for (size_t gone = 0; gone < count; gone++) {
        struct scenario less;
        memcpy(list, s->scenario.faults, gone * sizeof(*list));
        memcpy(list + gone, s->scenario.faults + gone + 1, (count - gone - 1) * sizeof(*list));
        scenario_copy(&s->scenario, &less);
        scenario_set_faults(&less, list, count - 1);
        struct result r = rig_once(&less, less.receivers[0].name, s->seed);
        if (rig_violated(&r, check)) {
            say_story(s);
            ck_abort_msg("fault %zu can be left out", gone);
        }
        result_fini(&r);
        scenario_fini(&less);
    }
    free(list);
}

static void assert_idempotent(const struct shrink_result *s)
{
    struct shrink_result again = shrunk(&s->scenario, s->scenario.receivers[0].name, s->seed, 0);
    char *first = scenario_print_text(&s->scenario);
    char *second = scenario_print_text(&again.scenario);
    ck_assert_str_eq(first, second);
    ck_assert_uint_eq(s->seed, again.seed);
    free(first);
    free(second);
    scenario_fini(&again.scenario);
}

static const char mix[] =
    "name: mix\nreceivers: [naive, table]\n"
    "senders:\n"
    "  - name: shop\n    workload: {count: 300, entities: 40, charge: 100..9900}\n"
    "    in_flight: 4\n    retry: {after: 500ms, backoff: exponential, limit: 12}\n"
    "  - name: web\n    workload: {count: 300, entities: 20, skew: 0.5}\n    in_flight: 2\n"
    "    retry: {timeout: 300ms, after: 200ms, backoff: decorrelated-jitter, max: 5s, limit: 12}\n"
    "  - name: kiosk\n    workload: {count: 100, charge: 500}\n    loop: open\n    rate: 20/s\n"
    "network:\n  delay: {exponential: {mean: 40ms, max: 400ms}}\n"
    "  lose: 1/50\n  duplicate: {request: 1/50, reply: 1/100}\n  duplicate_after: 0ms..2s\n"
    "hosts: {receiver: {restart: 50ms..500ms, crash: 1/5000, power: 1/5000, store: 1/500}}\n";

START_TEST(a_random_run_becomes_one_message_and_one_fault)
{
    struct scenario s;
    rig_scenario(&s, "%s", mix);
    uint64_t seed = (uint64_t)_i;
    struct shrink_result out = shrunk(&s, "naive", seed, 0);
    const struct scenario *small = &out.scenario;
    ck_assert_int_eq(out.end, SHRUNK_ALL);
    ck_assert_uint_eq(out.before.messages, 700);
    ck_assert_uint_gt(out.before.faults, 10);
    if (small->sender_count != 1 || out.after.messages != 1 || small->fault_count != 1 ||
        small->senders[0].retry.limit > 2) {
        say_story(&out);
        ck_abort_msg("seed %d: this is not the smallest", _i);
    }
    ck_assert_str_eq(small->name, "mix-shrunk");
    ck_assert_uint_eq(out.seed, 1);
    assert_stands(&out, CHECK_NO_DOUBLE_EFFECT);
    assert_all_needed(&out, CHECK_NO_DOUBLE_EFFECT);
    assert_idempotent(&out);
    scenario_fini(&out.scenario);
    scenario_fini(&s);
}
END_TEST

/* Every failing receiver of every scenario that lists its messages. */
START_TEST(every_failing_scenario_shrinks)
{
    char *paths[] = {"scenarios"};
    struct scenario_list list;
    size_t failed = 0;
    ck_assert_int_eq(scenario_list_read(paths, 1, stderr, &list), SIM_OK);
    for (size_t k = 0; k < list.count; k++) {
        const struct scenario *s = &list.items[k];
        for (size_t i = 0; i < s->receiver_count && scenario_generated(s) == 0; i++) {
            enum check check;
            struct result r = rig_once(s, s->receivers[i].name, 1);
            if (shrink_check(&r, &check)) {
                struct shrink_result out = shrunk(s, s->receivers[i].name, 1, 0);
                assert_stands(&out, check);
                assert_all_needed(&out, check);
                assert_idempotent(&out);
                ck_assert_uint_le(out.after.faults, out.before.faults);
                scenario_fini(&out.scenario);
                failed++;
            }
            result_fini(&r);
        }
    }
    ck_assert_uint_gt(failed, 10);
    scenario_list_fini(&list);
}
END_TEST

static struct fault only_fault(const struct shrink_result *out)
{
    ck_assert_uint_eq(out->scenario.fault_count, 1);
    return out->scenario.faults[0];
}

START_TEST(power_stays_where_the_process_is_not_enough)
{
    struct scenario s;
    ck_assert_int_eq(scenario_read("scenarios/disk/delete-full.yaml", stderr, &s), SIM_OK);
    struct shrink_result out = shrunk(&s, "table", 1, 0);
    struct fault f = only_fault(&out);
    ck_assert_uint_eq(fault_kind(&f), FAULT_CRASH);
    ck_assert_uint_eq(f.value.choice, CRASH_NONE);
    ck_assert_uint_eq(out.scenario.receiver.database.journal, JOURNAL_DELETE);
    assert_stands(&out, CHECK_ACK_IMPLIES_DURABLE);
    scenario_fini(&out.scenario);
    scenario_fini(&s);
}
END_TEST

#define SHOP                                                                                       \
    "senders:\n  - name: shop\n    messages: [{id: m-1, entity: e, charge: 7}, {id: m-2, entity: " \
    "e, charge: 5}]\n    retry: {limit: 8}\n"

START_TEST(power_becomes_the_process_where_that_is_enough)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [naive]\n" SHOP
                     "faults: [crash receiver at m-1/1 after commit (power all but 3)]\n");
    struct shrink_result out = shrunk(&s, "naive", 1, 0);
    ck_assert_uint_eq(only_fault(&out).value.choice, CRASH_PROCESS);
    ck_assert_uint_eq(only_fault(&out).value.n, 0);
    scenario_fini(&out.scenario);
    scenario_fini(&s);
}
END_TEST

/* What made the later attempt necessary goes, and the fault moves to the first. */
START_TEST(faults_move_to_the_first_attempt)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [naive]\n" SHOP
                     "faults: [lose request m-2/1, crash receiver at m-2/2 before commit "
                     "(process), lose reply m-2/3]\n");
    struct shrink_result out = shrunk(&s, "naive", 1, 0);
    struct fault f = only_fault(&out);
    ck_assert_uint_eq(fault_kind(&f), FAULT_LOSE);
    ck_assert_uint_eq(f.site.key.attempt, 1);
    ck_assert_uint_eq(out.scenario.senders[0].retry.limit, 2);
    ck_assert_str_eq(out.scenario.senders[0].messages[0].id, "m-2");
    assert_stands(&out, CHECK_NO_DOUBLE_EFFECT);
    scenario_fini(&out.scenario);
    scenario_fini(&s);
}
END_TEST

START_TEST(hostile_names_survive)
{
    struct scenario s;
    rig_scenario(&s, "name: \"a: b # \\\"c\\\"\"\nreceivers: [{name: \"- t, }\", is: naive}]\n"
                     "senders:\n  - {name: \"sh: op\", messages: [{id: \"m 7\\\"7\", entity: "
                     "\"{e}\", charge: 7}, {id: 'yes', entity: '~', charge: 1}]}\n"
                     "faults: ['lose reply \"m 7\\\"7\"/1', 'lose request \"yes\"/1']\n");
    struct shrink_result out = shrunk(&s, "- t, }", 1, 0);
    ck_assert_uint_eq(out.after.messages, 1);
    ck_assert_str_eq(out.scenario.senders[0].messages[0].id, "m 7\"7");
    assert_stands(&out, CHECK_NO_DOUBLE_EFFECT);
    assert_idempotent(&out);
    scenario_fini(&out.scenario);
    scenario_fini(&s);
}
END_TEST

START_TEST(the_bound_is_told)
{
    struct scenario s;
    rig_scenario(&s, "%s", mix);
    struct shrink_result whole = shrunk(&s, "naive", 1, 0);
    struct shrink_result out = shrunk(&s, "naive", 1, whole.runs / 2);
    ck_assert_int_eq(out.end, SHRUNK_TO_LIMIT);
    ck_assert_uint_le(out.runs, whole.runs / 2 + 3);
    assert_stands(&out, CHECK_NO_DOUBLE_EFFECT);
    scenario_fini(&out.scenario);
    scenario_fini(&whole.scenario);
    scenario_fini(&s);
}
END_TEST

/* As exploration hands them in: the scenario's own faults are not among them. */
START_TEST(faults_can_be_given)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [naive]\n" SHOP "faults: [lose reply m-1/1]\n");
    struct fault given[] = {rig_fault(&s, "lose request m-2/1"), rig_fault(&s, "lose reply m-2/2")};
    struct shrink_task task = {.scenario = &s,
                               .seed = 1,
                               .faults = given,
                               .fault_count = 2,
                               .fired = 2,
                               .check = CHECK_NO_DOUBLE_EFFECT};
    struct shrink_result out;
    ck_assert_int_eq(shrink(&task, stderr, &out), SIM_OK);
    ck_assert_uint_eq(out.before.faults, 2);
    ck_assert_str_eq(out.scenario.senders[0].messages[0].id, "m-2");
    assert_stands(&out, CHECK_NO_DOUBLE_EFFECT);
    scenario_fini(&out.scenario);
    task.fault_count = 1;
    ck_assert_int_eq(shrink(&task, stderr, &out), SIM_ERR_DIFFERS);
    scenario_fini(&s);
}
END_TEST

/* Workload and list meet the same fate. */
START_TEST(a_workload_becomes_its_messages)
{
    struct scenario s, listed;
    rig_scenario(&s, "%s", mix);
    scenario_copy(&s, &listed);
    scenario_list_workloads(&listed, 3);
    ck_assert_uint_eq(scenario_listed(&listed), 700);
    struct result a = rig_once(&s, "table", 3), b = rig_once(&listed, "table", 3);
    ck_assert_uint_eq(a.attempts, b.attempts);
    ck_assert_uint_eq(a.ended, b.ended);
    ck_assert_uint_eq(a.effects, b.effects);
    free(round_trip(&listed));
    result_fini(&a);
    result_fini(&b);
    scenario_fini(&listed);
    scenario_fini(&s);
}
END_TEST

/* A session goes, unless the receiver asks something of its senders. */
START_TEST(sessions_go_where_they_are_not_asked_for)
{
    for (unsigned asked = 0; asked < 2; asked++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [{name: it, is: %s}]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    session: registered\n"
                     "    messages: [{id: r-1, register: true},\n"
                     "               {id: m-1, entity: order-1, charge: 100}]\n"
                     "    retry: {after: 90s, max: 90s}\n"
                     "faults: [delay reply shop-register/1 by 3s, lose reply m-1/1]\n",
                     asked ? "session, lease: 1m, unknown: created" : "naive");
        struct shrink_result out = shrunk(&s, "it", 1, 0);
        ck_assert(out.scenario.senders[0].opens_session == asked);
        ck_assert_uint_eq(out.scenario.senders[0].message_count, 1);
        ck_assert_uint_eq(out.scenario.fault_count, 1);
        assert_stands(&out, CHECK_NO_DOUBLE_EFFECT);
        free(round_trip(&out.scenario));
        scenario_fini(&out.scenario);
        scenario_fini(&s);
    }
}
END_TEST

/* A retry after the window: the window must stay short, nothing else need be set. */
START_TEST(settings_of_the_receiver_become_defaults)
{
    struct scenario s;
    rig_scenario(&s, "%s",
                 "name: late\n"
                 "receivers: [{name: fifo, is: window, window: 2s, scope: group, most: 9}]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [{id: m-1, entity: order-1, charge: 100}]\n"
                 "    retry: {after: 6s, limit: 3}\n"
                 "faults: [lose reply m-1/1]\n");
    struct shrink_result out = shrunk(&s, "fifo", 1, 0);
    const int64_t *settings = out.scenario.receivers[0].settings;
    ck_assert_int_eq(settings[0], 2 * (int64_t)SIM_S);
    int64_t usual[SETTINGS_MAX];
    settings_default(out.scenario.receivers[0].code, usual);
    ck_assert_mem_eq(&settings[1], &usual[1], sizeof(usual) - sizeof(usual[0]));
    assert_stands(&out, CHECK_NO_DOUBLE_EFFECT);
    scenario_fini(&out.scenario);
    scenario_fini(&s);
}
END_TEST

/* Faults in sweeps name no message. */
START_TEST(faults_in_sweeps_go)
{
    struct scenario s;
    rig_scenario(&s, "%s",
                 "name: late\n"
                 "receivers: [{name: it, is: table, retention: 1m, removal: sweep, sweep: 40s}]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages:\n"
                 "      - {id: m-1, entity: order-1, charge: 100}\n"
                 "      - {id: m-2, entity: order-2, charge: 200}\n"
                 "      - {id: m-3, key: m-2, entity: order-2, charge: 300, at: 2m}\n"
                 "network: {delay: 20ms}\n"
                 "faults:\n"
                 "  - duplicate request m-3/1 after 5s\n"
                 "  - pause receiver at sweep/1 before begin for 1s\n"
                 "  - store receiver at sweep/2 expire (busy)\n");
    struct shrink_result out = shrunk(&s, "it", 1, 0);
    ck_assert_uint_eq(out.scenario.fault_count, 0);
    ck_assert_uint_eq(scenario_listed(&out.scenario), 2);
    ck_assert_int_eq(out.scenario.receivers[0].settings[0], 0);
    scenario_fini(&out.scenario);
    scenario_fini(&s);
}
END_TEST

START_TEST(simpler_durations_end)
{
    static const uint64_t from[] = {1, 999, 20 * SIM_MS, 1234567891, 17 * SIM_S, SIM_S, 2 * SIM_S};
    for (size_t i = 0; i < ARRAY_LEN(from); i++) {
        uint64_t list[SHRINK_DURATIONS], back[SHRINK_DURATIONS];
        size_t n = shrink_durations(from[i], true, list);
        for (size_t k = 0; k < n; k++) {
            size_t m = shrink_durations(list[k], true, back);
            for (size_t j = 0; j < m; j++) { /* the order is strict */
                ck_assert(back[j] != from[i]);
            }
        }
    }
    uint64_t list[SHRINK_DURATIONS];
    ck_assert_uint_eq(shrink_durations(SIM_S, false, list), 0);
    ck_assert_uint_eq(shrink_durations(2 * SIM_S, false, list), 1);
}
END_TEST

START_TEST(file_names_stay_in_their_directory)
{
    char a[SHRINK_FILE], b[SHRINK_FILE], long_name[KEY_MAX];
    shrink_file_name("lost-reply", "naive", a);
    ck_assert_str_eq(a, "lost-reply-naive.yaml");
    shrink_file_name("../../etc/passwd", "-x", a);
    ck_assert_ptr_null(strchr(a, '/'));
    ck_assert_int_ne(a[0], '.');
    shrink_file_name(".._.._etc_passwd", "-x", b);
    ck_assert_str_ne(a, b);
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    shrink_file_name(long_name, long_name, a);
    ck_assert_str_eq(a + strlen(a) - 5, ".yaml");
}
END_TEST

Suite *shrink_suite(void)
{
    Suite *s = suite_create("shrink");
    suite_add_tcase(s, scenario_print_tests());
    TCase *t = tcase_create("shrink");
    tcase_set_timeout(t, 120);
    tcase_add_loop_test(t, a_random_run_becomes_one_message_and_one_fault, 1, 9);
    tcase_add_test(t, every_failing_scenario_shrinks);
    tcase_add_test(t, power_stays_where_the_process_is_not_enough);
    tcase_add_test(t, power_becomes_the_process_where_that_is_enough);
    tcase_add_test(t, faults_move_to_the_first_attempt);
    tcase_add_test(t, hostile_names_survive);
    tcase_add_test(t, the_bound_is_told);
    tcase_add_test(t, faults_can_be_given);
    tcase_add_test(t, a_workload_becomes_its_messages);
    tcase_add_test(t, sessions_go_where_they_are_not_asked_for);
    tcase_add_test(t, settings_of_the_receiver_become_defaults);
    tcase_add_test(t, faults_in_sweeps_go);
    tcase_add_test(t, simpler_durations_end);
    tcase_add_test(t, file_names_stay_in_their_directory);
    suite_add_tcase(s, t);
    return s;
}
