/* Follow-on messages: what a handler tells a second receiver, downstream. See receivers/receiver.h.
 *
 * In: a parcel, which names the operation that the message follows from, and the id it travels
 * under. Out: the message on the way downstream, and what came back in time. The follow-on is an
 * operation of the downstream stage; it is opened by its first transmission, and its sender's
 * belief follows the answers that somebody waited for.
 */
#include "sim/handling.h"
#include "sim/sender_config.h"

#include <stdlib.h>
#include <string.h>

/* A parcel: the slot of the parent, and its number to tell it from a later tenant. */
#define PARCEL_NUMBER ((UINT64_C(1) << 31) - 1)

int64_t handling_parcel(struct handling *h)
{
    h->op->emitted++; /* from now on it keeps its slot */
    h->parcels_open = true;
    return (int64_t)((uint64_t)h->op->slot << 31 | (op_number(h->op->op) & PARCEL_NUMBER));
}

/* NULL: nobody was given such a parcel. A disk that lies may hand out pages of which half is old.
 */
static struct operation *parent_of(struct host *host, int64_t parcel)
{
    uint64_t slot = (uint64_t)parcel >> 31;
    if (parcel < 0 || slot >= host->operations->count) {
        return NULL;
    }
    struct operation *op = operations_at(host->operations, (uint32_t)slot);
    bool known = op->op != 0 && op->emitted > 0 &&
                 (op_number(op->op) & PARCEL_NUMBER) == ((uint64_t)parcel & PARCEL_NUMBER);
    return known ? op : NULL;
}

static struct operation *open_follow(struct host *host, struct operation *parent, const char *id)
{
    static const struct sender_config relay = {0};
    struct operations *ops = host->outlet->operations;
    if (parent->follow > 0) {
        return operations_at(ops, parent->follow - 1);
    }
    char name[KEY_MAX];
    size_t len = host->operation_id(host->names, op_follow(parent->op), name);
    struct operation *op = operations_open(ops, op_follow(parent->op), rng_name(name, len));
    must(strlen(id) < KEY_MAX);
    strcpy(op->key, id);
    op->entity = parent->entity;
    op->amount = parent->amount;
    op->sender = &relay;
    op->number = parent->number;
    op->first_sent = host->run->now;
    op->began = op_is_follow(parent->op) ? parent->began : parent->first_sent;
    op->made_at = (int64_t)clock_read(&host->clock, host->run->now);
    parent->follow = op->slot + 1;
    host->outlet->messages++;
    host->outlet->moved_at = host->run->now;
    return op;
}

/* Which of the follow-on's ids this is: 0 the first. */
static uint32_t id_index(struct operation *op, const char *id)
{
    if (strcmp(op->key, id) == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < op->other_count; i++) {
        if (strcmp(op->others[i], id) == 0) {
            return i + 1;
        }
    }
    must(strlen(id) < KEY_MAX);
    op->others = sim_realloc(op->others, op->other_count + 1, sizeof(op->others[0]));
    strcpy(op->others[op->other_count++], id);
    return op->other_count;
}

/* Hands the message to the network; the attempt that it was. */
static uint16_t send_off(struct host *host, struct operation *op, uint32_t id)
{
    op->attempt++;
    op->met_fault = op->late = false;
    op->last_sent = host->run->now;
    host->outlet->transmissions++;
    run_record(host->run, (struct record){.kind = RECORD_SEND,
                                          .op = op->op,
                                          .attempt = op->attempt,
                                          .place = host->place,
                                          .value = (int64_t)id});
    struct message m = {.op = op->op,
                        .op_hash = op->op_hash,
                        .slot = op->slot,
                        .attempt = op->attempt,
                        .copy = 1,
                        .direction = REQUEST,
                        .behind = id};
    network_send(host->outlet->network, op, &m, host->place, PLACE_DOWNSTREAM);
    return op->attempt;
}

/* No answer came, or a bad one, and a fault lay in its way: so it did in the way of whoever waits
 * for this handling. */
static bool excused(const struct host *host, const struct operation *op)
{
    return op->met_fault || host->outlet->operations->troubled_until >= op->last_sent;
}

static enum outcome await(struct handling *h, struct operation *op, uint16_t attempt, uint64_t wait)
{
    struct host *host = h->host;
    struct worker *w = h->worker;
    w->waits_for = op->op;
    w->waits_for_attempt = attempt;
    w->answer = REPLY_NONE;
    host_sleep(w, host->run->now + wait);
    enum reply_status status = (enum reply_status)w->answer;
    w->waits_for = 0;
    if (!host->up) {
        return DEAD;
    }
    switch (status) {
    case REPLY_DONE:
    case REPLY_DUPLICATE:
        op->belief = BELIEF_DONE;
        break;
    case REPLY_REFUSED:
        op->belief = BELIEF_FAILED;
        break;
    case REPLY_NONE:
    case REPLY_RETRY_LATER:
    case REPLY_ERROR:
        if (excused(host, op)) {
            operation_hinder(h->op, h->message.attempt);
        }
        return BUSY;
    }
    if (!op->closed) {
        op->closed = true;
        op->closed_at = host->outlet->moved_at = host->run->now;
        host->outlet->operations->open--;
    }
    return op->belief == BELIEF_DONE ? OK : DECLINED;
}

enum outcome transmit(struct handling *h, int64_t parcel, const char *id, uint64_t wait)
{
    struct host *host = h->host;
    if (step_refused(h)) {
        return DEAD;
    }
    enum outcome o = step_enter(h, STEP_SEND);
    if (o != OK) {
        return o;
    }
    struct operation *parent = host->outlet != NULL ? parent_of(host, parcel) : NULL;
    if (parent != NULL) {
        struct operation *op = open_follow(host, parent, id);
        uint16_t attempt = send_off(host, op, id_index(op, id));
        o = wait > 0 ? await(h, op, attempt, wait) : OK;
    }
    return step_leave(h, o, STATEMENT_NONE);
}

void relay_again(struct handling *h)
{
    h->host->relay_wanted = true;
}
