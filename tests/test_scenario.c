/* Scenario files: defaults, every key, names, the design's story, errors of small texts. */
#include "tests/scenario_rig.h"

#include "receivers/retention.h"
#include "sim/scenario_edit.h"
#include "sim/scenario_print.h"
#include "sim/scenario_settings.h"

#include <string.h>

static struct scenario good(const char *text)
{
    struct scenario s;
    struct caught c;
    caught_open(&c);
    enum sim_error e = scenario_parse("test.yaml", text, strlen(text), c.stream, &s);
    fflush(c.stream);
    ck_assert_msg(e == SIM_OK, "%s", c.text);
    ck_assert_str_eq(c.text, "");
    caught_close(&c);
    return s;
}

/* The whole text of the errors of LEAST and more. */
static void refuses(const char *more, const char *want)
{
    char text[4096];
    snprintf(text, sizeof(text), "%s%s", LEAST, more);
    struct scenario s;
    struct caught c;
    caught_open(&c);
    ck_assert_int_eq(scenario_parse("t", text, strlen(text), c.stream, &s), SIM_ERR_SCENARIO);
    fflush(c.stream);
    ck_assert_msg(strstr(c.text, want) != NULL, "%s\n  got: %s\n  not: %s", more, c.text, want);
    caught_close(&c);
}

static void assert_dist(const struct dist *d, enum dist_kind kind, uint64_t a, uint64_t b,
                        uint32_t sigma)
{
    ck_assert_uint_eq(d->kind, kind);
    ck_assert_uint_eq(d->a, a);
    ck_assert_uint_eq(d->b, b);
    ck_assert_uint_eq(d->sigma, sigma);
}

START_TEST(defaults)
{
    struct scenario s = good(LEAST);
    ck_assert_str_eq(s.file, "test.yaml");
    ck_assert_str_eq(s.name, "test");
    ck_assert_ptr_null(s.about);
    ck_assert_uint_eq(s.receiver_count, 1);
    ck_assert_str_eq(s.receivers[0].code->name, "table");
    ck_assert(!s.expectations[0].given && !s.expect_others.given);
    const struct sender_config *shop = &s.senders[0];
    ck_assert(!shop->open_loop && shop->in_flight == 1 && !shop->give_up_is_failed);
    ck_assert_uint_eq(shop->workload.count, 0);
    ck_assert_ptr_null(shop->messages[0].key);
    ck_assert_uint_eq(shop->messages[0].at, 0);
    ck_assert_int_eq(shop->messages[0].amount, 7);
    const struct retry_policy *r = &shop->retry;
    ck_assert(r->timeout == 0 && r->after == SIM_S && r->max == 60 * SIM_S && r->limit == 5);
    ck_assert(r->backoff == BACKOFF_FIXED && r->deadline == 0);
    assert_dist(&s.network.delay[0], DIST_UNIFORM, 20 * SIM_MS, 80 * SIM_MS, 0);
    assert_dist(&s.network.delay[1], DIST_UNIFORM, 20 * SIM_MS, 80 * SIM_MS, 0);
    assert_dist(&s.rates.copy_after, DIST_UNIFORM, 0, SIM_S, 0);
    assert_dist(&s.rates.pause_for, DIST_UNIFORM, 0, 5 * SIM_S, 0);
    ck_assert(s.rates.lose[0].num == 0 && s.rates.lose[0].den == 1 && s.rates.crash.den == 1);
    ck_assert_uint_eq(s.receiver.workers, 1);
    assert_dist(&s.receiver.step, DIST_CONSTANT, 0, 0, 0);
    assert_dist(&s.receiver.restart, DIST_CONSTANT, 100 * SIM_MS, 0, 0);
    const struct database_config *db = &s.receiver.database;
    ck_assert(db->journal == JOURNAL_TRUNCATE && db->synchronous == SYNC_FULL);
    ck_assert(db->page_size == 1024 && db->busy_timeout == 5 * SIM_S);
    ck_assert(s.fault_count == 0 && s.faults_until == 0 && !s.no_give_up);
    ck_assert(s.explore_faults == 0 && !s.explore_expectations[0].given);
    scenario_fini(&s);
}
END_TEST

static const char every_key[] =
    "name: all\n"
    "about: \"says \\\"all\\\"\"\n"
    "receivers: [table, {name: mine, is: naive}, {name: entity}]\n"
    "senders:\n"
    "  - name: shop\n"
    "    messages:\n"
    "      - {id: m-1, key: k-1, entity: one, charge: 5, at: 2s}\n"
    "      - {id: m-2, entity: two, effect: {add: 6}}\n"
    "      - {id: m-3, entity: till-entity-2, charge: 1000000000}\n"
    "    in_flight: 3\n"
    "    retry: {timeout: 300ms, after: 100ms, backoff: decorrelated-jitter, max: 9s, limit: 7,\n"
    "            deadline: 1h}\n"
    "    on_give_up: failed\n"
    "  - name: till\n"
    "    workload: {count: 100, entities: 4, skew: 1.25, charge: 1..9}\n"
    "    loop: open\n"
    "    every: {exponential: {mean: 10ms, max: 1s}}\n"
    "  - {name: kiosk, workload: {count: 2}, loop: open, rate: 100/s}\n"
    "network:\n"
    "  delay: {request: {log_normal: {median: 50ms, spread: 0.5, max: 2s}}, reply: 3ms}\n"
    "  lose: {request: 1/20}\n"
    "  duplicate: 1/50\n"
    "  duplicate_after: 1s..2s\n"
    "hosts:\n"
    "  receiver: {workers: 2, restart: 1s..2s, clock: {offset: -3s, drift: 50ppm}, crash: 1/3,\n"
    "             power: 1/4, pause: 1/5, store: 1/6, handler: 1/7, pause_for: 8s}\n"
    "  till: {clock: {offset: 2s, drift: -7ppm}}\n"
    "database: {journal: wal, synchronous: off, page_size: 4096, busy_timeout: 0s}\n"
    "faults:\n"
    "  - lose reply m-2/7\n"
    "  - lose reply till-100/5\n"
    "  - clock receiver +3s\n"
    "  - clock receiver drift +5ppm at 9s\n"
    "  - partition shop receiver 2s..3s\n"
    "  - partition shop receiver 4s..5s\n"
    "  - lying-disk receiver\n"
    "faults_until: 90s\n"
    "contract: {no_give_up: true}\n"
    "expect:\n"
    "  mine: violates no-double-effect\n"
    "  table: [no-double-effect, progress]\n"
    "explore: {faults: 2, expect: {mine: violates progress, table: [progress]}}\n";

START_TEST(every_key_of_senders)
{
    struct scenario s = good(every_key);
    ck_assert_str_eq(s.about, "says \"all\"");
    const struct sender_config *shop = &s.senders[0], *till = &s.senders[1];
    ck_assert_uint_eq(shop->message_count, 3);
    ck_assert_str_eq(shop->messages[0].key, "k-1");
    ck_assert_uint_eq(shop->messages[0].at, 2 * SIM_S);
    ck_assert_int_eq(shop->messages[1].amount, 6);
    ck_assert_int_eq(shop->messages[1].line, 8);
    ck_assert(shop->in_flight == 3 && shop->give_up_is_failed);
    const struct retry_policy *r = &shop->retry;
    ck_assert(r->timeout == 300 * SIM_MS && r->after == 100 * SIM_MS && r->max == 9 * SIM_S);
    ck_assert(r->backoff == BACKOFF_DECORRELATED_JITTER && r->limit == 7);
    ck_assert_uint_eq(r->deadline, 3600 * SIM_S);
    ck_assert(till->workload.count == 100 && till->workload.entities == 4);
    ck_assert(till->workload.skew == 1250 && till->open_loop);
    assert_dist(&till->workload.amount, DIST_UNIFORM, 1, 9, 0);
    assert_dist(&till->gap, DIST_EXPONENTIAL, 10 * SIM_MS, SIM_S, 0);
    assert_dist(&s.senders[2].gap, DIST_CONSTANT, 10 * SIM_MS, 0, 0);
    ck_assert(till->clock_offset == (int64_t)(2 * SIM_S) && till->clock_drift == -7);
    scenario_fini(&s);
}
END_TEST

START_TEST(every_key_of_the_world)
{
    struct scenario s = good(every_key);
    assert_dist(&s.network.delay[0], DIST_LOG_NORMAL, 50 * SIM_MS, 2 * SIM_S, 500);
    assert_dist(&s.network.delay[1], DIST_CONSTANT, 3 * SIM_MS, 0, 0);
    ck_assert(s.rates.lose[0].den == 20 && s.rates.lose[1].num == 0);
    ck_assert(s.rates.duplicate[0].den == 50 && s.rates.duplicate[1].den == 50);
    assert_dist(&s.rates.copy_after, DIST_UNIFORM, SIM_S, 2 * SIM_S, 0);
    ck_assert(s.rates.crash.den == 3 && s.rates.power.den == 4 && s.rates.pause.den == 5);
    ck_assert(s.rates.store.den == 6 && s.rates.handler.den == 7);
    assert_dist(&s.rates.pause_for, DIST_CONSTANT, 8 * SIM_S, 0, 0);
    assert_dist(&s.receiver.step, DIST_UNIFORM, 0, SIM_MS, 0);
    assert_dist(&s.receiver.restart, DIST_UNIFORM, SIM_S, 2 * SIM_S, 0);
    ck_assert(s.receiver.clock_offset == -(int64_t)(3 * SIM_S) && s.receiver.clock_drift == 50);
    const struct database_config *db = &s.receiver.database;
    ck_assert(db->journal == JOURNAL_WAL && db->synchronous == SYNC_OFF);
    ck_assert(db->page_size == 4096 && db->busy_timeout == 0);
    ck_assert(s.faults_until == 90 * SIM_S && s.no_give_up && s.explore_faults == 2);
    const struct expectation *e = s.explore_expectations;
    ck_assert(e[1].violates && e[1].checks == CHECK_BIT(CHECK_PROGRESS) && !e[2].given);
    ck_assert(!e[0].violates && e[0].checks == CHECK_BIT(CHECK_PROGRESS));
    ck_assert(!s.explore_others.given);
    ck_assert_uint_eq(s.fault_count, 7);
    ck_assert(s.faults[2].site.key.nth == 1 && s.faults[3].site.key.nth == 2);
    ck_assert(s.faults[4].site.key.nth == 1 && s.faults[5].site.key.nth == 2);
    ck_assert_int_gt(s.faults[1].line, s.faults[0].line);
    ck_assert_str_eq(s.receivers[1].name, "mine");
    ck_assert_str_eq(s.receivers[1].code->name, "naive");
    ck_assert(s.expectations[1].violates);
    ck_assert_uint_eq(s.expectations[1].checks, CHECK_BIT(CHECK_NO_DOUBLE_EFFECT));
    ck_assert(!s.expectations[0].violates && !s.expectations[2].given && !s.expect_others.given);
    ck_assert_uint_eq(s.expectations[0].checks,
                      CHECK_BIT(CHECK_NO_DOUBLE_EFFECT) | CHECK_BIT(CHECK_PROGRESS));
    scenario_fini(&s);
}
END_TEST

START_TEST(names_of_operations_and_entities)
{
    struct scenario s = good(every_key);
    char name[KEY_MAX];
    ck_assert_uint_eq(scenario_operation_id(&s, op_make(PLACE_SENDER, 1), name), 3);
    ck_assert_str_eq(name, "m-1");
    scenario_operation_key(&s, op_make(PLACE_SENDER, 1), name);
    ck_assert_str_eq(name, "k-1");
    scenario_operation_key(&s, op_make(PLACE_SENDER + 1, 100), name);
    ck_assert_str_eq(name, "till-100");
    /* one, two, then four of till and one of kiosk */
    ck_assert(s.entity_listed == 2 && s.entity_count == 7);
    ck_assert_uint_eq(s.senders[1].workload.first_entity, 2);
    ck_assert_uint_eq(s.senders[2].workload.first_entity, 6);
    ck_assert_uint_eq(s.senders[0].messages[2].entity, 3);
    ck_assert_str_eq(scenario_entity(&s, 1, name), "two");
    ck_assert_str_eq(scenario_entity(&s, 3, name), "till-entity-2");
    ck_assert_str_eq(scenario_entity(&s, 6, name), "kiosk-entity-1");
    struct sentence_names n = scenario_names(&s);
    ck_assert_uint_eq(n.place(n.context, "receiver", 8), PLACE_RECEIVER);
    ck_assert_uint_eq(n.place(n.context, "kiosk", 5), PLACE_SENDER + 2);
    ck_assert_uint_eq(n.place(n.context, "kios", 4), PLACE_NONE);
    ck_assert_uint_eq(n.operation(n.context, "m-3", 3), op_make(PLACE_SENDER, 3));
    ck_assert_uint_eq(n.operation(n.context, "till-100", 8), op_make(PLACE_SENDER + 1, 100));
    ck_assert_uint_eq(n.operation(n.context, "till-101", 8), 0);
    ck_assert_uint_eq(n.operation(n.context, "till-007", 8), 0);
    ck_assert_uint_eq(n.attempts(n.context, op_make(PLACE_SENDER, 3)), 7);
    char text[SENTENCE_MAX];
    sentence_print(&n, &s.faults[1], text);
    ck_assert_str_eq(text, "lose reply till-100/5");
    sentence_print(&n, &s.faults[5], text);
    ck_assert_str_eq(text, "partition shop receiver 4s..5s");
    scenario_fini(&s);
}
END_TEST

static const char story[] =
    "name: lost-reply\n"
    "about: The reply to \"charge order 1042\" is lost, so the shop sends it again.\n"
    "receivers: [table, entity, response, naive]\n"
    "senders:\n"
    "  - name: shop\n"
    "    messages:\n"
    "      - {id: m-77, entity: order-1042, charge: 4200}\n"
    "    retry: {after: 1s, backoff: exponential, limit: 5}\n"
    "network: {delay: 20ms..80ms}\n"
    "faults:\n"
    "  - lose reply m-77/1\n"
    "expect: {naive: violates no-double-effect}\n";

START_TEST(the_story_of_the_design)
{
    struct scenario s = good(story);
    ck_assert_str_eq(s.name, "lost-reply");
    ck_assert_uint_eq(s.receiver_count, 4);
    ck_assert(s.expectations[3].violates && !s.expectations[0].given);
    ck_assert_uint_eq(s.senders[0].retry.backoff, BACKOFF_EXPONENTIAL);
    ck_assert_uint_eq(s.fault_count, 1);
    ck_assert_uint_eq(fault_kind(&s.faults[0]), FAULT_LOSE);
    ck_assert_uint_eq(s.faults[0].site.op, op_make(PLACE_SENDER, 1));
    ck_assert_int_eq(s.faults[0].line, 11);
    ck_assert_int_eq(s.faults[0].column, 5);
    scenario_fini(&s);
}
END_TEST

START_TEST(the_template_is_right)
{
    struct scenario s = good(scenario_template());
    ck_assert_uint_eq(s.fault_count, 1);
    scenario_fini(&s);
}
END_TEST

START_TEST(one_expectation_for_all)
{
    struct scenario s = good(LEAST "expect: violates progress\n");
    ck_assert(s.expectations[0].violates && s.expect_others.violates);
    ck_assert_uint_eq(s.expect_others.checks, CHECK_BIT(CHECK_PROGRESS));
    scenario_fini(&s);
}
END_TEST

START_TEST(a_byte_order_mark_and_crlf_are_no_matter)
{
    struct scenario s = good("\xef\xbb\xbfname: x\r\nreceivers: [table]\r\nsenders:\r\n"
                             "  - name: s\r\n    messages: [{id: a, entity: e, charge: 1}]\r\n"
                             "faults:\r\n  - lose reply a/1\r\n");
    ck_assert_str_eq(s.name, "x");
    ck_assert_int_eq(s.faults[0].line, 7);
    scenario_fini(&s);
}
END_TEST

START_TEST(errors_that_no_file_shows)
{
    refuses("faults: [\"lose reply m-1/9\"]\n", "t:3:26: error: attempt 9 cannot exist");
    refuses("faults: [\"\\u006cose reply m-1/9\"]\n", "t:3:11: error: attempt 9 cannot exist");
    refuses("expect: [violates progress]\n", "unknown check \"violates progress\"");
    refuses("explore: {expect: progress}\n", "\"faults\" is missing");
    refuses("database: {page_size: 256}\n", "expected a number in 512..65536");
    refuses("hosts: [receiver]\n", "expected hosts, a mapping by name, found a list");
    refuses("about: \"\\e[31m\"\n", "about may not hold control characters: \"\\u001b[31m\"");
    refuses("about: \"\\udc00\"\n", "error: ");
    refuses("\"\xc2\xa0\": 1\n", "unknown key");
}
END_TEST

START_TEST(long_lines_are_shown_in_part)
{
    char text[3000];
    memset(text, 'x', sizeof(text));
    memcpy(text, "about: ", 7);
    strcpy(text + 2000, " x: y\n");
    refuses(text, "^");
    struct scenario s;
    struct caught c;
    caught_open(&c);
    scenario_parse("t", text, strlen(text), c.stream, &s);
    fflush(c.stream);
    ck_assert_uint_lt(c.len, 400);
    caught_close(&c);
}
END_TEST

START_TEST(horizons_of_retries)
{
    struct retry_policy r = {.after = SIM_S, .max = 60 * SIM_S, .limit = 5};
    ck_assert_uint_eq(retry_horizon(&r), 4 * SIM_S);
    r.timeout = 2 * SIM_S;
    ck_assert_uint_eq(retry_horizon(&r), 12 * SIM_S);
    r = (struct retry_policy){
        .after = SIM_S, .max = 5 * SIM_S, .limit = 5, .backoff = BACKOFF_EXPONENTIAL};
    ck_assert_uint_eq(retry_horizon(&r), (1 + 2 + 4 + 5) * SIM_S);
    r.backoff = BACKOFF_FULL_JITTER;
    ck_assert_uint_eq(retry_horizon(&r), (1 + 2 + 4 + 5) * SIM_S);
    r.backoff = BACKOFF_DECORRELATED_JITTER;
    ck_assert_uint_eq(retry_horizon(&r), (3 + 5 + 5 + 5) * SIM_S);
    r.deadline = 7 * SIM_S;
    ck_assert_uint_eq(retry_horizon(&r), 7 * SIM_S);
    r = (struct retry_policy){.after = SIM_TIME_MAX, .max = SIM_TIME_MAX, .limit = 1000};
    ck_assert_uint_eq(retry_horizon(&r), SIM_TIME_MAX);
    r.limit = 1;
    ck_assert_uint_eq(retry_horizon(&r), 0);
}
END_TEST

/* ---- settings of receivers ---- */

static const struct setting some_settings[] = {
    {"wait", SETTING_DURATION, 2 * (int64_t)SIM_S, 0, 60 * (int64_t)SIM_S, NULL, "a duration"},
    {"cap", SETTING_NUMBER, 10, 1, 500, NULL, "a number"},
    {"fenced", SETTING_FLAG, 1, 0, 0, NULL, "a flag"},
    {"clock", SETTING_CHOICE, 1, 0, 0, "receipt completion last-seen", "a choice"},
    {.name = NULL},
};
static const struct receiver some_receiver = {.name = "some", .settings = some_settings};

/* Reads the mapping of one receiver; errors: NULL where there must be none, else what is said. */
static void settings_of(const char *text, int64_t values[SETTINGS_MAX], const char *errors)
{
    struct yaml y;
    struct caught c;
    caught_open(&c);
    const struct yaml_node *node = yaml_load(&y, "t", text, strlen(text));
    ck_assert_ptr_nonnull(node);
    bool read = settings_read(&y, node, &some_receiver, values);
    yaml_print_errors(&y, c.stream);
    fflush(c.stream);
    ck_assert_msg(read == (errors == NULL), "%s: %s", text, c.text);
    ck_assert_msg(errors == NULL || strstr(c.text, errors) != NULL, "%s\n  got: %s\n  not: %s",
                  text, c.text, errors);
    caught_close(&c);
    yaml_fini(&y);
}

START_TEST(settings_of_every_kind)
{
    int64_t v[SETTINGS_MAX];
    settings_of("{name: a, is: some}", v, NULL);
    ck_assert(v[0] == 2 * (int64_t)SIM_S && v[1] == 10 && v[2] == 1 && v[3] == 1 && v[4] == 0);
    settings_of("{clock: last-seen, fenced: false, cap: 500, wait: 0s, name: a}", v, NULL);
    ck_assert(v[0] == 0 && v[1] == 500 && v[2] == 0 && v[3] == 2);
    settings_of("{name: a, wait: 60s, cap: 1, fenced: true, clock: receipt}", v, NULL);
    ck_assert(v[0] == 60 * (int64_t)SIM_S && v[1] == 1 && v[2] == 1 && v[3] == 0);
    settings_of("{name: a, wait: 61s}", v,
                "t:1:17: error: expected a duration in 0s..1m, such as "
                "2s, found \"61s\"");
    settings_of("{name: a, wait: -1s}", v, "expected a duration in 0s..1m");
    settings_of("{name: a, wait: 99999999999999999999d}", v, "expected a duration in 0s..1m");
    settings_of("{name: a, wait: {min: 1s}}", v, "found a mapping");
    settings_of("{name: a, cap: 0}", v, "t:1:16: error: expected a number in 1..500, found \"0\"");
    settings_of("{name: a, cap: 501}", v, "expected a number in 1..500");
    settings_of("{name: a, cap: 5s}", v, "expected a whole number");
    settings_of("{name: a, cap: \"5\"}", v, "expected a number");
    settings_of("{name: a, fenced: 1}", v, "t:1:19: error: expected true or false, found \"1\"");
    settings_of("{name: a, clock: reciept}", v,
                "t:1:18: error: unknown clock \"reciept\"; did you "
                "mean \"receipt\"?");
    settings_of("{name: a, clock: x}", v, "expected clock: receipt, completion or last-seen");
    settings_of("{name: a, clok: x}", v,
                "t:1:11: error: unknown key \"clok\" in a receiver that is "
                "some; did you mean \"clock\"?");
    settings_of("{nam: a}", v, "did you mean \"name\"?");
    settings_of("{name: a, x: x}", v, "it may have name, is, wait, cap, fenced, clock");
    settings_of("{name: a, cap: 0, fenced: 1}", v, "expected true or false");
}
END_TEST

START_TEST(settings_as_text)
{
    char text[SETTING_TEXT];
    ck_assert_str_eq(setting_text(&some_settings[0], 1500, text), "1500ns");
    ck_assert_str_eq(setting_text(&some_settings[1], 7, text), "7");
    ck_assert_str_eq(setting_text(&some_settings[2], 0, text), "false");
    ck_assert_str_eq(setting_text(&some_settings[3], 2, text), "last-seen");
    ck_assert_str_eq(setting_range_text(&some_settings[0], text), "0s..1m");
    ck_assert_str_eq(setting_range_text(&some_settings[1], text), "1..500");
    ck_assert_str_eq(setting_range_text(&some_settings[2], text), "true|false");
    ck_assert_str_eq(setting_range_text(&some_settings[3], text), "receipt|completion|last-seen");
}
END_TEST

/* A default that its own range refuses, or a name that the reader takes for something else, would
 * show only in the file that uses it. */
START_TEST(every_registered_setting_is_sound)
{
    for (size_t r = 0; r < receivers_count(); r++) {
        const struct receiver *code = receiver_at(r);
        for (size_t i = 0; i < settings_count(code); i++) {
            const struct setting *s = &code->settings[i];
            char value[SETTING_TEXT], range[SETTING_TEXT], text[1024];
            ck_assert(strcmp(s->name, "name") != 0 && strcmp(s->name, "is") != 0);
            ck_assert((s->kind == SETTING_CHOICE) == (s->choices != NULL));
            ck_assert(s->least >= 0 && s->about != NULL);
            snprintf(text, sizeof(text),
                     "receivers: [{name: mine, is: %s, %s: %s}]\n"
                     "senders: [{name: shop, messages: [{id: m-1, entity: e, charge: 7}]}]\n",
                     code->name, s->name, setting_text(s, s->value, value));
            struct scenario one = good(text);
            ck_assert_int_eq(one.receivers[0].settings[i], s->value);
            scenario_fini(&one);
            ck_assert_uint_gt(strlen(setting_range_text(s, range)), 0);
            snprintf(text, sizeof(text),
                     "receivers: [{name: mine, is: %s, %s: \"?\", zzzzzzzzz: 1}]", code->name,
                     s->name);
            struct caught c;
            caught_open(&c);
            ck_assert_int_eq(scenario_parse("t", text, strlen(text), c.stream, &one),
                             SIM_ERR_SCENARIO);
            caught_close(&c);
            snprintf(text, sizeof(text), "receivers: [{name: mine, is: %s, %s: \"?\"}]", code->name,
                     s->name);
            caught_open(&c);
            ck_assert_int_eq(scenario_parse("t", text, strlen(text), c.stream, &one),
                             SIM_ERR_SCENARIO);
            caught_close(&c);
        }
    }
}
END_TEST

START_TEST(settings_are_written_where_they_differ)
{
    struct scenario s =
        good("receivers: [window, {name: fifo, is: window, scope: group, window: 20s, id: given},\n"
             "            {name: same, is: window, window: 5m}, {name: table}]\n"
             "senders: [{name: shop, messages: [{id: m-1, entity: e, charge: 7}]}]\n");
    ck_assert_int_eq(s.receivers[0].settings[0], 300 * (int64_t)SIM_S);
    ck_assert_int_eq(s.receivers[1].settings[0], 20 * (int64_t)SIM_S);
    ck_assert(s.receivers[1].settings[RETENTION_SETTINGS_COUNT] == 0 &&
              s.receivers[1].settings[RETENTION_SETTINGS_COUNT + 1] == 1);
    struct scenario copy;
    scenario_copy(&s, &copy);
    char *text = scenario_print_text(&copy);
    ck_assert_msg(strstr(text, "receivers: [window, {name: fifo, is: window, window: 20s, scope: "
                               "group}, {name: same, is: window}, table]\n") != NULL ||
                      strstr(text, "  - {name: fifo, is: window, window: 20s, scope: group}\n"
                                   "  - {name: same, is: window}\n  - table\n") != NULL,
                  "%s", text);
    struct scenario again = good(text);
    for (size_t i = 0; i < s.receiver_count; i++) {
        ck_assert_mem_eq(s.receivers[i].settings, again.receivers[i].settings,
                         sizeof(s.receivers[i].settings));
    }
    scenario_keep_receiver(&copy, 1);
    ck_assert_int_eq(copy.receivers[0].settings[0], 20 * (int64_t)SIM_S);
    free(text);
    scenario_fini(&again);
    scenario_fini(&copy);
    scenario_fini(&s);
    s = good("receivers: [{name: window, acknowledged: true}]\n"
             "senders: [{name: shop, messages: [{id: m-1, entity: e, charge: 7}]}]\n");
    text = scenario_print_text(&s);
    ck_assert_ptr_nonnull(strstr(text, "receivers: [{name: window, acknowledged: true}]\n"));
    free(text);
    scenario_fini(&s);
    s = good("receivers: [table, {name: q, is: sqs_fifo, window: 5m},\n"
             "            {name: r, is: azure_service_bus, id: body}]\n"
             "senders: [{name: shop, messages: [{id: m-1, entity: e, charge: 7}]}]\n");
    text = scenario_print_text(&s);
    ck_assert_ptr_nonnull(strstr(text, "[table, {name: q, is: sqs_fifo}, "
                                       "{name: r, is: azure_service_bus, id: body}]\n"));
    free(text);
    scenario_fini(&s);
}
END_TEST

Suite *scenario_suite(void)
{
    Suite *suite = suite_create("scenario");
    TCase *text = tcase_create("text");
    tcase_add_test(text, defaults);
    tcase_add_test(text, every_key_of_senders);
    tcase_add_test(text, every_key_of_the_world);
    tcase_add_test(text, names_of_operations_and_entities);
    tcase_add_test(text, the_story_of_the_design);
    tcase_add_test(text, the_template_is_right);
    tcase_add_test(text, one_expectation_for_all);
    tcase_add_test(text, a_byte_order_mark_and_crlf_are_no_matter);
    tcase_add_test(text, errors_that_no_file_shows);
    tcase_add_test(text, long_lines_are_shown_in_part);
    tcase_add_test(text, horizons_of_retries);
    tcase_add_test(text, settings_of_every_kind);
    tcase_add_test(text, settings_as_text);
    tcase_add_test(text, every_registered_setting_is_sound);
    tcase_add_test(text, settings_are_written_where_they_differ);
    suite_add_tcase(suite, text);
    suite_add_tcase(suite, scenario_bad_tests());
    suite_add_tcase(suite, scenario_file_tests());
    return suite;
}
