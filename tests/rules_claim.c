/* Published rules of AWS Lambda Powertools' idempotency, and those of rocket-rides-atomic on its
 * lock, one test each.
 *
 * Pinned: the preset `powertools` answers and executes as the rule says, where the rule lets an
 * effect happen twice too; `idempotency_key` locks and unlocks as rocket-rides-atomic does.
 *
 * Left open, since nothing here can show it:
 *   Powertools 1  a key made of selected fields; the whole payload is `id: body`. The warning
 *   Powertools 2  whole seconds of one expiry, milliseconds of the other, and that the very moment
 *                 is still inside: here all is in ns, and at that moment the time is over
 *   Powertools 3  an item that expires between the put and the read, and the three tries that
 * follow: here both are one transaction Powertools 7  the local cache is not built. It only saves
 * look-ups: its answers are those of the store, but for a record that was removed or deleted
 * meanwhile rocket 1      409 for other parameters, which is 400 or 422 here; serializable phases
 * and their recovery points: here an execution is one transaction rocket 2      409 for a
 * serialization failure, which is 503 here; that a retry resumes at a point
 */
#include "tests/replies.h"

#include "tests/probe.h"

#define STATES CHECK_BIT(CHECK_RECORD_STATES)
#define OWNER CHECK_BIT(CHECK_OWNER_ONLY)
#define DOUBLE CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)

/* Each answer and each check that is violated. */
static void judged(const struct conversation *c, uint32_t checks)
{
    struct scenario s;
    struct world *w;
    char lines[4096];
    snprintf(lines, sizeof(lines), "%sexpect: [no-double-effect, record-states, owner-only]\n",
             c->lines);
    struct conversation with = *c;
    with.lines = lines;
    conversation_check(&with);
    struct result r = conversation_play(&with, &s, &w);
    ck_assert_msg(violated(&r) == checks, "%s: %s", lines, rig_say(&r, NULL));
    conversation_end(&s, w, &r);
}

/* ---- Powertools ---- */

#define NO_KEYS "senders: [{name: shop, keys: none, messages: [" CHARGE("m-77") "]}]\n"

/* Rule 1: no key, no protection; unless it is to be an error. */
START_TEST(powertools_rule_1_without_a_key)
{
    conversation_check(&(struct conversation){"powertools", NO_KEYS FAULTS("lose reply m-77/1"),
                                              "m-77/1 done #1, m-77/2 done #2", 2});
    conversation_check(&(struct conversation){"{name: strict, is: powertools, key_needed: true}",
                                              NO_KEYS, "m-77/1 refused", 0});
}
END_TEST

/* Rule 1: the key is of the whole function, whoever calls it, and may be the whole event. */
START_TEST(powertools_rule_1_what_the_key_is)
{
    conversation_check(&(struct conversation){
        "powertools",
        "senders: [{name: shop, messages: [{id: a, key: k, entity: e, charge: 42}]}, "
        "{name: web, messages: [{id: b, key: k, entity: e, charge: 42, at: 2s}]}]\n",
        "a/1 done #1, b/1 duplicate #1", 1});
    conversation_check(&(struct conversation){
        "{name: event, is: powertools, id: body}",
        SHOP("{id: a, entity: e, charge: 42}, {id: b, entity: e, charge: 42}, "
             "{id: c, entity: e, charge: 7}"),
        "a/1 done #1, b/1 duplicate #1, c/1 done #1", 2});
    conversation_check(
        &(struct conversation){"{name: event, is: powertools, id: body}",
                               "senders: [{name: shop, body: stamped, messages: [" CHARGE(
                                   "m-77") "]}]\n" FAULTS("lose reply m-77/1"),
                               "m-77/1 done #1, m-77/2 done #2", 2});
}
END_TEST

/* Rule 2: the put succeeds where there is no item; where it has expired; where its lease has. */
START_TEST(powertools_rule_2_expired)
{
    conversation_check(&(struct conversation){
        "powertools", SHOP(CHARGE("m-77")) FAULTS("duplicate request m-77/1 after 3599999999999ns"),
        "m-77/1 done #1, m-77/1.2 duplicate #1", 1});
    conversation_check(&(struct conversation){
        "powertools", SHOP(CHARGE("m-77")) FAULTS("duplicate request m-77/1 after 1h"),
        "m-77/1 done #1, m-77/1.2 done #2", 2});
}
END_TEST

START_TEST(powertools_rule_2_lapsed)
{
    conversation_check(
        &(struct conversation){"powertools",
                               SHOP_RETRIES(CHARGE("m-77"), "after: 14s")
                                   FAULTS("crash receiver at m-77/1 before effect (process)"),
                               "m-77/2 retry-later, m-77/3 retry-later, m-77/4 done #1", 1});
}
END_TEST

/* Rule 2: by the clock of who comes. */
START_TEST(powertools_rule_2_whose_clock)
{
    conversation_check(&(struct conversation){
        "powertools",
        SHOP(CHARGE("m-77")) FAULTS(
            "crash receiver at m-77/1 before effect (process), clock receiver +31s at 1500ms"),
        "m-77/2 done #1", 1});
}
END_TEST

/* Rule 3: in progress, come back; completed, the saved response. */
START_TEST(powertools_rule_3_in_progress_or_completed)
{
    conversation_check(&(struct conversation){
        "powertools",
        SHOP(CHARGE("m-77")) TWO_WORKERS FAULTS(
            "pause receiver at m-77/1 before begin 2 for 1500ms, lose reply m-77/1"),
        "m-77/2 retry-later, m-77/1 done #1, m-77/3 duplicate #1", 1});
}
END_TEST

/* Rule 3: with validation, another payload is refused, whatever the record's state. */
START_TEST(powertools_rule_3_payload)
{
    static const char receiver[] = "{name: validates, is: powertools, payload: checked}";
    static const char two[] =
        "senders: [{name: shop, loop: open, every: 1s, retry: {after: 8s}, messages: "
        "[{id: a, key: k, entity: e, charge: 42}, {id: b, key: k, entity: e, charge: 7}]}]\n";
    char lines[1024];
    conversation_check(&(struct conversation){receiver, two, "a/1 done #1, b/1 refused", 1});
    snprintf(lines, sizeof(lines), "%s" TWO_WORKERS "%s", two,
             FAULTS("pause receiver at a/1 before begin 2 for 5s"));
    conversation_check(&(struct conversation){receiver, lines, "b/1 refused, a/1 done #1", 1});
    conversation_check(
        &(struct conversation){"powertools", two, "a/1 done #1, b/1 duplicate #1", 1});
}
END_TEST

/* Rule 4: a run that has died blocks its key until the lease is over; without one, for the whole
 * expiry. Reported as #1038, and as #4759 where no time left was taken for no known time. */
START_TEST(powertools_rule_4_a_dead_run)
{
    conversation_check(
        &(struct conversation){"{name: unknown, is: powertools, lease: 0s}",
                               SHOP_RETRIES(CHARGE("m-77"), "after: 29m, limit: 4")
                                   FAULTS("crash receiver at m-77/1 before effect (process)"),
                               "m-77/2 retry-later, m-77/3 retry-later, m-77/4 done #1", 1});
    conversation_check(
        &(struct conversation){"powertools",
                               SHOP_RETRIES(CHARGE("m-77"), "after: 29m, limit: 4")
                                   FAULTS("crash receiver at m-77/1 before effect (process)"),
                               "m-77/2 done #1", 1});
}
END_TEST

/* Rule 5: a success starts the expiry anew. */
START_TEST(powertools_rule_5_expiry_from_completion)
{
    conversation_check(
        &(struct conversation){"powertools",
                               SHOP_RETRIES(CHARGE("m-77"), "limit: 1")
                                   FAULTS("pause receiver at m-77/1 before begin 2 for 20s, "
                                          "duplicate request m-77/1 after 3610s"),
                               "m-77/1 done #1, m-77/1.2 duplicate #1", 1});
    conversation_check(
        &(struct conversation){"powertools",
                               SHOP_RETRIES(CHARGE("m-77"), "limit: 1")
                                   FAULTS("pause receiver at m-77/1 before begin 2 for 20s, "
                                          "duplicate request m-77/1 after 3620s"),
                               "m-77/1 done #1, m-77/1.2 done #2", 2});
}
END_TEST

/* Rule 5: an exception deletes the record, whatever was done by then. */
START_TEST(powertools_rule_5_an_exception)
{
    conversation_check(&(struct conversation){
        "powertools", SHOP(CHARGE("m-77")) FAULTS("handler receiver at m-77/1 after effect fails"),
        "m-77/1 error, m-77/2 done #2", 1});
    conversation_check(&(struct conversation){
        "powertools",
        SHOP(CHARGE("m-77")) FAULTS("handler receiver at m-77/1 after commit 2 fails"),
        "m-77/1 error, m-77/2 done #2", 2});
}
END_TEST

#define OVERRUN(retry, faults)                                                                     \
    SHOP_RETRIES(CHARGE("m-77"), retry)                                                            \
    TWO_WORKERS FAULTS("pause receiver at m-77/1 before begin 2 for 45s, " faults)

/* Rule 5: neither of the two asks who owns the record. An overrun completes its successor's. */
START_TEST(powertools_rule_5_an_overrun_completes)
{
    judged(&(struct conversation){"powertools",
                                  OVERRUN("after: 31s, limit: 3",
                                          "pause receiver at m-77/2 before begin 2 for 20s"),
                                  "m-77/1 done #1, m-77/2 done #2", 2},
           DOUBLE | STATES | OWNER);
}
END_TEST

/* Rule 5: or deletes it, and a third one executes beside the second. */
START_TEST(powertools_rule_5_an_overrun_deletes)
{
    judged(&(struct conversation){"powertools",
                                  OVERRUN("after: 31s, limit: 3",
                                          "pause receiver at m-77/2 before begin 2 for 40s, "
                                          "handler receiver at m-77/1 after effect fails"),
                                  "m-77/1 error, m-77/3 done #2, m-77/2 done #3", 2},
           DOUBLE | STATES | OWNER);
}
END_TEST

/* Rule 5: unconditional also where the successor has deleted it. */
START_TEST(powertools_rule_5_an_overrun_completes_nothing)
{
    judged(
        &(struct conversation){
            "powertools",
            OVERRUN("after: 31s, limit: 3",
                    "handler receiver at m-77/2 after effect fails, lose reply m-77/1"),
            "m-77/2 error, m-77/1 done #2, m-77/3 duplicate #2", 1},
        STATES | OWNER);
}
END_TEST

/* Rule 6: the effect is there, its success is not saved, the caller gets an error. The record stays
 * in progress, and when it has lapsed the effect is repeated. */
START_TEST(powertools_rule_6_success_not_saved)
{
    conversation_check(
        &(struct conversation){"powertools",
                               SHOP_RETRIES(CHARGE("m-77"), "after: 20s")
                                   FAULTS("store receiver at m-77/1 record 2 (not applied)"),
                               "m-77/1 error, m-77/2 retry-later, m-77/3 done #2", 2});
}
END_TEST

/* Reported as #8049, and called no bug: a time-out behind the effect, and the lease is over. */
START_TEST(powertools_effects_repeated_after_a_time_out)
{
    conversation_check(
        &(struct conversation){"powertools",
                               SHOP_RETRIES(CHARGE("m-77"), "after: 20s")
                                   FAULTS("crash receiver at m-77/1 before begin 3 (process)"),
                               "m-77/2 retry-later, m-77/3 done #2", 2});
    conversation_check(&(struct conversation){
        "{name: unknown, is: powertools, lease: 0s}",
        SHOP_RETRIES(CHARGE("m-77"), "after: 20s")
            FAULTS("crash receiver at m-77/1 before begin 3 (process)"),
        "m-77/2 retry-later, m-77/3 retry-later, m-77/4 retry-later, m-77/5 retry-later", 1});
}
END_TEST

/* ---- rocket-rides-atomic ---- */

#define LOCKED(after)                                                                              \
    SHOP_RETRIES(CHARGE("m-77"), "limit: 1")                                                       \
    TWO_WORKERS FAULTS("pause receiver at m-77/1 before begin 2 for 2m, duplicate request m-77/1 " \
                       "after " after)

/* Rule 1: locked less than 90 s ago is a conflict; else the lock is the next one's, and what the
 * overrun one would commit is not. */
START_TEST(rocket_rule_1_lock)
{
    conversation_check(&(struct conversation){"idempotency_key", LOCKED("89999999999ns"),
                                              "m-77/1.2 409 retry-later, m-77/1 200 done #1", 1});
    conversation_check(&(struct conversation){"idempotency_key", LOCKED("90s"),
                                              "m-77/1.2 200 done #1, m-77/1 503 retry-later", 1});
}
END_TEST

/* Rule 2: an error unlocks the key; nobody waits for 90 s. */
START_TEST(rocket_rule_2_an_error_unlocks)
{
    conversation_check(&(struct conversation){
        "idempotency_key",
        SHOP(CHARGE("m-77")) FAULTS("handler receiver at m-77/1 after effect fails"),
        "m-77/1 500 error, m-77/2 200 done #2", 1});
    conversation_check(&(struct conversation){
        "idempotency_key", SHOP(CHARGE("m-77")) FAULTS("store receiver at m-77/1 effect (busy)"),
        "m-77/1 503 retry-later, m-77/2 200 done #1", 1});
}
END_TEST

/* Rule 2, the other way: who dies unlocks nothing. */
START_TEST(rocket_rule_2_a_death_does_not)
{
    conversation_check(&(struct conversation){
        "idempotency_key",
        SHOP_RETRIES(CHARGE("m-77"), "after: 40s")
            FAULTS("crash receiver at m-77/1 before effect (process)"),
        "m-77/2 409 retry-later, m-77/3 409 retry-later, m-77/4 200 done #1", 1});
}
END_TEST

TCase *rules_claim_tests(void)
{
    TCase *t = tcase_create("claim");
    tcase_add_test(t, powertools_rule_1_without_a_key);
    tcase_add_test(t, powertools_rule_1_what_the_key_is);
    tcase_add_test(t, powertools_rule_2_expired);
    tcase_add_test(t, powertools_rule_2_lapsed);
    tcase_add_test(t, powertools_rule_2_whose_clock);
    tcase_add_test(t, powertools_rule_3_in_progress_or_completed);
    tcase_add_test(t, powertools_rule_3_payload);
    tcase_add_test(t, powertools_rule_4_a_dead_run);
    tcase_add_test(t, powertools_rule_5_expiry_from_completion);
    tcase_add_test(t, powertools_rule_5_an_exception);
    tcase_add_test(t, powertools_rule_5_an_overrun_completes);
    tcase_add_test(t, powertools_rule_5_an_overrun_deletes);
    tcase_add_test(t, powertools_rule_5_an_overrun_completes_nothing);
    tcase_add_test(t, powertools_rule_6_success_not_saved);
    tcase_add_test(t, powertools_effects_repeated_after_a_time_out);
    tcase_add_test(t, rocket_rule_1_lock);
    tcase_add_test(t, rocket_rule_2_an_error_unlocks);
    tcase_add_test(t, rocket_rule_2_a_death_does_not);
    return t;
}
