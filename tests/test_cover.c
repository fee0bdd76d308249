/* Whether retention and lease cover the retries, computed from the file.
 *
 * Pinned: needed and given of each part by hand, and the sentences; that a part which makes nothing
 * later does not count; the check in a run, alone and expected to be violated; over random retry
 * policies, that what is covered never comes late and what comes late is never covered.
 *
 * Left open: messages that wait in the receiver's queue behind others.
 */
#include "tests/world_rig.h"

#include "receivers/retention.h"
#include "sim/cover.h"
#include "sim/scenario_settings.h"

#include <inttypes.h>

static struct promise promised;

static void promise(const int64_t *settings, struct promise *out)
{
    (void)settings;
    *out = promised;
}

static void handle(struct handling *h)
{
    begin_immediate(h);
    apply_effect(h);
    commit(h);
    reply(h, REPLY_DONE, handling_receipt(h));
}

static const struct statement statements[] = {{NULL, NULL}};

static const struct receiver code = {.name = "promising",
                                     .about = "of a test",
                                     .source = "wrong on purpose",
                                     .statements = statements,
                                     .steps = STEPS_EVERY,
                                     .handle = handle,
                                     .promise = promise};

/* One message, or what else is given for a sender; the rest of the file behind it. */
static void one_sender(struct scenario *s, const char *retry, const char *rest)
{
    rig_scenario(s,
                 "receivers: [{name: mine, is: window}]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [{id: m-1, entity: box, charge: 5}]\n"
                 "    retry: {%s}\n"
                 "%s\n",
                 retry, rest);
    s->receivers[0].code = &code;
}

#define MS SIM_MS
#define US SIM_US

START_TEST(needed_by_hand)
{
    static const struct {
        const char *retry, *rest;
        uint64_t needed; /* ns */
    } cases[] = {
        /* 4 waits, and the longest way */
        {"", "", 4080 * MS},
        {"limit: 1", "", 80 * MS},
        {"backoff: exponential", "", 15080 * MS},
        {"backoff: exponential, max: 3s", "", 9080 * MS},
        {"backoff: full-jitter, deadline: 10s", "", 10080 * MS},
        {"timeout: 2s", "", 12080 * MS},
        {"", "network: {delay: {request: 5m, reply: 1h}}", 304000 * MS},
        {"", "network: {delay: 0s, duplicate: {request: 1/10, reply: 0}}", 5000 * MS},
        {"", "network: {delay: 0s, duplicate: {request: 0, reply: 1/10}}", 4000 * MS},
        {"", "faults: [delay request m-1/2 by 10m]", 604080 * MS},
        {"", "faults: [delay reply m-1/2 by 10m]", 4080 * MS},
        {"", "faults: [duplicate request m-1/1 2 times after 3s]", 10080 * MS},
        {"", "faults: [duplicate reply m-1/1 2 times after 3s]", 4080 * MS},
        {"", "faults: [partition shop receiver 5s..20s, lose request m-1/1]", 4080 * MS},
        {"", "faults: [sender-crash shop at m-1/1 after send restart after 5s]", 9080 * MS},
        {"", "faults: [sender-crash shop at m-1/1 after send]", 5080 * MS},
        {"", "faults: [pause receiver at m-1/1 before commit for 30s]", 34080 * MS},
        {"", "hosts: {receiver: {pause: 1/10}}", 9080 * MS},
        {"", "hosts: {receiver: {step: 1ms}}", 4080 * MS + STEPS_INSIDE * MS},
        /* clocks: a slow sender waits longer, a fast receiver forgets earlier */
        {"", "hosts: {shop: {clock: {drift: -100000ppm}}}", 4444444445 + 80 * MS},
        {"", "hosts: {shop: {clock: {drift: 100000ppm}}}", 4080 * MS},
        {"", "faults: [clock shop drift -100000ppm]", 4444444445 + 80 * MS},
        {"", "hosts: {receiver: {clock: {drift: 1000ppm}}}", 4084080 * US},
        {"", "hosts: {receiver: {clock: {drift: -1000ppm}}}", 4080 * MS},
        {"", "faults: [clock receiver drift +1000ppm]", 4084080 * US},
        {"", "faults: [clock receiver +10s at 3s, clock receiver -30s at 4s]", 14080 * MS},
        {"", "hosts: {receiver: {clock: {offset: +1h}}}", 4080 * MS},
        /* an error answer puts the next attempt off, by at most a way there and back */
        {"", "hosts: {receiver: {store: 1/10}}", 4720 * MS},
        {"", "faults: [handler receiver at m-1/1 after effect fails]", 4720 * MS},
        {"after: 100ms", "hosts: {receiver: {handler: 1/10}}", 880 * MS},
        {"timeout: 2s", "hosts: {receiver: {store: 1/10}}", 12080 * MS},
        {"", "hosts: {receiver: {workers: 2, step: 0s}}", 9720 * MS},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct cover c;
        one_sender(&s, cases[i].retry, cases[i].rest);
        for (uint64_t more = 0; more < 2; more++) {
            promised = (struct promise){.retention = cases[i].needed + more, .fenced = true};
            cover_compute(&s, &s.receivers[0], &c);
            ck_assert(c.judged && c.given == promised.retention);
            ck_assert_msg(c.needed == cases[i].needed, "%s %s: needed %" PRIu64, cases[i].retry,
                          cases[i].rest, c.needed);
            ck_assert(c.holds == (more > 0) && (c.text[0] == '\0') == c.holds);
            ck_assert_int_eq(c.what, more > 0 ? COVER_ALL : COVER_RETENTION);
        }
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(the_sentence_says_what_to_change)
{
    static const struct {
        struct promise p;
        const char *retry, *rest;
        enum cover_what what;
        uint64_t needed, given;
        const char *text;
    } cases[] = {
        {{.retention = 3600 * SIM_S, .retention_name = "window"},
         "after: 1m, limit: 121",
         "network: {delay: {request: 5m, reply: 1s}}",
         COVER_RETENTION,
         7500 * SIM_S,
         3600 * SIM_S,
         "a retry may come 2h5m after the first delivery (shop: retries 2h, delay 5m), but records "
         "are kept for 1h: raise window of mine to more than 2h5m, or lower retry.limit or "
         "retry.deadline of shop"},
        {{.records = 1}, "", "", COVER_ALL, 4080 * MS, 0, ""},
        {{.lease = 10 * SIM_S, .lease_name = "lease", .fenced = true},
         "",
         "",
         COVER_LEASE_LONG,
         10 * SIM_S,
         4 * SIM_S,
         "a record in progress blocks its key for 10s, but shop retries only for 4s: it gives up "
         "before it may take over: lower lease of mine to at most 4s, or raise retry.limit or "
         "retry.deadline of shop"},
        {{.lease = 4 * SIM_S, .fenced = true}, "", "", COVER_ALL, 4080 * MS, 0, ""},
        {{.lease = 3 * SIM_S, .lease_name = "lease"},
         "",
         "faults: [pause receiver at m-1/1 before commit for 3s]",
         COVER_LEASE_SHORT,
         3 * SIM_S,
         3 * SIM_S,
         "a handling may take 3s, but its claim lapses after 3s and another may work beside it: "
         "raise lease of mine to more than 3s"},
        {{.lease = 3 * SIM_S, .fenced = true},
         "",
         "faults: [pause receiver at m-1/1 before commit for 3s]",
         COVER_ALL,
         7080 * MS,
         0,
         ""},
        {{.lease = 3 * SIM_S}, "limit: 1", "", COVER_ALL, 80 * MS, 0, ""}, /* nobody retries */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct cover c;
        promised = cases[i].p;
        one_sender(&s, cases[i].retry, cases[i].rest);
        cover_compute(&s, &s.receivers[0], &c);
        ck_assert_str_eq(c.text, cases[i].text);
        ck_assert_int_eq(c.what, cases[i].what);
        ck_assert_uint_eq(c.needed, cases[i].needed);
        ck_assert_uint_eq(c.given, cases[i].given);
        ck_assert(c.holds == (cases[i].what == COVER_ALL));
        scenario_fini(&s);
    }
}
END_TEST

/* Messages that may come while a retry may: all, or what the gaps let through. */
START_TEST(only_so_many_records)
{
    static const struct {
        const char *loop;
        uint64_t operations;
    } cases[] = {
        {"workload: {count: 100}", 100},
        {"loop: open, every: 1s, workload: {count: 100}", 5}, /* in 4.08 s */
        {"loop: open, every: 500ms..2s, workload: {count: 100}", 9},
        {"loop: open, every: 1s, workload: {count: 3}", 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct cover c;
        rig_scenario(&s, "receivers: [table]\nsenders: [{name: shop, %s}]\n", cases[i].loop);
        s.receivers[0].code = &code;
        for (uint64_t less = 0; less < 2; less++) {
            promised = (struct promise){.records = cases[i].operations - less};
            cover_compute(&s, &s.receivers[0], &c);
            ck_assert_msg(c.holds == (less == 0), "%s: %" PRIu64, cases[i].loop, c.needed);
            ck_assert_int_eq(c.what, less == 0 ? COVER_ALL : COVER_RECORDS);
        }
        ck_assert_uint_eq(c.needed, cases[i].operations);
        ck_assert_uint_eq(c.given, cases[i].operations - 1);
        scenario_fini(&s);
    }
}
END_TEST

/* The latest sender counts for the window, the first to give up for the lease. */
START_TEST(several_senders)
{
    struct scenario s;
    struct cover c;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: a, workload: {count: 1}, retry: {limit: 3}}\n"
                     "  - {name: b b, workload: {count: 1}, retry: {limit: 9}}\n"
                     "network: {delay: 0s}\n");
    s.receivers[0].code = &code;
    promised = (struct promise){.retention = 8 * SIM_S};
    cover_compute(&s, &s.receivers[0], &c);
    ck_assert(!c.holds && c.needed == 8 * SIM_S);
    ck_assert_ptr_nonnull(strstr(c.text, "(\"b b\": retries 8s)"));
    promised = (struct promise){.lease = 3 * SIM_S};
    cover_compute(&s, &s.receivers[0], &c);
    ck_assert(!c.holds && c.given == 2 * SIM_S && strstr(c.text, "a retries only for 2s"));
    scenario_fini(&s);
}
END_TEST

/* Where the receiver has the common settings and says nothing else. */
START_TEST(by_the_common_settings)
{
    static const struct setting common[] = {
        RETENTION_SETTINGS("kept", 60 * RETENTION_SECOND, REMOVAL_LOOK_UP), {.name = NULL}};
    static const struct keeping keeping = {"rec", "id = ?1", NULL};
    static const struct {
        enum retention_setting which;
        int64_t value;
        enum cover_what what;
        uint64_t needed, given;
    } cases[] = {
        {RETENTION, 60 * RETENTION_SECOND, COVER_ALL, 4080 * MS, 60 * SIM_S},
        {RETENTION, 4080000000, COVER_RETENTION, 4080 * MS, 4080 * MS},
        {RETENTION, 0, COVER_ALL, 4080 * MS, 0},
        {RETENTION_REMOVAL, REMOVAL_NEVER, COVER_ALL, 4080 * MS, 0},
        {RETENTION_MOST, 1, COVER_ALL, 4080 * MS, 60 * SIM_S},
        /* dated by a clock that is 10 s behind */
        {RETENTION_CLOCK, CLOCK_SENDER, COVER_ALL, 14080 * MS, 60 * SIM_S},
    };
    struct receiver with = code;
    with.promise = NULL;
    with.keeping = &keeping;
    with.settings = common;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct cover c;
        one_sender(&s, "", "hosts: {shop: {clock: {offset: -10s}}}");
        s.receivers[0].code = &with;
        settings_default(&with, s.receivers[0].settings);
        s.receivers[0].settings[cases[i].which] = cases[i].value;
        cover_compute(&s, &s.receivers[0], &c);
        ck_assert(c.judged && c.holds == (cases[i].what == COVER_ALL));
        ck_assert_int_eq(c.what, cases[i].what);
        ck_assert_uint_eq(c.needed, cases[i].needed);
        ck_assert_uint_eq(c.given, cases[i].given);
        ck_assert(c.holds || strstr(c.text, "raise kept of mine"));
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(as_a_check_of_a_run)
{
    static const struct {
        uint64_t retention;
        const char *expected;
        enum verdict_kind verdict;
        bool as_expected;
    } cases[] = {
        {0, "retention-covers-retries", VERDICT_PASS, true}, /* and not vacuous */
        {5 * SIM_S, "retention-covers-retries", VERDICT_PASS, true},
        {4 * SIM_S, "retention-covers-retries", VERDICT_FAIL, false},
        {4 * SIM_S, "violates retention-covers-retries", VERDICT_FAIL, true},
        {4 * SIM_S, "no-double-effect", VERDICT_PASS, true}, /* nobody asked */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        char rest[100];
        snprintf(rest, sizeof(rest), "expect: %s", cases[i].expected);
        promised = (struct promise){.retention = cases[i].retention};
        one_sender(&s, "", rest);
        struct result r = rig_once(&s, "mine", 1);
        ck_assert_msg(r.verdict == cases[i].verdict, "%zu: %s", i, rig_say(&r, NULL));
        ck_assert(r.expected == cases[i].as_expected);
        ck_assert_uint_eq(r.judged[CHECK_RETENTION], i < 4);
        if (cases[i].verdict == VERDICT_FAIL) {
            char text[VIOLATION_TEXT];
            struct cover c;
            cover_compute(&s, &s.receivers[0], &c);
            violation_text(&s, &r.violations[0], text, sizeof(text));
            ck_assert_str_eq(text, c.text);
        }
        result_fini(&r);
        scenario_fini(&s);
    }
    /* One that does not say how it keeps records is not judged. */
    struct scenario s;
    struct cover c;
    one_sender(&s, "", "");
    s.receivers[0].code = receiver_find("naive", 5);
    cover_compute(&s, &s.receivers[0], &c);
    ck_assert(!c.judged && !c.holds);
    scenario_fini(&s);
}
END_TEST

/* Beside exactly-once, which needs a duplicate but no ghost to judge, it has to judge for itself.
 */
START_TEST(beside_exactly_once)
{
    static const struct {
        const char *receiver, *effect, *fault;
        enum verdict_kind verdict;
        const char *reason;
    } cases[] = {
        {"table", "charge: 1", "lose reply m/1", VERDICT_PASS, ""},
        {"table", "charge: 1", "delay reply m/1 by 1ms", VERDICT_VACUOUS,
         "no operation had a second attempt or a second delivery"},
        {"naive", "effect: {set: 1}", "lose reply m/1", VERDICT_VACUOUS,
         "retention-covers-retries judged nothing"},
        {"naive", "charge: 1", "lose reply m/1", VERDICT_FAIL, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [%s]\n"
                     "senders: [{name: shop, messages: [{id: m, entity: e, %s}]}]\n"
                     "faults: [%s]\n"
                     "expect: [exactly-once, retention-covers-retries]\n",
                     cases[i].receiver, cases[i].effect, cases[i].fault);
        struct result r = rig_once(&s, cases[i].receiver, 1);
        ck_assert_msg(r.verdict == cases[i].verdict, "%zu: %s", i, rig_say(&r, NULL));
        ck_assert_str_eq(r.reason, cases[i].reason);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* ---- over random policies ---- */

static uint64_t draw(uint64_t *state, uint64_t lo, uint64_t hi)
{
    return rng_range(rng_next(state), lo, hi);
}

static void random_policy(uint64_t *state, struct scenario *s)
{
    static const char *const backoffs[] = {"fixed", "exponential", "full-jitter",
                                           "decorrelated-jitter"};
    char timeout[40] = "", deadline[40] = "";
    if (draw(state, 0, 1)) {
        snprintf(timeout, sizeof(timeout), ", timeout: %ums", (unsigned)draw(state, 50, 3000));
    }
    if (draw(state, 0, 3) == 0) {
        snprintf(deadline, sizeof(deadline), ", deadline: %ums", (unsigned)draw(state, 500, 9000));
    }
    rig_scenario(s,
                 "receivers: [window]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    workload: {count: 3}\n"
                 "    retry: {after: %ums, backoff: %s, limit: %u, max: 5s%s%s}\n"
                 "network: {delay: 0ms..%ums, lose: {request: 1/4, reply: 3/4}, duplicate: "
                 "{request: 1/%u, reply: 0}}\n"
                 "hosts: {shop: {clock: {drift: %dppm}}, receiver: {clock: {drift: %dppm}}}\n",
                 (unsigned)draw(state, 1, 2000), backoffs[draw(state, 0, 3)],
                 (unsigned)draw(state, 2, 7), timeout, deadline, (unsigned)draw(state, 0, 500),
                 (unsigned)draw(state, 2, 9), (int)draw(state, 0, 100000) - 50000,
                 (int)draw(state, 0, 100000) - 50000);
}

/* The oldest duplicate of a run, against the first delivery of its operation. */
static uint64_t latest_duplicate(struct world *w)
{
    struct {
        uint64_t op, at;
    } first[3] = {{0, 0}};
    size_t n, seen = 0;
    uint64_t latest = 0;
    const struct record *records = world_history(w, &n);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        if (records[i].kind != RECORD_DELIVER) {
            continue;
        }
        while (k < seen && first[k].op != records[i].op) {
            k++;
        }
        if (k == seen) {
            must(seen < 3);
            first[seen].op = records[i].op;
            first[seen++].at = records[i].at;
        }
        uint64_t age = records[i].at - first[k].at;
        latest = age > latest ? age : latest;
    }
    return latest;
}

static void keep_for(struct scenario *s, uint64_t retention)
{
    s->receivers[0].settings[0] = (int64_t)retention;
    s->window = retention;
}

START_TEST(what_is_covered_is_never_late)
{
    uint64_t state = 20260101 + (uint64_t)_i, observed = 0;
    struct scenario s;
    struct cover c;
    random_policy(&state, &s);
    cover_compute(&s, &s.receivers[0], &c);
    keep_for(&s, c.needed + 1);
    uint64_t needed = c.needed;
    cover_compute(&s, &s.receivers[0], &c);
    ck_assert(c.judged && c.holds && c.given == needed + 1);
    struct world *w = rig_world(&s, "window");
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct result r = rig_play_kept(w, seed);
        ck_assert_msg(r.late == 0 && r.doubled == 0, "%s", rig_say(&r, NULL));
        uint64_t late = latest_duplicate(w);
        observed = late > observed ? late : observed;
        result_fini(&r);
    }
    world_free(w);
    ck_assert_uint_gt(observed, 0);
    keep_for(&s, observed - 1);
    cover_compute(&s, &s.receivers[0], &c);
    ck_assert_msg(!c.holds && c.what == COVER_RETENTION, "needed %" PRIu64 ", seen %" PRIu64,
                  c.needed, observed);
    scenario_fini(&s);
}
END_TEST

/* The bound is near: without jitter and loss of the first delivery, the last retry comes then. */
START_TEST(the_latest_retry_comes_nearly_so_late)
{
    struct scenario s;
    struct cover c;
    rig_scenario(&s, "receivers: [window]\n"
                     "senders: [{name: shop, workload: {count: 1}, retry: {limit: 4}}]\n"
                     "network: {delay: 0ms..100ms, lose: {request: 0, reply: 1/1}}\n");
    cover_compute(&s, &s.receivers[0], &c);
    ck_assert_uint_eq(c.needed, 3100 * MS);
    struct world *w = rig_world(&s, "window");
    uint64_t observed = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct result r = rig_play_kept(w, seed);
        uint64_t late = latest_duplicate(w);
        observed = late > observed ? late : observed;
        result_fini(&r);
    }
    ck_assert(observed > 3050 * MS && observed <= c.needed);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *cover_suite(void)
{
    Suite *s = suite_create("cover");
    TCase *t = tcase_create("cover");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, needed_by_hand);
    tcase_add_test(t, the_sentence_says_what_to_change);
    tcase_add_test(t, only_so_many_records);
    tcase_add_test(t, several_senders);
    tcase_add_test(t, by_the_common_settings);
    tcase_add_test(t, as_a_check_of_a_run);
    tcase_add_test(t, beside_exactly_once);
    tcase_add_loop_test(t, what_is_covered_is_never_late, 0, 60);
    tcase_add_test(t, the_latest_retry_comes_nearly_so_late);
    suite_add_tcase(s, t);
    return s;
}
