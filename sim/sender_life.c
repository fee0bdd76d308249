/* A sender's death and return.
 *
 * In: an attempt that has just been transmitted, and the schedule's word that the sender dies
 * there. Out: its timers are gone, and what comes for it while it is down is lost (answers) or
 * waits (first sends that fall due). When it starts again it sends each open operation at once as
 * its next attempt, or gives it up where the limit is reached, and then goes on with its list.
 *
 * Of its memory either all survives, or the outbox is lost (it forgets its open operations, which
 * end as unknown), or its counter is behind (its next operation takes the key of its latest one).
 */
#include "sim/sender_internal.h"

#include <stdlib.h>
#include <string.h>

static void record(const struct sender *s, enum record_kind kind, unsigned code, uint64_t value)
{
    run_record(s->run, (struct record){.kind = (uint8_t)kind,
                                       .place = (uint8_t)s->place,
                                       .code = (uint8_t)code,
                                       .value = (int64_t)value});
}

static int by_number(const void *a, const void *b)
{
    const struct operation *const *x = a, *const *y = b;
    return ((*x)->op > (*y)->op) - ((*x)->op < (*y)->op);
}

/* Its open operations in the order of its list; NULL where there are none. To be freed. */
static struct operation **open_operations(const struct sender *s, size_t *count)
{
    const struct operations *all = s->operations;
    *count = 0;
    if (all->open == 0) {
        return NULL;
    }
    struct operation **list = sim_alloc(all->open * sizeof(struct operation *));
    for (uint32_t i = 0; i < all->count; i++) {
        struct operation *op = all->slots[i];
        if (op->op != 0 && !op->closed && op_sender(op->op) == s->place) {
            list[(*count)++] = op;
        }
    }
    qsort(list, *count, sizeof(struct operation *), by_number);
    return list;
}

static void die(struct sender *s, unsigned code, uint64_t down)
{
    s->up = false;
    s->incarnation++;
    record(s, RECORD_SENDER_CRASH, code, 0);
    bool forgets = code == 1 + AMNESIA_OUTBOX_LOST;
    size_t count;
    struct operation **open = open_operations(s, &count);
    for (size_t i = 0; i < count; i++) {
        queue_remove(&s->run->queue, open[i]->timer);
        open[i]->met_fault = true;
        operation_waited(s->operations, open[i]);
        if (forgets) {
            sender_close(s, open[i], BELIEF_UNKNOWN, true);
        }
    }
    free(open);
    s->counter_behind |= code == 1 + AMNESIA_COUNTER_BEHIND;
    struct event e = {.kind = EVENT_RESTART, .host = (uint8_t)s->place, .serial = s->incarnation};
    queue_push(&s->run->queue, s->run->now + (down > 0 ? down : SENDER_RESTART), &e);
}

static bool dies_at(struct sender *s, const struct operation *op, enum fault_kind kind,
                    struct fault_value *value)
{
    struct schedule *schedule = &s->run->schedule;
    if (schedule_quiet(schedule, kind)) {
        schedule_skip(schedule, 1);
        return false;
    }
    struct site site = {.op = op->op,
                        .key = {.operation = op->op_hash,
                                .attempt = op->attempt,
                                .draw = (uint8_t)kind,
                                .host = (uint8_t)s->place}};
    return schedule_fires(schedule, &site, s->run->now, value);
}

bool sender_transmitted(struct sender *s, const struct operation *op)
{
    struct fault_value value = {0}, lapse = {0};
    bool crash = dies_at(s, op, FAULT_SENDER_CRASH, &value);
    bool amnesia = dies_at(s, op, FAULT_SENDER_AMNESIA, &lapse);
    if (amnesia) {
        die(s, 1u + lapse.choice, lapse.time);
    } else if (crash) {
        die(s, 0, value.time);
    }
    return crash || amnesia;
}

void sender_defer(struct sender *s, uint64_t number)
{
    if (s->deferred_count == s->deferred_capacity) {
        s->deferred_capacity = s->deferred_capacity ? 2 * s->deferred_capacity : 8;
        s->deferred = sim_realloc(s->deferred, s->deferred_capacity, sizeof(s->deferred[0]));
    }
    s->deferred[s->deferred_count++] = number;
}

void sender_restart(struct sender *s, uint32_t incarnation)
{
    if (s->up || incarnation != s->incarnation) {
        return;
    }
    s->up = true;
    size_t count;
    struct operation **open = open_operations(s, &count);
    record(s, RECORD_SENDER_RESTART, 0, count);
    for (size_t i = 0; i < count; i++) {
        bool again = open[i]->attempt < s->config->retry.limit;
        sender_arm(s, open[i], again ? EVENT_SEND : EVENT_TIMEOUT, 0);
    }
    free(open);
    for (uint32_t i = 0; i < s->deferred_count; i++) {
        sender_push_next(s, s->run->now, s->deferred[i]);
    }
    s->deferred_count = 0;
}
