/* What a broker does by itself, in a story.
 *
 * In: a record of an entry that becomes visible again, a dead letter, or is put back. Out: a note
 * at the broker's lane.
 */
#include "reports/story_internal.h"

#include <inttypes.h>

void story_broker_note(struct teller *t, const struct record *r)
{
    char id[KEY_MAX], name[NAME_TEXT];
    uint8_t lane = story_broker(t->story);
    t->names.operation_name(t->names.context, r->op, id);
    name_text(id, name, sizeof(name));
    struct move *m = story_move(t, r, MOVE_NOTE, lane, lane);
    if (r->kind == RECORD_REPLAYED) {
        SAY(m->label, "%s is replayed", name);
    } else if (r->kind == RECORD_DEAD_LETTER) {
        SAY(m->label, "%s is a dead letter after %" PRId64 " deliver%s", name, r->value,
            r->value == 1 ? "y" : "ies");
    } else if (r->code == 0) {
        SAY(m->label, "no ack of %s/%u in time: visible again", name, r->attempt);
    } else {
        SAY(m->label, "%s is visible again", name);
    }
}
