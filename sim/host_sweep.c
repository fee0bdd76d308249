/* Sweeps: a host removes old records beside its work, on a connection of its own.
 *
 * In: EVENT_SWEEP, every `sweep` of true time since the process started. Out: a handling without a
 * message on the worker behind the configured ones, with steps, sites and locks as any other. It
 * belongs to a pseudo operation, so that no counter of a real one is touched. A sweep that is due
 * while the last one still runs is left out.
 */
#include "sim/host_internal.h"

#include "sim/message.h"

static struct worker *sweeper(struct host *h)
{
    return &h->workers[h->config->workers];
}

uint32_t host_sweeper_init(struct host *h)
{
    if (!retention_sweeps(h->code, h->settings)) {
        return 0;
    }
    h->sweeping = sim_zalloc(1, sizeof(*h->sweeping));
    h->sweeping->op = OP_SWEEP;
    h->sweeping->op_hash = rng_name(SWEEP_NAME, sizeof(SWEEP_NAME) - 1);
    return 1;
}

void host_sweep_later(struct host *h)
{
    if (h->sweeping == NULL) {
        return;
    }
    struct event e = {.kind = EVENT_SWEEP, .host = h->place, .serial = h->incarnation};
    h->sweeps_due++;
    queue_push(&h->run->queue, h->run->now + (uint64_t)h->settings[RETENTION_SWEEP], &e);
}

void host_sweep(struct host *h, uint32_t incarnation)
{
    h->sweeps_due--;
    if (incarnation != h->incarnation || !h->up || h->stopping) {
        return;
    }
    host_sweep_later(h);
    struct worker *w = sweeper(h);
    if (coro_busy(w->coro)) {
        return;
    }
    uint64_t number = ++h->sweeps;
    w->handling = (struct handling){
        .host = h,
        .worker = w,
        .op = h->sweeping,
        .message = {.op = h->sweeping->op,
                    .op_hash = h->sweeping->op_hash,
                    .attempt = (uint16_t)(number <= SWEEPS_NAMED ? number : 0)},
        .arrived = h->run->now,
        .sweep = true,
    };
    run_record(h->run, (struct record){.kind = RECORD_SWEEP,
                                       .op = w->handling.message.op,
                                       .attempt = w->handling.message.attempt,
                                       .place = h->place,
                                       .worker = w->number,
                                       .value = (int64_t)number});
    host_run_worker(h, w, handling_run_sweep);
    host_pump(h);
}
