/* The registered receivers that are wrong on purpose, each in one way.
 *
 * Pinned: each is acquitted in its own scenario as it stands, where nothing goes wrong for it; each
 * is convicted under the sentences below by the check that its scenario names for explore, and by
 * no check that does not follow from it, while the right receivers hold under the very same
 * sentences. In a world without the one thing that it cannot bear each is right whatever else
 * happens, and in a world with everything it is convicted. What a session makes is empty again
 * after a restart and in the next run, whether the process is put back or opened anew.
 *
 * Left open: that the sentences are the smallest, and all others (explore).
 */
#include "tests/world_rig.h"

#include "receivers/receiver.h"

static const char *const right[] = {"table", "entity", "response"};

#define DOUBLE CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)
#define LOST CHECK_BIT(CHECK_NO_LOST_EFFECT)
#define EMITTED CHECK_BIT(CHECK_EMITTED_ONCE)
#define DURABLE CHECK_BIT(CHECK_ACK_IMPLIES_DURABLE)

#define NETWORK "lose: 1/15, duplicate: 1/15"
#define DEATHS " crash: 1/800, power: 1/800,"
#define PAUSES " pause: 1/100, pause_for: 0ms..600ms,"
#define TROUBLE " store: 1/100,"
#define FAILURES " handler: 1/100,"

static const struct flaw {
    const char *name;
    uint32_t check;    /* what it is convicted of */
    uint32_t follows;  /* what may come with it; nothing else does */
    unsigned harmless; /* workers in a world that it can bear */
    const char *network, *host;
    const char *more; /* lines of the scenario */
} flaws[] = {
    {"check_then_act", DOUBLE, DOUBLE, 1, NETWORK, DEATHS PAUSES TROUBLE FAILURES, NULL},
    {"record_first", LOST, LOST | DURABLE, 3, NETWORK, PAUSES, NULL},
    {"effect_first", DOUBLE, DOUBLE, 1, NETWORK, PAUSES, NULL},
    {"ack_first", DURABLE, LOST | DURABLE, 3, NETWORK, PAUSES, NULL},
    {"volatile_memory", DOUBLE, DOUBLE, 1, NETWORK, PAUSES TROUBLE FAILURES, NULL},
    /* Nothing that an answer or a newer message could overtake. */
    {"last_id_only", DOUBLE, DOUBLE, 1, "lose: 1/15", DEATHS TROUBLE FAILURES, NULL},
    {"blind_retry", DOUBLE, DOUBLE, 3, NETWORK, DEATHS PAUSES FAILURES, NULL},
    {"cached_before_durable", LOST, LOST | DURABLE, 3, NETWORK, DEATHS PAUSES, NULL},
    /* Requests are lost downstream too. */
    {"dual_write", EMITTED, EMITTED, 3, "lose: {reply: 1/15}, duplicate: 1/15", PAUSES,
     "downstream: table\nexpect: [exactly-once, emitted-once]\n"},
};

/* Ways to be convicted in the scenario of one's own, its faults left out. */
static const struct conviction {
    const char *name;
    uint32_t checks; /* exactly these are violated */
    const char *sentences[2];
} convictions[] = {
    {"check_then_act", DOUBLE, {"pause receiver at m-77/1 before begin for 5s"}},
    {"check_then_act",
     DOUBLE,
     {"duplicate request m-77/1 after 500ms", "pause receiver at m-77/1 before effect for 3s"}},
    {"record_first", LOST, {"crash receiver at m-77/1 after record (process)"}},
    {"record_first", LOST, {"store receiver at m-77/1 effect (not applied)"}},
    {"effect_first", DOUBLE, {"crash receiver at m-77/1 after commit (process)"}},
    {"effect_first", DOUBLE, {"store receiver at m-77/1 record (not applied)"}},
    {"ack_first", DURABLE | LOST, {"crash receiver at m-77/1 before commit (process)"}},
    {"ack_first", DURABLE | LOST, {"crash receiver at m-77/1 in commit disk 1 (power none)"}},
    {"ack_first", LOST, {"store receiver at m-77/1 commit (not applied)"}},
    {"volatile_memory", DOUBLE, {"crash receiver at m-77/1 after commit (process)"}},
    {"volatile_memory", DOUBLE, {"crash receiver at m-77/1 before reply (power none)"}},
    {"last_id_only", DOUBLE, {"duplicate request m-77/1 after 3s"}},
    {"last_id_only", DOUBLE, {"delay request m-77/1 by 3s"}},
    {"blind_retry", DOUBLE, {"store receiver at m-77/1 commit (applied)"}},
    {"blind_retry", DOUBLE, {"lose reply m-77/1", "store receiver at m-77/2 begin (not applied)"}},
    {"cached_before_durable", LOST, {"store receiver at m-77/1 commit (not applied)"}},
    {"dual_write", EMITTED, {"crash receiver at m-77/1 after commit (process)"}},
    {"dual_write", EMITTED, {"store receiver at m-77/1 commit (applied)"}},
    {"cached_before_durable", LOST, {"handler receiver at m-77/1 after effect fails"}},
};

static void own_scenario(const char *name, struct scenario *s)
{
    char path[100];
    snprintf(path, sizeof(path), "scenarios/canaries/%s.yaml", name);
    ck_assert_int_eq(scenario_read(path, stderr, s), SIM_OK);
    ck_assert_str_eq(s->name, name);
}

/* A world of the scenario on any receiver. */
static struct world *world_on(struct scenario *s, const char *receiver)
{
    enum sim_error error;
    s->receivers[0].code = receiver_find(receiver, strlen(receiver));
    ck_assert_ptr_nonnull(s->receivers[0].code);
    struct world *w = world_new(s, 0, stderr, &error);
    ck_assert_ptr_nonnull(w);
    return w;
}

static uint32_t violated(const struct result *r)
{
    uint32_t set = 0;
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        set |= r->violated[c] > 0 ? CHECK_BIT(c) : 0;
    }
    return set;
}

static void assert_holds(const struct result *r, const char *receiver)
{
    if (r->verdict != VERDICT_PASS || !rig_exactly_once(r) || violated(r) != 0) {
        ck_abort_msg("%s: %s", receiver, rig_say(r, NULL));
    }
}

START_TEST(acquitted_when_nothing_goes_wrong)
{
    const struct flaw *flaw = &flaws[_i];
    struct scenario s;
    own_scenario(flaw->name, &s);
    const struct expectation *e = s.explore_expectations;
    ck_assert_str_eq(s.receivers[0].name, flaw->name);
    ck_assert(e[0].violates && e[0].checks == flaw->check && !e[1].given);
    ck_assert(!s.expectations[0].given && s.explore_faults >= 1 && s.explore_faults <= 2);
    for (size_t i = 0; i <= ARRAY_LEN(right); i++) {
        const char *name = i < ARRAY_LEN(right) ? right[i] : flaw->name;
        struct world *w = world_on(&s, name);
        for (uint64_t seed = 1; seed <= 30; seed++) {
            struct result r = rig_play_kept(w, seed);
            assert_holds(&r, name);
            result_fini(&r);
        }
        world_free(w);
    }
    scenario_fini(&s);
}
END_TEST

START_TEST(convicted_by_the_check_that_is_expected)
{
    const struct conviction *c = &convictions[_i];
    struct scenario s;
    own_scenario(c->name, &s);
    struct fault faults[ARRAY_LEN(c->sentences)];
    size_t count = 0;
    for (; count < ARRAY_LEN(c->sentences) && c->sentences[count] != NULL; count++) {
        faults[count] = rig_fault(&s, "%s", c->sentences[count]);
    }
    for (size_t i = 0; i <= ARRAY_LEN(right); i++) {
        const char *name = i < ARRAY_LEN(right) ? right[i] : c->name;
        if (i == ARRAY_LEN(right)) {
            s.expectations[0] = s.explore_expectations[0];
        }
        struct world *w = world_on(&s, name);
        for (uint64_t seed = 1; seed <= 30; seed++) {
            struct result r = rig_play(w, seed, faults, count);
            if (i < ARRAY_LEN(right)) {
                assert_holds(&r, name);
            } else if (r.verdict != VERDICT_FAIL || violated(&r) != c->checks ||
                       r.fired_count != count) {
                ck_abort_msg("%s: %s", name, rig_say(&r, faults));
            }
            result_fini(&r);
        }
        world_free(w);
    }
    scenario_fini(&s);
}
END_TEST

static void mix(struct scenario *s, const struct flaw *flaw, unsigned workers, const char *network,
                const char *host)
{
    rig_scenario(s,
                 "receivers: [%s]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    workload: {count: 200, entities: 1}\n"
                 "    retry: {after: 500ms, limit: 40}\n"
                 "  - name: app\n"
                 "    workload: {count: 200, entities: 1, charge: 1..9999}\n"
                 "    retry: {after: 400ms, limit: 40, backoff: exponential, max: 2s}\n"
                 "network: {delay: 5ms..100ms, %s}\n"
                 "hosts:\n"
                 "  receiver: {%s workers: %u}\n"
                 "%s",
                 flaw->name, network, host, workers, flaw->more != NULL ? flaw->more : "");
}

START_TEST(wrong_in_nothing_else)
{
    const struct flaw *flaw = &flaws[_i];
    struct scenario s;
    mix(&s, flaw, flaw->harmless, flaw->network, flaw->host);
    struct world *w = rig_world(&s, flaw->name);
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct result r = rig_play_kept(w, seed);
        assert_holds(&r, flaw->name);
        ck_assert_uint_eq(r.operations, 400);
        ck_assert_uint_gt(r.fired_count, 20);
        ck_assert_uint_gt(r.duplicates, 10);
        result_fini(&r);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(convicted_where_everything_goes_wrong)
{
    const struct flaw *flaw = &flaws[_i];
    struct scenario s;
    mix(&s, flaw, 3, NETWORK, DEATHS PAUSES TROUBLE FAILURES);
    struct world *w = rig_world(&s, flaw->name);
    unsigned convicted = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct result r = rig_play_kept(w, seed);
        convicted += (violated(&r) & flaw->check) != 0;
        if ((violated(&r) & ~flaw->follows) != 0) {
            ck_abort_msg("%s", rig_say(&r, NULL));
        }
        result_fini(&r);
    }
    ck_assert_uint_ge(convicted, 4);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

static void play_crash(struct world *w, const struct fault *f, bool reopen, struct result *r)
{
    struct play p = {.seed = 1, .faults = f, .fault_count = 1, .reopen = reopen};
    world_play(w, &p, r);
}

/* A crash at each place of the first handling, then the retry; between them the run without. */
START_TEST(a_restart_and_a_new_run_forget_the_session)
{
    struct scenario s;
    own_scenario("volatile_memory", &s);
    s.receiver.workers = _i ? 2 : 1;
    struct world *w = rig_world(&s, "volatile_memory");
    struct rig_sites all = {.kind = FAULT_CRASH}, first = {0};
    struct result quiet = rig_collect(w, 1, NULL, 0, &all), r, again;
    ck_assert(rig_handling(&all, 0, &first));
    unsigned doubled = 0;
    for (size_t i = 0; i < first.count * rig_crash_values(2); i++) {
        struct fault f =
            rig_crash_at(&first.list[i / rig_crash_values(2)], i % rig_crash_values(2), 2);
        play_crash(w, &f, false, &r);
        play_crash(w, &f, true, &again);
        /* What it did before it died it does again, whether or not that was durable. */
        expect(r.effects == 1 || r.effects == 2);
        expect(r.crashes == 1);
        expect(r.history_hash == again.history_hash && r.effects == again.effects);
        doubled += r.effects == 2;
        result_fini(&r);
        result_fini(&again);
        again = rig_play(w, 1, NULL, 0);
        expect(again.history_hash == quiet.history_hash && again.effects == 1);
        result_fini(&again);
    }
    ck_assert_uint_gt(doubled, 3);
    result_fini(&quiet);
    rig_sites_fini(&all);
    rig_sites_fini(&first);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *flawed_suite(void)
{
    Suite *s = suite_create("flawed");
    TCase *t = tcase_create("flawed");
    tcase_add_loop_test(t, acquitted_when_nothing_goes_wrong, 0, ARRAY_LEN(flaws));
    tcase_add_loop_test(t, convicted_by_the_check_that_is_expected, 0, ARRAY_LEN(convictions));
    tcase_add_loop_test(t, wrong_in_nothing_else, 0, ARRAY_LEN(flaws));
    tcase_add_loop_test(t, convicted_where_everything_goes_wrong, 0, ARRAY_LEN(flaws));
    tcase_add_loop_test(t, a_restart_and_a_new_run_forget_the_session, 0, 2);
    suite_add_tcase(s, t);
    return s;
}
