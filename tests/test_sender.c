/* When a sender sends, waits, gives up, and what it believes then.
 *
 * All through whole worlds: the network is steered by faults, and the history says when which
 * attempt left.
 *
 * Pinned: each backoff with its cap, with and without a time-out of its own; limit and deadline;
 * answers of each sort, late ones and those of older attempts; closed and open loop, messages with
 * a time of their own; belief at giving up; clocks that drift.
 *
 * Left open: the shape of the jitters' distributions beyond bounds and spread (test_dist).
 */
#include "tests/world_rig.h"

#include <stdlib.h>

#define CUT_OFF "faults: ['partition shop receiver 1s..3000h']\n"

/* One message, m-1, to a receiver 10 ms away. retry: the mapping's inside; rest: further keys. */
static struct world *one_message(struct scenario *s, const char *retry, const char *rest)
{
    rig_scenario(s,
                 "receivers: [table, naive]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [{id: m-1, entity: box, charge: 5}]\n"
                 "    retry: {%s}\n"
                 "network: {delay: 10ms}\n"
                 "%s",
                 retry, rest);
    return rig_world(s, "table");
}

static void play(struct world *w, uint64_t seed)
{
    struct result r = rig_play_kept(w, seed);
    ck_assert_int_eq(r.error, SIM_OK);
    result_fini(&r);
}

static uint64_t sent_at(struct world *w, size_t attempt)
{
    const struct record *r = rig_find(w, RECORD_SEND, attempt - 1);
    ck_assert_ptr_nonnull(r);
    ck_assert_uint_eq(r->attempt, attempt);
    return r->at;
}

/* Attempts leave at these ms after 1 s, there are no more, and the operation is closed then. */
static void attempts_are(struct world *w, const unsigned *ms, size_t count, unsigned closed,
                         enum belief belief, bool gave_up)
{
    ck_assert_uint_eq(rig_count(w, RECORD_SEND), count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(sent_at(w, i + 1), SIM_START + ms[i] * SIM_MS);
    }
    ck_assert_uint_eq(rig_count(w, RECORD_CLOSE), 1);
    const struct record *close = rig_find(w, RECORD_CLOSE, 0);
    ck_assert_uint_eq(close->at, SIM_START + closed * SIM_MS);
    ck_assert_int_eq(close->code, belief);
    ck_assert_int_eq(close->value, gave_up);
}
#define ATTEMPTS(w, closed, belief, gave_up, ...)                                                  \
    attempts_are(w, (const unsigned[]){__VA_ARGS__}, ARRAY_LEN(((const unsigned[]){__VA_ARGS__})), \
                 closed, belief, gave_up)

/* Nothing arrives: all attempts, then unknown. */
START_TEST(waits_between_attempts)
{
    static const struct {
        const char *retry;
        unsigned ms[8];
        size_t count;
        unsigned closed;
    } cases[] = {
        {"after: 1s, limit: 1", {0}, 1, 1000},
        {"after: 1s, limit: 4", {0, 1000, 2000, 3000}, 4, 4000},
        {"after: 1s, limit: 3, timeout: 300ms", {0, 1300, 2600}, 3, 2900},
        {"after: 1s, limit: 6, backoff: exponential, max: 5s",
         {0, 1000, 3000, 7000, 12000, 17000},
         6,
         22000},
        {"after: 100ms, limit: 4, backoff: exponential, timeout: 2s",
         {0, 2100, 4300, 6700},
         4,
         8700},
        {"after: 1s, limit: 3, backoff: exponential, max: 1s", {0, 1000, 2000}, 3, 3000},
        /* the deadline cuts the last wait, and nothing leaves at or after it */
        {"after: 1s, limit: 9, deadline: 2500ms", {0, 1000, 2000}, 3, 2500},
        {"after: 1s, limit: 9, deadline: 2s", {0, 1000}, 2, 2000},
        {"after: 1s, limit: 9, deadline: 10ms", {0}, 1, 10},
        {"after: 1s, limit: 9, timeout: 500ms, deadline: 2500ms", {0, 1500}, 2, 2500},
        {"after: 1s, limit: 9, timeout: 500ms, deadline: 1500ms", {0}, 1, 1500},
        {"after: 1s, limit: 9, timeout: 500ms, deadline: 1600ms", {0, 1500}, 2, 1600},
        {"after: 1s, limit: 2, deadline: 100s", {0, 1000}, 2, 2000},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct world *w = one_message(&s, cases[i].retry, CUT_OFF);
        play(w, 1);
        attempts_are(w, cases[i].ms, cases[i].count, cases[i].closed, BELIEF_UNKNOWN, true);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(full_jitter)
{
    struct scenario s;
    struct world *w = one_message(
        &s, "after: 100ms, backoff: full-jitter, max: 1s, limit: 8, timeout: 1ms", CUT_OFF);
    uint64_t low = SIM_TIME_MAX, high = 0, second_high = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        play(w, seed);
        for (unsigned n = 1; n < 8; n++) {
            uint64_t wait = sent_at(w, n + 1) - sent_at(w, n) - SIM_MS;
            uint64_t cap = 100 * SIM_MS << (n - 1);
            cap = cap < SIM_S ? cap : SIM_S;
            expect(wait <= cap);
            if (n == 7) {
                low = wait < low ? wait : low;
                high = wait > high ? wait : high;
            }
            second_high = n == 2 && wait > second_high ? wait : second_high;
        }
    }
    ck_assert_uint_lt(low, 50 * SIM_MS); /* down to nothing, up to the cap */
    ck_assert_uint_gt(high, 950 * SIM_MS);
    ck_assert_uint_gt(second_high, 180 * SIM_MS);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(decorrelated_jitter)
{
    struct scenario s;
    struct world *w =
        one_message(&s, "after: 100ms, backoff: decorrelated-jitter, max: 2s, limit: 9", CUT_OFF);
    bool capped = false, shrank = false;
    for (uint64_t seed = 0; seed < 300; seed++) {
        play(w, seed);
        uint64_t last = 100 * SIM_MS;
        for (unsigned n = 1; n < 9; n++) {
            uint64_t wait = sent_at(w, n + 1) - sent_at(w, n);
            expect(wait >= 100 * SIM_MS && wait <= 3 * last && wait <= 2 * SIM_S);
            capped = capped || wait > 1950 * SIM_MS;
            shrank = shrank || wait < last;
            last = wait;
        }
    }
    ck_assert(capped && shrank);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* The wait belongs to the operation and the attempt, not to the receiver. */
START_TEST(jitter_is_the_same_for_every_receiver)
{
    struct scenario s;
    struct world *w = one_message(&s, "after: 100ms, backoff: full-jitter, limit: 8", CUT_OFF);
    struct world *other = rig_world(&s, "naive");
    for (uint64_t seed = 0; seed < 50; seed++) {
        play(w, seed);
        play(other, seed);
        for (unsigned n = 1; n <= 8; n++) {
            expect(sent_at(w, n) == sent_at(other, n));
        }
    }
    world_free(other);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Answers, and when the next attempt leaves. */
START_TEST(answers)
{
    struct scenario s;
    struct world *w = one_message(&s, "after: 1s", "");
    play(w, 1);
    ATTEMPTS(w, 20, BELIEF_DONE, false, 0);
    world_free(w);
    scenario_fini(&s);

    /* an error and a busy store: known to be open, so again, `after` from the answer on */
    static const char *const troubles[] = {"handler receiver at m-1/1 after effect fails",
                                           "store receiver at m-1/1 begin (busy)"};
    for (size_t i = 0; i < ARRAY_LEN(troubles); i++) {
        char rest[200];
        snprintf(rest, sizeof(rest), "faults: ['%s']\n", troubles[i]);
        w = one_message(&s, "after: 1s, timeout: 3s", rest);
        play(w, 1);
        ATTEMPTS(w, 1040, BELIEF_DONE, false, 0, 1020);
        ck_assert_uint_eq(rig_count(w, RECORD_TIMEOUT), 0);
        world_free(w);
        scenario_fini(&s);
        w = one_message(&s, "after: 1s", rest);
        play(w, 1);
        ATTEMPTS(w, 1040, BELIEF_DONE, false, 0, 1020);
        world_free(w);
        scenario_fini(&s);
    }
    /* the last attempt's error ends it: unknown, never failed */
    w = one_message(&s, "after: 1s, limit: 1",
                    "faults: ['handler receiver at m-1/1 after effect fails']\n");
    play(w, 1);
    ATTEMPTS(w, 20, BELIEF_UNKNOWN, true, 0);
    world_free(w);
    scenario_fini(&s);
    /* an error whose wait would reach the deadline: waits for it, sends no more */
    w = one_message(&s, "after: 1s, deadline: 900ms",
                    "faults: ['handler receiver at m-1/1 after effect fails']\n");
    play(w, 1);
    ATTEMPTS(w, 900, BELIEF_UNKNOWN, true, 0);
    ck_assert_uint_eq(rig_count(w, RECORD_TIMEOUT), 0); /* no attempt was out */
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(answers_to_older_attempts)
{
    struct scenario s;
    /* the error of attempt 1 comes when attempt 2 is out, and moves nothing */
    struct world *w = one_message(&s, "after: 1s",
                                  "faults:\n"
                                  "  - handler receiver at m-1/1 after effect fails\n"
                                  "  - delay reply m-1/1 by 1500ms\n"
                                  "  - lose request m-1/2\n");
    play(w, 1);
    ATTEMPTS(w, 2020, BELIEF_DONE, false, 0, 1000, 2000);
    world_free(w);
    scenario_fini(&s);
    /* a copy of the error comes while the sender waits to send */
    w = one_message(&s, "after: 1s",
                    "faults:\n"
                    "  - handler receiver at m-1/1 after effect fails\n"
                    "  - duplicate reply m-1/1 3 times after 200ms\n");
    play(w, 1);
    ATTEMPTS(w, 1040, BELIEF_DONE, false, 0, 1020);
    world_free(w);
    scenario_fini(&s);
    /* the success of attempt 1 closes, whichever attempt is out, or while waiting to send */
    w = one_message(&s, "after: 1s",
                    "faults:\n"
                    "  - delay reply m-1/1 by 1500ms\n"
                    "  - lose request m-1/2\n");
    play(w, 1);
    ATTEMPTS(w, 1520, BELIEF_DONE, false, 0, 1000);
    world_free(w);
    scenario_fini(&s);
    w = one_message(&s, "after: 1s, timeout: 500ms", "faults: ['delay reply m-1/1 by 700ms']\n");
    play(w, 1);
    ATTEMPTS(w, 720, BELIEF_DONE, false, 0);
    ck_assert_uint_eq(rig_count(w, RECORD_TIMEOUT), 1);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* What comes when nothing is waited for any more is noted and changes no belief. */
START_TEST(late_answers)
{
    struct scenario s;
    struct world *w = one_message(&s, "after: 1s", "faults: ['duplicate reply m-1/1 after 5s']\n");
    play(w, 1);
    ATTEMPTS(w, 20, BELIEF_DONE, false, 0);
    ck_assert_uint_eq(rig_count(w, RECORD_ANSWER), 1);
    ck_assert_uint_eq(rig_count(w, RECORD_LATE), 1);
    ck_assert_uint_eq(rig_find(w, RECORD_LATE, 0)->at, SIM_START + 5020 * SIM_MS);
    world_free(w);
    scenario_fini(&s);

    w = one_message(&s, "after: 1s, limit: 2",
                    "faults: [delay reply m-1/1 by 1m,"
                    " delay reply m-1/2 by 2m]\n");
    play(w, 1);
    ATTEMPTS(w, 2000, BELIEF_UNKNOWN, true, 0, 1000);
    ck_assert_uint_eq(rig_count(w, RECORD_LATE), 2);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Giving up is unknown; a flawed sender takes it for failure and then sees a ghost. */
START_TEST(belief_at_giving_up)
{
    for (int flawed = 0; flawed < 2; flawed++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: m-1, entity: box, charge: 5}]\n"
                     "    retry: {after: 1s, limit: 2}\n"
                     "    on_give_up: %s\n"
                     "faults: [lose reply m-1/1, lose reply m-1/2]\n",
                     flawed ? "failed" : "unknown");
        struct world *w = rig_world(&s, "table");
        struct result r = rig_play_kept(w, 1);
        ATTEMPTS(w, 2000, flawed ? BELIEF_FAILED : BELIEF_UNKNOWN, true, 0, 1000);
        ck_assert_uint_eq(r.gave_up, 1);
        ck_assert_int_eq(r.verdict, flawed ? VERDICT_FAIL : VERDICT_PASS);
        ck_assert_uint_eq(r.violated[CHECK_NO_GHOST_EFFECT], (unsigned)flawed);
        ck_assert(!rig_violated(&r, CHECK_PROGRESS));
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* How many operations are open at most, over a kept history. */
static unsigned most_open(struct world *w)
{
    size_t count;
    const struct record *records = world_history(w, &count);
    unsigned open = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        open += records[i].kind == RECORD_SEND && records[i].attempt == 1;
        most = open > most ? open : most;
        open -= records[i].kind == RECORD_CLOSE;
    }
    ck_assert_uint_eq(open, 0);
    return most;
}

START_TEST(closed_loop)
{
    for (unsigned k = 1; k <= 32; k = 2 * k) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    workload: {count: 25, entities: 3}\n"
                     "    in_flight: %u\n"
                     "network: {delay: 5ms..30ms, lose: 1/4}\n",
                     k);
        struct world *w = rig_world(&s, "table");
        struct result r = rig_play_kept(w, k);
        ck_assert_uint_eq(r.operations, 25);
        ck_assert_uint_eq(most_open(w), k < 25 ? k : 25);
        /* the next one leaves in the moment in which one is closed */
        size_t count, firsts = 0, closes = 0;
        const struct record *records = world_history(w, &count);
        for (size_t i = 0; i < count; i++) {
            if (records[i].kind == RECORD_SEND && records[i].attempt == 1 && firsts++ >= k) {
                ck_assert_uint_eq(records[i].at, rig_find(w, RECORD_CLOSE, closes++)->at);
            }
        }
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

static uint64_t first_send(struct world *w, uint64_t n)
{
    size_t count;
    const struct record *records = world_history(w, &count);
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind == RECORD_SEND && records[i].attempt == 1 &&
            op_number(records[i].op) == n) {
            return records[i].at;
        }
    }
    ck_abort_msg("operation %u was never sent", (unsigned)n);
}

/* First sends come at their own pace, whatever becomes of the others. */
START_TEST(open_loop)
{
    static const struct {
        const char *pace;
        uint64_t low, high;
    } cases[] = {{"every: 50ms", 50 * SIM_MS, 50 * SIM_MS},
                 {"rate: 20/s", 50 * SIM_MS, 50 * SIM_MS},
                 {"rate: 6/m", 10 * SIM_S, 10 * SIM_S},
                 {"every: 10ms..30ms", 10 * SIM_MS, 30 * SIM_MS},
                 {"every: {exponential: {mean: 20ms, max: 90ms}}", 0, 90 * SIM_MS}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, workload: {count: 30}, loop: open, %s}\n"
                     "network: {lose: 1/3}\n",
                     cases[i].pace);
        struct world *w = rig_world(&s, "table");
        play(w, 1);
        ck_assert_uint_eq(first_send(w, 1), SIM_START);
        uint64_t least = SIM_TIME_MAX, most = 0;
        for (uint64_t n = 2; n <= 30; n++) {
            uint64_t gap = first_send(w, n) - first_send(w, n - 1);
            least = gap < least ? gap : least;
            most = gap > most ? gap : most;
        }
        ck_assert(least >= cases[i].low && most <= cases[i].high);
        ck_assert((least == most) == (cases[i].low == cases[i].high));
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* Messages with a time of their own leave then; the others go on in the loop. */
START_TEST(listed_times)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages:\n"
                     "      - {id: m-1, entity: box, charge: 1, at: 7s}\n"
                     "      - {id: m-2, entity: box, charge: 1}\n"
                     "      - {id: m-3, entity: box, charge: 1, at: 1s}\n"
                     "      - {id: m-4, entity: box, charge: 1}\n"
                     "      - {id: m-5, entity: box, charge: 1, at: 2500ms}\n"
                     "network: {delay: 10ms}\n");
    struct world *w = rig_world(&s, "table");
    struct result r = rig_play_kept(w, 1);
    static const unsigned ms[] = {7000, 1000, 1000, 1020, 2500};
    for (uint64_t n = 1; n <= 5; n++) {
        ck_assert_uint_eq(first_send(w, n), ms[n - 1] * SIM_MS);
    }
    ck_assert(rig_exactly_once(&r));
    ck_assert_uint_eq(r.operations, 5);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* A second of a fast clock is shorter than a second. */
START_TEST(clocks_that_drift)
{
    static const struct {
        const char *drift;
        uint64_t second;
    } cases[] = {{"0ppm", SIM_S},
                 {"+100000ppm", SIM_S * 10 / 11},
                 {"-100000ppm", SIM_S * 10 / 9},
                 {"50ppm", UINT64_C(1000000000000000) / 1000050}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        char rest[200];
        snprintf(rest, sizeof(rest), "hosts: {shop: {clock: {drift: %s, offset: -3s}}}\n" CUT_OFF,
                 cases[i].drift);
        struct world *w = one_message(&s, "after: 1s, limit: 9, deadline: 3500ms", rest);
        for (int times = 0; times < 2; times++) {
            play(w, 1);
            ck_assert_uint_eq(rig_count(w, RECORD_SEND), 4);
            for (unsigned n = 1; n < 4; n++) {
                ck_assert_uint_eq(sent_at(w, n + 1) - sent_at(w, n), cases[i].second);
            }
            uint64_t closed = rig_find(w, RECORD_CLOSE, 0)->at - SIM_START;
            ck_assert_uint_le(closed - cases[i].second * 7 / 2, 3); /* rounding */
        }
        world_free(w);
        scenario_fini(&s);
    }
    /* From a moment on; a jump of the clock moves no duration. */
    struct scenario s;
    struct world *w =
        one_message(&s, "after: 1s, limit: 5",
                    "faults: ['partition shop receiver 1s..3000h',"
                    " clock shop drift +100000ppm at 2500ms,"
                    " clock shop +1h at 3s, clock shop drift -100000ppm at 4500ms]\n");
    for (int times = 0; times < 2; times++) {
        play(w, 1);
        ck_assert_uint_eq(sent_at(w, 2), 2 * SIM_S);
        ck_assert_uint_eq(sent_at(w, 3), 3 * SIM_S);
        ck_assert_uint_eq(sent_at(w, 4), 3 * SIM_S + SIM_S * 10 / 11);
        ck_assert_uint_eq(sent_at(w, 5), 3 * SIM_S + SIM_S * 10 / 11 * 2);
        ck_assert_uint_eq(rig_find(w, RECORD_CLOSE, 0)->at, sent_at(w, 5) + SIM_S * 10 / 9);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *sender_suite(void)
{
    Suite *s = suite_create("sender");
    TCase *t = tcase_create("sender");
    tcase_add_test(t, waits_between_attempts);
    tcase_add_test(t, full_jitter);
    tcase_add_test(t, decorrelated_jitter);
    tcase_add_test(t, jitter_is_the_same_for_every_receiver);
    tcase_add_test(t, answers);
    tcase_add_test(t, answers_to_older_attempts);
    tcase_add_test(t, late_answers);
    tcase_add_test(t, belief_at_giving_up);
    tcase_add_test(t, closed_loop);
    tcase_add_test(t, open_loop);
    tcase_add_test(t, listed_times);
    tcase_add_test(t, clocks_that_drift);
    suite_add_tcase(s, t);
    return s;
}
