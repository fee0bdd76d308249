/* The service by hand, without a world: calls that arrive, answers that leave.
 *
 * Pinned: what a key is good for, its window and the window's boundary, refusals, many keys.
 */
#include "tests/service_rig.h"

#include "sim/service.h"

struct alone {
    struct run run;
    struct operations ops;
    struct network_config way;
    struct network network;
    struct service_config config;
    struct service service;
    unsigned applied;
};

static void applied(void *context, struct operation *op)
{
    struct alone *a = context;
    must(op->external > 0);
    a->applied++;
}

static void alone_open(struct alone *a, bool keys, uint64_t window)
{
    memset(a, 0, sizeof(*a));
    a->run.now = SIM_START;
    queue_init(&a->run.queue, 16);
    history_init(&a->run.history);
    history_reset(&a->run.history, true);
    schedule_init(&a->run.schedule);
    schedule_reset(&a->run.schedule, 1, SIM_TIME_MAX, NULL, 0, NULL);
    operations_init(&a->ops);
    a->way.outside = (struct dist){.kind = DIST_CONSTANT, .a = 50 * SIM_MS};
    network_init(&a->network, &a->way, &a->run, &a->ops);
    a->config = (struct service_config){.keys = keys, .window = window, .time_out = SIM_S};
    service_init(&a->service, &a->config, &a->run, &a->network, &a->ops);
    a->service.context = a;
    a->service.applied = applied;
    service_start(&a->service);
}

static void alone_close(struct alone *a)
{
    service_fini(&a->service);
    network_fini(&a->network);
    operations_fini(&a->ops);
    schedule_fini(&a->run.schedule);
    history_fini(&a->run.history);
    queue_fini(&a->run.queue);
}

static struct operation *asks(struct alone *a, uint64_t n, uint32_t entity, int64_t amount)
{
    struct operation *op = operations_open(&a->ops, op_make(PLACE_SENDER, n), n);
    op->entity = entity;
    op->amount = amount;
    op->attempt = 1;
    return op;
}

/* A call arrives; its answer is read off the queue. */
static struct message calls(struct alone *a, struct operation *op, uint64_t key)
{
    struct message m = {.op = op->op,
                        .slot = op->slot,
                        .attempt = 1,
                        .copy = 1,
                        .echo = 3,
                        .direction = CALL,
                        .behind = call_behind(PLACE_RECEIVER, key % 2 == 1, 0),
                        .receipt = (int64_t)key};
    struct event e;
    uint64_t at, now = a->run.now;
    service_receive(&a->service, op, &m);
    ck_assert(queue_pop(&a->run.queue, &at, &e));
    ck_assert_uint_eq(at, now + 50 * SIM_MS);
    ck_assert(e.kind == EVENT_ARRIVE && e.host == PLACE_RECEIVER);
    ck_assert(e.message.direction == ANSWER && e.message.op == op->op && e.message.copy == 1);
    ck_assert(e.message.echo == 1 && call_copy(e.message.behind) == 3);
    ck_assert(call_place(e.message.behind) == PLACE_RECEIVER);
    ck_assert(call_of_delivery(e.message.behind) == (key % 2 == 1));
    return e.message;
}

START_TEST(keys_tell_repeats)
{
    struct alone a;
    alone_open(&a, true, 0);
    struct operation *one = asks(&a, 1, 0, 5), *two = asks(&a, 2, 0, 5), *three = asks(&a, 3, 1, 5);
    struct message first = calls(&a, one, 77);
    ck_assert(first.status == SERVICE_NEW && receipt_op(first.receipt) == one->op);
    a.run.now += UINT64_C(10000) * 3600 * SIM_S; /* kept for ever */
    struct message again = calls(&a, one, 77);
    ck_assert(again.status == SERVICE_KNOWN && again.receipt == first.receipt);
    /* The same parameters: to the service it is the same call, whoever makes it. */
    again = calls(&a, two, 77);
    ck_assert(again.status == SERVICE_KNOWN && again.receipt == first.receipt);
    again = calls(&a, three, 77);
    ck_assert(again.status == SERVICE_REFUSED && again.receipt == 0);
    ck_assert(one->external == 1 && two->external == 0 && three->external == 0);
    ck_assert(calls(&a, two, 78).status == SERVICE_NEW && two->external == 1);
    /* Without a key each call is new. */
    ck_assert(calls(&a, one, 0).status == SERVICE_NEW);
    ck_assert(calls(&a, one, 0).status == SERVICE_NEW && one->external == 3);
    ck_assert_uint_eq(a.applied, 4);
    service_start(&a.service);
    ck_assert(calls(&a, three, 77).status == SERVICE_NEW); /* another run */
    alone_close(&a);
    alone_open(&a, false, 0);
    one = asks(&a, 1, 0, 5);
    ck_assert(calls(&a, one, 77).status == SERVICE_NEW);
    ck_assert(calls(&a, one, 77).status == SERVICE_NEW && one->external == 2);
    alone_close(&a);
}
END_TEST

/* From the first receipt, which a repeat does not move. */
START_TEST(a_key_has_its_time)
{
    struct alone a;
    alone_open(&a, true, 10 * SIM_S);
    struct operation *one = asks(&a, 1, 0, 5), *two = asks(&a, 2, 7, 8);
    ck_assert(calls(&a, one, 77).status == SERVICE_NEW);
    a.run.now += 6 * SIM_S;
    ck_assert(calls(&a, one, 77).status == SERVICE_KNOWN);
    a.run.now += 4 * SIM_S - 1;
    ck_assert(calls(&a, one, 77).status == SERVICE_KNOWN);
    a.run.now += 1;
    ck_assert(calls(&a, two, 77).status == SERVICE_NEW); /* with other parameters, too */
    a.run.now += 10 * SIM_S - 1;
    ck_assert(calls(&a, two, 77).status == SERVICE_KNOWN);
    alone_close(&a);
}
END_TEST

START_TEST(many_keys)
{
    struct alone a;
    alone_open(&a, true, 0);
    struct operation *op = asks(&a, 1, 0, 5);
    for (unsigned round = 0; round < 2; round++) {
        for (uint64_t i = 1; i <= 5000; i++) {
            uint64_t key = i * 4096; /* the same place for all, nearly */
            expect(calls(&a, op, key).status == (round ? SERVICE_KNOWN : SERVICE_NEW));
        }
    }
    ck_assert_uint_eq(op->external, 5000);
    alone_close(&a);
}
END_TEST

TCase *alone_tests(void)
{
    TCase *t = tcase_create("alone");
    tcase_add_test(t, keys_tell_repeats);
    tcase_add_test(t, a_key_has_its_time);
    tcase_add_test(t, many_keys);
    return t;
}
