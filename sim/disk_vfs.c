/* SQLite's calls to a disk (https://www.sqlite.org/vfs.html): files, names, clock.
 *
 * In: method calls of an sqlite3_vfs and its open files. Out: SQLite's result codes; every
 * operation that changes the disk asks disk_admits first, which asks the hook.
 */
#include "sim/disk_internal.h"

#include <stdio.h>
#include <string.h>

#define JULIAN_1970_MS INT64_C(210866760000000)

static const char *const names[DISK_NAMES] = {"db", "db-journal", "db-wal"};

static enum disk_name name_find(const char *path)
{
    for (int i = 0; path != NULL && i < DISK_NAMES; i++) {
        if (strcmp(path, names[i]) == 0) {
            return (enum disk_name)i;
        }
    }
    return DISK_NAMES;
}

/* May this operation happen? The hook may crash the disk, so look at contents only afterwards. */
static inline bool disk_admits(struct disk *d, enum disk_op op)
{
    if (d->refusing) {
        return false;
    }
    if (d->hooks.before != NULL && !d->hooks.before(d->hooks.context, op)) {
        return false;
    }
    return !d->refusing;
}

/* ---- files ---- */

static int file_read(sqlite3_file *file, void *out, int len, sqlite3_int64 offset)
{
    const struct open_file *f = (struct open_file *)file;
    const struct content *c = &f->disk->contents[f->name];
    if (f->disk->refusing) {
        return SQLITE_IOERR_READ;
    }
    size_t size = c->exists ? c->size : 0;
    size_t at = (size_t)offset;
    size_t want = (size_t)len;
    if (at + want <= size) {
        memcpy(out, c->bytes + at, want);
        return SQLITE_OK;
    }
    size_t have = at < size ? size - at : 0;
    if (have > 0) {
        memcpy(out, c->bytes + at, have);
    }
    memset((unsigned char *)out + have, 0, want - have);
    return SQLITE_IOERR_SHORT_READ;
}

/* A restored process may hold a journal open that the surviving disk does not have. */
static bool file_exists(struct open_file *f)
{
    if (f->disk->contents[f->name].exists) {
        return true;
    }
    if (!disk_admits(f->disk, DISK_CREATE)) {
        return false;
    }
    content_create(f->disk, (enum disk_name)f->name);
    return true;
}

static int file_write(sqlite3_file *file, const void *data, int len, sqlite3_int64 offset)
{
    struct open_file *f = (struct open_file *)file;
    struct disk *d = f->disk;
    if (!file_exists(f) || !disk_admits(d, DISK_WRITE)) {
        return SQLITE_IOERR_WRITE;
    }
    if (d->full) {
        return SQLITE_FULL;
    }
    if (len > 0) {
        content_write(d, (enum disk_name)f->name, data, (size_t)len, (size_t)offset);
    }
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct open_file *f = (struct open_file *)file;
    struct disk *d = f->disk;
    if (!file_exists(f) || !disk_admits(d, DISK_TRUNCATE)) {
        return SQLITE_IOERR_TRUNCATE;
    }
    if (d->full && (size_t)size > d->contents[f->name].size) {
        return SQLITE_FULL;
    }
    content_truncate(d, (enum disk_name)f->name, (size_t)size);
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *file, int flags)
{
    struct open_file *f = (struct open_file *)file;
    (void)flags;
    if (!disk_admits(f->disk, DISK_SYNC)) {
        return SQLITE_IOERR_FSYNC;
    }
    content_sync(f->disk, (enum disk_name)f->name);
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    const struct open_file *f = (struct open_file *)file;
    const struct content *c = &f->disk->contents[f->name];
    *size = c->exists ? (sqlite3_int64)c->size : 0;
    return f->disk->refusing ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *argument)
{
    (void)file;
    (void)op;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector_size(sqlite3_file *file)
{
    (void)file;
    return 512;
}

static int file_characteristics(sqlite3_file *file)
{
    return ((struct open_file *)file)->disk->claims;
}

static int file_close(sqlite3_file *file)
{
    if (((struct open_file *)file)->name == NAME_DB) {
        disk_lock_lower(file, SQLITE_LOCK_NONE);
    }
    return SQLITE_OK;
}

/* ---- the file system ---- */

static const sqlite3_io_methods methods = {
    .iVersion = 2, /* no memory-mapped reads: contents move when they grow */
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = disk_lock_raise,
    .xUnlock = disk_lock_lower,
    .xCheckReservedLock = disk_lock_check,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = disk_shm_map,
    .xShmLock = disk_shm_lock,
    .xShmBarrier = disk_shm_barrier,
    .xShmUnmap = disk_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags,
                    int *out_flags)
{
    struct disk *d = vfs->pAppData;
    struct open_file *f = (struct open_file *)file;
    enum disk_name name = name_find(path);
    f->base.pMethods = NULL;
    if (name == DISK_NAMES || d->refusing) {
        return SQLITE_CANTOPEN;
    }
    if (!d->contents[name].exists) {
        if (!(flags & SQLITE_OPEN_CREATE)) {
            return SQLITE_CANTOPEN;
        }
        if (!disk_admits(d, DISK_CREATE)) {
            return SQLITE_IOERR;
        }
        content_create(d, name);
    } else if (flags & SQLITE_OPEN_EXCLUSIVE && flags & SQLITE_OPEN_CREATE) {
        return SQLITE_CANTOPEN;
    }
    *f = (struct open_file){
        .base.pMethods = &methods, .disk = d, .epoch = d->epoch, .name = (uint8_t)name};
    if (out_flags != NULL) {
        *out_flags = flags;
    }
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_directory)
{
    struct disk *d = vfs->pAppData;
    enum disk_name name = name_find(path);
    if (d->refusing) {
        return SQLITE_IOERR_DELETE;
    }
    if (name == DISK_NAMES || !d->contents[name].exists) {
        return SQLITE_IOERR_DELETE_NOENT;
    }
    if (!disk_admits(d, DISK_DELETE)) {
        return SQLITE_IOERR_DELETE;
    }
    content_delete(d, name);
    if (sync_directory) {
        if (!disk_admits(d, DISK_SYNC)) {
            return SQLITE_IOERR_DIR_FSYNC;
        }
        content_sync_names(d);
    }
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *path, int flags, int *result)
{
    const struct disk *d = vfs->pAppData;
    enum disk_name name = name_find(path);
    (void)flags;
    /* As on Unix, an empty file counts as absent: this spares a look for a hot journal. */
    *result = name != DISK_NAMES && d->contents[name].exists && d->contents[name].size > 0;
    return d->refusing ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *path, int bytes, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)bytes, "%s", path) < bytes ? SQLITE_OK : SQLITE_CANTOPEN;
}

static void *vfs_dl_open(sqlite3_vfs *vfs, const char *path)
{
    (void)vfs;
    (void)path;
    return NULL;
}

static void vfs_dl_error(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    snprintf(out, (size_t)bytes, "a simulated host loads no extensions");
}

/* The same bytes at each call: SQLite asks once when it seeds its generator. */
static int vfs_randomness(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    uint32_t x = 1;
    for (int i = 0; i < bytes; i++) {
        x = x * UINT32_C(1664525) + UINT32_C(1013904223);
        out[i] = (char)(x >> 24);
    }
    return bytes;
}

/* A worker waits in the busy handler, in virtual time, never here. */
static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int vfs_time(sqlite3_vfs *vfs, sqlite3_int64 *julian_ms)
{
    const struct disk *d = vfs->pAppData;
    uint64_t ns = d->hooks.now != NULL ? d->hooks.now(d->hooks.context) : 0;
    *julian_ms = JULIAN_1970_MS + (sqlite3_int64)(ns / SIM_MS);
    return SQLITE_OK;
}

void disk_vfs_init(struct disk *d)
{
    d->epoch = 1;
    d->vfs = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(struct open_file),
        .mxPathname = 32,
        .zName = d->vfs_name,
        .pAppData = d,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xDlOpen = vfs_dl_open,
        .xDlError = vfs_dl_error,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTimeInt64 = vfs_time,
    };
    must(sqlite3_vfs_find(d->vfs_name) == NULL);
    must(sqlite3_vfs_register(&d->vfs, 0) == SQLITE_OK);
}

void disk_make_default(struct disk *d)
{
    must(sqlite3_vfs_register(&d->vfs, 1) == SQLITE_OK);
}
