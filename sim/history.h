/* The record of it all: one binary line for each thing that happened, and a hash over them.
 *
 * In: records of 32 bytes. Out: the rolling XXH3 hash of all of them, in order, fed in whole
 * blocks, and, where the caller wants to show or compare, the records themselves. Text is made only
 * when shown. A record holds logical things only: never a file byte, a pointer or a wall-clock
 * time.
 *
 * Owns: its block and, when keeping, the kept records.
 */
#ifndef SIM_HISTORY_H
#define SIM_HISTORY_H

#include "sim/base.h"

/* Version of what a history holds. It goes into every result; hashes of two epochs do not compare.
 */
#define HISTORY_EPOCH 1

/* place is a host's place; code and value are what the comment says. */
#define RECORD_KINDS(X)                                                                            \
    X(RECORD_SEND, "send")       /* sender transmits; value: key hash */                           \
    X(RECORD_COPY, "copy")       /* network makes a copy; code: direction; value: its number */    \
    X(RECORD_LOST, "lost")       /* code: direction; value: 0 fault, 1 partition */                \
    X(RECORD_DELAYED, "delayed") /* code: direction; value: extra ns */                            \
    X(RECORD_DOWN, "down")       /* arrival at a host that is down, or an answer at a sender */    \
    X(RECORD_DELIVER, "deliver") /* arrival at a live receiver; value: delivery number of op */    \
    X(RECORD_HANDLE, "handle")   /* handling starts; code: worker */                               \
    X(RECORD_STEP, "step")       /* step ends; code: enum outcome; value: statement, -1 none */    \
    X(RECORD_EFFECT, "effect")   /* effect written, not yet committed; value: amount */            \
    X(RECORD_COMMITTED,                                                                            \
      "committed") /* code: effects of this handling that became durable state */                  \
    X(RECORD_ROLLED_BACK, "rolled-back")                                                           \
    X(RECORD_WAIT, "wait")         /* worker waits for a lock */                                   \
    X(RECORD_PAUSE, "pause")       /* value: ns */                                                 \
    X(RECORD_REPLY, "reply")       /* receiver replies; code: status; value: receipt */            \
    X(RECORD_ANSWER, "answer")     /* reply reaches its sender; code: status; value: receipt */    \
    X(RECORD_LATE, "late-answer")  /* reply reaches a sender that has closed the operation */      \
    X(RECORD_TIMEOUT, "timeout")   /* sender stopped waiting for this attempt */                   \
    X(RECORD_CLOSE, "close")       /* code: enum belief; value: 1 gave up */                       \
    X(RECORD_CRASH, "crash")       /* code: enum crash_mode; value: n */                           \
    X(RECORD_SURVIVED, "survived") /* audit after a crash; value: effects in all */                \
    X(RECORD_RESTART, "restart")                                                                   \
    X(RECORD_CLOCK, "clock")         /* value: signed ns added */                                  \
    X(RECORD_PARTITION, "partition") /* code: 1 begins, 0 ends; value: other place */              \
    X(RECORD_FAULT, "fault")         /* a scripted or random fault fires; code: kind */            \
    X(RECORD_VIOLATION, "violation") /* code: check */                                             \
    X(RECORD_END, "end")             /* value: 1 at the limit */                                   \
    X(RECORD_STOP, "stop") /* code: 0 asked to, value: killed after ns, 0 never; code: 1 ends */   \
    X(RECORD_SENDER_CRASH, "sender-crash")     /* code: 0 remembers all, else 1 + enum amnesia */  \
    X(RECORD_SENDER_RESTART, "sender-restart") /* value: operations that it sends again */         \
    X(RECORD_HTTP, "http")   /* beside a reply; code: 1 replayed; value: HTTP status code */       \
    X(RECORD_SWEEP, "sweep") /* a host's sweep starts; value: its number */                        \
    X(RECORD_ENQUEUE,                                                                              \
      "enqueue") /* a request reaches the broker; code: 1 kept out by its window */                \
    X(RECORD_DELIVER_ATTEMPT,                                                                      \
      "deliver-attempt") /* the broker hands out; value: which delivery of this entry */           \
    X(RECORD_VISIBLE_AGAIN, "visible-again") /* code: 0 lapsed, 1 negative ack; value: as above */ \
    X(RECORD_ACKED, "acked") /* an ack reaches the broker; code: status; value: 1 entry deleted,   \
                                0 not, -1 comes too late and changes nothing */                    \
    X(RECORD_DEAD_LETTER, "dead-letter") /* value: deliveries of this entry */                     \
    X(RECORD_REPLAYED, "replayed")       /* a dead letter is put back */                           \
    X(RECORD_RELAY, "relay")             /* a turn of a host's relay starts; value: its number */  \
    X(RECORD_WORK, "work")               /* the business works before its effect; value: ns */     \
    /* Of these four, copy is the call's number in its attempt. */                                 \
    X(RECORD_CALL, "call") /* a handling calls the service; value: key hash, 0 none */             \
    X(RECORD_SERVICE, "service-effect") /* a call arrives; code: service_did; value: receipt */    \
    X(RECORD_SERVICE_ANSWER, "service-answer") /* it answers; code and value as above */           \
    X(RECORD_ANSWERED, "answered")             /* an answer arrives; code: 0 is waited for, 1 not */

enum record_kind {
#define X(name, text) name,
    RECORD_KINDS(X)
#undef X
};

/* What a RECORD_STEP's value means where it is not the index of one of the receiver's statements.
 */
enum {
    STATEMENT_NONE = -1,
    STATEMENT_BEGIN = -2,
    STATEMENT_COMMIT = -3,
    STATEMENT_ROLLBACK = -4,
    STATEMENT_EFFECT = -5
};

/* 32 bytes without padding: they are hashed as they lie. Zero where it does not apply. */
struct record {
    uint64_t at;
    uint64_t op;
    int64_t value;
    uint16_t attempt;
    uint8_t copy; /* 255: 255 or more */
    uint8_t kind;
    uint8_t place;
    uint8_t worker;
    uint8_t step;
    uint8_t code;
};
_Static_assert(sizeof(struct record) == 32, "hashed as bytes, so no padding");

#define HISTORY_BLOCK 4096 /* records in a block: 128 KiB */

struct history {
    struct record *block;
    uint32_t in_block;
    uint64_t hash; /* of the full blocks so far */
    uint64_t count;
    bool keep;
    struct record *kept; /* all records, if keep */
    size_t kept_capacity;
};

void history_init(struct history *h);
void history_fini(struct history *h);
/* Starts anew; keep says whether the records are kept for history_records. */
void history_reset(struct history *h, bool keep);
void history_flush_block(struct history *h);

static inline void history_add(struct history *h, const struct record *r)
{
    h->block[h->in_block++] = *r;
    h->count++;
    if (h->in_block == HISTORY_BLOCK) {
        history_flush_block(h);
    }
}

/* Hash of all records so far; does not end the history. */
uint64_t history_hash(const struct history *h);
/* The kept records; only where keep was asked for. Valid until the next add, reset or fini. */
const struct record *history_records(struct history *h, size_t *count);
const char *record_kind_text(enum record_kind k);

#endif
