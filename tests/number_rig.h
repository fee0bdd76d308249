/* Worlds for receivers that number a client's messages: answers told as text, a random mix that a
 * sound one holds in, every schedule of a small world. */
#ifndef TESTS_NUMBER_RIG_H
#define TESTS_NUMBER_RIG_H

#include "tests/world_rig.h"

/* A small world in which a rule shows: one shop, messages with times of their own, each way takes
 * 20 ms, one attempt each. */
struct rule {
    const char *about;    /* and whose it is */
    const char *receiver; /* as in a list of receivers; its name is "it" */
    const char *sender;   /* lines of its own, four blanks before each; "": none */
    const char *messages; /* what stands between the brackets */
    const char *faults;
    struct {
        const char *id, *answers;
    } want[5];              /* as they leave the receiver, a blank between two; ended by NULL */
    const char *sql, *rows; /* what its tables hold in the end; NULL: not asked for */
};
void numbers_hold(const struct rule *rules, size_t count);

/* Answers that left for a message in the history kept last. */
void rig_answers(struct world *w, const struct scenario *s, const char *about, const char *id,
                 const char *want);

/* Over so many seeds with all that chance may do: nothing is given up, each message has one effect.
 * receiver: as in a list of receivers, its name is "it"; sender: lines of each sender's own. */
void mix_holds(const char *receiver, const char *sender, unsigned workers, uint64_t seeds);

/* Two messages, two workers, every schedule with at most one covered fault; two where
 * ONLYONCE_HEAVY is set. */
void explored_holds(const char *receiver, const char *sender);

#endif
