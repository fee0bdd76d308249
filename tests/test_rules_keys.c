/* Published rules of APIs with an idempotency key, one test each: Stripe v1 and v2, the IETF draft.
 *
 * Pinned: the receiver of that name answers as the rule says, code, mark and effects.
 *
 * Left open, since nothing here can show it:
 *   Stripe 1   429 and 401: there are no rate limits and no authentication
 *   Stripe 2   a saved 400 of an execution; 402 stands for it
 *   Stripe 4   another endpoint; another kind of effect stands for it
 *   Stripe 6   a 500 that leaves an effect: here effect and saved response are one transaction;
 * what is left of the rule is in rule_6 Stripe 7   DELETE; a fresh view of an object that has
 * changed since: an answer carries a receipt and no view; a failure that leaves a part done; the
 * error for what cannot be replayed any more: a key whose time is over is a new key here IETF the
 * key as a structured field; only its length is checked. That other errors than 409 are not to be
 * retried unchanged is a rule for clients
 */
#include "tests/replies.h"

/* ---- Stripe v1 ---- */

/* Rule 1: what is refused before execution saves nothing, so that the key is still new. */
START_TEST(stripe_v1_rule_1_refused_before_execution)
{
    struct conversation c = {"stripe_v1",
                             SHOP("{id: a, key: k, entity: e, charge: 42, invalid: true}"),
                             "a/1 400 refused", 0};
    struct scenario s;
    struct world *w;
    conversation_check(&c);
    struct result r = conversation_play(&c, &s, &w);
    rig_holds(w, "SELECT count(*) FROM idempotency_key", "0 ");
    conversation_end(&s, w, &r);
    c.lines = SHOP("{id: a, key: k, entity: e, charge: 42, invalid: true}, "
                   "{id: b, key: k, entity: e, charge: 7}");
    c.replies = "a/1 400 refused, b/1 200 done #1";
    c.effects = 1;
    conversation_check(&c);
}
END_TEST

/* Rule 2: the first status and response come again, marked. */
START_TEST(stripe_v1_rule_2_success_is_replayed)
{
    conversation_check(
        &(struct conversation){"stripe_v1", SHOP(CHARGE("m-77")) FAULTS("lose reply m-77/1"),
                               "m-77/1 200 done #1, m-77/2 200 duplicate #1 replayed", 1});
}
END_TEST

/* Rule 2: whatever it is, 500 too, for the life of the key. */
START_TEST(stripe_v1_rule_2_a_500_is_replayed)
{
    conversation_check(&(struct conversation){
        "stripe_v1",
        SHOP_RETRIES(CHARGE("m-77"), "after: 719m, limit: 3")
            FAULTS("handler receiver at m-77/1 after effect fails"),
        "m-77/1 500 error, m-77/2 500 error replayed, m-77/3 500 error replayed", 0});
    /* The third comes when the key's life is over. */
    conversation_check(&(struct conversation){
        "stripe_v1",
        SHOP_RETRIES(CHARGE("m-77"), "after: 721m, limit: 3")
            FAULTS("handler receiver at m-77/1 after effect fails"),
        "m-77/1 500 error, m-77/2 500 error replayed, m-77/3 200 done #2", 1});
}
END_TEST

/* Rule 2: the business's own refusal. The second time it would have agreed. */
START_TEST(stripe_v1_rule_2_a_refusal_is_replayed)
{
    conversation_check(&(struct conversation){
        "stripe_v1",
        SHOP("{id: m-77, entity: e, charge: 42, declined: 1}")
            FAULTS("duplicate request m-77/1 2 times after 3s"),
        "m-77/1 402 refused, m-77/1.2 402 refused replayed, m-77/1.3 402 refused replayed", 0});
}
END_TEST

/* Rule 3: 409 while the first runs, which is not saved. */
START_TEST(stripe_v1_rule_3_in_use)
{
    conversation_check(&(struct conversation){
        "stripe_v1",
        SHOP(CHARGE("m-77")) TWO_WORKERS FAULTS(
            "pause receiver at m-77/1 before begin 2 for 1500ms, lose reply m-77/1"),
        "m-77/2 409 retry-later, m-77/1 200 done #1, m-77/3 200 duplicate #1 replayed", 1});
}
END_TEST

/* Rule 4: other parameters under a known key, however its execution ended, or while it runs. */
START_TEST(stripe_v1_rule_4_other_parameters)
{
    conversation_check(&(struct conversation){
        "stripe_v1",
        SHOP("{id: a, key: k, entity: e, charge: 42}, {id: b, key: k, entity: e, charge: 7}, "
             "{id: c, key: k, entity: f, charge: 42}"),
        "a/1 200 done #1, b/1 400 refused, c/1 400 refused", 1});
    conversation_check(
        &(struct conversation){"stripe_v1",
                               SHOP("{id: a, key: k, entity: e, charge: 42, declined: 1}, "
                                    "{id: b, key: k, entity: e, charge: 7}"),
                               "a/1 402 refused, b/1 400 refused", 0});
    conversation_check(&(struct conversation){
        "stripe_v1",
        "senders: [{name: shop, loop: open, every: 1s, messages: "
        "[{id: a, key: k, entity: e, charge: 42}, {id: b, key: k, entity: e, charge: 7}]}]\n"
        "network: {delay: 20ms}\n" TWO_WORKERS FAULTS(
            "pause receiver at a/1 before begin 2 for 2s, lose request a/2"),
        "b/1 400 refused, a/1 200 done #1, a/3 200 duplicate #1 replayed", 1});
}
END_TEST

/* Rule 4: nor is another call the same request. The same one under that key is a repeat. */
START_TEST(stripe_v1_rule_4_another_call)
{
    conversation_check(&(struct conversation){
        "stripe_v1",
        SHOP("{id: a, key: k, entity: e, effect: {add: 42}}, "
             "{id: b, key: k, entity: e, effect: {set: 42}}, "
             "{id: c, key: k, entity: e, effect: {add: 42}}"),
        "a/1 200 done #1, b/1 400 refused, c/1 200 duplicate #1 replayed", 1});
}
END_TEST

/* Rule 5: a day, from the first receipt. */
START_TEST(stripe_v1_rule_5_a_day_from_receipt)
{
    conversation_check(&(struct conversation){
        "stripe_v1", SHOP(CHARGE("m-77")) FAULTS("duplicate request m-77/1 after 86399999999999ns"),
        "m-77/1 200 done #1, m-77/1.2 200 duplicate #1 replayed", 1});
    conversation_check(&(struct conversation){
        "stripe_v1", SHOP(CHARGE("m-77")) FAULTS("duplicate request m-77/1 after 24h"),
        "m-77/1 200 done #1, m-77/1.2 200 done #2", 2});
    /* From receipt, however late it was completed; and no repeat makes it longer. */
    conversation_check(&(struct conversation){
        "stripe_v1",
        SHOP(CHARGE("m-77")) FAULTS("pause receiver at m-77/1 before begin 2 for 1m, "
                                    "duplicate request m-77/1 2 times after 12h, "
                                    "lose request m-77/2, lose request m-77/3, "
                                    "lose request m-77/4, lose request m-77/5"),
        "m-77/1 200 done #1, m-77/1.2 200 duplicate #1 replayed, m-77/1.3 200 done #2", 2});
}
END_TEST

/* Rule 5: a day at least. What is removed by a sweep alone may stay longer. */
START_TEST(stripe_v1_rule_5_a_lower_bound)
{
    conversation_check(&(struct conversation){
        "{name: swept, is: stripe_v1, removal: sweep, sweep: 10h}",
        SHOP(CHARGE("m-77")) FAULTS("duplicate request m-77/1 2 times after 29h"),
        "m-77/1 200 done #1, m-77/1.2 200 duplicate #1 replayed, m-77/1.3 200 done #2", 2});
}
END_TEST

/* Rule 6, as far as it goes: who is told 5xx does not know. The effect is there, the response is
 * saved, and the execution fails behind that. */
START_TEST(stripe_v1_rule_6_an_error_tells_nothing)
{
    conversation_check(&(struct conversation){
        "stripe_v1", SHOP(CHARGE("m-77")) FAULTS("handler receiver at m-77/1 after commit 2 fails"),
        "m-77/1 503 retry-later, m-77/2 200 duplicate #1 replayed", 1});
}
END_TEST

/* ---- Stripe v2 ---- */

/* Rule 7: succeeded, so nothing is changed again. */
START_TEST(stripe_v2_rule_7_success)
{
    conversation_check(&(struct conversation){"stripe_v2",
                                              SHOP(CHARGE("m-77")) FAULTS("lose reply m-77/1"),
                                              "m-77/1 200 done #1, m-77/2 200 duplicate #1", 1});
}
END_TEST

/* Rule 7: failed, so it is executed again, by itself or by the business. */
START_TEST(stripe_v2_rule_7_failure)
{
    conversation_check(&(struct conversation){
        "stripe_v2", SHOP(CHARGE("m-77")) FAULTS("handler receiver at m-77/1 after effect fails"),
        "m-77/1 500 error, m-77/2 200 done #2", 1});
    conversation_check(&(struct conversation){
        "stripe_v2",
        SHOP("{id: m-77, entity: e, charge: 42, declined: 1}")
            FAULTS("duplicate request m-77/1 2 times after 3s"),
        "m-77/1 402 refused, m-77/1.2 200 done #1, m-77/1.3 200 duplicate #1", 1});
}
END_TEST

/* Rule 7: the account is part of it. */
START_TEST(stripe_v2_rule_7_account)
{
    conversation_check(&(struct conversation){
        "stripe_v2",
        "senders: [{name: shop, messages: [{id: a, key: k, entity: e, charge: 42}]}, "
        "{name: web, messages: [{id: b, key: k, entity: e, charge: 42, at: 2s}]}]\n",
        "a/1 200 done #1, b/1 200 done #1", 2});
}
END_TEST

#define V2 "{name: v2, is: stripe_v2, sweep: 30d}"

/* Rule 7: 30 days of each other, not of the first. */
START_TEST(stripe_v2_rule_7_days_of_each_other)
{
    conversation_check(&(struct conversation){
        V2, SHOP(CHARGE("m-77")) FAULTS("duplicate request m-77/1 3 times after 29d"),
        "m-77/1 200 done #1, m-77/1.2 200 duplicate #1, m-77/1.3 200 duplicate #1, "
        "m-77/1.4 200 duplicate #1",
        1});
    conversation_check(&(struct conversation){
        V2, SHOP(CHARGE("m-77")) FAULTS("duplicate request m-77/1 after 30d"),
        "m-77/1 200 done #1, m-77/1.2 200 done #2", 2});
}
END_TEST

/* Rule 7: a request that is executed again counts as one of them, too. */
START_TEST(stripe_v2_rule_7_days_after_a_failure)
{
    conversation_check(&(struct conversation){
        V2,
        SHOP("{id: m-77, entity: e, charge: 42, declined: 1}")
            FAULTS("duplicate request m-77/1 2 times after 20d"),
        "m-77/1 402 refused, m-77/1.2 200 done #1, m-77/1.3 200 duplicate #1", 1});
    conversation_check(&(struct conversation){
        V2,
        SHOP(CHARGE("m-77")) FAULTS("crash receiver at m-77/1 before effect (process), "
                                    "lose request m-77/2, lose request m-77/3, "
                                    "lose request m-77/4, lose request m-77/5, "
                                    "duplicate request m-77/1 2 times after 20d"),
        "m-77/1.2 200 done #1, m-77/1.3 200 duplicate #1", 1});
}
END_TEST

/* Rule 8: each request without a key is one of its own. */
START_TEST(stripe_v2_rule_8_without_a_key)
{
    conversation_check(
        &(struct conversation){"stripe_v2",
                               "senders: [{name: shop, keys: none, messages: [" CHARGE(
                                   "m-77") "]}]\n" FAULTS("lose reply m-77/1"),
                               "m-77/1 200 done #1, m-77/2 200 done #2", 2});
}
END_TEST

/* ---- IETF draft ---- */

START_TEST(ietf_400_without_a_key)
{
    conversation_check(&(struct conversation){
        "ietf_idempotency_key",
        "senders: [{name: shop, keys: none, messages: [" CHARGE("m-77") "]}]\n",
        "m-77/1 400 refused", 0});
}
END_TEST

/* And the same request, unchanged, has its answer later. */
START_TEST(ietf_409_while_it_runs)
{
    conversation_check(&(struct conversation){
        "ietf_idempotency_key",
        SHOP(CHARGE("m-77")) TWO_WORKERS FAULTS(
            "pause receiver at m-77/1 before begin 2 for 1500ms, lose reply m-77/1"),
        "m-77/2 409 retry-later, m-77/1 200 done #1, m-77/3 200 duplicate #1", 1});
}
END_TEST

START_TEST(ietf_422_for_another_payload)
{
    conversation_check(&(struct conversation){
        "ietf_idempotency_key",
        SHOP("{id: a, key: k, entity: e, charge: 42}, {id: b, key: k, entity: e, charge: 7}"),
        "a/1 200 done #1, b/1 422 refused", 1});
    conversation_check(
        &(struct conversation){"ietf_idempotency_key",
                               "senders: [{name: shop, body: stamped, messages: [" CHARGE(
                                   "m-77") "]}]\n" FAULTS("lose reply m-77/1"),
                               "m-77/1 200 done #1, m-77/2 422 refused", 1});
}
END_TEST

START_TEST(ietf_success_is_replayed)
{
    conversation_check(&(struct conversation){"ietf_idempotency_key",
                                              SHOP(CHARGE("m-77")) FAULTS("lose reply m-77/1"),
                                              "m-77/1 200 done #1, m-77/2 200 duplicate #1", 1});
}
END_TEST

START_TEST(ietf_error_is_replayed)
{
    conversation_check(&(struct conversation){"ietf_idempotency_key",
                                              SHOP_RETRIES(CHARGE("m-77"), "limit: 2") FAULTS(
                                                  "handler receiver at m-77/1 after effect fails"),
                                              "m-77/1 500 error, m-77/2 500 error", 0});
    conversation_check(&(struct conversation){"ietf_idempotency_key",
                                              SHOP("{id: m-77, entity: e, charge: 42, declined: 1}")
                                                  FAULTS("duplicate request m-77/1 after 3s"),
                                              "m-77/1 402 refused, m-77/1.2 402 refused", 0});
}
END_TEST

/* Neither the result nor the fingerprint of another client's. */
START_TEST(ietf_key_and_client)
{
    conversation_check(&(struct conversation){
        "ietf_idempotency_key",
        "senders: [{name: shop, messages: [{id: a, key: k, entity: e, charge: 42}]}, "
        "{name: web, messages: [{id: b, key: k, entity: e, charge: 42, at: 2s}]}, "
        "{name: app, messages: [{id: c, key: k, entity: e, charge: 7, at: 3s}]}]\n",
        "a/1 200 done #1, b/1 200 done #1, c/1 200 done #1", 3});
}
END_TEST

/* The server's published expiry. */
START_TEST(ietf_expiry)
{
    conversation_check(&(struct conversation){
        "{name: published, is: ietf_idempotency_key, retention: 1h}",
        SHOP(CHARGE("m-77")) FAULTS("duplicate request m-77/1 2 times after 30m"),
        "m-77/1 200 done #1, m-77/1.2 200 duplicate #1, m-77/1.3 200 done #2", 2});
}
END_TEST

/* ---- of all three ---- */

/* A key of 255 bytes, and one more. */
START_TEST(the_longest_key)
{
    static const char *const receivers[] = {"stripe_v1", "stripe_v2", "ietf_idempotency_key",
                                            "idempotency_key"};
    for (size_t i = 0; i < 2 * ARRAY_LEN(receivers); i++) {
        char key[257] = "", lines[512];
        memset(key, 'k', 255 + i % 2);
        snprintf(lines, sizeof(lines), SHOP("{id: a, key: %s, entity: e, charge: 42}"), key);
        conversation_check(&(struct conversation){
            receivers[i / 2], lines, i % 2 ? "a/1 400 refused" : "a/1 200 done #1", i % 2 ? 0 : 1});
    }
}
END_TEST

Suite *rules_keys_suite(void)
{
    Suite *s = suite_create("rules_keys");
    TCase *t = tcase_create("stripe_v1");
    tcase_add_test(t, stripe_v1_rule_1_refused_before_execution);
    tcase_add_test(t, stripe_v1_rule_2_success_is_replayed);
    tcase_add_test(t, stripe_v1_rule_2_a_500_is_replayed);
    tcase_add_test(t, stripe_v1_rule_2_a_refusal_is_replayed);
    tcase_add_test(t, stripe_v1_rule_3_in_use);
    tcase_add_test(t, stripe_v1_rule_4_other_parameters);
    tcase_add_test(t, stripe_v1_rule_4_another_call);
    tcase_add_test(t, stripe_v1_rule_5_a_day_from_receipt);
    tcase_add_test(t, stripe_v1_rule_5_a_lower_bound);
    tcase_add_test(t, stripe_v1_rule_6_an_error_tells_nothing);
    suite_add_tcase(s, t);
    t = tcase_create("stripe_v2");
    tcase_add_test(t, stripe_v2_rule_7_success);
    tcase_add_test(t, stripe_v2_rule_7_failure);
    tcase_add_test(t, stripe_v2_rule_7_account);
    tcase_add_test(t, stripe_v2_rule_7_days_of_each_other);
    tcase_add_test(t, stripe_v2_rule_7_days_after_a_failure);
    tcase_add_test(t, stripe_v2_rule_8_without_a_key);
    suite_add_tcase(s, t);
    t = tcase_create("ietf");
    tcase_add_test(t, ietf_400_without_a_key);
    tcase_add_test(t, ietf_409_while_it_runs);
    tcase_add_test(t, ietf_422_for_another_payload);
    tcase_add_test(t, ietf_success_is_replayed);
    tcase_add_test(t, ietf_error_is_replayed);
    tcase_add_test(t, ietf_key_and_client);
    tcase_add_test(t, ietf_expiry);
    tcase_add_test(t, the_longest_key);
    suite_add_tcase(s, t);
    suite_add_tcase(s, rules_claim_tests());
    return s;
}
