/* Receivers of the test's own, most of them wrong in one way each.
 *
 * Pinned: each check that a receiver can violate is violated by the one that is made for it, and no
 * other check is; the violation names operation and reason. What the world tells a handler (its
 * clock, a lock that it cannot get) is so. A handler that does not end ends the program with status
 * 3 and its name; a schema that SQLite refuses is said.
 *
 * Left open: histories that no receiver here makes (test_verdict).
 */
#include "tests/world_rig.h"

#include "receivers/receiver.h"
#include "sim/clock.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- receivers that are wrong in one way ---- */

static void charge(struct handling *h)
{
    begin_immediate(h);
    apply_effect(h);
    commit(h);
}

static void merges(struct handling *h)
{
    reply(h, REPLY_DUPLICATE, 0);
}

/* Takes the entity for the key: two operations on one entity become one. */
static void merges_by_entity(struct handling *h)
{
    begin_immediate(h);
    if (sql(h, STEP_RECORD, 0, "t", handling_entity(h)) == CONSTRAINT) {
        rollback(h);
        reply(h, REPLY_DUPLICATE, 0);
        return;
    }
    apply_effect(h);
    commit(h);
    reply(h, REPLY_DONE, handling_receipt(h));
}

/* One response for all. */
static void replies_foreign(struct handling *h)
{
    static int64_t first;
    charge(h);
    first = first ? first : handling_receipt(h);
    reply(h, REPLY_DONE, first);
}

static void acks_early(struct handling *h)
{
    begin_immediate(h);
    apply_effect(h);
    reply(h, REPLY_DONE, handling_receipt(h));
    commit(h);
}

static void refuses_repeats(struct handling *h)
{
    begin_immediate(h);
    if (sql(h, STEP_RECORD, 0, "t", handling_key(h)) == CONSTRAINT) {
        rollback(h);
        reply(h, REPLY_REFUSED, 0);
        return;
    }
    apply_effect(h);
    commit(h);
    reply(h, REPLY_DONE, handling_receipt(h));
}

static void never_replies(struct handling *h)
{
    charge(h);
}

static void charges_and_refuses(struct handling *h)
{
    charge(h);
    reply(h, REPLY_REFUSED, 0);
}

static void does_nothing(struct handling *h)
{
    reply(h, REPLY_DONE, 0);
}

static void charges_past_the_ledger(struct handling *h)
{
    charge(h);
    sql(h, STEP_RELEASE, 1, "t", handling_entity(h));
    reply(h, REPLY_DONE, handling_receipt(h));
}

static void fresh_response(struct handling *h)
{
    begin_immediate(h);
    if (sql(h, STEP_RECORD, 0, "t", handling_key(h)) == CONSTRAINT) {
        rollback(h);
        reply(h, REPLY_DONE, 0);
        return;
    }
    apply_effect(h);
    commit(h);
    reply(h, REPLY_DONE, handling_receipt(h));
}

/* Leaves its transaction to whoever comes next. */
static void leaves_open(struct handling *h)
{
    if (begin_immediate(h) != OK) {
        reply(h, REPLY_REFUSED, 0);
        return;
    }
    apply_effect(h);
    reply(h, REPLY_DONE, handling_receipt(h));
}

/* Takes an error of COMMIT for one that can be mended by another COMMIT. */
static void commits_twice(struct handling *h)
{
    begin_immediate(h);
    apply_effect(h);
    if (commit(h) != OK) {
        commit(h);
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

/* Reads first and writes later, in one transaction that began as a reader. */
static void upgrades(struct handling *h)
{
    enum outcome o = begin_deferred(h);
    o = o == OK ? sql(h, STEP_LOOK_UP, 2, "t", handling_key(h)) : o;
    o = o == OK ? work(h, STEP_CLAIM, SIM_S) : o;
    o = o == OK ? sql(h, STEP_RECORD, 0, "t", handling_key(h)) : o;
    o = o == OK ? work(h, STEP_ACK, SIM_S) : o;
    o = o == OK ? apply_effect(h) : o;
    o = o == OK ? commit(h) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

static uint64_t clock_shown[2];

static void looks_at_the_clock(struct handling *h)
{
    clock_shown[handling_amount(h) - 5] = handling_now(h);
    charge(h);
    reply(h, REPLY_DONE, handling_receipt(h));
}

static void never_ends(struct handling *h)
{
    while (apply_effect(h) != OK) {
    }
    for (;;) { /* takes death for trouble that will pass */
        if (commit(h) == OK) {
            break;
        }
    }
    reply(h, REPLY_DONE, 0);
}

static void calls_for_ever(struct handling *h)
{
    for (;;) {
        rollback(h);
    }
}

static const struct statement statements[] = {
    {"INSERT INTO seen(id) VALUES(?1)", "insert id"},
    {"UPDATE entity SET balance = balance + 1 WHERE id = ?1", "one more"},
    {"SELECT 1 FROM seen WHERE id = ?1", "look for id"},
    {NULL, NULL},
};

static struct receiver wrong(void (*handle)(struct handling *h))
{
    return (struct receiver){
        .name = "wrong-one",
        .about = "of a test",
        .source = "wrong on purpose",
        .schema = "CREATE TABLE seen(id TEXT PRIMARY KEY) WITHOUT ROWID;",
        .statements = statements,
        .steps = STEPS_EVERY,
        .handle = handle,
    };
}

static void two_messages(struct scenario *s, const char *rest)
{
    rig_scenario(s,
                 "receivers: [table]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages:\n"
                 "      - {id: m-1, entity: box, charge: 5}\n"
                 "      - {id: m-2, entity: box, charge: 6}\n"
                 "    retry: {limit: 3}\n"
                 "network: {delay: 10ms}\n"
                 "%s",
                 rest);
}

/* Exactly these checks are violated by a receiver in a scenario. Result_fini by the caller. */
static struct result convict(const struct receiver *code, const char *rest, uint32_t checks)
{
    static struct scenario s; /* stays for the result */
    two_messages(&s, rest);
    s.receivers[0].code = code;
    struct result r = rig_once(&s, "table", 1);
    ck_assert_int_eq(r.error, SIM_OK);
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        ck_assert_msg(rig_violated(&r, (enum check)c) == !!(checks & CHECK_BIT(c)), "%s: %u",
                      check_text((enum check)c), (unsigned)r.violated[c]);
    }
    ck_assert((r.verdict == VERDICT_FAIL) == (checks != 0));
    scenario_fini(&s);
    return r;
}

#define LOST CHECK_BIT(CHECK_NO_LOST_EFFECT)
#define DISTINCT CHECK_BIT(CHECK_DISTINCT_OPERATIONS)

START_TEST(each_check_has_its_culprit)
{
    static const char lost_reply[] = "faults: [lose reply m-1/1]\n";
    static const char crash[] = "faults: [crash receiver at m-1/1 before commit (process)]\n";
    static const struct {
        void (*handle)(struct handling *h);
        const char *rest;
        uint32_t checks;
    } cases[] = {
        {merges, "", DISTINCT | LOST},
        {merges_by_entity, "", DISTINCT | LOST},
        {replies_foreign, "", CHECK_BIT(CHECK_SAME_REPLY)},
        /* the sender believes what it was told, so the effect is lost as well */
        {acks_early, crash, CHECK_BIT(CHECK_ACK_IMPLIES_DURABLE) | LOST},
        {acks_early, "", 0},
        {refuses_repeats, lost_reply,
         CHECK_BIT(CHECK_SAME_REPLY) | CHECK_BIT(CHECK_NO_GHOST_EFFECT)},
        {refuses_repeats, "", 0},
        {charges_and_refuses, "", CHECK_BIT(CHECK_NO_GHOST_EFFECT)},
        {does_nothing, "", LOST},
        {charges_past_the_ledger, "", CHECK_BIT(CHECK_STATE_MATCHES_EFFECTS)},
        {never_replies, "contract: {no_give_up: true}\n",
         CHECK_BIT(CHECK_PROGRESS) | CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)},
        {fresh_response, lost_reply, 0},
        /* a COMMIT that is not applied is rolled back; one that is applied counts */
        {commits_twice, "faults: [store receiver at m-1/1 commit (not applied)]\n", LOST},
        {commits_twice, "faults: [store receiver at m-1/1 commit (applied)]\n", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct receiver code = wrong(cases[i].handle);
        struct result r = convict(&code, cases[i].rest, cases[i].checks);
        result_fini(&r);
    }
    /* Where responses are saved, another one is wrong. */
    struct receiver saving = wrong(fresh_response);
    saving.saves_responses = true;
    struct result r = convict(&saving, lost_reply, CHECK_BIT(CHECK_SAME_REPLY));
    result_fini(&r);
}
END_TEST

/* Silence alone is told, and no violation where the contract does not forbid it. */
START_TEST(who_never_replies_is_given_up)
{
    struct receiver silent = wrong(never_replies);
    struct result r = convict(&silent, "", CHECK_BIT(CHECK_NO_DOUBLE_EFFECT));
    ck_assert_uint_eq(r.gave_up, 2);
    ck_assert_uint_eq(r.attempts, 6);
    ck_assert_uint_eq(r.effects, 6);
    result_fini(&r);
}
END_TEST

/* One message to a receiver that never replies, which may not be given up. */
static struct result silent_run(const char *limit, const char *faults)
{
    static struct scenario s; /* stays for the result */
    struct receiver silent = wrong(never_replies);
    rig_scenario(&s,
                 "receivers: [table]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [{id: m-1, entity: box, charge: 5}]\n"
                 "    retry: {limit: %s}\n"
                 "network: {delay: 10ms}\n"
                 "contract: {no_give_up: true}\n"
                 "faults: [%s]\n"
                 "expect: progress\n",
                 limit, faults);
    s.receivers[0].code = &silent;
    struct result r = rig_once(&s, "table", 1);
    scenario_fini(&s);
    return r;
}

/* An attempt that faults left alone convicts; what cannot have kept the answer is no excuse. */
START_TEST(one_fair_attempt_without_an_answer_convicts)
{
    static const char *const cases[][2] = {
        {"1", ""},
        {"2", "lose request m-1/1"},
        {"2", "lose request m-1/2"},
        {"2", "crash receiver at m-1/1 before commit (process)"},
        {"3", "lose request m-1/1, lose request m-1/2"},
        {"1", "duplicate request m-1/1"},
        {"1", "duplicate request m-1/1, lose request m-1/1.2"},
        {"1", "delay request m-1/1 by 1ms"},
        {"1", "clock receiver +1h"},
        {"1", "clock shop drift +100000ppm"},
        {"1", "lying-disk receiver"},
        {"1", "partition shop receiver 2s..9s"},
        {"1", "partition receiver to shop 1s..9s"}, /* cuts replies, and there is none */
        {"2", "pause receiver at m-1/1 before commit for 100ms"},
        {"2", "sender-crash shop at m-1/1 after send"},
        {"2", "stop receiver at m-1/1 before commit"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct result r = silent_run(cases[i][0], cases[i][1]);
        ck_assert_msg(r.violated[CHECK_PROGRESS] == 1, "%s", cases[i][1]);
        ck_assert_int_eq(r.violations[0].reason, WHY_GAVE_UP);
        ck_assert_uint_ne(r.violations[0].testimony.fair_attempt, 0);
        ck_assert_uint_eq(r.unfinishable, 0);
        ck_assert_uint_eq(r.judged[CHECK_PROGRESS], 1);
        result_fini(&r);
    }
}
END_TEST

START_TEST(where_no_attempt_was_left_alone_nobody_is_convicted)
{
    static const char *const cases[][2] = {
        {"1", "lose request m-1/1"},
        {"2", "lose request m-1/1, lose request m-1/2"},
        {"1", "delay request m-1/1 by 1s"}, /* after the wait, so nothing came in time */
        {"1", "partition shop receiver 1s..9s"},
        {"1", "partition shop to receiver 1s..3650d"},
        {"1", "crash receiver at m-1/1 before commit (process)"},
        {"1", "crash receiver at m-1/1 after commit (power none)"},
        {"2",
         "crash receiver at m-1/1 after commit (process) restart after 5s"}, /* down for both */
        {"1", "stop receiver at m-1/1 before commit"},
        {"1", "pause receiver at m-1/1 before commit for 100ms"},
        {"2", "pause receiver at m-1/1 before commit for 1s"}, /* into the second attempt */
        {"1", "store receiver at m-1/1 commit (not applied)"},
        {"1", "handler receiver at m-1/1 after commit fails"},
        {"1", "sender-crash shop at m-1/1 after send"},
        {"2", "sender-crash shop at m-1/1 after send, sender-crash shop at m-1/2 after send"},
        {"5", "sender-amnesia shop at m-1/1 after send (outbox lost)"},
        {"2", "lose request m-1/1, pause receiver at m-1/2 before receive for 9s"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct result r = silent_run(cases[i][0], cases[i][1]);
        ck_assert_msg(r.violated[CHECK_PROGRESS] == 0 && r.unfinishable == 1, "%s", cases[i][1]);
        /* Nothing was judged, and that is said. */
        ck_assert_uint_eq(r.judged[CHECK_PROGRESS], 0);
        ck_assert_int_eq(r.verdict, VERDICT_VACUOUS);
        ck_assert_str_eq(r.reason, "progress judged nothing");
        result_fini(&r);
    }
}
END_TEST

/* A connection that goes back to its pool has no transaction open. */
START_TEST(what_is_left_open_is_rolled_back)
{
    struct receiver code = wrong(leaves_open);
    struct result r = convict(&code, "", LOST);
    ck_assert_uint_eq(r.violated[CHECK_NO_LOST_EFFECT], 2);
    ck_assert_uint_eq(r.effects, 0);
    result_fini(&r);
}
END_TEST

/* The first wrong step convicts, and the violation says of which operation and why. */
START_TEST(violations_name_the_operation)
{
    struct receiver code = wrong(merges_by_entity);
    struct result r = convict(&code, "", DISTINCT | LOST);
    ck_assert_uint_eq(r.violation_count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(r.violations[i].op, op_make(PLACE_SENDER, 2));
    }
    ck_assert_int_eq(r.violations[0].check, CHECK_DISTINCT_OPERATIONS);
    ck_assert_int_eq(r.violations[0].reason, WHY_MERGED);
    ck_assert_int_eq(r.violations[1].reason, WHY_LOST);
    result_fini(&r);
}
END_TEST

/* Two readers that both want to write: SQLite tells the second BUSY at once, without a wait, since
 * waiting could not help; the second attempt gets through. */
START_TEST(a_late_upgrade_is_refused_at_once)
{
    struct receiver code = wrong(upgrades);
    for (int wal = 0; wal < 2; wal++) {
        struct scenario s;
        rig_scenario(
            &s,
            "receivers: [table]\n"
            "senders:\n"
            "  - {name: a, messages: [{id: m-1, entity: x, charge: 1}], retry: {after: 1m}}\n"
            "  - {name: b, messages: [{id: m-2, entity: y, charge: 1}], retry: {after: 1m}}\n"
            "network: {delay: {request: 10ms, reply: 10ms}}\n"
            "hosts: {receiver: {workers: 2, step: 0ms}}\n"
            "database: {journal: %s}\n",
            wal ? "wal" : "truncate");
        s.receivers[0].code = &code;
        struct world *w = rig_world(&s, "table");
        struct result r = rig_play_kept(w, 1);
        ck_assert(rig_exactly_once(&r) && r.verdict == VERDICT_PASS);
        const struct record *reply = rig_find(w, RECORD_REPLY, 0);
        ck_assert_int_eq(reply->code, REPLY_RETRY_LATER);
        ck_assert_uint_eq(reply->at, SIM_START + 1010 * SIM_MS);
        ck_assert_uint_eq(rig_count(w, RECORD_WAIT), 0);
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* The receiver's own clock: offset, drift, and jumps on the way. */
START_TEST(the_clock_of_the_host)
{
    static const struct {
        const char *rest;
        int64_t first, second; /* what it is off by at 1.01 s and at 1.03 s, ns */
    } cases[] = {
        {"", 0, 0},
        {"hosts: {receiver: {clock: {offset: -3s}}}\n", -3000000000, -3000000000},
        {"hosts: {receiver: {clock: {drift: 1000ppm}}}\n", 1010000, 1030000},
        {"faults: [clock receiver +5s at 1020ms]\n", 0, 5000000000},
        {"faults: [clock receiver -2s, clock receiver +5s at 1020ms]\n", -2000000000, 3000000000},
        {"faults: [clock receiver drift -1000ppm at 1020ms, clock receiver +1h]\n", 3600000000000,
         3600000000000 - 10000},
    };
    struct receiver code = wrong(looks_at_the_clock);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct result r = convict(&code, cases[i].rest, 0);
        result_fini(&r);
        ck_assert_int_eq((int64_t)(clock_shown[0] - CLOCK_EPOCH - 1010 * SIM_MS), cases[i].first);
        ck_assert_int_eq((int64_t)(clock_shown[1] - CLOCK_EPOCH - 1030 * SIM_MS), cases[i].second);
    }
}
END_TEST

/* ---- handlers that do not end ---- */

static void play_wrong(void (*handle)(struct handling *h))
{
    struct receiver code = wrong(handle);
    struct scenario s;
    two_messages(&s, "faults: [crash receiver at m-1/1 before commit (process)]\n");
    s.receivers[0].code = &code;
    struct result r = rig_once(&s, "table", 1);
    result_fini(&r);
    scenario_fini(&s);
}

START_TEST(calls_after_death_end_the_program)
{
    test_ends_the_program();
    play_wrong(never_ends);
}
END_TEST

START_TEST(calls_without_end_end_the_program)
{
    test_ends_the_program();
    play_wrong(calls_for_ever);
}
END_TEST

START_TEST(and_the_receiver_is_named)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    fflush(stderr);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        play_wrong(never_ends);
        _exit(0);
    }
    close(ends[1]);
    char text[500] = "";
    size_t n = 0;
    ssize_t some;
    while (n < sizeof(text) - 1 && (some = read(ends[0], text + n, sizeof(text) - 1 - n)) > 0) {
        n += (size_t)some;
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    ck_assert_ptr_nonnull(strstr(text, "wrong-one"));
    close(ends[0]);
}
END_TEST

/* A schema or a statement that SQLite refuses is no simulated fault. */
START_TEST(what_sqlite_refuses_is_said)
{
    struct scenario s;
    two_messages(&s, "");
    static const struct statement bad[] = {{"SELECT 1 FROM nowhere", "bad"}, {NULL, NULL}};
    struct receiver code[2] = {wrong(charge), wrong(charge)};
    code[0].schema = "CREATE TABLE ((";
    code[1].statements = bad;
    for (size_t i = 0; i < 2; i++) {
        char *text = NULL;
        size_t len = 0;
        FILE *errors = open_memstream(&text, &len);
        enum sim_error error = SIM_OK;
        s.receivers[0].code = &code[i];
        ck_assert_ptr_null(world_new(&s, 0, errors, &error));
        fclose(errors);
        ck_assert_int_eq(error, SIM_ERR_STORE);
        ck_assert_ptr_nonnull(strstr(text, "wrong-one"));
        ck_assert_ptr_nonnull(strstr(text, i == 0 ? "syntax error" : "no such table"));
        free(text);
    }
    scenario_fini(&s);
}
END_TEST

Suite *canaries_suite(void)
{
    Suite *s = suite_create("canaries");
    TCase *t = tcase_create("canaries");
    tcase_add_test(t, each_check_has_its_culprit);
    tcase_add_test(t, who_never_replies_is_given_up);
    tcase_add_test(t, one_fair_attempt_without_an_answer_convicts);
    tcase_add_test(t, where_no_attempt_was_left_alone_nobody_is_convicted);
    tcase_add_test(t, what_is_left_open_is_rolled_back);
    tcase_add_test(t, violations_name_the_operation);
    tcase_add_test(t, a_late_upgrade_is_refused_at_once);
    tcase_add_test(t, the_clock_of_the_host);
    tcase_add_exit_test(t, calls_after_death_end_the_program, 3);
    tcase_add_exit_test(t, calls_without_end_end_the_program, 3);
    tcase_add_test(t, and_the_receiver_is_named);
    tcase_add_test(t, what_sqlite_refuses_is_said);
    suite_add_tcase(s, t);
    return s;
}
