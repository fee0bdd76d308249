/* Names with a number each: put and found again in constant time.
 *
 * In: names of any bytes. Out: their entries, in the order in which they came. The table of slots
 * is never more than half full.
 */
#include "sim/scenario_internal.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(const struct name_table *t, const char *name, size_t len)
{
    size_t slot = rng_name(name, len) & (t->slot_count - 1);
    while (t->slots[slot] != 0) {
        const struct name_entry *e = &t->entries[t->slots[slot] - 1];
        if (e->len == len && memcmp(e->name, name, len) == 0) {
            break;
        }
        slot = (slot + 1) & (t->slot_count - 1);
    }
    return slot;
}

static void grow(struct name_table *t)
{
    t->capacity = t->capacity > 0 ? 2 * t->capacity : 16;
    t->entries = sim_realloc(t->entries, t->capacity, sizeof(*t->entries));
    t->slot_count = 2 * t->capacity;
    free(t->slots);
    t->slots = sim_zalloc(t->slot_count, sizeof(*t->slots));
    for (size_t i = 0; i < t->count; i++) {
        t->slots[slot_of(t, t->entries[i].name, t->entries[i].len)] = (uint32_t)i + 1;
    }
}

struct name_entry *name_table_put(struct name_table *t, const char *name, size_t len,
                                  uint64_t value, bool *is_new)
{
    if (t->count == t->capacity) {
        grow(t);
    }
    size_t slot = slot_of(t, name, len);
    *is_new = t->slots[slot] == 0;
    if (*is_new) {
        t->entries[t->count++] = (struct name_entry){sim_strndup(name, len), len, value};
        t->slots[slot] = (uint32_t)t->count;
    }
    return &t->entries[t->slots[slot] - 1];
}

const struct name_entry *name_table_find(const struct name_table *t, const char *name, size_t len)
{
    if (t->count == 0) {
        return NULL;
    }
    uint32_t place = t->slots[slot_of(t, name, len)];
    return place > 0 ? &t->entries[place - 1] : NULL;
}

void name_table_fini(struct name_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->entries[i].name);
    }
    free(t->entries);
    free(t->slots);
    *t = (struct name_table){0};
}
