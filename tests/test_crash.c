/* A crash at every place where a handling can die, and what is left afterwards.
 *
 * Pinned: the three right receivers end with exactly one effect for each operation, whatever moment
 * of the first handling the host dies at (before and after each step, before each operation on the
 * disk) and whatever the disk keeps (process, all, none, first, only, all but and torn n); the same
 * in each journal mode that promises durability, with two workers, and for every pair of crashes in
 * the first and in the second handling. Settings that promise less are convicted, by the check that
 * says so, and so are the lying disk and the receiver without a memory.
 *
 * The places are not listed here: a run that is only observed tells them.
 *
 * Left open: three crashes, other faults between them (explore plays those), pages other than 1024.
 */
#include "tests/world_rig.h"

#include <stdlib.h>

#define MOST 24 /* more operations than ever wait for a sync here */

static const char *const right[] = {"table", "entity", "response"};

static const struct mode {
    const char *journal, *synchronous;
} durable[] = {{"truncate", "full"}, {"persist", "full"}, {"wal", "full"}, {"delete", "extra"}};

/* Worlds with one message whose reply is lost, and with two senders that charge one entity. */
static void lost_reply(struct scenario *s, const struct mode *m)
{
    rig_scenario(s,
                 "receivers: [table, entity, response, naive]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages:\n"
                 "      - {id: m-77, entity: order-1042, charge: 4200}\n"
                 "    retry: {after: 1s, backoff: exponential, limit: 8}\n"
                 "network: {delay: 20ms..80ms}\n"
                 "database: {journal: %s, synchronous: %s}\n",
                 m->journal, m->synchronous);
}

static void two_senders(struct scenario *s, const struct mode *m, unsigned workers)
{
    rig_scenario(s,
                 "receivers: [table, entity, response, naive]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages:\n"
                 "      - {id: a-1, entity: order-1, charge: 3}\n"
                 "      - {id: a-2, entity: order-1, charge: 5}\n"
                 "    retry: {after: 1s, limit: 8}\n"
                 "  - name: till\n"
                 "    messages: [{id: b-1, entity: order-1, charge: 7}]\n"
                 "    retry: {after: 900ms, limit: 8}\n"
                 "network: {delay: 20ms..25ms}\n"
                 "hosts: {receiver: {workers: %u}}\n"
                 "database: {journal: %s, synchronous: %s}\n",
                 workers, m->journal, m->synchronous);
}

static bool fired(const struct result *r, size_t fault)
{
    return fault < r->listed_count && r->fates[fault] == FATE_FIRED;
}

/* A right receiver after a crash: acquitted, and the crash did happen. A listed fault behind the
 * crash (a lost reply that was never sent) may have become unreachable, and a crash after a reply
 * that arrives makes nobody send again. */
static void acquit(const struct result *r, const struct fault *faults, size_t crash)
{
    const struct rng_key *k = &faults[crash].site.key;
    enum verdict_kind wanted = VERDICT_PASS;
    for (size_t i = 0; i < r->listed_count; i++) {
        wanted = r->fates[i] == FATE_FIRED ? wanted : VERDICT_UNFIRED;
    }
    if (wanted == VERDICT_PASS && r->repeated == 0 && k->step == STEP_REPLY && k->moment == AFTER) {
        wanted = VERDICT_VACUOUS;
    }
    if (!fired(r, crash) || r->verdict != wanted || !rig_exactly_once(r) || r->crashes < 1) {
        ck_abort_msg("%s", rig_say(r, &faults[crash]));
    }
}

/* Every crash site of the first handling, or of its repeat, with every value, beside other faults.
 */
static void crash_everywhere(struct world *w, const struct fault *before, size_t count, bool repeat)
{
    struct rig_sites all = {.kind = FAULT_CRASH}, sites = {0};
    struct result r = rig_collect(w, 1, before, count, &all);
    result_fini(&r);
    ck_assert(rig_handling(&all, repeat, &sites));
    struct fault faults[4];
    size_t inside = 0;
    for (size_t i = 0; i < count; i++) {
        faults[i] = before[i];
    }
    for (size_t i = 0; i < sites.count; i++) {
        inside += sites.list[i].key.moment == INSIDE;
        for (size_t v = 0; v < rig_crash_values(MOST); v++) {
            faults[count] = rig_crash_at(&sites.list[i], v, MOST);
            r = rig_play(w, 1, faults, count + 1);
            acquit(&r, faults, count);
            result_fini(&r);
        }
    }
    expect(repeat || inside >= 3);      /* a commit writes and syncs something */
    expect(sites.count >= inside + 10); /* five steps at least, with two ends each */
    rig_sites_fini(&sites);
    rig_sites_fini(&all);
}

/* i: receiver, and journal mode behind it */
START_TEST(right_receivers_survive_a_crash_anywhere)
{
    const char *name = right[(size_t)_i % ARRAY_LEN(right)];
    const struct mode *m = &durable[(size_t)_i / ARRAY_LEN(right)];
    struct scenario s;
    lost_reply(&s, m);
    struct world *w = rig_world(&s, name);
    struct fault lost = rig_fault(&s, "lose reply m-77/1");
    crash_everywhere(w, NULL, 0, false);
    crash_everywhere(w, &lost, 1, false);
    /* The second handling is the duplicate: look-up and roll-back. */
    crash_everywhere(w, &lost, 1, true);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(two_workers_survive_a_crash_anywhere)
{
    const char *name = right[(size_t)_i % ARRAY_LEN(right)];
    const struct mode *m = &durable[(size_t)_i / ARRAY_LEN(right)];
    struct scenario s;
    two_senders(&s, m, 2);
    struct world *w = rig_world(&s, name);
    struct fault faults[2] = {rig_fault(&s, "duplicate request a-1/1")};
    struct rig_sites all = {.kind = FAULT_CRASH}, sites = {0};
    size_t runs = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct result r = rig_collect(w, seed, faults, 1, &all);
        result_fini(&r);
        for (size_t handling = 0; handling < 2; handling++) {
            ck_assert(rig_handling(&all, handling, &sites));
            for (size_t i = 0; i < sites.count; i++, runs++) {
                faults[1] = rig_crash_at(&sites.list[i], 0, MOST);
                r = rig_play(w, seed, faults, 2);
                acquit(&r, faults, 1);
                result_fini(&r);
            }
        }
    }
    ck_assert_uint_ge(runs, 20 * 2 * 13);
    rig_sites_fini(&sites);
    rig_sites_fini(&all);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* A crash in the first handling, and another one in the handling that comes after it. */
START_TEST(right_receivers_survive_pairs_of_crashes)
{
    const char *name = right[(size_t)_i % ARRAY_LEN(right)];
    const struct mode *m = &durable[(size_t)_i / ARRAY_LEN(right)];
    struct scenario s;
    lost_reply(&s, m);
    struct world *w = rig_world(&s, name);
    struct rig_sites all = {.kind = FAULT_CRASH}, first = {0}, second = {0};
    struct result r = rig_collect(w, 1, NULL, 0, &all);
    result_fini(&r);
    ck_assert(rig_handling(&all, 0, &first));
    size_t runs = 0;
    for (size_t i = 0; i < first.count; i++) {
        struct fault faults[2] = {rig_crash_at(&first.list[i], 0, MOST)};
        r = rig_collect(w, 1, faults, 1, &all);
        result_fini(&r);
        if (!rig_handling(&all, 1, &second)) {
            /* only a reply that was sent already leaves nothing to do again */
            expect(first.list[i].key.step == STEP_REPLY && first.list[i].key.moment == AFTER);
            continue;
        }
        for (size_t j = 0; j < second.count; j++, runs++) {
            faults[1] = rig_crash_at(&second.list[j], 0, MOST);
            r = rig_play(w, 1, faults, 2);
            acquit(&r, faults, 1);
            expect(r.crashes == 2);
            result_fini(&r);
        }
    }
    ck_assert_uint_ge(runs, 13 * 13);
    rig_sites_fini(&second);
    rig_sites_fini(&first);
    rig_sites_fini(&all);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

struct tally {
    size_t runs, failed, exact;
    size_t violated[CHECK_COUNT]; /* runs that violated it */
};

/* Every crash site of a run with every value; no verdict is demanded. `before` may be NULL. */
static struct tally tally_crashes(struct world *w, const struct fault *before)
{
    struct rig_sites all = {.kind = FAULT_CRASH};
    struct tally t = {0};
    struct fault faults[2] = {{{{0}, 0}, {0}, 0, 0}};
    size_t count = before != NULL;
    if (before) {
        faults[0] = *before;
    }
    struct result r = rig_collect(w, 1, before, count, &all);
    result_fini(&r);
    for (size_t i = 0; i < all.count; i++) {
        for (size_t v = 0; v < rig_crash_values(MOST); v++) {
            faults[count] = rig_crash_at(&all.list[i], v, MOST);
            r = rig_play(w, 1, faults, count + 1);
            expect(r.error == SIM_OK);
            expect(fired(&r, count));
            t.runs++;
            t.failed += r.verdict == VERDICT_FAIL;
            t.exact += rig_exactly_once(&r);
            for (unsigned c = 0; c < CHECK_COUNT; c++) {
                t.violated[c] += r.violated[c] > 0;
            }
            result_fini(&r);
        }
    }
    rig_sites_fini(&all);
    return t;
}

/* Operations that nothing can touch any more are forgotten, but not before their effect is durable.
 */
static void generated(struct scenario *s, const struct mode *m)
{
    rig_scenario(s,
                 "receivers: [table, entity, response]\n"
                 "senders:\n"
                 "  - {name: shop, workload: {count: 3, charge: 3}, retry: {limit: 8}}\n"
                 "network: {delay: 20ms..25ms}\n"
                 "database: {journal: %s, synchronous: %s}\n",
                 m->journal, m->synchronous);
}

static void listed(struct scenario *s, const struct mode *m)
{
    two_senders(s, m, 1);
}

static struct tally tally_mode(void (*make)(struct scenario *s, const struct mode *m),
                               const struct mode *m, const char *receiver, bool lying)
{
    struct scenario s;
    make(&s, m);
    struct world *w = rig_world(&s, receiver);
    struct fault lie = rig_fault(&s, "lying-disk receiver");
    struct tally t = tally_crashes(w, lying ? &lie : NULL);
    world_free(w);
    scenario_fini(&s);
    return t;
}

/* The same crashes in each of three handlings of two senders' messages for one entity. */
START_TEST(durable_modes_lose_nothing)
{
    struct tally t = tally_mode(listed, &durable[(size_t)_i / ARRAY_LEN(right)],
                                right[(size_t)_i % ARRAY_LEN(right)], false);
    ck_assert_uint_ge(t.runs, 3000);
    ck_assert_uint_eq(t.failed, 0);
    ck_assert_uint_eq(t.exact, t.runs);
}
END_TEST

START_TEST(modes_that_promise_less_lose_commits)
{
    static const struct mode weaker[] = {{"delete", "full"}, {"wal", "normal"}};
    const struct mode *m = &weaker[(size_t)_i / 2 / ARRAY_LEN(right)];
    struct tally t =
        tally_mode(_i % 2 ? generated : listed, m, right[(size_t)_i / 2 % ARRAY_LEN(right)], false);
    /* A commit that was acknowledged is gone; what is left is whole. */
    ck_assert_uint_gt(t.violated[CHECK_ACK_IMPLIES_DURABLE], 0);
    ck_assert_uint_lt(t.failed, t.runs);
    ck_assert_uint_eq(t.violated[CHECK_STATE_MATCHES_EFFECTS], 0);
    ck_assert_uint_eq(t.violated[CHECK_NO_DOUBLE_EFFECT], 0);
    ck_assert_uint_eq(t.violated[CHECK_DISTINCT_OPERATIONS], 0);
}
END_TEST

START_TEST(truncate_with_normal_corrupts)
{
    static const struct mode m = {"truncate", "normal"};
    struct tally t = tally_mode(listed, &m, right[_i], false);
    ck_assert_uint_gt(t.failed, 0);
    ck_assert_uint_lt(t.failed, t.runs);
}
END_TEST

START_TEST(a_lying_disk_is_convicted)
{
    struct tally t = tally_mode(listed, &durable[(size_t)_i / ARRAY_LEN(right)],
                                right[(size_t)_i % ARRAY_LEN(right)], true);
    ck_assert_uint_gt(t.violated[CHECK_ACK_IMPLIES_DURABLE], 0);
}
END_TEST

/* Crash after the commit and before the reply leaves the sender: the retry charges again. Before
 * the commit even the receiver without a memory is right. */
START_TEST(naive_is_convicted_by_a_crash_after_commit)
{
    struct scenario s;
    lost_reply(&s, &durable[_i]);
    struct world *w = rig_world(&s, "naive");
    static const char *const wrong[] = {"after commit", "before reply"};
    static const char *const fine[] = {"before receive", "after effect", "before commit",
                                       "after reply"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct fault f = rig_fault(&s, "crash receiver at m-77/1 %s (process)", wrong[i]);
        struct result r = rig_play(w, 1, &f, 1);
        ck_assert_int_eq(r.verdict, VERDICT_FAIL);
        ck_assert_uint_eq(r.violated[CHECK_NO_DOUBLE_EFFECT], 1);
        ck_assert_uint_eq(r.effects, 2);
        ck_assert(!rig_violated(&r, CHECK_STATE_MATCHES_EFFECTS));
        result_fini(&r);
    }
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        struct fault f = rig_fault(&s, "crash receiver at m-77/1 %s (process)", fine[i]);
        struct result r = rig_play(w, 1, &f, 1);
        ck_assert_int_ne(r.verdict, VERDICT_FAIL);
        ck_assert(fired(&r, 0) && rig_exactly_once(&r));
        result_fini(&r);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* While it is down a host answers nothing; what it had not handled is gone; then it goes on. */
START_TEST(a_host_that_is_down_does_not_answer)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: m-1, entity: box, charge: 1}]\n"
                     "    retry: {after: 1s, limit: 20}\n"
                     "  - name: till\n"
                     "    messages: [{id: m-2, entity: box, charge: 2, at: 1001ms}]\n"
                     "    retry: {after: 1s, limit: 20}\n"
                     "network: {delay: 10ms}\n"
                     "hosts: {receiver: {step: 1ms}}\n"
                     "faults:\n"
                     "  - crash receiver at m-1/1 after commit (process) restart after 5s\n");
    struct world *w = rig_world(&s, "table");
    struct result r = rig_play_kept(w, 1);
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    ck_assert(rig_exactly_once(&r));
    const struct record *crash = rig_find(w, RECORD_CRASH, 0);
    const struct record *restart = rig_find(w, RECORD_RESTART, 0);
    const struct record *survived = rig_find(w, RECORD_SURVIVED, 0);
    ck_assert_ptr_nonnull(crash);
    ck_assert_ptr_nonnull(restart);
    ck_assert_ptr_nonnull(survived);
    ck_assert_uint_eq(survived->at, crash->at);
    ck_assert_uint_eq(restart->at, crash->at + 5 * SIM_S);
    /* m-2/1 was delivered and waited for the one worker; four more of each found nobody */
    ck_assert_uint_eq(r.handlings + 1, r.deliveries);
    ck_assert_uint_eq(rig_count(w, RECORD_DOWN), r.attempts - r.deliveries);
    ck_assert_uint_ge(rig_count(w, RECORD_DOWN), 8);
    ck_assert_uint_eq(rig_count(w, RECORD_REPLY), 2);
    ck_assert_uint_gt(rig_find(w, RECORD_REPLY, 0)->at, restart->at);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *crash_suite(void)
{
    const int modes = ARRAY_LEN(durable), names = ARRAY_LEN(right);
    Suite *s = suite_create("crash");
    TCase *t = tcase_create("crash");
    tcase_add_loop_test(t, right_receivers_survive_a_crash_anywhere, 0, modes * names);
    tcase_add_loop_test(t, two_workers_survive_a_crash_anywhere, 0, modes * names);
    tcase_add_loop_test(t, right_receivers_survive_pairs_of_crashes, 0, modes * names);
    tcase_add_loop_test(t, durable_modes_lose_nothing, 0, modes * names);
    tcase_add_loop_test(t, modes_that_promise_less_lose_commits, 0, 4 * names);
    tcase_add_loop_test(t, truncate_with_normal_corrupts, 0, names);
    tcase_add_loop_test(t, a_lying_disk_is_convicted, 0, modes * names);
    tcase_add_loop_test(t, naive_is_convicted_by_a_crash_after_commit, 0, modes);
    tcase_add_test(t, a_host_that_is_down_does_not_answer);
    suite_add_tcase(s, t);
    return s;
}
