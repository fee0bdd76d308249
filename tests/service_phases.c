/* Receivers that call the service: the rules of rocket-rides-atomic one by one, `phases` under
 * every schedule with one fault (with two, ONLYONCE_HEAVY=1) and over a random mix, its settings
 * without a sound key convicted, and the canary.
 *
 * Left open: stories, which scenarios/service tells.
 */
#include "tests/service_rig.h"

#include "sim/explore.h"

#include <inttypes.h>
#include <stdlib.h>

struct world *calling(struct scenario *s, struct receiver *code, void (*handle)(struct handling *h))
{
    *code = *receiver_find("table", 5);
    code->handle = handle;
    code->steps |= STEP_BIT(STEP_EXTERNAL);
    s->receivers[0].code = code;
    seen_count = outcome_count = 0;
    return rig_world(s, s->receivers[0].name);
}

#define M77 "{id: m-77, entity: order-1042, charge: 4200}"

/* One message on one receiver, played; each way takes 10 ms. */
struct played {
    struct scenario s;
    struct world *w;
    struct result r;
};

static void play(struct played *p, const char *receiver, const char *retry, const char *faults,
                 const char *rest)
{
    rig_scenario(&p->s,
                 "receivers: [%s]\n"
                 "senders: [{name: shop, messages: [" M77 "], retry: {%s}}]\n"
                 "network: {delay: 10ms}\n"
                 "service: {name: card, delay: 50ms}\n"
                 "faults: [%s]\n"
                 "%s",
                 receiver, retry, faults, rest);
    p->w = rig_world(&p->s, p->s.receivers[0].name);
    p->r = rig_play_kept(p->w, 1);
}

static void played_fini(struct played *p)
{
    result_fini(&p->r);
    world_free(p->w);
    scenario_fini(&p->s);
}

/* The HTTP codes of all answers, in order. */
static void answered(struct played *p, const char *want)
{
    char got[256] = "";
    size_t count = rig_count(p->w, RECORD_HTTP);
    for (size_t i = 0; i < count; i++) {
        const struct record *http = rig_find(p->w, RECORD_HTTP, i);
        size_t n = strlen(got);
        snprintf(got + n, sizeof(got) - n, "%s%" PRId64 "%s", i ? " " : "", http->value,
                 http->code ? "r" : "");
    }
    ck_assert_str_eq(got, want);
}

/* ---- the rules ---- */

/* Rule 1: other parameters under a known key. */
START_TEST(rule_1_other_parameters)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [rocket_rides]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [" M77 ", {id: m-78, key: m-77, entity: x, charge: 1}]\n");
    struct world *w = rig_world(&s, "rocket_rides");
    struct result r = rig_play_kept(w, 1);
    ck_assert_int_eq(rig_find(w, RECORD_HTTP, 1)->value, 409);
    ck_assert_int_eq(rig_find(w, RECORD_REPLY, 1)->code, REPLY_REFUSED);
    ck_assert(r.effects == 1 && r.external == 1);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Rule 1: 409 while it is locked, and for 90 seconds after its owner died; then it is taken over.
 */
START_TEST(rule_1_the_lock)
{
    struct played p;
    play(&p, "phases", "after: 10s, limit: 20", "crash receiver at m-77/1 after commit (process)",
         "");
    answered(&p, "409 409 409 409 409 409 409 409 200"); /* at 11, 21, ... 91 s */
    ck_assert(rig_exactly_once(&p.r) && p.r.external == 1);
    played_fini(&p);
    play(&p, "phases", "timeout: 20ms, after: 20ms, limit: 50",
         "duplicate request m-77/1 after 40ms", "hosts: {receiver: {workers: 2, step: 0s}}\n");
    ck_assert(rig_exactly_once(&p.r) && p.r.external == 1);
    ck_assert_int_eq(rig_find(p.w, RECORD_HTTP, 0)->value, 409);
    played_fini(&p);
}
END_TEST

/* Rule 1: each phase's data and the next point are there together: wherever it dies, no phase that
 * is stored is run again, and its data is there once. */
START_TEST(rule_1_resumes_at_the_point)
{
    static const struct {
        const char *fault;
        unsigned effects, calls;
    } cases[] = {
        {"crash receiver at m-77/1 before commit (process)", 1, 1},   /* the key is not there */
        {"crash receiver at m-77/1 after commit (process)", 1, 1},    /* started */
        {"crash receiver at m-77/1 before commit 2 (process)", 2, 1}, /* the ride is not stored */
        {"crash receiver at m-77/1 after commit 2 (process)", 1, 1},  /* ride_created */
        {"crash receiver at m-77/1 before external (process)", 1, 1},
        {"crash receiver at m-77/1 after external (process)", 1, 2},
        {"crash receiver at m-77/1 before commit 3 (process)", 1, 2}, /* the charge is not stored */
        {"crash receiver at m-77/1 after commit 3 (process)", 1, 1},  /* charge_created */
        {"crash receiver at m-77/1 before commit 4 (process)", 1, 1},
        {"crash receiver at m-77/1 after commit 4 (process)", 1, 1}, /* finished */
    };
    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        struct played p;
        bool inside = i % 2;
        play(&p, inside ? "{name: mine, is: phases, call: inside}" : "phases",
             "after: 50s, limit: 5", cases[i / 2].fault, "");
        ck_assert_int_eq(p.r.fates[0], FATE_FIRED);
        ck_assert_msg(rig_exactly_once(&p.r) && p.r.external == 1 && p.r.verdict == VERDICT_PASS,
                      "%s", cases[i / 2].fault);
        ck_assert_uint_eq(rig_count(p.w, RECORD_EFFECT), cases[i / 2].effects);
        ck_assert_uint_eq(rig_count(p.w, RECORD_CALL), cases[i / 2].calls);
        played_fini(&p);
    }
}
END_TEST

/* Rule 2: what fails in between unlocks and keeps the point. */
START_TEST(rule_2_unlocks)
{
    struct played p;
    play(&p, "phases", "after: 10s, limit: 5", "handler receiver at m-77/1 after record 2 fails",
         "");
    answered(&p, "500 200");
    ck_assert(p.r.verdict == VERDICT_PASS && p.r.external == 1);
    played_fini(&p);
    play(&p, "phases", "after: 10s, limit: 5", "store receiver at m-77/1 effect (busy)", "");
    answered(&p, "409 200");
    ck_assert(p.r.verdict == VERDICT_PASS && p.r.external == 1);
    ck_assert_uint_eq(rig_count(p.w, RECORD_CALL), 1);
    played_fini(&p);
}
END_TEST

/* Rule 3: a refusal is saved; so is, as 503, an answer that never came. */
START_TEST(rule_3_saved)
{
    struct played p;
    play(&p, "rocket_rides", "after: 10s, limit: 3", "lose answer m-77/1", "");
    answered(&p, "503 503r 503r");
    ck_assert(p.r.external == 1 && p.r.gave_up == 1 && rig_count(p.w, RECORD_CALL) == 1);
    played_fini(&p);
    play(&p, "rocket_rides", "after: 10s, limit: 3", "lose call m-77/1", "");
    answered(&p, "503 503r 503r");
    ck_assert_uint_eq(p.r.external, 0);
    played_fini(&p);
    play(&p, "phases", "after: 10s, limit: 3", "lose answer m-77/1", "");
    answered(&p, "503 200");
    ck_assert(p.r.external == 1 && p.r.verdict == VERDICT_PASS);
    played_fini(&p);
    struct scenario s;
    rig_scenario(&s, "receivers: [rocket_rides]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: m-1, entity: e, charge: 1, declined: 1}]\n"
                     "faults: [duplicate request m-1/1 after 5s]\n");
    struct world *w = rig_world(&s, "rocket_rides");
    struct result r = rig_play_kept(w, 1);
    ck_assert(rig_count(w, RECORD_HTTP) == 2 && r.effects == 0 && r.external == 0);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(rig_find(w, RECORD_HTTP, i)->value, 402);
        ck_assert_int_eq(rig_find(w, RECORD_HTTP, i)->code, i);
    }
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Rule 4: the reaper takes a key at 72 hours from its creation, finished or not; and between the
 * service's window and that a request that is resumed is charged again. */
START_TEST(rule_4_the_reaper)
{
    static const struct {
        const char *after;
        unsigned effects;
    } cases[] = {{"71h", 1}, {"73h", 2}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct played p;
        char fault[100];
        snprintf(fault, sizeof(fault), "duplicate request m-77/1 after %s", cases[i].after);
        play(&p, "{name: r, is: rocket_rides, sweep: 30m}", "after: 1s", fault, "");
        ck_assert_uint_eq(p.r.effects, cases[i].effects);
        ck_assert_uint_eq(p.r.external, 1); /* the service still knows the derived key */
        played_fini(&p);
    }
    static const struct {
        const char *window;
        unsigned external;
    } nested[] = {{"24h", 2}, {"0s", 1}, {"73h", 1}};
    for (size_t i = 0; i < ARRAY_LEN(nested); i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [phases]\n"
                     "senders: [{name: shop, messages: [" M77 "], retry: {after: 30h}}]\n"
                     "service: {window: %s}\n"
                     "faults: [lose answer m-77/1]\n",
                     nested[i].window);
        struct result r = rig_once(&s, "phases", 1);
        ck_assert_uint_eq(r.external, nested[i].external);
        ck_assert_int_eq(r.verdict, nested[i].external > 1 ? VERDICT_FAIL : VERDICT_PASS);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* An owner whose lock has lapsed stores nothing; without a key that both make it has called. */
START_TEST(an_overtaken_owner)
{
    static const struct {
        const char *setting;
        unsigned external;
    } cases[] = {{"derived", 1}, {"none", 2}, {"new", 2}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct played p;
        char receiver[100];
        snprintf(receiver, sizeof(receiver), "{name: mine, is: phases, lock: 1s, call_key: %s}",
                 cases[i].setting);
        play(&p, receiver, "after: 3s", "pause receiver at m-77/1 before external for 10s",
             "hosts: {receiver: {workers: 2, step: 0s}}\n"
             "expect: [exactly-once, owner-only, record-states]\n");
        ck_assert_uint_eq(p.r.external, cases[i].external);
        ck_assert_uint_eq(p.r.effects, 1);
        ck_assert_uint_eq(violated(&p.r),
                          cases[i].external > 1 ? CHECK_BIT(CHECK_NO_DOUBLE_EFFECT) : 0);
        played_fini(&p);
    }
}
END_TEST

/* ---- every schedule ---- */

static struct certificate explored(const char *receiver, unsigned faults)
{
    static const struct expectation exactly_once;
    struct scenario s;
    struct certificate c;
    rig_scenario(
        &s,
        "receivers: [%s]\n"
        "senders:\n"
        "  - name: shop\n"
        "    messages: [{id: m-1, entity: e, charge: 1}, {id: m-2, entity: e, charge: 2}]\n"
        "    in_flight: 2\n"
        "    retry: {after: 20s, limit: 8}\n"
        "network: {delay: 20ms}\n"
        "hosts: {receiver: {workers: 2}}\n"
        "service: {name: card, delay: 50ms}\n",
        receiver);
    struct explore_task task = {.scenario = &s,
                                .receiver = 0,
                                .seed = 1,
                                .faults = faults,
                                .kinds = explore_covered_kinds(),
                                .jobs = faults > 1 ? 2 : 1,
                                .expectation = &exactly_once};
    explore(&task, stderr, &c);
    if (faults > 1) {
        printf("%s: %" PRIu64 " schedules, %s\n", receiver, c.schedules, verdict_text(c.verdict));
    }
    scenario_fini(&s);
    return c;
}

START_TEST(every_schedule)
{
    static const struct {
        const char *receiver;
        bool sound;
    } cases[] = {
        {"phases", true},
        {"{name: inside, is: phases, call: inside}", true},
        {"{name: lapses, is: phases, lock: 1s}", true},
        {"{name: none, is: phases, call_key: none}", false},
        {"{name: new, is: phases, call_key: new}", false},
        {"effect_outside", false},
    };
    unsigned faults = getenv("ONLYONCE_HEAVY") && cases[_i].sound ? 2 : 1;
    struct certificate c = explored(cases[_i].receiver, faults);
    ck_assert_uint_gt(c.schedules, 300);
    ck_assert_int_eq(c.verdict, cases[_i].sound ? VERDICT_PASS : VERDICT_FAIL);
    for (unsigned check = 0; check < CHECK_COUNT; check++) {
        bool convicted = !cases[_i].sound && check == CHECK_NO_DOUBLE_EFFECT;
        ck_assert_int_eq(c.violated[check] > 0, convicted);
    }
}
END_TEST

/* ---- chance ---- */

/* _i: several workers, and the call inside the transaction */
START_TEST(over_a_random_mix)
{
    struct scenario s;
    rig_scenario(&s,
                 "receivers: [{name: mine, is: phases, lock: 20s, call: %s}]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    workload: {count: 20, entities: 3}\n"
                 "    in_flight: 3\n"
                 "    retry: {after: 2s, backoff: full-jitter, limit: 60}\n"
                 "network: {delay: 5ms..400ms, lose: 1/15, duplicate: 1/15}\n"
                 "service: {delay: 5ms..900ms, time_out: 1s}\n"
                 "hosts: {receiver: {workers: %d, crash: 1/800, power: 1/800, pause: 1/100,"
                 " pause_for: 0s..30s, store: 1/100, handler: 1/100}}\n",
                 _i ? "inside" : "between", _i ? 3 : 1);
    struct world *w = rig_world(&s, "mine");
    uint64_t late_answers = 0, known = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct result r = rig_play_kept(w, seed);
        if (r.verdict != VERDICT_PASS || r.external != r.operations || !rig_exactly_once(&r)) {
            ck_abort_msg("%s", rig_say(&r, NULL));
        }
        for (size_t n = 0; n < rig_count(w, RECORD_SERVICE); n++) {
            known += rig_find(w, RECORD_SERVICE, n)->code == 1;
        }
        late_answers += rig_count(w, RECORD_ANSWERED) > 20;
        result_fini(&r);
    }
    ck_assert(known > 100 && late_answers > 50);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

TCase *phases_tests(void)
{
    TCase *t = tcase_create("phases");
    tcase_set_timeout(t, getenv("ONLYONCE_HEAVY") ? 3600 : 60);
    tcase_add_test(t, rule_1_other_parameters);
    tcase_add_test(t, rule_1_the_lock);
    tcase_add_test(t, rule_1_resumes_at_the_point);
    tcase_add_test(t, rule_2_unlocks);
    tcase_add_test(t, rule_3_saved);
    tcase_add_test(t, rule_4_the_reaper);
    tcase_add_test(t, an_overtaken_owner);
    tcase_add_loop_test(t, every_schedule, 0, 6);
    tcase_add_loop_test(t, over_a_random_mix, 0, 2);
    return t;
}
