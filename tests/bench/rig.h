/* Scenarios and bare loops that the benchmarks share. */
#ifndef BENCH_RIG_H
#define BENCH_RIG_H

#include "sim/scenario.h"
#include "sim/world.h"

#include <sqlite3.h>

/* Parses text that must be right. */
void rig_scenario(const char *text, struct scenario *s);
struct world *rig_world(const struct scenario *s, size_t receiver);
/* Plays seed 1 and checks that it passed unless `any`. Returns the operations. */
uint64_t rig_play(struct world *w, bool any);

/* A bare loop over the statements that the receiver `table` runs for a fresh message: begin, id,
 * ledger row, balance, commit. vfs: NULL for ":memory:" with its default page size, else a database
 * of page size 1024 on that VFS, journal truncate, synchronous full. */
struct bare {
    sqlite3 *db;
    sqlite3_stmt *begin, *id, *ledger, *update, *insert, *commit, *rollback;
    uint64_t next;
    uint32_t entities;
};
void bare_open(struct bare *b, const char *vfs, uint32_t entities);
void bare_close(struct bare *b);
void bare_fresh(struct bare *b, uint64_t messages);
/* What `table` runs for a duplicate of the latest fresh message: begin, id refused, rollback. */
void bare_duplicate(struct bare *b, uint64_t messages);

#endif
