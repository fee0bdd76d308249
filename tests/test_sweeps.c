/* Sweeps as background work of a host.
 *
 * Pinned: they begin, are left out and go on after a restart at their moments; a crash anywhere in
 * one costs nothing; sweeps beside two workers; they touch no counter and end no run later; each of
 * their sites has its sentence, up to the last number.
 *
 * Left open: what they remove (test_retention), exploring them (test_explore).
 */
#include "tests/world_rig.h"

#include "receivers/retention.h"

/* ---- sweeps ---- */

#define SWEPT "retention: 2s, removal: sweep, sweep: 4s"
#define LATER                                                                                      \
    "  - name: till\n"                                                                             \
    "    messages: [{id: t-1, entity: order-1, charge: 1, at: %s}]\n"                              \
    "    retry: {after: 10s, limit: 3}\n"

static void two_messages(struct scenario *s, const char *settings, const char *later,
                         const char *more)
{
    rig_scenario(s,
                 "receivers: [{name: it, is: table, %s}]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [{id: m-77, entity: order-1042, charge: 4200}]\n" LATER
                 "network: {delay: 20ms}\n%s\n",
                 settings, later, more);
}

static void sweeps_at(struct world *w, const uint64_t *at, size_t n)
{
    ck_assert_uint_eq(rig_count(w, RECORD_SWEEP), n);
    for (size_t i = 0; i < n; i++) {
        const struct record *r = rig_find(w, RECORD_SWEEP, i);
        ck_assert_uint_eq(r->at, at[i]);
        ck_assert_int_eq(r->value, (int64_t)i + 1);
        ck_assert_uint_eq(r->attempt, i + 1);
    }
}

START_TEST(moments_of_sweeps)
{
    static const struct {
        const char *more;
        uint64_t at[8]; /* ms */
    } cases[] = {
        {"", {5000, 9000, 13000, 17000}},
        {"faults: [crash receiver at sweep/1 in commit disk 2 (power none)]",
         {5000, 9100, 13100, 17100}},
        {"faults: [crash receiver at m-77/1 after reply (process) restart after 6s]",
         {11020, 15020, 19020}},
        {"faults: [stop receiver at sweep/2 before expire restart after 1s]",
         {5000, 9000, 14000, 18000}},
        /* the third and the fourth are due while the second still runs */
        {"faults: [pause receiver at sweep/2 before expire for 9s]", {5000, 9000, 21000}},
        {"faults: [store receiver at sweep/1 commit (not applied)]", {5000, 9000, 13000, 17000}},
        {"hosts: {receiver: {clock: {offset: -10s, drift: 1000ppm}}}", {5000, 9000, 13000, 17000}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        two_messages(&s, SWEPT, "20s", cases[i].more);
        struct world *w = rig_world(&s, "it");
        struct result r = rig_play_kept(w, 1);
        uint64_t at[8];
        size_t n = 0;
        while (cases[i].at[n] > 0) {
            at[n] = cases[i].at[n] * SIM_MS;
            n++;
        }
        if (i ==
            4) { /* t-1 waits for the lock of the sweep that stands still, or not: it is later */
            ck_assert_uint_ge(rig_count(w, RECORD_SWEEP), 2);
            n = rig_count(w, RECORD_SWEEP);
        }
        sweeps_at(w, at, n);
        ck_assert(rig_exactly_once(&r));
        rig_holds(w, "SELECT id FROM processed_message", "t-1 ");
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(crashes_in_a_sweep)
{
    struct scenario s;
    two_messages(&s, SWEPT, "12s", "faults: [lose reply m-77/1]");
    struct world *w = rig_world(&s, "it");
    struct rig_sites sites = {.kind = FAULT_CRASH};
    struct fault faults[2] = {rig_fault(&s, "lose reply m-77/1")};
    struct result r = rig_collect(w, 1, faults, 1, &sites);
    result_fini(&r);
    size_t met = 0;
    for (size_t i = 0; i < sites.count; i++) {
        if (!op_is_sweep(sites.list[i].op)) {
            continue;
        }
        for (size_t v = 0; v < rig_crash_values(4); v++) {
            faults[1] = rig_crash_at(&sites.list[i], v, 4);
            r = rig_play(w, 1, faults, 2);
            ck_assert_msg(rig_exactly_once(&r) && r.verdict == VERDICT_PASS, "%s",
                          rig_say(&r, &faults[1]));
            expect(r.crashes == 1 && r.restarts == 1);
            rig_holds(w, "SELECT id FROM processed_message", "t-1 ");
            result_fini(&r);
            met++;
        }
    }
    ck_assert_uint_gt(met, 200);
    rig_sites_fini(&sites);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(beside_two_workers)
{
    size_t waits[3] = {0};
    for (int wal = 0; wal < 2; wal++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [{name: it, is: table, retention: 5m, removal: sweep, sweep: "
                     "20ms, batch: 3}]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    workload: {count: 150, entities: 3, charge: 1..9}\n"
                     "    in_flight: 4\n"
                     "    retry: {after: 400ms, limit: 30}\n"
                     "network: {delay: 1ms..50ms, lose: 1/20, duplicate: 1/20}\n"
                     "hosts: {receiver: {workers: 2, step: 0ms..2ms, crash: 1/2000, power: 1/2000,"
                     " pause: 1/500, pause_for: 0ms..600ms, store: 1/200, handler: 1/200}}\n"
                     "database: {journal: %s, busy_timeout: 5ms}\n",
                     wal ? "wal" : "truncate");
        struct world *w = rig_world(&s, "it");
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct result r = rig_play_kept(w, seed);
            ck_assert_msg(rig_exactly_once(&r) && r.verdict == VERDICT_PASS, "%s",
                          rig_say(&r, NULL));
            size_t records;
            const struct record *list = world_history(w, &records);
            for (size_t i = 0; i < records; i++) {
                waits[list[i].worker] += list[i].kind == RECORD_WAIT;
                expect(list[i].worker < 2 || op_is_sweep(list[i].op));
            }
            result_fini(&r);
        }
        world_free(w);
        scenario_fini(&s);
    }
    ck_assert(waits[0] > 10 && waits[1] > 10 && waits[2] > 10);
}
END_TEST

/* Up to where it begins, the story is the same, and so is what it costs. */
START_TEST(sweeps_touch_no_counter)
{
    struct scenario s[2];
    struct result r[2];
    static const char *const removal[] = {"removal: look-up", "removal: both, sweep: 10ms"};
    for (int i = 0; i < 2; i++) {
        char settings[128];
        snprintf(settings, sizeof(settings), "retention: 1h, %s", removal[i]);
        two_messages(&s[i], settings, "5s",
                     "faults: [duplicate request m-77/1 after 3s, lose reply t-1/1, lose reply "
                     "t-1/2, lose reply t-1/3]");
        r[i] = rig_once(&s[i], "it", 1);
    }
    ck_assert_uint_eq(r[0].deliveries, r[1].deliveries);
    ck_assert_uint_eq(r[0].handlings, r[1].handlings);
    ck_assert_uint_eq(r[0].effects, r[1].effects);
    ck_assert_uint_eq(r[0].duplicates, r[1].duplicates);
    ck_assert_uint_eq(r[0].costs.sql_fresh, r[1].costs.sql_fresh);
    ck_assert_uint_eq(r[0].costs.sql_duplicate, r[1].costs.sql_duplicate);
    ck_assert_uint_eq(r[0].costs.handlings_duplicate, r[1].costs.handlings_duplicate);
    ck_assert_uint_eq(r[0].ended, r[1].ended);
    ck_assert_uint_gt(r[1].history_count, r[0].history_count + 1000);
    for (int i = 0; i < 2; i++) {
        result_fini(&r[i]);
        scenario_fini(&s[i]);
    }
}
END_TEST

START_TEST(a_new_run_begins_anew)
{
    struct scenario s;
    two_messages(&s, SWEPT, "12s", "");
    struct world *w = rig_world(&s, "it");
    struct result first = rig_play_kept(w, 1), second, opened;
    struct fault crash = rig_fault(&s, "crash receiver at sweep/2 before commit (power none)");
    struct result between = rig_play(w, 2, &crash, 1);
    ck_assert_uint_eq(between.crashes, 1);
    second = rig_play_kept(w, 1);
    world_play(w, &(struct play){.seed = 1, .reopen = true}, &opened);
    ck_assert_uint_eq(first.history_hash, second.history_hash);
    ck_assert_uint_eq(first.history_hash, opened.history_hash);
    result_fini(&first);
    result_fini(&between);
    result_fini(&second);
    result_fini(&opened);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* ---- names ---- */

struct printed {
    struct sentence_names names;
    size_t sweeps;
    unsigned last;
};

static void reads_back(void *context, const struct site *site, uint64_t index)
{
    struct printed *p = context;
    (void)index;
    if (!op_is_sweep(site->op)) {
        return;
    }
    struct fault f = {.site = *site, .value = {.time = site->key.draw == FAULT_PAUSE}}, again;
    char text[SENTENCE_MAX];
    struct sentence_error error;
    size_t len = sentence_print(&p->names, &f, text);
    expect(strstr(text, " sweep/") != NULL);
    expect(sentence_parse(&p->names, text, len, &again, &error));
    expect(again.site.op == site->op);
    expect(memcmp(&again.site.key, &site->key, sizeof(site->key)) == 0);
    p->sweeps++;
    p->last = site->key.attempt;
}

START_TEST(each_site_has_its_sentence)
{
    struct scenario s;
    two_messages(&s, SWEPT, "12s", "");
    struct world *w = rig_world(&s, "it");
    struct printed p = {.names = scenario_names(&s)};
    struct result r;
    world_play(w, &(struct play){.seed = 1, .observer = {&p, reads_back}}, &r);
    ck_assert_uint_gt(p.sweeps, 40);
    ck_assert_uint_eq(p.last, 2);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* A fault at sweep/1 is at the message of that name where there is one. */
START_TEST(a_message_named_sweep)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [{name: it, is: table, " SWEPT "}]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: sweep, entity: e, charge: 1}, {id: m-2, entity: e, "
                     "charge: 1, at: 12s}]\n"
                     "faults: [crash receiver at sweep/1 before commit (process)]\n");
    struct world *w = rig_world(&s, "it");
    struct result r = rig_play_kept(w, 1);
    ck_assert_uint_eq(r.crashes, 1);
    ck_assert_uint_lt(rig_find(w, RECORD_CRASH, 0)->at, 2 * SIM_S);
    ck_assert(rig_exactly_once(&r));
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

static void counts_sites(void *context, const struct site *site, uint64_t index)
{
    unsigned *last = context;
    (void)index;
    if (op_is_sweep(site->op)) {
        expect(site->key.attempt >= *last);
        *last = site->key.attempt;
    }
}

START_TEST(more_sweeps_than_names)
{
    struct scenario s;
    two_messages(&s, "retention: 1s, removal: sweep, sweep: 10ms", "660s", "faults_until: 11m");
    struct world *w = rig_world(&s, "it");
    unsigned last = 0;
    struct result r;
    world_play(
        w, &(struct play){.seed = 1, .keep_history = true, .observer = {&last, counts_sites}}, &r);
    ck_assert_uint_eq(last, SWEEPS_NAMED);
    ck_assert_uint_gt(rig_count(w, RECORD_SWEEP), SWEEPS_NAMED + 300);
    ck_assert(rig_exactly_once(&r));
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *sweeps_suite(void)
{
    Suite *s = suite_create("sweeps");
    TCase *sweeps = tcase_create("sweeps");
    tcase_set_timeout(sweeps, 60);
    tcase_add_test(sweeps, moments_of_sweeps);
    tcase_add_test(sweeps, crashes_in_a_sweep);
    tcase_add_test(sweeps, beside_two_workers);
    tcase_add_test(sweeps, sweeps_touch_no_counter);
    tcase_add_test(sweeps, a_new_run_begins_anew);
    tcase_add_test(sweeps, each_site_has_its_sentence);
    tcase_add_test(sweeps, a_message_named_sweep);
    tcase_add_test(sweeps, more_sweeps_than_names);
    suite_add_tcase(s, sweeps);
    return s;
}
