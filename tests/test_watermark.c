/* The receiver `watermark`, rule by rule.
 *
 * Pinned: each setting in a small world, with the systems whose rule it is; when an idle producer
 * is forgotten, to the nanosecond and by which clock; Kafka's and Pulsar's settings over a random
 * mix, and in every schedule of a small world, with the senders that they ask for.
 */
#include "tests/number_rig.h"

#include <stdlib.h>

#define REGISTERED "    session: registered\n"
#define M1 "{id: m-1, entity: e, charge: 1, at: 2s}"
#define M2 "{id: m-2, entity: e, charge: 20, at: 3s}"
#define M3 "{id: m-3, entity: e, charge: 300, at: 4s}"
#define AGAIN "duplicate request m-1/1 after 10s"
#define STATE "SELECT client || ':' || highest FROM producer"
#define KNOWN "SELECT sequence FROM batch ORDER BY sequence"

START_TEST(repeats)
{
    static const struct rule rules[] = {
        {"among the last five: the first receipt (Kafka)",
         "{name: it, is: kafka_producer}",
         "",
         M1 ", " M2,
         AGAIN,
         {{"m-1", "done duplicate"}, {"m-2", "done"}},
         STATE,
         "shop:2 "},
        {"beyond them: out of order (Kafka)",
         "{name: it, is: watermark, last: 2}",
         "",
         M1 ", " M2 ", " M3,
         AGAIN ", duplicate request m-2/1 after 10s",
         {{"m-1", "done retry-later"}, {"m-2", "done duplicate"}},
         KNOWN,
         "2 3 "},
        {"beyond them: a repeat",
         "{name: it, is: watermark, last: 1, older: duplicate}",
         "",
         M1 ", " M2,
         AGAIN,
         {{"m-1", "done duplicate"}},
         KNOWN,
         "2 "},
        {"only the highest is known (Pulsar)",
         "{name: it, is: pulsar_dedup}",
         "",
         M1 ", " M2,
         AGAIN,
         {{"m-1", "done duplicate"}},
         KNOWN,
         ""},
        {"a producer that registers begins with number 0",
         "{name: it, is: kafka_producer}",
         REGISTERED,
         "{id: m-1, entity: e, charge: 1, at: 3s}, {id: m-2, entity: e, charge: 20, at: 2s}",
         "duplicate request shop-register/1 after 10s",
         {{"shop-register", "done duplicate"}, {"m-2", "retry-later"}, {"m-1", "done"}},
         KNOWN,
         "0 1 "},
    };
    numbers_hold(rules, ARRAY_LEN(rules));
}
END_TEST

START_TEST(gaps_and_failures)
{
    static const struct rule rules[] = {
        {"a gap is refused (Kafka)",
         "{name: it, is: kafka_producer}",
         "",
         M1 ", {id: m-2, entity: e, charge: 20, at: 6s}, " M3,
         "duplicate request m-3/1 after 10s",
         {{"m-3", "retry-later done"}, {"m-2", "done"}},
         STATE,
         "shop:3 "},
        {"a gap is accepted, and what comes after it is lost (Pulsar)",
         "{name: it, is: pulsar_dedup}",
         "",
         M1 ", {id: m-2, entity: e, charge: 20, at: 6s}, " M3,
         "",
         {{"m-3", "done"}, {"m-2", "duplicate"}},
         "SELECT balance FROM entity",
         "301 "},
        {"from a producer without state any number is accepted (Kafka)",
         "{name: it, is: kafka_producer}",
         "",
         "{id: m-1, entity: e, charge: 1, at: 6s}, " M2 ", " M3,
         "",
         {{"m-2", "done"}, {"m-3", "done"}, {"m-1", "retry-later"}},
         KNOWN,
         "2 3 "},
        {"what is declined uses up its number where gaps are refused",
         "{name: it, is: watermark}",
         "",
         "{id: m-1, entity: e, charge: 1, at: 2s, declined: 1}, " M2,
         AGAIN,
         {{"m-1", "refused refused"}, {"m-2", "done"}},
         KNOWN,
         "1 2 "},
        {"and leaves no trace where they are accepted",
         "{name: it, is: watermark, gaps: accepted}",
         "",
         "{id: m-1, entity: e, charge: 1, at: 2s, declined: 1}",
         AGAIN,
         {{"m-1", "refused done"}},
         KNOWN,
         "1 "},
    };
    numbers_hold(rules, ARRAY_LEN(rules));
}
END_TEST

START_TEST(idle_producers)
{
    static const struct rule rules[] = {
        {"known until just before a day has passed (Kafka)",
         "{name: it, is: watermark}",
         "",
         M1,
         "duplicate request m-1/1 after 86399999999999ns",
         {{"m-1", "done duplicate"}},
         NULL,
         NULL},
        {"forgotten after a day, and its receipts too (Kafka)",
         "{name: it, is: watermark}",
         "",
         M1 ", " M2 ", " M3,
         "duplicate request m-2/1 after 86401s",
         {{"m-2", "done done"}},
         KNOWN,
         "2 "},
        {"for ever",
         "{name: it, is: watermark, expires: 0s}",
         "",
         M1,
         "duplicate request m-1/1 after 9000h",
         {{"m-1", "done duplicate"}},
         NULL,
         NULL},
        {"six hours (Pulsar)",
         "{name: it, is: pulsar_dedup}",
         "",
         M1,
         "duplicate request m-1/1 after 6h",
         {{"m-1", "done done"}},
         NULL,
         NULL},
        {"a repeat does not renew it",
         "{name: it, is: watermark, expires: 15s}",
         "",
         M1,
         "duplicate request m-1/1 2 times after 10s",
         {{"m-1", "done duplicate done"}},
         NULL,
         NULL},
        {"by the host's clock",
         "{name: it, is: watermark}",
         "",
         M1,
         "clock receiver +24h at 5s, " AGAIN,
         {{"m-1", "done done"}},
         NULL,
         NULL},
    };
    numbers_hold(rules, ARRAY_LEN(rules));
}
END_TEST

/* What Kafka's CreateTime does: the record's own date counts. */
START_TEST(dated_by_the_sender)
{
    for (unsigned by_sender = 0; by_sender < 2; by_sender++) {
        struct scenario s;
        rig_scenario(
            &s,
            "receivers: [{name: it, is: watermark, expires: 15s, clock: %s}]\n"
            "senders: [{name: shop, messages: [{id: m-1, entity: e, charge: 1, at: 20s}]}]\n"
            "network: {delay: 20ms}\n"
            "hosts: {shop: {clock: {offset: -10s}}}\n"
            "faults: [duplicate request m-1/1 after 6s]\n",
            by_sender ? "sender" : "receiver");
        struct world *w = rig_world(&s, "it");
        struct result r = rig_play_kept(w, 1);
        rig_answers(w, &s, "the date", "m-1", by_sender ? "done done" : "done duplicate");
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

static const struct sound {
    const char *receiver, *sender;
} sound[] = {
    {"{name: it, is: watermark, last: 25}", REGISTERED "    in_flight: 5\n"},
    {"{name: it, is: kafka_producer}", ""},
    {"{name: it, is: watermark, expires: 0s}", REGISTERED},
    {"{name: it, is: watermark, gaps: accepted}", ""},
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

/* Its repeats carry no receipt, which the mix asks for. */
START_TEST(pulsar_explored)
{
    explored_holds("{name: it, is: pulsar_dedup}", "");
}
END_TEST

Suite *watermark_suite(void)
{
    Suite *s = suite_create("watermark");
    TCase *t = tcase_create("watermark");
    tcase_set_timeout(t, getenv("ONLYONCE_HEAVY") ? 3600 : 60);
    tcase_add_test(t, repeats);
    tcase_add_test(t, gaps_and_failures);
    tcase_add_test(t, idle_producers);
    tcase_add_test(t, dated_by_the_sender);
    tcase_add_loop_test(t, sound_ones_in_a_mix, 0, ARRAY_LEN(sound));
    tcase_add_loop_test(t, sound_ones_explored, 0, ARRAY_LEN(sound));
    tcase_add_test(t, pulsar_explored);
    suite_add_tcase(s, t);
    return s;
}
