/* The bytes of a disk, and the log of what of them is not yet synced.
 *
 * In: creations, writes, truncations, syncs and unlinks, already admitted by disk_vfs.c. Out: the
 * contents, and a log of the unsynced operations of all names in order, a write with the bytes it
 * replaced.
 *
 * Each name has one buffer. Truncation and unlink keep the bytes in the buffer, beyond the size,
 * and need no copy; a later write saves them like any others (`stale`). A name that is unlinked and
 * created again is a new generation; operations on an older one touch nothing.
 *
 * At most LOG_ENTRIES operations and about LOG_BYTES of old bytes stay unsynced: the older half is
 * then written back, as a system's cache does, so memory is bounded where nobody ever syncs.
 */
#include "sim/disk_internal.h"

#include <string.h>
#include <sys/mman.h>

#define LOG_ENTRIES 16384
#define LOG_BYTES ((size_t)64 << 20)
#define CAPACITY_MIN ((size_t)64 << 10)

/* ---- contents ---- */

static void content_reserve(struct content *c, size_t size)
{
    size_t capacity = c->capacity ? c->capacity : CAPACITY_MIN;
    while (capacity < size) {
        capacity *= 2;
    }
    void *p = c->bytes == NULL ? mmap(NULL, capacity, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                               : mremap(c->bytes, c->capacity, capacity, MREMAP_MAYMOVE);
    must(p != MAP_FAILED);
    c->bytes = p;
    c->capacity = capacity;
}

void content_touch(struct content *c, size_t start, size_t end)
{
    if (end > c->image_size) {
        end = c->image_size;
    }
    if (start >= end) {
        return;
    }
    for (size_t page = start >> PAGE_LOG; page <= (end - 1) >> PAGE_LOG; page++) {
        if (!c->differs[page]) {
            c->differs[page] = 1;
            c->list[c->listed++] = (uint32_t)page;
        }
    }
}

void content_put(struct content *c, const void *data, size_t len, size_t offset)
{
    size_t end = offset + len;
    size_t start = offset < c->size ? offset : c->size;
    if (end > c->capacity) {
        content_reserve(c, end);
    }
    content_touch(c, start, end);
    if (offset > start) {
        memset(c->bytes + start, 0, offset - start);
    }
    memcpy(c->bytes + offset, data, len);
    if (end > c->size) {
        c->size = end;
        if (end > c->high) {
            c->high = end;
        }
    }
}

void content_resize(struct content *c, size_t size)
{
    if (size > c->size) {
        static const unsigned char zero = 0;
        content_put(c, &zero, 1, size - 1);
    } else {
        c->size = size;
    }
}

/* ---- undo log ---- */

size_t pool_take(struct pool *p, size_t len)
{
    if (len > p->capacity - p->used) {
        size_t capacity = p->capacity ? p->capacity : CAPACITY_MIN;
        while (len > capacity - p->used) {
            capacity *= 2;
        }
        p->bytes = sim_realloc(p->bytes, capacity, 1);
        p->capacity = capacity;
    }
    size_t at = p->used;
    p->used += len;
    return at;
}

void log_clear(struct disk *d)
{
    d->log.count = 0;
    d->log.names = 0;
    d->log.old.used = 0;
    for (size_t i = 0; i < DISK_NAMES; i++) {
        d->contents[i].unsynced = 0;
        d->contents[i].stale = 0;
    }
}

/* Hardens the first `first` entries, directory operations among the first `names`, and all data of
 * `name` (DISK_NAMES: of none); the others move together, in order. */
static void log_harden(struct disk *d, size_t first, size_t names, enum disk_name name)
{
    struct undo_log *log = &d->log;
    size_t kept = 0;
    log->old.used = 0;
    for (size_t i = 0; i < log->count; i++) {
        struct undo u = log->entries[i];
        bool is_name = op_is_name(u.op);
        if (i < first || (is_name ? i < names : u.name == name)) {
            log->names -= is_name;
            if (--d->contents[u.name].unsynced == 0) {
                d->contents[u.name].stale = 0;
            }
            continue;
        }
        if (u.old_len > 0) {
            memmove(log->old.bytes + log->old.used, log->old.bytes + u.old, u.old_len);
        }
        u.old = log->old.used;
        log->old.used += u.old_len;
        log->entries[kept++] = u;
    }
    log->count = kept;
}

/* Not inlined: keeps the hot path short. */
static __attribute__((noinline)) void log_make_room(struct disk *d)
{
    struct undo_log *log = &d->log;
    if (log->count >= LOG_ENTRIES || log->old.used >= LOG_BYTES) {
        log_harden(d, (log->count + 1) / 2, 0, DISK_NAMES);
    }
    if (log->count == log->capacity) {
        log->capacity = log->capacity ? log->capacity * 2 : 64;
        log->entries = sim_realloc(log->entries, log->capacity, sizeof(log->entries[0]));
    }
}

static inline struct undo *log_push(struct disk *d, enum disk_op op, enum disk_name name)
{
    struct undo_log *log = &d->log;
    if (log->count == log->capacity || log->old.used >= LOG_BYTES) {
        log_make_room(d);
    }
    struct content *c = &d->contents[name];
    struct undo *u = &log->entries[log->count++];
    u->op = (uint8_t)op;
    u->name = (uint8_t)name;
    u->generation = c->generation;
    u->old_size = c->size;
    u->old_len = 0;
    c->unsynced++;
    return u;
}

void content_create(struct disk *d, enum disk_name name)
{
    struct content *c = &d->contents[name];
    c->generation = ++d->generations;
    c->size = 0;
    c->exists = true;
    log_push(d, DISK_CREATE, name);
    d->log.names++;
    d->counters.creates++;
}

/* The general case: saves what [offset, offset + len) and a gap before it held. */
static void write_over(struct disk *d, enum disk_name name, const void *data, size_t len,
                       size_t offset)
{
    struct content *c = &d->contents[name];
    struct undo *u = log_push(d, DISK_WRITE, name);
    size_t start = offset < c->size ? offset : c->size;
    size_t end = c->size > c->stale ? c->size : c->stale;
    if (end > offset + len) {
        end = offset + len;
    }
    u->offset = offset;
    u->len = (uint32_t)len;
    if (end > start) {
        must(end - start <= UINT32_MAX);
        u->old_len = (uint32_t)(end - start);
        u->old = pool_take(&d->log.old, end - start);
        memcpy(d->log.old.bytes + u->old, c->bytes + start, end - start);
    }
    content_put(c, data, len, offset);
}

void content_write(struct disk *d, enum disk_name name, const void *data, size_t len, size_t offset)
{
    struct content *c = &d->contents[name];
    d->counters.writes++;
    d->counters.bytes_written += len;
    /* Most writes append to a journal, in words and pages. Nothing to save then. */
    if (offset != c->size || offset < c->stale || offset < c->image_size ||
        offset + len > c->capacity) {
        write_over(d, name, data, len, offset);
        return;
    }
    struct undo *u = log_push(d, DISK_WRITE, name);
    u->offset = offset;
    u->len = (uint32_t)len;
    if (len == 4) {
        memcpy(c->bytes + offset, data, 4);
    } else {
        memcpy(c->bytes + offset, data, len);
    }
    c->size = offset + len;
    c->high = c->size > c->high ? c->size : c->high;
}

void content_truncate(struct disk *d, enum disk_name name, size_t size)
{
    struct content *c = &d->contents[name];
    d->counters.truncates++;
    if (size > c->size) {
        static const unsigned char zero = 0;
        write_over(d, name, &zero, 1, size - 1);
        return;
    }
    log_push(d, DISK_TRUNCATE, name)->offset = size;
    c->stale = c->size > c->stale ? c->size : c->stale;
    c->size = size;
}

void content_delete(struct disk *d, enum disk_name name)
{
    struct content *c = &d->contents[name];
    log_push(d, DISK_DELETE, name);
    c->stale = c->size > c->stale ? c->size : c->stale;
    c->size = 0;
    c->exists = false;
    d->log.names++;
    d->counters.deletes++;
}

void content_sync(struct disk *d, enum disk_name name)
{
    struct undo_log *log = &d->log;
    struct content *c = &d->contents[name];
    d->counters.syncs++;
    if (d->lying || !c->exists || c->unsynced == 0) {
        return;
    }
    if (c->unsynced == log->count) {
        log_clear(d);
        return;
    }
    size_t names = 0;
    for (size_t i = log->count; i > 0 && log->names > 0 && names == 0; i--) {
        const struct undo *u = &log->entries[i - 1];
        names = op_is_name(u->op) && u->name == name ? i : 0;
    }
    log_harden(d, 0, names, name);
}

void content_sync_names(struct disk *d)
{
    d->counters.syncs++;
    if (!d->lying && d->log.names > 0) {
        log_harden(d, 0, d->log.count, DISK_NAMES);
    }
}
