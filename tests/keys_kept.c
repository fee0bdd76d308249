/* How long idempotency_key and claim keep a record that is claimed first and completed later, how
 * many they keep, what stays for ever, and what they promise to the static check. */
#include "tests/probe.h"
#include "tests/replies.h"

#include "sim/cover.h"

#define JUDGED "expect: [no-lost-effect, record-states, owner-only]\n"

/* The owner is at work for 20 s. */
#define SLOW(copies)                                                                               \
    SHOP_RETRIES(CHARGE("m-77"), "after: 1h, limit: 1")                                            \
    JUDGED FAULTS("pause receiver at m-77/1 before begin 2 for 20s, " copies)

/* Answers as they are without HTTP's codes and marks, and with them. */
static void both(const char *settings, const char *lines, const char *claim, const char *key,
                 uint64_t effects)
{
    char receiver[256];
    snprintf(receiver, sizeof(receiver), "{name: mine, is: claim, %s}", settings);
    conversation_check(&(struct conversation){receiver, lines, claim, effects});
    snprintf(receiver, sizeof(receiver), "{name: mine, is: idempotency_key, marked: false, %s}",
             settings);
    conversation_check(&(struct conversation){receiver, lines, key, effects});
}

/* One minute from receipt, from completion 20 s later, from the last repeat. */
START_TEST(what_starts_the_retention)
{
    static const char again[] = "m-77/1 done #1, m-77/1.2 duplicate #1";
    static const char again_http[] = "m-77/1 200 done #1, m-77/1.2 200 duplicate #1";
    static const char twice[] = "m-77/1 done #1, m-77/1.2 done #2";
    static const char twice_http[] = "m-77/1 200 done #1, m-77/1.2 200 done #2";
    both("retention: 1m", SLOW("duplicate request m-77/1 after 59999999999ns"), again, again_http,
         1);
    both("retention: 1m", SLOW("duplicate request m-77/1 after 1m"), twice, twice_http, 2);
    both("retention: 1m, starts: completion", SLOW("duplicate request m-77/1 after 79999999999ns"),
         again, again_http, 1);
    both("retention: 1m, starts: completion", SLOW("duplicate request m-77/1 after 80s"), twice,
         twice_http, 2);
    both("retention: 1m, starts: last-seen",
         SLOW("duplicate request m-77/1 2 times after 59999999999ns"),
         "m-77/1 done #1, m-77/1.2 duplicate #1, m-77/1.3 duplicate #1",
         "m-77/1 200 done #1, m-77/1.2 200 duplicate #1, m-77/1.3 200 duplicate #1", 1);
}
END_TEST

/* A repeat that had to wait does not make the record older: the copy of 20 s stands still before it
 * looks, until the one of 40 s has been answered; at 70 s the record counts from 40 s. */
START_TEST(never_backwards)
{
    both("retention: 45s, starts: last-seen",
         SHOP_RETRIES(CHARGE("m-77"), "after: 70s, limit: 2") TWO_WORKERS JUDGED FAULTS(
             "duplicate request m-77/1 2 times after 20s, lose reply m-77/1, "
             "pause receiver at m-77/1.2 before begin for 30s, lose reply m-77/1.2, "
             "lose reply m-77/1.3"),
         "m-77/1 done #1, m-77/1.3 duplicate #1, m-77/1.2 duplicate #1, m-77/2 duplicate #1",
         "m-77/1 200 done #1, m-77/1.3 200 duplicate #1, m-77/1.2 200 duplicate #1, "
         "m-77/2 200 duplicate #1",
         1);
}
END_TEST

#define AT_ONCE(faults)                                                                            \
    SHOP_RETRIES(CHARGE("m-77"), "after: 1h, limit: 1") TWO_WORKERS JUDGED FAULTS(faults)

/* A record in progress that is over goes, whatever its lease says; its owner then commits nothing,
 * and a sweep does the same as a look-up. */
START_TEST(retention_ends_a_record_in_progress)
{
    both("retention: 1m",
         AT_ONCE("pause receiver at m-77/1 before begin 2 for 80s, "
                 "duplicate request m-77/1 after 60s"),
         "m-77/1.2 done #1, m-77/1 retry-later", "m-77/1.2 200 done #1, m-77/1 503 retry-later", 1);
    both("retention: 1m, removal: sweep, sweep: 35s",
         AT_ONCE("pause receiver at m-77/1 before begin 2 for 69s, "
                 "duplicate request m-77/1 after 80s"),
         "m-77/1 done #1, m-77/1.2 done #2", "m-77/1 200 done #1, m-77/1.2 200 done #2", 2);
    both("retention: 1m, removal: sweep, sweep: 35s",
         AT_ONCE("pause receiver at m-77/1 before begin 2 for 71s, "
                 "duplicate request m-77/1 after 80s"),
         "m-77/1 retry-later, m-77/1.2 done #2", "m-77/1 503 retry-later, m-77/1.2 200 done #2", 1);
}
END_TEST

#define TWO "{id: a, entity: e, charge: 42}, {id: b, entity: e, charge: 7, at: 5s}"

/* The oldest goes where there are too many, also if it is in progress: then its owner is told so,
 * and whoever comes for it again finds nothing. */
START_TEST(too_many_records)
{
    both("most: 2", SHOP(TWO) FAULTS("duplicate request a/1 after 8s"),
         "a/1 done #1, b/1 done #1, a/1.2 duplicate #1",
         "a/1 200 done #1, b/1 200 done #1, a/1.2 200 duplicate #1", 2);
    both("most: 1", SHOP(TWO) FAULTS("duplicate request a/1 after 8s"),
         "a/1 done #1, b/1 done #1, a/1.2 done #2",
         "a/1 200 done #1, b/1 200 done #1, a/1.2 200 done #2", 3);
    both("most: 1",
         SHOP_RETRIES(TWO, "after: 1h, limit: 1") TWO_WORKERS JUDGED FAULTS(
             "pause receiver at a/1 before begin 2 for 8s, duplicate request a/1 after 12s"),
         "b/1 done #1, a/1 retry-later, a/1.2 done #2",
         "b/1 200 done #1, a/1 503 retry-later, a/1.2 200 done #2", 2);
}
END_TEST

/* An owner dies. What its record needs to be anybody's again is a lease, or a time after which it
 * is removed. */
START_TEST(unowned_records)
{
    static const struct {
        const char *receiver;
        bool unowned;
    } cases[] = {
        {"claim_without_lease", true},
        {"claim", false},
        {"{name: mine, is: claim, lease: 0s}", false},
        {"{name: mine, is: claim, lease: 0s, removal: never}", false}, /* lapses all the same */
        {"{name: mine, is: claim, lease: 30s, retention: 0s}", false},
        {"{name: mine, is: idempotency_key, lock: 0s, retention: 0s}", true},
        {"{name: mine, is: idempotency_key, lock: 0s, removal: never}", true},
        {"{name: mine, is: idempotency_key, lock: 0s}", false},
        {"idempotency_key", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct world *w;
        struct conversation c = {.receiver = cases[i].receiver,
                                 .lines = SHOP(CHARGE("m-77"))
                                     FAULTS("crash receiver at m-77/1 before effect "
                                            "(process)") "contract: {records: 5}\nexpect: "
                                                         "bounded-records\n"};
        struct result r = conversation_play(&c, &s, &w);
        ck_assert_msg(rig_violated(&r, CHECK_BOUNDED_RECORDS) == cases[i].unowned, "%s: %s",
                      c.receiver, rig_say(&r, NULL));
        ck_assert(!cases[i].unowned || r.violations[0].reason == WHY_UNOWNED);
        conversation_end(&s, w, &r);
    }
}
END_TEST

/* Tried for 40 s, a way of 20 ms. */
START_TEST(leases_and_retries)
{
    static const struct {
        const char *receiver;
        enum cover_what what; /* that does not hold */
        bool holds;
        const char *words;
    } cases[] = {
        {"{is: claim, name: m, lease: 40s}", 0, true, ""},
        {"{is: claim, name: m, lease: 41s}", COVER_LEASE_LONG, false,
         "lower lease of m to at most 40s"},
        {"{is: claim, name: m, lease: 0s, retention: 45s}", COVER_LEASE_LONG, false,
         "lower retention of m to at most 40s"},
        {"{is: claim, name: m, lease: 0s, retention: 0s}", COVER_LEASE_LONG, false,
         "blocks its key for any time"},
        {"{is: claim, name: m, retention: 40020ms}", COVER_RETENTION, false,
         "raise retention of m"},
        {"{is: claim, name: m, retention: 40021ms}", 0, true, ""},
        {"{is: claim, name: m, retention: 1s, removal: never}", 0, true, ""},
        {"{is: claim, name: m, record: false}", COVER_RETENTION, false, "set record of m"},
        {"{is: idempotency_key, name: m, lock: 40s}", 0, true, ""},
        {"{is: idempotency_key, name: m, lock: 41s}", COVER_LEASE_LONG, false,
         "lower lock of m to at most 40s"},
        {"{is: idempotency_key, name: m, lock: 0s, retention: 45s}", COVER_LEASE_LONG, false,
         "lower retention of m to at most 40s"},
        {"{is: idempotency_key, name: m, lock: 0s, retention: 1h, removal: never}",
         COVER_LEASE_LONG, false, "blocks its key for any time"},
        {"{is: idempotency_key, name: m, lock: 40s, retention: 1s, removal: never}", 0, true, ""},
        {"{is: claim, name: m, fencing: false, lease: 1s}", COVER_LEASE_SHORT, false,
         "raise lease of m to more than 2s"},
        {"{is: claim, name: m, completion: after-effect, lease: 2s}", COVER_LEASE_SHORT, false,
         "raise lease of m to more than 2s"},
        {"{is: claim, name: m, fencing: false, lease: 3s}", 0, true, ""},
        {"{is: claim, name: m, lease: 1s}", 0, true, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct cover c;
        bool pauses = strstr(cases[i].receiver, "lease: 1s") ||
                      cases[i].what == COVER_LEASE_SHORT || strstr(cases[i].receiver, "lease: 3s");
        rig_scenario(&s,
                     "receivers: [%s]\n"
                     "network: {delay: 20ms}\n" SHOP_RETRIES(CHARGE("m-77"), "after: 20s, limit: 3")
                         FAULTS("%s"),
                     cases[i].receiver,
                     pauses ? "pause receiver at m-77/1 before effect for 2s" : "");
        cover_compute(&s, &s.receivers[0], &c);
        ck_assert_msg(c.judged && c.holds == cases[i].holds &&
                          (c.holds || c.what == cases[i].what) &&
                          strstr(c.text, cases[i].words) != NULL,
                      "%s: %s", cases[i].receiver, c.text);
        scenario_fini(&s);
    }
}
END_TEST

TCase *kept_keys_tests(void)
{
    TCase *t = tcase_create("kept");
    tcase_add_test(t, what_starts_the_retention);
    tcase_add_test(t, never_backwards);
    tcase_add_test(t, retention_ends_a_record_in_progress);
    tcase_add_test(t, too_many_records);
    tcase_add_test(t, unowned_records);
    tcase_add_test(t, leases_and_retries);
    return t;
}
