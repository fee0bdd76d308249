/* Blocks of records, hashed when full.
 *
 * In: records, one by one. Out: the hash of all of them. A full block is hashed with the hash of
 * all blocks before it as seed, so the result depends on the records and their order alone: not on
 * whether they are kept, and not on how often somebody asked for the hash on the way.
 */
#include "sim/history.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void history_init(struct history *h)
{
    *h = (struct history){.hash = HISTORY_EPOCH};
    h->block = sim_alloc(HISTORY_BLOCK * sizeof(*h->block));
}

void history_fini(struct history *h)
{
    free(h->block);
    free(h->kept);
    *h = (struct history){0};
}

void history_reset(struct history *h, bool keep)
{
    h->in_block = 0;
    h->hash = HISTORY_EPOCH;
    h->count = 0;
    h->keep = keep;
}

/* Copies the block's records to their place among the kept ones. */
static void keep_block(struct history *h)
{
    if (h->count > h->kept_capacity || h->kept == NULL) {
        size_t capacity = 2 * h->kept_capacity;
        h->kept_capacity = capacity < h->count ? (size_t)h->count : capacity;
        h->kept = sim_realloc(h->kept, h->kept_capacity, sizeof(*h->kept));
    }
    if (h->in_block > 0) {
        memcpy(h->kept + (h->count - h->in_block), h->block, h->in_block * sizeof(*h->block));
    }
}

static uint64_t hash_block(const struct history *h)
{
    return XXH3_64bits_withSeed(h->block, h->in_block * sizeof(*h->block), h->hash);
}

void history_flush_block(struct history *h)
{
    if (h->keep) {
        keep_block(h);
    }
    h->hash = hash_block(h);
    h->in_block = 0;
}

uint64_t history_hash(const struct history *h)
{
    return hash_block(h);
}

const struct record *history_records(struct history *h, size_t *count)
{
    must(h->keep);
    keep_block(h);
    *count = (size_t)h->count;
    return h->kept;
}

const char *record_kind_text(enum record_kind k)
{
    switch (k) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        RECORD_KINDS(X)
#undef X
    }
    return "unknown";
}
