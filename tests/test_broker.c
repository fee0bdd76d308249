/* A broker between senders and receiver: the queue by itself.
 *
 * Pinned of the queue: visibility to the nanosecond, redeliveries and their number, prefetch, the
 * place that is kept, order by entity and by group (SQS FIFO, receive side, rules 4 and 5), acks
 * that come late, twice, or after their entry (Pub/Sub's exactly-once delivery where they fail),
 * negative acks and requeueing (RabbitMQ), dead letters and their one replay, the duplicate window.
 * The world is in tests/broker_world.c.
 *
 * Left open: ReceiveRequestAttemptId (rule 6 of SQS), a broker that fails itself.
 */
#include "tests/broker_rig.h"
#include "tests/court.h"
#include "tests/world_rig.h"

#define FOR_EVER (SIM_TIME_MAX / 2)

static uint64_t number(const struct message *m)
{
    return op_number(m->op);
}

/* The next delivery, which must be the n-th of operation `op`. */
static struct message delivered(struct broker_rig *r, uint64_t op, unsigned n)
{
    struct message m = {0};
    expect(broker_rig_next(r, FOR_EVER, &m));
    ck_assert_uint_eq(number(&m), op);
    ck_assert_uint_eq(m.attempt, n);
    return m;
}

static void nothing_more(struct broker_rig *r)
{
    struct message m;
    expect(!broker_rig_next(r, FOR_EVER, &m));
    ck_assert_uint_eq(r->operations.in_flight, 0);
    ck_assert_uint_eq(r->broker.in_flight, 0);
    for (uint32_t i = 0; i < r->operations.count; i++) {
        ck_assert_uint_eq(r->operations.slots[i]->entries, 0);
    }
    broker_rig_close(r);
}

START_TEST(accepted_is_delivered_until_acknowledged)
{
    static const enum reply_status acks[] = {REPLY_DONE, REPLY_DUPLICATE};
    for (size_t i = 0; i < ARRAY_LEN(acks); i++) {
        struct broker_rig r;
        broker_rig_open(&r);
        struct operation *op = broker_rig_send(&r, 1, 1, 1, 0);
        ck_assert_uint_eq(op->entries, 1);
        struct message m = delivered(&r, 1, 1);
        ck_assert_uint_eq(r.answered, 1);
        ck_assert_uint_eq(message_sent_as(&m), 1);
        broker_rig_answer(&r, &m, acks[i]);
        ck_assert_uint_eq(r.broker.deleted, 1);
        nothing_more(&r);
    }
}
END_TEST

START_TEST(visibility_lapses_until_it_is_a_dead_letter)
{
    for (uint32_t most = 1; most <= 12; most++) {
        struct broker_rig r;
        broker_rig_open(&r);
        r.config.redeliver = most;
        r.config.visibility = 7 * SIM_S;
        struct operation *op = broker_rig_send(&r, 1, 1, 1, 0);
        for (uint32_t n = 1; n <= most; n++) {
            delivered(&r, 1, n);
            ck_assert_uint_eq(r.run.now, SIM_START + (n - 1) * 7 * SIM_S + RIG_DELAY);
        }
        struct message m;
        expect(!broker_rig_next(&r, SIM_START + most * 7 * SIM_S - 1, &m));
        ck_assert_uint_eq(r.broker.dead_letters, 0);
        expect(!broker_rig_next(&r, SIM_START + most * 7 * SIM_S, &m));
        ck_assert_uint_eq(r.broker.dead_letters, 1);
        ck_assert_uint_eq(op->dead_letters, 1);
        ck_assert_uint_eq(r.broker.lapsed, most);
        ck_assert_uint_eq(broker_rig_count(&r, RECORD_VISIBLE_AGAIN), most - 1);
        nothing_more(&r);
    }
}
END_TEST

/* RabbitMQ: a message that is requeued takes its old place, and its deliveries are counted. */
START_TEST(a_negative_ack_requeues_at_the_old_place)
{
    static const enum reply_status nacks[] = {REPLY_RETRY_LATER, REPLY_ERROR};
    for (size_t i = 0; i < ARRAY_LEN(nacks); i++) {
        struct broker_rig r;
        broker_rig_open(&r);
        r.config.redeliver = 3;
        for (uint64_t n = 1; n <= 3; n++) {
            broker_rig_send(&r, n, 1, n, 0);
        }
        for (unsigned n = 1; n <= 3; n++) {
            struct message m = delivered(&r, 1, n);
            broker_rig_answer(&r, &m, nacks[i]);
        }
        ck_assert_uint_eq(r.broker.dead_letters, 1);
        ck_assert_uint_eq(r.run.now, SIM_START + 3 * RIG_DELAY);
        for (uint64_t n = 2; n <= 3; n++) {
            struct message m = delivered(&r, n, 1);
            broker_rig_answer(&r, &m, REPLY_DONE);
        }
        nothing_more(&r);
    }
}
END_TEST

START_TEST(a_wait_lets_others_pass)
{
    struct broker_rig r;
    broker_rig_open(&r);
    r.config.after = 5 * SIM_S;
    broker_rig_send(&r, 1, 1, 1, 0);
    broker_rig_send(&r, 2, 1, 2, 0);
    struct message m = delivered(&r, 1, 1);
    broker_rig_answer(&r, &m, REPLY_ERROR);
    uint64_t failed = r.run.now;
    ck_assert_uint_eq(broker_rig_count(&r, RECORD_VISIBLE_AGAIN), 0);
    struct message second = delivered(&r, 2, 1);
    broker_rig_answer(&r, &second, REPLY_DONE);
    m = delivered(&r, 1, 2);
    ck_assert_uint_eq(r.run.now, failed + 5 * SIM_S + RIG_DELAY);
    broker_rig_answer(&r, &m, REPLY_DONE);
    nothing_more(&r);
}
END_TEST

START_TEST(prefetch_bounds_what_is_under_way)
{
    for (uint32_t prefetch = 1; prefetch <= 4; prefetch++) {
        struct broker_rig r;
        struct message m[4], more;
        broker_rig_open(&r);
        r.broker.prefetch = prefetch;
        for (uint64_t n = 1; n <= 9; n++) {
            broker_rig_send(&r, n, 1, n, 0);
        }
        for (uint32_t i = 0; i < prefetch; i++) {
            m[i] = delivered(&r, i + 1, 1);
        }
        expect(!broker_rig_next(&r, SIM_START + 29 * SIM_S, &more));
        for (uint64_t n = prefetch + 1; n <= 9; n++) {
            broker_rig_answer(&r, &m[n % prefetch], REPLY_DONE);
            m[n % prefetch] = delivered(&r, n, 1);
        }
        ck_assert_uint_eq(r.broker.in_flight, prefetch);
        for (uint32_t i = 0; i < prefetch; i++) {
            broker_rig_answer(&r, &m[i], REPLY_DONE);
        }
        nothing_more(&r);
    }
}
END_TEST

/* Rule 4 of SQS FIFO: while any message of a group is invisible, none other of it is delivered. */
START_TEST(order_holds_back_the_group_and_nobody_else)
{
    for (int grouped = 0; grouped < 2; grouped++) {
        struct broker_rig r;
        struct message m, other;
        broker_rig_open(&r);
        r.broker.prefetch = 10;
        r.config.order = grouped ? ORDER_GROUP : ORDER_ENTITY;
        r.config.after = SIM_S;
        for (uint64_t n = 1; n <= 3; n++) {
            struct operation *op = operations_open(&r.operations, op_make(PLACE_SENDER, n), n);
            op->group = grouped ? "red" : NULL;
            broker_rig_send(&r, n, 1, n, grouped ? (uint32_t)n : 7);
        }
        broker_rig_send(&r, 4, 1, 4, 8);
        m = delivered(&r, 1, 1);
        other = delivered(&r, 4, 1);
        broker_rig_answer(&r, &other, REPLY_DONE);
        struct message none;
        expect(!broker_rig_next(&r, SIM_START + 20 * SIM_S, &none));
        broker_rig_answer(&r, &m, REPLY_ERROR); /* waits, and holds back still */
        m = delivered(&r, 1, 2);
        expect(!broker_rig_next(&r, SIM_START + 40 * SIM_S, &none));
        m = delivered(&r, 1, 3); /* visible again, and first again */
        broker_rig_answer(&r, &m, REPLY_DONE);
        m = delivered(&r, 2, 1);
        broker_rig_answer(&r, &m, REPLY_REFUSED); /* a dead letter holds nobody back */
        ck_assert_uint_eq(r.broker.dead_letters, 1);
        m = delivered(&r, 3, 1);
        broker_rig_answer(&r, &m, REPLY_DONE);
        nothing_more(&r);
    }
}
END_TEST

/* A group that is not named is the entity; one of that name is the same. */
START_TEST(a_group_may_have_an_entitys_name)
{
    struct broker_rig r;
    struct message m, none;
    broker_rig_open(&r);
    r.broker.prefetch = 10;
    r.config.order = ORDER_GROUP;
    struct operation *op = operations_open(&r.operations, op_make(PLACE_SENDER, 1), 1);
    op->group = "entity-7";
    broker_rig_send(&r, 1, 1, 1, 1);
    broker_rig_send(&r, 2, 1, 2, 7);
    m = delivered(&r, 1, 1);
    expect(!broker_rig_next(&r, SIM_START + SIM_S, &none));
    broker_rig_answer(&r, &m, REPLY_DONE);
    m = delivered(&r, 2, 1);
    broker_rig_answer(&r, &m, REPLY_DONE);
    nothing_more(&r);
}
END_TEST

/* Rule 5 of SQS: a delete that comes in time, and one that does not, while the entry waits and
 * while it is delivered to somebody else. */
START_TEST(an_ack_that_comes_late)
{
    for (int fails = 0; fails < 2; fails++) {
        for (int waits = 0; waits < 2; waits++) {
            struct broker_rig r;
            struct message first, none;
            broker_rig_open(&r);
            r.config.late_ack_fails = fails;
            broker_rig_send(&r, 1, 1, 1, 0);
            first = delivered(&r, 1, 1);
            expect(!broker_rig_next(&r, SIM_START + 30 * SIM_S - 1, &none));
            r.broker.prefetch = waits ? 0 : 1;
            expect(!broker_rig_next(&r, SIM_START + 30 * SIM_S, &none));
            broker_rig_answer(&r, &first, REPLY_ERROR); /* says nothing of a later delivery */
            ck_assert_uint_eq(broker_rig_count(&r, RECORD_DELIVER_ATTEMPT), waits ? 1 : 2);
            broker_rig_answer(&r, &first, REPLY_DONE);
            ck_assert_uint_eq(r.broker.deleted, fails ? 0 : 1);
            r.broker.prefetch = 1;
            if (fails && waits) { /* its next delivery waits for a moment to come */
                broker_rig_send(&r, 2, 1, 2, 0);
            }
            if (fails) {
                struct message second = delivered(&r, 1, 2);
                broker_rig_answer(&r, &second, REPLY_DONE);
                broker_rig_answer(&r, &second, REPLY_DONE); /* twice is once */
                ck_assert_uint_eq(r.broker.deleted, 1);
            } else if (!waits) {
                delivered(&r, 1, 2); /* is under way and finds a receiver all the same */
            }
            if (fails && waits) {
                struct message other = delivered(&r, 2, 1);
                broker_rig_answer(&r, &other, REPLY_DONE);
            }
            nothing_more(&r);
        }
    }
}
END_TEST

/* Pub/Sub's exactly-once delivery: only the newest ack id counts, nothing is delivered while it is
 * outstanding or after it was acknowledged, and a publisher's retry is a new message. */
START_TEST(only_the_newest_ack_counts)
{
    struct broker_rig r;
    struct message d[4], none;
    broker_rig_open(&r);
    r.config.late_ack_fails = true;
    broker_rig_send(&r, 1, 1, 1, 0);
    for (unsigned n = 1; n <= 3; n++) {
        d[n] = delivered(&r, 1, n);
        for (unsigned old = 1; old < n; old++) {
            broker_rig_answer(&r, &d[old], REPLY_DONE);
            broker_rig_answer(&r, &d[old], REPLY_REFUSED);
            broker_rig_answer(&r, &d[old], REPLY_RETRY_LATER);
        }
        ck_assert_uint_eq(r.broker.deleted + r.broker.dead_letters, 0);
        ck_assert_uint_eq(r.broker.handed_out, n);
    }
    broker_rig_answer(&r, &d[3], REPLY_DONE);
    expect(!broker_rig_next(&r, SIM_START + 86400 * SIM_S, &none));
    broker_rig_send(&r, 1, 2, 1, 0);
    d[0] = delivered(&r, 1, 4);
    ck_assert_uint_eq(message_sent_as(&d[0]), 2);
    broker_rig_answer(&r, &d[3], REPLY_DONE); /* of an entry that is gone, in whose slot it lies */
    ck_assert_uint_eq(r.broker.deleted, 1);
    broker_rig_answer(&r, &d[0], REPLY_DONE);
    ck_assert_uint_eq(r.broker.deleted, 2);
    nothing_more(&r);
}
END_TEST

START_TEST(dead_letters_are_replayed_once)
{
    struct broker_rig r;
    struct message d[5];
    broker_rig_open(&r);
    r.config.redeliver = 2;
    r.config.replay = true;
    struct operation *op = broker_rig_send(&r, 1, 1, 1, 0);
    d[1] = delivered(&r, 1, 1);
    d[2] = delivered(&r, 1, 2);
    broker_rig_answer(&r, &d[2], REPLY_ERROR);
    uint64_t died = r.run.now;
    ck_assert_uint_eq(r.broker.dead_letters, 1);
    ck_assert(op->entries == 1 && op->dead_letters == 0);
    broker_rig_answer(&r, &d[1], REPLY_DONE); /* it is in the queue no more */
    broker_rig_send(&r, 2, 1, 2, 0);
    struct message other = delivered(&r, 2, 1);
    broker_rig_answer(&r, &other, REPLY_DONE);
    d[3] = delivered(&r, 1, 3);
    ck_assert_uint_eq(r.run.now, died + 3600 * SIM_S + RIG_DELAY);
    broker_rig_answer(&r, &d[2], REPLY_DONE); /* of its first life */
    ck_assert_uint_eq(r.broker.deleted, 1);
    broker_rig_answer(&r, &d[3], REPLY_ERROR);
    d[4] = delivered(&r, 1, 4);
    broker_rig_answer(&r, &d[4], REPLY_ERROR);
    ck_assert(op->entries == 0 && op->dead_letters == 1);
    ck_assert_uint_eq(r.broker.dead_letters, 2);
    ck_assert_uint_eq(r.broker.replayed, 1);
    nothing_more(&r);
}
END_TEST

/* The send side: accepted less than the window ago means answered and not enqueued, whatever has
 * become of the first; the window is not renewed. */
START_TEST(a_key_is_accepted_once_in_its_window)
{
    struct broker_rig r;
    struct message m, none;
    broker_rig_open(&r);
    r.config.duplicate_window = 300 * SIM_S;
    broker_rig_send(&r, 1, 1, 1, 0);
    m = delivered(&r, 1, 1);
    broker_rig_answer(&r, &m, REPLY_DONE);
    expect(!broker_rig_next(&r, SIM_START + 200 * SIM_S, &none));
    broker_rig_send(&r, 1, 2, 1, 0);
    expect(!broker_rig_next(&r, SIM_START + 300 * SIM_S - 1, &none));
    broker_rig_send(&r, 2, 1, 1, 0); /* another message with that key */
    ck_assert_uint_eq(r.broker.kept_out, 2);
    expect(!broker_rig_next(&r, SIM_START + 300 * SIM_S, &none));
    broker_rig_send(&r, 1, 3, 1, 0);
    m = delivered(&r, 1, 2);
    broker_rig_answer(&r, &m, REPLY_DONE);
    for (uint64_t n = 10; n < 1010; n++) {
        broker_rig_send(&r, n, 1, n, 0);
        broker_rig_send(&r, n, 2, n, 0);
        m = delivered(&r, n, 1);
        broker_rig_answer(&r, &m, REPLY_DONE);
    }
    ck_assert_uint_eq(r.broker.kept_out, 1002);
    ck_assert_uint_eq(r.broker.accepted, 1002);
    nothing_more(&r);
}
END_TEST

/* RabbitMQ's plugin, its queue: a key lives from enqueue to ack or drop, a requeue keeps it, after
 * that it is accepted again; what has no key passes. */
START_TEST(a_key_is_accepted_once_while_it_is_queued)
{
    struct broker_rig r;
    struct message m;
    broker_rig_open(&r);
    r.config.while_queued = true;
    r.config.redeliver = 2;
    broker_rig_send(&r, 1, 1, 1, 0);
    broker_rig_send(&r, 2, 1, 1, 0);
    m = delivered(&r, 1, 1);
    broker_rig_send(&r, 1, 2, 1, 0);
    broker_rig_answer(&r, &m, REPLY_ERROR);
    broker_rig_send(&r, 1, 3, 1, 0);
    ck_assert_uint_eq(r.broker.kept_out, 3);
    m = delivered(&r, 1, 2);
    broker_rig_answer(&r, &m, REPLY_DONE);
    broker_rig_send(&r, 2, 2, 1, 0);
    ck_assert_uint_eq(r.broker.kept_out, 3);
    for (unsigned n = 1; n <= 2; n++) {
        m = delivered(&r, 2, n);
        broker_rig_answer(&r, &m, REPLY_ERROR);
    }
    ck_assert_uint_eq(r.broker.dead_letters, 1);
    broker_rig_send(&r, 1, 4, 1, 0);
    ck_assert_uint_eq(r.broker.kept_out, 3);
    m = delivered(&r, 1, 3);
    broker_rig_answer(&r, &m, REPLY_DONE);
    nothing_more(&r);
}
END_TEST

START_TEST(no_key_is_no_duplicate)
{
    for (int queued = 0; queued < 2; queued++) {
        struct broker_rig r;
        broker_rig_open(&r);
        r.config.while_queued = queued;
        r.config.duplicate_window = queued ? 0 : 300 * SIM_S;
        for (uint64_t n = 1; n <= 2; n++) {
            broker_rig_send(&r, n, 1, 0, 0);
        }
        for (uint64_t n = 1; n <= 2; n++) {
            struct message m = delivered(&r, n, 1);
            broker_rig_answer(&r, &m, REPLY_DONE);
        }
        nothing_more(&r);
    }
}
END_TEST

/* Held entries that nobody takes: told by the judge, since no run ends that way by itself. */
START_TEST(held_at_the_end_is_no_progress)
{
    struct court c;
    struct scenario s;
    char text[VIOLATION_TEXT];
    court_open(&c, CHECK_BIT(CHECK_PROGRESS), false);
    struct operation *op = operation(&c, 1, 0, 1);
    op->entries = 1;
    op->handed_out = 2;
    closes(&c, op, BELIEF_DONE, false);
    run_ends(&c);
    is_violation(&c.v.violations[0], CHECK_PROGRESS, WHY_HELD, op, 1, 0);
    rig_scenario(&s, "receivers: [table]\nsenders: [{name: shop, messages: [{id: m-77, entity: e, "
                     "charge: 1}]}]\nbroker: {}\n");
    violation_text(&s, &c.v.violations[0], text, sizeof(text));
    ck_assert_str_eq(text, "the broker still holds m-77 after 2 deliveries");
    scenario_fini(&s);
    ruled(&c, CHECK_BIT(CHECK_PROGRESS));
}
END_TEST

Suite *broker_suite(void)
{
    Suite *s = suite_create("broker");
    TCase *t = tcase_create("queue");
    tcase_add_test(t, accepted_is_delivered_until_acknowledged);
    tcase_add_test(t, visibility_lapses_until_it_is_a_dead_letter);
    tcase_add_test(t, a_negative_ack_requeues_at_the_old_place);
    tcase_add_test(t, a_wait_lets_others_pass);
    tcase_add_test(t, prefetch_bounds_what_is_under_way);
    tcase_add_test(t, order_holds_back_the_group_and_nobody_else);
    tcase_add_test(t, a_group_may_have_an_entitys_name);
    tcase_add_test(t, an_ack_that_comes_late);
    tcase_add_test(t, only_the_newest_ack_counts);
    tcase_add_test(t, dead_letters_are_replayed_once);
    tcase_add_test(t, a_key_is_accepted_once_in_its_window);
    tcase_add_test(t, a_key_is_accepted_once_while_it_is_queued);
    tcase_add_test(t, no_key_is_no_duplicate);
    tcase_add_test(t, held_at_the_end_is_no_progress);
    suite_add_tcase(s, t);
    suite_add_tcase(s, broker_world_tests());
    return s;
}
