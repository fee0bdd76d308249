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

void operation_effect_committed(struct operation *op, struct occasion when)
{
    for (size_t i = 0; i < EFFECTS_TOLD; i++) {
        if (op->effect_at[i].at == 0) {
            op->effect_at[i] = when;
            return;
        }
    }
}

void operation_audited(struct operation *op)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < EFFECTS_TOLD; i++) {
        if (i >= op->audited) {
            op->effect_at[i] = (struct occasion){0};
        }
        known += op->effect_at[i].at != 0;
    }
    if (known < op->audited && op->dying.at != 0) {
        operation_effect_committed(op, op->dying);
    }
    op->dying = (struct occasion){0};
    op->effects = op->audited;
    op->effects_ever = op->effects > op->effects_ever ? op->effects : op->effects_ever;
}

void operations_release(struct operations *o, struct operation *p)
{
    must(p->closed && p->in_flight == 0);
    p->op = 0;
    o->free_slots[o->free_count++] = p->slot;
}
