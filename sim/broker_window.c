/* The send side's memory: keys that a broker has accepted, each until its window is over, or while
 * an entry has it.
 *
 * In: the hash of a key, 0 for none, at the present moment. Out: whether it is kept out; what has
 * no key never is. A window begins when a key is accepted and is not renewed by a duplicate. Keys
 * whose window is over are dropped when the table grows.
 */
#include "sim/broker_internal.h"

#include <stdlib.h>
#include <string.h>

void window_reset(struct broker *b)
{
    b->window_count = 0;
    if (b->window != NULL) {
        memset(b->window, 0, b->window_capacity * sizeof(b->window[0]));
    }
}

static bool open_still(const struct broker *b, const struct accepted *a)
{
    return a->key != 0 && b->run->now - a->at < b->config->duplicate_window;
}

static struct accepted *place_of(struct accepted *table, uint32_t capacity, uint64_t key)
{
    uint32_t i = (uint32_t)key & (capacity - 1);
    while (table[i].key != 0 && table[i].key != key) {
        i = (i + 1) & (capacity - 1);
    }
    return &table[i];
}

static void grow(struct broker *b)
{
    struct accepted *old = b->window;
    uint32_t old_capacity = b->window_capacity, live = 0;
    for (uint32_t i = 0; i < old_capacity; i++) {
        live += open_still(b, &old[i]);
    }
    uint32_t capacity = 64;
    while (capacity < 4 * live) {
        capacity *= 2;
    }
    b->window = sim_zalloc(capacity, sizeof(b->window[0]));
    b->window_capacity = capacity;
    b->window_count = live;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (open_still(b, &old[i])) {
            *place_of(b->window, capacity, old[i].key) = old[i];
        }
    }
    free(old);
}

bool window_keeps_out(struct broker *b, uint64_t key)
{
    if (b->config->while_queued) {
        return key != 0 && entry_has_key(b, key);
    }
    if (b->config->duplicate_window == 0 || key == 0) {
        return false;
    }
    if (2 * (b->window_count + 1) > b->window_capacity) {
        grow(b);
    }
    struct accepted *a = place_of(b->window, b->window_capacity, key);
    if (open_still(b, a)) {
        return true;
    }
    b->window_count += a->key == 0;
    *a = (struct accepted){key, b->run->now};
    return false;
}
