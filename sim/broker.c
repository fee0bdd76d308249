/* The life of an entry: accepted, delivered, and then acknowledged, delivered again, or dead.
 *
 *     enqueue -> READY -> deliver-attempt -> IN_FLIGHT -> done, duplicate -> deleted
 *                  ^                            |------- refused ----------> dead letter
 *                  |<- DEFERRED (`after`) <-----|------- retry-later, error, no answer in time;
 *                  |                                     the last delivery: dead letter
 *                  `--------- replayed, once <---------- dead letter
 *
 * Worked example: m-77/1 arrives, is stored and answered; delivery m-77/1 leaves. Its ack is lost,
 * the visibility of 30 s lapses, delivery m-77/2 leaves. Now an ack of m-77/1 comes late: a
 * standard queue deletes the entry, a FIFO queue of SQS does not, and the ack of m-77/2 does.
 */
#include "sim/broker_internal.h"
#include "sim/sender_config.h"

#include <stdlib.h>

const char *broker_order_text(enum broker_order o)
{
    switch (o) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        BROKER_ORDERS(X)
#undef X
    }
    must(!"an order");
}

void broker_init(struct broker *b)
{
    entries_reset(b);
}

void broker_fini(struct broker *b)
{
    free(b->entries);
    free(b->window);
}

void broker_start(struct broker *b)
{
    entries_reset(b);
    window_reset(b);
    b->in_flight = 0;
    b->positions = 0;
    b->ended_at = 0;
    b->accepted = b->kept_out = b->handed_out = b->lapsed = 0;
    b->deleted = b->dead_letters = b->replayed = 0;
}

static void record(const struct broker *b, const struct message *m, unsigned number,
                   enum record_kind kind, unsigned code, int64_t value)
{
    run_record(b->run, (struct record){.kind = (uint8_t)kind,
                                       .op = m->op,
                                       .attempt = (uint16_t)number,
                                       .copy = record_copy(m->copy),
                                       .place = PLACE_BROKER,
                                       .code = (uint8_t)code,
                                       .value = value});
}

static void record_entry(const struct broker *b, const struct entry *e, enum record_kind kind,
                         unsigned code, int64_t value)
{
    struct message m = e->message;
    m.copy = 1;
    record(b, &m, e->number, kind, code, value);
}

static struct operation *operation_of(const struct broker *b, const struct entry *e)
{
    return operations_at(b->operations, e->message.slot);
}

static void set_timer(struct broker *b, uint32_t e, uint64_t wait)
{
    struct event moment = {.kind = EVENT_BROKER, .host = PLACE_BROKER, .serial = e};
    b->entries[e].timer = queue_push(&b->run->queue, b->run->now + wait, &moment);
}

/* Out of the list and the count that its state has it in. */
static void take_out(struct broker *b, uint32_t e)
{
    struct entry *entry = &b->entries[e];
    queue_remove(&b->run->queue, entry->timer);
    b->in_flight -= entry->state == ENTRY_IN_FLIGHT;
    if (entry->state == ENTRY_READY) {
        entry_remove(b, &b->ready, e);
    } else if (entry->state == ENTRY_IN_FLIGHT || entry->state == ENTRY_DEFERRED) {
        entry_remove(b, &b->hidden, e);
    }
}

static void make_ready(struct broker *b, uint32_t e)
{
    b->entries[e].state = ENTRY_READY;
    entry_insert(b, &b->ready, e);
}

/* It is over: its operation is held no longer. */
static void end(struct broker *b, uint32_t e)
{
    struct operation *op = operation_of(b, &b->entries[e]);
    entry_free(b, e);
    op->entries--;
    operations_leave(b->operations, op);
    b->listener.left(b->listener.context, op);
}

static void bury(struct broker *b, uint32_t e)
{
    struct entry *entry = &b->entries[e];
    record_entry(b, entry, RECORD_DEAD_LETTER, 0, entry->deliveries);
    b->dead_letters++;
    b->ended_at = b->run->now;
    take_out(b, e);
    if (b->config->replay && !entry->replayed) {
        entry->state = ENTRY_DEAD;
        set_timer(b, e, b->config->replay_after);
        return;
    }
    operation_of(b, entry)->dead_letters++;
    end(b, e);
}

static void replay(struct broker *b, uint32_t e)
{
    struct entry *entry = &b->entries[e];
    record_entry(b, entry, RECORD_REPLAYED, 0, 0);
    b->replayed++;
    entry->replayed = true;
    entry->deliveries = 0;
    entry->before = operation_of(b, entry)->handed_out;
    entry->position = ++b->positions;
    make_ready(b, e);
}

static void hand_out(struct broker *b, uint32_t e)
{
    struct entry *entry = &b->entries[e];
    struct operation *op = operation_of(b, entry);
    take_out(b, e);
    entry->state = ENTRY_IN_FLIGHT;
    entry_insert(b, &b->hidden, e);
    b->in_flight++;
    b->handed_out++;
    entry->deliveries++;
    entry->number = ++op->handed_out;
    set_timer(b, e, b->config->visibility);
    record_entry(b, entry, RECORD_DELIVER_ATTEMPT, 0, entry->deliveries);
    struct message m = entry->message;
    m.direction = DELIVERY;
    m.attempt = (uint16_t)entry->number;
    m.copy = 1;
    m.receipt = ticket_make(e, entry->generation, entry->message.attempt);
    network_send(b->network, op, &m, PLACE_BROKER, PLACE_RECEIVER);
}

static void pump(struct broker *b)
{
    for (uint32_t e; (e = entry_deliverable(b)) != BROKER_NO_ENTRY;) {
        if (operation_of(b, &b->entries[e])->handed_out < UINT16_MAX) {
            hand_out(b, e);
        } else {
            bury(b, e); /* its deliveries cannot be told apart any more */
        }
    }
}

/* A delivery has failed: again, or never again. */
static void failed(struct broker *b, uint32_t e, bool answered)
{
    struct entry *entry = &b->entries[e];
    if (entry->deliveries >= b->config->redeliver) {
        bury(b, e);
        return;
    }
    take_out(b, e);
    if (answered && b->config->after > 0) {
        entry->state = ENTRY_DEFERRED;
        entry_insert(b, &b->hidden, e);
        set_timer(b, e, b->config->after);
        return;
    }
    record_entry(b, entry, RECORD_VISIBLE_AGAIN, answered, entry->deliveries);
    make_ready(b, e);
}

void broker_moment(struct broker *b, uint32_t e)
{
    struct entry *entry = &b->entries[e];
    switch ((enum entry_state)entry->state) {
    case ENTRY_IN_FLIGHT:
        b->lapsed++;
        failed(b, e, false);
        break;
    case ENTRY_DEFERRED:
        take_out(b, e);
        record_entry(b, entry, RECORD_VISIBLE_AGAIN, 1, entry->deliveries);
        make_ready(b, e);
        break;
    case ENTRY_DEAD:
        replay(b, e);
        break;
    case ENTRY_FREE:
    case ENTRY_READY:
        must(!"a moment of an entry that waits for none");
    }
    pump(b);
}

/* A registration has none. */
static const char *entity_of(const struct broker *b, const struct operation *op, char *name)
{
    return op->registers ? "" : b->entity_name(b->names, op->entity, name);
}

/* The hash of what it is ordered by; 0: none. */
static uint64_t group_of(const struct broker *b, const struct operation *op, unsigned attempt)
{
    char name[KEY_MAX], group[KEY_MAX + 16];
    if (b->config->order == ORDER_NONE) {
        return 0;
    }
    if (b->config->order == ORDER_ENTITY) {
        return 1 + (uint64_t)op->entity;
    }
    const char *base = op->group != NULL ? op->group : entity_of(b, op, name);
    bool changes = op->sender != NULL && op->sender->group_changes && attempt > 1;
    int len = changes ? snprintf(group, sizeof(group), "%s~%u", base, attempt)
                      : snprintf(group, sizeof(group), "%s", base);
    uint64_t hash = rng_name(group, (size_t)len);
    return hash != 0 ? hash : 1;
}

/* The hash of the key that an attempt travels under; 0: it has none. */
static uint64_t key_of(const struct broker *b, const struct operation *op, unsigned attempt)
{
    char key[KEY_MAX + 16], name[KEY_MAX];
    enum key_policy policy = op->sender != NULL ? op->sender->keys : KEYS_STABLE;
    bool anew = policy == KEYS_NEW_PER_ATTEMPT && attempt > 1;
    const char *base = policy == KEYS_PER_ENTITY ? entity_of(b, op, name)
                       : policy == KEYS_NONE     ? ""
                                                 : op->key;
    int len = anew ? snprintf(key, sizeof(key), "%s~%u", base, attempt)
                   : snprintf(key, sizeof(key), "%s", base);
    uint64_t hash = rng_name(key, (size_t)len);
    return len == 0 ? 0 : hash != 0 ? hash : 1;
}

static void enqueue(struct broker *b, struct operation *op, const struct message *m, uint64_t key)
{
    uint32_t e = entry_new(b);
    struct entry *entry = &b->entries[e];
    entry->message = *m;
    entry->position = ++b->positions;
    entry->group = group_of(b, op, m->attempt);
    entry->key = key;
    entry->before = op->handed_out;
    op->entries++;
    operations_enter(b->operations, op);
    make_ready(b, e);
}

void broker_accept(struct broker *b, struct operation *op, const struct message *m)
{
    uint64_t key = key_of(b, op, m->attempt);
    bool kept_out = window_keeps_out(b, key);
    *(kept_out ? &b->kept_out : &b->accepted) += 1;
    record(b, m, m->attempt, RECORD_ENQUEUE, kept_out, 0);
    if (!kept_out) {
        enqueue(b, op, m, key);
    }
    struct message answer = *m;
    answer.direction = REPLY;
    answer.echo = 1;
    answer.status = REPLY_DONE;
    answer.receipt = 0;
    record(b, m, m->attempt, RECORD_REPLY, REPLY_DONE, 0);
    network_send(b->network, op, &answer, PLACE_BROKER, op_sender(m->op));
    operations_leave(b->operations, op);
    pump(b);
}

void broker_acknowledge(struct broker *b, struct operation *op, const struct message *m)
{
    struct entry *entry = entry_named(b, m->receipt);
    enum reply_status status = (enum reply_status)m->status;
    bool negative = status == REPLY_RETRY_LATER || status == REPLY_ERROR;
    bool current = false, counts = false;
    if (entry != NULL && entry->state != ENTRY_DEAD && m->attempt > entry->before) {
        current = entry->state == ENTRY_IN_FLIGHT && entry->number == m->attempt;
        counts = current || (!negative && !b->config->late_ack_fails);
    }
    bool deleted = counts && !negative && status != REPLY_REFUSED;
    record(b, m, m->attempt, RECORD_ACKED, status, counts ? deleted : -1);
    uint32_t e = ticket_entry(m->receipt);
    if (deleted) {
        b->deleted++;
        b->ended_at = b->run->now;
        take_out(b, e);
        end(b, e);
    } else if (counts && status == REPLY_REFUSED) {
        bury(b, e);
    } else if (counts) {
        failed(b, e, true);
    }
    operations_leave(b->operations, op);
    pump(b);
}

uint64_t broker_span(const struct broker_config *c, uint64_t delay)
{
    unsigned __int128 once = (unsigned __int128)c->redeliver * (c->visibility + c->after + delay);
    unsigned __int128 all = c->replay ? 2 * once + c->replay_after : once;
    return all < SIM_TIME_MAX / 8 ? (uint64_t)all : SIM_TIME_MAX / 8;
}
