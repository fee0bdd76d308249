/* Steps in a story: what a worker asks of its database, in short, and how it ended.
 *
 * In: the record of a step, and what its bookkeeping left in the teller. Out: its move.
 */
#include "reports/story_internal.h"

#include <inttypes.h>
#include <string.h>

#include "receivers/retention.h"
#include "sim/host.h"

/* The fault that fired at this step, if one did. */
static const struct fault *fault_at(const struct teller *t, const struct record *r,
                                    enum fault_kind kind)
{
    for (size_t i = 0; i < t->result->fired_count; i++) {
        const struct fault *f = &t->result->fired[i];
        unsigned copy = f->site.key.copy == 0 ? 1 : f->site.key.copy;
        if (fault_kind(f) == kind && f->site.op == r->op && f->site.key.attempt == r->attempt &&
            copy == (r->copy == 0 ? 1u : r->copy) && f->site.key.step == r->step) {
            return f;
        }
    }
    return NULL;
}

/* NULL where the operation is generated: its entity and its amount are drawn. */
static const struct listed_message *listed(const struct scenario *s, uint64_t op)
{
    size_t sender = op_sender(op) - PLACE_SENDER;
    uint64_t n = op_number(op);
    if (sender >= s->sender_count || n == 0 || n > s->senders[sender].message_count) {
        return NULL;
    }
    const struct listed_message *m = &s->senders[sender].messages[n - 1];
    return m->registers ? NULL : m;
}

/* "effect: order-1042 +4200", or "= 4200" where the balance is set. An effect that was not written
 * has the amount that was meant. */
static void effect_label(const struct teller *t, const struct record *r, char *out, size_t size)
{
    const struct scenario *s = t->result->scenario;
    const struct listed_message *meant = listed(s, r->op);
    char raw[KEY_MAX], entity[NAME_TEXT] = "", amount[32] = "";
    unsigned w = r->worker % WORKER_LANES;
    if (meant != NULL) {
        name_text(scenario_entity(s, meant->entity, raw), entity, sizeof(entity));
    }
    if (t->wrote[w] || meant != NULL) {
        snprintf(amount, sizeof(amount), "%+" PRId64, t->wrote[w] ? t->amount[w] : meant->amount);
    }
    if (meant != NULL && meant->effect == EFFECT_SET) {
        snprintf(amount, sizeof(amount), "= %" PRId64, meant->amount);
    }
    if (entity[0] == '\0' && amount[0] == '\0') {
        story_say(out, size, "effect");
        return;
    }
    story_say(out, size, "effect: %s%s%s", entity, entity[0] != '\0' ? " " : "", amount);
}

static void step_label(const struct teller *t, const struct record *r, char *out, size_t size)
{
    const struct statement *statements = t->result->receiver->code->statements;
    switch (r->value) {
    case STATEMENT_BEGIN:
        snprintf(out, size, "begin");
        return;
    case STATEMENT_COMMIT:
        snprintf(out, size, "commit");
        return;
    case STATEMENT_ROLLBACK:
        snprintf(out, size, "rollback");
        return;
    case STATEMENT_EFFECT:
        effect_label(t, r, out, size);
        return;
    default: /* not our enum */
        break;
    }
    if (r->value >= RETENTION_STATEMENTS) {
        snprintf(out, size, "%s", retention_brief((unsigned)(r->value - RETENTION_STATEMENTS)));
        return;
    }
    bool known = r->value >= 0 && r->value < STATEMENTS_MAX;
    for (int64_t i = 0; known && i <= r->value; i++) {
        known = statements[i].sql != NULL;
    }
    snprintf(out, size, "%s", known ? statements[r->value].brief : step_text((enum step)r->step));
}

void story_step(struct teller *t, const struct record *r)
{
    unsigned w = r->worker % WORKER_LANES;
    enum outcome o = (enum outcome)r->code;
    bool trouble = o != OK && o != ROW;
    uint8_t lane = story_worker(t->story, r->worker);
    bool store = r->value != STATEMENT_NONE;
    struct move *m = story_move(t, r,
                                !store    ? MOVE_NOTE
                                : trouble ? MOVE_REFUSED
                                          : MOVE_ARROW,
                                lane, store ? story_database(t->story) : lane);
    step_label(t, r, m->label, sizeof(m->label));
    if (r->step == STEP_EXTERNAL && trouble) {
        SAY(m->label, "%s", o == BUSY ? "no answer to its call: time-out" : "its call fails");
    }
    const struct fault *fault = trouble ? fault_at(t, r, FAULT_STORE) : NULL;
    const char *how =
        fault != NULL ? store_fault_text((enum store_fault)fault->value.choice) : NULL;
    if (how != NULL && strcmp(how, outcome_text(o)) != 0) {
        SAY(m->detail, "%s (%s)", outcome_text(o), how);
    } else if (how != NULL) {
        SAY(m->detail, "%s", how);
    } else if (trouble || o == ROW) {
        SAY(m->detail, "%s%s", outcome_text(o),
            trouble && t->committed[w]                            ? ", yet committed"
            : t->rolled_back[w] && r->value != STATEMENT_ROLLBACK ? ", rolled back"
                                                                  : "");
    } else if (t->committed[w] && r->value != STATEMENT_COMMIT) {
        SAY(m->detail, "committed");
    } else if (r->value == STATEMENT_EFFECT && !t->wrote[w]) {
        SAY(m->detail, "no change"); /* a set that found its value there */
    }
    t->wrote[w] = t->committed[w] = t->rolled_back[w] = false;
    if (t->handlers_fail && fault_at(t, r, FAULT_HANDLER) != NULL) {
        SAY(story_move(t, r, MOVE_NOTE, lane, lane)->label, "the handler fails");
    }
}
