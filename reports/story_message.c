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

uint8_t story_replier(const struct teller *t, size_t i)
{
    for (size_t j = i; j-- > 0;) {
        const struct record *r = &t->records[j];
        if (r->kind == RECORD_REPLY && story_same_message(r, &t->records[i])) {
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

/* Returns the last record that the move tells: i, or the arrival, or the loss. */
static size_t leave(struct teller *t, size_t i, enum direction direction, uint8_t from, uint8_t to,
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
    } else if (then != NULL && extra == 0 && story_arrives(then, direction) &&
               story_same_message(r, then) &&
               (direction == REQUEST || story_reply_of(t, j) == departure)) {
        if (direction == REQUEST) {
            begin_handling(t, j);
            to = lane_of_request(t, j);
        }
        bool down = then->kind == RECORD_DOWN;
        m = story_move(t, r, down ? MOVE_REFUSED : MOVE_ARROW, from, to);
        delay_text(then->at - r->at, m->detail, sizeof(m->detail));
        if (down) {
            SAY(m->detail, "host is down");
        } else if (then->kind == RECORD_LATE) {
            SAY(m->detail, "too late");
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
    struct move *m = story_move(t, r, down ? MOVE_REFUSED : MOVE_ARRIVES,
                                story_sender(t->story, op_sender(r->op)), lane_of_request(t, i));
    SAY(m->label, "%s", name);
    if (down) {
        SAY(m->detail, "host is down");
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
    struct move *m = story_move(t, r, down ? MOVE_REFUSED : MOVE_ARRIVES, story_replier(t, i),
                                story_sender(t->story, op_sender(r->op)));
    story_reply_label(t, reply, r->code, name, label, sizeof(label));
    SAY(m->label, "%s", label);
    if (down) {
        SAY(m->detail, "host is down");
    }
    if (r->kind == RECORD_LATE) {
        SAY(m->detail, "too late");
    }
}

void story_arrival(struct teller *t, size_t i)
{
    if (story_arrives(&t->records[i], REQUEST)) {
        request_arrival(t, i);
    } else {
        reply_arrival(t, i);
    }
}

size_t story_departure(struct teller *t, size_t i)
{
    const struct record *r = &t->records[i];
    char name[SENTENCE_MAX], label[LABEL_MAX], by[DURATION_TEXT];
    uint8_t sender = story_sender(t->story, op_sender(r->op));
    story_message(t, r, name);
    if (r->kind == RECORD_SEND) {
        return leave(t, i, REQUEST, sender, story_worker(t->story, 0), name);
    }
    if (r->kind == RECORD_REPLY) {
        uint8_t worker = story_worker(t->story, r->worker);
        t->busy &= (uint16_t) ~(1u << worker);
        story_reply_label(t, i, r->code, name, label, sizeof(label));
        return leave(t, i, REPLY, worker, sender, label);
    }
    bool request = r->code == REQUEST;
    uint8_t from = request ? sender : story_replier(t, i);
    uint8_t to = request ? story_worker(t->story, 0) : sender;
    if (r->kind == RECORD_COPY) {
        if (!request) {
            story_reply_name(t, i, name);
        }
        snprintf(label, sizeof(label), "%s (copy)", name);
        return leave(t, i, (enum direction)r->code, from, to, label);
    }
    if (r->kind == RECORD_LOST) {
        struct move *m = story_move(t, r, MOVE_LOST, from, to);
        SAY(m->label, "%s%s", request ? "" : "reply ", name);
        SAY(m->detail, "%s", loss_text(r));
        return i;
    }
    SAY(story_move(t, r, MOVE_NOTE, from, from)->label, "%s is delayed by %s", name,
        duration_text((uint64_t)r->value, by));
    return i;
}
