/* What travels: an operation's key under an attempt and a copy number, or the reply to it.
 *
 * An operation is named by its sender's place in the world (from PLACE_SENDER on, sim/site.h) and
 * its number with that sender, packed in one integer. The receiver never sees that; it sees the
 * key, the client, the entity, the amount.
 */
#ifndef SIM_MESSAGE_H
#define SIM_MESSAGE_H

#include "sim/base.h"

/* DELIVERY and ACK: between a broker and the receiver, where there is one (sim/broker.h). A CALL
 * goes from a handling to the service outside its database (sim/service.h), an ANSWER back. */
#define DIRECTIONS(X)                                                                              \
    X(REQUEST, "request")                                                                          \
    X(REPLY, "reply")                                                                              \
    X(DELIVERY, "delivery")                                                                        \
    X(ACK, "ack")                                                                                  \
    X(CALL, "call")                                                                                \
    X(ANSWER, "answer")

enum direction {
    DIRECTION_NONE,
#define X(name, text) name,
    DIRECTIONS(X)
#undef X
        DIRECTION_COUNT
};
/* The word that sentences and results use. */
const char *direction_text(enum direction d);

/* 0: towards whoever does what is asked for, 1: back. What is configured by leg goes by this. */
static inline unsigned direction_leg(enum direction d)
{
    return ((unsigned)d - 1) & 1;
}
/* Between the receiver and the service. */
static inline bool direction_outside(enum direction d)
{
    return d == CALL || d == ANSWER;
}
/* Between the broker and the receiver. */
static inline bool direction_brokered(enum direction d)
{
    return d == DELIVERY || d == ACK;
}

/* Answers of a receiver. done and duplicate: the sender believes it done; refused: failed, final;
 * retry-later and error: unknown, sent again. */
#define REPLY_STATUSES(X)                                                                          \
    X(REPLY_NONE, "none")                                                                          \
    X(REPLY_DONE, "done")                                                                          \
    X(REPLY_DUPLICATE, "duplicate")                                                                \
    X(REPLY_REFUSED, "refused")                                                                    \
    X(REPLY_RETRY_LATER, "retry-later")                                                            \
    X(REPLY_ERROR, "error")

enum reply_status {
#define X(name, text) name,
    REPLY_STATUSES(X)
#undef X
};
const char *reply_status_text(enum reply_status s);

/* Operation number: sender's place (1..255, see sim/site.h) in the top 16 bits, number with that
 * sender (from 1; 0: the registration that it makes by itself) below. 0: no operation. */
static inline uint64_t op_make(unsigned sender, uint64_t n)
{
    return (uint64_t)sender << 48 | n;
}
static inline unsigned op_sender(uint64_t op)
{
    return (unsigned)(op >> 48);
}
static inline uint64_t op_number(uint64_t op)
{
    return op & ((UINT64_C(1) << 48) - 1);
}

/* The follow-on of an operation: what the receiver tells a second one, downstream, because of it.
 * It is an operation of the receiver's own; its number holds its parent's (below 2^39). */
#define OP_FOLLOWS (UINT64_C(1) << 47)
static inline uint64_t op_follow(uint64_t parent)
{
    return op_make(1 /* PLACE_RECEIVER */,
                   OP_FOLLOWS | (uint64_t)op_sender(parent) << 39 | op_number(parent));
}
static inline bool op_is_follow(uint64_t op)
{
    return op_sender(op) == 1 && (op & OP_FOLLOWS) != 0;
}
static inline uint64_t op_parent(uint64_t follow)
{
    return op_make((unsigned)(follow >> 39 & 0xff), follow & ((UINT64_C(1) << 39) - 1));
}
/* The registration that a sender makes by itself, before its list or workload begins. */
static inline bool op_opens_session(uint64_t op)
{
    return op != 0 && op_number(op) == 0;
}
#define REGISTRATION_SUFFIX "-register" /* behind the sender's name: its id */

/* What an effect hands to the receiver, as a charge id would be: names the operation and the n-th
 * effect begun of it (1..65535). The receiver sees an opaque number; a follow-on's is negative. */
static inline int64_t receipt_make(uint64_t op, uint32_t nth)
{
    uint64_t of = op_is_follow(op) ? op_parent(op) : op;
    int64_t receipt = (int64_t)(op_number(of) << 24 | (uint64_t)(op_sender(of) & 0xff) << 16 | nth);
    return op_is_follow(op) ? -receipt : receipt;
}
static inline uint64_t receipt_op(int64_t receipt)
{
    uint64_t r = (uint64_t)(receipt < 0 ? -receipt : receipt);
    uint64_t of = op_make((unsigned)(r >> 16 & 0xff), r >> 24);
    return receipt < 0 ? op_follow(of) : of;
}
static inline uint32_t receipt_nth(int64_t receipt)
{
    return (uint32_t)((receipt < 0 ? -receipt : receipt) & 0xffff);
}

#define KEY_MAX 320    /* bytes of a key with its NUL, and of a name that one is made of */
#define KEY_LISTED 301 /* the same of a key in a scenario file: attempts may add to it */
#define NAME_BYTES 256 /* of an id or any other name with its NUL */

/* What an operation asks for. */
#define EFFECTS(X)                                                                                 \
    X(EFFECT_ADD, "add")       /* n is added to the entity's balance */                            \
    X(EFFECT_SET, "set")       /* the balance is set to n */                                       \
    X(EFFECT_CREATE, "create") /* n is added, and the client needs the handle that is returned */  \
    X(EFFECT_INSERT, "insert") /* the entity is made with n; fails where it is there */

enum effect {
#define X(name, text) name,
    EFFECTS(X)
#undef X
};
const char *effect_text(enum effect e);

/* One copy of one attempt or delivery, or of an answer. A plain value: copied into events.
 *
 * Of a call and of its answer, attempt is that of the handling, copy numbers the calls made for
 * that attempt from 1, echo is the copy that the network made of it, from 1, behind names the
 * caller (call_behind), receipt is what service.c says, and status, of an answer, its enum
 * service_did. */
struct message {
    uint64_t op;
    uint64_t op_hash; /* rng_name of the operation's id */
    uint32_t slot;    /* the world's slot of the live operation */
    uint16_t attempt; /* from 1; of a delivery and its ack: which delivery of the operation */
    uint16_t copy;    /* from 1; of a reply: the request copy that it answers */
    uint16_t echo;    /* of a reply: its own copy, from 1; 0 for a request */
    uint8_t direction;
    uint8_t status;  /* of a reply: enum reply_status */
    uint32_t behind; /* of a request: its number less the highest one up to which its client has the
                        final answers to all; fits, since a client keeps fewer than 2^32 open. Of a
                        follow-on: which of its ids it carries */
    /* Of a reply: what the effect returned, or the number of the session that was opened; of a
     * request: of the latest session that its client knows; 0: none. Of a delivery and its ack: see
     * ticket_make. */
    int64_t receipt;
};
_Static_assert(sizeof(struct message) == 40, "copied with every event");

/* Of a call: the place of who made it, and whether it handles a broker's delivery. Of an answer
 * also which copy of the call it answers, from 1. */
#define CALL_OF_DELIVERY (UINT32_C(1) << 31)
static inline uint32_t call_behind(unsigned place, bool of_delivery, unsigned copy)
{
    return (of_delivery ? CALL_OF_DELIVERY : 0) | (uint32_t)copy << 8 | place;
}
static inline unsigned call_place(uint32_t behind)
{
    return behind & 0xff;
}
static inline bool call_of_delivery(uint32_t behind)
{
    return (behind & CALL_OF_DELIVERY) != 0;
}
static inline uint16_t call_copy(uint32_t behind)
{
    return (uint16_t)(behind >> 8);
}

/* What a delivery carries for its broker, and its ack brings back: the entry (slot, and generation
 * of that slot), and which of its sender's attempts made the entry. */
#define TICKET_ENTRIES (UINT32_C(1) << 24)
static inline int64_t ticket_make(uint32_t entry, uint32_t generation, unsigned attempt)
{
    return (int64_t)((uint64_t)(generation & (TICKET_ENTRIES - 1)) << 40 | (uint64_t)entry << 16 |
                     attempt);
}
static inline uint32_t ticket_entry(int64_t ticket)
{
    return (uint32_t)((uint64_t)ticket >> 16) & (TICKET_ENTRIES - 1);
}
static inline uint32_t ticket_generation(int64_t ticket)
{
    return (uint32_t)((uint64_t)ticket >> 40);
}
/* The sender's attempt that a request or a delivery comes from: what its content goes by. */
static inline unsigned message_sent_as(const struct message *m)
{
    return m->direction == DELIVERY ? (unsigned)(m->receipt & 0xffff) : m->attempt;
}

#endif
