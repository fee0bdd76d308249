/* What happens to a message between its two ends.
 *
 * Pinned: delays by direction, overtaking, loss, copies in any number, added delay, partitions to
 * the nanosecond and by direction; and that each message's fate hangs on the message alone: not on
 * the receiver at the other end, not on faults of other messages.
 *
 * Left open: the delay's distribution (test_dist), random pauses between two hosts that are up.
 */
#include "tests/world_rig.h"

#include <stdlib.h>

/* A listed message at each of the moments; rest: further keys of the scenario. */
static struct world *messages_at(struct scenario *s, const char *const *at, size_t count,
                                 const char *rest)
{
    char list[2000];
    int n = 0;
    for (size_t i = 0; i < count; i++) {
        n += snprintf(list + n, sizeof(list) - (size_t)n,
                      "      - {id: m-%zu, entity: box, charge: 5, at: %s}\n", i + 1, at[i]);
    }
    rig_scenario(s,
                 "receivers: [table, naive]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages:\n%s"
                 "    retry: {after: 1h, limit: 2}\n"
                 "%s",
                 list, rest);
    return rig_world(s, "table");
}

static struct world *message(struct scenario *s, const char *rest)
{
    return messages_at(s, (const char *const[]){"1s"}, 1, rest);
}

static struct result play(struct world *w)
{
    struct result r = rig_play_kept(w, 1);
    ck_assert_int_eq(r.error, SIM_OK);
    return r;
}

static uint64_t at(struct world *w, enum record_kind kind, size_t n)
{
    const struct record *r = rig_find(w, kind, n);
    ck_assert_ptr_nonnull(r);
    return r->at;
}

START_TEST(delays_by_direction)
{
    struct scenario s;
    struct world *w = message(&s, "network: {delay: {request: 10ms, reply: 70ms}}\n");
    struct result r = play(w);
    ck_assert_uint_eq(at(w, RECORD_DELIVER, 0), SIM_START + 10 * SIM_MS);
    ck_assert_uint_eq(at(w, RECORD_ANSWER, 0), SIM_START + 80 * SIM_MS);
    ck_assert_uint_eq(r.lost + r.copies, 0);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Within its bounds, over all of them, and not in the order of sending. */
START_TEST(messages_overtake_each_other)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, workload: {count: 400}, loop: open, every: 1ms}\n"
                     "network: {delay: {request: 20ms..80ms, reply: 1ms}}\n");
    struct world *w = rig_world(&s, "table");
    struct result r = play(w);
    uint64_t least = SIM_TIME_MAX, most = 0, last = 0;
    unsigned overtaken = 0;
    for (size_t i = 0; i < 400; i++) {
        const struct record *d = rig_find(w, RECORD_DELIVER, i);
        uint64_t n = op_number(d->op);
        uint64_t took = d->at - (SIM_START + (n - 1) * SIM_MS);
        least = took < least ? took : least;
        most = took > most ? took : most;
        overtaken += n < last;
        last = n;
    }
    ck_assert(least >= 20 * SIM_MS && least < 23 * SIM_MS);
    ck_assert(most <= 80 * SIM_MS && most > 77 * SIM_MS);
    ck_assert_uint_gt(overtaken, 100);
    ck_assert(rig_exactly_once(&r));
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(random_loss_and_copies)
{
    static const struct {
        const char *rates;
        unsigned lost_of_100, copied_of_100; /* of what is sent, both directions */
    } cases[] = {{"lose: 1/4", 25, 0},
                 {"duplicate: 1/5", 0, 20},
                 {"lose: {request: 1/2}", 35, 0}, /* half the requests, no reply */
                 {"lose: {reply: 1/1}", 50, 0},
                 {"duplicate: {request: 1/1}", 0, 33}, /* copies of requests are answered too */
                 {"duplicate: {reply: 1/1}", 0, 50}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: shop, workload: {count: 1000}, loop: open, every: 1ms,"
                     " retry: {limit: 3}}\n"
                     "network: {%s}\n",
                     cases[i].rates);
        struct world *w = rig_world(&s, "table");
        struct result r = play(w);
        uint64_t sent = r.attempts + rig_count(w, RECORD_REPLY);
        ck_assert_uint_eq(rig_count(w, RECORD_LOST), r.lost);
        ck_assert_uint_eq(rig_count(w, RECORD_COPY), r.copies);
        ck_assert_uint_eq(rig_count(w, RECORD_DELIVER), r.deliveries);
        uint64_t arrived = r.deliveries + rig_count(w, RECORD_ANSWER) + rig_count(w, RECORD_LATE);
        ck_assert_uint_eq(arrived, sent + r.copies - r.lost);
        ck_assert_uint_le(r.lost * 100 / sent, cases[i].lost_of_100 + 3);
        ck_assert_uint_ge(r.lost * 100 / sent + 3, cases[i].lost_of_100);
        ck_assert_uint_le(r.copies * 100 / sent, cases[i].copied_of_100 + 3);
        ck_assert_uint_ge(r.copies * 100 / sent + 3, cases[i].copied_of_100);
        ck_assert(!rig_violated(&r, CHECK_NO_DOUBLE_EFFECT));
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(scripted_loss)
{
    struct scenario s;
    struct world *w = message(&s, "faults_until: 2h\n"
                                  "faults: [lose request m-1/1, lose reply m-1/2]\n");
    struct result r = play(w);
    ck_assert_uint_eq(r.lost, 2);
    ck_assert_uint_eq(r.deliveries, 1);
    ck_assert_uint_eq(r.gave_up, 1);
    ck_assert_int_eq(rig_find(w, RECORD_LOST, 0)->code, REQUEST);
    ck_assert_int_eq(rig_find(w, RECORD_LOST, 1)->code, REPLY);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* The second attempt leaves an hour later: a minute after the last first send all is quiet, so that
 * an operation has the time to end. */
START_TEST(no_fault_strikes_when_all_is_quiet)
{
    struct scenario s;
    struct world *w = message(&s, "faults: [lose request m-1/1, lose reply m-1/2]\n");
    struct result r = play(w);
    ck_assert_int_eq(r.verdict, VERDICT_UNFIRED);
    ck_assert_int_eq(r.fates[0], FATE_FIRED);
    ck_assert_int_eq(r.fates[1], FATE_UNREACHED);
    ck_assert_uint_eq(r.fired_count, 1);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* n copies beside the first, each so much after the one before, each with a fate of its own. */
START_TEST(scripted_copies)
{
    for (unsigned n = 1; n <= 7; n++) {
        struct scenario s;
        char rest[300];
        snprintf(rest, sizeof(rest),
                 "network: {delay: 10ms}\n"
                 "faults:\n"
                 "  - duplicate request m-1/1 %u times after 3s\n"
                 "  - delay request m-1/1.2 by 1m\n"
                 "%s",
                 n, n > 2 ? "  - lose request m-1/1.3\n" : "");
        struct world *w = message(&s, rest);
        struct result r = play(w);
        ck_assert_uint_eq(r.copies, n);
        ck_assert_uint_eq(r.lost, n > 2);
        ck_assert_uint_eq(r.deliveries, 1 + n - (n > 2));
        ck_assert_uint_eq(r.duplicates, n - (n > 2));
        for (size_t i = 0; i < r.deliveries; i++) {
            const struct record *d = rig_find(w, RECORD_DELIVER, i);
            uint64_t due = SIM_START + 10 * SIM_MS + (d->copy - 1) * 3 * SIM_S;
            ck_assert_uint_eq(d->at, d->copy == 2 ? due + 60 * SIM_S : due);
            ck_assert(d->copy >= 1 && d->copy <= n + 1 && (d->copy != 3 || n <= 2));
        }
        ck_assert(rig_exactly_once(&r));
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

START_TEST(copies_of_a_reply)
{
    struct scenario s;
    struct world *w = message(&s, "network: {delay: 10ms}\n"
                                  "faults:\n"
                                  "  - duplicate reply m-1/1 3 times after 1s\n"
                                  "  - lose reply m-1/1\n"
                                  "  - delay reply m-1/1.1.3 by 7s\n");
    struct result r = play(w);
    ck_assert_uint_eq(r.copies, 3);
    ck_assert_uint_eq(r.deliveries, 1);
    ck_assert_uint_eq(at(w, RECORD_ANSWER, 0), SIM_START + 1020 * SIM_MS);
    ck_assert_uint_eq(at(w, RECORD_LATE, 0), SIM_START + 3020 * SIM_MS);
    ck_assert_uint_eq(at(w, RECORD_LATE, 1), SIM_START + 9020 * SIM_MS);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* From its first moment on, up to its end and no longer, by the moment of sending. */
START_TEST(partitions)
{
    static const char *const moments[] = {"4999999999ns", "5s", "19999999999ns", "20s"};
    static const struct {
        const char *cut;
        bool request[4], reply[4]; /* which pass, of messages sent at those moments */
    } cases[] = {
        {"partition shop receiver 5s..20s", {1, 0, 0, 1}, {0, 0, 0, 1}},
        {"partition receiver shop 5s..20s", {1, 0, 0, 1}, {0, 0, 0, 1}},
        {"partition shop to receiver 5s..20s", {1, 0, 0, 1}, {1, 0, 0, 1}},
        {"partition receiver to shop 5s..20s", {1, 1, 1, 1}, {0, 0, 1, 1}},
        {"partition receiver to shop 5010ms..20s", {1, 1, 1, 1}, {1, 0, 1, 1}},
        {"partition till receiver 5s..20s", {1, 1, 1, 1}, {1, 1, 1, 1}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages:\n"
                     "      - {id: m-1, entity: box, charge: 5, at: %s}\n"
                     "      - {id: m-2, entity: box, charge: 5, at: %s}\n"
                     "      - {id: m-3, entity: box, charge: 5, at: %s}\n"
                     "      - {id: m-4, entity: box, charge: 5, at: %s}\n"
                     "    retry: {after: 1h, limit: 1}\n"
                     "  - {name: till, messages: [{id: t, entity: box, charge: 1, at: 30s}]}\n"
                     "network: {delay: 10ms}\n"
                     "faults: ['%s']\n",
                     moments[0], moments[1], moments[2], moments[3], cases[i].cut);
        struct world *w = rig_world(&s, "table");
        struct result r = play(w);
        bool request[4] = {0}, reply[4] = {0};
        size_t count;
        const struct record *records = world_history(w, &count);
        for (size_t n = 0; n < count; n++) {
            uint64_t number = op_number(records[n].op);
            if (records[n].op == 0 || op_sender(records[n].op) != PLACE_SENDER) {
                continue;
            }
            if (records[n].kind == RECORD_DELIVER) {
                request[number - 1] = true;
            } else if (records[n].kind == RECORD_ANSWER) {
                reply[number - 1] = true;
            } else if (records[n].kind == RECORD_LOST) {
                ck_assert_int_eq(records[n].value, 1);
            }
        }
        bool struck = false;
        for (size_t n = 0; n < 4; n++) {
            struck = struck || !request[n] || !reply[n];
            ck_assert_msg(request[n] == cases[i].request[n] && reply[n] == cases[i].reply[n],
                          "%s: message %zu: %d %d", cases[i].cut, n + 1, request[n], reply[n]);
        }
        ck_assert_uint_eq(rig_count(w, RECORD_PARTITION), 2);
        ck_assert_uint_eq(at(w, RECORD_PARTITION, 1), 20 * SIM_S);
        /* One that kept nothing back has not happened to anybody. */
        ck_assert_uint_eq(r.fired_count, struck);
        ck_assert_int_eq(r.fates[0], struck ? FATE_FIRED : FATE_HELD);
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

/* Several at a time: what any of them cuts is cut. */
START_TEST(partitions_may_overlap)
{
    struct scenario s;
    struct world *w = messages_at(
        &s, (const char *const[]){"4s", "6s", "12s", "16s", "21s"}, 5,
        "network: {delay: 10ms}\n"
        "faults: ['partition shop receiver 5s..13s',"
        " 'partition shop to receiver 10s..15s', 'partition shop receiver 20s..22s']\n");
    for (int times = 0; times < 2; times++) {
        struct result r = play(w);
        ck_assert_uint_eq(r.lost, 3);
        ck_assert_uint_eq(rig_count(w, RECORD_PARTITION), 6);
        ck_assert(rig_exactly_once(&r)); /* the second attempts come an hour later */
        result_fini(&r);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* What became of one attempt's request. */
struct fate {
    uint64_t op;
    uint16_t attempt;
    uint8_t copies, lost, arrived;
    uint64_t took[3]; /* of copy 1, 2 and 3, from sending */
};

/* Requests in order of their operation and attempt. */
static size_t fates_of(struct world *w, struct fate *fates, size_t most)
{
    size_t count, n = 0;
    const struct record *records = world_history(w, &count);
    uint64_t *sent = sim_zalloc(most, sizeof(*sent));
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        size_t f = 0;
        while (f < n && (fates[f].op != r->op || fates[f].attempt != r->attempt)) {
            f++;
        }
        if (r->kind == RECORD_SEND) {
            expect(f == n && n < most);
            sent[n] = r->at;
            fates[n++] = (struct fate){.op = r->op, .attempt = r->attempt};
        } else if (r->kind == RECORD_COPY && r->code == REQUEST) {
            fates[f].copies++;
        } else if (r->kind == RECORD_LOST && r->code == REQUEST) {
            fates[f].lost |= (uint8_t)(1 << r->copy);
        } else if (r->kind == RECORD_DELIVER) {
            expect(r->copy >= 1 && r->copy <= 3);
            fates[f].arrived |= (uint8_t)(1 << r->copy);
            fates[f].took[r->copy - 1] = r->at - sent[f];
        }
    }
    free(sent);
    return n;
}

static void same_fates(struct world *a, struct world *b, size_t *compared, bool *differ)
{
    enum { MOST = 600 };
    struct fate *one = sim_zalloc(MOST, sizeof(*one)), *two = sim_zalloc(MOST, sizeof(*two));
    size_t n = fates_of(a, one, MOST), m = fates_of(b, two, MOST);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < m; j++) {
            if (one[i].op == two[j].op && one[i].attempt == two[j].attempt) {
                *differ = *differ || memcmp(&one[i], &two[j], sizeof(one[i])) != 0;
                ++*compared;
            }
        }
    }
    free(one);
    free(two);
}

START_TEST(fates_hang_on_the_message_alone)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [table, entity, response, naive]\n"
                     "senders:\n"
                     "  - {name: shop, workload: {count: 40, entities: 3}, in_flight: 3}\n"
                     "  - {name: till, workload: {count: 40}, loop: open, every: 0ms..200ms}\n"
                     "network: {delay: 5ms..500ms, lose: 1/6, duplicate: 1/5}\n"
                     "hosts: {receiver: {handler: 1/20}}\n");
    struct world *table = rig_world(&s, "table");
    static const char *const others[] = {"entity", "response", "naive"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        struct world *other = rig_world(&s, others[i]);
        size_t compared = 0;
        bool differ = false;
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct result r = rig_play_kept(table, seed), q = rig_play_kept(other, seed);
            same_fates(table, other, &compared, &differ);
            result_fini(&r);
            result_fini(&q);
        }
        ck_assert(!differ);
        ck_assert_uint_ge(compared, 10 * 80); /* the first attempts, at least */
        world_free(other);
    }
    /* Another seed is another fate. */
    struct world *again = rig_world(&s, "table");
    struct result r = rig_play_kept(table, 1), q = rig_play_kept(again, 2);
    size_t compared = 0;
    bool differ = false;
    same_fates(table, again, &compared, &differ);
    ck_assert(differ);
    result_fini(&q);
    result_fini(&r);
    world_free(again);
    world_free(table);
    scenario_fini(&s);
}
END_TEST

/* Faults of one message leave all others alone, wherever they stand in the order of events. */
START_TEST(a_fault_moves_no_other_message)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - {name: till, workload: {count: 60}, loop: open, every: 0ms..200ms}\n"
                     "network: {delay: 5ms..500ms, lose: 1/6, duplicate: 1/5}\n");
    struct world *plain = rig_world(&s, "table"), *faulty = rig_world(&s, "table");
    struct fault faults[] = {rig_fault(&s, "delay request till-3/1 by 2s"),
                             rig_fault(&s, "lose request till-7/1"),
                             rig_fault(&s, "duplicate request till-11/1 2 times after 100ms")};
    enum { MOST = 600 };
    static struct fate one[MOST], two[MOST];
    struct play p = {.seed = 1, .keep_history = true, .faults = faults, .fault_count = 3};
    struct result q, r = rig_play_kept(plain, 1);
    world_play(faulty, &p, &q);
    ck_assert_uint_eq(q.fates[0] + q.fates[1] + q.fates[2], 3 * FATE_FIRED);
    size_t n = fates_of(plain, one, MOST), m = fates_of(faulty, two, MOST), same = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t number = op_number(one[i].op);
        for (size_t j = 0; j < m; j++) {
            if (one[i].op == two[j].op && one[i].attempt == two[j].attempt && number != 3 &&
                number != 7 && number != 11) {
                expect(memcmp(&one[i], &two[j], sizeof(one[i])) == 0);
                same++;
            }
        }
    }
    ck_assert_uint_ge(same, 57);
    result_fini(&q);
    result_fini(&r);
    world_free(faulty);
    world_free(plain);
    scenario_fini(&s);
}
END_TEST

Suite *network_suite(void)
{
    Suite *s = suite_create("network");
    TCase *t = tcase_create("network");
    tcase_add_test(t, delays_by_direction);
    tcase_add_test(t, messages_overtake_each_other);
    tcase_add_test(t, random_loss_and_copies);
    tcase_add_test(t, scripted_loss);
    tcase_add_test(t, no_fault_strikes_when_all_is_quiet);
    tcase_add_test(t, scripted_copies);
    tcase_add_test(t, copies_of_a_reply);
    tcase_add_test(t, partitions);
    tcase_add_test(t, partitions_may_overlap);
    tcase_add_test(t, fates_hang_on_the_message_alone);
    tcase_add_test(t, a_fault_moves_no_other_message);
    suite_add_tcase(s, t);
    return s;
}
