/* The outbox, the stage downstream, and the checks in-order and emitted-once.
 *
 * Pinned: every sound setting holds exactly-once and emitted-once under every schedule with one
 * covered fault (ONLYONCE_HEAVY=1: two), and under a random mix of everything; each setting that is
 * wrong on purpose is convicted. Deaths while somebody waits for an answer, stops, kills, sweeps
 * beside the relay, runs one after the other and processes opened anew leave histories as they
 * should be. What rolled back is never sent; an outbox that is long is sent to its end.
 *
 * Left open: more than two messages explored.
 */
#include "tests/outbox_rig.h"

#include "sim/explore.h"
#include "sim/shrink.h"
#include "tests/probe.h"

#include <stdlib.h>

static const char *const sound[] = {
    "outbox",
    "outbox, dispatch: handling",
    "outbox, dispatch: both",
    "outbox, sent_rows: deleted",
    "outbox, record: last",
    "outbox, record: received, dispatch: both",
    "nservicebus_outbox",
    "nservicebus_optimistic",
    "masstransit_outbox",
    "wolverine_inbox",
    "eventuate_tram",
    "staged_jobs",
};

#define ORDERS "{id: a, entity: e, charge: 1}, {id: b, entity: e, charge: 1}"

static void two_messages(struct scenario *s, const char *it)
{
    rig_scenario(s,
                 "receivers: [{name: it, is: %s}]\n"
                 "downstream: table\n"
                 "senders:\n"
                 "  - {name: shop, messages: [{id: a, entity: e, charge: 1}]}\n"
                 "  - {name: web, messages: [{id: b, entity: e, charge: 1}]}\n"
                 "network: {delay: 20ms}\n"
                 "hosts: {receiver: {workers: 2}}\n"
                 "expect: [exactly-once, emitted-once]\n",
                 it);
}

static void say_counterexample(const struct scenario *s, const struct certificate *c)
{
    struct sentence_names names = scenario_names(s);
    char one[SENTENCE_MAX];
    for (unsigned i = 0; i < c->counterexample_faults; i++) {
        sentence_print(&names, &c->counterexample[i], one);
        fprintf(stderr, "  - %s\n", one);
    }
}

START_TEST(sound_settings_hold)
{
    struct scenario s;
    struct certificate c;
    two_messages(&s, sound[_i]);
    struct explore_task task = {.scenario = &s,
                                .seed = 1,
                                .faults = getenv("ONLYONCE_HEAVY") ? 2 : 1,
                                .kinds = explore_covered_kinds(),
                                .jobs = 2,
                                .expectation = &s.expectations[0]};
    explore(&task, stderr, &c);
    if (c.verdict != VERDICT_PASS) {
        say_counterexample(&s, &c);
        ck_abort_msg("%s: %s", sound[_i], verdict_text(c.verdict));
    }
    ck_assert_uint_gt(c.schedules, 900);
    scenario_fini(&s);
}
END_TEST

START_TEST(wrong_settings_are_convicted)
{
    static const char *const wrong[] = {
        "outbox, ids: new", "outbox, mark: before-send", "outbox, mark: after-send",
        "outbox, mark: before-send, dispatch: handling", "dual_write"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct scenario s;
        struct certificate c;
        two_messages(&s, wrong[i]);
        s.expectations[0].violates = true;
        s.expectations[0].checks = EMITTED;
        struct explore_task task = {.scenario = &s,
                                    .seed = 1,
                                    .faults = 1,
                                    .kinds = explore_covered_kinds(),
                                    .jobs = 1,
                                    .expectation = &s.expectations[0]};
        explore(&task, stderr, &c);
        ck_assert_msg(c.expected && c.violated[CHECK_EMITTED_ONCE] > 0, "%s", wrong[i]);
        scenario_fini(&s);
    }
}
END_TEST

/* A transaction that began before the latest row was sent commits behind it. */
START_TEST(a_watermark_passes_over_a_row)
{
    const char *lines = "senders:\n"
                        "  - {name: shop, messages: [{id: a, entity: e, charge: 1}]}\n"
                        "  - {name: web, messages: [{id: b, entity: e, charge: 1, at: 1010ms}]}\n"
                        "hosts: {receiver: {workers: 2, step: 0s}}\n" LISTED(
                            "pause receiver at a/1 before begin for 500ms");
    tale_check(
        &(struct tale){"outbox, relay_reads: watermark", lines, "done done", 2, 1, 1, EMITTED});
    tale_check(&(struct tale){"outbox", lines, "done done", 2, 2, 2, 0});
}
END_TEST

START_TEST(a_random_mix)
{
    struct scenario s;
    rig_scenario(&s,
                 "receivers: [{name: it, is: %s}]\n"
                 "downstream: table\n"
                 "senders:\n"
                 "  - {name: shop, workload: {count: 60, entities: 3},\n"
                 "     retry: {after: 500ms, limit: 40}}\n"
                 "  - {name: web, workload: {count: 60, entities: 3}, in_flight: 3,\n"
                 "     retry: {after: 700ms, limit: 40, backoff: exponential, max: 3s}}\n"
                 "network: {delay: 5ms..100ms, lose: 1/20, duplicate: 1/20}\n"
                 "hosts:\n"
                 "  receiver: {workers: 3, crash: 1/1500, power: 1/1500, pause: 1/200,\n"
                 "             pause_for: 0ms..600ms, store: 1/200, handler: 1/200}\n"
                 "expect: [exactly-once, emitted-once]\n",
                 sound[_i]);
    struct world *w = rig_world(&s, "it");
    uint64_t crashes = 0, again = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct result r = rig_play_kept(w, seed);
        if (r.verdict != VERDICT_PASS || r.judged[CHECK_EMITTED_ONCE] != 120) {
            ck_abort_msg("%s: %s", sound[_i], rig_say(&r, NULL));
        }
        crashes += r.crashes;
        again += r.follow_deliveries - r.follow_effects;
        result_fini(&r);
    }
    ck_assert_uint_gt(crashes, 100);
    ck_assert_uint_gt(again, 100);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

#define ONE_SENT SENT_BY("", CHARGED("m"))

/* Whoever waits for an answer dies, ends or is killed; so does who was to give it. */
START_TEST(while_somebody_waits)
{
    static const struct tale tales[] = {
        {"outbox", ONE_SENT LISTED("crash downstream at m:out/1 before commit (process)"), "done",
         1, 2, 1, 0},
        {"outbox", ONE_SENT LISTED("crash downstream at m:out/1 after commit (power none)"), "done",
         1, 2, 1, 0},
        {"outbox", ONE_SENT LISTED("lose reply m:out/1"), "done", 1, 2, 1, 0},
        {"outbox", ONE_SENT LISTED("duplicate reply m:out/1"), "done", 1, 1, 1, 0},
        {"outbox", ONE_SENT LISTED("duplicate request m:out/1 3 times after 10ms"), "done", 1, 1, 1,
         0},
        {"outbox", ONE_SENT LISTED("delay reply m:out/1 by 5s"), "done", 1, 2, 1, 0},
        {"outbox", ONE_SENT LISTED("crash receiver at relay/1 after send (process)"), "done", 1, 2,
         1, 0},
        {"outbox", ONE_SENT LISTED("crash receiver at relay/1 before send (process)"), "done", 1, 1,
         1, 0},
        {"outbox", ONE_SENT LISTED("stop receiver at relay/1 before send"), "done", 1, 1, 1, 0},
        {"outbox", ONE_SENT LISTED("stop receiver at relay/1 before send killed after 30ms"),
         "done", 1, 2, 1, 0},
        {"outbox, dispatch: handling",
         ONE_SENT LISTED("stop receiver at m/1 before send killed after 30ms"), "duplicate", 1, 2,
         1, 0},
        {"outbox, dispatch: handling", ONE_SENT LISTED("partition receiver downstream 1s..4s"),
         "retry-later retry-later retry-later duplicate", 1, 4, 1, 0},
        {"outbox, dispatch: handling", ONE_SENT LISTED("partition downstream to receiver 1s..4s"),
         "retry-later retry-later retry-later duplicate", 1, 4, 1, 0},
        {"outbox", ONE_SENT LISTED("clock downstream +1h at 1s"), "done", 1, 1, 1, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(tales); i++) {
        tale_check(&tales[i]);
    }
}
END_TEST

/* The first stage is not touched by what the disk of the second one forgets. */
START_TEST(a_disk_downstream_that_lies)
{
    tale_check(
        &(struct tale){"outbox",
                       SENT_BY("", CHARGED("m") ", " CHARGED("n"))
                           LISTED("lying-disk downstream, "
                                  "crash downstream at n:out/1 before commit (power none)"),
                       "done done", 2, 3, 1,
                       CHECK_BIT(CHECK_NO_LOST_EFFECT) | CHECK_BIT(CHECK_ACK_IMPLIES_DURABLE)});
}
END_TEST

/* A parcel of a transaction that is gone goes nowhere. */
START_TEST(what_rolled_back_is_not_sent)
{
    tale_check(&(struct tale){"outbox",
                              ONE_SENT LISTED("store receiver at m/1 commit (not applied)"),
                              "error done", 1, 1, 1, 0});
    tale_check(&(struct tale){"outbox",
                              SENT_BY("retry: {limit: 1},", CHARGED("m"))
                                  LISTED("store receiver at m/1 commit (not applied)"),
                              "error", 0, 0, 0, 0});
    tale_check(&(struct tale){"outbox", SENT_BY("", "{id: m, entity: e, charge: 1, invalid: true}"),
                              "refused", 0, 0, 0, 0});
}
END_TEST

/* Nothing to add where a set has found its value, and nobody to ask for a registration. */
START_TEST(told_without_an_effect)
{
    tale_check(&(struct tale){
        "outbox",
        SENT_BY("", "{id: a, entity: e, effect: {set: 5}}, {id: b, entity: e, effect: {set: 5}}"),
        "done done", 1, 2, 2, 0});
    tale_check(&(struct tale){"outbox", SENT_BY("", "{id: r, register: true}, " CHARGED("m")),
                              "done done", 1, 1, 1, 0});
}
END_TEST

/* A sweep and a turn of the relay, at the same moments. */
START_TEST(relay_and_sweep_at_once)
{
    struct scenario s;
    struct world *w;
    struct result r = tale_play(
        &s, &w, "outbox, retention: 4s, removal: sweep, sweep: 100ms, every: 100ms",
        "senders: [{name: shop, workload: {count: 40, entities: 2}, retry: {after: 300ms}}]\n"
        "hosts: {receiver: {step: 0ms..3ms, pause: 1/50, pause_for: 0ms..500ms, crash: 1/400}}\n");
    ck_assert_msg(r.verdict == VERDICT_PASS, "%s", rig_say(&r, NULL));
    ck_assert_uint_gt(rig_count(w, RECORD_SWEEP), 10);
    ck_assert_uint_gt(rig_count(w, RECORD_RELAY), 10);
    tale_fini(&s, w, &r);
}
END_TEST

/* It gets longer than a relay with one row at a time can send meanwhile. */
START_TEST(a_long_outbox_is_sent_to_its_end)
{
    struct scenario s;
    struct world *w;
    struct result r =
        tale_play(&s, &w, "outbox",
                  "senders: [{name: shop, workload: {count: 5000, entities: 2}, loop: open, "
                  "every: 1ms, retry: {after: 300ms, limit: 2}}]\n"
                  "faults: [duplicate request shop-1/1]\n");
    ck_assert_msg(r.verdict == VERDICT_PASS, "%s", rig_say(&r, NULL));
    ck_assert_uint_eq(r.follow_effects, 5000);
    ck_assert_uint_gt(r.ended, 150 * SIM_S);
    tale_fini(&s, w, &r);
}
END_TEST

/* Two hops behind the first one's table: the second tells nobody, and holds all the same. */
START_TEST(an_outbox_downstream)
{
    struct scenario s;
    two_messages(&s, "outbox");
    s.downstream->code = receiver_find("outbox", strlen("outbox"));
    for (size_t i = 0; s.downstream->code->settings[i].name != NULL; i++) {
        s.downstream->settings[i] = s.downstream->code->settings[i].value;
    }
    struct world *w = rig_world(&s, "it");
    struct fault f[] = {rig_fault(&s, "lose reply a:out/1"),
                        rig_fault(&s, "crash downstream at relay/1 before commit (process)")};
    struct result r = rig_play(w, 1, f, ARRAY_LEN(f));
    ck_assert_msg(r.verdict == VERDICT_PASS, "%s", rig_say(&r, f));
    ck_assert_uint_eq(r.follow_effects, 2);
    tale_fini(&s, w, &r);
}
END_TEST

static uint64_t hash_of(struct world *w, const struct fault *f, bool reopen)
{
    struct result r;
    static const struct fault none;
    world_play(
        w,
        &(struct play){
            .seed = 3, .faults = f != NULL ? f : &none, .fault_count = f != NULL, .reopen = reopen},
        &r);
    uint64_t hash = r.history_hash;
    ck_assert_msg(r.verdict != VERDICT_FAIL, "%s", rig_say(&r, f));
    result_fini(&r);
    return hash;
}

/* Each crash, then another run in the same world; opened anew; alone. */
START_TEST(run_after_run)
{
    struct scenario s;
    two_messages(&s, "outbox, dispatch: both");
    struct world *w = rig_world(&s, "it");
    struct rig_sites all = {.kind = FAULT_CRASH};
    struct result r = rig_collect(w, 3, NULL, 0, &all);
    result_fini(&r);
    uint64_t quiet = hash_of(w, NULL, false);
    ck_assert_uint_gt(all.count, 60);
    for (size_t i = 0; i < all.count; i += 3) {
        struct fault f = rig_crash_at(&all.list[i], i % rig_crash_values(2), 2);
        uint64_t hash = hash_of(w, &f, false);
        expect(hash == hash_of(w, &f, true));
        expect(hash_of(w, NULL, i % 2 == 0) == quiet);
        struct world *alone = rig_world(&s, "it");
        expect(hash == hash_of(alone, &f, false));
        world_free(alone);
    }
    rig_sites_fini(&all);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* ---- in-order ---- */

static bool in_order(const char *receiver, const char *lines)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [%s]\nnetwork: {delay: 20ms}\nexpect: [in-order]\n%s", receiver,
                 lines);
    struct result r = rig_once(&s, receiver, 1);
    bool violates = rig_violated(&r, CHECK_IN_ORDER);
    ck_assert_uint_ge(r.judged[CHECK_IN_ORDER], 2);
    ck_assert_msg(r.effects == r.operations, "%s", rig_say(&r, NULL));
    result_fini(&r);
    scenario_fini(&s);
    return !violates;
}

START_TEST(order_of_effects)
{
#define BOTH SENT_BY("in_flight: 2,", ORDERS)
    ck_assert(in_order("table", BOTH));
    ck_assert(!in_order("table", BOTH LISTED("delay request a/1 by 500ms")));
    ck_assert(!in_order("table", BOTH "hosts: {receiver: {workers: 2, step: 0s}}\n" LISTED(
                                     "pause receiver at a/1 before begin for 500ms")));
    /* In the order of sending, which need not be that of the list. */
    ck_assert(in_order("table", SENT_BY("", "{id: a, entity: e, charge: 1, at: 3s}, "
                                            "{id: b, entity: e, charge: 1, at: 2s}")));
    /* Of another entity, of another sender. */
    ck_assert(in_order("table", SENT_BY("in_flight: 2,", "{id: a, entity: e, charge: 1}, "
                                                         "{id: b, entity: f, charge: 1}")
                                    LISTED("delay request a/1 by 500ms")));
    ck_assert(in_order("table",
                       "senders: [{name: shop, messages: [{id: a, entity: e, charge: 1}]}, "
                       "{name: web, messages: [{id: b, entity: e, charge: 1}]}]\n" LISTED(
                           "delay request a/1 by 500ms")));
    /* A queue that holds an entity's messages back until the one before them is done. */
#define HELD(how) "broker: {visibility: 1s, prefetch: 2" how "}\n" BOTH LISTED("lose delivery a/1")
    ck_assert(in_order("table", HELD(", fifo: entity")));
    ck_assert(!in_order("table", HELD("")));
    /* A commit that a crash cut off, and that the disk has kept. */
    ck_assert(in_order("table", BOTH LISTED("crash receiver at a/1 after commit (process)")));
#undef HELD
#undef BOTH
}
END_TEST

/* One relay sends in order; handlings that send by themselves do not. */
START_TEST(order_downstream)
{
    struct scenario s;
    struct world *w;
    for (int by_handling = 0; by_handling < 2; by_handling++) {
        struct result r = tale_play(
            &s, &w, by_handling ? "outbox, dispatch: handling" : "outbox",
            SENT_BY("in_flight: 2, retry: {after: 3s},", ORDERS)
                LISTED("lose request a:out/1") "hosts: {receiver: {workers: 2, step: 0s}}\n");
        result_fini(&r);
        s.expectations[0].checks |= CHECK_BIT(CHECK_IN_ORDER);
        r = rig_play_kept(w, 1);
        ck_assert_uint_eq(r.follow_effects, 2);
        ck_assert_uint_eq(r.judged[CHECK_IN_ORDER], 4);
        ck_assert_msg(rig_violated(&r, CHECK_IN_ORDER) == (by_handling == 1), "%s",
                      rig_say(&r, NULL));
        tale_fini(&s, w, &r);
    }
}
END_TEST

/* ---- stories that name what is downstream ---- */

static struct shrink_result smallest(const char *it, const char *lines, enum check check)
{
    struct scenario s;
    struct world *w;
    struct shrink_result out;
    struct result r = tale_play(&s, &w, it, lines);
    ck_assert_msg(rig_violated(&r, check), "%s", rig_say(&r, NULL));
    struct shrink_task task = {.scenario = &s, .seed = 1, .fired = r.fired_count, .check = check};
    ck_assert_int_eq(shrink(&task, stderr, &out), SIM_OK);
    tale_fini(&s, w, &r);
    return out;
}

START_TEST(stories_get_smaller)
{
#define WORK                                                                                       \
    "senders: [{name: shop, workload: {count: 20, entities: 2}},"                                  \
    " {name: web, messages: [" ORDERS "]}]\n"
#define LOUD                                                                                       \
    LISTED("lose request shop-7:out/1, "                                                           \
           "pause receiver at relay/2 before send for 3s, "                                        \
           "clock downstream +3s at 2s, "                                                          \
           "delay reply b:out/1 by 3s")
    struct shrink_result a = smallest("outbox, mark: after-send", WORK LOUD, CHECK_EMITTED_ONCE);
    ck_assert_ptr_nonnull(a.scenario.downstream);
    ck_assert_uint_eq(a.scenario.fault_count, 1);
    ck_assert_uint_eq(a.scenario.sender_count, 1);
    ck_assert_uint_eq(a.scenario.senders[0].message_count, 1);
    scenario_fini(&a.scenario);
    /* Where nothing downstream matters, there is nothing downstream. */
    struct shrink_result b = smallest("nservicebus_outbox, retention: 10s, sweep: 1s",
                                      WORK LISTED("lose reply b:out/1, "
                                                  "duplicate request a/1 after 1h, "
                                                  "partition receiver downstream 2s..3s"),
                                      CHECK_NO_DOUBLE_EFFECT);
    ck_assert_ptr_null(b.scenario.downstream);
    ck_assert_uint_eq(b.scenario.fault_count, 1);
    scenario_fini(&b.scenario);
}
END_TEST

Suite *outbox_suite(void)
{
    Suite *s = suite_create("outbox");
    TCase *t = tcase_create("outbox");
    tcase_set_timeout(t, getenv("ONLYONCE_HEAVY") ? 3600 : 60);
    tcase_add_loop_test(t, sound_settings_hold, 0, ARRAY_LEN(sound));
    tcase_add_test(t, wrong_settings_are_convicted);
    tcase_add_test(t, a_watermark_passes_over_a_row);
    tcase_add_loop_test(t, a_random_mix, 0, ARRAY_LEN(sound));
    tcase_add_test(t, while_somebody_waits);
    tcase_add_test(t, a_disk_downstream_that_lies);
    tcase_add_test(t, what_rolled_back_is_not_sent);
    tcase_add_test(t, told_without_an_effect);
    tcase_add_test(t, relay_and_sweep_at_once);
    tcase_add_test(t, a_long_outbox_is_sent_to_its_end);
    tcase_add_test(t, an_outbox_downstream);
    tcase_add_test(t, run_after_run);
    tcase_add_test(t, order_of_effects);
    tcase_add_test(t, order_downstream);
    tcase_add_test(t, stories_get_smaller);
    suite_add_tcase(s, t);
    suite_add_tcase(s, rules_outbox_tests());
    return s;
}
