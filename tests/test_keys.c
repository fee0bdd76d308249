/* Records in progress: idempotency_key and claim from the inside.
 *
 * Pinned: the store may fail at each step, once or twice, and the effect happens once; the boundary
 * of lock and lease to the nanosecond; a stale owner completes and releases nothing; what the
 * receivers tell of their records, for sound settings and for those that are wrong; from when a
 * record is kept, also while it is in progress; too many records; records that nobody will end; the
 * static check on leases.
 *
 * Left open: what each system's rules say of these (test_rules_keys); crashes (test_right).
 */
#include "tests/probe.h"
#include "tests/replies.h"

#include "sim/cover.h"

#include <inttypes.h>

#define STATES CHECK_BIT(CHECK_RECORD_STATES)
#define OWNER CHECK_BIT(CHECK_OWNER_ONLY)
#define DOUBLE CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)
#define BOUNDED CHECK_BIT(CHECK_BOUNDED_RECORDS)

#define JUDGED "expect: [exactly-once, record-states, owner-only]\n"

/* Sound inside their contract. */
static const char *const sound[] = {
    "idempotency_key",
    "stripe_v1",
    "stripe_v2",
    "ietf_idempotency_key",
    "claim",
    "lock_with_record",
    "{name: keeps, is: claim, failure: keeps}",
    "{name: completion, is: claim, starts: completion}",
    "{name: key_completion, is: idempotency_key, starts: completion, most: 5}",
    "{name: last_seen, is: claim, starts: last-seen, most: 5, evict: least-recent}",
    "{name: no_lease, is: claim, lease: 0s, retention: 40s, starts: completion}",
};

/* ---- the store fails ---- */

static const enum store_fault store_faults[] = {STORE_NOT_APPLIED, STORE_APPLIED, STORE_BUSY,
                                                STORE_FULL};

/* A copy comes after 5 s, and the shop tries for longer than any lock. */
static void failing_store(struct scenario *s, const char *receiver)
{
    rig_scenario(s,
                 "receivers: [%s]\n"
                 "network: {delay: 20ms}\n" SHOP_RETRIES(CHARGE("m-77"), "after: 20s, limit: 10")
                     JUDGED,
                 receiver);
}

START_TEST(the_store_fails_once_or_twice)
{
    struct scenario s;
    failing_store(&s, sound[_i]);
    struct world *w = rig_world(&s, s.receivers[0].name);
    struct fault faults[3] = {rig_fault(&s, "duplicate request m-77/1 after 5s")};
    struct rig_sites first = {.kind = FAULT_STORE}, second = {.kind = FAULT_STORE};
    struct result r = rig_collect(w, 1, faults, 1, &first);
    result_fini(&r);
    ck_assert_uint_ge(first.count, 10);
    for (size_t i = 0; i < first.count * ARRAY_LEN(store_faults); i++) {
        faults[1] = (struct fault){.site = first.list[i / ARRAY_LEN(store_faults)]};
        faults[1].value.choice = (uint8_t)store_faults[i % ARRAY_LEN(store_faults)];
        r = rig_collect(w, 1, faults, 2, &second);
        ck_assert_msg(violated(&r) == 0 && rig_exactly_once(&r), "%s", rig_say(&r, &faults[1]));
        result_fini(&r);
        for (size_t j = i / ARRAY_LEN(store_faults) + 1; j < second.count; j++) {
            faults[2] = (struct fault){.site = second.list[j]};
            for (size_t k = 0; k < ARRAY_LEN(store_faults); k++) {
                faults[2].value.choice = (uint8_t)store_faults[k];
                r = rig_play(w, 1, faults, 3);
                ck_assert_msg(violated(&r) == 0 && rig_exactly_once(&r), "%s; %s",
                              rig_say(&r, &faults[1]), rig_say(&r, &faults[2]));
                result_fini(&r);
            }
        }
    }
    rig_sites_fini(&first);
    rig_sites_fini(&second);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Completed behind the effect: twice where the store fails between the two, nowhere else. */
START_TEST(the_store_fails_behind_the_effect)
{
    static const char *const receivers[] = {"powertools", "key_deleted_on_failure",
                                            "unfenced_lease"};
    struct scenario s;
    failing_store(&s, receivers[_i]);
    struct world *w = rig_world(&s, receivers[_i]);
    struct rig_sites sites = {.kind = FAULT_STORE};
    struct result r = rig_collect(w, 1, NULL, 0, &sites);
    result_fini(&r);
    size_t commits = 0, doubled = 0;
    for (size_t i = 0; i < sites.count; i++) {
        commits += sites.list[i].key.step == STEP_COMMIT;
        for (size_t k = 0; k < ARRAY_LEN(store_faults); k++) {
            struct fault f = {.site = sites.list[i]};
            f.value.choice = (uint8_t)store_faults[k];
            r = rig_play(w, 1, &f, 1);
            if (r.verdict == VERDICT_VACUOUS) { /* BEGIN has no use for the disk */
                result_fini(&r);
                continue;
            }
            bool at_commit = sites.list[i].key.step == STEP_COMMIT;
            bool applied = f.value.choice == STORE_APPLIED;
            bool effect = commits > 2 || (commits == 2 && (!at_commit || applied));
            bool twice = effect && !(commits > 2 && at_commit && applied);
            ck_assert_msg(r.doubled == twice, "%s", rig_say(&r, &f));
            doubled += r.doubled;
            ck_assert_msg((violated(&r) & (STATES | OWNER)) == 0 || _i == 2, "%s", rig_say(&r, &f));
            result_fini(&r);
        }
    }
    ck_assert_uint_ge(doubled, _i < 2 ? 10 : 1);
    rig_sites_fini(&sites);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* ---- lock and lease ---- */

#define OVERTAKEN(pause, copies)                                                                   \
    SHOP_RETRIES(CHARGE("m-77"), "after: 1h, limit: 1")                                            \
    "hosts: {receiver: {workers: 3, step: 0s}}\n" JUDGED FAULTS(                                   \
        "pause receiver at m-77/1 before begin 2 for " pause ", " copies)

START_TEST(the_last_moment_of_a_lease)
{
    static const char *const receivers[] = {
        "{name: mine, is: claim, lease: 10s}",
        "{name: mine, is: claim, lease: 0s, retention: 10s}",
        "{name: mine, is: idempotency_key, lock: 10s}",
        "{name: mine, is: idempotency_key, lock: 0s, retention: 10s}",
    };
    static const char *const codes[] = {"", " 200", " 409", " 503"};
    for (size_t i = 0; i < ARRAY_LEN(receivers); i++) {
        char replies[128];
        bool http = i >= 2;
        snprintf(replies, sizeof(replies), "m-77/1.2%s retry-later, m-77/1%s done #1",
                 codes[http ? 2 : 0], codes[http ? 1 : 0]);
        conversation_check(&(struct conversation){
            receivers[i], OVERTAKEN("20s", "duplicate request m-77/1 after 9999999999ns"), replies,
            1});
        snprintf(replies, sizeof(replies), "m-77/1.2%s done #1, m-77/1%s retry-later",
                 codes[http ? 1 : 0], codes[http ? 3 : 0]);
        conversation_check(&(struct conversation){
            receivers[i], OVERTAKEN("20s", "duplicate request m-77/1 after 10s"), replies, 1});
    }
}
END_TEST

/* The owner goes on at 15 s, when another has held its record since 11 s, or at 30 s, when that one
 * has completed it; it executes, or fails and releases. At 16 s another asks. */
START_TEST(a_stale_owner)
{
    static const char claim[] = "{name: mine, is: claim, lease: 10s}";
    static const char key[] = "{name: mine, is: idempotency_key, lock: 10s}";
    static const char saves[] = "{name: mine, is: stripe_v1, lock: 10s}";
    static const char fails[] = ", handler receiver at m-77/1 after effect fails";
    static const struct {
        const char *receiver, *pause, *faults, *replies;
    } cases[] = {
        {claim, "15s", "", "m-77/1 retry-later, b/1 retry-later, m-77/1.2 done #2"},
        {claim, "15s", fails, "m-77/1 error, b/1 retry-later, m-77/1.2 done #2"},
        {claim, "30s", "", "b/1 retry-later, m-77/1.2 done #1, m-77/1 retry-later"},
        {claim, "30s", fails, "b/1 retry-later, m-77/1.2 done #1, m-77/1 error"},
        {key, "15s", "", "m-77/1 503 retry-later, b/1 409 retry-later, m-77/1.2 200 done #2"},
        {key, "15s", fails, "m-77/1 500 error, b/1 409 retry-later, m-77/1.2 200 done #2"},
        {key, "30s", "", "b/1 409 retry-later, m-77/1.2 200 done #1, m-77/1 503 retry-later"},
        {key, "30s", fails, "b/1 409 retry-later, m-77/1.2 200 done #1, m-77/1 500 error"},
        {saves, "15s", fails, "m-77/1 503 retry-later, b/1 409 retry-later, m-77/1.2 200 done #2"},
        {saves, "30s", fails, "b/1 409 retry-later, m-77/1.2 200 done #1, m-77/1 503 retry-later"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct world *w;
        char lines[1024];
        snprintf(
            lines, sizeof(lines),
            SHOP_RETRIES(
                CHARGE("m-77") ", {id: b, key: m-77, entity: order-1042, charge: 42, "
                               "at: 17s}",
                "after: 1h, limit: 1") "hosts: {receiver: {workers: 3, step: 0s}}\n" JUDGED
                                       "faults: [pause receiver at m-77/1 before begin 2 for %s, "
                                       "pause receiver at m-77/1.2 before begin 2 for 14s, "
                                       "duplicate request m-77/1 after 11s%s]\n",
            cases[i].pause, cases[i].faults);
        struct conversation c = {cases[i].receiver, lines, cases[i].replies, 1};
        conversation_check(&c);
        struct result r = conversation_play(&c, &s, &w);
        ck_assert_msg(violated(&r) == 0, "%zu: %s", i, rig_say(&r, NULL));
        rig_holds(w, i < 4 ? "SELECT state FROM claim" : "SELECT state FROM idempotency_key", "2 ");
        conversation_end(&s, w, &r);
    }
}
END_TEST

/* ---- what is told of records ---- */

/* Ten seconds and more of everything that is covered, with copies that come late. */
static void storm(struct scenario *s, const char *receiver, const char *late)
{
    rig_scenario(s,
                 "receivers: [%s]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    workload: {count: 12, entities: 3, charge: 1..99}\n"
                 "    in_flight: 4\n"
                 "    retry: {after: 2s, limit: 60}\n"
                 "network: {delay: 5ms..400ms, lose: 1/10, duplicate: 1/4, duplicate_after: %s}\n"
                 "hosts:\n"
                 "  receiver: {workers: 3, step: 0ms..2ms, crash: 1/300, power: 1/400, pause: 1/30,"
                 " pause_for: 0s..4s, store: 1/40, handler: 1/40, clock: {drift: 100ppm}}\n" JUDGED,
                 receiver, late);
}

/* Checks that are violated in some of the seeds; *takeovers: what the moves were judged by. */
static uint32_t weathered(const char *receiver, const char *late, unsigned seeds)
{
    struct scenario s;
    uint32_t set = 0;
    uint64_t moves = 0;
    storm(&s, receiver, late);
    struct world *w = rig_world(&s, s.receivers[0].name);
    for (unsigned seed = 1; seed <= seeds; seed++) {
        struct play p = {.seed = seed};
        struct result r;
        world_play(w, &p, &r);
        ck_assert_int_eq(r.error, SIM_OK);
        set |= violated(&r);
        moves += r.judged[CHECK_RECORD_STATES];
        result_fini(&r);
    }
    ck_assert_uint_gt(moves, 10 * seeds);
    world_free(w);
    scenario_fini(&s);
    return set;
}

START_TEST(sound_settings_in_a_storm)
{
    static const char *const settings[] = {
        "{name: mine, is: idempotency_key, lock: 1s}",
        "{name: mine, is: stripe_v2, lock: 1s, sweep: 1d}",
        "{name: mine, is: claim, lease: 1s}",
        "{name: mine, is: claim, lease: 1s, failure: keeps}",
        "{name: mine, is: claim, lease: 1s, starts: last-seen}",
        "lock_with_record",
    };
    uint32_t set = weathered(settings[_i], "0s..5s", 150);
    ck_assert_msg(set == 0, "%s: %x", settings[_i], (unsigned)set);
}
END_TEST

/* Records that are over while their copies still come: twice, but never against the record. */
START_TEST(short_retention_in_a_storm)
{
    static const char *const receivers[] = {"idempotency_key, lock: 1s", "claim, lease: 1s",
                                            "claim, lease: 1s, failure: keeps",
                                            "idempotency_key, lock: 5s", "claim, lease: 0s"};
    static const char *const starts[] = {"receipt", "completion", "last-seen"};
    static const char *const removals[] = {"look-up", "sweep", "both"};
    uint32_t all = 0;
    for (unsigned i = 0; i < ARRAY_LEN(starts) * ARRAY_LEN(removals); i++) {
        char receiver[256];
        snprintf(receiver, sizeof(receiver),
                 "{name: mine, is: %s, retention: 3s, starts: %s, removal: %s, sweep: 500ms}",
                 receivers[_i], starts[i % 3], removals[i / 3]);
        uint32_t set = weathered(receiver, "0s..20s", 60);
        ck_assert_msg((set & (STATES | OWNER)) == 0, "%s: %x", receiver, (unsigned)set);
        all |= set;
    }
    ck_assert(all & DOUBLE);
}
END_TEST

START_TEST(unsound_settings_in_a_storm)
{
    static const struct {
        const char *receiver;
        uint32_t violated, holds;
    } cases[] = {
        {"unfenced_lease", OWNER | STATES | DOUBLE, 0},
        {"{name: mine, is: powertools, lease: 1s}", OWNER | STATES | DOUBLE, 0},
        {"{name: mine, is: redis_lock, lease: 1s}", OWNER | DOUBLE, 0},
        {"{name: mine, is: key_deleted_on_failure, lease: 1s}", DOUBLE, OWNER | STATES},
        {"claim_without_lease", 0, OWNER | STATES | DOUBLE}, /* see unowned_records */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint32_t set = weathered(cases[i].receiver, "0s..5s", 150);
        ck_assert_msg((set & cases[i].violated) == cases[i].violated && (set & cases[i].holds) == 0,
                      "%s: %x", cases[i].receiver, (unsigned)set);
    }
}
END_TEST

Suite *keys_suite(void)
{
    Suite *s = suite_create("keys");
    TCase *t = tcase_create("store");
    tcase_add_loop_test(t, the_store_fails_once_or_twice, 0, (int)ARRAY_LEN(sound));
    tcase_add_loop_test(t, the_store_fails_behind_the_effect, 0, 3);
    suite_add_tcase(s, t);
    t = tcase_create("lease");
    tcase_add_test(t, the_last_moment_of_a_lease);
    tcase_add_test(t, a_stale_owner);
    suite_add_tcase(s, t);
    t = tcase_create("moves");
    tcase_add_loop_test(t, sound_settings_in_a_storm, 0, 6);
    tcase_add_loop_test(t, short_retention_in_a_storm, 0, 5);
    tcase_add_test(t, unsound_settings_in_a_storm);
    suite_add_tcase(s, t);
    suite_add_tcase(s, kept_keys_tests());
    return s;
}
