/* The receiver `session`, rule by rule, and what a sender does to have one.
 *
 * Pinned: each setting in a small world, with the systems whose rule it is; the lease to the
 * nanosecond; which session is evicted; the settings of sound systems over a random mix, and in
 * every schedule of a small world.
 *
 * Left open: the registration itself, tests/session_registration.c.
 */
#include "tests/number_rig.h"
#include "tests/session_tests.h"

#include <stdlib.h>

#define REGISTERED "    session: registered\n"
#define M1 "{id: m-1, entity: e, charge: 1, at: 2s}"
#define M2 "{id: m-2, entity: e, charge: 20, at: 3s}"
#define M3 "{id: m-3, entity: e, charge: 300, at: 4s}"
#define AGAIN "duplicate request m-1/1 after 10s"
#define NUMBERS "SELECT number FROM response ORDER BY number"

START_TEST(a_response_is_kept_until_it_may_go)
{
    static const struct rule rules[] = {
        {"a repeat gets the response (all)",
         "{name: it, is: session}",
         REGISTERED,
         M1,
         AGAIN,
         {{"shop-register", "done"}, {"m-1", "done duplicate"}},
         "SELECT session, number, status FROM response",
         "1 "},
        {"acknowledged is discarded, and not executed below the low water (RIFL, LogCabin)",
         "{name: it, is: session}",
         REGISTERED,
         M1 ", " M2,
         AGAIN,
         {{"m-1", "done error"}, {"m-2", "done"}},
         NUMBERS,
         "2 "},
        {"what is not acknowledged stays, whatever came after it (RIFL, LogCabin)",
         "{name: it, is: session}",
         REGISTERED,
         M1 ", " M2 ", " M3,
         "lose reply m-1/1, " AGAIN,
         {{"m-1", "done duplicate"}, {"m-3", "done"}},
         NUMBERS,
         "1 2 3 "},
        {"below the low water nothing is said (VR, TigerBeetle)",
         "{name: it, is: session, below: dropped}",
         REGISTERED,
         M1 ", " M2,
         AGAIN,
         {{"m-1", "done"}},
         NULL,
         NULL},
        {"no low-water check: executed again (Joshi's sample)",
         "{name: it, is: session, below: executed}",
         REGISTERED,
         M1 ", " M2,
         AGAIN,
         {{"m-1", "done done"}},
         "SELECT balance FROM entity",
         "22 "},
        {"the next request releases all earlier ones (Joshi, second rule)",
         "{name: it, is: session, discard: next}",
         REGISTERED,
         M1 ", " M2,
         "lose reply m-1/1, " AGAIN ", duplicate request m-2/1 after 10s",
         {{"m-1", "done error"}, {"m-2", "done duplicate"}},
         NUMBERS,
         "2 "},
        {"with N in flight, N are kept (Joshi, third rule)",
         "{name: it, is: session, discard: most, most: 2}",
         REGISTERED,
         M1 ", " M2 ", " M3,
         "lose reply m-1/1, " AGAIN ", duplicate request m-2/1 after 10s",
         {{"m-1", "done error"}, {"m-2", "done duplicate"}},
         NUMBERS,
         "2 3 "},
        {"an abandoned call is acknowledged, its late copy is not executed (LogCabin)",
         "{name: it, is: session}",
         "    session: registered\n",
         M1 ", {id: m-2, entity: e, charge: 20, at: 110s}",
         "delay request m-1/1 by 120s",
         {{"m-1", "error"}, {"m-2", "done"}},
         NULL,
         NULL},
    };
    numbers_hold(rules, ARRAY_LEN(rules));
}
END_TEST

START_TEST(order_and_failures)
{
    static const struct rule rules[] = {
        {"numbers in any order (RIFL, LogCabin)",
         "{name: it, is: session}",
         REGISTERED,
         "{id: m-1, entity: e, charge: 1, at: 5s}, " M2,
         "",
         {{"m-2", "done"}, {"m-1", "done"}},
         NUMBERS,
         "1 2 "},
        {"older than the latest: dropped (VR, TigerBeetle)",
         "{name: it, is: session, order: latest, discard: next}",
         REGISTERED,
         "{id: m-1, entity: e, charge: 1, at: 5s}, " M2,
         "duplicate request m-2/1 after 10s",
         {{"m-2", "done duplicate"}, {"m-1", ""}},
         NUMBERS,
         "2 "},
        {"what is declined is saved too (RIFL)",
         "{name: it, is: session}",
         REGISTERED,
         "{id: m-1, entity: e, charge: 1, at: 2s, declined: 1}",
         AGAIN,
         {{"m-1", "refused refused"}},
         NUMBERS,
         "1 "},
        {"an error is not saved (Joshi's sample)",
         "{name: it, is: session, failures: executed-again}",
         REGISTERED,
         "{id: m-1, entity: e, charge: 1, at: 2s, declined: 1}",
         AGAIN,
         {{"m-1", "refused done"}},
         NUMBERS,
         "1 "},
    };
    numbers_hold(rules, ARRAY_LEN(rules));
}
END_TEST

#define ID_SEEN "SELECT id FROM session ORDER BY id"

START_TEST(sessions_begin_and_end)
{
    static const struct rule rules[] = {
        {"no session: refused",
         "{name: it, is: session}",
         "",
         M1,
         "",
         {{"m-1", "refused"}},
         ID_SEEN,
         ""},
        {"no session: nothing is known of it (LogCabin, TigerBeetle)",
         "{name: it, is: session, unknown: error}",
         "",
         M1,
         "",
         {{"m-1", "error"}},
         ID_SEEN,
         ""},
        {"no session: opened on the fly (VR)",
         "{name: it, is: session, unknown: created}",
         "",
         M1 ", " M2,
         AGAIN,
         {{"m-1", "done error"}, {"m-2", "done"}},
         ID_SEEN,
         "1 "},
        {"idle for just less than its lease",
         "{name: it, is: session, lease: 10s}",
         REGISTERED,
         M1 ", {id: m-2, entity: e, charge: 20, at: 11999999999ns}",
         "",
         {{"m-1", "done"}, {"m-2", "done"}},
         ID_SEEN,
         "1 "},
        {"idle for its lease, with all that it knew",
         "{name: it, is: session, lease: 10s}",
         REGISTERED,
         M1 ", {id: m-2, entity: e, charge: 20, at: 12s}, "
            "{id: r-1, register: true, at: 13s}, {id: m-3, entity: e, charge: 300, at: 14s}",
         "",
         {{"m-2", "refused"}, {"r-1", "done"}, {"m-3", "done"}},
         "SELECT session || ':' || number FROM response",
         "2:4 "},
        {"no lease: for ever (VR)",
         "{name: it, is: session, lease: 0s}",
         REGISTERED,
         M1 ", {id: m-2, entity: e, charge: 20, at: 100h}",
         "",
         {{"m-2", "done"}},
         ID_SEEN,
         "1 "},
    };
    numbers_hold(rules, ARRAY_LEN(rules));
}
END_TEST

START_TEST(leases_and_registrations)
{
    static const struct rule rules[] = {
        {"a repeat does not renew the lease (LogCabin)",
         "{name: it, is: session, lease: 15s}",
         REGISTERED,
         M1 ", {id: m-2, entity: e, charge: 20, at: 18s}",
         AGAIN,
         {{"m-1", "done duplicate"}, {"m-2", "refused"}},
         NULL,
         NULL},
        {"a repeat renews the lease",
         "{name: it, is: session, lease: 15s, expires: last-seen}",
         REGISTERED,
         M1 ", {id: m-2, entity: e, charge: 20, at: 18s}",
         AGAIN,
         {{"m-1", "done duplicate"}, {"m-2", "done"}},
         NULL,
         NULL},
        {"the lease is of the host's clock",
         "{name: it, is: session}",
         REGISTERED,
         M1 ", {id: m-2, entity: e, charge: 20, at: 6s}",
         "clock receiver +1h at 5s",
         {{"m-1", "done"}, {"m-2", "refused"}},
         NULL,
         NULL},
        {"a registration that comes twice opens two (LogCabin)",
         "{name: it, is: session}",
         REGISTERED,
         M1,
         "duplicate request shop-register/1 after 10s",
         {{"shop-register", "done done"}},
         ID_SEEN,
         "1 2 "},
        {"or is answered with the one that is there (TigerBeetle)",
         "{name: it, is: session, register: once}",
         REGISTERED,
         M1,
         "duplicate request shop-register/1 after 10s",
         {{"shop-register", "done duplicate"}},
         ID_SEEN,
         "1 "},
    };
    numbers_hold(rules, ARRAY_LEN(rules));
}
END_TEST

/* TigerBeetle: the session whose latest commit is the oldest goes, not the one opened first. */
START_TEST(one_session_too_many)
{
    struct scenario s;
    rig_scenario(
        &s, "receivers: [{name: it, is: tigerbeetle_session, sessions: 2}]\n"
            "senders:\n"
            "  - {name: a, session: registered, messages: [{id: a-1, entity: e, charge: 1, at: "
            "3s}, {id: a-2, entity: e, charge: 1, at: 6s}]}\n"
            "  - {name: b, messages: [{id: b-0, register: true, at: 2s},\n"
            "     {id: b-1, entity: e, charge: 1, at: 5s}], retry: {limit: 1}}\n"
            "  - {name: c, messages: [{id: c-0, register: true, at: 4s}]}\n"
            "network: {delay: 20ms}\n");
    struct world *w = rig_world(&s, "it");
    struct result r = rig_play_kept(w, 1);
    rig_answers(w, &s, "used since", "a-2", "done");
    rig_answers(w, &s, "idle longest", "b-1", "error");
    rig_holds(w, "SELECT client FROM session ORDER BY id", "a c ");
    rig_holds(w, "SELECT session || ':' || number FROM response", "1:2 ");
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

struct sound {
    const char *receiver, *sender;
};

static const struct sound sound[] = {
    {"{name: it, is: session}", REGISTERED "    in_flight: 4\n"},
    {"{name: it, is: session, unknown: created, lease: 0s}", "    in_flight: 4\n"},
    {"{name: it, is: raft_session}", REGISTERED "    in_flight: 4\n"},
    {"{name: it, is: rifl}", REGISTERED "    in_flight: 4\n"},
    {"{name: it, is: session, discard: most, most: 25, lease: 0s}",
     REGISTERED "    in_flight: 4\n"},
    {"{name: it, is: vr_client_table}", ""},
    {"{name: it, is: vr_client_table}", REGISTERED},
    {"{name: it, is: tigerbeetle_session}", REGISTERED},
};

START_TEST(sound_ones_in_a_mix)
{
    mix_holds(sound[_i].receiver, sound[_i].sender, _i % 2 ? 3 : 1, 100);
}
END_TEST

START_TEST(sound_ones_explored)
{
    explored_holds(sound[_i].receiver, sound[_i].sender);
}
END_TEST

Suite *session_suite(void)
{
    Suite *s = suite_create("session");
    TCase *t = tcase_create("session");
    tcase_set_timeout(t, getenv("ONLYONCE_HEAVY") ? 3600 : 60);
    tcase_add_test(t, a_response_is_kept_until_it_may_go);
    tcase_add_test(t, order_and_failures);
    tcase_add_test(t, sessions_begin_and_end);
    tcase_add_test(t, leases_and_registrations);
    tcase_add_test(t, one_session_too_many);
    tcase_add_loop_test(t, sound_ones_in_a_mix, 0, ARRAY_LEN(sound));
    tcase_add_loop_test(t, sound_ones_explored, 0, ARRAY_LEN(sound));
    suite_add_tcase(s, t);
    suite_add_tcase(s, registration_tests());
    return s;
}
