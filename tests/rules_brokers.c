/* The rules of brokers that de-duplicate by their own means: Google Pub/Sub's exactly-once
 * delivery, the exchange and the queue of RabbitMQ's message deduplication plugin.
 *
 * In: a receiver, what is sent, a broker or none, what goes wrong. Out: effects and answers of the
 * receiver, as the rule wants them. Names say the system: pubsub, exchange, queue. The exchange is
 * the preset rabbitmq_exchange: what is routed is handled in the same place. What has no test says
 * so where it would stand.
 *
 * Left open: the queue by itself (test_broker).
 */
#include "tests/rules_repository.h"

/* ---- Google Pub/Sub, exactly-once delivery ---- */

/* The key that such a service goes by is the delivery's, not the message's: naive is right until
 * the publisher sends again. The rest, by delivery, is in test_broker. */
#define PUBSUB "broker: {visibility: 10s, delete_late: fails}\n"

START_TEST(pubsub_nothing_is_delivered_again_without_cause)
{
    HOLD({"naive", ONE, PUBSUB, 1, "done "},
         {"naive", ONE, PUBSUB "faults: [pause receiver at m/1 before reply for 9s]", 1, "done "},
         {"naive", ONE, PUBSUB "faults: [delay ack m/1 by 9s]", 1, "done "});
}
END_TEST

START_TEST(pubsub_a_lapse_a_negative_ack_or_a_failed_ack_is_a_cause)
{
    HOLD({"naive", ONE, PUBSUB "faults: [" FAILS "]", 1, "error done "},
         {"naive", ONE, PUBSUB "faults: [lose ack m/1]", 2, "done done "},
         {"naive", ONE, PUBSUB "faults: [delay ack m/1 by 11s, delay ack m/2 by 11s]", 3,
          "done done done "},
         /* progress that the subscriber keeps by itself */
         {"table", ONE, PUBSUB "faults: [delay ack m/1 by 11s, delay ack m/2 by 11s]", 1,
          "done duplicate duplicate "},
         {"naive", ONE, TWO PUBSUB "faults: [pause receiver at m/1 before reply for 11s]", 2,
          "done done "});
}
END_TEST

START_TEST(pubsub_a_publisher_s_retry_is_another_message)
{
    static const char again[] = SENT("retry: {after: 2s, limit: 2},", MESSAGE);
    HOLD({"naive", again, PUBSUB "faults: [lose reply m/1]", 2, "done done "},
         {"table", again, PUBSUB "faults: [lose reply m/1]", 1, "done duplicate "});
}
END_TEST

/* Push subscriptions and other regions have no test: there is one queue, which delivers by itself
 * and is asked by nobody. */

/* ---- RabbitMQ, the deduplication plugin's exchange ---- */

START_TEST(exchange_without_a_header_it_passes)
{
    HOLD({"rabbitmq_exchange", SENT("keys: none,", MESSAGE), "faults: [lose reply m/1]", 2,
          "done done "},
         {"rabbitmq_exchange", SENT_ONE, "faults: [lose reply m/1]", 1, "done duplicate "});
}
END_TEST

#define SENDER_OF(id, at)                                                                          \
    "{name: of-" id ", messages: [{id: " id ", entity: e, charge: 1, at: " at "}]}"

/* Inserted if it is absent, then routed; whatever becomes of the message. */
START_TEST(exchange_the_header_is_never_given_back)
{
    rule_judged(
        &(struct rule){"rabbitmq_exchange", THRICE, "faults: [" FAILS "]", 0, "error duplicate "},
        LOST, "SELECT id FROM repository", "m ");
    HOLD({"rabbitmq_exchange", THRICE, "faults: [" KEY_THERE "]", 0, "duplicate "},
         {"rabbitmq_exchange", DECLINED_ONCE, "faults: [" COPY "]", 0, "refused duplicate "},
         {"rabbitmq_exchange", ONE, TWO "faults: [" BETWEEN ", " COPY "]", 1, "duplicate done "},
         /* in RAM, on one node */
         {"rabbitmq_exchange, store: memory", THRICE, "faults: [" DONE_NOT_SAID "]", 2, "done "});
}
END_TEST

START_TEST(exchange_expired_at_look_up_and_by_a_sweep)
{
    rule_default("rabbitmq_exchange", "retention", 0);
    rule_default("rabbitmq_exchange", "sweep", 3 * SIM_S);
    HOLD({"rabbitmq_exchange", ONE, AFTER("3000d"), 1, "done duplicate "},
         {"rabbitmq_exchange, retention: 10s", ONE, AFTER("9999999999ns"), 1, "done duplicate "},
         {"rabbitmq_exchange, retention: 10s", ONE, AFTER("10s"), 2, "done done "});
    /* the process starts at 1 s: swept at 13 s, when 10 s are over since 1.02 s */
    rule_judged(&(struct rule){"rabbitmq_exchange, retention: 10s",
                               "senders: [" SENDER_OF("m", "1s") ", " SENDER_OF("n", "14s") "]\n",
                               "", 2, "done done "},
                0, "SELECT id FROM repository", "n ");
}
END_TEST

/* The plugin evicts whichever header comes first in its table; here the oldest one goes, or the one
 * unused for longest. That the order is arbitrary has no test. */
START_TEST(exchange_one_too_many)
{
    HOLD({"rabbitmq_exchange, most: 2", FOUR, "faults: [duplicate request b/1 after 10s]", 3,
          "done done duplicate done duplicate "},
         {"rabbitmq_exchange, most: 2", FOUR, "faults: [duplicate request a/1 after 10s]", 4,
          "done done duplicate done done "});
}
END_TEST

/* A time to live by message, copies on two thirds of the nodes and what a partition does to them
 * have no test: a receiver has one time for all, and one process. */

/* ---- RabbitMQ, the plugin's queue ---- */

#define QUEUED "duplicate_window: queued"
#define SENT_AGAIN SENT("retry: {after: 2s, limit: 2},", MESSAGE)

START_TEST(queue_until_it_is_acknowledged)
{
    HOLD({"naive", SENT_AGAIN,
          "broker: {" QUEUED "}\n"
          "faults: [lose reply m/1, pause receiver at m/1 before begin for 3s]",
          1, "done "},
         {"naive", SENT_AGAIN, "broker: {" QUEUED "}\nfaults: [lose reply m/1]", 2, "done done "},
         {"table", SENT_AGAIN, "broker: {" QUEUED "}\nfaults: [lose reply m/1]", 1,
          "done duplicate "});
}
END_TEST

/* The copy was kept out while the first was at work, and its publisher was told nothing else. */
START_TEST(queue_a_copy_is_dropped_although_the_first_may_fail)
{
    rule_judged(
        &(struct rule){"table", SENT_AGAIN,
                       "broker: {" QUEUED ", redeliver: 1}\n"
                       "faults: [lose reply m/1, pause receiver at m/1 before effect for 3s, " FAILS
                       "]",
                       0, "error "},
        LOST, NULL, NULL);
    /* a requeue keeps its key, and executes it */
    HOLD({"table", SENT_AGAIN,
          "broker: {" QUEUED "}\n"
          "faults: [lose reply m/1, pause receiver at m/1 before effect for 3s, " FAILS "]",
          1, "error done "});
}
END_TEST

/* Flushed at its start, although messages are still there: our broker never starts anew. The same
 * of a receiver that forgets while the message is still with the sender: */
START_TEST(queue_empty_after_a_start)
{
    HOLD({"rabbitmq_exchange, store: memory", SENT_ONE,
          "broker: {visibility: 2s}\nfaults: [" DONE_NOT_SAID "]", 2, "done "},
         {"rabbitmq_exchange", SENT_ONE, "broker: {visibility: 2s}\nfaults: [" DONE_NOT_SAID "]", 1,
          "duplicate "});
}
END_TEST

TCase *rules_brokers_tests(void)
{
    TCase *t = tcase_create("brokers");
    tcase_add_test(t, pubsub_nothing_is_delivered_again_without_cause);
    tcase_add_test(t, pubsub_a_lapse_a_negative_ack_or_a_failed_ack_is_a_cause);
    tcase_add_test(t, pubsub_a_publisher_s_retry_is_another_message);
    tcase_add_test(t, exchange_without_a_header_it_passes);
    tcase_add_test(t, exchange_the_header_is_never_given_back);
    tcase_add_test(t, exchange_expired_at_look_up_and_by_a_sweep);
    tcase_add_test(t, exchange_one_too_many);
    tcase_add_test(t, queue_until_it_is_acknowledged);
    tcase_add_test(t, queue_a_copy_is_dropped_although_the_first_may_fail);
    tcase_add_test(t, queue_empty_after_a_start);
    return t;
}
