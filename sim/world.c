/* One run: parts that never call each other backwards, one queue between them.
 *
 * Worked example, the seed's story: sender_start puts "next operation" at 1 s; the step at 1 s
 * opens m-77 and hands attempt 1 to the network, which puts its arrival at, say, 1.043 s; that step
 * hands it to the host, whose handler replies into the network again; the schedule loses the reply;
 * the sender's time-out at 2 s sends attempt 2; and so on until nothing is under way.
 */
#include "sim/cover.h"
#include "sim/world_internal.h"

#include "receivers/retention.h"

#include <stdlib.h>
#include <string.h>

#define QUIET_AFTER_LAST_SEND (60 * SIM_S)

static void host_replied(void *context, struct operation *op, enum reply_status s, int64_t receipt)
{
    struct world *w = context;
    verdict_reply(&w->verdict, op, s, receipt, w->host.code->saves_responses);
}

static void host_committed(void *context, struct operation *op)
{
    struct world *w = context;
    verdict_committed(&w->verdict, op);
    verdict_in_order(&w->verdict, op);
}

static void service_applied(void *context, struct operation *op)
{
    struct world *w = context;
    verdict_committed(&w->verdict, op);
}

static void host_died(void *context)
{
    struct world *w = context;
    verdict_unsettled(&w->operations, w->host.unpowered);
    world_records_died(w);
    auditor_read(&w->auditor, w->host.disk, &w->verdict, &w->operations, true);
    run_record(&w->run, (struct record){.kind = RECORD_SURVIVED,
                                        .place = w->host.place,
                                        .value = (int64_t)(w->verdict.effects + w->verdict.rows)});
}

static void consider_retiring(struct world *w, struct operation *op);

static void host_left(void *context, struct operation *op)
{
    world_touch(context, op);
    consider_retiring(context, op);
}

static void host_moved(void *context, struct operation *op, const struct moved *m)
{
    struct world *w = context;
    verdict_moved(&w->verdict, op, m);
}

static const char *client_name(const void *names, unsigned place)
{
    const struct scenario *s = names;
    return place == PLACE_RECEIVER ? "receiver" : s->senders[place - PLACE_SENDER].name;
}

static const char *entity_name(const void *names, uint32_t entity, char *out)
{
    return scenario_entity(names, entity, out);
}

static size_t operation_id(const void *names, uint64_t op, char *out)
{
    return scenario_operation_id(names, op, out);
}

static void host_configure(struct world *w)
{
    const struct scenario *s = w->scenario;
    w->host.config = &s->receiver;
    w->host.code = s->receivers[w->receiver].code;
    w->host.settings = s->receivers[w->receiver].settings;
    w->host.service = &s->service;
    w->host.run = &w->run;
    w->host.network = &w->network;
    w->host.operations = &w->operations;
    w->host.listener =
        (struct host_listener){w, host_replied, host_committed, host_died, host_left, host_moved};
    w->host.names = s;
    w->host.client_name = client_name;
    w->host.entity_name = entity_name;
    w->host.operation_id = operation_id;
    w->host.place = PLACE_RECEIVER;
}

static void broker_configure(struct world *w)
{
    const struct scenario *s = w->scenario;
    w->broker.config = &s->broker;
    w->broker.prefetch = s->broker.prefetch > 0 ? s->broker.prefetch : s->receiver.workers;
    w->broker.run = &w->run;
    w->broker.network = &w->network;
    w->broker.operations = &w->operations;
    w->broker.listener = (struct broker_listener){w, host_left};
    w->broker.names = s;
    w->broker.entity_name = entity_name;
    broker_init(&w->broker);
}

struct world *world_new(const struct scenario *s, size_t receiver, FILE *errors,
                        enum sim_error *error)
{
    static unsigned made; /* names VFSes; no history depends on it */
    char name[2][32];
    snprintf(name[0], sizeof(name[0]), "onlyonce-%u", ++made);
    snprintf(name[1], sizeof(name[1]), "onlyonce-%u-audit", made);
    must(receiver < s->receiver_count);
    struct world *w = sim_zalloc(1, sizeof(*w));
    w->scenario = s;
    w->receiver = receiver;
    queue_init(&w->run.queue, 256);
    history_init(&w->run.history);
    schedule_init(&w->run.schedule);
    operations_init(&w->operations);
    network_init(&w->network, &s->network, &w->run, &w->operations);
    service_init(&w->service, &s->service, &w->run, &w->network, &w->operations);
    w->service.context = w;
    w->service.applied = service_applied;
    verdict_init(&w->verdict, &w->run, s->entity_count);
    w->senders = sim_zalloc(s->sender_count, sizeof(w->senders[0]));
    for (size_t i = 0; i < s->sender_count; i++) {
        sender_init(&w->senders[i], &s->senders[i], PLACE_SENDER + (unsigned)i, &w->run,
                    &w->operations);
    }
    broker_configure(w);
    host_configure(w);
    w->run.now = SIM_START;
    *error = host_init(&w->host, name[0], errors);
    if (*error == SIM_OK) {
        w->opened = true;
        *error = auditor_init(&w->auditor, name[1], w->host.disk, w->host.code->keeping, errors);
    }
    if (*error == SIM_OK) {
        *error = downstream_init(w, made, errors);
    }
    if (*error != SIM_OK) {
        world_free(w);
        return NULL;
    }
    return w;
}

void world_free(struct world *w)
{
    if (w == NULL) {
        return;
    }
    if (w->opened) {
        auditor_fini(&w->auditor);
    }
    host_fini(&w->host);
    downstream_fini(w);
    for (size_t i = 0; i < w->scenario->sender_count; i++) {
        sender_fini(&w->senders[i]);
    }
    free(w->senders);
    verdict_fini(&w->verdict);
    broker_fini(&w->broker);
    service_fini(&w->service);
    network_fini(&w->network);
    operations_fini(&w->operations);
    schedule_fini(&w->run.schedule);
    history_fini(&w->run.history);
    queue_fini(&w->run.queue);
    world_records_fini(w);
    free(w->retiring);
    free(w);
}

/* What the receiver says of its records, for checks that go by it. */
static void hear_promise(struct world *w)
{
    const struct scenario_receiver *r = &w->scenario->receivers[w->receiver];
    struct verdict *v = &w->verdict;
    bool kept = r->code->keeping != NULL && r->code->settings != NULL;
    cover_promise(r, &v->promise);
    v->calls = world_calls(w);
    v->evicts = v->promise.records > 0 || (kept && r->settings[RETENTION_ACKNOWLEDGED]);
    v->dated_by_sender = kept && r->settings[RETENTION_CLOCK] == CLOCK_SENDER;
}

static enum sim_error start(struct world *w, const struct play *p)
{
    const struct scenario *s = w->scenario;
    w->run.now = SIM_START;
    w->run.seed = p->seed;
    w->events = 0;
    w->limit = SIM_TIME_MAX;
    w->retiring_count = 0;
    queue_reset(&w->run.queue);
    history_reset(&w->run.history, p->keep_history);
    operations_reset(&w->operations);
    network_start(&w->network);
    broker_start(&w->broker);
    service_start(&w->service);
    const struct expectation *e = p->expectation ? p->expectation : &s->expectations[w->receiver];
    uint32_t checks = e->given && !e->violates ? e->checks : CHECKS_EXACTLY_ONCE;
    if (e->given && e->violates) {
        checks |= e->checks;
    }
    verdict_reset(&w->verdict, checks, s->no_give_up, s->late_forbidden);
    w->operations.window = s->window;
    hear_promise(w);
    world_records_start(w, !p->no_counts);
    w->run.schedule.observer = p->observer;
    schedule_reset(&w->run.schedule, p->seed, SIM_TIME_MAX, p->faults ? p->faults : s->faults,
                   p->faults ? p->fault_count : s->fault_count, p->no_rates ? NULL : &s->rates);
    w->span = world_span(s, w->receiver, &w->run.schedule);
    if (s->faults_until) {
        w->run.schedule.until = s->faults_until;
    }
    disk_make_default(w->host.disk);
    sqlite3_randomness(0, NULL);
    enum sim_error error = host_start(&w->host, p->reopen, stderr);
    error = error == SIM_OK ? downstream_start(w, p->reopen) : error;
    world_start_faults(w);
    for (size_t i = 0; i < s->sender_count; i++) {
        sender_start(&w->senders[i]);
    }
    return error;
}

struct sender *world_sender(struct world *w, unsigned place)
{
    must(place >= PLACE_SENDER && place - PLACE_SENDER < w->scenario->sender_count);
    return &w->senders[place - PLACE_SENDER];
}

/* The one place where an operation's life ends: nothing waits for it, nothing of it is under way,
 * and no crash can take its effect back. Listed ones stay, so that they can be named to the end;
 * what is certain of them is said at once. So do all where a receiver tells a second one: a message
 * may lie in its outbox for ever, and in the end each is asked for it. */
static void consider_retiring(struct world *w, struct operation *op)
{
    if (op == NULL || op->op == 0 || !op->closed) {
        return;
    }
    if (!w->host.unwinding) {
        verdict_closed(&w->verdict, op, disk_unsynced(w->host.disk) == 0);
    }
    if (op->in_flight > 0 || op->listed || op->retiring || w->downstream.emits) {
        return;
    }
    op->retiring = true;
    if (w->retiring_count == w->retiring_capacity) {
        w->retiring_capacity = w->retiring_capacity ? 2 * w->retiring_capacity : 64;
        w->retiring = sim_realloc(w->retiring, w->retiring_capacity, sizeof(w->retiring[0]));
    }
    w->retiring[w->retiring_count++] = op->slot;
}

static void retire(struct world *w)
{
    if (w->retiring_count == 0 || disk_unsynced(w->host.disk) > 0) {
        return;
    }
    for (uint32_t i = 0; i < w->retiring_count; i++) {
        struct operation *op = operations_at(&w->operations, w->retiring[i]);
        verdict_operation(&w->verdict, op);
        operations_release(&w->operations, op);
    }
    w->retiring_count = 0;
}

static void hand_over(struct world *w, const struct message *m)
{
    struct operation *op = operations_at(&w->operations, m->slot);
    network_send(&w->network, op, m, op_sender(m->op),
                 w->scenario->broker.on ? PLACE_BROKER : PLACE_RECEIVER);
    if (sender_transmitted(world_sender(w, op_sender(m->op)), op)) {
        for (uint32_t i = 0; i < w->operations.count; i++) {
            consider_retiring(w, w->operations.slots[i]);
        }
    }
}

static void arrive(struct world *w, const struct event *e)
{
    if (op_is_follow(e->message.op)) {
        downstream_arrive(w, e);
        return;
    }
    struct operation *op = operations_of(&w->operations, &e->message);
    must(op != NULL); /* a copy under way keeps its operation */
    switch ((enum direction)e->message.direction) {
    case REQUEST:
        if (w->scenario->broker.on) {
            broker_accept(&w->broker, op, &e->message);
            break;
        }
        /* fall through */
    case DELIVERY:
        host_deliver(&w->host, op, &e->message);
        break;
    case REPLY:
        sender_answer(world_sender(w, e->host), op, &e->message);
        operations_leave(&w->operations, op);
        break;
    case ACK:
        broker_acknowledge(&w->broker, op, &e->message);
        break;
    case CALL:
        service_receive(&w->service, op, &e->message);
        operations_leave(&w->operations, op);
        break;
    case ANSWER: /* the receiver downstream calls nobody */
        must(e->host == PLACE_RECEIVER);
        host_answer(&w->host, &e->message);
        operations_leave(&w->operations, op);
        break;
    case DIRECTION_NONE:
    case DIRECTION_COUNT:
        must(!"a direction");
    }
    consider_retiring(w, op);
}

static void dispatch(struct world *w, const struct event *e)
{
    struct message m;
    struct operation *op = NULL;
    switch ((enum event_kind)e->kind) {
    case EVENT_NEXT_OPERATION:
        if (sender_next(world_sender(w, e->host), e->message.op, &m)) {
            hand_over(w, &m);
        }
        break;
    case EVENT_SEND:
        op = operations_of(&w->operations, &e->message);
        sender_send(world_sender(w, e->host), op, &m);
        hand_over(w, &m);
        break;
    case EVENT_TIMEOUT:
        op = operations_of(&w->operations, &e->message);
        if (sender_timeout(world_sender(w, e->host), op, &m)) {
            hand_over(w, &m);
        }
        consider_retiring(w, op);
        break;
    case EVENT_ARRIVE:
        arrive(w, e);
        break;
    case EVENT_RESUME:
        host_resume(world_host(w, e->host), e->worker, e->serial);
        break;
    case EVENT_RESTART:
        if (e->host == PLACE_RECEIVER) {
            host_restart(&w->host, e->serial);
            world_records_restarted(w);
        } else if (e->host == PLACE_DOWNSTREAM) {
            host_restart(&w->downstream.host, e->serial);
        } else {
            sender_restart(world_sender(w, e->host), e->serial);
        }
        break;
    case EVENT_KILL:
        host_kill(world_host(w, e->host), e->serial);
        break;
    case EVENT_CLOCK:
        w->run.schedule.fates[e->worker] = FATE_FIRED;
        world_change_clock(w, &w->run.schedule.listed[e->worker]);
        break;
    case EVENT_PARTITION:
        world_show_partition(w, &w->run.schedule.listed[e->worker]);
        break;
    case EVENT_SWEEP:
        host_sweep(world_host(w, e->host), e->serial);
        break;
    case EVENT_RELAY:
        host_relay(world_host(w, e->host), e->serial);
        break;
    case EVENT_BROKER:
        broker_moment(&w->broker, e->serial);
        break;
    }
}

static bool all_sent(const struct world *w)
{
    for (size_t i = 0; i < w->scenario->sender_count; i++) {
        if (!sender_exhausted(&w->senders[i])) {
            return false;
        }
    }
    return true;
}

/* With the last first send it is known until when faults may strike and when all must have ended.
 */
static void set_limit(struct world *w)
{
    uint64_t last = SIM_START;
    for (size_t i = 0; i < w->scenario->sender_count; i++) {
        last = w->senders[i].last_first > last ? w->senders[i].last_first : last;
    }
    uint64_t until = w->scenario->faults_until;
    if (until == 0) {
        until = last + QUIET_AFTER_LAST_SEND;
        w->run.schedule.until = until;
    }
    w->limit = (until > last ? until : last) + w->span;
}

/* The whole loop: earliest event, clock, dispatch, judge. False: the run has ended. */
static bool world_step(struct world *w)
{
    struct event e;
    uint64_t at;
    bool sent = all_sent(w);
    if (sent && w->operations.open == 0 && w->operations.in_flight == 0 && !downstream_busy(w)) {
        return false;
    }
    if (sent && w->limit == SIM_TIME_MAX) {
        set_limit(w);
    }
    if (queue_count(&w->run.queue) == w->host.sweeps_due + w->downstream.host.sweeps_due ||
        !queue_pop(&w->run.queue, &at, &e)) {
        return false;
    }
    /* A queue that still gets shorter is not stuck, however long it has become. */
    uint64_t limit = w->limit;
    uint64_t moved = w->broker.ended_at > w->downstream.outlet.moved_at
                         ? w->broker.ended_at
                         : w->downstream.outlet.moved_at;
    if (limit != SIM_TIME_MAX && moved + w->span > limit) {
        limit = moved + w->span;
    }
    if (at > limit) {
        w->run.now = limit;
        return false;
    }
    uint64_t before = w->run.now;
    w->run.now = at;
    if (at > w->records.next) {
        world_sample(w, before);
    }
    w->events++;
    dispatch(w, &e);
    retire(w);
    return true;
}

static void judge_cover(struct world *w)
{
    struct cover c;
    cover_compute(w->scenario, &w->scenario->receivers[w->receiver], &c);
    if (c.judged) {
        verdict_cover(&w->verdict, c.holds, w->receiver);
    }
}

static bool is_quiet(const struct host *h)
{
    bool quiet = h->up && !h->stopping && h->inbox_count == 0;
    for (uint32_t i = 0; i < h->config->workers; i++) {
        quiet = quiet && !coro_busy(h->workers[i].coro);
    }
    return quiet;
}

/* Everything that is still there is judged: what survived on the disk, then each operation. */
static void judge_end(struct world *w, bool quiet)
{
    auditor_read(&w->auditor, w->host.disk, &w->verdict, &w->operations, false);
    for (uint32_t i = 0; i < w->operations.count; i++) {
        struct operation *op = w->operations.slots[i];
        if (op->op != 0) {
            operation_waited(&w->operations, op);
            verdict_operation(&w->verdict, op);
        }
    }
    downstream_end(w);
    world_records_end(w, quiet);
    if (w->verdict.checks & CHECK_BIT(CHECK_RETENTION)) {
        judge_cover(w);
    }
    run_record(&w->run, (struct record){.kind = RECORD_END, .value = w->operations.open > 0});
}

void world_play(struct world *w, const struct play *p, struct result *r)
{
    const struct scenario *s = w->scenario;
    memset(r, 0, sizeof(*r));
    r->scenario = s;
    r->receiver = &s->receivers[w->receiver];
    r->expectation = p->expectation ? p->expectation : &s->expectations[w->receiver];
    r->seed = p->seed;
    r->error = start(w, p);
    struct disk_counters before = disk_counters(w->host.disk);
    while (r->error == SIM_OK && world_step(w)) {
    }
    bool quiet = is_quiet(&w->host);
    host_stop(&w->host);
    judge_end(w, quiet);
    world_fill_result(w, r);
    struct disk_counters after = disk_counters(w->host.disk);
    r->costs.disk_writes = after.writes - before.writes;
    r->costs.disk_syncs = after.syncs - before.syncs;
    r->costs.disk_bytes = after.bytes_written - before.bytes_written;
    r->costs.database_bytes = disk_file_bytes(w->host.disk);
    r->slots = w->operations.count;
    r->events = w->events;
    r->ended = w->run.now;
    r->history_hash = history_hash(&w->run.history);
    r->history_count = w->run.history.count;
    result_judge(r);
}

const struct record *world_history(struct world *w, size_t *count)
{
    return history_records(&w->run.history, count);
}

size_t world_unsynced(const struct world *w)
{
    return disk_unsynced(w->host.disk);
}
