/* See tests/broker_rig.h. A receiver here is whoever takes the next delivery. */
#include "tests/broker_rig.h"
#include "tests/suites.h"

#include <string.h>

static void left(void *context, struct operation *op)
{
    (void)context;
    (void)op;
}

static const char *entity_name(const void *names, uint32_t entity, char *out)
{
    (void)names;
    snprintf(out, KEY_MAX, "entity-%u", entity);
    return out;
}

void broker_rig_open(struct broker_rig *r)
{
    memset(r, 0, sizeof(*r));
    queue_init(&r->run.queue, 16);
    history_init(&r->run.history);
    history_reset(&r->run.history, true);
    schedule_init(&r->run.schedule);
    schedule_reset(&r->run.schedule, 1, SIM_TIME_MAX, NULL, 0, NULL);
    r->run.now = SIM_START;
    r->run.seed = 1;
    operations_init(&r->operations);
    for (int i = 0; i < 2; i++) {
        r->network_config.delay[i] = (struct dist){.kind = DIST_CONSTANT, .a = RIG_DELAY};
    }
    network_init(&r->network, &r->network_config, &r->run, &r->operations);
    r->config = broker_usual();
    r->broker = (struct broker){.config = &r->config,
                                .prefetch = 1,
                                .run = &r->run,
                                .network = &r->network,
                                .operations = &r->operations,
                                .listener = {r, left},
                                .entity_name = entity_name};
    broker_init(&r->broker);
    broker_start(&r->broker);
}

void broker_rig_close(struct broker_rig *r)
{
    broker_fini(&r->broker);
    network_fini(&r->network);
    operations_fini(&r->operations);
    schedule_fini(&r->run.schedule);
    history_fini(&r->run.history);
    queue_fini(&r->run.queue);
}

static struct operation *operation_number(struct broker_rig *r, uint64_t n)
{
    for (uint32_t i = 0; i < r->operations.count; i++) {
        if (op_number(r->operations.slots[i]->op) == n) {
            return r->operations.slots[i];
        }
    }
    return operations_open(&r->operations, op_make(PLACE_SENDER, n), n);
}

struct operation *broker_rig_send(struct broker_rig *r, uint64_t n, unsigned attempt, uint64_t key,
                                  uint32_t entity)
{
    struct operation *op = operation_number(r, n);
    if (key > 0) {
        snprintf(op->key, sizeof(op->key), "key-%llu", (unsigned long long)key);
    }
    op->entity = entity;
    op->attempt = (uint16_t)attempt;
    struct message m = {.op = op->op,
                        .op_hash = op->op_hash,
                        .slot = op->slot,
                        .attempt = (uint16_t)attempt,
                        .copy = 1,
                        .direction = REQUEST};
    operations_enter(&r->operations, op);
    broker_accept(&r->broker, op, &m);
    return op;
}

bool broker_rig_next(struct broker_rig *r, uint64_t until, struct message *delivery)
{
    struct event e;
    uint64_t at;
    while (queue_peek(&r->run.queue, &at) && at <= until) {
        queue_pop(&r->run.queue, &at, &e);
        r->run.now = at;
        if (e.kind == EVENT_BROKER) {
            broker_moment(&r->broker, e.serial);
            continue;
        }
        ck_assert_int_eq(e.kind, EVENT_ARRIVE);
        operations_leave(&r->operations, operations_of(&r->operations, &e.message));
        if (e.message.direction == DELIVERY) {
            *delivery = e.message;
            return true;
        }
        ck_assert_int_eq(e.message.direction, REPLY);
        ck_assert_int_eq(e.message.status, REPLY_DONE);
        r->answered++;
    }
    r->run.now = until;
    return false;
}

void broker_rig_answer(struct broker_rig *r, const struct message *delivery, enum reply_status s)
{
    struct message m = *delivery;
    struct operation *op = operations_of(&r->operations, &m);
    m.direction = ACK;
    m.echo = 1;
    m.status = (uint8_t)s;
    operations_enter(&r->operations, op);
    broker_acknowledge(&r->broker, op, &m);
}

size_t broker_rig_count(struct broker_rig *r, enum record_kind kind)
{
    size_t count, found = 0;
    const struct record *records = history_records(&r->run.history, &count);
    for (size_t i = 0; i < count; i++) {
        found += records[i].kind == kind;
    }
    return found;
}
