#include "sim/network.h"

#include <stdlib.h>

void network_init(struct network *n, const struct network_config *config, struct run *run,
                  struct operations *operations)
{
    *n = (struct network){.config = config, .run = run, .operations = operations};
}

void network_start(struct network *n)
{
    n->partition_count = 0;
    n->copies = 0;
    n->lost = 0;
}

void network_fini(struct network *n)
{
    free(n->partitions);
}

void network_partition(struct network *n, const struct partition *p)
{
    if (n->partition_count == n->partition_capacity) {
        n->partition_capacity = n->partition_capacity ? 2 * n->partition_capacity : 4;
        n->partitions = sim_realloc(n->partitions, n->partition_capacity, sizeof(n->partitions[0]));
    }
    n->partitions[n->partition_count++] = *p;
}

static bool cut(struct network *n, unsigned from, unsigned to)
{
    if (n->run->now > n->run->schedule.until) {
        return false;
    }
    for (uint32_t i = 0; i < n->partition_count; i++) {
        struct partition *p = &n->partitions[i];
        bool there = p->from == from && p->to == to;
        bool back = p->from == to && p->to == from && !p->one_way;
        if ((there || back) && n->run->now >= p->begin && n->run->now < p->end) {
            p->cut++;
            return true;
        }
    }
    return false;
}

static struct site site_of(const struct message *m, enum fault_kind kind)
{
    uint16_t answered = m->direction == ANSWER ? call_copy(m->behind) : 0;
    return (struct site){.op = m->op,
                         .key = {.operation = m->op_hash,
                                 .attempt = m->attempt,
                                 .copy = m->copy,
                                 .redelivery = answered > 1 ? answered : 0,
                                 .nth = m->echo > 1 ? m->echo : 0,
                                 .draw = (uint8_t)kind,
                                 .direction = m->direction}};
}

static void record(const struct network *n, const struct message *m, enum record_kind kind,
                   unsigned place, int64_t value)
{
    run_record(n->run, (struct record){.kind = (uint8_t)kind,
                                       .op = m->op,
                                       .attempt = m->attempt,
                                       .copy = record_copy(m->copy),
                                       .place = (uint8_t)place,
                                       .code = m->direction,
                                       .value = value});
}

/* One copy on its way: may be lost, may be late. `after` is how much later than the first it
 * leaves. */
static void send_copy(struct network *n, struct operation *op, const struct message *m,
                      unsigned from, unsigned to, uint64_t after)
{
    struct fault_value value;
    struct site lose = site_of(m, FAULT_LOSE);
    bool lost = schedule_fires(&n->run->schedule, &lose, n->run->now, &value);
    bool is_cut = cut(n, from, to);
    bool outside = direction_outside((enum direction)m->direction);
    bool first = (m->copy == 1 || outside) && m->echo <= 1;
    /* What a broker hands out, it hands out again: no fault there is one of the sender's attempt,
     * nor one of a call that is made for it. */
    bool by_sender = !direction_brokered((enum direction)m->direction) &&
                     !(outside && call_of_delivery(m->behind));
    if (lost || is_cut) {
        if (first && by_sender) {
            operation_hinder(op, m->attempt);
        }
        record(n, m, RECORD_LOST, from, is_cut);
        n->lost++;
        return;
    }
    struct rng_key key = site_of(m, FAULT_NONE).key;
    key.draw = DRAW_DELAY;
    uint64_t delay = after + dist_sample(network_delay(n->config, (enum direction)m->direction),
                                         run_draw(n->run, &key));
    struct site late = site_of(m, FAULT_DELAY);
    if (schedule_fires(&n->run->schedule, &late, n->run->now, &value)) {
        record(n, m, RECORD_DELAYED, from, (int64_t)value.time);
        delay += value.time;
        op->late |= first && by_sender && m->attempt == op->attempt;
        if (outside && by_sender) { /* its caller waits for less long than the sender may */
            operation_hinder(op, m->attempt);
        }
    }
    if (op->late && first && by_sender && n->run->now + delay >= op->waits_until) {
        operation_hinder(op, m->attempt);
    }
    struct event e = {.message = *m, .kind = EVENT_ARRIVE, .host = (uint8_t)to};
    queue_push(&n->run->queue, n->run->now + delay, &e);
    operations_enter(n->operations, op);
}

void network_send(struct network *n, struct operation *op, const struct message *m, unsigned from,
                  unsigned to)
{
    must(m->direction > DIRECTION_NONE && m->direction < DIRECTION_COUNT);
    struct fault_value value;
    struct site site = site_of(m, FAULT_DUPLICATE);
    bool doubled = schedule_fires(&n->run->schedule, &site, n->run->now, &value);
    send_copy(n, op, m, from, to, 0);
    for (uint32_t i = 1; doubled && i <= value.n; i++) {
        struct message copy = *m;
        /* A copy of a reply still answers the same request copy; only its echo tells it apart. The
         * copy of a call is its number. */
        bool numbered = direction_leg(m->direction) == 0 && m->direction != CALL;
        uint16_t *number = numbered ? &copy.copy : &copy.echo;
        *number = (uint16_t)(*number + i);
        record(n, &copy, RECORD_COPY, from, *number);
        n->copies++;
        send_copy(n, op, &copy, from, to, i * value.time);
    }
}
