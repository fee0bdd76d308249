/* The rules of frameworks that keep keys beside the handler: Apache Camel's Idempotent Consumer and
 * Spring Integration's IdempotentReceiverInterceptor.
 *
 * In: a receiver as a scenario names it, what is sent, what goes wrong. Out: effects and answers,
 * in order, as the rule wants them; where the rule loses an effect or makes two, that too. Names
 * say the system and the number of the rule: camel (1 to 8), spring (1 to 6). What has no test says
 * so where it would stand. Behind the rules: moves of keys, and what exploration finds of each
 * preset. Brokers are in tests/rules_brokers.c.
 *
 * Left open: crashes and store failures at every step of what is sound, beyond the faults that
 * exploration takes here.
 */
#include "tests/rules_repository.h"

#include "sim/explore.h"

#include <stdlib.h>

/* ---- Apache Camel ---- */

START_TEST(camel_1_defaults_and_no_key)
{
    rule_default("camel", "eager", 1);
    rule_default("camel", "duplicate", 0);  /* skipped */
    rule_default("camel", "on_failure", 0); /* removes */
    rule_default("camel", "completion", 0); /* of the whole route */
    HOLD({"camel", SENT("keys: none, retry: {after: 1s, limit: 2},", MESSAGE), "", 0,
          "error error "},
         {"camel", ONE, AFTER("1s"), 1, "done duplicate "});
}
END_TEST

START_TEST(camel_2_eager_adds_and_lazy_looks)
{
    HOLD({"camel", ONE, TWO "faults: [" BETWEEN ", " COPY "]", 1, "duplicate done "},
         {"camel, eager: false", ONE, TWO "faults: [" BETWEEN ", " COPY "]", 2, "done done "},
         {"camel_lazy", ONE, TWO AFTER("1s"), 1, "done duplicate "},
         /* nothing to remove, since nothing was added */
         {"camel_lazy, on_failure: keeps", THRICE, "faults: [" FAILS "]", 1, "error done "},
         /* the key comes in a transaction behind the effect */
         {"camel_lazy", THRICE, "faults: [crash receiver at m/1 after commit 2 (process)]", 2,
          "done "},
         {"camel_lazy", THRICE, "faults: [crash receiver at m/1 after commit 3 (process)]", 1,
          "duplicate "});
}
END_TEST

/* The answer acknowledges the message, whatever becomes of the first. */
START_TEST(camel_3_a_duplicate_ends_well_although_the_first_may_fail)
{
    rule_judged(&(struct rule){"camel", ONE, TWO "faults: [" BETWEEN ", " COPY ", " FAILS "]", 0,
                               "duplicate error "},
                LOST, "SELECT id FROM repository", "");
    /* not skipped, it is executed, and so is the first */
    rule_judged(&(struct rule){"camel, duplicate: handled", ONE,
                               TWO "faults: [" BETWEEN ", " COPY "]", 2, "done done "},
                DOUBLE, NULL, NULL);
    /* a queue delivers again while the first is at work, and has its ack */
    rule_judged(&(struct rule){"camel", ONE,
                               TWO "broker: {visibility: 1s}\nfaults: [" BETWEEN ", " FAILS "]", 0,
                               "duplicate error "},
                LOST, NULL, NULL);
}
END_TEST

START_TEST(camel_4_a_failure_removes_the_key)
{
    HOLD({"camel", THRICE, "faults: [" FAILS "]", 1, "error done "},
         {"camel, on_failure: keeps", THRICE, "faults: [" FAILS "]", 0, "error duplicate "},
         /* one that the store has committed all the same */
         {"camel", THRICE, "faults: [store receiver at m/1 commit 2 (applied)]", 2, "error done "});
}
END_TEST

/* The rest of the route is the step `ack`, behind the commit of the effect. */
START_TEST(camel_4_whose_failure_it_is)
{
#define ROUTE_FAILS "faults: [handler receiver at m/1 after ack fails]"
    HOLD({"camel", THRICE, ROUTE_FAILS, 2, "error done "},
         {"camel, completion: handler", THRICE, ROUTE_FAILS, 1, "error duplicate "},
         {"camel, completion: handler", THRICE, "faults: [" FAILS "]", 1, "error done "},
         {"camel_lazy", THRICE, ROUTE_FAILS, 2, "error done "},
         {"camel_lazy, completion: handler", THRICE, ROUTE_FAILS, 1, "error duplicate "});
}
END_TEST

/* Who fails removes the key, also that of a copy which has succeeded meanwhile. */
START_TEST(camel_4_the_key_of_another)
{
    HOLD({"camel_lazy", ONE,
          TWO "faults: [" BETWEEN ", duplicate request m/1 2 times after 2s, " FAILS "]", 2,
          "done error done "},
         {"camel_lazy, on_failure: keeps", ONE,
          TWO "faults: [" BETWEEN ", duplicate request m/1 2 times after 2s, " FAILS "]", 1,
          "done error duplicate "});
}
END_TEST

/* What becomes a dead letter has failed: it is executed when it is put back. */
START_TEST(camel_4_a_dead_letter_is_a_failure)
{
#define REPLAYED "broker: {redeliver: 1, dead_letters: replayed}\n"
    HOLD({"camel", ONE, REPLAYED "faults: [" FAILS "]", 1, "error done "},
         {"camel, on_failure: keeps", ONE, REPLAYED "faults: [" FAILS "]", 0, "error duplicate "},
         {"camel", DECLINED_ONCE, REPLAYED, 1, "refused done "});
}
END_TEST

/* Count and insert, each by itself, and nothing that keeps a second row out. */
START_TEST(camel_5_without_a_unique_constraint)
{
    static const char both[] = TWO "faults: [" BETWEEN ", " COPY "]";
    rule_judged(&(struct rule){"camel, unique: false", ONE, both, 2, "done done "}, DOUBLE,
                "SELECT count(*) FROM repository WHERE id = 'm'", "2 ");
    rule_judged(&(struct rule){"camel", ONE, both, 1, "duplicate done "}, 0,
                "SELECT count(*) FROM repository WHERE id = 'm'", "1 ");
    HOLD({"camel, unique: false", ONE, AFTER("1s"), 1, "done duplicate "});
}
END_TEST

START_TEST(camel_5_rows_are_not_confirmed_and_never_expire)
{
    static const char query[] = "SELECT confirmed FROM repository";
    rule_judged(&(struct rule){"camel", ONE, AFTER("3000d"), 1, "done duplicate "}, 0, query, "0 ");
    rule_judged(&(struct rule){"camel, confirms: true", ONE, AFTER("1s"), 1, "done duplicate "}, 0,
                query, "1 ");
    rule_default("camel", "retention", 0);
    rule_default("camel", "most", 0);
}
END_TEST

START_TEST(camel_6_a_death_behind_the_key)
{
    rule_judged(&(struct rule){"camel", THRICE, "faults: [" KEY_THERE "]", 0, "duplicate "}, LOST,
                NULL, NULL);
    HOLD({"camel", THRICE, "faults: [crash receiver at m/1 before commit (process)]", 1, "done "},
         {"camel", THRICE, "faults: [" DONE_NOT_SAID "]", 1, "duplicate "});
}
END_TEST

/* The key is added at 1.02 s; 10 s later it is an orphan, if its process has died. */
START_TEST(camel_6_orphans)
{
#define EARLY ", duplicate request m/1 after 9999999999ns]"
#define LATER ", duplicate request m/1 after 10s]"
    HOLD({"camel, orphans: 10s", THRICE, "faults: [" KEY_THERE EARLY, 0, "duplicate duplicate "},
         {"camel, orphans: 10s", THRICE, "faults: [" KEY_THERE LATER, 1, "duplicate done "},
         {"camel", THRICE, "faults: [" KEY_THERE LATER, 0, "duplicate duplicate "},
         /* finished work looks the same */
         {"camel, orphans: 10s", THRICE, "faults: [" DONE_NOT_SAID LATER, 2, "duplicate done "},
         {"camel, orphans: 10s, confirms: true", THRICE, "faults: [" DONE_NOT_SAID LATER, 1,
          "duplicate duplicate "},
         {"camel, orphans: 10s, confirms: true", THRICE, "faults: [" KEY_THERE LATER, 1,
          "duplicate done "},
         /* a live owner keeps its key */
         {"camel, orphans: 10s", ONE, AFTER("10d"), 1, "done duplicate "});
}
END_TEST

/* The refreshes of a live owner have no test: they are not simulated. An orphan's time counts from
 * when its key was added, not from the last of them. */

START_TEST(camel_7_the_memory_repository)
{
    rule_default("camel_memory", "most", 1000);
    rule_default("camel_memory", "evict", 1); /* the least recently used one */
    HOLD({"camel_memory", THRICE, "faults: [" DONE_NOT_SAID "]", 2, "done "},
         {"camel_memory", THRICE, "faults: [stop receiver at m/1 before commit, lose reply m/1]", 2,
          "done done "},
         {"camel_memory", THRICE, "faults: [" KEY_THERE "]", 1, "done "},
         /* one map, whichever thread comes */
         {"camel_memory", ONE, TWO "faults: [" BETWEEN ", " COPY "]", 1, "duplicate done "},
         /* a, b, a, c: b makes room, or a where the oldest one goes */
         {"camel_memory, most: 2", FOUR, "faults: [duplicate request a/1 after 10s]", 3,
          "done done duplicate done duplicate "},
         {"camel_memory, most: 2", FOUR, "faults: [duplicate request b/1 after 10s]", 4,
          "done done duplicate done done "},
         {"camel_memory, most: 2, evict: oldest", FOUR, "faults: [duplicate request a/1 after 10s]",
          4, "done done duplicate done done "});
}
END_TEST

/* camel 8, a cache in front of the repository that is filled before the insert and not emptied when
 * that fails, is the canary cached_before_durable: test_flawed. `repository` has no cache. */

/* ---- Spring Integration ---- */

START_TEST(spring_1_the_key_is_put_before_the_handler)
{
    HOLD({"spring_discard", ONE, TWO "faults: [" BETWEEN ", " COPY "]", 1, "duplicate done "},
         {"spring_integration", ONE, "", 1, "done "});
    /* the value is what the message says; here its version */
    rule_judged(&(struct rule){"spring_discard",
                               SENT("", "{id: m, entity: e, charge: 1, version: 7}"),
                               "faults: [" COPY "]", 1, "done duplicate "},
                0, "SELECT value FROM repository", "7 ");
}
END_TEST

START_TEST(spring_2_discarded_or_thrown_or_handled)
{
    HOLD({"spring_discard", ONE, AFTER("1s"), 1, "done duplicate "},
         {"spring_discard, duplicate: thrown", ONE, AFTER("1s"), 1, "done error "},
         /* the default */
         {"spring_integration", ONE, AFTER("1s"), 2, "done done "});
    rule_judged(
        &(struct rule){"spring_integration", THRICE, "faults: [lose reply m/1]", 2, "done done "},
        DOUBLE, NULL, NULL);
    /* with the exception a retry never gets a good answer: a queue makes it a dead letter */
    HOLD({"spring_discard, duplicate: thrown", ONE,
          "broker: {redeliver: 3}\nfaults: [lose ack m/1]", 1, "done error error "});
}
END_TEST

START_TEST(spring_3_nothing_removes_the_key_but_a_rollback)
{
    rule_judged(
        &(struct rule){"spring_discard", THRICE, "faults: [" FAILS "]", 0, "error duplicate "},
        LOST, "SELECT id FROM repository", "m ");
    HOLD({"spring_integration", THRICE, "faults: [" FAILS "]", 1, "error done "},
         {"spring_discard", THRICE, "faults: [" KEY_THERE "]", 0, "duplicate "},
         /* joined: the key goes with the effect, and comes with it */
         {"spring_joined", THRICE, "faults: [" FAILS "]", 1, "error done "},
         {"spring_joined", THRICE, "faults: [crash receiver at m/1 before commit (process)]", 1,
          "done "},
         {"spring_joined", THRICE, "faults: [" KEY_THERE "]", 1, "duplicate "},
         /* which is of no use to a handler that is called all the same */
         {"spring_joined, duplicate: handled", THRICE, "faults: [" KEY_THERE "]", 2, "done "});
}
END_TEST

#define VERSION(id, n) "{id: " id ", entity: e, charge: 1, version: " n "}"
#define IN_ORDER                                                                                   \
    SENT("keys: per-entity,", VERSION("a", "1") ", " VERSION("b", "2") ", " VERSION("c", "3"))
#define OVERTAKEN                                                                                  \
    SENT("keys: per-entity,", VERSION("a", "1") ", " VERSION("b", "3") ", " VERSION("c", "2"))

START_TEST(spring_4_compare_values_is_a_watermark_for_each_key)
{
    HOLD({"spring_discard, value: latest", IN_ORDER, "", 3, "done done done "},
         {"spring_discard, value: latest", IN_ORDER, "faults: [lose reply b/1]", 3,
          "done done duplicate done "},
         /* new, and never accepted */
         {"spring_discard, value: latest", OVERTAKEN, "", 2, "done done duplicate "},
         {"spring_joined, value: latest", OVERTAKEN, "", 2, "done done duplicate "},
         /* accepting replaces the value */
         {"spring_discard, value: latest", IN_ORDER, "faults: [duplicate request a/1 after 10s]", 3,
          "done done done duplicate "},
         /* without it a key is seen or not */
         {"spring_discard", IN_ORDER, "", 1, "done duplicate duplicate "});
}
END_TEST

START_TEST(spring_5_the_default_store_is_in_memory)
{
    rule_default("spring_integration", "store", 2); /* memory */
    rule_default("spring_integration", "most", 0);
    HOLD({"spring_discard, store: memory", THRICE, "faults: [" DONE_NOT_SAID "]", 2, "done "},
         {"spring_discard", THRICE, "faults: [" DONE_NOT_SAID "]", 1, "duplicate "});
}
END_TEST

/* Not followed of spring 5: the properties store, which saves on an orderly end alone. After a stop
 * it is `store: own`, after a crash `store: memory`. */

START_TEST(spring_6_get_then_put)
{
    static const char both[] = TWO "faults: [" BETWEEN ", " COPY "]";
    HOLD({"spring_discard, unique: false", ONE, both, 2, "done done "},
         {"spring_discard", ONE, both, 1, "duplicate done "},
         {"spring_discard, unique: false", ONE, AFTER("1s"), 1, "done duplicate "});
}
END_TEST

/* ---- what is told of records ---- */

#define STATES CHECK_BIT(CHECK_RECORD_STATES)
#define OWNER CHECK_BIT(CHECK_OWNER_ONLY)
#define JUDGED "expect: [exactly-once, record-states, owner-only]\n"

START_TEST(keys_move_as_they_are_told_to)
{
    static const struct {
        struct rule rule;
        uint32_t checks;
    } cases[] = {
        {{"spring_joined", ONE, JUDGED AFTER("1s"), 1, "done duplicate "}, 0},
        {{"spring_joined, retention: 9s", ONE, JUDGED AFTER("9s"), 2, "done done "}, DOUBLE},
        {{"camel", THRICE, JUDGED "faults: [" FAILS "]", 1, "error done "}, 0},
        {{"camel, confirms: true", ONE, JUDGED AFTER("1s"), 1, "done duplicate "}, 0},
        {{"camel, confirms: true, orphans: 10s", THRICE, JUDGED "faults: [" KEY_THERE LATER, 1,
          "duplicate done "},
         0},
        /* one that has been confirmed is no more in progress */
        {{"camel, confirms: true", THRICE, JUDGED ROUTE_FAILS, 2, "error done "}, DOUBLE},
        {{"camel, confirms: true, completion: handler", THRICE, JUDGED ROUTE_FAILS, 1,
          "error duplicate "},
         0},
        /* two rows for one key; a key that goes before its time, or by another's hand */
        {{"camel, unique: false", ONE, JUDGED TWO "faults: [" BETWEEN ", " COPY "]", 2,
          "done done "},
         DOUBLE | STATES},
        {{"camel_memory, most: 0", THRICE, JUDGED "faults: [" DONE_NOT_SAID "]", 2, "done "},
         DOUBLE | STATES},
        {{"camel_lazy", ONE,
          JUDGED TWO "faults: [" BETWEEN ", duplicate request m/1 2 times after 2s, " FAILS "]", 2,
          "done error done "},
         DOUBLE | OWNER},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        rule_judged(&cases[i].rule, cases[i].checks, NULL, NULL);
    }
}
END_TEST

/* ---- what exploration finds ---- */

static const struct found {
    const char *it;
    uint32_t check; /* 0: none is violated */
} found[] = {
    {"camel", CHECK_BIT(CHECK_NO_LOST_EFFECT)},
    {"camel, confirms: true, orphans: 2s", CHECK_BIT(CHECK_NO_LOST_EFFECT)},
    {"camel, unique: false", CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)},
    {"camel_memory", CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)},
    {"camel_lazy", CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)},
    {"spring_integration", CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)},
    {"spring_discard", CHECK_BIT(CHECK_NO_LOST_EFFECT)},
    {"rabbitmq_exchange", CHECK_BIT(CHECK_NO_LOST_EFFECT)},
    {"spring_joined", 0},
    {"spring_joined, on_failure: removes, completion: route", 0},
    {"repository, unique: true, confirms: true", 0},
    {"repository, retention: 1h, starts: last-seen, removal: both, sweep: 2s", 0},
};

START_TEST(explored)
{
    const struct found *f = &found[_i];
    struct scenario s;
    struct certificate c;
    rig_scenario(&s,
                 "receivers: [{name: it, is: %s}]\n"
                 "senders: [{name: shop, in_flight: 2, messages: [" MESSAGE
                 ", {id: n, entity: e, charge: 2}], retry: {after: 1s, limit: 5}}]\n"
                 "network: {delay: 20ms}\n" TWO,
                 f->it);
    struct expectation wanted = {
        .given = f->check != 0, .violates = f->check != 0, .checks = f->check};
    struct explore_task task = {.scenario = &s,
                                .seed = 1,
                                .faults = f->check == 0 && getenv("ONLYONCE_HEAVY") ? 2 : 1,
                                .kinds = explore_covered_kinds(),
                                .jobs = 2,
                                .expectation = &wanted};
    explore(&task, stderr, &c);
    ck_assert_msg(c.expected, "%s: %s", f->it, verdict_text(c.verdict));
    ck_assert_uint_gt(c.schedules, 50);
    scenario_fini(&s);
}
END_TEST

Suite *rules_frameworks_suite(void)
{
    Suite *s = suite_create("rules_frameworks");
    TCase *t = tcase_create("rules_frameworks");
    tcase_add_test(t, camel_1_defaults_and_no_key);
    tcase_add_test(t, camel_2_eager_adds_and_lazy_looks);
    tcase_add_test(t, camel_3_a_duplicate_ends_well_although_the_first_may_fail);
    tcase_add_test(t, camel_4_a_failure_removes_the_key);
    tcase_add_test(t, camel_4_whose_failure_it_is);
    tcase_add_test(t, camel_4_the_key_of_another);
    tcase_add_test(t, camel_4_a_dead_letter_is_a_failure);
    tcase_add_test(t, camel_5_without_a_unique_constraint);
    tcase_add_test(t, camel_5_rows_are_not_confirmed_and_never_expire);
    tcase_add_test(t, camel_6_a_death_behind_the_key);
    tcase_add_test(t, camel_6_orphans);
    tcase_add_test(t, camel_7_the_memory_repository);
    tcase_add_test(t, spring_1_the_key_is_put_before_the_handler);
    tcase_add_test(t, spring_2_discarded_or_thrown_or_handled);
    tcase_add_test(t, spring_3_nothing_removes_the_key_but_a_rollback);
    tcase_add_test(t, spring_4_compare_values_is_a_watermark_for_each_key);
    tcase_add_test(t, spring_5_the_default_store_is_in_memory);
    tcase_add_test(t, spring_6_get_then_put);
    tcase_add_test(t, keys_move_as_they_are_told_to);
    tcase_add_loop_test(t, explored, 0, ARRAY_LEN(found));
    tcase_set_timeout(t, getenv("ONLYONCE_HEAVY") ? 600 : 60);
    suite_add_tcase(s, t);
    suite_add_tcase(s, rules_brokers_tests());
    return s;
}
