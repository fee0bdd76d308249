/* Messages in a story: how they leave, arrive and get lost.
 *
 * In: the record of a departure or an arrival. Out: its move, with the arrival in it where nothing
 * comes between.
 */
#include "reports/story_internal.h"

#include <inttypes.h>

#define LABEL_MAX (SENTENCE_MAX + 64)

static void delay_text(uint64_t ns, char *out, size_t size)
{
    if (ns < SIM_MS) {
        snprintf(out, size, "%" PRIu64 " us", ns / SIM_US);
    } else if (ns < 10 * SIM_S) {
        snprintf(out, size, "%" PRIu64 " ms", ns / SIM_MS);
    } else {
        snprintf(out, size, "%" PRIu64 " s", ns / SIM_S);
    }
}

/* By a partition or by a fault. */
static const char *loss_text(const struct record *r)
{
    return r->value == 1 ? "cut off" : "lost";
}

/* The lane that a request goes to: of the worker that takes it at once, else the first. */
static uint8_t lane_of_request(const struct teller *t, size_t i)
{
    if (i + 1 < t->count && t->records[i + 1].kind == RECORD_HANDLE &&
        t->records[i + 1].op == t->records[i].op) {
        return story_worker(t->story, t->records[i + 1].worker);
    }
    return story_worker(t->story, 0);
}

/* The lane that an arriving request or delivery comes from. */
static uint8_t lane_before(const struct teller *t, const struct record *r)
{
    bool from_broker = t->story->brokers > 0 && r->kind != RECORD_ENQUEUE;
    return from_broker ? story_broker(t->story) : story_sender(t->story, op_sender(r->op));
}

/* The lane where an arriving reply or ack ends. */
static uint8_t lane_after(const struct teller *t, const struct record *r)
{
    return r->kind == RECORD_ACKED ? story_broker(t->story)
                                   : story_sender(t->story, op_sender(r->op));
}

uint8_t story_replier(const struct teller *t, size_t i)
{
    const struct record *of = &t->records[i];
    bool told = of->kind == RECORD_COPY || of->kind == RECORD_LOST || of->kind == RECORD_DELAYED;
    enum direction way = told ? (enum direction)of->code : story_way_back(t, of);
    if (way == REPLY && t->story->brokers > 0) {
        return story_broker(t->story);
    }
    for (size_t j = i; j-- > 0;) {
        const struct record *r = &t->records[j];
        if (r->kind == RECORD_REPLY && story_same_message(r, &t->records[i]) &&
            story_way_back(t, r) == way) {
            return story_worker(t->story, r->worker);
        }
    }
    return story_worker(t->story, 0);
}

static void begin_handling(struct teller *t, size_t i)
{
    if (i + 1 < t->count && t->records[i].kind == RECORD_DELIVER &&
        t->records[i + 1].kind == RECORD_HANDLE && t->records[i + 1].op == t->records[i].op) {
        t->busy |= (uint16_t)(1u << lane_of_request(t, i));
    }
}

/* The way that ends at the receiver. */
static enum direction to_receiver(const struct teller *t)
{
    return t->story->brokers > 0 ? DELIVERY : REQUEST;
}

/* It arrives and changes nothing. */
static bool comes_late(const struct record *r)
{
    return r->kind == RECORD_LATE || (r->kind == RECORD_ACKED && r->value < 0) ||
           (r->kind == RECORD_ANSWERED && r->code == 1);
}

/* Returns the last record that the move tells: i, or the arrival, or the loss. */
size_t story_leave(struct teller *t, size_t i, enum direction direction, uint8_t from, uint8_t to,
                   const char *label)
{
    const struct record *r = &t->records[i];
    size_t departure = i, j = story_next(t, i);
    uint64_t extra = 0;
    if (j < t->count && t->records[j].kind == RECORD_DELAYED &&
        story_same_message(r, &t->records[j])) {
        extra = (uint64_t)t->records[j].value;
        i = j;
        j = story_next(t, j);
    }
    const struct record *then = j < t->count ? &t->records[j] : NULL;
    struct move *m;
    if (then != NULL && extra == 0 && then->kind == RECORD_LOST && then->code == direction &&
        story_same_message(r, then)) {
        m = story_move(t, r, MOVE_LOST, from, to);
        SAY(m->detail, "%s", loss_text(then));
        i = j;
    } else if (then != NULL && extra == 0 && story_arrives(t, then, direction) &&
               story_same_message(r, then) &&
               (direction_leg(direction) == 0 || direction == ANSWER ||
                story_reply_of(t, j) == departure)) {
        if (then->kind == RECORD_DELIVER || direction == to_receiver(t)) {
            begin_handling(t, j);
            to = lane_of_request(t, j);
        }
        bool down = then->kind == RECORD_DOWN;
        m = story_move(t, r, down ? MOVE_REFUSED : MOVE_ARROW, from, to);
        delay_text(then->at - r->at, m->detail, sizeof(m->detail));
        if (down) {
            SAY(m->detail, "host is down");
        } else if (comes_late(then)) {
            SAY(m->detail, "too late");
        } else if (then->kind == RECORD_ENQUEUE && then->code == 1) {
            SAY(m->detail, "kept out");
        }
        i = j;
    } else {
        m = story_move(t, r, MOVE_LEAVES, from, to);
        if (extra > 0) {
            char by[DURATION_TEXT];
            SAY(m->detail, "delayed by %s", duration_text(extra, by));
        }
    }
    SAY(m->label, "%s", label);
    return i;
}

static void request_arrival(struct teller *t, size_t i)
{
    const struct record *r = &t->records[i];
    char name[SENTENCE_MAX];
    story_message(t, r, name);
    begin_handling(t, i);
    bool down = r->kind == RECORD_DOWN;
    bool enqueued = r->kind == RECORD_ENQUEUE;
    struct move *m = story_move(t, r, down ? MOVE_REFUSED : MOVE_ARRIVES, lane_before(t, r),
                                enqueued ? story_broker(t->story) : lane_of_request(t, i));
    SAY(m->label, "%s", name);
    if (down) {
        SAY(m->detail, "host is down");
    } else if (enqueued && r->code == 1) {
        SAY(m->detail, "kept out");
    }
}

static void reply_arrival(struct teller *t, size_t i)
{
    const struct record *r = &t->records[i];
    char name[SENTENCE_MAX], label[LABEL_MAX];
    size_t reply = story_reply_of(t, i);
    if (story_same_message(&t->records[reply], r)) {
        story_reply_name(t, reply, name);
    } else {
        story_message(t, r, name);
    }
    bool down = r->kind == RECORD_DOWN;
    struct move *m =
        story_move(t, r, down ? MOVE_REFUSED : MOVE_ARRIVES, story_replier(t, i), lane_after(t, r));
    story_reply_label(t, reply, r->code, name, label, sizeof(label));
    SAY(m->label, "%s", label);
    if (down) {
        SAY(m->detail, "host is down");
    }
    if (comes_late(r)) {
        SAY(m->detail, "too late");
    }
}

void story_arrival(struct teller *t, size_t i)
{
    if (story_arrives(t, &t->records[i], REQUEST) || story_arrives(t, &t->records[i], DELIVERY)) {
        request_arrival(t, i);
    } else {
        reply_arrival(t, i);
    }
}

/* A request, a delivery, a reply or an ack leaves, and is not a copy. Returns as leave. */
static size_t first_departure(struct teller *t, size_t i, const char *name)
{
    const struct record *r = &t->records[i];
    char label[LABEL_MAX];
    uint8_t sender = story_sender(t->story, op_sender(r->op));
    uint8_t worker = story_worker(t->story, r->worker);
    bool brokered = t->story->brokers > 0;
    if (r->kind == RECORD_SEND) {
        uint8_t to = brokered ? story_broker(t->story) : story_worker(t->story, 0);
        return story_leave(t, i, REQUEST, sender, to, name);
    }
    if (r->kind == RECORD_DELIVER_ATTEMPT) {
        return story_leave(t, i, DELIVERY, story_broker(t->story), story_worker(t->story, 0), name);
    }
    story_reply_label(t, i, r->code, name, label, sizeof(label));
    if (r->place == PLACE_BROKER) {
        return story_leave(t, i, REPLY, story_broker(t->story), sender, label);
    }
    t->busy &= (uint16_t) ~(1u << worker);
    return story_leave(t, i, brokered ? ACK : REPLY, worker,
                       brokered ? story_broker(t->story) : sender, label);
}

/* The lanes that a copy, a loss or a delay lies between, by its direction. */
static void ends_of(const struct teller *t, size_t i, uint8_t *from, uint8_t *to)
{
    const struct record *r = &t->records[i];
    const struct story *s = t->story;
    enum direction way = (enum direction)r->code;
    uint8_t sender = story_sender(s, op_sender(r->op)), worker = story_worker(s, 0);
    uint8_t middle = s->brokers > 0 ? story_broker(s) : 0;
    bool brokered = s->brokers > 0;
    switch (way) {
    case REQUEST:
        *from = sender;
        *to = brokered ? middle : worker;
        return;
    case REPLY:
        *from = story_replier(t, i);
        *to = sender;
        return;
    case DELIVERY:
        *from = middle;
        *to = worker;
        return;
    case ACK:
        *from = story_replier(t, i);
        *to = middle;
        return;
    case CALL: /* told by story_call */
    case ANSWER:
    case DIRECTION_NONE:
    case DIRECTION_COUNT:
        break;
    }
    must(!"a direction");
}

size_t story_departure(struct teller *t, size_t i)
{
    const struct record *r = &t->records[i];
    char name[SENTENCE_MAX], label[LABEL_MAX], by[DURATION_TEXT];
    uint8_t from, to;
    story_message(t, r, name);
    if (r->kind == RECORD_SEND || r->kind == RECORD_REPLY || r->kind == RECORD_DELIVER_ATTEMPT) {
        return first_departure(t, i, name);
    }
    bool request = direction_leg((enum direction)r->code) == 0;
    ends_of(t, i, &from, &to);
    if (r->kind == RECORD_COPY) {
        if (!request) {
            story_reply_name(t, i, name);
        }
        snprintf(label, sizeof(label), "%s (copy)", name);
        return story_leave(t, i, (enum direction)r->code, from, to, label);
    }
    if (r->kind == RECORD_LOST) {
        struct move *m = story_move(t, r, MOVE_LOST, from, to);
        SAY(m->label, "%s%s", request ? "" : r->code == ACK ? "ack " : "reply ", name);
        SAY(m->detail, "%s", loss_text(r));
        return i;
    }
    SAY(story_move(t, r, MOVE_NOTE, from, from)->label, "%s is delayed by %s", name,
        duration_text((uint64_t)r->value, by));
    return i;
}
