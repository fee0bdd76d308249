/* Faults as sentences, out and in.
 *
 *     lose request m-77/1
 *     duplicate reply m-77/1.2 3 times after 3s
 *     delay reply m-77/1 by 10m
 *     lose delivery m-77/2               lose ack m-77/2
 *     crash receiver at m-77/1 after commit (power torn 2) restart after 5s
 *     crash receiver at m-77/1 in commit disk 7 (process)
 *     pause receiver at m-77/2 before record for 30s
 *     crash receiver at sweep/3 before commit (process)
 *     store receiver at m-77/1 claim (not applied)
 *     handler receiver at m-77/1 after effect fails
 *     clock receiver +3s at 10s          clock receiver drift -50ppm
 *     partition shop receiver 5s..20s    partition shop to receiver 5s..20s
 *     lying-disk receiver
 *     stop receiver at m-77/1 before commit killed after 1s restart after 5s
 *     sender-crash shop at m-77/1 after send restart after 5s
 *     sender-amnesia shop at m-77/1 after send (outbox lost)
 *
 * `m-77/1` is attempt 1 of operation m-77, `m-77/1.2` its second copy; `reply m-77/1.2.3` is the
 * third copy of the reply to that copy (rng_key.nth 3; 0 is the first). `call m-77/1` is the first
 * call to the service that handlings of that attempt make, `call m-77/1.2` the second, `call
 * m-77/1.1.3` the third copy of the first; `answer m-77/1.1.3` is the answer to that copy and
 * `answer m-77/1.1.3.2` the second copy of that answer. `sweep/3` is the third
 * sweep of the host; its copy is 0, and a message of that name goes before. With a broker, m-77/2
 * of a delivery, its ack, its handling and that one's calls is the second delivery of m-77. A step
 * may carry the
 * n-th time of that step in its handling: `after commit 2`. Names outside [A-Za-z0-9_.:-], and a
 * host named "to", are JSON-quoted. What is left out when printed is what parsing supplies: copy 1,
 * first time, once, "after 0s", the host's own restart delay; "(process)" is always printed.
 *
 * Keys that are made: network kinds have host 0 and step none; a store fault has MOMENT_NONE, a
 * handler fault AFTER, a pause or stop BEFORE, a crash at a disk operation INSIDE. What befalls a
 * sender has copy 0 and step none. Clock faults and
 * partitions have nth 1: who knows the whole list numbers those of one host or pair. Moments are
 * the world's clock, which starts at SIM_START; no time is above CLOCK_OFFSET_MAX.
 */
#ifndef SIM_SENTENCE_H
#define SIM_SENTENCE_H

#include "sim/site.h"

/* How names become numbers and back. Supplied by the scenario. */
struct sentence_names {
    const void *context;
    /* Place of a host or sender; PLACE_NONE: unknown. */
    unsigned (*place)(const void *context, const char *name, size_t len);
    /* Operation of an id; 0: unknown. */
    uint64_t (*operation)(const void *context, const char *id, size_t len);
    /* Most attempts that an operation can have; 0: no bound. */
    unsigned (*attempts)(const void *context, uint64_t op);
    /* Write a name with NUL into out[KEY_MAX]. */
    void (*place_name)(const void *context, unsigned place, char *out);
    void (*operation_name)(const void *context, uint64_t op, char *out);
    /* Writes the known place or operation closest to a misspelt name, "" for none, into
     * out[KEY_MAX]. May be NULL. */
    void (*suggest)(const void *context, bool operation, const char *name, size_t len, char *out);
};

#define PLACE_NAME_MAX 100 /* bytes of a sender's name with its NUL, so that two fit a sentence */

#define SENTENCE_MAX 2048 /* longest sentence with its NUL: names may be quoted six-fold */

/* True for a name (with NUL behind len) that a sentence holds without quotes. */
bool sentence_bare(const char *name, size_t len);

/* Returns the length written. */
size_t sentence_print(const struct sentence_names *names, const struct fault *f,
                      char out[SENTENCE_MAX]);
/* "m-77/1.2": how messages are named everywhere. copy 0 or 1 is not written. */
size_t sentence_message(const struct sentence_names *names, uint64_t op, unsigned attempt,
                        unsigned copy, char out[SENTENCE_MAX]);

struct sentence_error {
    size_t offset; /* byte in the sentence where it went wrong */
    char text[256];
};
/* False: *error says what is wrong, with a suggestion for a misspelt word. */
bool sentence_parse(const struct sentence_names *names, const char *text, size_t len,
                    struct fault *f, struct sentence_error *error);

#endif
