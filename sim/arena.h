/* All memory of SQLite, in arenas that can be copied away and put back.
 *
 * SQLite's allocator is global, so each allocation goes to the arena "in use". A host switches to
 * its own arena before it runs anything of SQLite's; with the disk beside it, a copy of that arena
 * is the image of a process: connections, prepared statements and caches. Putting it back costs
 * one memcpy and is how a world is reset and how a crashed process starts again.
 * (SQLITE_CONFIG_MALLOC: https://www.sqlite.org/c3ref/c_config_covering_index_scan.html)
 *
 * Owns: its mapping. Images are owned by whoever saved them.
 */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include "sim/base.h"

struct arena {
    unsigned char *base; /* mapping; NULL before arena_init */
    size_t reserved;     /* bytes of address space; memory is taken when touched */
    size_t opened;       /* bytes of it that may be touched; never less than before */
    size_t used;         /* all allocations ever made lie below this offset */
    /* The heads of the free lists live inside the mapping, so that an image holds them. */
};

struct arena_image {
    unsigned char *bytes;
    size_t used;
};

/* Configures SQLite once for the process: this allocator, single thread, memory statistics off.
 * Calls sqlite3_initialize with the base arena in use. Safe to call again. */
enum sim_error arena_install(void);

/* Takes less if there is not so much address space; SQLite reports the end of an arena as
 * SQLITE_NOMEM. */
void arena_init(struct arena *a, size_t reserve_bytes);
void arena_fini(struct arena *a);

/* Makes a the arena of every following SQLite call; NULL means the base arena, which is never put
 * back and serves results and everything outside the simulation. Returns the one before. */
struct arena *arena_use(struct arena *a);

/* Copies the arena's state. What image held before is overwritten, not freed; arena_image_fini
 * frees it. An image fits its own arena only: it is full of addresses. */
void arena_save(const struct arena *a, struct arena_image *image);
void arena_restore(struct arena *a, const struct arena_image *image);
void arena_image_fini(struct arena_image *image);

#endif
