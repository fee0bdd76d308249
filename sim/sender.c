#include "sim/sender_internal.h"

#include <stdlib.h>
#include <string.h>

void sender_init(struct sender *s, const struct sender_config *config, unsigned place,
                 struct run *run, struct operations *operations)
{
    *s = (struct sender){.config = config, .place = place, .run = run, .operations = operations};
    if (config->workload.count > 0 && config->workload.skew > 0) {
        zipf_init(&s->zipf, config->workload.entities, config->workload.skew);
    }
    acknowledged_init(s);
}

void sender_fini(struct sender *s)
{
    if (s->zipf.cumulative) {
        zipf_fini(&s->zipf);
    }
    free(s->deferred);
    free(s->ended);
}

uint64_t sender_total(const struct sender_config *c)
{
    return c->workload.count > 0 ? c->workload.count : c->message_count;
}

/* True time that passes while the sender's own clock counts `ns`. */
static uint64_t by_own_clock(const struct sender *s, uint64_t ns)
{
    int32_t drift = s->clock.drift;
    if (drift == 0) {
        return ns;
    }
    return (uint64_t)((unsigned __int128)ns * 1000000 / (uint64_t)(1000000 + drift));
}

void sender_push_next(struct sender *s, uint64_t at, uint64_t number)
{
    struct event e = {.kind = EVENT_NEXT_OPERATION, .host = (uint8_t)s->place};
    e.message.op = number;
    queue_push(&s->run->queue, at, &e);
}

/* Skips listed messages that have a time of their own: those are not part of the loop. */
static void skip_timed(struct sender *s)
{
    const struct sender_config *c = s->config;
    while (c->workload.count == 0 && s->next <= c->message_count &&
           c->messages[s->next - 1].at != 0) {
        s->next++;
    }
}

void sender_start(struct sender *s)
{
    const struct sender_config *c = s->config;
    s->next = 1;
    s->waiting = 0;
    s->last_first = 0;
    s->clock = (struct host_clock){.offset = c->clock_offset, .drift = c->clock_drift};
    acknowledged_start(s);
    s->up = true;
    s->incarnation = 0;
    s->counter_behind = false;
    s->newest = 0;
    s->newest_said = s->lag = 0;
    s->deferred_count = 0;
    s->attempts = s->gave_up = s->closed_done = s->latency_sum = s->latency_max = 0;
    for (size_t i = 0; c->workload.count == 0 && i < c->message_count; i++) {
        s->waiting += c->messages[i].at != 0;
    }
    skip_timed(s);
    session_start(s);
}

bool sender_exhausted(const struct sender *s)
{
    return s->waiting == 0 && s->next > sender_total(s->config);
}

/* Wait before attempt n + 1, by the sender's clock. */
static uint64_t backoff(struct sender *s, struct operation *op)
{
    const struct retry_policy *r = &s->config->retry;
    struct rng_key key = sender_draw(op, DRAW_BACKOFF);
    uint64_t wait = r->after;
    uint64_t exponential = r->max;
    if (op->attempt - 1 < 62 && r->after <= r->max >> (op->attempt - 1)) {
        exponential = r->after << (op->attempt - 1);
    }
    switch (r->backoff) {
    case BACKOFF_FIXED:
        break;
    case BACKOFF_EXPONENTIAL:
        wait = exponential;
        break;
    case BACKOFF_FULL_JITTER:
        wait = rng_range(run_draw(s->run, &key), 0, exponential);
        break;
    case BACKOFF_DECORRELATED_JITTER: {
        uint64_t last = op->last_wait ? op->last_wait : r->after;
        uint64_t top = last < r->max / 3 ? 3 * last : r->max;
        wait = rng_range(run_draw(s->run, &key), r->after, top > r->after ? top : r->after);
        break;
    }
    }
    wait = wait < r->max ? wait : r->max;
    op->last_wait = wait;
    return wait;
}

/* Nothing is sent at the deadline, since no answer
 * could come in time; there the sender stops waiting for the answers to what it sent before. */
void sender_arm(struct sender *s, struct operation *op, enum event_kind kind, uint64_t wait)
{
    uint64_t at = s->run->now + by_own_clock(s, wait);
    op->waiting_to_send = kind == EVENT_SEND;
    if (s->config->retry.deadline) {
        uint64_t deadline = op->first_sent + by_own_clock(s, s->config->retry.deadline);
        if (at >= deadline) {
            at = deadline > s->run->now ? deadline : s->run->now;
            kind = EVENT_TIMEOUT;
        }
    }
    op->waits_until = at;
    struct event e = {.kind = (uint8_t)kind, .host = (uint8_t)s->place};
    e.message = (struct message){.op = op->op, .slot = op->slot, .attempt = op->attempt};
    op->timer = queue_push(&s->run->queue, at, &e);
}

void sender_send(struct sender *s, struct operation *op, struct message *out)
{
    op->attempt++;
    s->attempts++;
    op->last_sent = s->run->now;
    operation_sent(op);
    run_record(s->run, (struct record){.kind = RECORD_SEND,
                                       .op = op->op,
                                       .attempt = op->attempt,
                                       .place = (uint8_t)s->place});
    *out = (struct message){.op = op->op,
                            .op_hash = op->op_hash,
                            .slot = op->slot,
                            .attempt = op->attempt,
                            .copy = 1,
                            .direction = REQUEST,
                            .receipt = s->session};
    if (!op_opens_session(op->op)) {
        out->behind = (uint32_t)(op_number(op->op) - sender_acknowledged(s));
    }
    uint64_t timeout = s->config->retry.timeout;
    sender_arm(s, op, EVENT_TIMEOUT, timeout ? timeout : backoff(s, op));
}

/* Of its loop: with no time of its own. */
static bool in_loop(const struct sender *s, const struct operation *op)
{
    if (op_opens_session(op->op)) {
        return false;
    }
    return !op->listed || s->config->messages[op_number(op->op) - 1].at == 0;
}

/* Its number with its client; a counter that is behind takes the newest one again and goes on from
 * there. */
static void count(struct sender *s, struct operation *op, uint64_t number)
{
    if (s->counter_behind) {
        sender_key(s, s->newest, op->key);
        s->counter_behind = false;
        op->key_of = op_make(s->place, s->newest);
        s->lag = (int64_t)number - s->newest_said;
    }
    op->number = (int64_t)number - s->lag;
    s->newest = number;
    s->newest_said = op->number;
}

bool sender_next(struct sender *s, uint64_t number, struct message *out)
{
    if (!s->up) {
        sender_defer(s, number);
        return false;
    }
    if (s->stopped) {
        return false;
    }
    if (s->opening == OPENING_DUE) {
        session_ask(s, out);
        return true;
    }
    if (number > 0) {
        must(s->waiting > 0);
        s->waiting--;
    } else {
        if (s->next > sender_total(s->config)) {
            return false;
        }
        number = s->next++;
        skip_timed(s);
    }
    struct operation *op = sender_open(s, number);
    count(s, op, number);
    op->first_sent = s->run->now;
    s->last_first = s->run->now;
    if (in_loop(s, op) && s->config->open_loop && s->next <= sender_total(s->config)) {
        struct rng_key key = sender_draw(op, DRAW_ARRIVAL);
        sender_push_next(s, s->run->now + dist_sample(&s->config->gap, run_draw(s->run, &key)), 0);
    }
    sender_send(s, op, out);
    return true;
}

void sender_close(struct sender *s, struct operation *op, enum belief belief, bool gave_up)
{
    queue_remove(&s->run->queue, op->timer);
    op->belief = (uint8_t)belief;
    op->closed = true;
    op->closed_at = s->run->now;
    op->gave_up = gave_up;
    if (!op_opens_session(op->op)) {
        acknowledged_end(s, op);
    }
    s->operations->open--;
    if (belief == BELIEF_DONE) {
        uint64_t latency = s->run->now - op->first_sent;
        s->closed_done++;
        s->latency_sum += latency;
        s->latency_max = latency > s->latency_max ? latency : s->latency_max;
    }
    s->gave_up += gave_up;
    run_record(s->run, (struct record){.kind = RECORD_CLOSE,
                                       .op = op->op,
                                       .attempt = op->attempt,
                                       .place = (uint8_t)s->place,
                                       .code = (uint8_t)belief,
                                       .value = gave_up});
    if (op_opens_session(op->op)) {
        session_closed(s, op);
    }
    if (in_loop(s, op) && !s->config->open_loop && s->next <= sender_total(s->config)) {
        sender_push_next(s, s->run->now, 0);
    }
}

/* Whether another attempt may follow; gives up if not. */
static bool may_retry(struct sender *s, struct operation *op)
{
    const struct retry_policy *r = &s->config->retry;
    bool late = r->deadline && s->run->now >= op->first_sent + by_own_clock(s, r->deadline);
    if (op->attempt < r->limit && !late) {
        return true;
    }
    sender_close(s, op, s->config->give_up_is_failed ? BELIEF_FAILED : BELIEF_UNKNOWN, true);
    return false;
}

bool sender_timeout(struct sender *s, struct operation *op, struct message *out)
{
    operation_waited(s->operations, op);
    if (!op->waiting_to_send) { /* else the deadline has come between two attempts */
        run_record(s->run, (struct record){.kind = RECORD_TIMEOUT,
                                           .op = op->op,
                                           .attempt = op->attempt,
                                           .place = (uint8_t)s->place});
    }
    if (!may_retry(s, op)) {
        return false;
    }
    if (s->config->retry.timeout == 0) {
        sender_send(s, op, out);
        return true;
    }
    sender_arm(s, op, EVENT_SEND, backoff(s, op));
    return false;
}

/* By its number; NULL: none is open. */
static struct operation *sender_oldest_open(const struct sender *s)
{
    const struct operations *all = s->operations;
    struct operation *oldest = NULL;
    for (uint32_t i = 0; i < all->count; i++) {
        struct operation *op = all->slots[i];
        bool own = op->op != 0 && !op->closed && op_sender(op->op) == s->place;
        if (own && (oldest == NULL || op->op < oldest->op)) {
            oldest = op;
        }
    }
    return oldest;
}

void sender_answer(struct sender *s, struct operation *op, const struct message *reply)
{
    if (!s->up) {
        run_record(s->run, (struct record){.kind = RECORD_DOWN,
                                           .op = reply->op,
                                           .attempt = reply->attempt,
                                           .copy = record_copy(reply->copy),
                                           .place = (uint8_t)s->place,
                                           .code = reply->status,
                                           .value = reply->receipt});
        return;
    }
    bool late = op == NULL || op->closed;
    run_record(s->run, (struct record){.kind = late ? RECORD_LATE : RECORD_ANSWER,
                                       .op = reply->op,
                                       .attempt = reply->attempt,
                                       .copy = record_copy(reply->copy),
                                       .place = (uint8_t)s->place,
                                       .code = reply->status,
                                       .value = reply->receipt});
    if (s->config->uncorrelated) {
        op = sender_oldest_open(s);
        late = op == NULL;
    }
    if (late) {
        return;
    }
    switch ((enum reply_status)reply->status) {
    case REPLY_DONE:
    case REPLY_DUPLICATE:
        s->session = op->registers ? reply->receipt : s->session;
        sender_close(s, op, BELIEF_DONE, false);
        break;
    case REPLY_REFUSED:
        sender_close(s, op, BELIEF_FAILED, false);
        break;
    case REPLY_RETRY_LATER:
    case REPLY_ERROR:
        /* An old attempt's error says nothing of the one that is out now. */
        if (reply->attempt == op->attempt && !op->waiting_to_send) {
            operation_waited(s->operations, op);
            if (may_retry(s, op)) {
                queue_remove(&s->run->queue, op->timer);
                sender_arm(s, op, EVENT_SEND, backoff(s, op));
            }
        }
        break;
    case REPLY_NONE:
        must(!"a reply carries a status");
        break;
    }
}
