/* Private to the disk: what its files share. disk.c life and images · disk_content.c bytes and the
 * log of what is unsynced · disk_crash.c what survives · disk_vfs.c SQLite's calls · disk_lock.c
 * locks and wal-index.
 *
 * Only struct open_file lies in SQLite's memory. Nothing else moves when a file grows, except
 * `bytes`, to which nobody keeps a pointer.
 */
#ifndef SIM_DISK_INTERNAL_H
#define SIM_DISK_INTERNAL_H

#include "sim/disk.h"

/* The only names on a disk. An open file knows its name, not an inode: SQLite never uses a file
 * that was unlinked under it, and a process image must work on whatever a crash left. */
enum disk_name { NAME_DB, NAME_JOURNAL, NAME_WAL, DISK_NAMES };

struct content {
    unsigned char *bytes; /* mapping; NULL until the first write */
    size_t capacity;
    size_t size;
    size_t stale;        /* bytes below this can come back if a truncation or unlink is lost */
    size_t high;         /* most bytes ever */
    uint32_t generation; /* which creation of this name the content belongs to */
    size_t unsynced;     /* entries of the log that concern this name */
    bool exists;
    /* Pages below image_size that differ from the tracked image: a flag each, and a list. */
    size_t image_size;
    unsigned char *differs;
    uint32_t *list;
    size_t listed;
};

/* One unsynced operation and how to take it back. */
struct undo {
    size_t offset; /* of a write; new size of a truncation */
    size_t old_size;
    size_t old;       /* where the old bytes are in the pool; in the middle of a crash, the new */
    uint32_t len;     /* of a write */
    uint32_t old_len; /* old bytes from min(offset, old_size) on, so including a gap */
    uint32_t generation;
    uint8_t op;   /* enum disk_op */
    uint8_t name; /* enum disk_name */
};

struct pool {
    unsigned char *bytes;
    size_t used, capacity;
};

struct undo_log {
    struct undo *entries;
    size_t count, capacity;
    size_t names; /* how many of the entries are directory operations */
    struct pool old;
    struct pool redo; /* what a crash captures */
};

#define SHM_LOCKS 8 /* SQLITE_SHM_NLOCK */

struct disk {
    sqlite3_vfs vfs; /* pAppData is the disk */
    struct disk_hooks hooks;
    char *vfs_name;
    bool refusing, full, lying;
    int claims;

    struct content contents[DISK_NAMES];
    uint32_t generations; /* creations so far; wraps unharmed: the log is shorter */
    struct undo_log log;
    uint64_t tracked; /* identity of the tracked image; 0 is none */
    struct disk_counters counters;

    /* Locks count for open files of this epoch only; a crash or restore starts a new one, so what
     * a dead or restored process believes to hold is void. */
    uint64_t epoch;
    int readers;             /* open files at SHARED or above */
    int writer;              /* SQLITE_LOCK_NONE, or the level of the one file above SHARED */
    unsigned char **regions; /* of the wal-index; each stays at its address for good */
    size_t region_count;
    int region_bytes;
    bool regions_dirty;
    size_t shm_users;
    uint16_t shm_shared[SHM_LOCKS];
    uint8_t shm_exclusive;
};

/* In SQLite's memory, so an arena image puts it back: nothing in it may be counted on but the disk
 * and the name. */
struct open_file {
    sqlite3_file base; /* first: SQLite sees this */
    struct disk *disk;
    uint64_t epoch; /* of the locks below */
    uint8_t name;   /* enum disk_name */
    uint8_t level;
    bool shm_user;
    uint8_t shm_shared, shm_exclusive; /* a bit for each slot */
};

/* disk_vfs.c */
void disk_vfs_init(struct disk *d);

/* disk_lock.c; methods of an open file, and what a death does. */
int disk_lock_raise(sqlite3_file *file, int level);
int disk_lock_lower(sqlite3_file *file, int level);
int disk_lock_check(sqlite3_file *file, int *reserved);
int disk_shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **out);
int disk_shm_lock(sqlite3_file *file, int offset, int n, int flags);
void disk_shm_barrier(sqlite3_file *file);
int disk_shm_unmap(sqlite3_file *file, int remove);
void disk_drop_locks(struct disk *d); /* and zeroes the wal-index */

/* disk_content.c; none of these asks the hook or looks at refuse and full. */
void content_create(struct disk *d, enum disk_name name);
void content_write(struct disk *d, enum disk_name name, const void *data, size_t len,
                   size_t offset);
void content_truncate(struct disk *d, enum disk_name name, size_t size);
void content_sync(struct disk *d, enum disk_name name);
void content_delete(struct disk *d, enum disk_name name);
void content_sync_names(struct disk *d);
void log_clear(struct disk *d); /* all is synced */

/* The same without the log. Writing beyond the end leaves zeros between. */
void content_put(struct content *c, const void *data, size_t len, size_t offset);
void content_resize(struct content *c, size_t size);
/* Call before bytes change in another way: [start, end) may then differ from the tracked image. */
void content_touch(struct content *c, size_t start, size_t end);
/* Where len bytes may be put. Pointers into the pool end here. */
size_t pool_take(struct pool *p, size_t len);

#define PAGE_LOG 10 /* pages of a tracked image */

static inline bool op_is_name(int op)
{
    return op == DISK_CREATE || op == DISK_DELETE;
}

#endif
