/* The contract's window: what comes after it is late, what comes inside is a second effect.
 *
 * Pinned: the boundary to the nanosecond, both meanings of `late`, several effects of which some
 * are late, the count of late effects after every crash in either handling, the window that begins
 * anew where a crash took the first effect, responses that are saved for a time, and that the
 * contract changes no history.
 *
 * Left open: whether a receiver's own window is the contract's (scenarios/, test_receivers).
 */
#include "tests/court.h"
#include "tests/world_rig.h"

#include "receivers/receiver.h"
#include "reports/compare.h"
#include "sim/scenario_print.h"

#include <jansson.h>
#include <stdlib.h>

#define DOUBLE CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)
#define SAME CHECK_BIT(CHECK_SAME_REPLY)

/* One message that arrives at 1.050 s, its copy that much later. */
static void one_message(struct scenario *s, const char *receiver, const char *contract,
                        const char *fault)
{
    rig_scenario(s,
                 "receivers: [%s]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [{id: m-77, entity: order-1042, charge: 4200}]\n"
                 "network: {delay: 50ms}\n"
                 "%s\n"
                 "faults: [%s]\n"
                 "faults_until: 3h\n",
                 receiver, contract, fault);
}

static uint32_t violated(const struct result *r)
{
    uint32_t set = 0;
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        set |= r->violated[c] > 0 ? CHECK_BIT(c) : 0;
    }
    return set;
}

#define ALLOWED "contract: {window: 5m}"
#define FORBIDDEN "contract: {window: 5m, late: forbidden}"

START_TEST(inside_and_outside_of_the_window)
{
    static const struct {
        const char *contract, *fault;
        bool convicted;
        uint64_t effects, late;
    } cases[] = {
        {ALLOWED, "duplicate request m-77/1 after 299s", true, 2, 0},
        {ALLOWED, "duplicate request m-77/1 after 299999999999ns", true, 2, 0},
        {ALLOWED, "duplicate request m-77/1 after 5m", false, 2, 1},
        {ALLOWED, "duplicate request m-77/1 after 301s", false, 2, 1},
        {"contract: {window: 5m, late: allowed}", "duplicate request m-77/1 after 301s", false, 2,
         1},
        {FORBIDDEN, "duplicate request m-77/1 after 299s", true, 2, 0},
        {FORBIDDEN, "duplicate request m-77/1 after 5m", true, 2, 1},
        {FORBIDDEN, "duplicate request m-77/1 after 301s", true, 2, 1},
        {"contract: {no_give_up: true}", "duplicate request m-77/1 after 301s", true, 2, 0},
        {"contract: {window: 1ns}", "duplicate request m-77/1 after 0s", true, 2, 0},
        {"contract: {window: 1ns}", "duplicate request m-77/1 after 1ns", false, 2, 1},
        /* several: only those inside count, besides the first */
        {ALLOWED, "duplicate request m-77/1 2 times after 299s", true, 3, 1},
        {ALLOWED, "duplicate request m-77/1 2 times after 149s", true, 3, 0},
        {ALLOWED, "duplicate request m-77/1 2 times after 5m", false, 3, 2},
        {FORBIDDEN, "duplicate request m-77/1 2 times after 5m", true, 3, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        one_message(&s, "naive", cases[i].contract, cases[i].fault);
        struct result r = rig_once(&s, "naive", 1);
        ck_assert_msg(violated(&r) == (cases[i].convicted ? DOUBLE : 0), "case %zu: %s", i,
                      rig_say(&r, NULL));
        ck_assert_int_eq(r.verdict, cases[i].convicted ? VERDICT_FAIL : VERDICT_PASS);
        ck_assert_uint_eq(r.late, cases[i].late);
        ck_assert_uint_eq(r.effects, cases[i].effects);
        ck_assert_uint_eq(r.beyond, cases[i].effects - 1);
        ck_assert_uint_eq(r.doubled, 1); /* DSEVR says nothing of contracts */
        ck_assert_uint_eq(r.with_effect, 1);
        ck_assert_uint_eq(r.repeated, 1);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* A duplicate that waits: its age is that of its arrival, on the world's clock. */
START_TEST(the_age_is_that_of_the_arrival)
{
    static const struct {
        const char *faults;
        uint32_t violated;
        uint64_t late;
    } cases[] = {
        {"duplicate request m-77/1 after 299s, pause receiver at m-77/1.2 before effect for 1h",
         DOUBLE, 0},
        {"duplicate request m-77/1 after 301s, pause receiver at m-77/1.2 before effect for 1h", 0,
         1},
        /* the window begins with the first arrival, not when that was handled */
        {"duplicate request m-77/1 after 301s, pause receiver at m-77/1 before effect for 1h, "
         "lose request m-77/2, lose request m-77/3, lose request m-77/4, lose request m-77/5",
         0, 1},
        {"duplicate request m-77/1 after 299s, clock receiver +3s at 10s", DOUBLE, 0},
        {"duplicate request m-77/1 after 301s, clock receiver -3s at 10s", 0, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        one_message(&s, "naive", ALLOWED, cases[i].faults);
        struct result r = rig_once(&s, "naive", 1);
        ck_assert_msg(violated(&r) == cases[i].violated && r.late == cases[i].late, "case %zu: %s",
                      i, rig_say(&r, NULL));
        ck_assert_int_ne(r.verdict, VERDICT_UNFIRED);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* Every crash in the handling of the copy: whatever the disk keeps, the second effect is late. */
START_TEST(crashes_in_a_late_handling)
{
    for (int inside = 0; inside < 2; inside++) {
        struct scenario s;
        one_message(&s, "naive", ALLOWED, "lose reply m-77/5");
        struct world *w = rig_world(&s, "naive");
        struct fault faults[2] = {
            rig_fault(&s, "duplicate request m-77/1 after %s", inside ? "299s" : "5m")};
        struct rig_sites sites = {.kind = FAULT_CRASH}, second = {.kind = FAULT_CRASH};
        struct result r = rig_collect(w, 1, faults, 1, &sites);
        result_fini(&r);
        ck_assert(rig_handling(&sites, 1, &second));
        unsigned effects[3] = {0};
        for (size_t i = 0; i < second.count; i++) {
            for (size_t v = 0; v < rig_crash_values(3); v++) {
                faults[1] = rig_crash_at(&second.list[i], v, 3);
                r = rig_play(w, 1, faults, 2);
                ck_assert_uint_ge(r.effects, 1);
                ck_assert_uint_le(r.effects, 2);
                effects[r.effects]++;
                bool doubled = r.beyond > 0;
                expect(r.late == (inside ? 0 : r.beyond));
                ck_assert_msg(violated(&r) == (inside && doubled ? DOUBLE : 0), "%s",
                              rig_say(&r, &faults[1]));
                result_fini(&r);
            }
        }
        ck_assert_uint_gt(effects[1], 9);
        ck_assert_uint_gt(effects[2], 9);
        rig_sites_fini(&sites);
        rig_sites_fini(&second);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* The first effect may be lost with the power. Then attempt 2 makes it at 2.050 s, and a copy of
 * attempt 1 that arrives at 301.050 s is 299 s old, not 5 minutes. */
START_TEST(a_lost_first_effect_opens_no_window)
{
    struct scenario s;
    one_message(&s, "naive", ALLOWED, "lose reply m-77/5");
    struct world *w = rig_world(&s, "naive");
    struct fault faults[2] = {rig_fault(&s, "duplicate request m-77/1 after 5m")};
    struct rig_sites sites = {.kind = FAULT_CRASH}, first = {.kind = FAULT_CRASH};
    struct result r = rig_collect(w, 1, faults, 1, &sites);
    result_fini(&r);
    ck_assert(rig_handling(&sites, 0, &first));
    unsigned lost = 0, kept = 0;
    for (size_t i = 0; i < first.count; i++) {
        for (size_t v = 0; v < rig_crash_values(3); v++) {
            faults[1] = rig_crash_at(&first.list[i], v, 3);
            r = rig_play(w, 1, faults, 2);
            /* Without a reply there is attempt 2: it doubles an effect that was kept. */
            if (r.effects == 3) {
                kept++;
                expect(r.late == 1 && violated(&r) == DOUBLE);
            } else if (r.attempts == 2) {
                lost++;
                expect(r.effects == 2 && r.late == 0 && violated(&r) == DOUBLE);
            } else {
                expect(r.effects == 2 && r.late == 1 && violated(&r) == 0);
            }
            result_fini(&r);
        }
    }
    ck_assert_uint_gt(lost, 9);
    ck_assert_uint_gt(kept, 9);
    rig_sites_fini(&sites);
    rig_sites_fini(&first);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* ---- saved responses ---- */

enum { LOOK_UP, SAVE };

static const struct statement statements[] = {
    {"SELECT at, receipt FROM saved WHERE id = ?1", "look for response"},
    {"INSERT OR REPLACE INTO saved(id, at, receipt) VALUES(?1, ?2, ?3)", "save response"},
    {NULL, NULL},
};

/* Forgets after five minutes of its own clock; `wrong` repeats the effect's receipt wrongly. */
static void answer(struct handling *h, bool wrong)
{
    int64_t now = (int64_t)handling_now(h);
    begin_immediate(h);
    if (sql(h, STEP_LOOK_UP, LOOK_UP, "t", handling_key(h)) == ROW &&
        now - handling_column_int(h, 0) < (int64_t)(300 * SIM_S)) {
        int64_t receipt = handling_column_int(h, 1);
        rollback(h);
        reply(h, REPLY_DONE, wrong ? 0 : receipt);
        return;
    }
    apply_effect(h);
    sql(h, STEP_RECORD, SAVE, "tii", handling_key(h), now, handling_receipt(h));
    commit(h);
    reply(h, REPLY_DONE, handling_receipt(h));
}

static void saves(struct handling *h)
{
    answer(h, false);
}

static void saves_wrongly(struct handling *h)
{
    answer(h, true);
}

START_TEST(saved_responses_end_with_the_window)
{
    static const struct {
        void (*handle)(struct handling *h);
        const char *contract, *fault;
        uint32_t violated;
        uint64_t late;
    } cases[] = {
        {saves, ALLOWED, "duplicate request m-77/1 after 299s", 0, 0},
        {saves, ALLOWED, "duplicate request m-77/1 after 5m", 0, 1},
        /* handled anew at 5 and 10 minutes */
        {saves, ALLOWED, "duplicate request m-77/1 4 times after 150s", 0, 2},
        {saves, FORBIDDEN, "duplicate request m-77/1 after 5m", DOUBLE | SAME, 1},
        {saves, FORBIDDEN, "duplicate request m-77/1 after 299s", 0, 0},
        {saves, "contract: {window: 6m}", "duplicate request m-77/1 after 5m", DOUBLE | SAME, 0},
        {saves, "contract: {window: 4m}", "duplicate request m-77/1 after 270s", 0, 0},
        {saves_wrongly, ALLOWED, "duplicate request m-77/1 after 299s", SAME, 0},
        {saves_wrongly, ALLOWED, "duplicate request m-77/1 after 5m", 0, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct receiver own = {
            .name = "own",
            .about = "of a test",
            .source = "a test",
            .schema = "CREATE TABLE saved(id TEXT PRIMARY KEY, at INTEGER, receipt INTEGER)"
                      " WITHOUT ROWID;",
            .statements = statements,
            .steps = STEPS_EVERY,
            .saves_responses = true,
            .handle = cases[i].handle,
        };
        one_message(&s, "naive", cases[i].contract, cases[i].fault);
        s.receivers[0].code = &own;
        struct result r = rig_once(&s, "naive", 1);
        ck_assert_msg(violated(&r) == cases[i].violated && r.late == cases[i].late, "case %zu: %s",
                      i, rig_say(&r, NULL));
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* ---- many operations, and what else must be as it was ---- */

START_TEST(slots_that_are_used_again)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [naive]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    workload: {count: 400, entities: 7}\n"
                     "    loop: open\n"
                     "    rate: 20/s\n"
                     "network: {duplicate: 1/2, duplicate_after: 0s..2s}\n"
                     "contract: {window: 1s}\n");
    struct world *w = rig_world(&s, "naive");
    struct result a = rig_play_kept(w, 3), b = rig_play_kept(w, 3), c = rig_once(&s, "naive", 3);
    ck_assert_uint_lt(a.slots, 200);
    ck_assert_uint_gt(a.late, 40);
    ck_assert_uint_lt(a.late, a.beyond - 40);
    /* One copy each, so an operation's second effect is either late or a violation. */
    ck_assert_uint_eq(a.violated[CHECK_NO_DOUBLE_EFFECT] + a.late, a.beyond);
    ck_assert(violated(&a) == DOUBLE);
    ck_assert(a.late == b.late && a.history_hash == b.history_hash);
    ck_assert(a.late == c.late && a.history_hash == c.history_hash);
    result_fini(&a);
    result_fini(&b);
    result_fini(&c);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* The contract judges; it changes nothing that happens. */
START_TEST(a_window_changes_no_history)
{
    static const char *const contracts[] = {"", ALLOWED, FORBIDDEN};
    uint64_t hash[ARRAY_LEN(contracts)];
    for (size_t i = 0; i < ARRAY_LEN(contracts); i++) {
        struct scenario s;
        one_message(&s, "table", contracts[i],
                    "duplicate request m-77/1 after 301s, crash receiver at m-77/1.2 after begin");
        struct result r = rig_once(&s, "table", 1);
        ck_assert(violated(&r) == 0 && r.late == 0);
        hash[i] = r.history_hash;
        result_fini(&r);
        scenario_fini(&s);
    }
    ck_assert(hash[0] == hash[1] && hash[0] == hash[2]);
}
END_TEST

START_TEST(contracts_are_read_and_written)
{
    static const struct {
        const char *contract, *written;
        uint64_t window;
        bool late_forbidden, no_give_up;
    } cases[] = {
        {"", NULL, 0, false, false},
        {"contract: {}", NULL, 0, false, false},
        {"contract: {no_give_up: true}", "contract: {no_give_up: true}\n", 0, false, true},
        {ALLOWED, ALLOWED "\n", 300 * SIM_S, false, false},
        {FORBIDDEN, FORBIDDEN "\n", 300 * SIM_S, true, false},
        {"contract: {late: allowed, window: 90s}", "contract: {window: 90s}\n", 90 * SIM_S, false,
         false},
        {"contract: {late: forbidden, no_give_up: true, window: 1ns}",
         "contract: {no_give_up: true, window: 1ns, late: forbidden}\n", 1, true, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        one_message(&s, "naive", cases[i].contract, "lose request m-77/1");
        ck_assert_uint_eq(s.window, cases[i].window);
        ck_assert(s.late_forbidden == cases[i].late_forbidden);
        ck_assert(s.no_give_up == cases[i].no_give_up);
        char *text = scenario_print_text(&s);
        const char *place = strstr(text, "contract");
        ck_assert((place == NULL) == (cases[i].written == NULL));
        if (place != NULL) {
            ck_assert_int_eq(strncmp(place, cases[i].written, strlen(cases[i].written)), 0);
        }
        free(text);
        scenario_fini(&s);
    }
}
END_TEST

/* No duplicate, no test of a window; a late one is a duplicate. */
START_TEST(a_window_without_duplicates_is_vacuous)
{
    static const char *const faults[] = {"delay request m-77/1 by 1ms",
                                         "duplicate request m-77/1 after 301s"};
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct scenario s;
        one_message(&s, "naive", ALLOWED, faults[i]);
        struct result r = rig_once(&s, "naive", 1);
        ck_assert_int_eq(r.verdict, i == 0 ? VERDICT_VACUOUS : VERDICT_PASS);
        ck_assert_uint_eq(r.duplicates, i);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(a_violation_says_what_was_late)
{
    static const char *const cases[][3] = {
        {ALLOWED, "duplicate request m-77/1 after 299s",
         "order-1042 charged 2 times: m-77/1 at 1.050 s, m-77/1.2 at 300.050 s; shop believes m-77 "
         "done once"},
        {ALLOWED, "duplicate request m-77/1 2 times after 299s",
         "order-1042 charged 3 times: m-77/1 at 1.050 s, m-77/1.2 at 300.050 s, and 1 more (1 "
         "late); shop believes m-77 done once"},
        {FORBIDDEN, "duplicate request m-77/1 after 5m",
         "order-1042 charged 2 times: m-77/1 at 1.050 s, m-77/1.2 at 301.050 s (1 late, which the "
         "contract forbids); shop believes m-77 done once"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        char text[VIOLATION_TEXT];
        one_message(&s, "naive", cases[i][0], cases[i][1]);
        struct result r = rig_once(&s, "naive", 1);
        ck_assert_uint_eq(r.violation_count, 1);
        violation_text(&s, &r.violations[0], text, sizeof(text));
        ck_assert_str_eq(text, cases[i][2]);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* Text that a format makes of one run; free by the caller. */
static char *told(const struct format *f, const struct result *r)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    void *state = f->begin(out, &(struct format_plan){0});
    f->result(state, r);
    f->group_end(state);
    f->end(state, &(struct tally){.runs = 1});
    fclose(out);
    return text;
}

/* How many effects were late: in a line for people only where some were, in JSON always. */
START_TEST(late_effects_are_told)
{
    static const char *const cases[][2] = {
        {"duplicate request m-77/1 after 299s", "2 effects, DSEVR 100.00%\n"},
        {"duplicate request m-77/1 after 5m", "2 effects, 1 late effect, DSEVR 100.00%\n"},
        {"duplicate request m-77/1 2 times after 5m", "3 effects, 2 late effects, DSEVR 100.00%\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        one_message(&s, "naive", ALLOWED, cases[i][0]);
        struct result r = rig_once(&s, "naive", 1);
        char *text = told(&format_text, &r), *json = told(&format_json, &r);
        ck_assert_msg(strstr(text, cases[i][1]) != NULL, "%s", text);
        json_t *o = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
        ck_assert(json_is_integer(json_object_get(o, "late")));
        ck_assert_int_eq(json_integer_value(json_object_get(o, "late")), (json_int_t)i);
        json_decref(o);
        free(text);
        free(json);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(late_effects_are_compared)
{
    struct column columns[] = {{.receiver = "table", .sums.beyond_one = 7},
                               {.receiver = "naive", .sums.beyond_one = 9, .sums.late = 8}};
    struct comparison c = {.columns = columns, .column_count = ARRAY_LEN(columns)};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    summary_print(out, &c, &(struct tally){0}, false);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "\n| effects beyond one | 7 | 9 |\n"
                                       "| late effects | 0 | 8 |\n"));
    free(text);
}
END_TEST

/* ---- audits, by hand ---- */

START_TEST(audits_keep_late_effects_late)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    contract(&c, 100, false);
    struct operation *a = operation(&c, 1, 0, 5);
    effect(&c, a); /* at 10 */
    ck_assert_uint_eq(a->accepted_at, 10);
    c.run.now = 110;
    effect(&c, a);
    ck_assert_uint_eq(a->effects_late, 1);
    audit(&c, true);
    audit(&c, true);
    ck_assert(a->effects == 2 && a->effects_late == 1 && a->accepted_at == 10);
    effect(&c, a);
    verdict_audit_begin(&c.v, &c.ops);
    verdict_audit_row(&c.v, &c.ops, c.rows[2].row, c.rows[2].op, 0, 5);
    verdict_audit_corrupt(&c.v); /* and so not ended */
    c.row_count = 2;
    c.balance[0] -= 5;
    audit(&c, true); /* what the one before has found is forgotten */
    ck_assert(a->effects == 2 && a->effects_late == 1);
    closes(&c, a, BELIEF_DONE, false);
    run_ends(&c);
    ck_assert(c.v.late == 2 && c.v.beyond == 2 && c.v.doubled == 1);
    ruled(&c, CHECK_BIT(CHECK_STATE_MATCHES_EFFECTS)); /* of the corrupt one */

    /* A commit that was cut off: only the audit finds it. */
    for (int forbidden = 0; forbidden < 2; forbidden++) {
        court_open(&c, CHECKS_EXACTLY_ONCE, false);
        contract(&c, 100, false);
        a = operation(&c, 1, 0, 5);
        effect(&c, a);
        c.run.now = 500;
        effect(&c, a);
        a->effects = 1;
        a->effects_late = a->late_ever = 0;
        contract(&c, 100, forbidden == 1);
        audit(&c, true);
        ck_assert(a->effects == 2 && a->effects_late == 1);
        closes(&c, a, BELIEF_DONE, false);
        run_ends(&c);
        ck_assert_uint_eq(c.v.late, 1);
        ruled(&c, forbidden ? DOUBLE : 0);
    }
}
END_TEST

/* What is lost no longer counts: not as first, not as late. */
START_TEST(effects_that_are_lost)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    contract(&c, 100, false);
    struct operation *a = operation(&c, 1, 0, 5);
    effect(&c, a); /* at 10 */
    c.run.now = 300;
    effect(&c, a); /* late */
    lose(&c, a);
    audit(&c, true);
    ck_assert(a->effects == 0 && a->effects_late == 0 && a->late_ever == 1);
    c.run.now = 400;
    effect(&c, a); /* the first there is */
    ck_assert(a->accepted_at == 400 && a->effects_late == 0);
    c.run.now = 500;
    effect(&c, a); /* late again */
    audit(&c, true);
    ck_assert(a->effects == 2 && a->effects_late == 1 && a->accepted_at == 400);
    ck_assert_uint_eq(c.v.kept, 0);
    c.run.now = 450; /* arrived then, committed now */
    effect(&c, a);
    closes(&c, a, BELIEF_DONE, false);
    run_ends(&c);
    ck_assert(c.v.late == 1 && c.v.beyond == 2);
    ruled(&c, DOUBLE);

    /* The first is lost and the late one is not: it is the first now. */
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    contract(&c, 100, true);
    a = operation(&c, 1, 0, 5);
    effect(&c, a);
    lose(&c, a);
    c.run.now = 300;
    a->effects = 0; /* nobody has heard of the loss but this test */
    a->effects_ever = 0;
    effect(&c, a);
    a->accepted_at = 10;
    audit(&c, true);
    ck_assert(a->effects == 1 && a->effects_late == 0 && a->accepted_at == 300);
    closes(&c, a, BELIEF_DONE, false);
    run_ends(&c);
    ck_assert_uint_eq(c.v.late, 0);
    ruled(&c, 0);
}
END_TEST

Suite *late_suite(void)
{
    Suite *s = suite_create("late");
    TCase *t = tcase_create("late");
    tcase_add_test(t, inside_and_outside_of_the_window);
    tcase_add_test(t, the_age_is_that_of_the_arrival);
    tcase_add_test(t, crashes_in_a_late_handling);
    tcase_add_test(t, a_lost_first_effect_opens_no_window);
    tcase_add_test(t, saved_responses_end_with_the_window);
    tcase_add_test(t, slots_that_are_used_again);
    tcase_add_test(t, a_window_changes_no_history);
    tcase_add_test(t, contracts_are_read_and_written);
    tcase_add_test(t, a_window_without_duplicates_is_vacuous);
    tcase_add_test(t, a_violation_says_what_was_late);
    tcase_add_test(t, late_effects_are_told);
    tcase_add_test(t, late_effects_are_compared);
    tcase_add_test(t, audits_keep_late_effects_late);
    tcase_add_test(t, effects_that_are_lost);
    suite_add_tcase(s, t);
    return s;
}
