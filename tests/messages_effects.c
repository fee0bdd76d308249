/* What messages ask for: add, set, create, insert, and a business that declines.
 *
 * Pinned: what the judge makes of each on receivers with a memory and without; that a set which
 * changes nothing is not lost however its handling dies, and that another can be; that a refused
 * insert and a declined execution leave the transaction as it was; that balances are the sums of
 * effects whatever is lost, copied and crashed.
 */
#include "tests/court.h"
#include "tests/probe.h"

#include <inttypes.h>

#define DOUBLE CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)
#define LOST CHECK_BIT(CHECK_NO_LOST_EFFECT)
#define SAME CHECK_BIT(CHECK_SAME_REPLY)
#define PROGRESS CHECK_BIT(CHECK_PROGRESS)
#define STATE CHECK_BIT(CHECK_STATE_MATCHES_EFFECTS)
#define DURABLE CHECK_BIT(CHECK_ACK_IMPLIES_DURABLE)

START_TEST(each_effect_on_right_and_wrong)
{
    static const struct {
        const char *receiver, *messages, *faults;
        uint64_t effects;
        uint32_t violated;
    } cases[] = {
        {"naive", "{id: m-77, entity: e, effect: {add: 5}}", "lose reply m-77/1", 2, DOUBLE},
        {"naive", "{id: m-77, entity: e, effect: {create: 5}}", "lose reply m-77/1", 2, DOUBLE},
        {"naive", "{id: m-77, entity: e, effect: {set: 5}}", "lose reply m-77/1", 1, 0},
        {"table", "{id: m-77, entity: e, effect: {set: 5}}", "lose reply m-77/1", 1, 0},
        {"table", "{id: m-77, entity: e, effect: {create: 5}}", "lose reply m-77/1", 1, SAME},
        {"table", "{id: m-77, entity: e, effect: {create: 5}}", "", 1, 0},
        {"naive", "{id: m-77, entity: e, effect: {insert: 5}}", "lose reply m-77/1", 1, PROGRESS},
        {"table", "{id: m-77, entity: e, effect: {insert: 5}}", "lose reply m-77/1", 1, 0},
        /* the second sets what is there: done, without an effect, and nothing is lost */
        {"table", "{id: m-77, entity: e, effect: {set: 5}}, {id: b, entity: e, effect: {set: 5}}",
         "lose reply b/1", 1, 0},
        {"naive", "{id: m-77, entity: e, effect: {set: 5}}, {id: b, entity: e, effect: {set: 5}}",
         "crash receiver at b/1 after commit (power none)", 1, 0},
        /* less than before, and there and back again */
        {"naive", "{id: m-77, entity: e, effect: {set: 9}}, {id: b, entity: e, effect: {set: 5}}",
         "duplicate request m-77/1 after 500ms", 3, DOUBLE},
        {"table",
         "{id: m-77, entity: e, effect: {add: 9}}, {id: b, entity: e, effect: {set: 5}}, "
         "{id: c, entity: e, effect: {add: 2}}",
         "duplicate request m-77/1 after 500ms", 3, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [table, naive]\n"
                     "senders: [{name: shop, messages: [%s]}]\n"
                     "network: {delay: 50ms}\n"
                     "contract: {no_give_up: true}\n"
                     "faults: [%s]\n",
                     cases[i].messages, cases[i].faults);
        struct result r = rig_once(&s, cases[i].receiver, 1);
        ck_assert_msg(r.effects == cases[i].effects && violated(&r) == cases[i].violated,
                      "case %zu: %s, %" PRIu64 " effects", i, rig_say(&r, NULL), r.effects);
        ck_assert_uint_gt(r.judged[CHECK_STATE_MATCHES_EFFECTS], 0);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* Sets of one value: the second changes nothing, and however it dies it is not lost. */
START_TEST(crashes_around_a_set_that_changes_nothing)
{
    struct scenario s;
    shop(&s, "",
         "{id: m-77, entity: e, effect: {set: 5}}, {id: b, entity: e, effect: {set: 5}, at: 2s}",
         "");
    static const char *const receivers[] = {"table", "naive"};
    for (size_t i = 0; i < ARRAY_LEN(receivers); i++) {
        struct world *w = rig_world(&s, receivers[i]);
        struct rig_sites sites = {.kind = FAULT_CRASH};
        struct result r = rig_collect(w, 1, NULL, 0, &sites);
        result_fini(&r);
        ck_assert_uint_gt(sites.count, 20);
        for (size_t n = 0; n < sites.count; n++) {
            for (size_t v = 0; v < rig_crash_values(3); v++) {
                struct fault f = rig_crash_at(&sites.list[n], v, 3);
                r = rig_play(w, 1, &f, 1);
                ck_assert_msg(violated(&r) == 0 && r.effects == 1, "%s", rig_say(&r, &f));
                result_fini(&r);
            }
        }
        rig_sites_fini(&sites);
        world_free(w);
    }
    scenario_fini(&s);
}
END_TEST

/* One that answers before it commits does lose a set: the crash takes it, and nobody sets again. */
START_TEST(a_set_can_be_lost)
{
    struct scenario s;
    shop(&s, "", "{id: m-77, entity: e, effect: {set: 5}}",
         "crash receiver at m-77/1 before commit (process)");
    struct result r = rig_once(&s, "ack_first", 1);
    ck_assert_uint_eq(violated(&r), LOST | DURABLE);
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

/* A repeat that finds the operation's own value does not hide that a crash takes it. */
START_TEST(a_repeated_set_can_be_lost)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [naive]\n"
                     "senders: [{name: shop, messages: [{id: m-77, entity: e, effect: {set: 5}}, "
                     "{id: b, entity: f, charge: 1, at: 4s}]}]\n"
                     "network: {delay: 50ms}\n"
                     "database: {synchronous: off}\n"
                     "faults: [duplicate request m-77/1 after 1s, "
                     "crash receiver at b/1 after begin (power none)]\n");
    struct result r = rig_once(&s, "naive", 1);
    ck_assert_msg((violated(&r) & (LOST | DURABLE)) == (LOST | DURABLE), "%s", rig_say(&r, NULL));
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

/* Answers done after it has rolled back a set that changed nothing. */
static void sets_without_commit(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    o = o == OK ? effect_noted(h) : o;
    o = o == OK && handling_receipt(h) != 0 ? commit(h) : o;
    o = o == OK ? rollback(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

START_TEST(a_set_that_is_only_answered)
{
    struct scenario s;
    struct receiver code;
    shop(&s, "", "{id: m-77, entity: e, effect: {set: 5}}, {id: b, entity: e, effect: {set: 5}}",
         "crash receiver at b/1 after reply (power none)");
    struct world *w = probed(&s, &code, sets_without_commit);
    struct result r = rig_play_kept(w, 1);
    ck_assert_msg(violated(&r) == 0, "%s", rig_say(&r, NULL));
    ck_assert_uint_eq(r.effects, 1);
    ck_assert_uint_eq(r.operations, 2);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Tries to insert, and goes on in the same transaction where the entity is there. */
static void inserts_or_notes(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    o = o == OK ? sql(h, STEP_RECORD, 0, "t", handling_key(h)) : o;
    o = o == OK ? effect_noted(h) : o;
    o = o == CONSTRAINT ? OK : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

START_TEST(a_refused_insert_leaves_the_transaction)
{
    struct scenario s;
    struct receiver code;
    shop(&s, "",
         "{id: m-77, entity: e, effect: {insert: 5}}, {id: b, entity: e, effect: {insert: 6}}", "");
    struct world *w = probed(&s, &code, inserts_or_notes);
    struct result r = rig_play_kept(w, 1);
    ck_assert_uint_eq(outcome_count, 2);
    ck_assert_int_eq(outcomes[0], OK);
    ck_assert_int_eq(outcomes[1], CONSTRAINT);
    ck_assert_uint_eq(rig_count(w, RECORD_COMMITTED), 2); /* b's id, without an effect */
    ck_assert_uint_eq(rig_count(w, RECORD_ROLLED_BACK), 0);
    ck_assert_uint_eq(r.effects, 1);
    ck_assert_uint_eq(violated(&r), LOST); /* b was told that it is done */
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* ---- the business declines ---- */

static void asks_again(struct handling *h)
{
    look(h);
    enum outcome o = begin_immediate(h);
    o = o == OK ? effect_noted(h) : o;
    if (o == DECLINED) { /* the transaction is still open */
        o = commit(h);
        if (o == OK) {
            reply(h, REPLY_RETRY_LATER, 0);
            return;
        }
    }
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

/* Without a transaction of its own. */
static void asks_alone(struct handling *h)
{
    enum outcome o = effect_noted(h);
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

START_TEST(declined_so_many_times)
{
    static const struct {
        const char *message, *fault;
        void (*handle)(struct handling *h);
        unsigned executions, declined;
        uint64_t effects, commits;
    } cases[] = {
        {"declined: 2", "", asks_again, 3, 2, 1, 3},
        {"declined: 0", "", asks_again, 1, 0, 1, 1},
        {"invalid: true", "", asks_again, 5, 5, 0, 5},
        {"invalid: true, declined: 1", "", asks_again, 5, 5, 0, 5},
        {"declined: 1", "", asks_alone, 1, 1, 0, 0}, /* refused is final */
        {"declined: 0", "", asks_alone, 1, 0, 1, 1},
        /* what never reached the store is no execution; what did is one, whatever it said */
        {"declined: 2", "store receiver at m-77/1 effect (not applied)", asks_again, 4, 2, 1, 3},
        {"declined: 2", "store receiver at m-77/1 effect (applied)", asks_again, 3, 1, 1, 2},
        {"declined: 2", "store receiver at m-77/1 effect (busy)", asks_again, 4, 2, 1, 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct receiver code;
        char message[200];
        snprintf(message, sizeof(message), "{id: m-77, entity: e, charge: 5, %s}",
                 cases[i].message);
        shop(&s, "", message, cases[i].fault);
        struct world *w = probed(&s, &code, cases[i].handle);
        struct result r = rig_play_kept(w, 1);
        unsigned declined = 0;
        for (size_t n = 0; n < outcome_count; n++) {
            declined += outcomes[n] == DECLINED;
        }
        ck_assert_msg(outcome_count == cases[i].executions && declined == cases[i].declined &&
                          r.effects == cases[i].effects &&
                          rig_count(w, RECORD_COMMITTED) == cases[i].commits,
                      "case %zu: %zu executions, %u declined, %zu commits, %s", i, outcome_count,
                      declined, rig_count(w, RECORD_COMMITTED), rig_say(&r, NULL));
        ck_assert_uint_eq(violated(&r), 0);
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* ---- the judge ---- */

START_TEST(a_create_needs_its_receipt)
{
    static const struct {
        uint8_t effect;
        enum reply_status status;
        bool own, late, forbidden, violates;
    } cases[] = {
        {EFFECT_CREATE, REPLY_DONE, true, false, false, false},
        {EFFECT_CREATE, REPLY_DONE, false, false, false, true},
        {EFFECT_CREATE, REPLY_DUPLICATE, false, false, false, true},
        {EFFECT_CREATE, REPLY_DUPLICATE, false, true, false, false},
        {EFFECT_CREATE, REPLY_DUPLICATE, false, true, true, true},
        {EFFECT_CREATE, REPLY_ERROR, false, false, false, false},
        {EFFECT_CREATE, REPLY_RETRY_LATER, false, false, false, false},
        {EFFECT_ADD, REPLY_DUPLICATE, false, false, false, false},
        {EFFECT_SET, REPLY_DONE, false, false, false, false},
        {EFFECT_INSERT, REPLY_DONE, false, false, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct court c;
        court_open(&c, CHECKS_EXACTLY_ONCE, false);
        contract(&c, cases[i].late || cases[i].forbidden ? 5 : 0, cases[i].forbidden);
        struct operation *op = operation(&c, 1, 0, 5);
        op->effect = cases[i].effect;
        effect(&c, op);
        c.run.now += cases[i].late ? 10 : 0;
        replies(&c, op, cases[i].status, cases[i].own ? receipt_make(op->op, 1) : 0);
        closes(&c, op, BELIEF_DONE, false);
        run_ends(&c);
        if (cases[i].violates) {
            is_violation(&c.v.violations[0], CHECK_SAME_REPLY, WHY_NO_RECEIPT, op, 0, 0);
        }
        ruled(&c, cases[i].violates ? SAME : 0);
    }
}
END_TEST

START_TEST(words_fit_the_effect)
{
    static const struct {
        const char *effect, *text;
    } cases[] = {
        {"add: 1", "e charged 2 times: m-77/1 at 1.050 s, m-77/2 at 2.050 s; "
                   "shop believes m-77 done once"},
        {"set: 1", "e set 2 times: m-77/1 at 1.050 s, m-77/2 at 2.050 s; "
                   "shop believes m-77 done once"},
        {"create: 1", "e created 2 times: m-77/1 at 1.050 s, m-77/2 at 2.050 s; "
                      "shop believes m-77 done once"},
        {"insert: 1", "e inserted 2 times: m-77/1 at 1.050 s, m-77/2 at 2.050 s; "
                      "shop believes m-77 done once"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        char message[100], text[VIOLATION_TEXT];
        snprintf(message, sizeof(message), "{id: m-77, entity: e, effect: {%s}}", cases[i].effect);
        shop(&s, "", message, "lose reply m-77/1");
        struct violation v = {.check = CHECK_NO_DOUBLE_EFFECT,
                              .reason = WHY_EFFECTS,
                              .op = op_make(PLACE_SENDER, 1),
                              .a = 2,
                              .testimony = {.belief = BELIEF_DONE,
                                            .closed = true,
                                            .effects = {{SIM_START + 50 * SIM_MS, 1, 1},
                                                        {SIM_START + 1050 * SIM_MS, 2, 1}}}};
        violation_text(&s, &v, text, sizeof(text));
        ck_assert_str_eq(text, cases[i].text);
        scenario_fini(&s);
    }
}
END_TEST

/* Whatever is sent, lost, copied and crashed: balances are the sums of effects, and the table keeps
 * its word. Inserts that are refused end in an error, which may be given up. */
START_TEST(balances_over_random_mixes)
{
    static const char *const databases[] = {"{journal: truncate}", "{journal: wal}",
                                            "{journal: delete, synchronous: extra}",
                                            "{journal: wal, page_size: 512}"};
    uint64_t effects = 0, operations = 0, crashes = 0;
    struct scenario s;
    rig_scenario(
        &s,
        "receivers: [table, naive]\n"
        "senders:\n"
        "  - {name: set, workload: {count: 12, entities: 2, charge: 1..3, effect: set},"
        " in_flight: 3}\n"
        "  - {name: ins, workload: {count: 8, entities: 4, charge: 1..3, effect: insert},"
        " in_flight: 2, retry: {limit: 3}}\n"
        "  - {name: new, workload: {count: 5, entities: 2, effect: create}}\n"
        "  - name: mix\n"
        "    messages:\n"
        "      - {id: a, entity: set-entity-1, charge: 2}\n"
        "      - {id: b, entity: set-entity-1, effect: {set: 2}}\n"
        "      - {id: c, entity: ins-entity-1, effect: {set: 3}}\n"
        "      - {id: d, entity: ins-entity-2, charge: 1, invalid: true}\n"
        "    in_flight: 2\n"
        "network: {delay: 5ms..60ms, lose: 1/12, duplicate: 1/8, duplicate_after: 0s..2s}\n"
        "hosts: {receiver: {workers: 2, crash: 1/400, power: 1/400, store: 1/60,"
        " handler: 1/80, pause: 1/80, pause_for: 0s..2s}}\n"
        "database: %s\n",
        databases[_i]);
    for (size_t n = 0; n < s.receiver_count; n++) {
        struct world *w = rig_world(&s, s.receivers[n].name);
        for (uint64_t seed = 1; seed <= 50; seed++) {
            struct play p = {.seed = seed};
            struct result r;
            world_play(w, &p, &r);
            expect(r.judged[CHECK_STATE_MATCHES_EFFECTS] > 0);
            uint32_t never = n == 0 ? ~SAME : STATE | LOST | DURABLE;
            ck_assert_msg((violated(&r) & never) == 0, "%s, seed %" PRIu64, rig_say(&r, NULL),
                          seed);
            effects += r.effects;
            operations += r.operations;
            crashes += r.crashes;
            result_fini(&r);
        }
        world_free(w);
    }
    ck_assert_uint_gt(effects, operations / 4);
    ck_assert_uint_gt(crashes, 50);
    scenario_fini(&s);
}
END_TEST

/* One that tries its transaction again in the same handling: what was rolled back counts nowhere.
 */
START_TEST(balances_over_second_transactions)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [blind_retry]\n"
                     "senders:\n"
                     "  - {name: add, workload: {count: 100, entities: 2, charge: 3..9}}\n"
                     "faults: [store receiver at add-1/1 commit (not applied)]\n"
                     "hosts: {receiver: {store: 1/10}}\n");
    struct result r = rig_once(&s, "blind_retry", 1);
    ck_assert_msg(!rig_violated(&r, CHECK_STATE_MATCHES_EFFECTS), "%s", rig_say(&r, NULL));
    ck_assert_uint_gt(r.judged[CHECK_STATE_MATCHES_EFFECTS], 0);
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

TCase *effect_tests(void)
{
    TCase *t = tcase_create("effects");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, each_effect_on_right_and_wrong);
    tcase_add_test(t, crashes_around_a_set_that_changes_nothing);
    tcase_add_test(t, a_set_can_be_lost);
    tcase_add_test(t, a_repeated_set_can_be_lost);
    tcase_add_test(t, a_set_that_is_only_answered);
    tcase_add_test(t, a_refused_insert_leaves_the_transaction);
    tcase_add_test(t, declined_so_many_times);
    tcase_add_test(t, a_create_needs_its_receipt);
    tcase_add_test(t, words_fit_the_effect);
    tcase_add_test(t, balances_over_second_transactions);
    tcase_add_loop_test(t, balances_over_random_mixes, 0, 4);
    return t;
}
