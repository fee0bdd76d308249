/* What a sender is told: its operations, its loop, its retry policy. Plain data. */
#ifndef SIM_SENDER_CONFIG_H
#define SIM_SENDER_CONFIG_H

#include "sim/message.h"
#include "sim/rng.h"

#define BACKOFFS(X)                                                                                \
    X(BACKOFF_FIXED, "fixed")                             /* after */                              \
    X(BACKOFF_EXPONENTIAL, "exponential")                 /* after x 2^(n-1), capped */            \
    X(BACKOFF_FULL_JITTER, "full-jitter")                 /* uniform in 0..exponential */          \
    X(BACKOFF_DECORRELATED_JITTER, "decorrelated-jitter") /* uniform in after..3 x last, capped */

/* Names and formulas: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. */
enum backoff {
#define X(name, text) name,
    BACKOFFS(X)
#undef X
};

struct retry_policy {
    /* How long an attempt waits for its reply. 0: as long as the wait before the next attempt, so
     * that attempt 2 leaves exactly `after` after attempt 1 if no reply has come. */
    uint64_t timeout;
    uint64_t after; /* base of the backoff */
    uint64_t max;   /* cap of the backoff */
    enum backoff backoff;
    uint32_t limit;    /* attempts in all, 1..1000 */
    uint64_t deadline; /* since the first send; 0: none */
};

/* What a sender does with its idempotency keys. */
#define KEY_POLICIES(X)                                                                            \
    X(KEYS_STABLE, "stable")                   /* one key for all attempts of an operation */      \
    X(KEYS_NEW_PER_ATTEMPT, "new-per-attempt") /* attempt n > 1 carries "<key>~n" */               \
    X(KEYS_PER_ENTITY, "per-entity") /* the entity's name: one key for all its operations */       \
    X(KEYS_NONE, "none")             /* the empty key */

enum key_policy {
#define X(name, text) name,
    KEY_POLICIES(X)
#undef X
};
const char *key_policy_text(enum key_policy p);

/* One listed operation. */
struct listed_message {
    char *id;
    char *key;         /* NULL: the id */
    char *group;       /* NULL: the entity */
    uint32_t entity;   /* index into the scenario's entities */
    int64_t amount;    /* n of its effect */
    uint64_t version;  /* 0: its number */
    uint64_t at;       /* time of the first send; 0: in the sender's loop */
    uint8_t effect;    /* enum effect */
    bool invalid;      /* a check before execution refuses it */
    uint32_t declined; /* so many executions are declined by the business, then they succeed */
    bool registers;    /* opens a session; no entity (its name is empty), no effect */
    int line, column;
};

/* Generated operations: ids are "<sender>-<n>" from 1. */
struct workload {
    uint64_t count;        /* 0: the sender lists its messages */
    uint32_t entities;     /* 1..2^20, named "<sender>-entity-<n>" unless shared */
    uint32_t first_entity; /* index into the scenario's entities */
    uint32_t skew;         /* thousandths of the Zipf exponent; 0: uniform */
    struct dist amount;    /* in minor units, >= 0 */
    uint8_t effect;        /* enum effect */
};

struct sender_config {
    char *name;
    struct listed_message *messages;
    size_t message_count;
    struct workload workload;
    /* Closed loop: the next operation starts when one ends; `in_flight` at a time. Open loop: gaps
     * between first sends come from `gap` whatever happens. */
    bool open_loop;
    uint32_t in_flight;
    struct dist gap;
    struct retry_policy retry;
    bool give_up_is_failed; /* a flawed sender: takes giving up for failure */
    enum key_policy keys;
    bool uncorrelated;    /* it takes any answer for one to the oldest message that is open */
    bool opens_session;   /* by an operation of its own, before anything else */
    bool stamped;         /* each attempt's body says which attempt it is */
    bool group_changes;   /* attempt n > 1 goes to group "<group>~n" */
    int64_t clock_offset; /* ns */
    int32_t clock_drift;  /* ppm, |drift| <= DRIFT_MAX_PPM */
    int line, column;
};

/* Longest time from an operation's first send to its last (attempts, waits, caps). */
uint64_t retry_horizon(const struct retry_policy *r);
const char *backoff_text(enum backoff b);

#endif
