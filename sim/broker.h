/* A broker between senders and receiver: an at-least-once queue.
 *
 * In: requests that arrive, which it stores and answers with done; acks of its deliveries; its own
 * moments. Out: replies and deliveries into the network. A delivery hides its entry from others
 * until it is acknowledged (the entry is deleted), refused (it becomes a dead letter), negatively
 * acknowledged, or the visibility timeout has passed (it is delivered again, a number of times).
 * The broker never fails: what it has accepted, it keeps.
 *
 * An entry holds its operation. Deliveries are numbered by operation, over all entries that its
 * sender's attempts have made: m-77/2 is the second delivery of m-77.
 *
 * Owns: its entries. Borrows: configuration, run, network, operations, names.
 */
#ifndef SIM_BROKER_H
#define SIM_BROKER_H

#include "sim/broker_config.h"
#include "sim/network.h"

enum entry_state {
    ENTRY_FREE,
    ENTRY_READY,     /* visible */
    ENTRY_IN_FLIGHT, /* delivered and not answered; invisible */
    ENTRY_DEFERRED,  /* waits after a negative ack; invisible */
    ENTRY_DEAD,      /* a dead letter that waits for its replay */
};

struct entry {
    struct message message; /* as it was accepted: the sender's attempt and its content */
    uint64_t position;      /* order in the queue; kept when it is delivered again */
    uint64_t group;         /* hash of what `fifo` goes by; 0: it has no order */
    uint64_t key;           /* hash of the key that it was accepted under; 0: it has none */
    uint32_t number;        /* of its latest delivery; 0: none since it was put into the queue */
    uint32_t before;        /* deliveries of its operation when it was put into the queue */
    uint32_t deliveries;    /* of this entry since then */
    uint32_t generation;    /* of the slot, 24 bits: guards acks that outlived their entry */
    bool replayed;
    uint8_t state; /* enum entry_state */
    struct queue_handle timer;
    uint32_t next, last; /* neighbours in its list; BROKER_NO_ENTRY: none */
};
#define BROKER_NO_ENTRY UINT32_MAX

struct entry_list {
    uint32_t first, last;
};

/* A key that was accepted. */
struct accepted {
    uint64_t key; /* hash; 0: free */
    uint64_t at;
};

struct broker_listener {
    void *context;
    void (*left)(void *context, struct operation *op); /* one entry of it is over */
};

struct broker {
    const struct broker_config *config;
    uint32_t prefetch;
    struct run *run;
    struct network *network;
    struct operations *operations;
    struct broker_listener listener;
    const void *names; /* for entity names */
    const char *(*entity_name)(const void *names, uint32_t entity, char *out);

    struct entry *entries;
    uint32_t count, capacity;
    uint32_t free;            /* list of free entries by `next` */
    struct entry_list ready;  /* by position */
    struct entry_list hidden; /* in flight or deferred */
    uint32_t in_flight;       /* entries, at most prefetch */
    uint64_t positions;       /* handed out */
    struct accepted *window;  /* open addressing */
    uint32_t window_count, window_capacity;
    uint64_t ended_at; /* when the latest entry was over, or became a dead letter */
    uint64_t accepted, kept_out, handed_out, lapsed, deleted, dead_letters, replayed;
};

/* Everything borrowed must be set in b before (config, prefetch, run, network, operations,
 * listener, names). */
void broker_init(struct broker *b);
void broker_fini(struct broker *b);
/* A new run: empty. */
void broker_start(struct broker *b);

/* EVENT_ARRIVE of a request, and of an ack. Each takes over the message's hold on its operation. */
void broker_accept(struct broker *b, struct operation *op, const struct message *m);
void broker_acknowledge(struct broker *b, struct operation *op, const struct message *m);
/* EVENT_BROKER of an entry: its visibility lapses, its wait or its time as a dead letter ends. */
void broker_moment(struct broker *b, uint32_t entry);

/* Longest time that an entry may stay when nothing goes wrong any more, ns. */
uint64_t broker_span(const struct broker_config *c, uint64_t delay);

#endif
