/* The rules of queues that de-duplicate: Amazon SQS FIFO, Azure Service Bus, NATS JetStream.
 *
 * In: a receiver as a scenario names it, what is sent, what goes wrong. Out: effects and answers,
 * in order, as the rule wants them. Names say the system and the number of the rule: sqs (send
 * side, 1 to 3), azure, nats (1 to 5). What has no test says so where it would stand.
 *
 * Left open: the receive side of queues; the same windows under crashes at every step (test_right,
 * test_retention).
 */
#include "tests/rules_rig.h"
#include "tests/scenario_rig.h"

/* What is said of a receiver that a file may not ask for. */
static void refused(const char *it, const char *words)
{
    char text[512];
    struct scenario s;
    struct caught c;
    int n = snprintf(text, sizeof(text), "receivers: [{name: it, is: %s}]\n" ONE, it);
    caught_open(&c);
    ck_assert_int_eq(scenario_parse("test.yaml", text, (size_t)n, c.stream, &s), SIM_ERR_SCENARIO);
    fflush(c.stream);
    ck_assert_msg(strstr(c.text, words) != NULL, "%s", c.text);
    caught_close(&c);
}

static void allowed(const char *it)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [{name: it, is: %s}]\n" ONE, it);
    scenario_fini(&s);
}

static int64_t default_of(const char *receiver, const char *setting)
{
    const struct receiver *r = receiver_find(receiver, strlen(receiver));
    for (size_t i = 0; r->settings[i].name != NULL; i++) {
        if (strcmp(r->settings[i].name, setting) == 0) {
            return r->settings[i].value;
        }
    }
    ck_abort_msg("%s has no setting %s", receiver, setting);
}

/* ---- SQS FIFO, send side ---- */

#define TWINS "{id: a, entity: e, charge: 1}, {id: b, entity: e, charge: 1}"

START_TEST(sqs_1_the_id_is_given_or_else_the_content_or_else_refused)
{
    HOLD(
        /* told apart by their ids, although they say the same */
        {"sqs_fifo", SENT("", TWINS), "", 2, "done done "},
        /* one id, whatever they say */
        {"sqs_fifo",
         SENT("", "{id: a, key: k, entity: e, charge: 1}, "
                  "{id: b, key: k, entity: f, charge: 2}"),
         "", 1, "done duplicate "},
        /* content-based is off, and is on */
        {"sqs_fifo", SENT("keys: none,", TWINS), "", 0, "refused refused "},
        {"sqs_fifo, id: given-or-body", SENT("keys: none,", TWINS), "", 1, "done duplicate "},
        {"sqs_fifo, id: given-or-body",
         SENT("keys: none,", "{id: a, entity: e, charge: 1}, {id: b, entity: e, charge: 2}"), "", 2,
         "done done "},
        /* the content of a retry that is stamped anew is another */
        {"sqs_fifo, id: given-or-body", SENT("keys: none, body: stamped,", MESSAGE),
         "faults: [lose reply m/1]", 2, "done done "});
}
END_TEST

START_TEST(sqs_1_a_given_id_goes_before_the_content)
{
    HOLD({"sqs_fifo, id: given-or-body", SENT("", TWINS), "", 2, "done done "},
         {"sqs_fifo, id: given-or-body", SENT("body: stamped,", MESSAGE),
          "faults: [lose reply m/1]", 1, "done duplicate "},
         /* of who goes by nothing but the content */
         {"sqs_fifo, id: body", SENT("", TWINS), "", 1, "done duplicate "});
}
END_TEST

/* Our content-derived id is the body itself, not its hash. */
#define GIVEN(key) "{name: a, messages: [{id: m, key: " key ", entity: f, charge: 5}]}"
#define HASHED "{name: b, keys: none, messages: [{id: n, entity: e, charge: 1, at: 2s}]}"

START_TEST(sqs_1_both_kinds_of_id_are_of_one_name_space)
{
    HOLD({"sqs_fifo, id: given-or-body", "senders: [" GIVEN("add 1 to e") ", " HASHED "]\n", "", 1,
          "done duplicate "},
         {"sqs_fifo, id: given-or-body", "senders: [" GIVEN("add 2 to e") ", " HASHED "]\n", "", 2,
          "done done "});
}
END_TEST

#define KEYS(first, second)                                                                        \
    SENT("", "{id: a, key: k, group: " first ", entity: e, charge: 1}, "                           \
             "{id: b, key: k, group: " second ", entity: f, charge: 2}")
#define BODIES(first, second)                                                                      \
    SENT("keys: none,", "{id: a, group: " first ", entity: e, charge: 1}, "                        \
                        "{id: b, group: " second ", entity: e, charge: 1}")

/* High throughput is no mode of the simulation: the scope is a setting of its own. */
START_TEST(sqs_2_the_scope_is_the_queue_or_the_message_group)
{
    HOLD({"sqs_fifo", KEYS("g", "h"), "", 1, "done duplicate "},
         {"sqs_fifo, scope: queue", KEYS("g", "g"), "", 1, "done duplicate "},
         {"sqs_fifo, scope: group", KEYS("g", "g"), "", 1, "done duplicate "},
         {"sqs_fifo, scope: group", KEYS("g", "h"), "", 2, "done done "},
         {"sqs_fifo, id: given-or-body", BODIES("g", "h"), "", 1, "done duplicate "},
         {"sqs_fifo, id: given-or-body, scope: group", BODIES("g", "h"), "", 2, "done done "},
         /* a retry that is sent to another group */
         {"sqs_fifo", SENT("groups: new-per-attempt,", MESSAGE), "faults: [lose reply m/1]", 1,
          "done duplicate "},
         {"sqs_fifo, scope: group", SENT("groups: new-per-attempt,", MESSAGE),
          "faults: [lose reply m/1]", 2, "done done "});
}
END_TEST

START_TEST(sqs_3_for_less_than_five_minutes)
{
    ck_assert_int_eq(default_of("sqs_fifo", "window"), 300 * SIM_S);
    HOLD({"sqs_fifo", ONE, AFTER("299999999999ns"), 1, "done duplicate "},
         {"sqs_fifo", ONE, AFTER("5m"), 2, "done done "},
         /* "at least": where only a timer removes ids, the rest of its minute belongs to them */
         {"sqs_fifo, removal: sweep", ONE, AFTER("5m"), 1, "done duplicate "},
         {"sqs_fifo, removal: sweep", ONE, AFTER("361s"), 2, "done done "});
}
END_TEST

/* The window of the message that is accepted anew begins with it. */
START_TEST(sqs_3_what_is_accepted_starts_a_window)
{
    HOLD({"sqs_fifo", ONE, "faults: [duplicate request m/1 3 times after 200s]", 2,
          "done duplicate done duplicate "});
}
END_TEST

/* A send that fails is not accepted: five minutes from the attempt 2 s later. */
#define AGAIN(at)                                                                                  \
    SENT("retry: {after: 2s, limit: 2},", "{id: m, entity: e, charge: 1}, "                        \
                                          "{id: n, key: m, entity: e, charge: 1, at: " at "}")

START_TEST(sqs_3_from_the_first_that_was_accepted)
{
    static const char fails[] = "faults: [handler receiver at m/1 after effect fails]";
    HOLD({"sqs_fifo", AGAIN("302s"), fails, 1, "error done duplicate "},
         {"sqs_fifo", AGAIN("304s"), fails, 2, "error done done "});
}
END_TEST

/* Its effect stays, its host has died and lost its memory, its sender has the answer: all the same.
 * And so is what the second one says. */
START_TEST(sqs_3_whatever_became_of_the_first_and_whatever_the_body)
{
    HOLD({"sqs_fifo", AGAIN("300s"), "faults: [crash receiver at m/1 after commit (power none)]", 1,
          "duplicate duplicate "},
         {"sqs_fifo", AGAIN("300s"), "faults: [stop receiver at m/1 before commit]", 1,
          "done duplicate "},
         {"sqs_fifo", AGAIN("300s"), "", 1, "done duplicate "},
         {"sqs_fifo",
          SENT("", "{id: m, entity: e, charge: 1}, "
                   "{id: n, key: m, entity: f, effect: {set: 7}, at: 300s}"),
          "", 1, "done duplicate "});
}
END_TEST

/* AWS does not say whether a duplicate starts the window anew. */
START_TEST(sqs_3_left_open_what_a_duplicate_does_to_the_window)
{
    HOLD({"sqs_fifo", ONE, AFTER("299s"), 1, "done duplicate "},
         {"sqs_fifo, starts: receipt", ONE, "faults: [duplicate request m/1 2 times after 299s]", 2,
          "done duplicate done "},
         {"sqs_fifo, starts: last-seen", ONE,
          "faults: [duplicate request m/1 4 times after 299999999999ns]", 1,
          "done duplicate duplicate duplicate duplicate "},
         {"sqs_fifo, starts: last-seen", ONE, AFTER("300s"), 2, "done done "});
}
END_TEST

/* Nor what its answer carries. */
static void duplicate_carries(const char *it, const char *more, bool first)
{
    struct scenario s;
    struct world *w;
    struct rule rule = {.it = it, .sent = AGAIN("200s"), .more = more};
    struct result r = rule_play(&s, &w, &rule);
    int64_t receipt = rig_find(w, RECORD_REPLY, 0)->value;
    ck_assert_int_gt(receipt, 0);
    ck_assert_str_eq(rule_answers(w), "done duplicate ");
    ck_assert_int_eq(rig_find(w, RECORD_REPLY, 1)->value, first ? receipt : 0);
    rule_fini(&s, w, &r);
}

START_TEST(sqs_3_left_open_what_the_answer_carries)
{
    duplicate_carries("sqs_fifo", "", false);
    duplicate_carries("sqs_fifo, answer: silent", "", false);
    duplicate_carries("sqs_fifo, answer: first", "", true);
}
END_TEST

/* ---- Azure Service Bus ---- */

START_TEST(azure_compares_the_message_id_and_nothing_else)
{
    HOLD({"azure_service_bus",
          SENT("", "{id: a, key: k, group: g, entity: e, charge: 1}, "
                   "{id: b, key: k, group: h, entity: f, effect: {set: 9}, version: 8}"),
          "", 1, "done duplicate "},
         {"azure_service_bus", SENT("", TWINS), "", 2, "done done "});
}
END_TEST

START_TEST(azure_a_partitioned_entity_compares_the_partition_key_too)
{
    HOLD({"azure_service_bus, scope: group", KEYS("g", "g"), "", 1, "done duplicate "},
         {"azure_service_bus, scope: group", KEYS("g", "h"), "", 2, "done done "});
}
END_TEST

/* What is scheduled is handled later: here it waits 3 minutes between its acceptance and its
 * effect. The window counts from the acceptance, and what comes meanwhile is a duplicate. When a
 * sender made the message does not count: it is sent for the first time long after. */
START_TEST(azure_a_scheduled_message_counts_from_its_acceptance)
{
#define WAITS "faults: [pause receiver at m/1 before effect for 3m, duplicate request m/1 after "
    HOLD({"azure_service_bus", ONE, WAITS "1m]", 1, "done duplicate "},
         {"azure_service_bus", ONE, WAITS "599999999999ns]", 1, "done duplicate "},
         {"azure_service_bus", ONE, WAITS "10m]", 2, "done done "},
         {"azure_service_bus", ONE,
          "faults: [delay request m/1 by 9m, duplicate request m/1 after 599s]", 1,
          "done duplicate "});
}
END_TEST

START_TEST(azure_ten_minutes_or_20_seconds_to_7_days)
{
    ck_assert_int_eq(default_of("azure_service_bus", "window"), 600 * SIM_S);
    HOLD({"azure_service_bus", ONE, AFTER("599999999999ns"), 1, "done duplicate "},
         {"azure_service_bus", ONE, AFTER("10m"), 2, "done done "},
         {"azure_service_bus, window: 20s", ONE, AFTER("19s"), 1, "done duplicate "},
         {"azure_service_bus, window: 20s", ONE, AFTER("20s"), 2, "done done "},
         {"azure_service_bus, window: 7d", ONE, AFTER("604799s"), 1, "done duplicate "},
         {"azure_service_bus, window: 7d", ONE, AFTER("7d"), 2, "done done "},
         /* what one client's page has for the default */
         {"azure_service_bus, window: 1m", ONE, AFTER("60s"), 2, "done done "});
    refused("azure_service_bus, window: 19999ms", "20s..7d");
    refused("azure_service_bus, window: 604801s", "20s..7d");
    refused("azure_service_bus, window: 0s", "20s..7d");
}
END_TEST

/* Azure, receive side (peek-lock): no rule of duplicate detection, and not simulated. */

/* ---- NATS JetStream ---- */

/* The process starts at 1 s and its timer goes each second, the message is stored at 1.02 s: its
 * time is over at 121.02 s, and it goes at 122 s. */
START_TEST(nats_1_the_look_up_does_not_ask_for_the_age)
{
    HOLD({"nats_jetstream", ONE, AFTER("119s"), 1, "done duplicate "},
         {"nats_jetstream", ONE, AFTER("120500ms"), 1, "done duplicate "},
         {"nats_jetstream", ONE, AFTER("120979ms"), 1, "done duplicate "},
         {"nats_jetstream", ONE, AFTER("120981ms"), 2, "done done "},
         {"nats_jetstream, sweep: 50ms", ONE, AFTER("120029ms"), 1, "done duplicate "},
         {"nats_jetstream, sweep: 50ms", ONE, AFTER("120031ms"), 2, "done done "},
         /* one that does ask */
         {"nats_jetstream, removal: look-up", ONE, AFTER("2m"), 2, "done done "});
    refused("nats_jetstream, sweep: 49ms", "50ms..");
    ck_assert_int_eq(default_of("nats_jetstream", "batch"), 0); /* the timer removes all of them */
}
END_TEST

START_TEST(nats_1_a_duplicate_is_told_the_first_one_s_sequence)
{
    duplicate_carries("nats_jetstream, window: 10m", "", true);
}
END_TEST

/* A copy that comes while the first is not stored is told so, and comes again. (Where one server
 * takes one message after the other, it waits: the default of busy_timeout.) */
#define TWO "hosts: {receiver: {workers: 2, step: 0ms}}\ndatabase: {busy_timeout: 0s}\n"
#define SOON SENT("retry: {after: 10s, timeout: 1h, limit: 2},", MESSAGE)

START_TEST(nats_2_a_copy_of_what_is_not_stored_yet)
{
    HOLD({"nats_jetstream", SOON,
          TWO "faults: [pause receiver at m/1 before commit for 3s,"
              " duplicate request m/1 after 1s]",
          1, "retry-later done "},
         {"nats_jetstream", SOON,
          TWO "faults: [pause receiver at m/1 before commit for 20s,"
              " duplicate request m/1 after 1s]",
          1, "retry-later retry-later done "},
         /* stored: a duplicate like any other */
         {"nats_jetstream", SOON, TWO AFTER("1s"), 1, "done duplicate "});
}
END_TEST

/* A new leader knows of nothing that was not stored. The fault that was reported of it (ids of what
 * was never stored stay for a window) cannot happen to a record that is stored with its message. */
START_TEST(nats_2_what_was_not_stored_is_forgotten)
{
    static const char sent[] = SENT_ONE;
    HOLD({"nats_jetstream", sent, "faults: [crash receiver at m/1 before commit (process)]", 1,
          "done "},
         {"nats_jetstream, messages: consumed", sent,
          "faults: [crash receiver at m/1 before commit (power none)]", 1, "done "},
         {"nats_jetstream", sent, "faults: [handler receiver at m/1 after effect fails]", 1,
          "error done "});
}
END_TEST

START_TEST(nats_3_rebuilt_from_the_messages_that_are_stored)
{
    static const char sent[] = SENT_ONE;
    static const char dies[] = "faults: [crash receiver at m/1 after commit (process)]";
    static const char loses[] = "faults: [crash receiver at m/1 after commit (power none)]";
    HOLD({"nats_jetstream", sent, dies, 1, "duplicate "},
         {"nats_jetstream, messages: kept", sent, loses, 1, "duplicate "},
         /* of a work queue, which has removed it */
         {"nats_jetstream, messages: consumed", sent, dies, 2, "done "},
         {"nats_jetstream, messages: consumed", sent, loses, 2, "done "},
         {"nats_jetstream, messages: consumed", sent,
          "faults: [stop receiver at m/1 before commit, lose reply m/1]", 2, "done done "},
         /* while the process lives, what is consumed is remembered; so is what comes anew */
         {"nats_jetstream, messages: consumed", ONE, AFTER("119s"), 1, "done duplicate "},
         {"nats_jetstream, messages: consumed", sent,
          "faults: [crash receiver at m/1 after commit (process), lose reply m/2]", 2,
          "done duplicate "});
}
END_TEST

/* The window goes on through a restart: it counts from when the message was stored. */
START_TEST(nats_3_rebuilt_with_the_times_of_the_messages)
{
#define DIES "faults: [crash receiver at m/1 after commit (process), duplicate request m/1 after "
    HOLD({"nats_jetstream", ONE, DIES "119s]", 1, "duplicate "},
         {"nats_jetstream", ONE, DIES "122s]", 2, "done "});
}
END_TEST

/* Not followed: a record whose time is over when the process starts is not rebuilt there. Here it
 * is still matched until the first sweep, one second later: the age of a row is not looked at. */

/* There is no MaxAge, which could be the shorter one, and there are no mirrors. */
START_TEST(nats_4_two_minutes_or_at_least_100_milliseconds)
{
    ck_assert_int_eq(default_of("nats_jetstream", "window"), 120 * SIM_S);
    allowed("nats_jetstream, window: 100ms");
    refused("nats_jetstream, window: 99ms", "100ms..");
    refused("nats_jetstream, window: 0s", "100ms..");
}
END_TEST

/* nats 5, the double ack, has no test: it is between a consumer and the server that it takes
 * messages from. Here a receiver's answer goes to the sender and is not acknowledged itself. */

Suite *rules_queues_suite(void)
{
    Suite *s = suite_create("rules_queues");
    TCase *t = tcase_create("rules_queues");
    tcase_add_test(t, sqs_1_the_id_is_given_or_else_the_content_or_else_refused);
    tcase_add_test(t, sqs_1_a_given_id_goes_before_the_content);
    tcase_add_test(t, sqs_1_both_kinds_of_id_are_of_one_name_space);
    tcase_add_test(t, sqs_2_the_scope_is_the_queue_or_the_message_group);
    tcase_add_test(t, sqs_3_for_less_than_five_minutes);
    tcase_add_test(t, sqs_3_what_is_accepted_starts_a_window);
    tcase_add_test(t, sqs_3_from_the_first_that_was_accepted);
    tcase_add_test(t, sqs_3_whatever_became_of_the_first_and_whatever_the_body);
    tcase_add_test(t, sqs_3_left_open_what_a_duplicate_does_to_the_window);
    tcase_add_test(t, sqs_3_left_open_what_the_answer_carries);
    tcase_add_test(t, azure_compares_the_message_id_and_nothing_else);
    tcase_add_test(t, azure_a_partitioned_entity_compares_the_partition_key_too);
    tcase_add_test(t, azure_a_scheduled_message_counts_from_its_acceptance);
    tcase_add_test(t, azure_ten_minutes_or_20_seconds_to_7_days);
    tcase_add_test(t, nats_1_the_look_up_does_not_ask_for_the_age);
    tcase_add_test(t, nats_1_a_duplicate_is_told_the_first_one_s_sequence);
    tcase_add_test(t, nats_2_a_copy_of_what_is_not_stored_yet);
    tcase_add_test(t, nats_2_what_was_not_stored_is_forgotten);
    tcase_add_test(t, nats_3_rebuilt_from_the_messages_that_are_stored);
    tcase_add_test(t, nats_3_rebuilt_with_the_times_of_the_messages);
    tcase_add_test(t, nats_4_two_minutes_or_at_least_100_milliseconds);
    suite_add_tcase(s, t);
    suite_add_tcase(s, rules_patterns_tests());
    return s;
}
