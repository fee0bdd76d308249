/* Calls in a story: to the service outside the database, and its answers.
 *
 * In: the record of a departure or an arrival at either end. Out: its move, with the arrival in it
 * where nothing comes between. What the service did is told by its answer.
 */
#include "reports/story_internal.h"

#include "sim/service.h"

#define LABEL_MAX (SENTENCE_MAX + 64)

/* The lane of the worker that made this call. */
static uint8_t caller(const struct teller *t, size_t i)
{
    for (size_t j = i + 1; j-- > 0;) {
        const struct record *r = &t->records[j];
        if (r->kind == RECORD_CALL && story_same_message(r, &t->records[i])) {
            return story_worker(t->story, r->worker);
        }
    }
    return story_worker(t->story, 0);
}

bool story_outside(const struct record *r)
{
    switch ((int)r->kind) {
    case RECORD_CALL:
    case RECORD_SERVICE:
    case RECORD_SERVICE_ANSWER:
    case RECORD_ANSWERED:
        return true;
    case RECORD_COPY:
    case RECORD_LOST:
    case RECORD_DELAYED:
        return direction_outside((enum direction)r->code);
    default: /* not our enum */
        return false;
    }
}

/* "call m-77/1", "answer m-77/1: known". did: the record that says what the service did, or NULL.
 */
static void label_of(const struct teller *t, const struct record *r, enum direction d,
                     const struct record *did, char *out, size_t size)
{
    char name[SENTENCE_MAX];
    story_message(t, r, name);
    const char *what = did != NULL ? service_did_text((enum service_did)did->code) : NULL;
    snprintf(out, size, "%s %s%s%s", direction_text(d), name, what != NULL ? ": " : "",
             what != NULL ? what : "");
}

/* What the service last said of this call, before record i. */
static const struct record *deed_of(const struct teller *t, size_t i)
{
    for (size_t j = i + 1; j-- > 0;) {
        const struct record *r = &t->records[j];
        if (r->kind == RECORD_SERVICE_ANSWER && story_same_message(r, &t->records[i])) {
            return r;
        }
    }
    return NULL;
}

size_t story_call(struct teller *t, size_t i)
{
    const struct record *r = &t->records[i];
    char label[LABEL_MAX];
    uint8_t worker = caller(t, i), service = story_service(t->story);
    bool call = r->kind == RECORD_CALL || r->kind == RECORD_SERVICE || r->code == CALL;
    bool there = r->kind == RECORD_SERVICE_ANSWER || r->kind == RECORD_ANSWERED;
    enum direction d = call && !there ? CALL : ANSWER;
    uint8_t from = d == CALL ? worker : service, to = d == CALL ? service : worker;
    label_of(t, r, d, d == ANSWER ? deed_of(t, i) : NULL, label, sizeof(label));
    if (r->kind == RECORD_CALL || r->kind == RECORD_SERVICE_ANSWER) {
        return story_leave(t, i, d, from, to, label);
    }
    if (r->kind == RECORD_COPY) {
        char copy[LABEL_MAX];
        story_say(copy, sizeof(copy), "%s (copy)", label);
        return story_leave(t, i, d, from, to, copy);
    }
    if (r->kind == RECORD_DELAYED) {
        char by[DURATION_TEXT];
        SAY(story_move(t, r, MOVE_NOTE, from, from)->label, "%s is delayed by %s", label,
            duration_text((uint64_t)r->value, by));
        return i;
    }
    bool lost = r->kind == RECORD_LOST;
    struct move *m = story_move(t, r, lost ? MOVE_LOST : MOVE_ARRIVES, from, to);
    SAY(m->label, "%s", label);
    if (lost) {
        SAY(m->detail, "%s", r->value == 1 ? "cut off" : "lost");
    } else if (r->kind == RECORD_ANSWERED && r->code == 1) {
        SAY(m->detail, "too late");
    }
    return i;
}
