/* Each check is judged where its facts are complete: replies when they leave, effects at each audit
 * and when nothing can touch an operation any more.
 *
 * Worked example, the seed's story on `naive`: m-77/1 is handled, one effect; the reply is lost;
 * m-77/2 is handled, a second effect. When m-77 is closed (believed done) and nothing of it is
 * under way, verdict_operation counts two effects: no-double-effect is violated, no-lost-effect is
 * judged and holds. At the end the audit finds the balance 8400 and two ledger rows of 4200:
 * state-matches-effects is judged and holds.
 */
#include "sim/verdict_internal.h"

#include <stdlib.h>
#include <string.h>

void verdict_init(struct verdict *v, struct run *run, size_t entities)
{
    memset(v, 0, sizeof(*v));
    v->run = run;
    v->entities = entities;
    v->retired_sum = sim_zalloc(entities, sizeof(v->retired_sum[0]));
    v->live_sum = sim_zalloc(entities, sizeof(v->live_sum[0]));
}

void verdict_fini(struct verdict *v)
{
    free(v->latest);
    free(v->retired_sum);
    free(v->live_sum);
}

void verdict_reset(struct verdict *v, uint32_t checks, bool no_give_up, bool late_forbidden)
{
    int64_t *retired = v->retired_sum, *live = v->live_sum;
    size_t entities = v->entities, capacity = v->latest_capacity;
    struct latest *latest = v->latest;
    *v = (struct verdict){.run = v->run,
                          .latest = latest,
                          .latest_capacity = capacity,
                          .checks = checks,
                          .no_give_up = no_give_up,
                          .late_forbidden = late_forbidden,
                          .retired_sum = retired,
                          .live_sum = live,
                          .entities = entities};
    memset(retired, 0, entities * sizeof(retired[0]));
    if (capacity > 0) {
        memset(latest, 0, capacity * sizeof(latest[0]));
    }
}

void verdict_count(struct verdict *v, enum check check, uint64_t items)
{
    if (v->checks & CHECK_BIT(check)) {
        v->judged[check] += items;
    }
}

static struct testimony hear(const struct operation *op)
{
    struct testimony t = {.belief = op->belief,
                          .closed = op->closed,
                          .gave_up = op->gave_up,
                          .closed_at = op->closed_at,
                          .effects_ever = op->effects_ever,
                          .effects_late = op->late_ever,
                          .acked = op->acked,
                          .replied = op->replied,
                          .key_of = op->key_of,
                          .fair_attempt = op->fair_attempt,
                          .deliveries = op->handed_out,
                          .dead_letters = op->dead_letters};
    memcpy(t.effects, op->effect_at, sizeof(t.effects));
    return t;
}

struct violation *verdict_violate(struct verdict *v, struct operation *op, enum check check,
                                  enum reason reason, int64_t a, int64_t b)
{
    if (!(v->checks & CHECK_BIT(check)) || (op && (op->violated & CHECK_BIT(check)))) {
        return NULL;
    }
    struct violation what = {.check = check, .reason = reason, .at = v->run->now, .a = a, .b = b};
    if (op) {
        op->violated |= CHECK_BIT(check);
        what.op = op->op;
        what.testimony = hear(op);
    }
    v->violated[check]++;
    run_record(v->run,
               (struct record){
                   .kind = RECORD_VIOLATION, .op = what.op, .code = (uint8_t)check, .value = a});
    if (v->kept == VIOLATIONS_KEPT) {
        return NULL;
    }
    v->violations[v->kept] = what;
    return &v->violations[v->kept++];
}

/* Did the receiver ever change its store for op before this handling? If not, "duplicate" can only
 * mean that it took op for another operation. */
static void judge_merge(struct verdict *v, struct operation *op, enum reply_status status,
                        int64_t receipt)
{
    if (status == REPLY_DUPLICATE || status == REPLY_DONE) {
        verdict_count(v, CHECK_DISTINCT_OPERATIONS, 1);
    }
    if (status == REPLY_DUPLICATE && op->wrote == 0) {
        verdict_violate(v, op, CHECK_DISTINCT_OPERATIONS, WHY_MERGED, op->entity, receipt);
    }
}

void verdict_reply(struct verdict *v, struct operation *op, enum reply_status status,
                   int64_t receipt, bool saves_responses)
{
    bool success = status == REPLY_DONE || status == REPLY_DUPLICATE;
    if (op->registers) {
        return; /* no effect to speak of; its receipt is a session's number */
    }
    judge_merge(v, op, status, receipt);
    if (success || status == REPLY_REFUSED) {
        verdict_count(v, CHECK_SAME_REPLY, 1);
    }
    if (success && receipt != 0 && receipt_op(receipt) != op->op) {
        verdict_violate(v, op, CHECK_SAME_REPLY, WHY_FOREIGN_REPLY, receipt, 0);
        if (op->wrote == 0) {
            verdict_violate(v, op, CHECK_DISTINCT_OPERATIONS, WHY_MERGED, op->entity, receipt);
        }
    }
    if (status == REPLY_REFUSED && op->acked_at != 0) {
        verdict_violate(v, op, CHECK_SAME_REPLY, WHY_REFUSED_LATER, (int64_t)op->acked_at, 0);
    }
    bool excused = op->reply_late && !v->late_forbidden; /* it may have been handled as new */
    if (success && op->acked_at != 0 && saves_responses && !excused &&
        receipt != op->first_receipt) {
        verdict_violate(v, op, CHECK_SAME_REPLY, WHY_OTHER_RESPONSE, receipt, op->first_receipt);
    }
    if (success && receipt == 0 && op->effect == EFFECT_CREATE && !excused) {
        verdict_violate(v, op, CHECK_SAME_REPLY, WHY_NO_RECEIPT, 0, 0);
    }
    if (success && op->acked_at == 0) {
        op->acked_at = v->run->now;
        op->acked = op->replied;
        op->first_receipt = receipt;
    }
}

/* Of the effects at the service. */
static void judge_external(struct verdict *v, struct operation *op, enum check check,
                           enum reason reason)
{
    struct violation *what = verdict_violate(v, op, check, reason, op->external, op->entity);
    if (what != NULL) {
        memcpy(what->testimony.effects, op->external_at, sizeof(op->external_at));
        memcpy(what->testimony.echoes, op->external_echo, sizeof(op->external_echo));
        what->testimony.effects_ever = op->external;
        what->testimony.effects_late = op->external_late;
    }
}

/* More than one effect is certain as soon as it is seen; no later event takes it back. */
void verdict_committed(struct verdict *v, struct operation *op)
{
    if (op->external - (v->late_forbidden ? 0 : op->external_late) > 1) {
        judge_external(v, op, CHECK_NO_DOUBLE_EFFECT, WHY_EXTERNAL);
    }
    if (op->effects - (v->late_forbidden ? 0 : op->effects_late) > 1) {
        verdict_violate(v, op, CHECK_NO_DOUBLE_EFFECT, WHY_EFFECTS, op->effects, op->entity);
    }
}

/* What is believed done must be done at the service, too. */
static void judge_not_called(struct verdict *v, struct operation *op)
{
    if (v->calls && op->belief == BELIEF_DONE && op->external == 0 && !op->registers) {
        judge_external(v, op, CHECK_NO_LOST_EFFECT, WHY_EXTERNAL_LOST);
    }
}

/* Believed done, and no effect is left. */
static bool is_lost(const struct operation *op)
{
    return op->belief == BELIEF_DONE && operation_effect_missing(op) && !op->registers;
}

void verdict_closed(struct verdict *v, struct operation *op, bool durable)
{
    if (!op->closed) {
        return;
    }
    if (is_lost(op) && op->in_flight == 0) {
        verdict_violate(v, op, CHECK_NO_LOST_EFFECT, WHY_LOST, 0, op->entity);
    }
    if (op->in_flight == 0) {
        judge_not_called(v, op);
    }
    if (op->belief == BELIEF_FAILED && op->external > 0) {
        judge_external(v, op, CHECK_NO_GHOST_EFFECT, WHY_EXTERNAL_GHOST);
    }
    if (op->belief == BELIEF_FAILED && op->effects > 0 && durable) {
        verdict_violate(v, op, CHECK_NO_GHOST_EFFECT, WHY_GHOST, op->effects, op->entity);
    }
    if (op->gave_up && v->no_give_up && !operation_excused(op)) {
        verdict_violate(v, op, CHECK_PROGRESS, WHY_GAVE_UP, op->attempt, 0);
    }
}

void verdict_audit_begin(struct verdict *v, struct operations *ops)
{
    v->rows = 0;
    memcpy(v->live_sum, v->retired_sum, v->entities * sizeof(v->live_sum[0]));
    for (uint32_t i = 0; i < ops->count; i++) {
        operation_audit_begin(ops, ops->slots[i]);
    }
}

void verdict_audit_row(struct verdict *v, struct operations *ops, int64_t row, uint64_t op,
                       uint32_t entity, int64_t amount)
{
    uint32_t slot = (uint32_t)(row >> 16);
    if (slot >= ops->count || ops->slots[slot]->op != op) {
        return; /* of an operation that is forgotten: its effect is in retired_sum */
    }
    operation_audit_row(ops, ops->slots[slot], (uint32_t)(row & EFFECTS_MAX), amount);
    v->rows++;
    if (entity < v->entities) {
        v->live_sum[entity] += amount;
    }
}

void verdict_audit_entity(struct verdict *v, uint32_t entity, int64_t balance)
{
    verdict_count(v, CHECK_STATE_MATCHES_EFFECTS, 1);
    int64_t expected = entity < v->entities ? v->live_sum[entity] : 0;
    if (entity < v->entities) {
        v->live_sum[entity] = 0;
    }
    if (balance != expected) {
        verdict_violate(v, NULL, CHECK_STATE_MATCHES_EFFECTS, WHY_BALANCE, balance - expected,
                        entity);
    }
}

/* An acknowledged operation with no effect left. */
static void judge_durable(struct verdict *v, struct operation *op)
{
    verdict_count(v, CHECK_ACK_IMPLIES_DURABLE, 1);
    if (op->audited == 0 && op->already == 0) {
        verdict_violate(v, op, CHECK_ACK_IMPLIES_DURABLE, WHY_NOT_DURABLE, (int64_t)op->acked_at,
                        (int64_t)v->run->now);
    }
}

void verdict_audit_end(struct verdict *v, struct operations *ops, bool crashed)
{
    for (size_t e = 0; e < v->entities; e++) {
        if (v->live_sum[e] != 0) { /* effects, but no such entity */
            verdict_violate(v, NULL, CHECK_STATE_MATCHES_EFFECTS, WHY_BALANCE, -v->live_sum[e],
                            (int64_t)e);
        }
    }
    for (uint32_t i = 0; i < ops->count; i++) {
        struct operation *op = ops->slots[i];
        if (op->op == 0) {
            continue;
        }
        if (crashed && op->acked_at != 0) {
            judge_durable(v, op);
        }
        if (!crashed && op->effects != op->audited) {
            /* No crash since the last audit, and yet a commit is gone: pages are damaged. */
            verdict_audit_corrupt(v);
        }
        operation_audited(ops, op);
        verdict_committed(v, op);
        verdict_in_order(v, op); /* a commit that the crash cut off, and that the disk has kept */
        if (crashed) {
            verdict_closed(v, op, true);
        }
    }
}

void verdict_audit_corrupt(struct verdict *v)
{
    verdict_count(v, CHECK_STATE_MATCHES_EFFECTS, 1);
    verdict_violate(v, NULL, CHECK_STATE_MATCHES_EFFECTS, WHY_CORRUPT, 0, 0);
}

/* A violation is marked when it becomes certain; how many effects it came to, and what the sender
 * came to believe, is known at the end. */
static void complete(struct verdict *v, const struct operation *op)
{
    for (uint32_t i = 0; i < v->kept && (op->violated & CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)); i++) {
        struct violation *what = &v->violations[i];
        bool external = what->reason == WHY_EXTERNAL;
        if (what->op == op->op && (what->reason == WHY_EFFECTS || external)) {
            what->a = external ? op->external : op->effects_ever;
            what->testimony.effects_late = external ? op->external_late : op->late_ever;
            what->testimony.belief = op->belief;
            what->testimony.closed = op->closed;
            what->testimony.gave_up = op->gave_up;
            what->testimony.closed_at = op->closed_at;
        }
    }
}

/* An operation that is unfinished because faults left none of its attempts alone says nothing of
 * the receiver. */
static void judge_progress(struct verdict *v, struct operation *op)
{
    bool unfinished = !op->closed || (op->gave_up && v->no_give_up);
    if (unfinished && operation_excused(op)) {
        v->unfinishable++;
        return;
    }
    verdict_count(v, CHECK_PROGRESS, 1);
    if (!op->closed) {
        verdict_violate(v, op, CHECK_PROGRESS, WHY_STUCK, op->attempt, 0);
    } else if (op->entries > 0) {
        verdict_violate(v, op, CHECK_PROGRESS, WHY_HELD, op->entries, 0);
    }
}

void verdict_operation(struct verdict *v, struct operation *op)
{
    v->operations++;
    v->repeated += !op->registers && (op->attempt > 1 || op->deliveries > 1 || op->called > 1);
    v->effects += op->effects;
    v->external += op->external;
    v->with_effect += op->effects_ever > 0 || op->external > 0;
    v->doubled += op->effects_ever > 1 || op->external > 1;
    v->late += op->late_ever + op->external_late;
    v->beyond += op->effects_ever > 1 ? op->effects_ever - 1 : 0;
    v->beyond += op->external > 1 ? op->external - 1 : 0;
    verdict_count(v, CHECK_NO_DOUBLE_EFFECT, !op->registers);
    verdict_committed(v, op);
    complete(v, op);
    verdict_count(v, CHECK_NO_LOST_EFFECT, op->belief == BELIEF_DONE && !op->registers);
    verdict_count(v, CHECK_NO_GHOST_EFFECT, op->belief == BELIEF_FAILED && !op->registers);
    judge_progress(v, op);
    verdict_closed(v, op, true);
    if (is_lost(op)) {
        /* whatever is under way comes too late */
        verdict_violate(v, op, CHECK_NO_LOST_EFFECT, WHY_LOST, 0, op->entity);
    }
    judge_not_called(v, op);
    if (op->entity < v->entities) {
        v->retired_sum[op->entity] += op->effects_sum;
    }
}
