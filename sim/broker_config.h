/* What a broker between senders and receiver is told. Plain data. */
#ifndef SIM_BROKER_CONFIG_H
#define SIM_BROKER_CONFIG_H

#include "sim/base.h"

/* Whose messages wait while one of them is in flight. */
#define BROKER_ORDERS(X)                                                                           \
    X(ORDER_NONE, "none")     /* nobody's */                                                       \
    X(ORDER_ENTITY, "entity") /* those of the same entity */                                       \
    X(ORDER_GROUP, "group")   /* those of the same message group */

enum broker_order {
#define X(name, text) name,
    BROKER_ORDERS(X)
#undef X
};
const char *broker_order_text(enum broker_order o);

#define BROKER_REDELIVER_MAX 1000
#define BROKER_PREFETCH_MAX 1000
#define BROKER_VISIBILITY (30 * SIM_S)
#define BROKER_REDELIVER 10
#define BROKER_REPLAY_AFTER (3600 * SIM_S)

struct broker_config {
    bool on;                   /* false: senders and receiver talk directly, and nothing below */
    uint64_t visibility;       /* ns, above 0: how long a delivery hides its entry from others */
    uint32_t redeliver;        /* 1..BROKER_REDELIVER_MAX deliveries, then it is a dead letter */
    uint64_t after;            /* ns before the delivery that follows a negative ack */
    enum broker_order order;   /* key `fifo` */
    uint32_t prefetch;         /* deliveries under way at a time; 0: the receiver's workers */
    bool replay;               /* each dead letter is put back, once, ... */
    uint64_t replay_after;     /* ns, so much later */
    uint64_t duplicate_window; /* ns in which a key is accepted once; 0: as often as it comes */
    bool while_queued;         /* duplicate_window `queued`: once while an entry has it */
    bool late_ack_fails;       /* key `delete_late`: an ack after its visibility deletes nothing */
};

static inline struct broker_config broker_usual(void)
{
    return (struct broker_config){.on = true,
                                  .visibility = BROKER_VISIBILITY,
                                  .redeliver = BROKER_REDELIVER,
                                  .replay_after = BROKER_REPLAY_AFTER};
}

#endif
