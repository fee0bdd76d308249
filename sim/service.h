/* The service: a second system outside the receiver's database, such as a card network.
 *
 * In: a call that arrives, be it late, twice, or when its caller is dead. Out: what it asked for,
 * done for good, and an answer into the network. With a key it does the same only once: a repeat
 * gets the first receipt, other parameters under a known key are refused, and a key older than the
 * window is a new one. It never crashes, and its clock is right.
 *
 * Owns: the keys that it has seen, all of them until the run ends. Borrows the rest.
 */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "sim/network.h"
#include "sim/service_config.h"

/* What it made of a call; goes into records and answers. */
#define SERVICE_DEEDS(X)                                                                           \
    X(SERVICE_NEW, "done")                                                                         \
    X(SERVICE_KNOWN, "known")                                                                      \
    X(SERVICE_REFUSED, "refused") /* the key is another call's, with other parameters */

enum service_did {
#define X(name, text) name,
    SERVICE_DEEDS(X)
#undef X
};
const char *service_did_text(enum service_did d);

struct service_key {
    uint64_t key; /* hash; 0: the place is free */
    uint64_t since;
    int64_t receipt;
    int64_t amount;
    uint32_t entity;
    uint8_t effect;
};

struct service {
    const struct service_config *config;
    struct run *run;
    struct network *network;
    struct operations *operations;
    void *context;
    void (*applied)(void *context, struct operation *op); /* its effects there are one more */
    struct service_key *keys;                             /* open addressing */
    size_t key_count, key_capacity;
};

void service_init(struct service *s, const struct service_config *config, struct run *run,
                  struct network *network, struct operations *operations);
void service_fini(struct service *s);
/* A new run. */
void service_start(struct service *s);
/* EVENT_ARRIVE of a call; its receipt is the hash of its key, 0: it has none. The caller lets go of
 * the message's hold on op. */
void service_receive(struct service *s, struct operation *op, const struct message *m);

#endif
