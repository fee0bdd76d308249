/* Everything in a story that is neither message nor step: time-outs, beliefs, crashes, violations.
 *
 * In: any record that has a move of its own. Out: its move.
 */
#include "reports/story_internal.h"

#include <inttypes.h>
#include <string.h>

#include "receivers/receiver.h"
#include "sim/crash.h"
#include "sim/operation.h"

static void tell_close(struct teller *t, const struct record *r, uint8_t lane)
{
    char id[KEY_MAX], name[NAME_TEXT];
    t->names.operation_name(t->names.context, r->op, id);
    name_text(id, name, sizeof(name));
    struct move *m = story_move(t, r, MOVE_NOTE, lane, lane);
    if (r->value == 1) {
        SAY(m->label, "gives %s up, believes it %s", name, belief_text((enum belief)r->code));
    } else {
        SAY(m->label, "believes %s %s", name, belief_text((enum belief)r->code));
    }
}

static void tell_violation(struct teller *t, const struct record *r)
{
    struct move *m = story_move(t, r, MOVE_VIOLATION, 0, 0);
    SAY(m->label, "%s violated", check_text((enum check)r->code));
    for (size_t i = 0; i < t->result->violation_count; i++) {
        const struct violation *v = &t->result->violations[i];
        if (v->check == (enum check)r->code && v->op == r->op && v->at == r->at) {
            char text[VIOLATION_TEXT];
            violation_text(t->result->scenario, v, text, sizeof(text));
            SAY(m->label, "%s: %.200s", check_text(v->check), text);
            return;
        }
    }
}

static void tell_crash(struct teller *t, const struct record *r)
{
    enum crash_mode mode = (enum crash_mode)r->code;
    t->down = true;
    t->busy = 0;
    memset(t->wrote, 0, sizeof(t->wrote));
    memset(t->committed, 0, sizeof(t->committed));
    memset(t->rolled_back, 0, sizeof(t->rolled_back));
    struct move *m =
        story_move(t, r, MOVE_CRASH, story_worker(t->story, 0), story_database(t->story));
    if (crash_mode_counted(mode)) {
        SAY(m->label, "CRASH (%s %" PRId64 ")", crash_mode_text(mode), r->value);
    } else {
        SAY(m->label, "CRASH (%s)", crash_mode_text(mode));
    }
}

static void tell_clock(struct move *m, const struct record *r, const char *whose)
{
    char by[DURATION_TEXT];
    if (r->code == CLOCK_DRIFT) {
        SAY(m->label, "the clock of %s drifts by %+" PRId64 " ppm", whose, r->value);
        return;
    }
    duration_text(r->value < 0 ? -(uint64_t)r->value : (uint64_t)r->value, by);
    SAY(m->label, "the clock of %s jumps by %c%s", whose, r->value < 0 ? '-' : '+', by);
}

static const struct fault *partition_at(const struct fault *list, size_t count,
                                        const struct record *r)
{
    for (size_t i = 0; i < count; i++) {
        const struct fault *f = &list[i];
        uint64_t begin = f->value.time > SIM_START ? f->value.time : SIM_START;
        if (fault_kind(f) == FAULT_PARTITION && f->site.key.host == r->place &&
            f->site.key.value == r->value && r->at == (r->code == 1 ? begin : f->value.until)) {
            return f;
        }
    }
    return NULL;
}

/* The record does not say it. The fault does: one that fired, or a listed one that met nothing. */
static bool is_one_way(const struct result *result, const struct record *r)
{
    const struct scenario *s = result->scenario;
    const struct fault *f = partition_at(result->fired, result->fired_count, r);
    if (f == NULL) {
        f = partition_at(s->faults, s->fault_count, r);
    }
    return f != NULL && f->value.choice == 1;
}

static void tell_partition(const struct teller *t, struct move *m, const struct record *r,
                           const char *from)
{
    char raw[KEY_MAX], to[NAME_TEXT];
    t->names.place_name(t->names.context, (unsigned)r->value, raw);
    name_text(raw, to, sizeof(to));
    if (!is_one_way(t->result, r)) {
        SAY(m->label, "partition between %s and %s %s", from, to, r->code == 1 ? "begins" : "ends");
    } else if (r->code == 1) {
        SAY(m->label, "nothing passes from %s to %s any more", from, to);
    } else {
        SAY(m->label, "what goes from %s to %s passes again", from, to);
    }
}

static void tell_world(struct teller *t, const struct record *r)
{
    char raw[KEY_MAX] = "", place[NAME_TEXT];
    if (r->place != PLACE_NONE) {
        t->names.place_name(t->names.context, r->place, raw);
    }
    struct move *m = story_move(t, r, MOVE_WORLD, 0, 0);
    name_text(raw, place, sizeof(place));
    if (r->kind == RECORD_CLOCK) {
        tell_clock(m, r, place);
    } else if (r->kind == RECORD_PARTITION) {
        tell_partition(t, m, r, place);
    } else {
        SAY(m->label, "the run is ended at its limit");
    }
}

static struct move *tell_note(struct teller *t, const struct record *r, uint8_t lane)
{
    return story_move(t, r, MOVE_NOTE, lane, lane);
}

static void tell_restart(struct teller *t, const struct record *r)
{
    t->down = false;
    SAY(tell_note(t, r, story_worker(t->story, 0))->label, "restarts");
}

static void tell_work(struct teller *t, const struct record *r, uint8_t worker)
{
    char time[DURATION_TEXT];
    if (r->kind == RECORD_WAIT) {
        SAY(tell_note(t, r, worker)->label, "waits for the lock");
        return;
    }
    if (r->kind == RECORD_SWEEP || r->kind == RECORD_RELAY) {
        SAY(tell_note(t, r, worker)->label, "%s %" PRId64,
            r->kind == RECORD_SWEEP ? "sweep" : "relay", r->value);
        return;
    }
    duration_text((uint64_t)r->value, time);
    SAY(tell_note(t, r, worker)->label, "%s for %s", r->kind == RECORD_WORK ? "works" : "paused",
        time);
}

static void tell_stop(struct teller *t, const struct record *r)
{
    char time[DURATION_TEXT];
    uint8_t receiver = story_worker(t->story, 0);
    if (r->code == 1) {
        t->down = true;
        t->busy = 0;
        struct move *m = story_move(t, r, MOVE_CRASH, receiver, story_database(t->story));
        SAY(m->label, "ENDS, as it was asked to");
    } else if (r->value > 0) {
        SAY(tell_note(t, r, receiver)->label, "asked to stop within %s",
            duration_text((uint64_t)r->value, time));
    } else {
        SAY(tell_note(t, r, receiver)->label, "asked to stop");
    }
}

static void tell_sender(struct teller *t, const struct record *r)
{
    struct move *m = tell_note(t, r, story_sender(t->story, r->place));
    if (r->kind == RECORD_SENDER_RESTART) {
        SAY(m->label, "restarts with %" PRId64 " open %s", r->value,
            r->value == 1 ? "message" : "messages");
    } else if (r->code == 0) {
        SAY(m->label, "CRASH, remembers all");
    } else {
        SAY(m->label, "CRASH (%s)", amnesia_text((enum amnesia)(r->code - 1)));
    }
}

static void tell_survivors(struct teller *t, const struct record *r)
{
    SAY(tell_note(t, r, story_database(t->story))->label, "%" PRId64 " %s survived", r->value,
        r->value == 1 ? "effect" : "effects");
}

size_t story_tell(struct teller *t, size_t i)
{
    const struct record *r = &t->records[i];
    char name[SENTENCE_MAX] = "";
    uint8_t worker = story_worker(t->story, r->worker);
    uint8_t sender = 0;
    if (story_of_downstream(r) && r->kind != RECORD_VIOLATION) {
        story_downstream(t, r);
        return i;
    }
    if (r->op != 0 && !op_is_follow(r->op)) {
        sender = story_sender(t->story, op_sender(r->op));
        story_message(t, r, name);
    }
    if (story_outside(r)) {
        return story_call(t, i);
    }
    switch ((enum record_kind)r->kind) {
    case RECORD_CALL:
    case RECORD_SERVICE:
    case RECORD_SERVICE_ANSWER:
    case RECORD_ANSWERED:
        return i; /* above */
    case RECORD_SEND:
    case RECORD_REPLY:
    case RECORD_DELIVER_ATTEMPT:
    case RECORD_COPY:
    case RECORD_LOST:
    case RECORD_DELAYED:
        return story_departure(t, i);
    case RECORD_DOWN:
    case RECORD_DELIVER:
    case RECORD_ANSWER:
    case RECORD_LATE:
    case RECORD_ENQUEUE:
    case RECORD_ACKED:
        story_arrival(t, i);
        return i;
    case RECORD_VISIBLE_AGAIN:
    case RECORD_DEAD_LETTER:
    case RECORD_REPLAYED:
        story_broker_note(t, r);
        return i;
    case RECORD_HANDLE:
        t->busy |= (uint16_t)(1u << worker);
        SAY(tell_note(t, r, worker)->label, "takes %s", name);
        return i;
    case RECORD_STEP:
        story_step(t, r);
        return i;
    case RECORD_WAIT:
    case RECORD_PAUSE:
    case RECORD_WORK:
    case RECORD_SWEEP:
    case RECORD_RELAY:
        tell_work(t, r, worker);
        return i;
    case RECORD_TIMEOUT:
        SAY(tell_note(t, r, sender)->label, "no answer to %s: time-out", name);
        return i;
    case RECORD_CLOSE:
        tell_close(t, r, sender);
        return i;
    case RECORD_CRASH:
        tell_crash(t, r);
        return i;
    case RECORD_SURVIVED:
        tell_survivors(t, r);
        return i;
    case RECORD_RESTART:
        tell_restart(t, r);
        return i;
    case RECORD_VIOLATION:
        tell_violation(t, r);
        return i;
    case RECORD_STOP:
        tell_stop(t, r);
        return i;
    case RECORD_SENDER_CRASH:
    case RECORD_SENDER_RESTART:
        tell_sender(t, r);
        return i;
    case RECORD_CLOCK:
    case RECORD_PARTITION:
    case RECORD_END:
        tell_world(t, r);
        return i;
    case RECORD_EFFECT:
    case RECORD_COMMITTED:
    case RECORD_ROLLED_BACK:
    case RECORD_HTTP:
    case RECORD_FAULT:
        return i;
    }
    must(!"a record kind");
}
