#include "sim/operation.h"

#include <stdlib.h>
#include <string.h>

const char *belief_text(enum belief b)
{
    switch (b) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        BELIEFS(X)
#undef X
    }
    return "?";
}

void operations_init(struct operations *o)
{
    memset(o, 0, sizeof(*o));
}

void operations_fini(struct operations *o)
{
    for (uint32_t i = 0; i < o->capacity; i++) {
        free(o->slots[i]->arrivals);
        free(o->slots[i]->calls);
        free(o->slots[i]->others);
        free(o->slots[i]);
    }
    free(o->slots);
    free(o->free_slots);
    memset(o, 0, sizeof(*o));
}

void operations_reset(struct operations *o)
{
    o->count = 0;
    o->free_count = 0;
    o->open = 0;
    o->in_flight = 0;
    o->troubled_until = 0;
    o->window = 0;
}

static void grow(struct operations *o)
{
    uint32_t capacity = o->capacity ? 2 * o->capacity : 16;
    o->slots = sim_realloc(o->slots, capacity, sizeof(o->slots[0]));
    o->free_slots = sim_realloc(o->free_slots, capacity, sizeof(o->free_slots[0]));
    for (uint32_t i = o->capacity; i < capacity; i++) {
        o->slots[i] = sim_zalloc(1, sizeof(*o->slots[i]));
    }
    o->capacity = capacity;
}

struct operation *operations_open(struct operations *o, uint64_t op, uint64_t op_hash)
{
    must(op != 0);
    uint32_t slot;
    if (o->free_count > 0) {
        slot = o->free_slots[--o->free_count];
    } else {
        if (o->count == o->capacity) {
            grow(o);
        }
        slot = o->count++;
    }
    struct operation *p = o->slots[slot];
    memset(p, 0, offsetof(struct operation, key));
    p->key[0] = '\0';
    p->op = op;
    p->op_hash = op_hash;
    p->slot = slot;
    o->open++;
    return p;
}

void operation_sent(struct operation *op)
{
    op->waits = true;
    op->met_fault = op->late = false;
}

void operation_waited(const struct operations *o, struct operation *op)
{
    if (!op->waits) {
        return;
    }
    op->waits = false;
    if (op->met_fault || o->troubled_until >= op->last_sent) {
        op->hindered++;
    } else if (op->fair_attempt == 0) {
        op->fair_attempt = op->attempt;
    }
}

uint32_t operation_effect_begun(const struct operations *o, struct operation *op, uint64_t arrived)
{
    must(op->effects_begun < EFFECTS_MAX);
    uint32_t nth = ++op->effects_begun;
    if (o->window == 0) {
        return nth;
    }
    if (nth > op->arrivals_capacity) {
        op->arrivals_capacity = op->arrivals_capacity ? 2 * op->arrivals_capacity : 4;
        op->arrivals = sim_realloc(op->arrivals, op->arrivals_capacity, sizeof(op->arrivals[0]));
    }
    op->arrivals[nth - 1] = arrived;
    return nth;
}

static uint32_t more(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void tell_effect(struct operation *op, struct occasion when)
{
    for (size_t i = 0; i < EFFECTS_TOLD; i++) {
        if (op->effect_at[i].at == 0) {
            op->effect_at[i] = when;
            return;
        }
    }
}

void operation_committed(const struct operations *o, struct operation *op, uint32_t effects,
                         int64_t sum, uint64_t arrived, struct occasion when)
{
    if (effects == 0) {
        return;
    }
    if (op->effects == 0) {
        op->accepted_at = arrived;
    }
    for (uint32_t i = 0; i < effects && i < EFFECTS_TOLD; i++) {
        tell_effect(op, when);
    }
    op->effects_late += operation_late(o, op, arrived) ? effects : 0;
    op->effects += effects;
    op->effects_sum += sum;
    op->effects_ever = more(op->effects, op->effects_ever);
    op->late_ever = more(op->effects_late, op->late_ever);
}

void operation_already(struct operation *op, uint32_t sets)
{
    op->already += op->effects == 0 ? sets : 0;
}

uint16_t operation_call(struct operation *op, unsigned attempt)
{
    must(attempt > 0);
    if (attempt > op->calls_capacity) {
        op->calls_capacity = attempt > 4 ? 2 * attempt : 4;
        op->calls = sim_realloc(op->calls, op->calls_capacity, sizeof(op->calls[0]));
    }
    while (op->calls_known < attempt) {
        op->calls[op->calls_known++] = 0;
    }
    must(op->calls[attempt - 1] < UINT16_MAX);
    return ++op->calls[attempt - 1];
}

uint32_t operation_external(const struct operations *o, struct operation *op, struct occasion when,
                            uint16_t echo)
{
    must(op->external < EFFECTS_MAX);
    if (op->external == 0) {
        op->external_first = when.at;
    } else if (o->window > 0 && when.at >= op->external_first + o->window) {
        op->external_late++;
    }
    if (op->external < EFFECTS_TOLD) {
        op->external_at[op->external] = when;
        op->external_echo[op->external] = echo;
    }
    return ++op->external;
}

/* Marks an arrival whose effect the audit has found; no time in a world is so late. */
#define FOUND (UINT64_C(1) << 63)

void operation_audit_begin(const struct operations *o, struct operation *op)
{
    op->audited = 0;
    op->audited_sum = 0;
    for (uint32_t i = 0; o->window > 0 && op->op != 0 && i < op->effects_begun; i++) {
        op->arrivals[i] &= ~FOUND; /* of an audit that could not be ended */
    }
}

void operation_audit_row(const struct operations *o, struct operation *op, uint32_t nth,
                         int64_t amount)
{
    op->audited++;
    op->audited_sum += amount;
    if (o->window > 0 && nth >= 1 && nth <= op->effects_begun) {
        op->arrivals[nth - 1] |= FOUND;
    }
}

/* Of the effects that the disk holds: which delivery came first, and which are late against it. */
static void date_effects(const struct operations *o, struct operation *op)
{
    uint64_t first = SIM_TIME_MAX;
    bool kept = false;
    for (uint32_t i = 0; i < op->effects_begun; i++) {
        uint64_t arrived = op->arrivals[i] & ~FOUND;
        if (arrived != op->arrivals[i]) {
            kept |= op->effects > 0 && arrived == op->accepted_at;
            first = arrived < first ? arrived : first;
        }
    }
    op->accepted_at = kept ? op->accepted_at : first;
    op->effects_late = 0;
    for (uint32_t i = 0; i < op->effects_begun; i++) {
        uint64_t arrived = op->arrivals[i] & ~FOUND;
        op->effects_late += arrived != op->arrivals[i] && arrived >= op->accepted_at + o->window;
        op->arrivals[i] = arrived;
    }
    op->late_ever = more(op->effects_late, op->late_ever);
}

void operation_audited(const struct operations *o, struct operation *op)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < EFFECTS_TOLD; i++) {
        if (i >= op->audited) {
            op->effect_at[i] = (struct occasion){0};
        }
        known += op->effect_at[i].at != 0;
    }
    if (known < op->audited && op->dying.at != 0) {
        tell_effect(op, op->dying);
    }
    op->dying = (struct occasion){0};
    if (o->window > 0) {
        date_effects(o, op);
    }
    op->effects = op->audited;
    op->effects_sum = op->audited_sum;
    op->effects_ever = more(op->effects, op->effects_ever);
}

void operations_release(struct operations *o, struct operation *p)
{
    must(p->closed && p->in_flight == 0);
    p->op = 0;
    o->free_slots[o->free_count++] = p->slot;
}
