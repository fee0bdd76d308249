/* Up to which of its operations a client says that it has the answers: against a count by hand, in
 * any order of ends, with times of one's own, after a crash; and what is kept follows what is open.
 */
#include "tests/probe.h"

#include "sim/sender_internal.h"

#define OPERATIONS 400
#define IN_FLIGHT 9

/* A sender without a world. */
struct lone {
    struct run run;
    struct operations ops;
    struct sender sender;
    struct operation *open[OPERATIONS];
    size_t open_count;
    bool ended[OPERATIONS + 2];
};

static void lone_start(struct lone *l, const struct sender_config *c)
{
    memset(l, 0, sizeof(*l));
    l->run.now = SIM_START;
    queue_init(&l->run.queue, 16);
    history_init(&l->run.history);
    history_reset(&l->run.history, false);
    operations_init(&l->ops);
    sender_init(&l->sender, c, PLACE_SENDER, &l->run, &l->ops);
    sender_start(&l->sender);
}

static void lone_stop(struct lone *l)
{
    sender_fini(&l->sender);
    operations_fini(&l->ops);
    history_fini(&l->run.history);
    queue_fini(&l->run.queue);
}

static uint64_t by_hand(const struct lone *l)
{
    uint64_t n = 0;
    while (l->ended[n + 1]) {
        n++;
    }
    return n;
}

static void lone_begin(struct lone *l, uint64_t number)
{
    struct message m;
    l->run.now += SIM_MS;
    if (!sender_next(&l->sender, number, &m)) {
        return;
    }
    expect(op_number(m.op) - m.behind == by_hand(l));
    expect(number == 0 || op_number(m.op) == number);
    l->open[l->open_count++] = operations_at(&l->ops, m.slot);
}

static void lone_end(struct lone *l, size_t which)
{
    struct operation *op = l->open[which];
    l->ended[op_number(op->op)] = true;
    l->open[which] = l->open[--l->open_count];
    sender_close(&l->sender, op, which % 2 ? BELIEF_DONE : BELIEF_UNKNOWN, which % 2 == 0);
    if (!op->listed) {
        operations_release(&l->ops, op);
    }
    expect(sender_acknowledged(&l->sender) == by_hand(l));
}

static uint64_t chance(uint64_t seed, uint64_t nth, uint64_t below)
{
    struct rng_key key = {.operation = nth};
    return rng_range(rng_keyed(seed, &key), 0, below - 1);
}

static const struct retry_policy patient = {.after = SIM_S, .max = SIM_S, .limit = 1000};

/* Ends in any order; a few stay open for long. */
START_TEST(acknowledged_of_a_workload)
{
    struct sender_config c = {.name = (char *)"shop",
                              .workload = {.count = OPERATIONS, .entities = 1},
                              .in_flight = IN_FLIGHT,
                              .retry = patient};
    for (uint64_t seed = 0; seed < 50; seed++) {
        static struct lone l;
        uint64_t nth = 0;
        lone_start(&l, &c);
        for (unsigned run = 0; run < 2; run++) { /* the second in what the first has left */
            while (!sender_exhausted(&l.sender) || l.open_count > 0) {
                bool more = !sender_exhausted(&l.sender) && l.open_count < IN_FLIGHT;
                if (more && (l.open_count == 0 || chance(seed, ++nth, 2) == 0)) {
                    lone_begin(&l, 0);
                } else {
                    size_t from = seed % 2 && l.open_count > 1 && more ? 1 : 0;
                    lone_end(&l, from + chance(seed, ++nth, l.open_count - from));
                }
                struct message again;
                if (l.open_count > 0) { /* each attempt says it anew */
                    queue_remove(&l.run.queue, l.open[0]->timer);
                    sender_send(&l.sender, l.open[0], &again);
                    expect(op_number(again.op) - again.behind == by_hand(&l));
                }
            }
            expect(by_hand(&l) == OPERATIONS);
            expect(l.ops.count <= IN_FLIGHT); /* what is kept follows what is open */
            operations_reset(&l.ops);
            queue_reset(&l.run.queue);
            memset(l.ended, 0, sizeof(l.ended));
            sender_start(&l.sender);
            expect(sender_acknowledged(&l.sender) == 0);
        }
        lone_stop(&l);
    }
}
END_TEST

/* Listed messages with times of their own begin in any order. */
START_TEST(acknowledged_of_a_list)
{
    static struct listed_message list[40];
    static char ids[40][8];
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        snprintf(ids[i], sizeof(ids[i]), "m-%zu", i + 1);
        list[i] = (struct listed_message){.id = ids[i], .amount = 1, .at = i % 3 ? 0 : SIM_S};
    }
    struct sender_config c = {.name = (char *)"shop",
                              .messages = list,
                              .message_count = ARRAY_LEN(list),
                              .in_flight = IN_FLIGHT,
                              .retry = patient};
    for (uint64_t seed = 0; seed < 50; seed++) {
        static struct lone l;
        bool begun[ARRAY_LEN(list) + 1] = {false};
        uint64_t nth = 0;
        lone_start(&l, &c);
        while (!sender_exhausted(&l.sender) || l.open_count > 0) {
            uint64_t timed = 1 + 3 * chance(seed, ++nth, (ARRAY_LEN(list) + 2) / 3);
            if (chance(seed, ++nth, 3) == 0 && !begun[timed]) {
                begun[timed] = true;
                lone_begin(&l, timed);
            } else if (chance(seed, ++nth, 2) == 0 || l.open_count == 0) {
                lone_begin(&l, 0);
            } else {
                lone_end(&l, chance(seed, ++nth, l.open_count));
            }
        }
        expect(sender_acknowledged(&l.sender) == ARRAY_LEN(list));
        lone_stop(&l);
    }
}
END_TEST

/* A crash forgets what was open: it has ended, and the next message says so. */
START_TEST(acknowledged_after_amnesia)
{
    static const struct {
        const char *fault;
        int64_t last, number; /* what b's first attempt says */
    } cases[] = {
        {"sender-amnesia shop at a/1 after send (outbox lost)", 1, 2},
        {"sender-amnesia shop at a/1 after send (counter behind)", 0, 1},
        {"sender-crash shop at a/1 after send", 0, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        struct receiver code;
        rig_scenario(&s,
                     "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: a, entity: e, charge: 1}, "
                     "{id: b, entity: e, charge: 1, at: 3s}]\n"
                     "network: {delay: 50ms}\n"
                     "faults: [%s, lose reply a/1, lose reply a/2, lose reply a/3]\n",
                     cases[i].fault);
        struct world *w = probed(&s, &code, probe_table);
        struct result r = rig_play_kept(w, 1);
        int64_t last = -1;
        for (size_t n = 0; n < seen_count && last < 0; n++) {
            if (seen[n].version == 2) {
                last = seen[n].acknowledged;
                ck_assert_int_eq(seen[n].number, cases[i].number);
            }
        }
        ck_assert_int_eq(last, cases[i].last);
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}
END_TEST

TCase *acknowledged_tests(void)
{
    TCase *t = tcase_create("acknowledged");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, acknowledged_of_a_workload);
    tcase_add_test(t, acknowledged_of_a_list);
    tcase_add_test(t, acknowledged_after_amnesia);
    return t;
}
