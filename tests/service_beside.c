/* The service beside a broker, a session and a stage downstream.
 *
 * Pinned: calls of deliveries and what exploration finds among them; that a fault on such a call is
 * none of the sender's attempt; the lanes of a story with both; a registration calls nobody; a
 * caller that stands before a receiver downstream.
 */
#include "tests/service_rig.h"

#include "reports/diagram.h"

#include "sim/explore.h"
#include "sim/network.h"

#include <stdlib.h>

#define BROKERED                                                                                   \
    "receivers: [{name: lapses, is: phases, lock: 1s}, effect_outside]\n"                          \
    "senders: [{name: shop, messages: [{id: m-77, entity: e, charge: 1}]}]\n"                      \
    "network: {delay: 20ms}\n"                                                                     \
    "broker: {visibility: 30s, redeliver: 10, after: 2s}\n"                                        \
    "service: {name: card, delay: 50ms, time_out: 1s}\n"

/* _i: the receiver */
START_TEST(every_schedule_with_a_broker)
{
    static const struct expectation exactly_once;
    struct scenario s;
    struct certificate c;
    rig_scenario(&s, BROKERED);
    struct explore_task task = {.scenario = &s,
                                .receiver = (size_t)_i,
                                .seed = 1,
                                .faults = 1,
                                .kinds = explore_covered_kinds(),
                                .jobs = 1,
                                .expectation = &exactly_once};
    explore(&task, stderr, &c);
    ck_assert_uint_gt(c.schedules, 200);
    ck_assert_int_eq(c.verdict, _i == 0 ? VERDICT_PASS : VERDICT_FAIL);
    for (unsigned check = 0; check < CHECK_COUNT; check++) {
        ck_assert_int_eq(c.violated[check] > 0, _i == 1 && check == CHECK_NO_DOUBLE_EFFECT);
    }
    scenario_fini(&s);
}
END_TEST

/* All six directions are sites; the second delivery's call has its number. */
START_TEST(calls_of_deliveries)
{
    struct scenario s;
    unsigned met[DIRECTION_COUNT] = {0};
    rig_scenario(&s, BROKERED "faults: [lose call m-77/1, delay answer m-77/2 by 5s]\n");
    struct world *w = rig_world(&s, "lapses");
    struct rig_sites sites = {.kind = FAULT_LOSE};
    struct result r = rig_collect(w, 1, s.faults, s.fault_count, &sites);
    ck_assert_msg(r.verdict == VERDICT_PASS && r.external == 1, "%s", rig_say(&r, NULL));
    ck_assert(r.fates[0] == FATE_FIRED && r.fates[1] == FATE_FIRED);
    for (size_t i = 0; i < sites.count; i++) {
        met[sites.list[i].key.direction]++;
    }
    ck_assert_uint_eq(met[REQUEST], 1);
    ck_assert_uint_eq(met[REPLY], 1);
    ck_assert_uint_eq(met[DELIVERY], 3);
    ck_assert_uint_eq(met[ACK], 3);
    ck_assert_uint_eq(met[CALL], 3);
    ck_assert_uint_eq(met[ANSWER], 2);
    rig_sites_fini(&sites);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Attempt 1 of its sender met a fault only where the call is made for that attempt. */
START_TEST(whose_attempt_a_lost_call_hinders)
{
    for (unsigned of_delivery = 0; of_delivery < 2; of_delivery++) {
        struct run run = {.now = SIM_START};
        struct operations ops;
        struct network network;
        struct network_config way = {0};
        struct partition cut = {.from = PLACE_RECEIVER, .to = PLACE_SERVICE, .end = SIM_TIME_MAX};
        queue_init(&run.queue, 16);
        history_init(&run.history);
        schedule_init(&run.schedule);
        schedule_reset(&run.schedule, 1, SIM_TIME_MAX, NULL, 0, NULL);
        operations_init(&ops);
        network_init(&network, &way, &run, &ops);
        network_partition(&network, &cut);
        struct operation *op = operations_open(&ops, op_make(PLACE_SENDER, 1), 1);
        op->attempt = 1;
        struct message m = {.op = op->op,
                            .slot = op->slot,
                            .attempt = 1,
                            .copy = 1,
                            .echo = 1,
                            .direction = CALL,
                            .behind = call_behind(PLACE_RECEIVER, of_delivery, 0)};
        network_send(&network, op, &m, PLACE_RECEIVER, PLACE_SERVICE);
        ck_assert_uint_eq(network.lost, 1);
        ck_assert_int_eq(op->met_fault, !of_delivery);
        network_fini(&network);
        operations_fini(&ops);
        schedule_fini(&run.schedule);
        history_fini(&run.history);
        queue_fini(&run.queue);
    }
}
END_TEST

START_TEST(the_story_has_both)
{
    struct scenario s;
    struct story story;
    size_t count, size;
    char *text;
    unsigned calls = 0, answers = 0, steps = 0;
    rig_scenario(&s, BROKERED "faults: [lose answer m-77/1]\n");
    struct world *w = rig_world(&s, "lapses");
    struct result r = rig_play_kept(w, 1);
    const struct record *records = world_history(w, &count);
    story_make(&story, &r, records, count, 0, UINT64_MAX);
    static const char *const lanes[] = {"shop", "broker", "receiver", "database", "card"};
    ck_assert_uint_eq(story.lane_count, ARRAY_LEN(lanes));
    for (size_t i = 0; i < ARRAY_LEN(lanes); i++) {
        ck_assert_str_eq(story.lanes[i].name, lanes[i]);
    }
    for (size_t i = 0; i < story.count; i++) {
        const struct move *m = &story.moves[i];
        calls += m->kind == MOVE_ARROW && m->from == 2 && m->to == 4;
        answers += m->kind == MOVE_ARROW && m->from == 4 && m->to == 2;
        steps += m->kind == MOVE_ARROW && m->from == 2 && m->to == 3;
    }
    ck_assert(calls == 2 && answers == 1 && steps > 4);
    FILE *out = open_memstream(&text, &size);
    diagram_print(&story, false, out);
    mermaid_print(&story, &r, out);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "answer m-77/2: known"));
    free(text);
    story_fini(&story);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(a_registration_calls_nobody)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [phases, effect_outside]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: m-1, entity: e, charge: 1}, {id: m-2, register: true}]\n"
                     "    session: registered\n"
                     "faults: [lose reply m-1/1]\n");
    for (size_t i = 0; i < s.receiver_count; i++) {
        struct world *w = rig_world(&s, s.receivers[i].name);
        struct result r = rig_play_kept(w, 1);
        ck_assert_msg(r.verdict == VERDICT_PASS, "%s", rig_say(&r, NULL));
        ck_assert_uint_eq(r.deliveries, 4);
        ck_assert_uint_eq(r.effects, 1);
        ck_assert_uint_eq(r.external, 1);
        ck_assert_uint_eq(rig_count(w, RECORD_CALL), 1);
        result_fini(&r);
        world_free(w);
    }
    scenario_fini(&s);
}
END_TEST

/* It calls the service, and has nothing to tell downstream. */
START_TEST(a_caller_with_a_stage_downstream)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [phases, outbox]\n"
                     "senders: [{name: shop, messages: [{id: m-1, entity: e, charge: 1}]}]\n"
                     "downstream: table\n"
                     "service: {name: card}\n"
                     "faults: [lose answer m-1/1, lose reply m-1/1]\n");
    for (size_t i = 0; i < s.receiver_count; i++) {
        struct result r = rig_once(&s, s.receivers[i].name, 1);
        ck_assert_msg(r.verdict == VERDICT_PASS, "%s", rig_say(&r, NULL));
        ck_assert_uint_eq(r.effects, 1);
        ck_assert_uint_eq(r.external, i == 0);
        ck_assert_uint_eq(r.follow_ons, i == 1);
        result_fini(&r);
    }
    scenario_fini(&s);
}
END_TEST

TCase *beside_tests(void)
{
    TCase *t = tcase_create("beside");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, every_schedule_with_a_broker, 0, 2);
    tcase_add_test(t, calls_of_deliveries);
    tcase_add_test(t, whose_attempt_a_lost_call_hinders);
    tcase_add_test(t, the_story_has_both);
    tcase_add_test(t, a_registration_calls_nobody);
    tcase_add_test(t, a_caller_with_a_stage_downstream);
    return t;
}
