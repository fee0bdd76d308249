/* Locks of a disk: the five levels of a database file, and the wal-index with its eight slots.
 *
 * In: SQLite's lock calls on open files. Out: SQLITE_OK or SQLITE_BUSY, never a wait.
 *
 * An open file lies in SQLite's memory and may be put back there by an arena image at any time.
 * What it believes to hold counts only in the epoch it was taken in; the disk starts a new one when
 * a process dies. A released lock is never refused, so a dying process can unwind.
 */
#include "sim/disk_internal.h"

#include <stdlib.h>
#include <string.h>

static void regions_zero(struct disk *d)
{
    if (!d->regions_dirty) {
        return;
    }
    for (size_t i = 0; i < d->region_count; i++) {
        memset(d->regions[i], 0, (size_t)d->region_bytes);
    }
    d->regions_dirty = false;
}

void disk_drop_locks(struct disk *d)
{
    d->epoch++;
    d->readers = 0;
    d->writer = SQLITE_LOCK_NONE;
    d->shm_users = 0;
    d->shm_exclusive = 0;
    memset(d->shm_shared, 0, sizeof(d->shm_shared));
    regions_zero(d);
}

/* Forgets locks of an earlier epoch. */
static inline struct open_file *file_now(sqlite3_file *file)
{
    struct open_file *f = (struct open_file *)file;
    if (f->epoch != f->disk->epoch) {
        f->epoch = f->disk->epoch;
        f->level = SQLITE_LOCK_NONE;
        f->shm_user = false;
        f->shm_shared = 0;
        f->shm_exclusive = 0;
    }
    return f;
}

int disk_lock_raise(sqlite3_file *file, int level)
{
    struct open_file *f = file_now(file);
    struct disk *d = f->disk;
    if (d->refusing) {
        return SQLITE_IOERR_LOCK;
    }
    if (f->level >= level) {
        return SQLITE_OK;
    }
    if (level == SQLITE_LOCK_SHARED) {
        if (d->writer >= SQLITE_LOCK_PENDING) {
            return SQLITE_BUSY;
        }
        d->readers++;
        f->level = SQLITE_LOCK_SHARED;
        return SQLITE_OK;
    }
    must(f->level >= SQLITE_LOCK_SHARED);
    if (f->level == SQLITE_LOCK_SHARED && d->writer != SQLITE_LOCK_NONE) {
        return SQLITE_BUSY;
    }
    if (level == SQLITE_LOCK_EXCLUSIVE && d->readers > 1) {
        /* Keeps new readers out while the present ones leave. */
        d->writer = SQLITE_LOCK_PENDING;
        f->level = SQLITE_LOCK_PENDING;
        return SQLITE_BUSY;
    }
    d->writer = level;
    f->level = (uint8_t)level;
    return SQLITE_OK;
}

int disk_lock_lower(sqlite3_file *file, int level)
{
    struct open_file *f = file_now(file);
    struct disk *d = f->disk;
    if (f->level <= level) {
        return SQLITE_OK;
    }
    if (f->level > SQLITE_LOCK_SHARED) {
        d->writer = SQLITE_LOCK_NONE;
    }
    if (level == SQLITE_LOCK_NONE) {
        d->readers--;
    }
    f->level = (uint8_t)level;
    return SQLITE_OK;
}

int disk_lock_check(sqlite3_file *file, int *reserved)
{
    const struct disk *d = file_now(file)->disk;
    *reserved = d->writer != SQLITE_LOCK_NONE;
    return d->refusing ? SQLITE_IOERR_CHECKRESERVEDLOCK : SQLITE_OK;
}

/* ---- wal-index ---- */

static void shm_join(struct open_file *f)
{
    if (!f->shm_user) {
        f->shm_user = true;
        f->disk->shm_users++;
    }
}

int disk_shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **out)
{
    struct open_file *f = file_now(file);
    struct disk *d = f->disk;
    *out = NULL;
    if (d->refusing) {
        return SQLITE_IOERR_SHMMAP;
    }
    must(d->region_bytes == 0 || d->region_bytes == bytes);
    d->region_bytes = bytes;
    shm_join(f);
    if ((size_t)region >= d->region_count) {
        if (!extend) {
            return SQLITE_OK;
        }
        size_t count = (size_t)region + 1;
        d->regions = sim_realloc(d->regions, count, sizeof(d->regions[0]));
        while (d->region_count < count) {
            d->regions[d->region_count++] = sim_zalloc(1, (size_t)bytes);
        }
    }
    *out = d->regions[region];
    return SQLITE_OK;
}

static void shm_unlock(struct open_file *f, unsigned first, unsigned end)
{
    struct disk *d = f->disk;
    for (unsigned i = first; i < end; i++) {
        uint8_t bit = (uint8_t)(1u << i);
        if (f->shm_exclusive & bit) {
            d->shm_exclusive &= (uint8_t)~bit;
        }
        if (f->shm_shared & bit) {
            d->shm_shared[i]--;
        }
        f->shm_exclusive &= (uint8_t)~bit;
        f->shm_shared &= (uint8_t)~bit;
    }
}

int disk_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    struct open_file *f = file_now(file);
    struct disk *d = f->disk;
    unsigned first = (unsigned)offset;
    unsigned end = first + (unsigned)n;
    must(end <= SHM_LOCKS);
    if (flags & SQLITE_SHM_UNLOCK) {
        shm_unlock(f, first, end);
        return SQLITE_OK;
    }
    if (d->refusing) {
        return SQLITE_IOERR_SHMLOCK;
    }
    shm_join(f);
    bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
    for (unsigned i = first; i < end; i++) {
        unsigned bit = 1u << i;
        bool others = (d->shm_exclusive & bit & ~(unsigned)f->shm_exclusive) != 0 ||
                      (exclusive && d->shm_shared[i] > ((f->shm_shared & bit) ? 1 : 0));
        if (others) {
            return SQLITE_BUSY;
        }
    }
    for (unsigned i = first; i < end; i++) {
        uint8_t bit = (uint8_t)(1u << i);
        if (exclusive) {
            d->shm_exclusive |= bit;
            f->shm_exclusive |= bit;
            d->regions_dirty = true;
        } else if (!(f->shm_shared & bit)) {
            d->shm_shared[i]++;
            f->shm_shared |= bit;
        }
    }
    return SQLITE_OK;
}

void disk_shm_barrier(sqlite3_file *file)
{
    (void)file;
}

int disk_shm_unmap(sqlite3_file *file, int remove)
{
    struct open_file *f = file_now(file);
    struct disk *d = f->disk;
    (void)remove;
    shm_unlock(f, 0, SHM_LOCKS);
    if (f->shm_user) {
        f->shm_user = false;
        if (--d->shm_users == 0) {
            regions_zero(d);
        }
    }
    return SQLITE_OK;
}
