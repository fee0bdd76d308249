/* The entries of a broker: slots, and two lists in the order of the queue.
 *
 * An entry that is delivered again takes the place that it had. With an order, an entry waits while
 * another one of its entity or group is hidden; those that become visible go by position, so that
 * within a group nothing overtakes.
 */
#include "sim/broker_internal.h"

void entries_reset(struct broker *b)
{
    b->count = 0;
    b->free = BROKER_NO_ENTRY;
    b->ready = b->hidden = (struct entry_list){BROKER_NO_ENTRY, BROKER_NO_ENTRY};
}

uint32_t entry_new(struct broker *b)
{
    uint32_t e = b->free, generation = 0;
    if (e != BROKER_NO_ENTRY) {
        b->free = b->entries[e].next;
        generation = b->entries[e].generation + 1;
    } else {
        if (b->count == b->capacity) {
            b->capacity = b->capacity ? 2 * b->capacity : 16;
            must(b->capacity <= TICKET_ENTRIES);
            b->entries = sim_realloc(b->entries, b->capacity, sizeof(b->entries[0]));
        }
        e = b->count++;
    }
    b->entries[e] = (struct entry){.generation = generation & (TICKET_ENTRIES - 1),
                                   .next = BROKER_NO_ENTRY,
                                   .last = BROKER_NO_ENTRY};
    return e;
}

void entry_free(struct broker *b, uint32_t e)
{
    b->entries[e].state = ENTRY_FREE;
    b->entries[e].next = b->free;
    b->free = e;
}

/* From the end: most are new. */
void entry_insert(struct broker *b, struct entry_list *l, uint32_t e)
{
    struct entry *all = b->entries;
    uint32_t after = l->last;
    while (after != BROKER_NO_ENTRY && all[after].position > all[e].position) {
        after = all[after].last;
    }
    uint32_t before = after != BROKER_NO_ENTRY ? all[after].next : l->first;
    all[e].last = after;
    all[e].next = before;
    *(after != BROKER_NO_ENTRY ? &all[after].next : &l->first) = e;
    *(before != BROKER_NO_ENTRY ? &all[before].last : &l->last) = e;
}

void entry_remove(struct broker *b, struct entry_list *l, uint32_t e)
{
    struct entry *all = b->entries;
    uint32_t before = all[e].last, after = all[e].next;
    *(before != BROKER_NO_ENTRY ? &all[before].next : &l->first) = after;
    *(after != BROKER_NO_ENTRY ? &all[after].last : &l->last) = before;
}

struct entry *entry_named(const struct broker *b, int64_t ticket)
{
    must(ticket_entry(ticket) < b->count);
    struct entry *e = &b->entries[ticket_entry(ticket)];
    return e->state != ENTRY_FREE && e->generation == ticket_generation(ticket) ? e : NULL;
}

bool entry_has_key(const struct broker *b, uint64_t key)
{
    const struct entry_list *const lists[] = {&b->ready, &b->hidden};
    for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
        for (uint32_t i = lists[l]->first; i != BROKER_NO_ENTRY; i = b->entries[i].next) {
            if (b->entries[i].key == key) {
                return true;
            }
        }
    }
    return false;
}

static bool blocked(const struct broker *b, const struct entry *e)
{
    if (e->group == 0) {
        return false;
    }
    for (uint32_t i = b->hidden.first; i != BROKER_NO_ENTRY; i = b->entries[i].next) {
        if (b->entries[i].group == e->group) {
            return true;
        }
    }
    return false;
}

uint32_t entry_deliverable(const struct broker *b)
{
    if (b->in_flight >= b->prefetch) {
        return BROKER_NO_ENTRY;
    }
    uint32_t e = b->ready.first;
    while (e != BROKER_NO_ENTRY && blocked(b, &b->entries[e])) {
        e = b->entries[e].next;
    }
    return e;
}
