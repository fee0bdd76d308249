/* Reads the ledger from a copy of the disk, so that the receiver's locks and journals stay its own.
 *
 * In: a host's disk as it is now. Out: its ledger rows and balances, told to the verdict. SQLite
 * recovers the copy from whatever journal a crash left.
 *
 * Owns: a second disk with an arena and one connection on it.
 */
#ifndef SIM_AUDITOR_H
#define SIM_AUDITOR_H

#include "sim/arena.h"
#include "sim/disk.h"
#include "sim/verdict.h"

struct auditor {
    struct arena arena;
    struct arena_image just_opened;
    struct disk *disk;
    sqlite3 *db;
    sqlite3_stmt *rows, *entities;
    sqlite3_stmt *records, *unowned; /* counts of the receiver's table; NULL: there is none */
};

/* like: a disk that holds the schema; the copy is opened once on it. keeping: the receiver's, or
 * NULL. */
enum sim_error auditor_init(struct auditor *a, const char *vfs_name, const struct disk *like,
                            const struct keeping *keeping, FILE *errors);
void auditor_fini(struct auditor *a);
/* One audit: see verdict_audit_begin. */
void auditor_read(struct auditor *a, const struct disk *of, struct verdict *v,
                  struct operations *ops, bool crashed);

/* How many records the receiver keeps, and how many of them nothing will ever end. */
struct record_counts {
    bool known; /* false: it says of no table, or the database cannot be read */
    uint64_t records, unowned;
};
/* Of a host's disk as it is now; of NULL: of the copy that the latest audit read. */
struct record_counts auditor_count(struct auditor *a, const struct disk *of);

#endif
