/* SQLite's allocator over arenas (arena.h).
 *
 * In: SQLite's calls of malloc, realloc and free, which carry no context; they go to the arena in
 * use. Out: blocks inside that arena's mapping. A block is a header of 8 bytes and a payload that
 * is aligned to 8. Freed blocks go to a list of their size class and never to a neighbour or back
 * to the system: SQLite asks for few sizes, again and again.
 *
 * Everything that an allocation depends on is the bytes below `used` and `used` itself, so a copy
 * of both is a complete image, valid at this mapping's address.
 */
#include "sim/arena.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blocks (header included) up to SMALL_MAX are multiples of 16 bytes; above, each power of two is
 * cut in STEPS classes, so that rounding wastes less than an eighth. */
#define SMALL_MAX 1024
#define SMALL_CLASSES (SMALL_MAX / 16)
#define STEPS_LOG 3
#define LARGE_FROM_LOG 10
#define LARGE_TO_LOG 32
#define CLASSES (SMALL_CLASSES + ((LARGE_TO_LOG - LARGE_FROM_LOG) << STEPS_LOG))

#define BASE_RESERVE ((size_t)16 << 30)
#define RESERVE_MIN ((size_t)1 << 20)
/* Address space is opened for use in such steps: what is not open costs nothing, not even under
 * valgrind, which reads all that can be read when it looks for leaks. */
#define OPEN_STEP ((size_t)1 << 20)

struct block {
    uint32_t bytes; /* of the payload */
    uint16_t class;
    uint16_t state;
    struct block *next; /* payload from here; a link only while the block is free */
};
#define HEADER offsetof(struct block, next)
#define BLOCK_USED 0x5aa5
#define BLOCK_FREE 0x0ff0

/* First in the mapping. */
struct lists {
    struct block *free[CLASSES];
};

static struct arena base_arena;
static struct arena *in_use = &base_arena;

/* The class whose blocks hold n payload bytes; *bytes becomes what they hold. */
static inline size_t class_of(size_t n, size_t *bytes)
{
    size_t block = n + HEADER;
    if (block <= SMALL_MAX) {
        size_t class = (block - 1) >> 4;
        *bytes = ((class + 1) << 4) - HEADER;
        return class;
    }
    size_t log = 63 - (size_t)__builtin_clzll(block - 1);
    size_t shift = log - STEPS_LOG;
    size_t step = ((block - 1) >> shift) - (1 << STEPS_LOG); /* 0 .. 2^STEPS_LOG - 1 */
    *bytes = ((step + 1 + (1 << STEPS_LOG)) << shift) - HEADER;
    return SMALL_CLASSES + ((log - LARGE_FROM_LOG) << STEPS_LOG) + step;
}

/* Ends the program when p is no block of the arena in use: then a host's memory was handed to
 * another host, or to code outside the simulation. */
static inline struct block *block_of(void *p)
{
    must((uintptr_t)p - (uintptr_t)in_use->base < in_use->used);
    struct block *b = (struct block *)(void *)((unsigned char *)p - HEADER);
    must(b->state == BLOCK_USED);
    return b;
}

/* Makes at least `bytes` of the mapping usable, and half as much again. False: there is no more. */
static __attribute__((noinline)) bool arena_open(struct arena *a, size_t bytes)
{
    size_t opened = (bytes + bytes / 2 + OPEN_STEP - 1) / OPEN_STEP * OPEN_STEP;
    if (opened > a->reserved) {
        opened = a->reserved;
    }
    if (bytes > opened || mprotect(a->base, opened, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    a->opened = opened;
    return true;
}

static void *arena_malloc(int n)
{
    struct arena *a = in_use;
    struct lists *lists = (struct lists *)(void *)a->base;
    size_t bytes;
    size_t class = class_of((size_t)n, &bytes);
    struct block *b = lists->free[class];
    if (b != NULL) {
        lists->free[class] = b->next;
    } else {
        if (bytes + HEADER > a->opened - a->used && !arena_open(a, a->used + bytes + HEADER)) {
            return NULL;
        }
        b = (struct block *)(void *)(a->base + a->used);
        a->used += bytes + HEADER;
        b->bytes = (uint32_t)bytes;
        b->class = (uint16_t) class;
    }
    b->state = BLOCK_USED;
    return &b->next;
}

static void arena_free(void *p)
{
    if (p == NULL) {
        return;
    }
    struct block *b = block_of(p);
    struct lists *lists = (struct lists *)(void *)in_use->base;
    b->state = BLOCK_FREE;
    b->next = lists->free[b->class];
    lists->free[b->class] = b;
}

static void *arena_realloc(void *old, int n)
{
    struct block *b = block_of(old);
    if ((size_t)n <= b->bytes) {
        return old;
    }
    void *p = arena_malloc(n);
    if (p != NULL) {
        memcpy(p, old, b->bytes);
        arena_free(old);
    }
    return p;
}

static int arena_size(void *p)
{
    return p == NULL ? 0 : (int)block_of(p)->bytes;
}

static int arena_roundup(int n)
{
    size_t bytes;
    class_of((size_t)n, &bytes);
    return (int)bytes;
}

static int arena_start(void *context)
{
    (void)context;
    return SQLITE_OK;
}

static void arena_stop(void *context)
{
    (void)context;
}

enum sim_error arena_install(void)
{
    static const sqlite3_mem_methods methods = {arena_malloc, arena_free,    arena_realloc,
                                                arena_size,   arena_roundup, arena_start,
                                                arena_stop,   NULL};
    if (base_arena.base != NULL) {
        return SIM_OK;
    }
    arena_init(&base_arena, BASE_RESERVE);
    /* Statement journals stay in memory: the simulated disk has no temporary files. */
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK ||
        /* No pages in advance: they would be part of every image. */
        sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1) != SQLITE_OK ||
        sqlite3_initialize() != SQLITE_OK) {
        arena_fini(&base_arena);
        return SIM_ERR_STORE;
    }
    return SIM_OK;
}

void arena_init(struct arena *a, size_t reserve_bytes)
{
    must(reserve_bytes >= RESERVE_MIN);
    void *p = MAP_FAILED;
    /* A limit on address space is no reason to fail: SQLite reports it if the rest is too small. */
    for (size_t bytes = reserve_bytes; p == MAP_FAILED && bytes >= RESERVE_MIN; bytes /= 2) {
        a->reserved = bytes;
        p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    must(p != MAP_FAILED);
    a->base = p;
    a->opened = 0;
    a->used = (sizeof(struct lists) + 15) & ~(size_t)15;
    must(arena_open(a, a->used));
}

void arena_fini(struct arena *a)
{
    if (a->base == NULL) {
        return;
    }
    must(in_use != a || a == &base_arena);
    must(munmap(a->base, a->reserved) == 0);
    *a = (struct arena){0};
}

struct arena *arena_use(struct arena *a)
{
    struct arena *before = in_use;
    in_use = a != NULL ? a : &base_arena;
    must(in_use->base != NULL);
    return before == &base_arena ? NULL : before;
}

void arena_save(const struct arena *a, struct arena_image *image)
{
    image->used = a->used;
    image->bytes = sim_alloc(a->used);
    memcpy(image->bytes, a->base, a->used);
}

void arena_restore(struct arena *a, const struct arena_image *image)
{
    must(image->bytes != NULL && image->used <= a->opened);
    memcpy(a->base, image->bytes, image->used);
    a->used = image->used;
}

void arena_image_fini(struct arena_image *image)
{
    free(image->bytes);
    *image = (struct arena_image){0};
}
