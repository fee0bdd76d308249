/* A broker alone: what senders and a receiver would tell it, by hand. */
#ifndef TESTS_BROKER_RIG_H
#define TESTS_BROKER_RIG_H

#include "sim/broker.h"

#include <check.h>

#define RIG_DELAY SIM_MS /* of every message under way */

struct broker_rig {
    struct run run;
    struct operations operations;
    struct network_config network_config;
    struct network network;
    struct broker_config config;
    struct broker broker;
    unsigned answered; /* replies that reached their senders */
};

/* One delivery at a time, and 30 s; change r->config before the first message. */
void broker_rig_open(struct broker_rig *r);
void broker_rig_close(struct broker_rig *r);
/* Attempt of operation n reaches the broker now; equal keys are equal, 0: none. */
struct operation *broker_rig_send(struct broker_rig *r, uint64_t n, unsigned attempt, uint64_t key,
                                  uint32_t entity);
/* The world goes on until a delivery reaches the receiver, and no further than `until`. False:
 * there was none; it is `until` then. */
bool broker_rig_next(struct broker_rig *r, uint64_t until, struct message *delivery);
/* Its answer reaches the broker now. */
void broker_rig_answer(struct broker_rig *r, const struct message *delivery, enum reply_status s);
/* Records of a kind so far. */
size_t broker_rig_count(struct broker_rig *r, enum record_kind kind);

/* tests/broker_world.c */
TCase *broker_world_tests(void);

#endif
