/* The rules of the patterns behind de-duplication: the Idempotent Receiver of Enterprise
 * Integration Patterns (eip, 1 to 3), the Idempotent Consumer of microservices.io with Eventuate
 * Tram (tram, 1 to 6).
 *
 * In: a receiver as a scenario names it, what is sent, what goes wrong. Out: effects, answers,
 * steps and rows, as the rule wants them.
 *
 * Left open: every crash point (test_crash), random mixes (test_receivers).
 */
#include "tests/rules_rig.h"

/* ---- EIP ---- */

#define ADDS ONE
#define SETS SENT(PATIENT, "{id: m, entity: e, effect: {set: 12}}")
#define INSERTS SENT(PATIENT, "{id: m, entity: e, effect: {insert: 12}}")

START_TEST(eip_1_by_remembering_or_by_meaning)
{
    HOLD({"table", ADDS, AFTER("1s"), 1, "done duplicate "},
         {"table", SETS, AFTER("1s"), 1, "done duplicate "},
         {"semantic", SETS, AFTER("1s"), 1, "done done "},
         {"semantic, check: exists", INSERTS, AFTER("1s"), 1, "done duplicate "},
         /* neither: the meaning is the message's, not the receiver's */
         {"semantic", ADDS, AFTER("1s"), 2, "done done "},
         {"naive", ADDS, AFTER("1s"), 2, "done done "},
         {"naive", SETS, AFTER("1s"), 1, "done done "});
}
END_TEST

/* One message at a time, acknowledged before the next, and nothing that comes late. */
START_TEST(eip_2_one_at_a_time_needs_one_remembered_id)
{
    static const char *const receivers[] = {"table", "entity", "response"};
    for (size_t i = 0; i < ARRAY_LEN(receivers); i++) {
        for (int in_flight = 1; in_flight <= 2; in_flight++) {
            struct scenario s;
            rig_scenario(&s,
                         "receivers: [{name: it, is: %s, most: 1}]\n"
                         "senders:\n"
                         "  - name: shop\n"
                         "    workload: {count: 200, entities: 1}\n"
                         "    in_flight: %d\n"
                         "    retry: {after: 200ms, limit: 100}\n"
                         "network: {delay: 20ms..80ms, lose: {request: 1/8, reply: 1/3}}\n",
                         receivers[i], in_flight);
            struct result r = rig_once(&s, "it", 1);
            ck_assert_msg(rig_exactly_once(&r) == (in_flight == 1), "%s: %s", receivers[i],
                          rig_say(&r, NULL));
            ck_assert_uint_gt(r.duplicates, 40);
            result_fini(&r);
            scenario_fini(&s);
        }
    }
}
END_TEST

/* A retry that comes behind so many others: a window of one more holds, one of so many does not. */
static void others_between(const char *receiver, unsigned between, unsigned most)
{
    char it[64], sent[1024], others[512] = "";
    for (unsigned i = 0, n = 0; i < between; i++) {
        n += (unsigned)snprintf(others + n, sizeof(others) - n,
                                ", {id: n-%u, entity: e, charge: 1, at: 2s}", i);
    }
    snprintf(it, sizeof(it), "%s, most: %u", receiver, most);
    snprintf(sent, sizeof(sent), SENT("retry: {after: 5s, limit: 2},", "%s%s"), MESSAGE, others);
    struct scenario s;
    struct world *w;
    struct rule rule = {.it = it, .sent = sent, .more = "faults: [lose reply m/1]"};
    struct result r = rule_play(&s, &w, &rule);
    ck_assert_msg(r.effects == between + 1 + (most == between), "%s, %u between, most %u", receiver,
                  between, most);
    rule_fini(&s, w, &r);
}

START_TEST(eip_2_otherwise_a_window_as_long_as_both_have_agreed)
{
    static const char *const receivers[] = {"table", "entity", "response"};
    for (unsigned between = 1; between <= 5; between++) {
        for (size_t i = 0; i < ARRAY_LEN(receivers); i++) {
            others_between(receivers[i], between, between);
            others_between(receivers[i], between, between + 1);
        }
    }
}
END_TEST

/* "Persistent" is part of the agreement: an id in memory dies with the process. */
START_TEST(eip_2_the_memory_is_as_durable_as_both_have_agreed)
{
    static const char dies[] = "faults: [crash receiver at m/1 after commit (process)]";
    static const char sent[] = SENT_ONE;
    HOLD({"table", sent, dies, 1, "duplicate "}, {"volatile_memory", sent, dies, 2, "done "});
}
END_TEST

/* Guaranteed delivery, which sends until it has the answer, is where duplicates come from: each
 * test with a lost reply. What a resequencer would put in order breaks the other means: an old
 * value that comes behind a newer one is set again, and a window of one id is over. */
START_TEST(eip_3_reordering_breaks_what_keeps_no_ids)
{
#define VALUES                                                                                     \
    SENT("", "{id: m, entity: e, effect: {set: 12}}, {id: n, entity: e, effect: {set: 15}, at: "   \
             "5s}")
    HOLD({"semantic", VALUES, AFTER("3s"), 2, "done done done "},
         {"semantic", VALUES, AFTER("5s"), 3, "done done done "},
         {"semantic, check: version", VALUES, AFTER("5s"), 2, "done done duplicate "},
         {"table", VALUES, AFTER("5s"), 2, "done done duplicate "},
         {"table, most: 1", VALUES, AFTER("3s"), 2, "done duplicate done "},
         {"table, most: 1", VALUES, AFTER("5s"), 3, "done done done "});
}
END_TEST

/* ---- microservices.io, Eventuate Tram ---- */

/* Steps of the attempt's n-th copy, with the outcome of those that came to no OK. */
static const char *steps(struct world *w, uint16_t attempt, uint8_t copy)
{
    static char text[512];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < rig_count(w, RECORD_STEP); i++) {
        const struct record *r = rig_find(w, RECORD_STEP, i);
        if (r->attempt == attempt && r->copy == copy && r->step != STEP_RECEIVE) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s ",
                                  step_text((enum step)r->step), r->code == OK ? "" : ":",
                                  r->code == OK ? "" : outcome_text((enum outcome)r->code));
            ck_assert_uint_lt(n, sizeof(text));
        }
    }
    return text;
}

/* A second subscriber to the same table cannot be shown: a receiver has its database alone. */
START_TEST(tram_1_the_id_goes_in_with_the_effect_or_the_message_is_skipped)
{
    static const struct {
        const char *it, *first, *second;
    } cases[] = {
        {"table", "begin record effect commit reply ", "begin record:constraint rollback reply "},
        {"entity", "begin look-up effect record commit reply ",
         "begin look-up:row rollback reply "},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct world *w;
        struct rule rule = {.it = cases[i].it, .sent = ONE, .more = AFTER("1s")};
        struct result r = rule_play(&s, &w, &rule);
        ck_assert_str_eq(steps(w, 1, 1), cases[i].first);
        ck_assert_str_eq(steps(w, 1, 2), cases[i].second);
        ck_assert_uint_eq(r.effects, 1);
        ck_assert_str_eq(rule_answers(w), "done duplicate ");
        rig_holds(w,
                  i == 0 ? "SELECT id FROM processed_message" : "SELECT processed_ids FROM entity",
                  i == 0 ? "m " : "[\"m\"] ");
        rule_fini(&s, w, &r);
    }
}
END_TEST

START_TEST(tram_2_a_handler_that_fails_leaves_no_record)
{
    static const char *const places[] = {"record", "effect"};
    static const char *const receivers[] = {"table", "entity"};
    for (size_t i = 0; i < 8; i++) {
        const char *it = receivers[i % 2];
        unsigned limit = i / 4 ? 2 : 1;
        char sent[256], more[128];
        snprintf(sent, sizeof(sent), SENT("retry: {after: 1s, limit: %u},", "%s"), limit, MESSAGE);
        snprintf(more, sizeof(more), "faults: [handler receiver at m/1 after %s fails]",
                 places[i / 2 % 2]);
        struct scenario s;
        struct world *w;
        struct rule rule = {.it = it, .sent = sent, .more = more};
        struct result r = rule_play(&s, &w, &rule);
        ck_assert_uint_eq(r.effects, limit - 1);
        ck_assert_str_eq(rule_answers(w), limit == 1 ? "error " : "error done ");
        rig_holds(
            w, i % 2 == 0 ? "SELECT id FROM processed_message" : "SELECT processed_ids FROM entity",
            limit == 1   ? ""
            : i % 2 == 0 ? "m "
                         : "[\"m\"] ");
        rule_fini(&s, w, &r);
    }
}
END_TEST

/* Who retries stands outside of who looks for duplicates: the whole transaction is gone through
 * again, and its own id of the first time is not in the way. Here it is the sender that retries. */
START_TEST(tram_3_what_is_tried_again_is_the_whole_transaction)
{
    static const char *const places[] = {"begin", "record", "effect", "commit"};
    static const char *const receivers[] = {"table", "entity"};
    for (size_t i = 0; i < ARRAY_LEN(places) * 2; i++) {
        char more[128];
        snprintf(more, sizeof(more), "faults: [store receiver at m/1 %s (busy)]", places[i / 2]);
        struct scenario s;
        struct world *w;
        struct rule rule = {.it = receivers[i % 2], .sent = SENT_ONE, .more = more};
        struct result r = rule_play(&s, &w, &rule);
        ck_assert_str_eq(rule_answers(w), "retry-later done ");
        ck_assert_uint_eq(r.effects, 1);
        ck_assert_str_eq(steps(w, 2, 1), i % 2 == 0 ? "begin record effect commit reply "
                                                    : "begin look-up effect record commit reply ");
        rule_fini(&s, w, &r);
    }
}
END_TEST

START_TEST(tram_4_the_answer_follows_the_commit)
{
    static const char sent[] = SENT_ONE;
    static const char dies[] = "faults: [crash receiver at m/1 after commit (power none)]";
    HOLD({"table", sent, dies, 1, "duplicate "}, {"entity", sent, dies, 1, "duplicate "},
         /* and one that is answered first */
         {"ack_first", sent, "faults: [crash receiver at m/1 after reply (process)]", 0, "done "});
}
END_TEST

/* No age and no number: after 8 years, and behind 1,000 others. */
START_TEST(tram_5_nothing_removes_a_record)
{
    static const char *const receivers[] = {"table", "entity"};
    HOLD({"table", ONE, AFTER("3000d"), 1, "done duplicate "},
         {"entity", ONE, AFTER("3000d"), 1, "done duplicate "});
    for (size_t i = 0; i < ARRAY_LEN(receivers); i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [{name: it, is: %s}]\n"
                     "senders:\n"
                     "  - {name: a, messages: [{id: m, entity: e, charge: 1}]}\n"
                     "  - {name: b, workload: {count: 1000, entities: 1}}\n"
                     "faults: [duplicate request m/1 after 1h]\n",
                     receivers[i]);
        struct world *w = rig_world(&s, "it");
        struct result r = rig_play_kept(w, 1);
        ck_assert(r.duplicates == 1 && rig_exactly_once(&r));
        rig_holds(w,
                  i == 0 ? "SELECT count(*) FROM processed_message"
                         : "SELECT sum(json_array_length(processed_ids)) FROM entity",
                  "1001 ");
        rule_fini(&s, w, &r);
    }
}
END_TEST

START_TEST(tram_6_without_a_detector_there_is_no_protection)
{
    HOLD({"naive", ONE, AFTER("1s"), 2, "done done "},
         {"naive", SENT_ONE, "faults: [lose reply m/1]", 2, "done done "});
}
END_TEST

TCase *rules_patterns_tests(void)
{
    TCase *t = tcase_create("rules_patterns");
    tcase_add_test(t, eip_1_by_remembering_or_by_meaning);
    tcase_add_test(t, eip_2_one_at_a_time_needs_one_remembered_id);
    tcase_add_test(t, eip_2_otherwise_a_window_as_long_as_both_have_agreed);
    tcase_add_test(t, eip_2_the_memory_is_as_durable_as_both_have_agreed);
    tcase_add_test(t, eip_3_reordering_breaks_what_keeps_no_ids);
    tcase_add_test(t, tram_1_the_id_goes_in_with_the_effect_or_the_message_is_skipped);
    tcase_add_test(t, tram_2_a_handler_that_fails_leaves_no_record);
    tcase_add_test(t, tram_3_what_is_tried_again_is_the_whole_transaction);
    tcase_add_test(t, tram_4_the_answer_follows_the_commit);
    tcase_add_test(t, tram_5_nothing_removes_a_record);
    tcase_add_test(t, tram_6_without_a_detector_there_is_no_protection);
    return t;
}
