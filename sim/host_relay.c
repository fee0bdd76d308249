/* The relay: a host sends the follow-on messages that lie in its outbox, beside its work, on a
 * connection of its own.
 *
 * In: word that a transaction with a parcel is committed, a start of the process, EVENT_RELAY. Out:
 * a handling without a message that runs the receiver's relay, with steps, sites and locks as any
 * other. A turn is due only where there may be something to send, so that an idle poll is no event.
 */
#include "sim/host_internal.h"

static struct worker *relay(struct host *h)
{
    return &h->workers[h->connections - 1];
}

uint32_t host_relay_init(struct host *h)
{
    if (h->code->relay == NULL || h->code->relay_every(h->settings) == 0) {
        return 0;
    }
    h->relaying = sim_zalloc(1, sizeof(*h->relaying));
    h->relaying->op = OP_RELAY;
    h->relaying->op_hash = rng_name(RELAY_NAME, sizeof(RELAY_NAME) - 1);
    return 1;
}

void host_relay_later(struct host *h)
{
    if (h->relaying == NULL) {
        return;
    }
    if (h->relay_due) {
        h->relay_wanted = true; /* where a turn runs, it may have looked already */
        return;
    }
    struct event e = {.kind = EVENT_RELAY, .host = h->place, .serial = h->incarnation};
    queue_push(&h->run->queue, h->run->now + h->code->relay_every(h->settings), &e);
    h->relay_due = true;
}

void host_relay_ended(struct host *h)
{
    bool wanted = h->relay_wanted;
    h->relay_due = h->relay_wanted = false;
    if (wanted && h->up) {
        host_relay_later(h);
    }
}

void host_relay(struct host *h, uint32_t incarnation)
{
    if (incarnation != h->incarnation || !h->up || h->stopping) {
        return;
    }
    struct worker *w = relay(h);
    must(!coro_busy(w->coro)); /* no turn is due while one runs */
    uint64_t number = ++h->relays;
    h->relay_wanted = false;
    h->relaying->made_at = (int64_t)clock_read(&h->clock, h->run->now); /* it is its own client */
    w->handling = (struct handling){
        .host = h,
        .worker = w,
        .op = h->relaying,
        .message = {.op = h->relaying->op,
                    .op_hash = h->relaying->op_hash,
                    .attempt = (uint16_t)(number <= SWEEPS_NAMED ? number : 0)},
        .arrived = h->run->now,
        .sweep = true,
    };
    run_record(h->run, (struct record){.kind = RECORD_RELAY,
                                       .op = w->handling.message.op,
                                       .attempt = w->handling.message.attempt,
                                       .place = h->place,
                                       .worker = w->number,
                                       .value = (int64_t)number});
    host_run_worker(h, w, handling_run_relay);
    host_pump(h);
}

void host_answered(struct host *h, const struct message *m)
{
    if (!h->up) {
        return;
    }
    for (uint32_t i = 0; i < h->connections; i++) {
        struct worker *w = &h->workers[i];
        if (w->waits_for == m->op && w->waits_for_attempt == m->attempt && w->answer == 0) {
            w->answer = m->status;
            struct event e = {
                .kind = EVENT_RESUME, .host = h->place, .worker = w->number, .serial = w->serial};
            queue_push(&h->run->queue, h->run->now, &e);
        }
    }
}
