/* The service outside the receiver's database: what a handling sees of it, what the judge makes of
 * its effects, what exploration tries, what diagrams show.
 *
 * Pinned: each end of a call: answered, lost, late, twice, refused, its caller dead; numbers of
 * calls; the checks that count effects there; that who calls nobody knows nothing of it.
 *
 * Left open: the service itself (tests/service_alone.c), receivers that call it
 * (tests/service_phases.c).
 */
#include "tests/probe.h"
#include "tests/service_rig.h"

#include "reports/story.h"
#include "sim/grid.h"
#include "sim/service.h"

/* ---- what a handling sees ---- */

static const char *call_keys[4]; /* of the calls that each handling makes; NULL ends them */
static bool same_key;            /* one key for all messages */

static void calls_and_answers(struct handling *h)
{
    enum outcome o = OK;
    look(h);
    for (size_t i = 0; i < ARRAY_LEN(call_keys) && call_keys[i] != NULL && o == OK; i++) {
        char key[KEY_MAX + 8];
        snprintf(key, sizeof(key), "%s%s", call_keys[i],
                 call_keys[i][0] != '\0' && !same_key ? handling_key(h) : "");
        o = outcomes[outcome_count++] = external_effect(h, key);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    begin_immediate(h);
    apply_effect(h);
    if (commit(h) == OK) {
        reply(h, REPLY_DONE, handling_external_receipt(h));
    }
}

#define M77 "{id: m-77, entity: order-1042, charge: 4200}"

/* The last of `calls` ends with this outcome, that long after it began. */
static void one_call(const char *fault, enum outcome want, unsigned ms, unsigned effects)
{
    struct scenario s;
    struct receiver code;
    call_keys[0] = "k-";
    call_keys[1] = NULL;
    same_key = false;
    rig_scenario(&s,
                 "receivers: [table]\n"
                 "senders:\n"
                 "  - {name: shop, messages: [" M77 "], retry: {after: 1h, limit: 1}}\n"
                 "network: {delay: 50ms}\n"
                 "service: {name: card, delay: 100ms, time_out: 3s}\n"
                 "contract: {no_give_up: true}\n" /* the fault is in the way, so it is excused */
                 "faults: [%s]\n",
                 fault);
    struct world *w = calling(&s, &code, calls_and_answers);
    struct result r = rig_play_kept(w, 1);
    ck_assert_msg(outcome_count == 1 && outcomes[0] == want, "%s: %s", fault,
                  outcome_text(outcomes[0]));
    ck_assert_msg(r.external == effects, "%s: %u", fault, (unsigned)r.external);
    const struct record *call = rig_find(w, RECORD_CALL, 0);
    const struct record *step = call;
    while (step->kind != RECORD_STEP || step->step != STEP_EXTERNAL) {
        step++;
    }
    ck_assert_msg(step->at - call->at == ms * SIM_MS, "%s: %u", fault,
                  (unsigned)((step->at - call->at) / SIM_MS));
    ck_assert_int_eq(r.verdict == VERDICT_FAIL, false);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}

START_TEST(the_ends_of_a_call)
{
    one_call("lose reply m-77/1", OK, 200, 1);
    one_call("lose call m-77/1", BUSY, 3000, 0);
    one_call("lose answer m-77/1", BUSY, 3000, 1);
    one_call("delay call m-77/1 by 2799ms", OK, 2999, 1);
    one_call("delay answer m-77/1 by 2800ms", BUSY, 3000, 1);
    one_call("delay call m-77/1 by 10m", BUSY, 3000, 1); /* done when nobody waits any more */
    one_call("delay answer m-77/1 by 10m", BUSY, 3000, 1);
    one_call("duplicate call m-77/1 3 times after 1s", OK, 200, 1);
    one_call("duplicate answer m-77/1 3 times after 1s", OK, 200, 1);
    one_call("partition receiver card 1s..2s", BUSY, 3000, 0);
    one_call("partition card to receiver 1s..2s", BUSY, 3000, 1);
}
END_TEST

/* A call that the network lost is the first's copy away from being answered. */
START_TEST(copies_of_a_call)
{
    struct scenario s;
    struct receiver code;
    call_keys[0] = "";
    call_keys[1] = NULL;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, messages: [" M77 "], retry: {after: 1h, limit: 1}}\n"
                     "service: {name: card, delay: 100ms}\n"
                     "contract: {no_give_up: true}\n");
    struct world *w = calling(&s, &code, calls_and_answers);
    struct fault faults[] = {rig_fault(&s, "duplicate call m-77/1 2 times after 1s"),
                             rig_fault(&s, "lose call m-77/1"),
                             rig_fault(&s, "lose answer m-77/1.1.2")};
    struct result r = rig_play(w, 1, faults, ARRAY_LEN(faults));
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        ck_assert_int_eq(r.fates[i], FATE_FIRED);
    }
    /* The second and the third copy were charged, and the third's answer came. */
    ck_assert(r.external == 2 && r.doubled == 1 && r.beyond == 1 && outcomes[0] == OK);
    ck_assert_uint_eq(violated(&r), CHECK_BIT(CHECK_NO_DOUBLE_EFFECT));
    ck_assert(r.repeated == 1 && r.duplicates == 0); /* a second call is a repeat, too */
    char text[VIOLATION_TEXT];
    violation_text(&s, &r.violations[0], text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "m-77/1.1.2 at 2."));
    ck_assert_ptr_nonnull(strstr(text, "m-77/1.1.3 at 3."));
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Calls are numbered in their attempt: in one handling, and on in that of a copy. */
START_TEST(numbers_of_calls)
{
    struct scenario s;
    struct receiver code;
    call_keys[0] = "a-";
    call_keys[1] = "b-";
    call_keys[2] = NULL;
    same_key = false;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, messages: [" M77 "], retry: {after: 1h, limit: 2}}\n"
                     "service: {name: card, delay: 100ms}\n"
                     "faults: [duplicate request m-77/1 after 30s, lose call m-77/1.2, "
                     "lose answer m-77/1.4]\n");
    struct world *w = calling(&s, &code, calls_and_answers);
    struct result r = rig_play_kept(w, 1);
    static const enum outcome want[] = {OK, BUSY, OK, BUSY, OK, OK};
    ck_assert_uint_eq(outcome_count, ARRAY_LEN(want));
    ck_assert_int_eq(memcmp(outcomes, want, sizeof(want)), 0);
    for (unsigned i = 0; i < 6; i++) {
        const struct record *call = rig_find(w, RECORD_CALL, i);
        ck_assert_uint_eq(call->attempt, i < 4 ? 1 : 2);
        ck_assert_uint_eq(call->copy, i < 4 ? i + 1 : i - 3);
    }
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

static void calls_twice(struct handling *h)
{
    for (int i = 0; i < 2; i++) {
        outcomes[outcome_count++] = external_effect(h, i ? "b" : "a");
    }
    give_up(h, outcomes[1]);
}

/* An answer belongs to its call: the first one's, which is late, is not the second one's. A fault
 * on a second call excuses its attempt as one on the first does. */
START_TEST(answers_belong_to_calls)
{
    static const struct {
        const char *faults;
        enum outcome first;
    } cases[] = {{"lose answer m-77/1.2", OK},
                 {"delay answer m-77/1 by 4s, lose answer m-77/1.2", BUSY},
                 {"duplicate answer m-77/1 after 1s, lose answer m-77/1.2", OK}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct receiver code;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, messages: [" M77 "], retry: {after: 1h, limit: 1}}\n"
                     "service: {name: card, delay: 100ms, time_out: 3s}\n"
                     "contract: {no_give_up: true}\n"
                     "faults: [%s]\n",
                     cases[i].faults);
        struct world *w = calling(&s, &code, calls_twice);
        struct result r = rig_play_kept(w, 1);
        ck_assert(outcome_count == 2 && outcomes[0] == cases[i].first && outcomes[1] == BUSY);
        ck_assert_uint_eq(violated(&r) & CHECK_BIT(CHECK_PROGRESS), 0);
        ck_assert(r.gave_up == 1 && r.unfinishable == 1);
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(a_foreign_key_is_refused)
{
    struct scenario s;
    struct receiver code;
    call_keys[0] = "one for all";
    call_keys[1] = NULL;
    same_key = true;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [" M77 ", {id: m-78, entity: other, charge: 1}]\n"
                     "    retry: {limit: 1}\n");
    struct world *w = calling(&s, &code, calls_and_answers);
    struct result r = rig_play_kept(w, 1);
    ck_assert(outcome_count == 2 && outcomes[0] == OK && outcomes[1] == STORE_ERROR);
    ck_assert_uint_eq(r.external, 1);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Its host dies while it waits: what it asked for is done, and the answer finds nobody, also where
 * the next process waits for an answer to the same message's next call. */
START_TEST(a_caller_that_dies)
{
    struct scenario s;
    struct receiver code;
    call_keys[0] = "k-";
    call_keys[1] = NULL;
    same_key = false;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: a, messages: [" M77 "], retry: {after: 300ms}}\n"
                     "  - {name: b, messages: [{id: m-1, entity: x, charge: 1, at: 1050ms}]}\n"
                     "network: {delay: 10ms}\n"
                     "service: {name: card, delay: 100ms}\n"
                     "hosts: {receiver: {workers: 2, step: 0ms, restart: 20ms}}\n"
                     "faults: [crash receiver at m-1/1 before external (process), "
                     "delay answer m-77/1 by 200ms]\n");
    struct world *w = calling(&s, &code, calls_and_answers);
    struct result r = rig_play_kept(w, 1);
    ck_assert_int_eq(outcomes[0], DEAD);
    bool dropped = false;
    for (size_t i = 0; i < rig_count(w, RECORD_ANSWERED); i++) {
        const struct record *answer = rig_find(w, RECORD_ANSWERED, i);
        dropped = dropped || (answer->code == 1 && answer->attempt == 1);
        ck_assert(answer->attempt != 1 || answer->place != PLACE_RECEIVER || answer->code == 1 ||
                  op_sender(answer->op) != PLACE_SENDER);
    }
    ck_assert(dropped && r.external == 2 && r.effects == 2 && r.verdict == VERDICT_PASS);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Requests' odds are those of calls, and replies' those of answers. */
START_TEST(random_rates)
{
    static const struct {
        const char *rates;
        bool call;
    } cases[] = {{"lose: {request: 1/2}", true}, {"lose: {reply: 1/2}", false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [phases]\n"
                     "senders:\n"
                     "  - {name: shop, workload: {count: 50}, retry: {after: 9s, limit: 60}}\n"
                     "network: {%s}\n",
                     cases[i].rates);
        struct world *w = rig_world(&s, "phases");
        struct result r = rig_play_kept(w, 1);
        unsigned lost[DIRECTION_COUNT] = {0};
        for (size_t n = 0; n < rig_count(w, RECORD_LOST); n++) {
            lost[rig_find(w, RECORD_LOST, n)->code]++;
        }
        ck_assert_int_eq(lost[CALL] > 10, cases[i].call);
        ck_assert_int_eq(lost[ANSWER] > 10, !cases[i].call);
        ck_assert((lost[CALL] > 0) == (lost[REQUEST] > 0));
        for (size_t n = 0; n < rig_count(w, RECORD_CALL); n++) { /* slots are used again */
            expect(rig_find(w, RECORD_CALL, n)->copy == 1);
        }
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* ---- the judge ---- */

static void calls_nobody(struct handling *h)
{
    apply_effect(h);
    reply(h, REPLY_DONE, handling_receipt(h));
}

static void calls_and_refuses(struct handling *h)
{
    external_effect(h, NULL);
    reply(h, REPLY_REFUSED, 0);
}

static void calls_and_goes_on(struct handling *h)
{
    external_effect(h, NULL);
    begin_immediate(h);
    if (sql(h, STEP_RECORD, 0, "t", handling_key(h)) == OK) {
        apply_effect(h);
    }
    commit(h);
    reply(h, REPLY_DONE, 0);
}

START_TEST(effects_there_are_judged)
{
#define LOSE "faults: [lose reply m-77/1]\n"
    static const struct {
        void (*handle)(struct handling *h);
        const char *rest;
        uint32_t checks;
        unsigned external, late;
        const char *text;
    } cases[] = {
        {calls_nobody, "", CHECK_BIT(CHECK_NO_LOST_EFFECT), 0, 0,
         "shop believes m-77 done, but card was never called for it"},
        {calls_and_refuses, "", CHECK_BIT(CHECK_NO_GHOST_EFFECT), 1, 0,
         "shop was told that m-77 failed, but card was charged 1 time for m-77: m-77/1 at 1.150 s"},
        {calls_and_goes_on, "", 0, 1, 0, NULL},
        {calls_and_goes_on, LOSE, CHECK_BIT(CHECK_NO_DOUBLE_EFFECT), 2, 0,
         "card was charged 2 times for m-77: m-77/1 at 1.150 s, m-77/2 at 11.150 s; shop believes "
         "m-77 done once"},
        {calls_and_goes_on, LOSE "contract: {window: 10s}\n", 0, 2, 1, NULL},
        {calls_and_goes_on, LOSE "contract: {window: 10001ms}\n", CHECK_BIT(CHECK_NO_DOUBLE_EFFECT),
         2, 0, NULL},
        {calls_and_goes_on, LOSE "contract: {window: 10s, late: forbidden}\n",
         CHECK_BIT(CHECK_NO_DOUBLE_EFFECT), 2, 1,
         "card was charged 2 times for m-77: m-77/1 at 1.150 s, m-77/2 at 11.150 s (1 late, which "
         "the contract forbids); shop believes m-77 done once"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct receiver code;
        char text[VIOLATION_TEXT];
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, messages: [" M77 "], retry: {after: 10s}}\n"
                     "network: {delay: 50ms}\n"
                     "service: {name: card, delay: 100ms}\n"
                     "%s",
                     cases[i].rest);
        struct world *w = calling(&s, &code, cases[i].handle);
        struct result r = rig_play_kept(w, 1);
        ck_assert_msg(violated(&r) == cases[i].checks, "case %zu: %x", i, violated(&r));
        ck_assert(r.external == cases[i].external && r.late == cases[i].late && r.calls);
        ck_assert(r.doubled == (cases[i].external > 1) && r.with_effect == 1);
        if (cases[i].text != NULL) {
            violation_text(&s, &r.violations[0], text, sizeof(text));
            ck_assert_str_eq(text, cases[i].text);
        }
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* A call that is under way may still do what was believed done: nothing is lost before it has. */
static void trusts_the_network(struct handling *h)
{
    external_effect(h, "k");
    begin_immediate(h);
    apply_effect(h);
    commit(h);
    reply(h, REPLY_DONE, 0);
}

START_TEST(a_call_under_way_keeps_its_operation)
{
    static const struct {
        const char *fault;
        bool lost;
    } cases[] = {{"delay call m-77/1 by 1h", false}, {"lose call m-77/1", true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct receiver code;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, messages: [" M77 "], retry: {after: 10s}}\n"
                     "faults: [%s]\n",
                     cases[i].fault);
        struct world *w = calling(&s, &code, trusts_the_network);
        struct result r = rig_play_kept(w, 1);
        ck_assert_int_eq(rig_violated(&r, CHECK_NO_LOST_EFFECT), cases[i].lost);
        ck_assert_uint_eq(r.external, !cases[i].lost);
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* What exploration tries: late is what comes when the caller does not wait any more. */
START_TEST(late_is_later_than_the_time_out)
{
    struct scenario s;
    struct grid g;
    struct fault_value values[GRID_VALUES_MAX];
    rig_scenario(&s, "receivers: [phases]\n"
                     "senders: [{name: shop, messages: [" M77 "]}]\n"
                     "service: {time_out: 10s}\n"
                     "broker: {visibility: 30s}\n");
    grid_init(&g, &s, false);
    for (unsigned d = REQUEST; d <= ANSWER; d++) {
        struct site site = {.key = {.draw = FAULT_DELAY, .direction = (uint8_t)d}};
        uint64_t late = direction_outside((enum direction)d)    ? 15 * SIM_S
                        : direction_brokered((enum direction)d) ? 45 * SIM_S
                                                                : 1500 * SIM_MS;
        ck_assert_uint_eq(grid_values(&g, &site, 0, values), 1);
        ck_assert_uint_eq(values[0].time, late);
        site.key.draw = FAULT_DUPLICATE;
        ck_assert_uint_eq(grid_values(&g, &site, 0, values), 2);
        ck_assert_uint_eq(values[1].time, late);
    }
    static const struct {
        unsigned from, to;
        size_t count; /* both ways, and one */
    } cuts[] = {{PLACE_SENDER, PLACE_RECEIVER, 2},
                {PLACE_RECEIVER, PLACE_SENDER, 1},
                {PLACE_RECEIVER, PLACE_SERVICE, 2},
                {PLACE_SERVICE, PLACE_RECEIVER, 1}};
    for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
        struct site site = {.key = {.draw = FAULT_PARTITION,
                                    .host = (uint8_t)cuts[i].from,
                                    .value = (uint8_t)cuts[i].to}};
        ck_assert_uint_eq(grid_values(&g, &site, 0, values), cuts[i].count);
    }
    scenario_fini(&s);
}
END_TEST

/* ---- who does not call, and diagrams ---- */

/* What is off adds nothing: the same history with and without a service; its faults are not for
 * this receiver. */
START_TEST(others_know_nothing_of_it)
{
    uint64_t hash[2];
    for (int i = 0; i < 2; i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders: [{name: shop, messages: [" M77 "]}]\n"
                     "%s"
                     "faults: [lose reply m-77/1%s]\n",
                     i ? "service: {name: card, window: 1s, time_out: 1h}\n" : "",
                     i ? ", lose call m-77/1, partition receiver card 1s..2s" : "");
        struct result r = rig_once(&s, "table", 1);
        hash[i] = r.history_hash;
        ck_assert(r.verdict == VERDICT_PASS && !r.calls);
        for (size_t n = 1; n < r.listed_count; n++) {
            ck_assert_int_eq(r.fates[n], FATE_NOT_APPLICABLE);
        }
        result_fini(&r);
        scenario_fini(&s);
    }
    ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

START_TEST(diagrams_have_a_lane_for_it)
{
    struct scenario s;
    struct story story;
    size_t count;
    unsigned arrows = 0, lost = 0, back = 0;
    rig_scenario(&s, "receivers: [phases]\n"
                     "senders: [{name: shop, messages: [" M77 "], retry: {after: 10s}}]\n"
                     "service: {name: card}\n"
                     "faults: [lose answer m-77/1]\n");
    struct world *w = rig_world(&s, "phases");
    struct result r = rig_play_kept(w, 1);
    const struct record *records = world_history(w, &count);
    story_make(&story, &r, records, count, 0, 1000);
    ck_assert_uint_eq(story.lane_count, 4);
    ck_assert_str_eq(story.lanes[2].name, "database");
    ck_assert_str_eq(story.lanes[3].name, "card");
    for (size_t i = 0; i < story.count; i++) {
        const struct move *m = &story.moves[i];
        arrows += m->kind == MOVE_ARROW && m->to == 3;
        lost += m->kind == MOVE_LOST && m->from == 3;
        back +=
            m->kind == MOVE_ARROW && m->from == 3 && strcmp(m->label, "answer m-77/2: known") == 0;
    }
    ck_assert(arrows == 2 && lost == 1 && back == 1);
    story_fini(&story);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *service_suite(void)
{
    Suite *s = suite_create("service");
    TCase *t = tcase_create("service");
    tcase_add_test(t, the_ends_of_a_call);
    tcase_add_test(t, copies_of_a_call);
    tcase_add_test(t, numbers_of_calls);
    tcase_add_test(t, answers_belong_to_calls);
    tcase_add_test(t, a_foreign_key_is_refused);
    tcase_add_test(t, a_caller_that_dies);
    tcase_add_test(t, random_rates);
    tcase_add_test(t, effects_there_are_judged);
    tcase_add_test(t, a_call_under_way_keeps_its_operation);
    tcase_add_test(t, late_is_later_than_the_time_out);
    tcase_add_test(t, others_know_nothing_of_it);
    tcase_add_test(t, diagrams_have_a_lane_for_it);
    suite_add_tcase(s, t);
    suite_add_tcase(s, alone_tests());
    suite_add_tcase(s, phases_tests());
    suite_add_tcase(s, beside_tests());
    return s;
}
