/* What the files of a sender share: its timer, its last word on an operation, its place in its
 * list. For sim/sender.c and sim/sender_*.c. */
#ifndef SIM_SENDER_INTERNAL_H
#define SIM_SENDER_INTERNAL_H

#include "sim/sender.h"

/* Sets the operation's one timer `wait` from now, by the sender's clock: EVENT_SEND or TIMEOUT. */
void sender_arm(struct sender *s, struct operation *op, enum event_kind kind, uint64_t wait);
void sender_close(struct sender *s, struct operation *op, enum belief belief, bool gave_up);
/* EVENT_NEXT_OPERATION for sender_next. */
void sender_push_next(struct sender *s, uint64_t at, uint64_t number);
/* The key that its n-th operation travels under, into out[KEY_MAX]. */
void sender_key(const struct sender *s, uint64_t n, char *out);
/* Opens a slot for its n-th operation and fills in what travels. */
struct operation *sender_open(struct sender *s, uint64_t n);

static inline struct rng_key sender_draw(const struct operation *op, enum draw draw)
{
    return (struct rng_key){
        .operation = op->op_hash, .attempt = op->attempt, .draw = (uint8_t)draw};
}

/* sim/sender_session.c: it starts; asks for its session, *out is the first attempt; the
 * registration has ended. */
void session_start(struct sender *s);
void session_ask(struct sender *s, struct message *out);
void session_closed(struct sender *s, const struct operation *op);

/* sim/sender_acknowledged.c: an operation begins, ends; see sender_acknowledged. */
void acknowledged_init(struct sender *s);
void acknowledged_start(struct sender *s);
void acknowledged_begin(struct sender *s, struct operation *op);
void acknowledged_end(struct sender *s, struct operation *op);
/* Puts off an EVENT_NEXT_OPERATION that came while it is down. */
void sender_defer(struct sender *s, uint64_t number);

#endif
