/* Records: their transitions, their owners, how many there are.
 *
 * Pinned: each allowed and each forbidden move of a record, by receivers that do as a script says;
 * an owner that is paused beyond its lease; what a rollback, a store fault or a crash does to
 * moves; the sentence that names who contradicts whom; the bound exactly reached and exceeded by
 * one; records without an owner at the end; counting changes no history.
 *
 * Left open: a record that several operations share by their key.
 */
#include "tests/world_rig.h"

#include "receivers/retention.h"
#include "sim/scenario_settings.h"

#define STATES CHECK_BIT(CHECK_RECORD_STATES)
#define OWNER CHECK_BIT(CHECK_OWNER_ONLY)
#define BOUNDED CHECK_BIT(CHECK_BOUNDED_RECORDS)

/* ---- a receiver that does as it is told ---- */

enum { CLAIM, COMPLETE, RENEW, RELEASE, EXPIRE, COMPLETE_OWN, KEEP_LAST };

static const struct statement statements[] = {
    [CLAIM] = {"INSERT INTO rec(id, state, owner) VALUES(?1, 1, ?2)"
               " ON CONFLICT DO UPDATE SET state = 1, owner = ?2",
               "claim"},
    [COMPLETE] = {"INSERT INTO rec(id, state) VALUES(?1, 2) ON CONFLICT DO UPDATE SET state = 2",
                  "complete"},
    [RENEW] = {"UPDATE rec SET state = 1 WHERE id = ?1", "renew"},
    [RELEASE] = {"DELETE FROM rec WHERE id = ?1", "release"},
    [EXPIRE] = {"DELETE FROM rec WHERE id = ?1", "expire"},
    [COMPLETE_OWN] = {"UPDATE rec SET state = 2 WHERE id = ?1 AND owner = ?2", "complete own"},
    [KEEP_LAST] = {"DELETE FROM rec WHERE n <= (SELECT max(n) FROM rec) - ?1", "keep the last"},
    {NULL, NULL},
};

static const uint8_t moves[] = {
    [CLAIM] = MOVE_CLAIM,     [COMPLETE] = MOVE_COMPLETE, [RENEW] = MOVE_RENEW,
    [RELEASE] = MOVE_RELEASE, [EXPIRE] = MOVE_EXPIRE,     [COMPLETE_OWN] = MOVE_COMPLETE,
    [KEEP_LAST] = MOVE_NONE,
};

static const char *scripts[3]; /* of the handlings in their order; later ones do as the last */
static int64_t kept;           /* records; 0: all */
static struct promise promised;

static enum outcome obey(struct handling *h, char c)
{
    static const char letters[] = "CDNLXF";
    static const enum step steps[] = {STEP_CLAIM,   STEP_RECORD, STEP_CLAIM,
                                      STEP_RELEASE, STEP_EXPIRE, STEP_RECORD};
    const char *letter = strchr(letters, c);
    if (letter != NULL) {
        unsigned index = (unsigned)(letter - letters);
        bool owned = index == CLAIM || index == COMPLETE_OWN;
        return sql(h, steps[index], index, owned ? "ti" : "t", handling_key(h), handling_token(h));
    }
    switch (c) {
    case 'a':
        return apply_effect(h);
    case 'b':
        return begin_immediate(h);
    case 'k':
        return commit(h);
    case 'r':
        return rollback(h);
    case 'K':
        return sql(h, STEP_EXPIRE, KEEP_LAST, "i", INT64_C(0));
    case 'n':
        handling_now(h);
        return OK;
    case 'w':
        return work(h, STEP_ACK, SIM_S);
    default: /* not our enum */
        must(!"a letter");
    }
}

/* '-' at the end: an error is answered, so that the sender tries again. */
static void scripted(struct handling *h)
{
    int64_t n = handling_token(h);
    const char *s = scripts[n < 3 ? n - 1 : 2];
    for (; *s != '\0' && *s != '-'; s++) {
        enum outcome o = obey(h, *s);
        if (o == DEAD) {
            return;
        }
        if (o != OK) {
            break; /* the script ends early, without an answer that helps */
        }
    }
    if (kept > 0) {
        sql(h, STEP_EXPIRE, KEEP_LAST, "i", kept);
    }
    reply(h, *s == '\0' ? REPLY_DONE : REPLY_ERROR, 0);
}

static void promise(const int64_t *settings, struct promise *out)
{
    (void)settings;
    *out = promised;
}

static const struct keeping keeping = {"rec", "id = ?1", "state = 1 AND owner IS NOT NULL"};

static const struct receiver code = {
    .name = "scripted",
    .about = "of a test",
    .source = "wrong on purpose",
    .schema = "CREATE TABLE rec(n INTEGER PRIMARY KEY, id TEXT UNIQUE, state INTEGER,"
              " owner INTEGER);",
    .statements = statements,
    .moves = moves,
    .steps = STEPS_EVERY,
    .handle = scripted,
    .keeping = &keeping,
    .promise = promise,
};

/* ---- moves ---- */

/* One message, tried again `after` that; both checks are judged. */
static struct result told(struct scenario *s, const char *after, const char *faults)
{
    rig_scenario(s,
                 "receivers: [table]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [{id: m-1, entity: box, charge: 5}]\n"
                 "    retry: {after: %s, limit: 3}\n"
                 "network: {delay: 10ms}\n"
                 "hosts: {receiver: {workers: 2, step: 0s}}\n"
                 "faults: [%s]\n"
                 "expect: [record-states, owner-only]\n",
                 after, faults);
    s->receivers[0].code = &code;
    return rig_once(s, "table", 1);
}

struct transition {
    const char *first, *second;
    uint64_t lease, retention; /* seconds */
    const char *faults;
    uint32_t checks;
    uint64_t states, owners; /* judged */
};

static void check_transition(const struct transition *t)
{
    struct scenario s;
    kept = 0;
    scripts[0] = t->first;
    scripts[1] = scripts[2] = t->second;
    promised = (struct promise){.lease = t->lease * SIM_S, .retention = t->retention * SIM_S};
    struct result r = told(&s, "10s", t->faults);
    ck_assert_int_eq(r.error, SIM_OK);
    ck_assert_msg(rig_violated(&r, CHECK_RECORD_STATES) == !!(t->checks & STATES) &&
                      rig_violated(&r, CHECK_OWNER_ONLY) == !!(t->checks & OWNER),
                  "%s, then %s, lease %u s, %s: states %u, owner %u", t->first, t->second,
                  (unsigned)t->lease, t->faults, (unsigned)r.violated[CHECK_RECORD_STATES],
                  (unsigned)r.violated[CHECK_OWNER_ONLY]);
    ck_assert_msg(r.judged[CHECK_RECORD_STATES] == t->states &&
                      r.judged[CHECK_OWNER_ONLY] == t->owners,
                  "%s, then %s, %s: judged %u and %u", t->first, t->second, t->faults,
                  (unsigned)r.judged[CHECK_RECORD_STATES], (unsigned)r.judged[CHECK_OWNER_ONLY]);
    result_fini(&r);
    scenario_fini(&s);
}

START_TEST(allowed_and_forbidden_moves)
{
    static const struct transition all[] = {
        {"bCaDk", "", 2, 60, "", 0, 2, 1},
        {"CD", "", 2, 60, "", 0, 2, 1},
        {"CNLCF", "", 2, 60, "", 0, 5, 3},
        /* the second handling comes 10 s later */
        {"C-", "CD", 2, 60, "", 0, 3, 1},
        {"C-", "CD", 0, 60, "", STATES, 3, 1},
        {"C-", "CD", 20, 60, "", STATES, 3, 1},
        {"CL-", "CD", 0, 60, "", 0, 4, 2},
        {"CD-", "CD", 2, 60, "", STATES, 4, 2},
        {"CD-", "CD", 2, 5, "", 0, 4, 2},
        {"CD-", "CD", 2, 0, "", STATES, 4, 2},
        {"CD-", "D", 2, 60, "", STATES | OWNER, 3, 2},
        {"CD-", "L", 2, 60, "", STATES | OWNER, 3, 2},
        {"CD-", "N", 2, 60, "", STATES | OWNER, 3, 2},
        {"CDD", "", 2, 60, "", STATES, 3, 2},
        {"CLD", "", 2, 60, "", STATES, 3, 2},
        {"D", "", 2, 60, "", STATES, 1, 1},
        {"N", "", 2, 60, "", 0, 0, 0}, /* changes nothing */
        {"C-", "D", 2, 60, "", OWNER, 2, 1},
        {"C-", "N", 2, 60, "", OWNER, 2, 1},
        {"C-", "L", 2, 60, "", OWNER, 2, 1},
        {"C-", "F", 2, 60, "", 0, 1, 0},
        /* renewed after 6 s for 8 s; dated by a clock that was read before that, or by SQL's */
        {"CwwwwwwN-", "CD", 8, 60, "", 0, 4, 2},
        {"CwwwwwwN-", "CD", 11, 60, "", STATES, 4, 2},
        {"nwwwwwwC-", "CD", 12, 60, "", 0, 3, 1},
        {"wwwwwwC-", "CD", 12, 60, "", STATES, 3, 1},
        /* anybody may remove what is over */
        {"CX", "", 2, 60, "", STATES, 2, 0},
        {"C-", "X", 2, 60, "", 0, 2, 0},
        {"CD-", "X", 2, 60, "", STATES, 3, 1},
        {"CD-", "X", 2, 5, "", 0, 3, 1},
        /* what was rolled back did not happen */
        {"bCr-", "CD", 0, 60, "", 0, 2, 1},
        {"bCDr-", "bCk", 0, 60, "", 0, 1, 0},
        {"C-", "CD", 0, 60, "store receiver at m-1/1 claim (not applied)", 0, 2, 1},
        {"C-", "CD", 0, 60, "store receiver at m-1/1 claim (applied)", STATES, 3, 1},
        {"bCk-", "CD", 0, 60, "store receiver at m-1/1 commit (not applied)", 0, 2, 1},
        {"bCk-", "CD", 0, 60, "store receiver at m-1/1 commit (applied)", STATES, 3, 1},
        /* the host's clock may say that it is over */
        {"C-", "CD", 3600, 0, "clock receiver +2h at 3s", 0, 3, 1},
        {"CD-", "CD", 2, 3600, "clock receiver +2h at 3s", 0, 4, 2},
        {"C-", "CD", 3600, 0, "clock receiver -2h at 3s", STATES, 3, 1},
        /* a crash of the process takes nothing back; one inside the commit may have */
        {"C", "CD", 0, 60, "crash receiver at m-1/1 after claim (process)", STATES, 3, 1},
        {"C", "CD", 0, 60, "crash receiver at m-1/1 in claim disk 3 (process)", 0, 1, 1},
        {"C", "CD", 0, 60, "crash receiver at m-1/1 after claim (power none)", 0, 2, 1},
        {"C", "D", 0, 60, "crash receiver at m-1/1 after claim (power all)", 0, 1, 0},
        {"bCw", "CD", 0, 60, "crash receiver at m-1/1 before ack (process)", 0, 1, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        check_transition(&all[i]);
    }
}
END_TEST

/* Handling 1 claims and stands still beyond its lease, handling 2 takes over and is at work. */
START_TEST(a_paused_owner)
{
    static const struct {
        const char *first, *second;
        uint32_t checks;
        const char *sentence;
    } cases[] = {
        {"CwwwwwwD", "CwwwwwwD", STATES | OWNER,
         "m-1's record was completed by handling 1 (m-1/1) at 7.010 s, but handling 2 (m-1/2) held "
         "it since 4.010 s"},
        {"CwwwwwwD", "CD", STATES | OWNER,
         "m-1's record was completed by handling 1 (m-1/1) at 7.010 s, but handling 2 (m-1/2) had "
         "completed it at 4.010 s"},
        {"CwwwwwwL", "CwwwwwwF", OWNER,
         "m-1's record was released by handling 1 (m-1/1) at 7.010 s, but handling 2 (m-1/2) held "
         "it since 4.010 s"},
        {"CwwwwwwF", "CwwwwF", 0, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        kept = 0;
        promised = (struct promise){.lease = 2 * SIM_S};
        scripts[0] = cases[i].first;
        scripts[1] = cases[i].second;
        scripts[2] = "wwwwwwwww";
        struct result r = told(&s, "3s", "");
        ck_assert(rig_violated(&r, CHECK_RECORD_STATES) == !!(cases[i].checks & STATES));
        ck_assert(rig_violated(&r, CHECK_OWNER_ONLY) == !!(cases[i].checks & OWNER));
        ck_assert_int_eq(r.verdict, cases[i].checks ? VERDICT_FAIL : VERDICT_PASS);
        bool told = cases[i].sentence == NULL;
        for (size_t v = 0; v < r.violation_count; v++) {
            char text[VIOLATION_TEXT];
            violation_text(&s, &r.violations[v], text, sizeof(text));
            told |= cases[i].sentence && strcmp(text, cases[i].sentence) == 0;
            if (!told && v + 1 == r.violation_count) {
                ck_abort_msg("%s", text);
            }
        }
        ck_assert(told);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* ---- counts ---- */

/* Ten messages, one a second from 1 s on, arrive 10 ms later. */
static struct result ten(const char *contract, const char *script, int64_t keep,
                         const char *expected, struct scenario *s)
{
    scripts[0] = scripts[1] = scripts[2] = script;
    kept = keep;
    rig_scenario(s,
                 "receivers: [table]\n"
                 "senders:\n"
                 "  - {name: shop, loop: open, every: 1s, workload: {count: 10}}\n"
                 "network: {delay: 10ms}\n"
                 "contract: {%s}\n"
                 "expect: %s\n",
                 contract, expected);
    s->receivers[0].code = &code;
    return rig_once(s, "table", 1);
}

START_TEST(a_bound_reached_and_exceeded)
{
    static const struct {
        const char *contract;
        uint64_t retention, records; /* promised; seconds */
        int64_t keep;
        enum verdict_kind verdict;
        int64_t a, b; /* of the violation */
    } cases[] = {
        {"records: 10", 0, 0, 0, VERDICT_PASS, 0, 0},
        {"records: 9", 0, 0, 0, VERDICT_FAIL, 10, 9},
        /* the last three are not older than the window at the end */
        {"window: 3s", 0, 0, 3, VERDICT_PASS, 0, 0},
        {"window: 3s", 0, 0, 4, VERDICT_FAIL, 4, 3},
        {"", 3, 0, 3, VERDICT_PASS, 0, 0},
        {"", 3, 0, 4, VERDICT_FAIL, 4, 3},
        {"window: 1s", 3, 0, 3, VERDICT_PASS, 0, 0}, /* the longer of both */
        {"", 3, 2, 2, VERDICT_PASS, 0, 0},
        {"", 3, 2, 3, VERDICT_FAIL, 3, 2},
        {"", 0, 4, 4, VERDICT_PASS, 0, 0},
        {"", 0, 4, 5, VERDICT_FAIL, 5, 4},
        {"records: 4", 1, 1, 4, VERDICT_PASS, 0, 0}, /* the contract's goes first */
        {"", 0, 0, 0, VERDICT_VACUOUS, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        promised =
            (struct promise){.retention = cases[i].retention * SIM_S, .records = cases[i].records};
        struct result r = ten(cases[i].contract, "bDak", cases[i].keep, "bounded-records", &s);
        ck_assert_msg(r.verdict == cases[i].verdict, "%zu: %s", i, rig_say(&r, NULL));
        if (r.verdict == VERDICT_FAIL) {
            ck_assert_int_eq(r.violations[0].reason, WHY_RECORDS);
            ck_assert_int_eq(r.violations[0].a, cases[i].a);
            ck_assert_int_eq(r.violations[0].b, cases[i].b);
        }
        ck_assert((r.judged[CHECK_BOUNDED_RECORDS] > 3) == (r.verdict != VERDICT_VACUOUS));
        ck_assert(r.has_records);
        ck_assert_uint_eq(r.records, cases[i].keep ? (uint64_t)cases[i].keep : 10);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* What is swept every 2 s may be there for two periods more than its window of 3 s. */
START_TEST(a_sweep_may_take_its_time)
{
    static const struct setting common[] = {RETENTION_SETTINGS("kept", 0, REMOVAL_SWEEP),
                                            {.name = NULL}};
    struct receiver swept = code;
    swept.promise = NULL;
    swept.settings = common;
    for (int64_t keep = 7; keep <= 8; keep++) {
        struct scenario s;
        struct result r = ten("window: 3s", "bDak", keep, "bounded-records", &s);
        result_fini(&r);
        s.receivers[0].code = &swept;
        settings_default(&swept, s.receivers[0].settings);
        s.receivers[0].settings[RETENTION_SWEEP] = 2 * RETENTION_SECOND;
        r = rig_once(&s, "table", 1);
        ck_assert_int_eq(r.verdict, keep == 7 ? VERDICT_PASS : VERDICT_FAIL);
        ck_assert(keep == 7 || (r.violations[0].a == 8 && r.violations[0].b == 7));
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* A handling takes longer than its record is kept; while it runs, the record may be there. */
START_TEST(what_is_under_way_may_have_a_record)
{
    struct scenario s;
    promised = (struct promise){.retention = SIM_S};
    struct result r = ten("", "KbDakwwwww", 0, "bounded-records", &s);
    ck_assert_msg(r.verdict == VERDICT_PASS, "%s", rig_say(&r, NULL));
    ck_assert(r.records == 1 && r.records_most == 1);
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

START_TEST(nobody_owns_it_at_the_end)
{
    static const struct {
        const char *script;
        int64_t unowned;
    } cases[] = {{"bCak", 10}, {"bCakD", 0}, {"bCakL", 0}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        promised = (struct promise){0};
        struct result r = ten("records: 10", cases[i].script, 0, "bounded-records", &s);
        ck_assert(rig_violated(&r, CHECK_BOUNDED_RECORDS) == (cases[i].unowned > 0));
        if (cases[i].unowned > 0) {
            char text[VIOLATION_TEXT];
            violation_text(&s, &r.violations[0], text, sizeof(text));
            ck_assert_str_eq(text,
                             "10 records in progress at the end, which nothing will ever end");
        }
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* With the check and without, counted and not: one history. */
START_TEST(counting_changes_no_history)
{
    uint64_t hash[3], most[3];
    for (size_t i = 0; i < 3; i++) {
        struct scenario s;
        promised = (struct promise){0};
        struct result r =
            ten("records: 10", "bDak", 0, i == 1 ? "bounded-records" : "exactly-once", &s);
        if (i == 2) {
            result_fini(&r);
            struct world *w = rig_world(&s, "table");
            world_play(w, &(struct play){.seed = 1, .no_counts = true}, &r);
            ck_assert(!r.has_records);
            world_free(w);
        }
        hash[i] = r.history_hash;
        most[i] = r.records_most;
        ck_assert_uint_gt(r.costs.database_bytes, 0);
        result_fini(&r);
        scenario_fini(&s);
    }
    ck_assert(hash[0] == hash[1] && hash[0] == hash[2]);
    ck_assert(most[0] == 10 && most[1] == 10 && most[2] == 0);
}
END_TEST

/* Samples grow rare: a run of days is counted at most 64 times. */
START_TEST(a_long_run_is_counted_some_times)
{
    struct scenario s;
    scripts[0] = scripts[1] = scripts[2] = "bDak";
    kept = 0;
    promised = (struct promise){0};
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, loop: open, every: 1m, workload: {count: 5000}}\n"
                     "contract: {records: 5000}\n"
                     "expect: bounded-records\n");
    s.receivers[0].code = &code;
    struct result r = rig_once(&s, "table", 1);
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    ck_assert_uint_gt(r.judged[CHECK_BOUNDED_RECORDS], 20);
    ck_assert_uint_le(r.judged[CHECK_BOUNDED_RECORDS], 64);
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

Suite *records_suite(void)
{
    Suite *s = suite_create("records");
    TCase *t = tcase_create("records");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, allowed_and_forbidden_moves);
    tcase_add_test(t, a_paused_owner);
    tcase_add_test(t, a_bound_reached_and_exceeded);
    tcase_add_test(t, a_sweep_may_take_its_time);
    tcase_add_test(t, what_is_under_way_may_have_a_record);
    tcase_add_test(t, nobody_owns_it_at_the_end);
    tcase_add_test(t, counting_changes_no_history);
    tcase_add_test(t, a_long_run_is_counted_some_times);
    suite_add_tcase(s, t);
    return s;
}
