/* Replies in a story: which of its copies has arrived.
 *
 * In: the record of an arrival at a sender, which does not tell a reply from its copies. Out: the
 * departure it belongs to, from when each of them was due: the network's delays are keyed numbers,
 * so they are known here too.
 */
#include "reports/story_internal.h"

#include <string.h>

#include "sim/scenario.h"

#define DEPARTURES_MAX 101 /* the reply and its copies */

struct departure {
    size_t record;
    unsigned number; /* 1: the reply itself */
    uint64_t due;
    bool gone; /* arrived or lost */
};

bool story_same_message(const struct record *a, const struct record *b)
{
    unsigned copy_a = a->copy == 0 ? 1 : a->copy;
    unsigned copy_b = b->copy == 0 ? 1 : b->copy;
    return a->op == b->op && a->attempt == b->attempt && copy_a == copy_b;
}

bool story_arrives(const struct teller *t, const struct record *r, enum direction direction)
{
    bool brokered = t->result->scenario->broker.on;
    bool at_sender = r->place >= PLACE_SENDER;
    switch (direction) {
    case REQUEST:
        if (brokered) {
            return r->kind == RECORD_ENQUEUE;
        }
        return r->kind == RECORD_DELIVER || (r->kind == RECORD_DOWN && !at_sender);
    case DELIVERY:
        return brokered && (r->kind == RECORD_DELIVER || (r->kind == RECORD_DOWN && !at_sender));
    case REPLY:
        return r->kind == RECORD_ANSWER || r->kind == RECORD_LATE ||
               (r->kind == RECORD_DOWN && at_sender);
    case ACK:
        return r->kind == RECORD_ACKED;
    case CALL:
        return r->kind == RECORD_SERVICE;
    case ANSWER:
        return r->kind == RECORD_ANSWERED;
    case DIRECTION_NONE:
    case DIRECTION_COUNT:
        break;
    }
    return false;
}

enum direction story_way_back(const struct teller *t, const struct record *r)
{
    bool to_broker = r->kind == RECORD_ACKED || r->place == PLACE_RECEIVER;
    return t->result->scenario->broker.on && to_broker ? ACK : REPLY;
}

/* How much later than the one before each copy of this reply leaves. */
static uint64_t copy_gap(const struct teller *t, const struct record *r, enum direction way)
{
    unsigned copy = r->copy == 0 ? 1 : r->copy;
    for (size_t i = 0; i < t->result->fired_count; i++) {
        const struct fault *f = &t->result->fired[i];
        const struct rng_key *k = &f->site.key;
        if (fault_kind(f) == FAULT_DUPLICATE && k->direction == way && f->site.op == r->op &&
            k->attempt == r->attempt && (k->copy == 0 ? 1u : k->copy) == copy) {
            return f->value.time;
        }
    }
    return 0;
}

static struct departure departs(const struct teller *t, size_t i, enum direction way)
{
    const struct record *r = &t->records[i];
    const struct scenario *s = t->result->scenario;
    unsigned number = r->kind == RECORD_COPY ? (unsigned)r->value : 1;
    char id[KEY_MAX];
    struct rng_key key = {.operation = rng_name(id, scenario_operation_id(s, r->op, id)),
                          .attempt = r->attempt,
                          .copy = r->copy == 0 ? 1 : r->copy,
                          .nth = (uint16_t)(number > 1 ? number : 0),
                          .draw = DRAW_DELAY,
                          .direction = (uint8_t)way};
    uint64_t delay = dist_sample(network_delay(&s->network, way), rng_keyed(t->result->seed, &key));
    uint64_t after = number > 1 ? (number - 1) * copy_gap(t, r, way) : 0;
    return (struct departure){.record = i, .number = number, .due = r->at + after + delay};
}

/* The one under way that was due next to this time; of several the first to leave. */
static struct departure *due_at(struct departure *list, size_t count, uint64_t at)
{
    struct departure *best = NULL;
    uint64_t least = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t off = list[i].due > at ? list[i].due - at : at - list[i].due;
        if (!list[i].gone && (best == NULL || off < least)) {
            best = &list[i];
            least = off;
        }
    }
    return best;
}

static bool is_reply(const struct teller *t, const struct record *r, const struct record *arrival)
{
    return r->kind == RECORD_REPLY && story_same_message(r, arrival) &&
           story_way_back(t, r) == story_way_back(t, arrival);
}

size_t story_reply_of(const struct teller *t, size_t i)
{
    const struct record *arrival = &t->records[i];
    enum direction way = story_way_back(t, arrival);
    struct departure list[DEPARTURES_MAX];
    size_t count = 0, first = i;
    bool copied = false;
    while (first > 0 && !is_reply(t, &t->records[first], arrival)) {
        first--;
        copied = copied || t->records[first].kind == RECORD_COPY;
    }
    if (!copied || !is_reply(t, &t->records[first], arrival)) {
        return first;
    }
    for (size_t j = first; j <= i; j++) {
        const struct record *r = &t->records[j];
        if (!story_same_message(r, arrival)) {
            continue;
        }
        bool reply = r->code == way;
        struct departure *d = NULL;
        if ((is_reply(t, r, arrival) || (r->kind == RECORD_COPY && reply)) &&
            count < DEPARTURES_MAX) {
            list[count++] = departs(t, j, way);
        } else if (r->kind == RECORD_LOST && reply) {
            list[count - 1].gone = true;
        } else if (r->kind == RECORD_DELAYED && reply) {
            list[count - 1].due += (uint64_t)r->value;
        } else if (story_arrives(t, r, way)) {
            d = due_at(list, count, r->at);
        }
        if (d != NULL) {
            d->gone = true;
        }
        if (j == i && d != NULL) {
            return d->record;
        }
    }
    return first;
}

/* What an HTTP API said beside the reply that record i is or copies; NULL: nothing. */
static const struct record *http_of(const struct teller *t, size_t i)
{
    const struct record *r = &t->records[i];
    while (i > 0 && !is_reply(t, &t->records[i], r)) {
        i--;
    }
    const struct record *next = i + 1 < t->count ? &t->records[i + 1] : NULL;
    return next != NULL && next->kind == RECORD_HTTP && story_same_message(next, r) ? next : NULL;
}

void story_reply_label(const struct teller *t, size_t departure, unsigned status, const char *name,
                       char *out, size_t size)
{
    const struct record *http = http_of(t, departure);
    char code[24] = "";
    if (http != NULL) {
        snprintf(code, sizeof(code), "%u ", (unsigned)http->value);
    }
    snprintf(out, size, "%s%s %s%s", code, reply_status_text((enum reply_status)status), name,
             http != NULL && http->code ? ", replayed" : "");
}

void story_reply_name(const struct teller *t, size_t departure, char out[SENTENCE_MAX])
{
    const struct record *r = &t->records[departure];
    story_message(t, r, out);
    if (r->kind == RECORD_COPY && r->value > 1) {
        size_t n = strlen(out);
        snprintf(out + n, SENTENCE_MAX - n, "%s.%u", r->copy > 1 ? "" : ".1", (unsigned)r->value);
    }
}
