/* How a sender opens its session: before anything else, until it has one or gives it up; which
 * session it carries; that nothing of it is judged but its progress. Seen by a receiver that gives
 * out numbers of its own.
 */
#include "tests/session_tests.h"
#include "tests/world_rig.h"

#include "receivers/receiver.h"

#include <inttypes.h>

struct carried {
    int64_t number, session, acknowledged;
    bool registers;
    uint64_t at;
};
static struct carried carried[64];
static size_t carried_count;
static int64_t sessions; /* given out, from 1 */

/* Gives a session to whoever registers, does what `naive` does for the rest. */
static void give_sessions(struct handling *h)
{
    must(carried_count < ARRAY_LEN(carried));
    carried[carried_count++] =
        (struct carried){handling_number(h), handling_session(h), handling_acknowledged(h),
                         handling_registers(h), handling_now(h)};
    if (!handling_registers(h)) {
        receiver_find("naive", 5)->handle(h);
        return;
    }
    must(handling_entity(h)[0] == '\0' && strcmp(handling_body(h), "register") == 0);
    enum outcome o = apply_effect(h);
    if (o != OK) {
        give_up(h, o);
        return;
    }
    must(handling_receipt(h) == 0);
    reply(h, REPLY_DONE, ++sessions);
}

static void refuse_sessions(struct handling *h)
{
    carried_count++;
    reply(h, handling_registers(h) ? REPLY_REFUSED : REPLY_DONE, 0);
}

/* Plays a scenario with that handler; result_fini by the caller. */
static struct result play(struct scenario *s, void (*handle)(struct handling *h))
{
    static struct receiver code;
    code = *receiver_find("naive", 5);
    code.handle = handle;
    s->receivers[0].code = &code;
    carried_count = 0;
    sessions = 0;
    struct result r = rig_once(s, s->receivers[0].name, 1);
    ck_assert_int_ne(r.verdict, VERDICT_ERROR);
    return r;
}

#define SHOP                                                                                       \
    "receivers: [naive]\n"                                                                         \
    "network: {delay: 20ms}\n"                                                                     \
    "senders:\n"                                                                                   \
    "  - name: shop\n"                                                                             \
    "    session: registered\n"

/* Neither lanes nor messages with a time of their own, nor an open loop, go before the answer. */
START_TEST(nothing_goes_before_the_answer)
{
    static const char *const lists[] = {
        "    in_flight: 3\n    messages: [{id: m-1, entity: e, charge: 1},\n"
        "      {id: m-2, entity: e, charge: 1, at: 1100ms}, {id: m-3, entity: e, charge: 1}]\n",
        "    messages: [{id: m-1, entity: e, charge: 1, at: 1s},\n"
        "      {id: m-2, entity: e, charge: 1, at: 2s}, {id: m-3, entity: e, charge: 1, at: 9s}]\n",
        "    workload: {count: 3}\n    loop: open\n    every: 10ms\n",
        "    workload: {count: 3}\n    in_flight: 3\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct scenario s;
        rig_scenario(&s,
                     SHOP "%s"
                          "faults: [lose request shop-register/1, lose reply shop-register/2]\n",
                     lists[i]);
        struct result r = play(&s, give_sessions);
        ck_assert_uint_eq(carried_count, 5);
        for (size_t n = 0; n < 2; n++) {
            ck_assert(carried[n].registers && carried[n].number == 0 && carried[n].session == 0);
            ck_assert_int_eq(carried[n].acknowledged, 0);
        }
        for (size_t n = 2; n < 5; n++) {
            ck_assert(!carried[n].registers && carried[n].number > 0);
            ck_assert_int_eq(carried[n].session, 2); /* of the answer that came */
            ck_assert_uint_ge(carried[n].at, SIM_START + 2060 * SIM_MS);
        }
        ck_assert_uint_eq(r.operations, 4);
        ck_assert_uint_eq(r.effects, 3);
        ck_assert_uint_eq(r.gave_up, 0);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* Each attempt carries the latest session; the answer to a late copy of a registration gives none.
 */
START_TEST(the_latest_session_is_carried)
{
    struct scenario s;
    rig_scenario(&s, SHOP "    messages:\n"
                          "      - {id: m-1, entity: e, charge: 1, at: 2s}\n"
                          "      - {id: r-2, register: true, at: 2500ms}\n"
                          "      - {id: m-3, entity: e, charge: 1, at: 5s}\n"
                          "faults:\n"
                          "  - lose reply m-1/1\n"
                          "  - duplicate request shop-register/1 after 3s\n"
                          "  - duplicate request r-2/1 after 1s\n");
    struct result r = play(&s, give_sessions);
    static const struct carried want[] = {
        {0, 0, 0, true, 0}, {1, 1, 0, false, 0}, {2, 1, 0, true, 0},  {1, 2, 0, false, 0},
        {2, 1, 0, true, 0}, {0, 0, 0, true, 0},  {3, 2, 2, false, 0},
    };
    ck_assert_uint_eq(carried_count, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        ck_assert_int_eq(carried[i].number, want[i].number);
        ck_assert_int_eq(carried[i].session, want[i].session);
        ck_assert_int_eq(carried[i].acknowledged, want[i].acknowledged);
        ck_assert(carried[i].registers == want[i].registers);
    }
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

/* Without a session nothing is sent, and the run ends. */
START_TEST(no_session_no_message)
{
    static const char *const lists[] = {
        "    messages: [{id: m-1, entity: e, charge: 1}, {id: m-2, entity: e, charge: 1, at: "
        "9s}]\n",
        "    workload: {count: 2}\n    loop: open\n    every: 10ms\n",
    };
    for (size_t i = 0; i < 2 * ARRAY_LEN(lists); i++) {
        bool refused = i % 2;
        struct scenario s;
        rig_scenario(
            &s, SHOP "%s    retry: {limit: 2}\n%s", lists[i / 2],
            refused ? "" : "faults: [lose reply shop-register/1, lose reply shop-register/2]\n");
        struct result r = play(&s, refused ? refuse_sessions : give_sessions);
        ck_assert_uint_eq(carried_count, refused ? 1 : 2);
        ck_assert_uint_eq(r.attempts, refused ? 1 : 2);
        ck_assert_uint_eq(r.operations, 1);
        ck_assert_uint_eq(r.gave_up, refused ? 2 : 3);
        ck_assert_int_eq(r.verdict, VERDICT_VACUOUS);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* A death while it waits for the answer, and one of the receiver's: it asks again. */
START_TEST(deaths_while_it_is_asked_for)
{
    static const char *const faults[] = {
        "sender-crash shop at shop-register/1 after send",
        "crash receiver at shop-register/1 before effect (power none)",
        "store receiver at shop-register/1 effect (busy)",
        "handler receiver at shop-register/1 after effect fails",
    };
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        struct scenario s;
        rig_scenario(&s, SHOP "    workload: {count: 3}\nfaults: [%s]\n", faults[i]);
        struct result r = play(&s, give_sessions);
        ck_assert_int_eq(r.fates[0], FATE_FIRED);
        ck_assert_uint_eq(r.effects, 3);
        ck_assert_uint_eq(r.gave_up, 0);
        ck_assert_uint_eq(r.operations, 4);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* Handled twice, answered with two numbers, refused after a success: no check minds but progress.
 */
START_TEST(registrations_are_not_judged)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [table, response, claim, naive, entity, record_first]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    session: registered\n"
                     "    messages: [{id: r-1, register: true}, {id: m-1, entity: e, charge: 1}]\n"
                     "network: {delay: 20ms}\n"
                     "faults:\n"
                     "  - duplicate request shop-register/1 2 times after 10ms\n"
                     "  - lose reply r-1/1\n"
                     "  - crash receiver at r-1/2 after reply (power none) restart after 5ms\n");
    for (size_t i = 0; i < s.receiver_count; i++) {
        struct result r = rig_once(&s, s.receivers[i].name, 1);
        ck_assert_int_eq(r.verdict, VERDICT_VACUOUS); /* m-1 alone is judged, and was sent once */
        ck_assert_uint_eq(r.operations, 3);
        ck_assert_uint_eq(r.repeated, 0);
        ck_assert_uint_eq(r.effects, 1);
        ck_assert_uint_eq(r.judged[CHECK_NO_DOUBLE_EFFECT], 1);
        ck_assert_uint_eq(r.judged[CHECK_NO_LOST_EFFECT], 1);
        ck_assert_uint_eq(r.judged[CHECK_SAME_REPLY], 1);
        ck_assert_uint_eq(r.judged[CHECK_PROGRESS], 3);
        ck_assert_uint_eq(r.judged[CHECK_ACK_IMPLIES_DURABLE], 0);
        result_fini(&r);
    }
    struct result r = play(&s, give_sessions);
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        ck_assert(!rig_violated(&r, (enum check)c));
    }
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

/* A counter that is behind takes a number again, and goes on from there. */
START_TEST(a_counter_behind_numbers_again)
{
    struct scenario s;
    rig_scenario(&s, SHOP "    workload: {count: 5}\n"
                          "faults:\n"
                          "  - sender-amnesia shop at shop-2/1 after send (counter behind)\n");
    struct result r = play(&s, give_sessions);
    static const int64_t numbers[] = {0, 1, 2, 2, 2, 3, 4}, acknowledged[] = {0, 0, 1, 1, 1, 2, 3};
    ck_assert_uint_eq(carried_count, ARRAY_LEN(numbers));
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        ck_assert_int_eq(carried[i].number, numbers[i]);
        ck_assert_int_eq(carried[i].acknowledged, acknowledged[i]);
    }
    result_fini(&r);
    scenario_fini(&s);
}
END_TEST

TCase *registration_tests(void)
{
    TCase *t = tcase_create("registration");
    tcase_add_test(t, nothing_goes_before_the_answer);
    tcase_add_test(t, the_latest_session_is_carried);
    tcase_add_test(t, no_session_no_message);
    tcase_add_test(t, deaths_while_it_is_asked_for);
    tcase_add_test(t, registrations_are_not_judged);
    tcase_add_test(t, a_counter_behind_numbers_again);
    return t;
}
