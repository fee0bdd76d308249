/* Everything that can happen at a moment. */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "sim/message.h"

enum event_kind {
    EVENT_NEXT_OPERATION, /* sender `host` takes the next operation of its list or workload */
    EVENT_SEND,           /* sender transmits the next attempt of `message.slot` */
    EVENT_TIMEOUT,        /* sender stops waiting for a reply to `message` */
    EVENT_ARRIVE,         /* `message` reaches its end: request at a receiver, reply at a sender */
    EVENT_RESUME,         /* worker `worker` of `host` goes on */
    EVENT_RESTART,        /* `host` comes up again, or sender `host` does */
    EVENT_KILL,           /* `host` was asked to stop and has not */
    EVENT_CLOCK,          /* entry `worker` of the schedule's clock faults begins */
    EVENT_PARTITION,      /* partition `worker` begins or ends: written to the history only */
    EVENT_SWEEP,          /* `host` removes old records */
    EVENT_RELAY,          /* `host` sends what lies in its outbox */
    EVENT_BROKER,         /* the broker's entry `serial` changes by itself */
};

struct event {
    struct message message;
    uint8_t kind;
    uint8_t host;
    uint16_t worker;
    uint32_t serial; /* guards against an event that outlived what it was for */
};

#endif
