/* Sweeps: one receiver of a file becomes one for each value of a setting.
 *
 * Pinned: names, places and values of what a sweep makes; who is swept; what is refused; that
 * `expect` may name all of them or one; that copies, prints and shrunk stories keep names and
 * values true to each other; sums and texts of the table.
 *
 * Left open: what the command line shows (test_cli.sh), errors with their positions (tests/bad).
 */
#include "tests/scenario_rig.h"

#include "reports/sweep.h"
#include "sim/scenario_edit.h"
#include "sim/scenario_print.h"
#include "sim/shrink.h"
#include "sim/world.h"

#include <string.h>

#define SENDERS "senders: [{name: shop, messages: [{id: m-1, entity: e, charge: 7}]}]\n"

static enum sim_error parse(const char *head, struct caught *c, struct scenario *s)
{
    char *text = sim_alloc(strlen(head) + sizeof(SENDERS));
    strcpy(text, head);
    strcat(text, SENDERS);
    enum sim_error e = scenario_parse("t", text, strlen(text), c->stream, s);
    fflush(c->stream);
    free(text);
    return e;
}

static struct scenario good(const char *head)
{
    struct scenario s;
    struct caught c;
    caught_open(&c);
    ck_assert_msg(parse(head, &c, &s) == SIM_OK, "%s", c.text);
    caught_close(&c);
    return s;
}

static void refuses(const char *head, const char *want)
{
    struct scenario s;
    struct caught c;
    caught_open(&c);
    ck_assert_int_eq(parse(head, &c, &s), SIM_ERR_SCENARIO);
    ck_assert_msg(strstr(c.text, want) != NULL, "%s\n  got: %s\n  not: %s", head, c.text, want);
    caught_close(&c);
}

static void is(const struct scenario *s, size_t i, const char *name, const char *swept,
               int64_t window)
{
    const struct scenario_receiver *r = &s->receivers[i];
    ck_assert_str_eq(r->name, name);
    ck_assert_int_eq(r->settings[0], window);
    ck_assert((r->swept == NULL) == (swept == NULL));
    if (swept != NULL) {
        ck_assert_str_eq(r->swept, swept);
        ck_assert_uint_eq(r->swept_setting, 0);
    }
}

START_TEST(each_value_is_a_receiver)
{
    struct scenario s =
        good("receivers: [table, {name: fifo, is: window, scope: group}, sqs_fifo, naive]\n"
             "sweep: {receiver.window: [90s, 5m, 3600s]}\n");
    ck_assert_uint_eq(s.receiver_count, 8);
    is(&s, 0, "table", NULL, s.receivers[0].settings[0]);
    is(&s, 1, "fifo@90s", "fifo", 90 * SIM_S);
    is(&s, 2, "fifo@5m", "fifo", 300 * SIM_S);
    is(&s, 3, "fifo@1h", "fifo", 3600 * SIM_S);
    is(&s, 4, "sqs_fifo@90s", "sqs_fifo", 90 * SIM_S);
    is(&s, 6, "sqs_fifo@1h", "sqs_fifo", 3600 * SIM_S);
    is(&s, 7, "naive", NULL, 0);
    for (size_t i = 1; i <= 3; i++) {
        ck_assert_int_eq(s.receivers[i].settings[10], 1);
        ck_assert_str_eq(s.receivers[i].code->name, "window");
        ck_assert_int_eq(s.receivers[i].line, 1);
        ck_assert_int_eq(s.receivers[i].column, 27);
    }
    scenario_fini(&s);
}
END_TEST

START_TEST(one_receiver_alone_is_swept)
{
    struct scenario s = good("receivers: [window, {name: a.b, is: window}]\n"
                             "sweep: {a.b.window: [7d]}\n");
    ck_assert_uint_eq(s.receiver_count, 2);
    is(&s, 0, "window", NULL, 300 * SIM_S);
    is(&s, 1, "a.b@7d", "a.b", 7 * 86400 * (int64_t)SIM_S);
    scenario_fini(&s);
    s = good("receivers: [window]\nsweep: {window.acknowledged: [true, false]}\n");
    ck_assert_str_eq(s.receivers[0].name, "window@true");
    ck_assert(s.receivers[0].settings[5] == 1 && s.receivers[1].settings[5] == 0);
    ck_assert_uint_eq(s.receivers[1].swept_setting, 5);
    scenario_fini(&s);
    s = good("receivers: [window]\nsweep: {window.scope: [group, queue]}\n");
    ck_assert_str_eq(s.receivers[0].name, "window@group");
    ck_assert(s.receivers[0].settings[10] == 1 && s.receivers[1].settings[10] == 0);
    scenario_fini(&s);
}
END_TEST

START_TEST(sweeps_that_are_refused)
{
    char text[16384];
    refuses("receivers: [window]\nsweep: {window: [1m]}\n", "t:2:9: error: expected receiver.");
    refuses("receivers: [window]\nsweep: {window.: [1m]}\n", "t:2:9: error: expected receiver.");
    refuses("receivers: [window]\nsweep: {.window: [1m]}\n", "t:2:9: error: expected receiver.");
    refuses("receivers: [window]\nsweep: {}\n", "t:2:8: error: expected a setting");
    refuses("receivers: [window]\nsweep: \n", "t:2:");
    refuses("receivers: [window]\nsweep: {window.window: 5m}\n", "expected a list of values");
    refuses("receivers: [window]\nsweep: {window.window: [[5m]]}\n", "t:2:25: error: expected a d");
    refuses("receivers: [window, table]\nsweep: {table.window: [5m]}\n",
            "t:2:15: error: \"table\" has no setting \"window\"\n");
    refuses("receivers: [window]\nsweep: {recever.window: [5m]}\n", "did you mean \"receiver\"?");
    refuses("receivers: [window]\nsweep: {window.scope: [queue, stack]}\n", "t:2:31: error: ");
    /* Where the receivers are in doubt nothing is said of the sweep. */
    refuses("receivers: [windw]\nsweep: {fifo.window: [5m]}\n", "did you mean \"window\"?\n");
    int n = snprintf(text, sizeof(text), "receivers:\n  - {name: %0250d, is: window}\n", 7);
    snprintf(text + n, sizeof(text) - (size_t)n, "sweep: {receiver.window: [1m, 10000s]}\n");
    refuses(text, "whose name is too long");
    n = snprintf(text, sizeof(text), "receivers:\n");
    for (unsigned i = 0; i < 51; i++) {
        n += snprintf(text + n, sizeof(text) - (size_t)n, "  - {name: r%u, is: window}\n", i);
    }
    snprintf(text + n, sizeof(text) - (size_t)n, "sweep: {receiver.window: [1m, 2m]}\n");
    refuses(text, "the sweep makes 102 receivers; at most 100 are allowed");
}
END_TEST

START_TEST(expect_names_all_or_one)
{
    struct scenario s = good(
        "receivers: [{name: fifo, is: window}, table, {name: q, is: window}]\n"
        "sweep: {receiver.window: [1m, 5m, 1h]}\n"
        "expect: {fifo@5m: progress, fifo: violates no-double-effect, q@1h: violates progress}\n"
        "explore: {faults: 1, expect: {q: violates progress, q@1m: progress}}\n");
    ck_assert_uint_eq(s.receiver_count, 7);
    static const int violates[2][7] = {{1, 0, 1, -1, -1, -1, 1}, {-1, -1, -1, -1, 0, 1, 1}};
    for (size_t i = 0; i < 7; i++) {
        const struct expectation *both[] = {&s.expectations[i], &s.explore_expectations[i]};
        for (size_t k = 0; k < 2; k++) {
            ck_assert_msg(both[k]->given == (violates[k][i] >= 0), "%zu %zu", k, i);
            ck_assert(both[k]->violates == (violates[k][i] == 1));
        }
    }
    scenario_fini(&s);
    refuses("receivers: [window]\nsweep: {window.window: [1m, 5m]}\n"
            "expect: {window: progress, window: exactly-once}\n",
            "key \"window\" stands here twice");
    refuses("receivers: [window]\nsweep: {window.window: [1m, 5m]}\n"
            "expect: {window: progres}\n",
            "t:3:18: error: unknown check");
    refuses("receivers: [window]\nsweep: {window.window: [1m, 5m]}\n"
            "expect: {windw: progress}\n",
            "did you mean \"window\"?");
}
END_TEST

START_TEST(copies_and_prints_keep_it)
{
    struct scenario s, copy, again;
    s = good("receivers: [table, {name: fifo, is: window}]\n"
             "sweep: {receiver.window: [1m, 5m]}\nexpect: {fifo: violates progress}\n");
    scenario_copy(&s, &copy);
    is(&copy, 1, "fifo@1m", "fifo", 60 * SIM_S);
    ck_assert(copy.receivers[1].swept != s.receivers[1].swept);
    char *text = scenario_print_text(&copy);
    ck_assert_msg(strstr(text, "receivers: [table, {name: \"fifo@1m\", is: window, window: 1m}, "
                               "{name: \"fifo@5m\", is: window}]\n") != NULL,
                  "%s", text);
    ck_assert_int_eq(scenario_parse("t", text, strlen(text), stderr, &again), SIM_OK);
    is(&again, 1, "fifo@1m", NULL, 60 * SIM_S);
    ck_assert(again.expectations[2].violates && !again.expectations[0].given);
    scenario_keep_receiver(&copy, 2);
    is(&copy, 0, "fifo@5m", "fifo", 300 * SIM_S);
    free(text);
    scenario_fini(&again);
    scenario_fini(&copy);
    scenario_fini(&s);
}
END_TEST

/* The smallest story of fifo@7m is one of 7 minutes still, also where the default would do. */
START_TEST(a_story_keeps_the_value_of_its_name)
{
    struct scenario s =
        good("receivers: [{name: fifo, is: window, scope: group}]\n"
             "sweep: {fifo.window: [7m, 9m]}\n"
             "faults: [duplicate request m-1/1 after 10m]\nnetwork: {delay: 20ms}\n");
    struct shrink_result out;
    struct shrink_task task = {
        .scenario = &s, .receiver = 0, .seed = 1, .check = CHECK_NO_DOUBLE_EFFECT};
    ck_assert_int_eq(shrink(&task, stderr, &out), SIM_OK);
    ck_assert_uint_eq(out.scenario.receiver_count, 1);
    is(&out.scenario, 0, "fifo@7m", "fifo", 420 * SIM_S);
    ck_assert_int_eq(out.scenario.receivers[0].settings[2], 0);
    scenario_fini(&out.scenario);
    scenario_fini(&s);
}
END_TEST

/* ---- the table ---- */

static void add(struct sweep_table *t, const struct scenario *s, size_t receiver, uint64_t n,
                bool records)
{
    struct result r = {.scenario = s,
                       .receiver = &s->receivers[receiver],
                       .verdict = n % 2 ? VERDICT_FAIL : VERDICT_PASS,
                       .expected = n != 3,
                       .operations = 100,
                       .with_effect = 90,
                       .doubled = n,
                       .beyond = 2 * n,
                       .late = n,
                       .has_records = records,
                       .records = 10 * n,
                       .records_most = 20 * n,
                       .costs = {.database_bytes = 1024 * n}};
    sweep_add(t, &r);
}

static char *written(void (*write)(FILE *, const struct sweep_table *), const struct sweep_table *t)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    write(out, t);
    fclose(out);
    return text;
}

START_TEST(rows_sum_and_take_the_most)
{
    struct scenario s = good("name: \"=n\"\nreceivers: [table, {name: \"f,\", is: window}]\n"
                             "sweep: {receiver.window: [1m, 5m]}\n");
    struct sweep_table t = {0};
    add(&t, &s, 0, 50, true); /* of no sweep */
    add(&t, &s, 1, 4, true);
    add(&t, &s, 1, 3, true);
    add(&t, &s, 2, 2, false);
    ck_assert_uint_eq(t.count, 2);
    ck_assert_uint_eq(sweep_group(&t, 0), 2);
    ck_assert_uint_eq(sweep_dsevr(&t.rows[0]), 7 * 10000 / 180);
    char *text = written(sweep_text, &t);
    ck_assert_str_eq(text, "\n\"=n\": sweep of window\n"
                           "value  receiver  applied again  late  DSEVR  records  bytes  verdict\n"
                           "1m     \"f,\"                 14     7  3.88%       80   4096  "
                           "pass 1, fail 1, NOT EXPECTED\n"
                           "5m     \"f,\"                  4     2  2.22%        -   2048  pass\n");
    free(text);
    text = written(sweep_csv, &t);
    ck_assert_ptr_nonnull(strstr(text, "\r\n'=n,\"f,\",window,1m,60000000000,200,14,7,7,3.88,"
                                       "40,80,4096\r\n"));
    ck_assert_ptr_nonnull(strstr(text, "\r\n'=n,\"f,\",window,5m,300000000000,100,4,2,2,2.22,"
                                       ",,2048\r\n"));
    free(text);
    sweep_fini(&t);
    scenario_fini(&s);
}
END_TEST

Suite *sweep_suite(void)
{
    Suite *suite = suite_create("sweep");
    TCase *t = tcase_create("sweep");
    tcase_add_test(t, each_value_is_a_receiver);
    tcase_add_test(t, one_receiver_alone_is_swept);
    tcase_add_test(t, sweeps_that_are_refused);
    tcase_add_test(t, expect_names_all_or_one);
    tcase_add_test(t, copies_and_prints_keep_it);
    tcase_add_test(t, a_story_keeps_the_value_of_its_name);
    tcase_add_test(t, rows_sum_and_take_the_most);
    suite_add_tcase(suite, t);
    return suite;
}
