/* Faults of the whole world: clocks, partitions, the lying disk.
 *
 * In: the schedule, before the first event. Out: what they change, at once or as events at their
 * moments; at the end, which of them met nothing.
 */
#include "sim/world_internal.h"

#include <string.h>

static void push(struct world *w, uint64_t at, enum event_kind kind, unsigned index)
{
    struct event e = {.kind = (uint8_t)kind, .worker = (uint16_t)index};
    queue_push(&w->run.queue, at > w->run.now ? at : w->run.now, &e);
}

/* A fault of the whole world takes hold before the first event; later moments of it are events that
 * name the fault by its index in the list. */
static void apply_world_fault(struct world *w, const struct fault *f, unsigned index)
{
    const struct fault_value *v = &f->value;
    switch (fault_kind(f)) {
    case FAULT_PARTITION: {
        struct partition p = {
            f->site.key.host, f->site.key.value, v->choice != 0, v->time, v->until, index, 0};
        bool below = f->site.key.host == PLACE_DOWNSTREAM || p.to == PLACE_DOWNSTREAM;
        network_partition(below ? &w->downstream.network : &w->network, &p);
        push(w, v->time, EVENT_PARTITION, index);
        push(w, v->until, EVENT_PARTITION, index);
        break;
    }
    case FAULT_CLOCK:
        push(w, v->time, EVENT_CLOCK, index);
        break;
    case FAULT_LYING_DISK:
        disk_lie(world_host(w, f->site.key.host)->disk, true);
        break;
    case FAULT_NONE:
    case FAULT_LOSE:
    case FAULT_DUPLICATE:
    case FAULT_DELAY:
    case FAULT_CRASH:
    case FAULT_PAUSE:
    case FAULT_STORE:
    case FAULT_HANDLER:
    case FAULT_STOP:
    case FAULT_SENDER_CRASH:
    case FAULT_SENDER_AMNESIA:
    case FAULT_KIND_COUNT:
        break;
    }
}

static void evaluate_world_site(struct world *w, const struct site *site)
{
    struct fault_value v;
    struct schedule *s = &w->run.schedule;
    if (!schedule_fires(s, site, SIM_START, &v)) {
        return;
    }
    for (size_t i = 0; i < s->listed_count; i++) {
        if (memcmp(&s->listed[i].site.key, &site->key, sizeof(site->key)) == 0) {
            apply_world_fault(w, &s->listed[i], (unsigned)i);
            if (fault_kind(&s->listed[i]) != FAULT_LYING_DISK) {
                s->fates[i] = FATE_HELD; /* until its moment comes, or a message meets it */
            }
        }
    }
}

static void evaluate_place(struct world *w, enum fault_kind kind, unsigned place, unsigned other)
{
    struct site site = {.key = {.draw = (uint8_t)kind,
                                .host = (uint8_t)place,
                                .value = (uint8_t)other,
                                .nth = kind == FAULT_LYING_DISK ? 0 : 1}};
    evaluate_world_site(w, &site);
}

static bool has_step(const struct host *h, const struct fault *f)
{
    return (h->code->steps & STEP_BIT(f->site.key.step)) != 0;
}

/* On the way between the receiver and the service. */
static bool outside(const struct fault *f)
{
    const struct rng_key *k = &f->site.key;
    return direction_outside((enum direction)k->direction) ||
           (fault_kind(f) == FAULT_PARTITION &&
            (k->host == PLACE_SERVICE || k->value == PLACE_SERVICE));
}

void world_start_faults(struct world *w)
{
    struct schedule *s = &w->run.schedule;
    unsigned senders = (unsigned)w->scenario->sender_count;
    evaluate_place(w, FAULT_CLOCK, PLACE_RECEIVER, 0);
    if (w->downstream.on) {
        evaluate_place(w, FAULT_CLOCK, PLACE_DOWNSTREAM, 0);
    }
    for (unsigned i = 0; i < senders; i++) {
        evaluate_place(w, FAULT_CLOCK, PLACE_SENDER + i, 0);
    }
    bool brokered = w->scenario->broker.on;
    unsigned to = brokered ? PLACE_BROKER : PLACE_RECEIVER;
    for (unsigned i = 0; i < senders; i++) {
        evaluate_place(w, FAULT_PARTITION, PLACE_SENDER + i, to);
        evaluate_place(w, FAULT_PARTITION, to, PLACE_SENDER + i);
    }
    if (brokered) {
        evaluate_place(w, FAULT_PARTITION, PLACE_BROKER, PLACE_RECEIVER);
        evaluate_place(w, FAULT_PARTITION, PLACE_RECEIVER, PLACE_BROKER);
    }
    if (w->downstream.on) {
        evaluate_place(w, FAULT_PARTITION, PLACE_RECEIVER, PLACE_DOWNSTREAM);
        evaluate_place(w, FAULT_PARTITION, PLACE_DOWNSTREAM, PLACE_RECEIVER);
    }
    if (world_calls(w)) {
        evaluate_place(w, FAULT_PARTITION, PLACE_RECEIVER, PLACE_SERVICE);
        evaluate_place(w, FAULT_PARTITION, PLACE_SERVICE, PLACE_RECEIVER);
    }
    evaluate_place(w, FAULT_LYING_DISK, PLACE_RECEIVER, 0);
    if (w->downstream.on) {
        evaluate_place(w, FAULT_LYING_DISK, PLACE_DOWNSTREAM, 0);
    }
    for (size_t i = 0; i < s->listed_count; i++) {
        const struct fault *f = &s->listed[i];
        enum fault_scope scope = fault_kind_scope(fault_kind(f));
        if (outside(f) && !world_calls(w)) {
            s->fates[i] = FATE_NOT_APPLICABLE;
        } else if (scope == SCOPE_WORLD && s->fates[i] == FATE_UNREACHED) {
            evaluate_world_site(w, &f->site);
        } else if (scope == SCOPE_STEP && !has_step(world_host(w, f->site.key.host), f)) {
            s->fates[i] = FATE_NOT_APPLICABLE;
        }
    }
}

void world_change_clock(struct world *w, const struct fault *f)
{
    const struct fault_value *v = &f->value;
    unsigned place = f->site.key.host;
    run_record(&w->run, (struct record){.kind = RECORD_CLOCK,
                                        .place = (uint8_t)place,
                                        .code = v->choice,
                                        .value = v->offset});
    struct host_clock *clock = place == PLACE_RECEIVER     ? &w->host.clock
                               : place == PLACE_DOWNSTREAM ? &w->downstream.host.clock
                                                           : &world_sender(w, place)->clock;
    if (v->choice == CLOCK_DRIFT) {
        clock_set_drift(clock, w->run.now, (int32_t)v->offset);
    } else {
        clock_jump(clock, v->offset);
    }
}

void world_show_partition(struct world *w, const struct fault *f)
{
    run_record(&w->run, (struct record){.kind = RECORD_PARTITION,
                                        .place = f->site.key.host,
                                        .code = w->run.now < f->value.until,
                                        .value = f->site.key.value});
}

static void settle_partitions(struct schedule *s, const struct network *n)
{
    for (uint32_t i = 0; i < n->partition_count; i++) {
        if (n->partitions[i].cut > 0) {
            s->fates[n->partitions[i].fault] = FATE_FIRED;
        }
    }
}

/* Partitions that kept something back have struck; world faults that met nothing have not, and are
 * no part of the schedule that is told. */
void world_settle_faults(struct world *w)
{
    struct schedule *s = &w->run.schedule;
    settle_partitions(s, &w->network);
    if (w->downstream.on) {
        settle_partitions(s, &w->downstream.network);
    }
    if (memchr(s->fates, FATE_HELD, s->listed_count) == NULL) {
        return;
    }
    size_t kept = 0;
    for (size_t i = 0; i < s->fired_count; i++) {
        bool held = false;
        for (size_t k = 0; k < s->listed_count && !held; k++) {
            held = s->fates[k] == FATE_HELD && memcmp(&s->listed[k].site.key, &s->fired[i].site.key,
                                                      sizeof(s->fired[i].site.key)) == 0;
        }
        if (!held) {
            s->fired[kept++] = s->fired[i];
        }
    }
    s->fired_count = kept;
}
