/* The heap of moments.
 *
 * In: events with their time. Out: the events in the order of (time, sequence). Keys of 16 bytes
 * move through the heap; the event itself stays in its slot from push to pop. A key holds its slot,
 * and place[] leads from the slot back to the key, for removal by handle.
 *
 * Three things make it fast. A pop leaves the root hollow and the next push, which mostly follows
 * at once, fills it: one way down instead of one down and one up. A hole moves down to a leaf along
 * the least children and the new key climbs up from there: it belongs near the leaves, so this
 * saves the comparisons that a processor guesses wrong. Beyond the last key lie keys that are later
 * than any event, so that four children can always be compared without asking how many there are.
 */
#include "sim/queue.h"

#include <stdlib.h>

#define ARITY 4
#define SLOTS_MAX (UINT32_C(1) << QUEUE_SLOT_BITS)
#define SEQUENCE_MAX (UINT64_C(1) << (64 - QUEUE_SLOT_BITS))

static const struct queue_key later_than_any = {.at = UINT64_MAX, .order = UINT64_MAX};

static uint32_t slot_of(struct queue_key key)
{
    return (uint32_t)key.order & (SLOTS_MAX - 1);
}

/* Compared as one number of 128 bits, which takes no branch: which child is least is as good as
 * random. */
static bool before(const struct queue_key *a, const struct queue_key *b)
{
    return ((unsigned __int128)a->at << 64 | a->order) <
           ((unsigned __int128)b->at << 64 | b->order);
}

static void grow(struct queue *q, uint32_t capacity)
{
    must(capacity > q->capacity && capacity <= SLOTS_MAX);
    q->keys = sim_realloc(q->keys, capacity + ARITY, sizeof(*q->keys));
    q->place = sim_realloc(q->place, capacity, sizeof(*q->place));
    q->generation = sim_realloc(q->generation, capacity, sizeof(*q->generation));
    q->events = sim_realloc(q->events, capacity, sizeof(*q->events));
    q->free_slots = sim_realloc(q->free_slots, capacity, sizeof(*q->free_slots));
    for (uint32_t i = q->count; i < capacity + ARITY; i++) {
        q->keys[i] = later_than_any;
    }
    /* From high to low, so that the lowest slot is taken first. */
    for (uint32_t slot = capacity; slot-- > q->capacity;) {
        q->generation[slot] = 0;
        q->free_slots[q->free_count++] = slot;
    }
    q->capacity = capacity;
}

void queue_init(struct queue *q, uint32_t capacity)
{
    *q = (struct queue){0};
    grow(q, capacity > 0 ? capacity : 1);
}

void queue_fini(struct queue *q)
{
    free(q->keys);
    free(q->place);
    free(q->generation);
    free(q->events);
    free(q->free_slots);
    *q = (struct queue){0};
}

static void put(struct queue_key *keys, uint32_t *place, uint32_t i, struct queue_key key)
{
    keys[i] = key;
    place[slot_of(key)] = i;
}

/* Moves the hole at i up until key may stand in it. */
static void climb(struct queue *q, uint32_t i, struct queue_key key)
{
    struct queue_key *keys = q->keys;
    uint32_t *place = q->place;
    while (i > 0) {
        uint32_t parent = (i - 1) / ARITY;
        if (!before(&key, &keys[parent])) {
            break;
        }
        put(keys, place, i, keys[parent]);
        i = parent;
    }
    put(keys, place, i, key);
}

/* Which of the four keys that begin at first is the least. */
static uint32_t least_of_four(const struct queue_key *keys, uint32_t first)
{
    uint32_t a = first + before(&keys[first + 1], &keys[first]);
    uint32_t b = first + 2 + before(&keys[first + 3], &keys[first + 2]);
    uint32_t choose_b = -(uint32_t)before(&keys[b], &keys[a]);
    return (b & choose_b) | (a & ~choose_b);
}

/* Moves the hole at i down to a leaf and returns where it then is. */
static uint32_t sink(struct queue *q, uint32_t i)
{
    struct queue_key *keys = q->keys;
    uint32_t *place = q->place;
    uint32_t count = q->count;
    for (uint32_t first; (first = i * ARITY + 1) < count;) {
        uint32_t least = least_of_four(keys, first);
        put(keys, place, i, keys[least]);
        i = least;
    }
    return i;
}

/* Fills the hole at i with the last key. */
static void close_hole(struct queue *q, uint32_t i)
{
    uint32_t last = --q->count;
    struct queue_key key = q->keys[last];
    q->keys[last] = later_than_any;
    if (i != last) {
        climb(q, sink(q, i), key);
    }
}

static void close_root(struct queue *q)
{
    if (q->hollow) {
        q->hollow = false;
        close_hole(q, 0);
    }
}

static void free_slot(struct queue *q, uint32_t slot)
{
    q->generation[slot]++;
    q->free_slots[q->free_count++] = slot;
}

void queue_reset(struct queue *q)
{
    close_root(q);
    while (q->count > 0) {
        uint32_t last = --q->count;
        free_slot(q, slot_of(q->keys[last]));
        q->keys[last] = later_than_any;
    }
    q->next_seq = 0;
}

struct queue_handle queue_push(struct queue *q, uint64_t at, const struct event *e)
{
    must(at <= SIM_TIME_MAX && q->next_seq < SEQUENCE_MAX);
    if (q->free_count == 0) {
        grow(q, 2 * q->capacity);
    }
    uint32_t slot = q->free_slots[--q->free_count];
    q->events[slot] = *e;
    struct queue_key key = {.at = at, .order = q->next_seq++ << QUEUE_SLOT_BITS | slot};
    if (q->hollow) {
        q->hollow = false;
        climb(q, sink(q, 0), key);
    } else {
        climb(q, q->count++, key);
    }
    return (struct queue_handle){.slot = slot + 1, .generation = q->generation[slot]};
}

bool queue_pop(struct queue *q, uint64_t *at, struct event *e)
{
    close_root(q);
    if (q->count == 0) {
        return false;
    }
    uint32_t slot = slot_of(q->keys[0]);
    *at = q->keys[0].at;
    *e = q->events[slot];
    free_slot(q, slot);
    q->hollow = true;
    return true;
}

bool queue_remove(struct queue *q, struct queue_handle h)
{
    uint32_t slot = h.slot - 1;
    if (h.slot == 0 || h.slot > q->capacity || q->generation[slot] != h.generation) {
        return false;
    }
    close_root(q);
    close_hole(q, q->place[slot]);
    free_slot(q, slot);
    return true;
}

bool queue_peek(const struct queue *q, uint64_t *at)
{
    if (queue_count(q) == 0) {
        return false;
    }
    *at = q->keys[q->hollow ? least_of_four(q->keys, 1) : 0].at;
    return true;
}
