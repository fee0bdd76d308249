/* Each check with histories that it must reject and histories that it must accept.
 *
 * The judge is fed by hand: what a host would say of commits and replies, what a sender would
 * believe, what a copy of the disk would hold. Each case names the checks that must be violated and
 * thereby all those that must not.
 *
 * Pinned besides: how many items each check judged, that an operation is reported once for each
 * check, that only VIOLATIONS_KEPT are kept but all are counted, that forgotten operations still
 * count in balances, and how counts become pass, fail, vacuous, unfired and error.
 *
 * Left open: whether hosts, senders and the auditor say the truth (test_receivers, test_crash).
 */
#include "sim/result.h"
#include "tests/court.h"
#include "tests/suites.h"

#define DOUBLE CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)
#define LOST CHECK_BIT(CHECK_NO_LOST_EFFECT)
#define GHOST CHECK_BIT(CHECK_NO_GHOST_EFFECT)
#define DURABLE CHECK_BIT(CHECK_ACK_IMPLIES_DURABLE)
#define SAME CHECK_BIT(CHECK_SAME_REPLY)
#define DISTINCT CHECK_BIT(CHECK_DISTINCT_OPERATIONS)
#define PROGRESS CHECK_BIT(CHECK_PROGRESS)
#define STATE CHECK_BIT(CHECK_STATE_MATCHES_EFFECTS)

START_TEST(a_story_in_order_violates_nothing)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, true);
    struct operation *a = operation(&c, 1, 0, 4200), *b = operation(&c, 2, 0, 7);
    effect(&c, a);
    replies(&c, a, REPLY_DONE, receipt_make(a->op, 1));
    audit(&c, true);
    replies(&c, a, REPLY_DUPLICATE, 0);
    effect(&c, b);
    replies(&c, b, REPLY_DONE, receipt_make(b->op, 1));
    a->attempt = 2;
    closes(&c, a, BELIEF_DONE, false);
    closes(&c, b, BELIEF_DONE, false);
    run_ends(&c);
    static const uint64_t judged[CHECK_COUNT] = {
        [CHECK_NO_DOUBLE_EFFECT] = 2, [CHECK_NO_LOST_EFFECT] = 2,
        [CHECK_NO_GHOST_EFFECT] = 0,  [CHECK_ACK_IMPLIES_DURABLE] = 1,
        [CHECK_SAME_REPLY] = 3,       [CHECK_DISTINCT_OPERATIONS] = 3,
        [CHECK_PROGRESS] = 2,         [CHECK_STATE_MATCHES_EFFECTS] = 2,
    };
    for (unsigned i = 0; i < CHECK_COUNT; i++) {
        ck_assert_uint_eq(c.v.judged[i], judged[i]);
    }
    ck_assert_uint_eq(c.v.operations, 2);
    ck_assert_uint_eq(c.v.effects, 2);
    ck_assert_uint_eq(c.v.with_effect, 2);
    ck_assert_uint_eq(c.v.repeated, 1);
    ck_assert_uint_eq(c.v.doubled, 0);
    ruled(&c, 0);
}
END_TEST

START_TEST(two_effects_of_one_operation)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    struct operation *a = operation(&c, 1, 2, 5), *b = operation(&c, 2, 2, 5);
    effect(&c, b);
    effect(&c, a);
    ck_assert_uint_eq(c.v.violated[CHECK_NO_DOUBLE_EFFECT], 0);
    effect(&c, a);
    ck_assert_uint_eq(c.v.violated[CHECK_NO_DOUBLE_EFFECT], 1); /* at once */
    is_violation(&c.v.violations[0], CHECK_NO_DOUBLE_EFFECT, WHY_EFFECTS, a, 2, 2);
    effect(&c, a);
    audit(&c, true);
    closes(&c, a, BELIEF_DONE, false);
    closes(&c, b, BELIEF_DONE, false);
    run_ends(&c);
    ck_assert_uint_eq(c.v.violated[CHECK_NO_DOUBLE_EFFECT], 1); /* once for the operation */
    ck_assert_uint_eq(c.v.effects, 4);
    ck_assert_uint_eq(c.v.doubled, 1);
    ruled(&c, DOUBLE);

    /* Two that a crash takes back were two all the same. */
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    a = operation(&c, 1, 0, 5);
    effect(&c, a);
    effect(&c, a);
    lose(&c, a);
    audit(&c, true);
    closes(&c, a, BELIEF_UNKNOWN, true);
    run_ends(&c);
    ck_assert_uint_eq(c.v.doubled, 1);
    ck_assert_uint_eq(c.v.effects, 0);
    ruled(&c, DOUBLE);

    /* One, taken back by a crash, and one again: never two. */
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    a = operation(&c, 1, 0, 5);
    effect(&c, a);
    lose(&c, a);
    audit(&c, true);
    effect(&c, a);
    closes(&c, a, BELIEF_DONE, false);
    run_ends(&c);
    ck_assert_uint_eq(c.v.doubled, 0);
    ruled(&c, 0);
}
END_TEST

/* Rows that only the audit sees: a commit whose process died before anybody heard of it. */
START_TEST(an_audit_finds_the_second_effect)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    struct operation *a = operation(&c, 1, 0, 5);
    effect(&c, a);
    effect(&c, a);
    a->effects = a->effects_ever = 0;
    a->violated = 0;
    verdict_reset(&c.v, CHECKS_EXACTLY_ONCE, false, false);
    history_reset(&c.run.history, true);
    audit(&c, true);
    ck_assert_uint_eq(a->effects, 2);
    closes(&c, a, BELIEF_DONE, false);
    run_ends(&c);
    ruled(&c, DOUBLE);
}
END_TEST

/* What the sender believes, how many effects there are, and what follows. */
START_TEST(belief_against_effect)
{
    static const struct {
        enum belief belief;
        bool gave_up;
        int effects;
        uint32_t checks;
        uint64_t lost_judged, ghost_judged;
    } cases[] = {
        {BELIEF_DONE, false, 1, 0, 1, 0},
        {BELIEF_DONE, false, 0, LOST, 1, 0},
        {BELIEF_DONE, false, 2, DOUBLE, 1, 0},
        {BELIEF_FAILED, false, 0, 0, 0, 1},
        {BELIEF_FAILED, false, 1, GHOST, 0, 1},
        {BELIEF_FAILED, true, 1, GHOST, 0, 1},
        {BELIEF_FAILED, false, 2, GHOST | DOUBLE, 0, 1},
        {BELIEF_UNKNOWN, true, 0, 0, 0, 0},
        {BELIEF_UNKNOWN, true, 1, 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct court c;
        court_open(&c, CHECKS_EXACTLY_ONCE, false);
        struct operation *a = operation(&c, 1, 1, 9);
        for (int n = 0; n < cases[i].effects; n++) {
            effect(&c, a);
        }
        closes(&c, a, cases[i].belief, cases[i].gave_up);
        run_ends(&c);
        ck_assert_uint_eq(c.v.judged[CHECK_NO_LOST_EFFECT], cases[i].lost_judged);
        ck_assert_uint_eq(c.v.judged[CHECK_NO_GHOST_EFFECT], cases[i].ghost_judged);
        if (cases[i].checks == LOST) {
            is_violation(&c.v.violations[0], CHECK_NO_LOST_EFFECT, WHY_LOST, a, 0, 1);
        }
        if (cases[i].checks == GHOST) {
            is_violation(&c.v.violations[0], CHECK_NO_GHOST_EFFECT, WHY_GHOST, a, 1, 1);
        }
        ruled(&c, cases[i].checks);
    }
}
END_TEST

START_TEST(acknowledged_and_gone)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    struct operation *a = operation(&c, 1, 0, 1), *b = operation(&c, 2, 0, 2);
    effect(&c, a);
    replies(&c, a, REPLY_DONE, receipt_make(a->op, 1));
    uint64_t acked = c.run.now;
    ck_assert_uint_eq(a->acked_at, acked);
    effect(&c, b); /* never acknowledged: may go */
    audit(&c, true);
    ck_assert_uint_eq(c.v.judged[CHECK_ACK_IMPLIES_DURABLE], 1);
    lose(&c, a);
    lose(&c, b);
    audit(&c, true);
    is_violation(&c.v.violations[0], CHECK_ACK_IMPLIES_DURABLE, WHY_NOT_DURABLE, a, (int64_t)acked,
                 (int64_t)c.run.now);
    audit(&c, true); /* still gone: said already */
    ck_assert_uint_eq(c.v.violated[CHECK_ACK_IMPLIES_DURABLE], 1);
    effect(&c, a); /* the next attempt mends it, too late */
    closes(&c, a, BELIEF_DONE, false);
    closes(&c, b, BELIEF_UNKNOWN, true);
    run_ends(&c);
    ruled(&c, DURABLE);
}
END_TEST

/* Answers that are no acknowledgement, and a loss before the first one. */
START_TEST(gone_but_never_acknowledged)
{
    static const enum reply_status answers[] = {REPLY_NONE, REPLY_RETRY_LATER, REPLY_ERROR,
                                                REPLY_REFUSED};
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct court c;
        court_open(&c, CHECKS_EXACTLY_ONCE, false);
        struct operation *a = operation(&c, 1, 0, 1);
        effect(&c, a);
        if (answers[i] != REPLY_NONE) {
            replies(&c, a, answers[i], 0);
        }
        lose(&c, a);
        audit(&c, true);
        ck_assert_uint_eq(a->acked_at, 0);
        ck_assert_uint_eq(c.v.judged[CHECK_ACK_IMPLIES_DURABLE], 0);
        effect(&c, a);
        replies(&c, a, REPLY_DONE, receipt_make(a->op, 2));
        audit(&c, true);
        closes(&c, a, BELIEF_DONE, false);
        run_ends(&c);
        ruled(&c, 0);
    }
}
END_TEST

struct answer {
    enum reply_status status;
    int receipt; /* 0: none, n: of the n-th effect, -1: of another operation */
};

/* Replies to one operation; before the first, `wrote` says whether it was handled. */
START_TEST(replies_to_one_operation)
{
    static const struct {
        bool wrote, saves;
        struct answer answers[3];
        uint32_t checks;
    } cases[] = {
        {true, false, {{REPLY_DONE, 1}, {REPLY_DUPLICATE, 0}}, 0},
        {true, false, {{REPLY_DONE, 1}, {REPLY_DONE, 2}}, 0}, /* a fresh response each time */
        {true, true, {{REPLY_DONE, 1}, {REPLY_DONE, 1}, {REPLY_DUPLICATE, 1}}, 0},
        {true, true, {{REPLY_DONE, 1}, {REPLY_DONE, 2}}, SAME},
        {true, true, {{REPLY_DONE, 1}, {REPLY_DUPLICATE, 0}}, SAME},
        {true, true, {{REPLY_DUPLICATE, 0}, {REPLY_DONE, 1}}, SAME},
        /* a success is not refused later; before it, a receiver may */
        {true, false, {{REPLY_DONE, 1}, {REPLY_REFUSED, 0}}, SAME},
        {true, false, {{REPLY_DUPLICATE, 0}, {REPLY_REFUSED, 0}}, SAME},
        {true, false, {{REPLY_REFUSED, 0}, {REPLY_DONE, 1}}, 0},
        {true, true, {{REPLY_REFUSED, 0}, {REPLY_REFUSED, 0}}, 0},
        /* trouble is no answer */
        {true, true, {{REPLY_DONE, 1}, {REPLY_RETRY_LATER, 0}, {REPLY_ERROR, 0}}, 0},
        {true, true, {{REPLY_ERROR, 0}, {REPLY_RETRY_LATER, 0}, {REPLY_DONE, 1}}, 0},
        /* somebody else's receipt */
        {true, false, {{REPLY_DONE, -1}}, SAME},
        {true, false, {{REPLY_DONE, 1}, {REPLY_DUPLICATE, -1}}, SAME},
        {false, false, {{REPLY_DONE, -1}}, SAME | DISTINCT},
        {false, true, {{REPLY_DUPLICATE, -1}}, SAME | DISTINCT},
        /* merged though never handled */
        {false, false, {{REPLY_DUPLICATE, 0}}, DISTINCT},
        {false, false, {{REPLY_DONE, 0}}, 0}, /* a lie, but no merge: no-lost-effect finds it */
        {false, false, {{REPLY_ERROR, 0}, {REPLY_DUPLICATE, 0}}, DISTINCT},
        {false, false, {{REPLY_REFUSED, 0}, {REPLY_RETRY_LATER, 0}}, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct court c;
        court_open(&c, SAME | DISTINCT, false);
        struct operation *other = operation(&c, 1, 0, 1), *a = operation(&c, 2, 0, 1);
        effect(&c, other);
        c.saves = cases[i].saves;
        if (cases[i].wrote) {
            effect(&c, a);
        }
        uint64_t same = 0, distinct = 0;
        for (size_t n = 0; n < 3 && cases[i].answers[n].status != REPLY_NONE; n++) {
            const struct answer *s = &cases[i].answers[n];
            int64_t receipt = s->receipt > 0 ? receipt_make(a->op, (uint32_t)s->receipt) : 0;
            replies(&c, a, s->status, s->receipt < 0 ? receipt_make(other->op, 1) : receipt);
            same += s->status == REPLY_DONE || s->status == REPLY_DUPLICATE ||
                    s->status == REPLY_REFUSED;
            distinct += s->status == REPLY_DONE || s->status == REPLY_DUPLICATE;
        }
        ck_assert_uint_eq(c.v.judged[CHECK_SAME_REPLY], same);
        ck_assert_uint_eq(c.v.judged[CHECK_DISTINCT_OPERATIONS], distinct);
        ck_assert_uint_le(c.v.violated[CHECK_SAME_REPLY], 1);
        ruled(&c, cases[i].checks);
    }
}
END_TEST

START_TEST(unfinished_and_given_up)
{
    static const struct {
        bool closed, gave_up, no_give_up;
        uint32_t checks;
        enum reason reason;
    } cases[] = {
        {true, false, false, 0, 0},
        {true, false, true, 0, 0},
        {false, false, false, PROGRESS, WHY_STUCK},
        {false, false, true, PROGRESS, WHY_STUCK},
        {true, true, false, 0, 0}, /* unknown, gave up: final, printed, no violation */
        {true, true, true, PROGRESS, WHY_GAVE_UP},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct court c;
        court_open(&c, CHECKS_EXACTLY_ONCE, cases[i].no_give_up);
        struct operation *a = operation(&c, 1, 0, 1);
        a->attempt = 5;
        effect(&c, a);
        if (cases[i].closed) {
            closes(&c, a, cases[i].gave_up ? BELIEF_UNKNOWN : BELIEF_DONE, cases[i].gave_up);
        }
        run_ends(&c);
        ck_assert_uint_eq(c.v.judged[CHECK_PROGRESS], 1);
        if (cases[i].checks) {
            is_violation(&c.v.violations[0], CHECK_PROGRESS, cases[i].reason, a, 5, 0);
        }
        ruled(&c, cases[i].checks);
    }
}
END_TEST

/* Only where each attempt met a fault is nobody to blame; what was finished is judged anyway. */
START_TEST(unfinished_by_faults)
{
    for (unsigned hindered = 4; hindered <= 5; hindered++) {
        for (unsigned end = 0; end < 3; end++) { /* still open, given up, done */
            struct court c;
            court_open(&c, CHECKS_EXACTLY_ONCE, true);
            struct operation *a = operation(&c, 1, 0, 1);
            a->attempt = 5;
            a->hindered = (uint16_t)hindered;
            effect(&c, a);
            if (end > 0) {
                closes(&c, a, end == 1 ? BELIEF_UNKNOWN : BELIEF_DONE, end == 1);
                verdict_closed(&c.v, a, true);
                ck_assert_uint_eq(c.v.violated[CHECK_PROGRESS], end == 1 && hindered < 5);
            }
            run_ends(&c);
            bool excused = hindered == 5 && end < 2;
            ck_assert_uint_eq(c.v.unfinishable, excused);
            ck_assert_uint_eq(c.v.judged[CHECK_PROGRESS], !excused);
            ruled(&c, hindered < 5 && end < 2 ? PROGRESS : 0);
        }
    }
}
END_TEST

/* Certain before the end: what no later event can change. */
START_TEST(what_is_certain_of_a_closed_operation)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    struct operation *lost = operation(&c, 1, 0, 1), *ghost = operation(&c, 2, 0, 1);
    operations_enter(&c.ops, lost);
    closes(&c, lost, BELIEF_DONE, false);
    verdict_closed(&c.v, lost, true); /* a copy under way may still charge */
    effect(&c, ghost);
    verdict_closed(&c.v, ghost, true); /* the sender has not closed it */
    closes(&c, ghost, BELIEF_FAILED, false);
    verdict_closed(&c.v, ghost, false); /* a crash may take the effect back */
    ck_assert_uint_eq(c.v.kept, 0);
    operations_leave(&c.ops, lost);
    verdict_closed(&c.v, lost, false);
    verdict_closed(&c.v, ghost, true);
    is_violation(&c.v.violations[0], CHECK_NO_LOST_EFFECT, WHY_LOST, lost, 0, 0);
    is_violation(&c.v.violations[1], CHECK_NO_GHOST_EFFECT, WHY_GHOST, ghost, 1, 0);
    run_ends(&c);
    ruled(&c, LOST | GHOST);
}
END_TEST

START_TEST(balances_against_effects)
{
    struct court c;
    for (int wrong = 0; wrong < 6; wrong++) {
        court_open(&c, CHECKS_EXACTLY_ONCE, false);
        struct operation *a = operation(&c, 1, 1, 40), *b = operation(&c, 2, 1, 2);
        effect(&c, a);
        effect(&c, b);
        closes(&c, a, BELIEF_DONE, false);
        closes(&c, b, BELIEF_DONE, false);
        switch (wrong) {
        case 1: /* the entity was charged, the ledger says no more than before */
            c.balance[1] += 40;
            break;
        case 2:
            c.balance[1] = 0; /* effects, but no such entity */
            break;
        case 3:
            c.balance[2] = 1; /* an entity that nobody charged */
            break;
        case 4:
            audit(&c, false);
            verdict_audit_corrupt(&c.v);
            break;
        case 5: /* a commit is gone, and yet nobody died */
            lose(&c, b);
            break;
        default:
            break;
        }
        run_ends(&c);
        static const int64_t differs[] = {0, 40, -42, 1};
        if (wrong >= 1 && wrong <= 3) {
            is_violation(&c.v.violations[0], CHECK_STATE_MATCHES_EFFECTS, WHY_BALANCE, NULL,
                         differs[wrong], wrong == 3 ? 2 : 1);
        } else if (wrong >= 4) {
            is_violation(&c.v.violations[0], CHECK_STATE_MATCHES_EFFECTS, WHY_CORRUPT, NULL, 0, 0);
        }
        ck_assert_uint_ge(c.v.judged[CHECK_STATE_MATCHES_EFFECTS], wrong == 2 ? 0 : 1);
        ruled(&c, wrong == 0 ? 0 : wrong == 5 ? STATE | LOST : STATE);
    }
    /* An entity whose number is no entity of the scenario, as damaged pages may hold. */
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    verdict_audit_begin(&c.v, &c.ops);
    verdict_audit_row(&c.v, &c.ops, INT64_MAX, 1, UINT32_MAX, 1);
    verdict_audit_row(&c.v, &c.ops, -1, 1, ENTITIES, 1);
    verdict_audit_entity(&c.v, ENTITIES, 0);
    verdict_audit_entity(&c.v, UINT32_MAX, 3);
    verdict_audit_end(&c.v, &c.ops, true);
    is_violation(&c.v.violations[0], CHECK_STATE_MATCHES_EFFECTS, WHY_BALANCE, NULL, 3, UINT32_MAX);
    ck_assert_uint_eq(c.v.violated[CHECK_STATE_MATCHES_EFFECTS], 1);
    ruled(&c, STATE);
}
END_TEST

/* Operations that are judged and forgotten while the run goes on: their rows are still on the disk,
 * their slots go to others, and balances still count them. */
START_TEST(forgotten_operations_still_count)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, false);
    for (uint64_t n = 1; n <= 20; n++) {
        struct operation *a = operation(&c, n, (uint32_t)n % 2, (int64_t)n);
        ck_assert_uint_eq(a->slot, 0);
        effect(&c, a);
        replies(&c, a, REPLY_DONE, receipt_make(a->op, 1));
        audit(&c, n % 3 == 0);
        ck_assert_uint_eq(a->audited, 1);
        closes(&c, a, BELIEF_DONE, false);
        verdict_operation(&c.v, a);
        operations_release(&c.ops, a);
    }
    ck_assert_int_eq(c.v.retired_sum[0], 2 + 4 + 6 + 8 + 10 + 12 + 14 + 16 + 18 + 20);
    ck_assert_int_eq(c.v.retired_sum[1], 1 + 3 + 5 + 7 + 9 + 11 + 13 + 15 + 17 + 19);
    audit(&c, true);
    ck_assert_uint_eq(c.v.operations, 20);
    ck_assert_uint_eq(c.v.violated[CHECK_STATE_MATCHES_EFFECTS], 0);
    c.balance[0]--; /* and one that was lost after all shows */
    audit(&c, true);
    is_violation(&c.v.violations[0], CHECK_STATE_MATCHES_EFFECTS, WHY_BALANCE, NULL, -1, 0);
    ruled(&c, STATE);
}
END_TEST

START_TEST(few_are_kept_and_all_are_counted)
{
    struct court c;
    court_open(&c, CHECKS_EXACTLY_ONCE, true);
    enum { MANY = 3 * VIOLATIONS_KEPT };
    for (uint64_t n = 1; n <= MANY; n++) {
        struct operation *a = operation(&c, n, 0, 1);
        closes(&c, a, BELIEF_DONE, true);
        for (int times = 0; times < 3; times++) {
            replies(&c, a, REPLY_DUPLICATE, receipt_make(op_make(1, 1), 1));
        }
    }
    run_ends(&c);
    ck_assert_uint_eq(c.v.kept, VIOLATIONS_KEPT);
    ck_assert_uint_eq(c.v.violated[CHECK_DISTINCT_OPERATIONS], MANY);
    ck_assert_uint_eq(c.v.violated[CHECK_SAME_REPLY], MANY);
    ck_assert_uint_eq(c.v.violated[CHECK_NO_LOST_EFFECT], MANY);
    ck_assert_uint_eq(c.v.violated[CHECK_PROGRESS], MANY);
    ck_assert_uint_eq(c.v.judged[CHECK_SAME_REPLY], 3 * MANY);
    ruled(&c, DISTINCT | SAME | LOST | PROGRESS);
}
END_TEST

/* A check that nobody asked for neither judges nor rejects; a reset forgets everything. */
START_TEST(only_what_is_asked_for)
{
    for (unsigned check = 0; check < CHECK_COUNT; check++) {
        struct court c;
        court_open(&c, CHECK_BIT(check), true);
        struct operation *a = operation(&c, 1, 0, 1), *b = operation(&c, 2, 0, 1);
        struct operation *d = operation(&c, 3, 0, 1);
        effect(&c, operation(&c, 4, 0, 1));
        effect(&c, a);
        effect(&c, a);
        is_not_told(&c, a);
        replies(&c, b, REPLY_DUPLICATE, receipt_make(a->op, 1));
        c.balance[0] = 77;
        audit(&c, true);
        closes(&c, a, BELIEF_FAILED, true);
        closes(&c, b, BELIEF_DONE, false);
        replies(&c, d, REPLY_ERROR, 0);
        records_go_wrong(&c, d);
        run_ends(&c);
        for (unsigned other = 0; other < CHECK_COUNT; other++) {
            ck_assert((c.v.judged[other] > 0) == (other == check));
            ck_assert((c.v.violated[other] > 0) == (other == check));
        }
        verdict_reset(&c.v, CHECK_BIT(check), false, false);
        operations_reset(&c.ops);
        history_reset(&c.run.history, true);
        c.row_count = 0;
        c.balance[0] = 0;
        run_ends(&c);
        ck_assert_uint_eq(c.v.operations + c.v.judged[check] + c.v.kept, 0);
        ruled(&c, 0);
    }
}
END_TEST

/* From counts to a verdict. */
START_TEST(verdicts)
{
    enum { UNREACHED = 99 }; /* second attempts, and nothing delivered */
    static const struct expectation none = {0};
    static const struct expectation holds = {.given = true, .checks = SAME | PROGRESS};
    static const struct expectation breaks = {.given = true, .violates = true, .checks = DOUBLE};
    static const struct {
        const struct expectation *e;
        enum sim_error error;
        uint32_t violated; /* one each */
        uint64_t repeated;
        uint8_t fate;    /* of the one listed fault */
        uint32_t silent; /* checks that judged nothing */
        enum verdict_kind verdict;
        bool expected;
    } cases[] = {
        {&none, SIM_OK, 0, 1, FATE_FIRED, 0, VERDICT_PASS, true},
        {&none, SIM_OK, 0, 1, FATE_NOT_APPLICABLE, 0, VERDICT_PASS, true},
        {&none, SIM_OK, 0, 1, FATE_FIRED, GHOST | DURABLE, VERDICT_PASS, true},
        {&none, SIM_OK, 0, 0, FATE_FIRED, 0, VERDICT_VACUOUS, false},
        {&none, SIM_OK, 0, UNREACHED, FATE_FIRED, 0, VERDICT_VACUOUS, false},
        {&none, SIM_OK, 0, 1, FATE_UNREACHED, 0, VERDICT_UNFIRED, false},
        {&none, SIM_OK, 0, 1, FATE_HELD, 0, VERDICT_UNFIRED, false},
        {&none, SIM_OK, 0, 0, FATE_UNREACHED, 0, VERDICT_UNFIRED, false},
        {&none, SIM_OK, LOST, 0, FATE_UNREACHED, 0, VERDICT_FAIL, false},
        {&none, SIM_OK, STATE, 1, FATE_FIRED, 0, VERDICT_FAIL, false},
        {&none, SIM_ERR_STORE, LOST, 1, FATE_FIRED, 0, VERDICT_ERROR, false},
        /* named checks: only these count, and each must have judged something */
        {&holds, SIM_OK, 0, 0, FATE_FIRED, 0, VERDICT_PASS, true},
        {&holds, SIM_OK, 0, 1, FATE_FIRED, DOUBLE, VERDICT_PASS, true},
        {&holds, SIM_OK, 0, 1, FATE_FIRED, SAME, VERDICT_VACUOUS, false},
        {&holds, SIM_OK, PROGRESS, 1, FATE_FIRED, 0, VERDICT_FAIL, false},
        /* violations that are expected */
        {&breaks, SIM_OK, DOUBLE, 1, FATE_FIRED, 0, VERDICT_FAIL, true},
        {&breaks, SIM_OK, DOUBLE | LOST, 1, FATE_FIRED, 0, VERDICT_FAIL, true},
        {&breaks, SIM_OK, LOST, 1, FATE_FIRED, 0, VERDICT_FAIL, false},
        {&breaks, SIM_OK, 0, 1, FATE_FIRED, 0, VERDICT_PASS, false},
        {&breaks, SIM_OK, 0, 0, FATE_FIRED, 0, VERDICT_VACUOUS, false},
        {&breaks, SIM_OK, 0, 1, FATE_UNREACHED, 0, VERDICT_UNFIRED, false},
        {&breaks, SIM_ERR_STORE, DOUBLE, 1, FATE_FIRED, 0, VERDICT_ERROR, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uint8_t fate = cases[i].fate;
        struct result r = {.expectation = cases[i].e,
                           .error = cases[i].error,
                           .repeated = cases[i].repeated,
                           .fates = &fate,
                           .listed_count = 1,
                           .deliveries = cases[i].repeated == UNREACHED ? 0 : 4,
                           .operations = 3};
        r.checks = cases[i].e == &holds ? holds.checks : (uint32_t)CHECKS_EXACTLY_ONCE;
        for (unsigned c = 0; c < CHECK_COUNT; c++) {
            r.violated[c] = !!(cases[i].violated & CHECK_BIT(c));
            r.judged[c] = !(cases[i].silent & CHECK_BIT(c));
        }
        result_judge(&r);
        ck_assert_msg(r.verdict == cases[i].verdict && r.expected == cases[i].expected,
                      "case %zu: %s, %d", i, verdict_text(r.verdict), r.expected);
        bool says_why = r.verdict != VERDICT_PASS && r.verdict != VERDICT_FAIL;
        ck_assert((r.reason[0] != '\0') == says_why);
    }
}
END_TEST

Suite *verdict_suite(void)
{
    Suite *s = suite_create("verdict");
    TCase *t = tcase_create("verdict");
    tcase_add_test(t, a_story_in_order_violates_nothing);
    tcase_add_test(t, two_effects_of_one_operation);
    tcase_add_test(t, an_audit_finds_the_second_effect);
    tcase_add_test(t, belief_against_effect);
    tcase_add_test(t, acknowledged_and_gone);
    tcase_add_test(t, gone_but_never_acknowledged);
    tcase_add_test(t, replies_to_one_operation);
    tcase_add_test(t, unfinished_and_given_up);
    tcase_add_test(t, unfinished_by_faults);
    tcase_add_test(t, what_is_certain_of_a_closed_operation);
    tcase_add_test(t, balances_against_effects);
    tcase_add_test(t, forgotten_operations_still_count);
    tcase_add_test(t, few_are_kept_and_all_are_counted);
    tcase_add_test(t, only_what_is_asked_for);
    tcase_add_test(t, verdicts);
    suite_add_tcase(s, t);
    return s;
}
