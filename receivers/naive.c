/* No memory at all: the canary.
 *
 * In: a message. Out: its effect, as often as it comes. Right only where nothing is ever sent
 * twice.
 */
#include "receivers/receiver.h"

static void naive_handle(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = apply_effect(h);
    }
    if (o == OK) {
        o = commit(h);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, REPLY_DONE, handling_receipt(h));
}

const struct receiver receiver_naive = {
    .name = "naive",
    .about = "canary: no memory of what was seen, applies every delivery",
    .source = "wrong on purpose",
    .schema = NULL,
    .statements = NULL,
    .axes =
        {
            [AXIS_KEY] = "none",
            [AXIS_CONCURRENT] = "both run",
            [AXIS_ANSWER] = "fresh response",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_EFFECT) |
             STEP_BIT(STEP_COMMIT) | STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY),
    .handle = naive_handle,
};
