/* A sender's session: asked for before its list or workload begins, or not at all.
 *
 * In: the start of a run, the end of the registration. Out: the first moments of its list or
 * workload; without a session none, and what it would have sent counts as given up, as unknown,
 * without having been begun. The registration is an operation of its own, number 0, which is sent
 * and retried as any other.
 */
#include "sim/sender_internal.h"

/* Its list or workload begins, now. */
static void begin(struct sender *s)
{
    const struct sender_config *c = s->config;
    for (size_t i = 0; c->workload.count == 0 && i < c->message_count; i++) {
        if (c->messages[i].at != 0) {
            uint64_t at = c->messages[i].at;
            sender_push_next(s, at > s->run->now ? at : s->run->now, i + 1);
        }
    }
    uint64_t lanes = c->open_loop ? 1 : c->in_flight;
    for (uint64_t i = 0; i < lanes && i < sender_total(c); i++) {
        sender_push_next(s, s->run->now, 0);
    }
}

void session_start(struct sender *s)
{
    s->session = 0;
    s->stopped = false;
    s->opening = s->config->opens_session ? OPENING_DUE : OPENING_NOTHING;
    if (s->opening == OPENING_DUE) {
        sender_push_next(s, s->run->now, 0);
    } else {
        begin(s);
    }
}

void session_ask(struct sender *s, struct message *out)
{
    must(s->opening == OPENING_DUE);
    s->opening = OPENING_ASKED;
    struct operation *op = sender_open(s, 0);
    op->first_sent = s->last_first = s->run->now;
    sender_send(s, op, out);
}

void session_closed(struct sender *s, const struct operation *op)
{
    must(s->opening == OPENING_ASKED);
    s->opening = OPENING_NOTHING;
    if (op->belief == BELIEF_DONE) {
        begin(s);
        return;
    }
    s->stopped = true;
    s->waiting = 0;
    s->next = sender_total(s->config) + 1;
    s->gave_up += sender_total(s->config);
}
