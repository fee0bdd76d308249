/* The stage downstream: a second receiver that gets the follow-on messages of the first.
 *
 * In: the scenario's `downstream`, messages that arrive there. Out: a host, a network and a verdict
 * of its own beside those of the first stage, on the same queue, clock and history. Its operations
 * are the follow-ons; their sender is the first host. At the end what it judged is added to the
 * result, and each operation of the first stage is asked for its follow-on: emitted-once.
 */
#include "sim/world_internal.h"

#include <string.h>

/* What is asked of the first stage only. */
#define OF_THE_FIRST                                                                               \
    (CHECK_BIT(CHECK_PROGRESS) | CHECK_BIT(CHECK_EMITTED_ONCE) |                                   \
     CHECK_BIT(CHECK_BOUNDED_RECORDS) | CHECK_BIT(CHECK_RECORD_STATES) |                           \
     CHECK_BIT(CHECK_OWNER_ONLY) | CHECK_BIT(CHECK_RETENTION))

static void replied(void *context, struct operation *op, enum reply_status s, int64_t receipt)
{
    struct downstream *d = context;
    verdict_reply(&d->verdict, op, s, receipt, d->host.code->saves_responses);
}

static void committed(void *context, struct operation *op)
{
    struct downstream *d = context;
    verdict_committed(&d->verdict, op);
    verdict_in_order(&d->verdict, op);
}

static void died(void *context)
{
    struct downstream *d = context;
    auditor_read(&d->auditor, d->host.disk, &d->verdict, &d->operations, true);
    run_record(d->host.run,
               (struct record){.kind = RECORD_SURVIVED,
                               .place = d->host.place,
                               .value = (int64_t)(d->verdict.effects + d->verdict.rows)});
}

static void left(void *context, struct operation *op)
{
    (void)context;
    (void)op;
}

static void moved(void *context, struct operation *op, const struct moved *m)
{
    (void)context;
    (void)op;
    (void)m;
}

enum sim_error downstream_init(struct world *w, unsigned made, FILE *errors)
{
    const struct scenario *s = w->scenario;
    struct downstream *d = &w->downstream;
    if (s->downstream == NULL) {
        return SIM_OK;
    }
    char name[2][48];
    snprintf(name[0], sizeof(name[0]), "onlyonce-%u-downstream", made);
    snprintf(name[1], sizeof(name[1]), "onlyonce-%u-downstream-audit", made);
    d->on = true;
    d->emits = (w->host.code->steps & STEP_BIT(STEP_SEND)) != 0;
    operations_init(&d->operations);
    network_init(&d->network, &s->network, &w->run, &d->operations);
    verdict_init(&d->verdict, &w->run, s->entity_count);
    d->outlet = (struct host_outlet){.operations = &d->operations, .network = &d->network};
    struct host *h = &d->host;
    h->config = &s->receiver;
    h->code = s->downstream->code;
    h->settings = s->downstream->settings;
    h->run = &w->run;
    h->network = &d->network;
    h->operations = &d->operations;
    h->listener = (struct host_listener){d, replied, committed, died, left, moved};
    h->names = w->host.names;
    h->client_name = w->host.client_name;
    h->entity_name = w->host.entity_name;
    h->operation_id = w->host.operation_id;
    h->place = PLACE_DOWNSTREAM;
    w->host.outlet = &d->outlet;
    enum sim_error e = host_init(h, name[0], errors);
    if (e == SIM_OK) {
        d->opened = true;
        e = auditor_init(&d->auditor, name[1], h->disk, NULL, errors);
    }
    return e;
}

void downstream_fini(struct world *w)
{
    struct downstream *d = &w->downstream;
    if (!d->on) {
        return;
    }
    if (d->opened) {
        auditor_fini(&d->auditor);
    }
    host_fini(&d->host);
    verdict_fini(&d->verdict);
    network_fini(&d->network);
    operations_fini(&d->operations);
}

enum sim_error downstream_start(struct world *w, bool reopen)
{
    struct downstream *d = &w->downstream;
    if (!d->on) {
        return SIM_OK;
    }
    operations_reset(&d->operations);
    network_start(&d->network);
    verdict_reset(&d->verdict, w->verdict.checks & ~OF_THE_FIRST, false, w->verdict.late_forbidden);
    d->operations.window = w->operations.window;
    d->outlet.messages = d->outlet.transmissions = d->outlet.moved_at = 0;
    return host_start(&d->host, reopen, stderr);
}

void downstream_arrive(struct world *w, const struct event *e)
{
    struct downstream *d = &w->downstream;
    struct operation *op = operations_of(&d->operations, &e->message);
    must(op != NULL); /* follow-ons stay to the end */
    if (e->message.direction == REQUEST) {
        host_deliver(&d->host, op, &e->message);
    } else {
        run_record(&w->run, (struct record){.kind = w->host.up ? RECORD_ANSWER : RECORD_DOWN,
                                            .op = e->message.op,
                                            .attempt = e->message.attempt,
                                            .copy = record_copy(e->message.copy),
                                            .place = PLACE_RECEIVER,
                                            .code = e->message.status,
                                            .value = e->message.receipt});
        host_answered(&w->host, &e->message);
        operations_leave(&d->operations, op);
    }
}

bool downstream_busy(const struct world *w)
{
    const struct downstream *d = &w->downstream;
    return d->on && (d->operations.in_flight > 0 || host_relay_busy(&w->host));
}

/* Each operation that took effect has told downstream of it, under one id; no other has. */
static void judge_emitted(struct world *w)
{
    for (uint32_t i = 0; i < w->operations.count; i++) {
        struct operation *op = w->operations.slots[i];
        if (op->op == 0 || op_is_job(op->op)) {
            continue;
        }
        const struct operation *follow =
            op->follow > 0 ? operations_at(&w->downstream.operations, op->follow - 1) : NULL;
        verdict_emitted(&w->verdict, op, follow);
    }
}

void downstream_end(struct world *w)
{
    struct downstream *d = &w->downstream;
    if (!d->on) {
        return;
    }
    host_stop(&d->host);
    auditor_read(&d->auditor, d->host.disk, &d->verdict, &d->operations, false);
    for (uint32_t i = 0; i < d->operations.count; i++) {
        struct operation *op = d->operations.slots[i];
        if (op->op != 0) {
            verdict_operation(&d->verdict, op);
        }
    }
    if (d->emits) {
        judge_emitted(w);
    }
}
