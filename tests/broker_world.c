/* A broker in a world: which receiver survives what.
 *
 * Pinned: no broker, no trace of one; stories by fault and receiver; a visibility that is shorter
 * than the handling; a long queue; a random mix that convicts naive and acquits table; all
 * schedules with few faults; what diagrams tell.
 */
#include "tests/broker_rig.h"
#include "tests/world_rig.h"

#include "reports/diagram.h"
#include "sim/explore.h"

#include <stdlib.h>

#define TWO_MESSAGES                                                                               \
    "receivers: [table, naive, claim, ack_first, {name: five, is: window, window: 5m}]\n"          \
    "senders:\n"                                                                                   \
    "  - name: shop\n"                                                                             \
    "    messages:\n"                                                                              \
    "      - {id: m-77, entity: order-1042, charge: 4200}\n"                                       \
    "      - {id: m-78, entity: order-1042, charge: 800}\n"

static size_t sites_of(const char *rest, enum fault_kind kind, enum direction direction)
{
    struct scenario s;
    size_t n = 0;
    rig_scenario(&s, TWO_MESSAGES "%s", rest);
    struct world *w = rig_world(&s, "table");
    struct rig_sites sites = {.kind = kind};
    struct result r = rig_collect(w, 1, NULL, 0, &sites);
    for (size_t i = 0; i < sites.count; i++) {
        n += sites.list[i].key.direction == direction;
    }
    ck_assert_uint_eq(r.effects, 2);
    rig_sites_fini(&sites);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
    return n;
}

START_TEST(deliveries_are_sites_where_there_is_a_broker)
{
    static const enum fault_kind kinds[] = {FAULT_LOSE, FAULT_DUPLICATE, FAULT_DELAY};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        for (unsigned d = REQUEST; d <= ACK; d++) {
            bool both = d == REQUEST || d == REPLY;
            ck_assert_uint_eq(sites_of("", kinds[i], (enum direction)d), both ? 2 : 0);
            ck_assert_uint_eq(sites_of("broker: {}\n", kinds[i], (enum direction)d), 2);
        }
    }
}
END_TEST

START_TEST(stories_and_their_verdicts)
{
    static const struct {
        const char *broker, *faults, *receiver;
        uint64_t deliveries, effects, dead_letters;
        enum check violated; /* CHECK_COUNT: none */
    } cases[] = {
        {"", "lose delivery m-77/1", "naive", 2, 2, 0, CHECK_COUNT},
        {"", "duplicate delivery m-77/1 after 3s", "naive", 3, 3, 0, CHECK_NO_DOUBLE_EFFECT},
        {"", "duplicate delivery m-77/1 after 3s", "table", 3, 2, 0, CHECK_COUNT},
        {"", "delay ack m-77/1 by 40s", "naive", 3, 3, 0, CHECK_NO_DOUBLE_EFFECT},
        {"", "delay ack m-77/1 by 29s", "naive", 2, 2, 0, CHECK_COUNT},
        {"", "lose ack m-77/1, lose ack m-77/2", "table", 4, 2, 0, CHECK_COUNT},
        {"", "lose reply m-77/1", "naive", 3, 3, 0, CHECK_NO_DOUBLE_EFFECT},
        {"duplicate_window: 5m", "lose reply m-77/1", "naive", 2, 2, 0, CHECK_COUNT},
        {"", "partition receiver to broker 1s..20s", "naive", 3, 3, 0, CHECK_NO_DOUBLE_EFFECT},
        {"", "partition broker to receiver 1s..20s", "naive", 2, 2, 0, CHECK_COUNT},
        {"", "partition shop broker 1s..2500ms", "naive", 2, 2, 0, CHECK_COUNT},
        {"redeliver: 1", "lose delivery m-77/1", "table", 1, 1, 1, CHECK_NO_LOST_EFFECT},
        {"redeliver: 1", "lose ack m-77/1", "table", 2, 2, 1, CHECK_COUNT},
        {"redeliver: 1, dead_letters: replayed", "lose delivery m-77/1", "table", 2, 2, 1,
         CHECK_COUNT},
        {"redeliver: 1, dead_letters: replayed, replay_after: 298s, visibility: 1s",
         "lose ack m-77/1", "five", 3, 2, 1, CHECK_COUNT},
        {"redeliver: 1, dead_letters: replayed, replay_after: 299s, visibility: 1s",
         "lose ack m-77/1", "five", 3, 3, 1, CHECK_NO_DOUBLE_EFFECT},
        {"", "crash receiver at m-77/1 before commit (process)", "ack_first", 2, 1, 0,
         CHECK_NO_LOST_EFFECT},
        {"", "crash receiver at m-77/1 before commit (power none)", "table", 3, 2, 0, CHECK_COUNT},
        {"", "crash receiver at m-77/2 after rollback (process), lose ack m-77/1", "table", 4, 2, 0,
         CHECK_COUNT},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        rig_scenario(&s,
                     TWO_MESSAGES
                     "network: {delay: 50ms}\nfaults_until: 1h\nbroker: {%s}\nfaults: [%s]\n",
                     cases[i].broker, cases[i].faults);
        struct result r = rig_once(&s, cases[i].receiver, 1);
        ck_assert_msg(r.deliveries == cases[i].deliveries && r.effects == cases[i].effects &&
                          r.dead_letters == cases[i].dead_letters,
                      "case %zu: %s", i, rig_say(&r, NULL));
        bool fails = cases[i].violated != CHECK_COUNT;
        ck_assert_msg(r.verdict != VERDICT_UNFIRED && (r.verdict == VERDICT_FAIL) == fails,
                      "case %zu: %s", i, rig_say(&r, NULL));
        ck_assert_msg(!fails || rig_violated(&r, cases[i].violated), "case %zu: %s", i,
                      rig_say(&r, NULL));
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* Handling takes 12 s or more, a delivery hides its message for 5 s: a second worker takes it. */
START_TEST(visibility_shorter_than_the_handling)
{
    static const char *const receivers[] = {"naive", "table", "claim"};
    for (size_t i = 0; i < ARRAY_LEN(receivers); i++) {
        struct scenario s;
        rig_scenario(&s, TWO_MESSAGES "hosts: {receiver: {workers: 2, step: 2s}}\n"
                                      "broker: {visibility: 5s, after: 20s}\n"
                                      "database: {busy_timeout: 1m}\n");
        struct world *w = rig_world(&s, receivers[i]);
        struct result r = rig_play_kept(w, 1);
        const struct record *taken = rig_find(w, RECORD_HANDLE, 1);
        ck_assert_ptr_nonnull(taken);
        ck_assert_uint_gt(r.duplicates, 0);
        ck_assert_msg((r.verdict == VERDICT_FAIL) == (i == 0), "%s", rig_say(&r, NULL));
        ck_assert(i > 0 || rig_violated(&r, CHECK_NO_DOUBLE_EFFECT));
        ck_assert(i == 0 || rig_exactly_once(&r));
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* Slow work and a long queue: it ends long after the limit that a stuck one would have met. */
START_TEST(a_long_queue_is_not_stuck)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders: [{name: shop, workload: {count: 300}, in_flight: 300}]\n"
                     "hosts: {receiver: {step: 10s}}\n"
                     "broker: {visibility: 5m, redeliver: 2}\n"
                     "faults: [lose reply shop-7/1]\n");
    struct result r = rig_once(&s, "table", 1);
    ck_assert_msg(r.verdict == VERDICT_PASS, "%s", rig_say(&r, NULL));
    ck_assert_uint_eq(r.effects, 300);
    ck_assert_uint_gt(r.ended, 15000 * SIM_S);
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

/* Losses, copies, crashes, and pauses beyond visibility. */
START_TEST(a_random_mix)
{
    struct scenario s;
    uint64_t duplicates = 0;
    ck_assert_int_eq(scenario_read("scenarios/random/broker.yaml", stderr, &s), SIM_OK);
    struct world *table = rig_world(&s, "table"), *naive = rig_world(&s, "naive");
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct result r = rig_play_kept(table, seed);
        expect(r.verdict == VERDICT_PASS && rig_exactly_once(&r));
        duplicates += r.duplicates;
        result_fini(&r);
        r = rig_play_kept(naive, seed);
        expect(r.verdict == VERDICT_FAIL && rig_violated(&r, CHECK_NO_DOUBLE_EFFECT));
        result_fini(&r);
    }
    ck_assert_uint_gt(duplicates, 3000);
    world_free(table);
    world_free(naive);
    scenario_fini(&s);
}
END_TEST

/* Read from the history: how many deliveries are under way, and which entities they are of. */
static void keeps_order(const struct record *records, size_t count, unsigned prefetch)
{
    unsigned under_way = 0;
    uint64_t holds[2] = {0}; /* by entity: the operation in flight */
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        uint64_t *held = &holds[op_number(r->op) % 2];
        bool over = (r->kind == RECORD_ACKED && r->value == 1) || r->kind == RECORD_VISIBLE_AGAIN ||
                    r->kind == RECORD_DEAD_LETTER;
        if (r->kind == RECORD_DELIVER_ATTEMPT) {
            expect(*held == 0 && ++under_way <= prefetch);
            *held = r->op;
        } else if (over && *held == r->op) {
            *held = 0;
            under_way--;
        }
    }
    expect(under_way == 0);
}

/* Odd messages are one entity's, even ones another's. */
START_TEST(one_of_an_entity_at_a_time)
{
    struct scenario s;
    char list[2000];
    int n = 0;
    uint64_t again = 0;
    for (int i = 1; i <= 12; i++) {
        n += snprintf(list + n, sizeof(list) - (size_t)n,
                      "      - {id: m-%d, entity: e-%d, charge: 1}\n", i, i % 2);
    }
    rig_scenario(&s,
                 "receivers: [table]\nsenders:\n  - name: shop\n    in_flight: 6\n"
                 "    messages:\n%s"
                 "network: {lose: {reply: 1/8, request: 1/8}, duplicate: 1/8}\n"
                 "hosts: {receiver: {workers: 3, pause: 1/50, pause_for: 0s..9s, handler: 1/30}}\n"
                 "broker: {fifo: entity, prefetch: 3, visibility: 4s, redeliver: 3}\n",
                 list);
    struct world *w = rig_world(&s, "table");
    for (uint64_t seed = 1; seed <= 100; seed++) {
        size_t count;
        struct result r = rig_play_kept(w, seed);
        const struct record *records = world_history(w, &count);
        keeps_order(records, count, 3);
        again += rig_count(w, RECORD_VISIBLE_AGAIN);
        expect(r.doubled == 0);
        result_fini(&r);
    }
    ck_assert_uint_gt(again, 100);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* The story of a run: a lane for the broker, and every copy of an ack under its own name. */
START_TEST(the_story_has_a_broker)
{
    struct scenario s;
    struct story story;
    size_t count;
    unsigned told = 0;
    rig_scenario(&s, TWO_MESSAGES "broker: {redeliver: 2}\n"
                                  "network: {delay: 50ms}\n"
                                  "faults: [duplicate ack m-77/1 after 3s, lose delivery m-78/1, "
                                  "delay ack m-78/2 by 40s]\n");
    struct world *w = rig_world(&s, "table");
    struct result r = rig_play_kept(w, 1);
    const struct record *records = world_history(w, &count);
    story_make(&story, &r, records, count, 0, UINT64_MAX);
    ck_assert_uint_eq(story.lane_count, 4);
    ck_assert_uint_eq(story.lanes[1].place, PLACE_BROKER);
    static const struct {
        enum move_kind kind;
        uint8_t from, to;
        const char *label;
    } moves[] = {
        {MOVE_ARROW, 0, 1, "m-77/1"},
        {MOVE_LEAVES, 1, 0, "done m-77/1"},
        {MOVE_LEAVES, 1, 2, "m-77/1"},
        {MOVE_ARRIVES, 1, 0, "done m-77/1"},
        {MOVE_ARRIVES, 1, 2, "m-77/1"},
        {MOVE_LEAVES, 2, 1, "done m-77/1"},
        {MOVE_LEAVES, 2, 1, "m-77/1.1.2 (copy)"},
        {MOVE_LOST, 1, 2, "m-78/1"},
        {MOVE_ARRIVES, 2, 1, "done m-77/1.1.2"},
        {MOVE_NOTE, 1, 1, "no ack of m-78/1 in time: visible again"},
        {MOVE_NOTE, 1, 1, "m-78 is a dead letter after 2 deliveries"},
        {MOVE_ARRIVES, 2, 1, "done m-78/2"},
    };
    for (size_t i = 0; i < story.count && told < ARRAY_LEN(moves); i++) {
        const struct move *m = &story.moves[i];
        told += m->kind == moves[told].kind && m->from == moves[told].from &&
                m->to == moves[told].to && strcmp(m->label, moves[told].label) == 0;
    }
    ck_assert_msg(told == ARRAY_LEN(moves), "\"%s\" is not told", moves[told].label);
    story_fini(&story);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Every history of the mix can be told, as text and as Mermaid. */
START_TEST(every_mix_can_be_told)
{
    struct scenario s;
    ck_assert_int_eq(scenario_read("scenarios/random/broker.yaml", stderr, &s), SIM_OK);
    struct world *w = rig_world(&s, "table");
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct result r = rig_play_kept(w, seed);
        struct story story;
        size_t count, size;
        char *text;
        const struct record *records = world_history(w, &count);
        FILE *out = open_memstream(&text, &size);
        story_make(&story, &r, records, count, 0, UINT64_MAX);
        diagram_print(&story, false, out);
        mermaid_print(&story, &r, out);
        fclose(out);
        expect(strstr(text, "broker") != NULL);
        free(text);
        story_fini(&story);
        result_fini(&r);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* With ONLYONCE_HEAVY=1 all schedules with two faults. The wait before a redelivery is what makes
 * ten deliveries last longer than two pauses that hold the lock. */
START_TEST(every_schedule)
{
    struct scenario s;
    struct certificate c;
    unsigned faults = getenv("ONLYONCE_HEAVY") ? 2 : 1;
    rig_scenario(&s, TWO_MESSAGES "hosts: {receiver: {workers: 2}}\nbroker: {after: 10s}\n");
    static const struct expectation exactly_once;
    for (int naive = 0; naive < 2; naive++) {
        struct explore_task task = {.scenario = &s,
                                    .receiver = rig_receiver(&s, naive ? "naive" : "table"),
                                    .seed = 1,
                                    .faults = naive ? 1 : faults,
                                    .kinds = explore_covered_kinds(),
                                    .jobs = 1,
                                    .expectation = &exactly_once};
        explore(&task, stderr, &c);
        ck_assert_int_eq(c.verdict, naive ? VERDICT_FAIL : VERDICT_PASS);
        ck_assert_uint_gt(c.schedules, naive ? 10 : 400);
    }
    scenario_fini(&s);
}
END_TEST

TCase *broker_world_tests(void)
{
    TCase *t = tcase_create("world");
    tcase_set_timeout(t, getenv("ONLYONCE_HEAVY") ? 3600 : 60);
    tcase_add_test(t, deliveries_are_sites_where_there_is_a_broker);
    tcase_add_test(t, stories_and_their_verdicts);
    tcase_add_test(t, visibility_shorter_than_the_handling);
    tcase_add_test(t, a_long_queue_is_not_stuck);
    tcase_add_test(t, a_random_mix);
    tcase_add_test(t, one_of_an_entity_at_a_time);
    tcase_add_test(t, the_story_has_a_broker);
    tcase_add_test(t, every_mix_can_be_told);
    tcase_add_test(t, every_schedule);
    return t;
}
