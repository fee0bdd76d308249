/* What a diagram says of a stage downstream: notes at the first receiver, without a lane of its
 * own.
 *
 * In: records of follow-on messages and of the host downstream. Out: what left, what came of it,
 * what was answered, deaths there. What happens inside the second receiver is left out.
 */
#include "reports/story_internal.h"

bool story_of_downstream(const struct record *r)
{
    return op_is_follow(r->op) || r->place == PLACE_DOWNSTREAM;
}

bool story_downstream_silent(const struct record *r)
{
    switch ((enum record_kind)r->kind) {
    case RECORD_SEND:
    case RECORD_ANSWER:
    case RECORD_LOST:
    case RECORD_CRASH:
    case RECORD_RESTART:
    case RECORD_VIOLATION:
        return false;
    default: /* not our enum */
        return r->kind != RECORD_REPLY;
    }
}

void story_downstream(struct teller *t, const struct record *r)
{
    char name[SENTENCE_MAX] = "";
    uint8_t lane = story_worker(t->story, 0);
    if (r->op != 0) {
        story_message(t, r, name);
    }
    struct move *m = story_move(t, r, MOVE_NOTE, lane, lane);
    switch ((enum record_kind)r->kind) {
    case RECORD_SEND:
        SAY(m->label, "sends %s downstream", name);
        return;
    case RECORD_REPLY:
        SAY(m->label, "downstream answers %s to %s", reply_status_text((enum reply_status)r->code),
            name);
        return;
    case RECORD_ANSWER:
        SAY(m->label, "hears %s of %s", reply_status_text((enum reply_status)r->code), name);
        return;
    case RECORD_LOST:
        SAY(m->label, "%s%s is %s", r->code == REPLY ? "answer to " : "", name,
            r->value == 1 ? "cut off" : "lost");
        return;
    case RECORD_CRASH:
        SAY(m->label, "downstream crashes");
        return;
    case RECORD_RESTART:
        SAY(m->label, "downstream restarts");
        return;
    default: /* not our enum */
        return;
    }
}
