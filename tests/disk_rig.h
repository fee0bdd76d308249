/* A disk with SQLite connections on it, for tests: three transactions that can be cut short at any
 * operation, and questions about what is there afterwards.
 *
 * In: a setting (journal mode, synchronous, what the disk claims). Out: the state of a "process
 * just started", to which rig_reset returns, and readings as plain numbers or text.
 */
#ifndef TESTS_DISK_RIG_H
#define TESTS_DISK_RIG_H

#include "sim/arena.h"
#include "sim/disk.h"

#define RIG_CONNECTIONS 2
#define RIG_TEXT 512

struct rig_setting {
    const char *journal;
    const char *synchronous;
    int claims; /* SQLITE_IOCAP_ flags */
    bool lying;
    int connections;
};

struct rig_connection {
    sqlite3 *db;
    sqlite3_stmt *begin, *insert_id, *update, *insert_ledger, *commit;
};

struct rig {
    struct rig_setting setting;
    struct arena arena;
    struct disk *disk;
    struct rig_connection connections[RIG_CONNECTIONS];
    struct arena_image process; /* just started: caches empty, no transaction */
    struct disk_image *world;

    /* The plan: die before operation crash_at (counted from 1 since rig_reset; 0 is never). */
    size_t crash_at;
    enum crash_mode mode;
    size_t n;
    size_t operations;
    uint64_t sequence; /* hash of the kinds of operation so far */
    size_t unsynced;   /* when it died */
    int acknowledged;  /* commits that returned success */
};

void rig_init(struct rig *r, const struct rig_setting *setting);
void rig_fini(struct rig *r);

/* World and process as after rig_init; no crash planned. */
void rig_reset(struct rig *r);
/* Transactions first .. last, in turn over the connections; stops at the first failure. */
void rig_run(struct rig *r, int first, int last);
/* Dies now, as planned. */
void rig_crash(struct rig *r);
/* The process starts again on what survived. */
void rig_restart(struct rig *r);

/* Runs SQL without rows wanted; returns SQLite's code. */
int rig_sql(sqlite3 *db, const char *sql);

/* What the database says of itself: "ok, ids 1 2, account 2, ledger 1 2" or the error. */
void rig_read(sqlite3 *db, char out[RIG_TEXT]);
/* The same by a new connection to a copy of the disk. */
void rig_read_fresh(const struct rig *r, char out[RIG_TEXT]);
/* Whole transactions 1 .. m as rig_read writes them. */
void rig_expected(int m, char out[RIG_TEXT]);

/* Hash of all files' bytes. */
uint64_t rig_bytes_hash(const struct rig *r);

#endif
