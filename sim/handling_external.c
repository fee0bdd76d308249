/* A handling calls the service outside its database, and waits.
 *
 * In: a call on a worker's coroutine, later an answer from the network. Out: a call into the
 * network, and what became of it as far as the handling can know. Whoever does not wait any more,
 * because its time is over or its host has died, is not found: the answer is dropped, and what the
 * service did stays done.
 */
#include "sim/handling.h"
#include "sim/host_internal.h"
#include "sim/service.h"

#include <string.h>

static uint64_t hash_of(const char *key)
{
    return key == NULL || key[0] == '\0' ? 0 : rng_name(key, strlen(key));
}

/* The call leaves; the worker is ready for its answer. */
static void send_call(struct handling *h, uint64_t key)
{
    struct host *host = h->host;
    struct message m = {.op = h->message.op,
                        .op_hash = h->message.op_hash,
                        .slot = h->message.slot,
                        .attempt = h->message.attempt,
                        .copy = operation_call(h->op, h->message.attempt),
                        .echo = 1,
                        .direction = CALL,
                        .behind = call_behind(host->place, h->message.direction == DELIVERY, 0),
                        .receipt = (int64_t)key};
    h->worker->call = (struct waiting_call){.waits = true, .number = m.copy};
    run_record(host->run, (struct record){.kind = RECORD_CALL,
                                          .op = m.op,
                                          .attempt = m.attempt,
                                          .copy = record_copy(m.copy),
                                          .place = host->place,
                                          .worker = h->worker->number,
                                          .step = h->step,
                                          .value = (int64_t)key});
    network_send(host->network, h->op, &m, host->place, PLACE_SERVICE);
}

enum outcome external_effect(struct handling *h, const char *key)
{
    if (step_refused(h)) {
        return DEAD;
    }
    must(!h->sweep);
    enum outcome o = step_enter(h, STEP_EXTERNAL);
    if (o != OK) {
        return o;
    }
    if (h->op->registers) { /* it asks for no effect, here or there */
        return step_leave(h, OK, STATEMENT_NONE);
    }
    struct waiting_call *call = &h->worker->call;
    send_call(h, hash_of(key));
    host_sleep(h->worker, h->host->run->now + h->host->service->time_out);
    call->waits = false;
    if (!call->answered) {
        o = BUSY;
    } else if (call->did == SERVICE_REFUSED) {
        o = STORE_ERROR;
    } else {
        h->external_receipt = call->receipt;
    }
    return step_leave(h, o, STATEMENT_NONE);
}

int64_t handling_external_receipt(const struct handling *h)
{
    return h->external_receipt;
}

static struct worker *waiting_for(struct host *h, const struct message *m)
{
    for (uint32_t i = 0; h->up && i < h->config->workers; i++) {
        struct worker *w = &h->workers[i];
        const struct message *handled = &w->handling.message;
        if (w->call.waits && w->call.number == m->copy && handled->op == m->op &&
            handled->attempt == m->attempt) {
            return w;
        }
    }
    return NULL;
}

void host_answer(struct host *h, const struct message *m)
{
    struct worker *w = waiting_for(h, m);
    run_record(h->run, (struct record){.kind = RECORD_ANSWERED,
                                       .op = m->op,
                                       .attempt = m->attempt,
                                       .copy = record_copy(m->copy),
                                       .place = h->place,
                                       .worker = w != NULL ? w->number : 0,
                                       .code = w == NULL,
                                       .value = m->receipt});
    if (w != NULL) {
        w->call.waits = false;
        w->call.answered = true;
        w->call.did = m->status;
        w->call.receipt = m->receipt;
        host_resume(h, w->number, w->serial);
    }
}
