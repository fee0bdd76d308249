/* Up to which of its operations a sender has the final answers: RIFL's ackId.
 *
 * In: operations that begin and end, in any order. Out: the highest number N such that the sender's
 * operations 1..N have all ended. One that ended without an answer (given up, or forgotten in a
 * crash) counts as ended: the sender sends no attempt of it any more.
 *
 * Generated operations begin in order, so those that are open stand in a list by number and the
 * first of them says it: two links for each that is open. Listed ones may begin at any time, but
 * there are few: one mark for each. No send and no end looks at more than it moves past.
 */
#include "sim/sender_internal.h"

#include <string.h>

static bool is_listed(const struct sender *s)
{
    return s->config->workload.count == 0;
}

void acknowledged_init(struct sender *s)
{
    if (is_listed(s)) {
        s->ended = sim_zalloc(s->config->message_count + 1, sizeof(s->ended[0]));
    }
}

void acknowledged_start(struct sender *s)
{
    s->first_open = s->last_open = NULL;
    s->ended_to = 0;
    if (is_listed(s)) {
        memset(s->ended, 0, s->config->message_count * sizeof(s->ended[0]));
    }
}

void acknowledged_begin(struct sender *s, struct operation *op)
{
    if (is_listed(s)) {
        return;
    }
    must(s->last_open == NULL || s->last_open->op < op->op);
    op->open_before = s->last_open;
    op->open_after = NULL;
    *(s->last_open != NULL ? &s->last_open->open_after : &s->first_open) = op;
    s->last_open = op;
}

void acknowledged_end(struct sender *s, struct operation *op)
{
    if (is_listed(s)) {
        s->ended[op_number(op->op) - 1] = true;
        while (s->ended_to < s->config->message_count && s->ended[s->ended_to]) {
            s->ended_to++;
        }
        return;
    }
    *(op->open_before != NULL ? &op->open_before->open_after : &s->first_open) = op->open_after;
    *(op->open_after != NULL ? &op->open_after->open_before : &s->last_open) = op->open_before;
}

uint64_t sender_acknowledged(const struct sender *s)
{
    if (is_listed(s)) {
        return s->ended_to;
    }
    return s->first_open != NULL ? op_number(s->first_open->op) - 1 : s->next - 1;
}
