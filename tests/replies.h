/* What a receiver answered in a run, as one line of text, for tests that read like a conversation:
 *
 *     "m-77/1 500 error, m-77/2 200 done #1, m-77/2.2 200 duplicate #1 replayed"
 *
 * In the order in which the answers left: message, attempt and copy, HTTP's code where the receiver
 * gives one, status, the effect that the receipt names (#1 is the first begun of its message), and
 * whether the answer is marked as a replay.
 */
#ifndef TESTS_REPLIES_H
#define TESTS_REPLIES_H

#include "tests/world_rig.h"

#define REPLIES_TEXT 8192

/* The run that was kept last. */
void replies_text(const struct scenario *s, struct world *w, char out[REPLIES_TEXT]);

/* A receiver (a name, or {name: it, is: ...}), the lines of its scenario behind that (senders,
 * hosts, faults, ...), or NULL: one message, m-77, that adds 42 to its order and is tried each
 * second. Each way takes 20 ms unless the lines say so. */
struct conversation {
    const char *receiver;
    const char *lines;
    const char *replies;
    uint64_t effects; /* of all messages, at the end */
};

/* Plays it with seed 1; *s, *w are the caller's to end with conversation_end. */
struct result conversation_play(const struct conversation *c, struct scenario *s, struct world **w);
void conversation_end(struct scenario *s, struct world *w, struct result *r);
/* Plays it, and each answer must be as written. */
void conversation_check(const struct conversation *c);

/* Lines of a scenario. */
#define CHARGE(id) "{id: " id ", entity: order-1042, charge: 42}"
#define SHOP(messages) "senders: [{name: shop, messages: [" messages "]}]\n"
/* with a retry policy */
#define SHOP_RETRIES(messages, retry)                                                              \
    "senders: [{name: shop, messages: [" messages "], retry: {" retry "}}]\n"
#define FAULTS(list) "faults: [" list "]\n"
/* Workers that can be at work at once. */
#define TWO_WORKERS "hosts: {receiver: {workers: 2, step: 0s}}\n"

TCase *rules_claim_tests(void); /* tests/rules_claim.c */
TCase *kept_keys_tests(void);   /* tests/keys_kept.c */

#endif
