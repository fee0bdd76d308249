/* What a message may be: keys, bodies, groups, numbers and times, as a receiver reads them.
 *
 * Pinned: each policy of a sender in each attempt, with the longest names; versions, numbers,
 * validity and times; what a client has the answers to; each effect and what the judge makes of it;
 * that diagrams show HTTP's status codes.
 *
 * Left open: what receivers make of groups, versions and acknowledgements (their own tests).
 */
#include "tests/probe.h"

#include "reports/story.h"
#include "sim/clock.h"
#include "sim/host.h"

#include <inttypes.h>

#define M77 "{id: m-77, entity: order-1042, charge: 4200}"

START_TEST(each_policy_in_each_attempt)
{
    static const struct {
        const char *policy, *message;
        const char *key[2], *group[2], *body[2];
    } cases[] = {
        {"",
         M77,
         {"m-77", "m-77"},
         {"order-1042", "order-1042"},
         {"add 4200 to order-1042", "add 4200 to order-1042"}},
        {"    keys: stable\n    body: stable\n    groups: stable\n",
         "{id: m-77, key: k-1, group: g, entity: e, effect: {set: 7}}",
         {"k-1", "k-1"},
         {"g", "g"},
         {"set e to 7", "set e to 7"}},
        {"    keys: new-per-attempt\n",
         "{id: m-77, key: k-1, entity: e, effect: {create: 1}}",
         {"k-1", "k-1~2"},
         {"e", "e"},
         {"create 1 of e", "create 1 of e"}},
        {"    keys: per-entity\n",
         "{id: m-77, key: k-1, entity: e, effect: {insert: 5}}",
         {"e", "e"},
         {"e", "e"},
         {"insert e with 5", "insert e with 5"}},
        {"    keys: none\n    body: stamped\n",
         M77,
         {"", ""},
         {"order-1042", "order-1042"},
         {"add 4200 to order-1042, attempt 1", "add 4200 to order-1042, attempt 2"}},
        {"    groups: new-per-attempt\n",
         M77,
         {"m-77", "m-77"},
         {"order-1042", "order-1042~2"},
         {"add 4200 to order-1042", "add 4200 to order-1042"}},
        {"    groups: new-per-attempt\n",
         "{id: m-77, group: g, entity: e, charge: 1}",
         {"m-77", "m-77"},
         {"g", "g~2"},
         {"add 1 to e", "add 1 to e"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct receiver code;
        shop(&s, cases[i].policy, cases[i].message, "lose reply m-77/1");
        struct world *w = probed(&s, &code, probe_table);
        struct result r = rig_play_kept(w, 1);
        ck_assert_uint_eq(seen_count, 2);
        for (int n = 0; n < 2; n++) {
            ck_assert_str_eq(seen[n].key, cases[i].key[n]);
            ck_assert_str_eq(seen[n].group, cases[i].group[n]);
            ck_assert_str_eq(seen[n].body, cases[i].body[n]);
        }
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* Nothing is cut: the longest key, group, entity, amount and attempt. */
static const char *longest_name(const void *names, uint32_t entity, char *out)
{
    (void)entity;
    (void)out;
    return names;
}

START_TEST(the_longest_texts)
{
    static char key[KEY_LISTED], name[NAME_BYTES], want[BODY_MAX + 1];
    static struct worker worker;
    static struct host host;
    memset(key, 'k', sizeof(key) - 1);
    memset(name, 'n', sizeof(name) - 1);
    host.names = name;
    host.entity_name = longest_name;
    struct sender_config c = {.keys = KEYS_NEW_PER_ATTEMPT, .stamped = true, .group_changes = true};
    struct operation op = {.sender = &c, .amount = INT64_MIN, .group = name};
    memcpy(op.key, key, sizeof(key));
    struct handling h = {.op = &op,
                         .worker = &worker,
                         .host = &host,
                         .message = {.op = op_make(PLACE_SENDER, 1), .attempt = UINT16_MAX}};
    snprintf(want, sizeof(want), "%s~65535", key);
    ck_assert_str_eq(handling_key(&h), want);
    snprintf(want, sizeof(want), "%s~65535", name);
    ck_assert_str_eq(handling_group(&h), want);
    op.effect = EFFECT_CREATE;
    snprintf(want, sizeof(want), "create %" PRId64 " of %s, attempt 65535", op.amount, name);
    ck_assert_str_eq(handling_body(&h), want);
    op.effect = EFFECT_INSERT;
    snprintf(want, sizeof(want), "insert %s with %" PRId64 ", attempt 65535", name, op.amount);
    ck_assert_str_eq(handling_body(&h), want);
}
END_TEST

START_TEST(versions_numbers_and_validity)
{
    struct scenario s;
    struct receiver code;
    shop(&s, "",
         "{id: a, entity: e, charge: 1}, {id: b, entity: e, charge: 1, version: 1000000000}, "
         "{id: c, entity: e, charge: 1, invalid: true}",
         "");
    struct world *w = probed(&s, &code, probe_table);
    struct result r = rig_play_kept(w, 1);
    ck_assert_uint_eq(seen_count, 3);
    for (int64_t n = 1; n <= 3; n++) {
        const struct seen *one = &seen[n - 1];
        ck_assert_int_eq(one->number, n);
        ck_assert_int_eq(one->acknowledged, n - 1);
        ck_assert_int_eq(one->version, n == 2 ? 1000000000 : n);
        ck_assert_int_eq(one->valid, n != 3);
    }
    ck_assert_uint_eq(r.effects, 2);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* By the sender's clock at the first send, in every attempt. */
START_TEST(when_it_was_made)
{
    static const struct {
        const char *clock, *fault;
        int64_t off; /* of the second message, sent at 11 s, against true time */
    } cases[] = {
        {"", "lose reply a/1", 0},
        {"hosts: {shop: {clock: {offset: -3s}}}", "lose reply a/1", -3 * (int64_t)SIM_S},
        {"hosts: {shop: {clock: {drift: 100ppm}}}", "lose reply a/1", 1100 * (int64_t)SIM_US},
        {"", "clock shop +7s at 5s", 7 * (int64_t)SIM_S},
        {"", "clock shop drift +1000ppm at 6s", 5 * (int64_t)SIM_MS},
        {"hosts: {shop: {clock: {offset: +1s}}}", "clock receiver +7s at 5s", (int64_t)SIM_S},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct receiver code;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: a, entity: e, charge: 1}, "
                     "{id: b, entity: e, charge: 1, at: 11s}]\n"
                     "network: {delay: 50ms}\n%s\n"
                     "faults: [%s, lose reply b/1]\n",
                     cases[i].clock, cases[i].fault);
        struct world *w = probed(&s, &code, probe_table);
        struct result r = rig_play_kept(w, 1);
        ck_assert_uint_ge(seen_count, 3);
        for (size_t n = seen_count - 2; n < seen_count; n++) {
            ck_assert_int_eq(seen[n].number, 2);
            ck_assert_int_eq(seen[n].made_at, (int64_t)(CLOCK_EPOCH + 11 * SIM_S) + cases[i].off);
        }
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* ---- HTTP in diagrams ---- */

static void answers_as_http(struct handling *h)
{
    look(h);
    if (seen_count == 1) {
        reply_http(h, REPLY_RETRY_LATER, 0, 409, false);
    } else if (apply_effect(h) == OK) {
        reply_http(h, REPLY_DONE, handling_receipt(h), 200, true);
    }
}

static unsigned labelled(const struct story *story, const char *label)
{
    unsigned n = 0;
    for (size_t i = 0; i < story->count; i++) {
        n += strcmp(story->moves[i].label, label) == 0;
    }
    return n;
}

START_TEST(diagrams_show_status_codes)
{
    struct scenario s;
    struct receiver code;
    struct story story;
    size_t count;
    shop(&s, "", M77, "delay reply m-77/2 by 500ms");
    struct world *w = probed(&s, &code, answers_as_http);
    struct result r = rig_play_kept(w, 1);
    const struct record *records = world_history(w, &count);
    story_make(&story, &r, records, count, 0, 1000);
    ck_assert_uint_eq(labelled(&story, "409 retry-later m-77/1"), 1);
    ck_assert_uint_eq(labelled(&story, "200 done m-77/2, replayed"), 2); /* leaves, arrives */
    story_fini(&story);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *messages_suite(void)
{
    Suite *s = suite_create("messages");
    TCase *t = tcase_create("messages");
    tcase_add_test(t, each_policy_in_each_attempt);
    tcase_add_test(t, the_longest_texts);
    tcase_add_test(t, versions_numbers_and_validity);
    tcase_add_test(t, when_it_was_made);
    tcase_add_test(t, diagrams_show_status_codes);
    suite_add_tcase(s, t);
    suite_add_tcase(s, acknowledged_tests());
    suite_add_tcase(s, effect_tests());
    return s;
}
