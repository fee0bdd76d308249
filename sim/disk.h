/* A disk in memory under SQLite: what is written, what is synced, and what a crash leaves.
 *
 * In: SQLite's VFS calls. Out: the same calls answered from memory, a hook before each operation
 * that changes the disk (create, write, truncate, sync, delete; never a read, whose number depends
 * on caches), and the bytes that survive a process crash or a power loss.
 *
 * Model: sector size 512, POWERSAFE_OVERWRITE only. A write, truncation or extension is unsynced
 * until xSync of its file, which also hardens the file's directory entry. An unlink stays unsynced
 * unless SQLite asks for a directory sync (a DISK_SYNC of its own, after the DISK_DELETE);
 * directory operations survive only as a prefix. Locks and the wal-index die with the last process
 * that holds them. Of more than 16,384 unsynced operations, or 64 MiB of replaced bytes, the older
 * half is written back, as a system's cache does; so memory is bounded where nobody syncs.
 *
 * Owns: the bytes of its files. Borrows: the hook's context.
 */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include "sim/base.h"
#include "sim/crash.h"

#include <sqlite3.h>

enum disk_op { DISK_CREATE, DISK_WRITE, DISK_TRUNCATE, DISK_SYNC, DISK_DELETE };

struct disk_hooks {
    void *context;
    /* Before an operation that changes the disk. False: the host is dead; the operation is not
     * done and SQLite gets an I/O error. May call disk_crash first. NULL: always true. */
    bool (*before)(void *context, enum disk_op op);
    /* The host's clock in ns, for SQLite's date functions. NULL: the epoch. */
    uint64_t (*now)(void *context);
};

struct disk; /* opaque; large */
struct disk_image;

/* name is the VFS's name, unique in the process. Registers the VFS. Files are "db", "db-journal",
 * "db-wal" and the wal-index; any other cannot be opened, so connections need temp_store=memory.
 * The disk is empty. */
struct disk *disk_new(const char *name, const struct disk_hooks *hooks);
void disk_free(struct disk *d);
const char *disk_vfs(const struct disk *d);
/* Makes this disk's VFS SQLite's default, which seeds SQLite's process-wide randomness. Its
 * xRandomness is a constant stream: call sqlite3_randomness(0, 0) at the start of each run. */
void disk_make_default(struct disk *d);

/* While refusing, every operation fails with an I/O error and changes nothing. */
void disk_refuse(struct disk *d, bool refuse);
/* Every write and extension fails with SQLITE_FULL. */
void disk_full(struct disk *d, bool full);
/* The lying disk: syncs report success and harden nothing. */
void disk_lie(struct disk *d, bool lie);

/* What the disk claims to SQLite: SQLITE_IOCAP_ flags, read when a database or journal is opened.
 * Default SQLITE_IOCAP_POWERSAFE_OVERWRITE; the disk never does more than its model says. */
void disk_claim(struct disk *d, int characteristics);

/* Operations a power loss at this moment could lose. */
size_t disk_unsynced(const struct disk *d);

/* The process on this disk dies now: the surviving bytes become the disk's content, synced; locks
 * and wal-index are dropped. n as in enum crash_mode; one beyond the count behaves as "all". The
 * disk then refuses until disk_refuse(d, false). */
void disk_crash(struct disk *d, enum crash_mode mode, size_t n);

/* The disk's content now, synced, no locks held. Restoring puts back the pages that were written
 * since, drops locks and zeroes the wal-index; refuse, full and lie stay as set. The image belongs
 * to this disk and is freed by disk_image_free; one image at a time is tracked (saving again
 * replaces what is tracked). */
struct disk_image *disk_save(struct disk *d);
void disk_restore(struct disk *d, const struct disk_image *image);
void disk_image_free(struct disk_image *image);

/* dst becomes what src holds now (all written bytes), synced, no locks; for reading a ledger
 * without touching src. */
void disk_copy(struct disk *dst, const struct disk *src);

struct disk_counters {
    uint64_t creates, writes, truncates, syncs, deletes, bytes_written;
};
struct disk_counters disk_counters(const struct disk *d);

/* Bytes held by file contents and undo log. */
size_t disk_bytes(const struct disk *d);
/* Sizes of the files that exist, added up. */
size_t disk_file_bytes(const struct disk *d);

#endif
