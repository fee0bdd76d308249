/* A history as a story.
 *
 * In: the records of one run and its result. Out: the lanes that take part and the moves between
 * them. A request whose arrival is the very next thing to be told becomes one move, one that
 * something comes between becomes two. Bookkeeping (commits, effects, fired faults) has no move of
 * its own: it is told by the step that it belongs to.
 */
#include "reports/story_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "receivers/receiver.h"
#include "sim/host.h"

/* ---- lanes ---- */

uint8_t story_broker(const struct story *s)
{
    must(s->brokers == 1);
    return (uint8_t)s->senders;
}

uint8_t story_worker(const struct story *s, unsigned worker)
{
    return (uint8_t)(s->senders + s->brokers + (worker < s->workers ? worker : s->workers - 1));
}

uint8_t story_sender(const struct story *s, unsigned place)
{
    for (size_t i = 0; i < s->senders; i++) {
        if (s->lanes[i].place == place) {
            return (uint8_t)i;
        }
    }
    return (uint8_t)(s->senders - 1);
}

uint8_t story_database(const struct story *s)
{
    return (uint8_t)(s->senders + s->brokers + s->workers);
}

uint8_t story_service(const struct story *s)
{
    return (uint8_t)(s->lane_count - 1);
}

static struct lane *add_lane(struct story *s, unsigned place)
{
    struct lane *lane = &s->lanes[s->lane_count++];
    lane->place = (uint8_t)place;
    return lane;
}

/* Senders in file order, only those that take part. */
static void find_lanes(struct teller *t)
{
    struct story *s = t->story;
    const struct scenario *scenario = t->result->scenario;
    bool speaks[256] = {false};
    unsigned workers = 1;
    bool sweeps = false;
    for (size_t i = 0; i < t->count; i++) {
        const struct record *r = &t->records[i];
        if (r->op == 0 || (t->op != 0 && r->op != t->op)) {
            continue;
        }
        speaks[op_sender(r->op) & 255] = true;
        sweeps = sweeps || op_is_sweep(r->op);
        s->calls = s->calls || r->kind == RECORD_CALL;
        if (r->worker >= workers) {
            workers = r->worker + 1u;
        }
    }
    for (size_t i = 0; i < scenario->sender_count; i++) {
        if (!speaks[PLACE_SENDER + i]) {
            continue;
        }
        if (s->senders == SENDER_LANES) {
            snprintf(s->lanes[SENDER_LANES - 1].name, NAME_TEXT, "others");
            s->lanes[SENDER_LANES - 1].place = 0;
            break;
        }
        name_text(scenario->senders[i].name, add_lane(s, (unsigned)(PLACE_SENDER + i))->name,
                  NAME_TEXT);
        s->senders++;
    }
    if (s->senders == 0) {
        snprintf(add_lane(s, PLACE_SENDER)->name, NAME_TEXT, "senders");
        s->senders = 1;
    }
    if (scenario->broker.on) {
        snprintf(add_lane(s, PLACE_BROKER)->name, NAME_TEXT, "broker");
        s->brokers = 1;
    }
    s->workers = workers < WORKER_LANES ? workers : WORKER_LANES;
    for (size_t i = 0; i < s->workers; i++) {
        struct lane *lane = add_lane(s, PLACE_RECEIVER);
        if (sweeps && i + 1 == s->workers && workers <= WORKER_LANES) {
            snprintf(lane->name, NAME_TEXT, "sweeper");
        } else if (s->workers == (sweeps ? 2 : 1)) {
            snprintf(lane->name, NAME_TEXT, "receiver");
        } else {
            snprintf(lane->name, NAME_TEXT, "worker %zu%s", i + 1,
                     i + 1 == s->workers && workers > WORKER_LANES ? "+" : "");
        }
    }
    snprintf(add_lane(s, PLACE_RECEIVER)->name, NAME_TEXT, "database");
    if (s->calls) {
        name_text(service_name(&scenario->service), add_lane(s, PLACE_SERVICE)->name, NAME_TEXT);
    }
}

/* ---- moves ---- */

struct move *story_move(struct teller *t, const struct record *r, enum move_kind kind, uint8_t from,
                        uint8_t to)
{
    static struct move beyond; /* counted, written and forgotten */
    struct story *s = t->story;
    struct move *m = &beyond;
    if (s->count < t->limit) {
        if ((s->count & (s->count - 1)) == 0) {
            s->moves = sim_realloc(s->moves, s->count == 0 ? 1 : 2 * s->count, sizeof(*m));
        }
        m = &s->moves[s->count++];
    } else {
        s->left_out++;
    }
    *m = (struct move){
        .at = r->at, .kind = kind, .from = from, .to = to, .busy = t->busy, .down = t->down};
    return m;
}

void story_message(const struct teller *t, const struct record *r, char out[SENTENCE_MAX])
{
    sentence_message(&t->names, r->op, r->attempt, r->copy, out);
}

void story_say(char *out, size_t size, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(out, size, format, list);
    va_end(list);
    if (n < 0 || (size_t)n < size) {
        return;
    }
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)out[end] & 0xc0) == 0x80) {
        end--;
    }
    memcpy(out + end, "…", 4);
}

/* ---- records ---- */

bool story_silent(const struct teller *t, size_t i)
{
    const struct record *r = &t->records[i];
    if (t->op != 0 && r->op != 0 && r->op != t->op) {
        return true;
    }
    if (story_of_downstream(r)) {
        return story_downstream_silent(r);
    }
    switch ((enum record_kind)r->kind) {
    case RECORD_FAULT:
    case RECORD_EFFECT:
    case RECORD_COMMITTED:
    case RECORD_ROLLED_BACK:
    case RECORD_HTTP:
        return true;
    case RECORD_STEP:
        return r->code == DEAD || (r->value == STATEMENT_NONE && (r->code == OK || r->code == ROW));
    case RECORD_HANDLE: /* at once: the arrow that brings the message tells it */
        return i > 0 && r[-1].kind == RECORD_DELIVER && r[-1].op == r->op;
    case RECORD_END:
        return r->value == 0;
    case RECORD_ENQUEUE:
    case RECORD_ACKED:
    case RECORD_DELIVER_ATTEMPT:
    case RECORD_VISIBLE_AGAIN:
    case RECORD_DEAD_LETTER:
    case RECORD_REPLAYED:
    case RECORD_SEND:
    case RECORD_COPY:
    case RECORD_LOST:
    case RECORD_DELAYED:
    case RECORD_DOWN:
    case RECORD_DELIVER:
    case RECORD_WAIT:
    case RECORD_PAUSE:
    case RECORD_WORK:
    case RECORD_REPLY:
    case RECORD_ANSWER:
    case RECORD_LATE:
    case RECORD_TIMEOUT:
    case RECORD_CLOSE:
    case RECORD_CRASH:
    case RECORD_SURVIVED:
    case RECORD_RESTART:
    case RECORD_CLOCK:
    case RECORD_PARTITION:
    case RECORD_VIOLATION:
    case RECORD_STOP:
    case RECORD_SENDER_CRASH:
    case RECORD_SENDER_RESTART:
    case RECORD_SWEEP:
    case RECORD_RELAY:
    case RECORD_CALL:
    case RECORD_SERVICE:
    case RECORD_SERVICE_ANSWER:
    case RECORD_ANSWERED:
        return false;
    }
    must(!"a record kind");
}

size_t story_next(const struct teller *t, size_t i)
{
    do {
        i++;
    } while (i < t->count && story_silent(t, i));
    return i;
}

/* What silent records leave for the step that they belong to. */
static void remember(struct teller *t, const struct record *r)
{
    unsigned w = r->worker % WORKER_LANES;
    if (story_of_downstream(r) || (t->op != 0 && r->op != t->op)) {
        return;
    }
    if (r->kind == RECORD_EFFECT) {
        t->amount[w] = r->value;
        t->wrote[w] = true;
    } else if (r->kind == RECORD_COMMITTED) {
        t->committed[w] = true;
    } else if (r->kind == RECORD_ROLLED_BACK) {
        t->rolled_back[w] = true;
    }
}

/* From the first to the last record of the operation; what the world does before and after is not
 * its story. */
static void find_span(const struct teller *t, size_t *first, size_t *last)
{
    *first = *last = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->records[i].op == t->op) {
            *first = *last == 0 ? i : *first;
            *last = i + 1;
        }
    }
}

void story_make(struct story *s, const struct result *r, const struct record *records, size_t count,
                uint64_t op, uint64_t limit)
{
    *s = (struct story){0};
    struct teller t = {.story = s,
                       .result = r,
                       .records = records,
                       .count = count,
                       .op = op,
                       .limit = limit,
                       .names = scenario_names(r->scenario)};
    find_lanes(&t);
    for (size_t i = 0; i < r->fired_count; i++) {
        t.handlers_fail = t.handlers_fail || fault_kind(&r->fired[i]) == FAULT_HANDLER;
    }
    size_t first = 0, last = count;
    if (op != 0) {
        find_span(&t, &first, &last);
    }
    for (size_t i = first; i < last; i++) {
        remember(&t, &records[i]);
        if (!story_silent(&t, i)) {
            i = story_tell(&t, i);
        }
    }
}

void story_fini(struct story *s)
{
    free(s->moves);
    *s = (struct story){0};
}
