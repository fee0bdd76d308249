/* The checks on order and on what is told downstream.
 *
 * in-order: an operation's first effect is held against the latest operation of the same sender
 * that has had one on the same entity. Which one that is lies in a hash table that is only probed,
 * never walked, so that no order of it reaches a history.
 *
 * emitted-once: an operation with an effect has a follow-on that arrived downstream, and all that
 * arrived of it had one id; an operation without one has none that arrived. A set that found its
 * value there may tell downstream or not; a registration is nobody's business there.
 */
#include "sim/verdict_internal.h"

#include <stdlib.h>

static struct latest *find(struct latest *table, size_t capacity, uint64_t key)
{
    uint64_t x = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(x ^ x >> 32) & (capacity - 1);
    while (table[i].key != 0 && table[i].key != key) {
        i = (i + 1) & (capacity - 1);
    }
    return &table[i];
}

static void grow(struct verdict *v)
{
    size_t capacity = v->latest_capacity ? 2 * v->latest_capacity : 64;
    struct latest *bigger = sim_zalloc(capacity, sizeof(*bigger));
    for (size_t i = 0; i < v->latest_capacity; i++) {
        if (v->latest[i].key != 0) {
            *find(bigger, capacity, v->latest[i].key) = v->latest[i];
        }
    }
    free(v->latest);
    v->latest = bigger;
    v->latest_capacity = capacity;
}

void verdict_in_order(struct verdict *v, struct operation *op)
{
    if (!(v->checks & CHECK_BIT(CHECK_IN_ORDER)) || op->ordered || op->effects == 0) {
        return;
    }
    op->ordered = true;
    verdict_count(v, CHECK_IN_ORDER, 1);
    if (2 * v->latest_count >= v->latest_capacity) {
        grow(v);
    }
    bool follow = op_is_follow(op->op);
    uint64_t of = follow ? op_parent(op->op) : op->op;
    struct latest *l = find(v->latest, v->latest_capacity,
                            (uint64_t)op_sender(of) << 32 | ((uint64_t)op->entity + 1));
    if (l->key == 0) {
        l->key = (uint64_t)op_sender(of) << 32 | ((uint64_t)op->entity + 1);
        v->latest_count++;
    }
    /* A list's order is not that of sending where messages have times of their own. */
    uint64_t began = follow ? op->began : op->first_sent;
    if (l->began > began || (l->began == began && l->number > op_number(of))) {
        uint64_t later = op_make(op_sender(of), l->number);
        verdict_violate(v, op, CHECK_IN_ORDER, WHY_OUT_OF_ORDER,
                        (int64_t)(follow ? op_follow(later) : later), op->entity);
        return;
    }
    l->number = op_number(of);
    l->began = began;
}

void verdict_emitted(struct verdict *v, struct operation *op, const struct operation *follow)
{
    bool arrived = follow != NULL && follow->deliveries > 0;
    unsigned ids = follow != NULL ? (unsigned)__builtin_popcount(follow->ids_arrived) : 0;
    if (op->registers || (op->effects == 0 && !arrived)) {
        return;
    }
    verdict_count(v, CHECK_EMITTED_ONCE, 1);
    if (!arrived) {
        verdict_violate(v, op, CHECK_EMITTED_ONCE, WHY_NOT_EMITTED, 0, op->entity);
    } else if (operation_effect_missing(op)) {
        verdict_violate(v, op, CHECK_EMITTED_ONCE, WHY_UNFOUNDED, 0, op->entity);
    } else if (ids > 1) {
        verdict_violate(v, op, CHECK_EMITTED_ONCE, WHY_TWO_IDS, ids, op->entity);
    }
}
