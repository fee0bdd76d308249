/* What the files of a sender share: its timer, its last word on an operation, its place in its
 * list. For sim/sender.c and sim/sender_life.c. */
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
/* Puts off an EVENT_NEXT_OPERATION that came while it is down. */
void sender_defer(struct sender *s, uint64_t number);

#endif
