/* A disk's life, its switches, and images of it (disk.h).
 *
 * In: calls of the world. Out: contents put back, copied, counted. Operations of SQLite are in
 * disk_vfs.c (files) and disk_lock.c (locks, wal-index), bytes in disk_content.c, death in
 * disk_crash.c.
 *
 * A tracked image knows which of its pages were written since; restoring copies only those.
 */
#include "sim/disk_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct disk_image {
    uint64_t identity; /* a disk tracks an image by this, so freeing it first is no harm */
    const struct disk *disk;
    struct {
        unsigned char *bytes;
        size_t size;
        uint32_t generation;
        bool exists;
    } files[DISK_NAMES];
};

/* Forgets which pages differ from the image before, and watches those of this one. */
static void track(struct disk *d, const struct disk_image *image)
{
    d->tracked = image != NULL ? image->identity : 0;
    for (size_t i = 0; i < DISK_NAMES; i++) {
        struct content *c = &d->contents[i];
        size_t size = image != NULL ? image->files[i].size : 0;
        size_t pages = (size + ((size_t)1 << PAGE_LOG) - 1) >> PAGE_LOG;
        free(c->differs);
        free(c->list);
        c->differs = pages ? sim_zalloc(pages, 1) : NULL;
        c->list = pages ? sim_alloc(pages * sizeof(c->list[0])) : NULL;
        c->listed = 0;
        c->image_size = size;
    }
}

struct disk *disk_new(const char *name, const struct disk_hooks *hooks)
{
    struct disk *d = sim_zalloc(1, sizeof(*d));
    d->vfs_name = sim_strdup(name);
    d->hooks = hooks != NULL ? *hooks : (struct disk_hooks){0};
    d->claims = SQLITE_IOCAP_POWERSAFE_OVERWRITE;
    disk_vfs_init(d);
    return d;
}

void disk_free(struct disk *d)
{
    if (d == NULL) {
        return;
    }
    sqlite3_vfs_unregister(&d->vfs);
    track(d, NULL);
    for (size_t i = 0; i < DISK_NAMES; i++) {
        if (d->contents[i].bytes != NULL) {
            munmap(d->contents[i].bytes, d->contents[i].capacity);
        }
    }
    for (size_t i = 0; i < d->region_count; i++) {
        free(d->regions[i]);
    }
    free(d->regions);
    free(d->log.entries);
    free(d->log.old.bytes);
    free(d->log.redo.bytes);
    free(d->vfs_name);
    free(d);
}

const char *disk_vfs(const struct disk *d)
{
    return d->vfs_name;
}

void disk_refuse(struct disk *d, bool refuse)
{
    d->refusing = refuse;
}

void disk_full(struct disk *d, bool full)
{
    d->full = full;
}

void disk_lie(struct disk *d, bool lie)
{
    d->lying = lie;
}

void disk_claim(struct disk *d, int characteristics)
{
    d->claims = characteristics;
}

size_t disk_unsynced(const struct disk *d)
{
    return d->log.count;
}

struct disk_counters disk_counters(const struct disk *d)
{
    return d->counters;
}

size_t disk_bytes(const struct disk *d)
{
    size_t bytes =
        d->log.capacity * sizeof(d->log.entries[0]) + d->log.old.capacity + d->log.redo.capacity;
    for (size_t i = 0; i < DISK_NAMES; i++) {
        bytes += d->contents[i].high;
    }
    return bytes;
}

size_t disk_file_bytes(const struct disk *d)
{
    size_t bytes = 0;
    for (size_t i = 0; i < DISK_NAMES; i++) {
        bytes += d->contents[i].exists ? d->contents[i].size : 0;
    }
    return bytes;
}

struct disk_image *disk_save(struct disk *d)
{
    static uint64_t identities;
    struct disk_image *image = sim_zalloc(1, sizeof(*image));
    image->identity = ++identities;
    image->disk = d;
    for (size_t i = 0; i < DISK_NAMES; i++) {
        const struct content *c = &d->contents[i];
        image->files[i].exists = c->exists;
        image->files[i].generation = c->generation;
        image->files[i].size = c->size;
        if (c->size > 0) {
            image->files[i].bytes = sim_alloc(c->size);
            memcpy(image->files[i].bytes, c->bytes, c->size);
        }
    }
    track(d, image);
    return image;
}

void disk_restore(struct disk *d, const struct disk_image *image)
{
    must(image->disk == d);
    bool all = d->tracked != image->identity;
    if (all) {
        track(d, image);
    }
    for (size_t i = 0; i < DISK_NAMES; i++) {
        struct content *c = &d->contents[i];
        const unsigned char *bytes = image->files[i].bytes;
        size_t size = image->files[i].size;
        if (all && size > 0) {
            memcpy(c->bytes, bytes, size);
        }
        for (size_t k = 0; k < c->listed; k++) {
            size_t at = (size_t)c->list[k] << PAGE_LOG;
            size_t rest = size - at;
            memcpy(c->bytes + at, bytes + at, rest < 1 << PAGE_LOG ? rest : 1 << PAGE_LOG);
            c->differs[c->list[k]] = 0;
        }
        c->listed = 0;
        c->size = size;
        c->exists = image->files[i].exists;
        c->generation = image->files[i].generation;
    }
    log_clear(d);
    disk_drop_locks(d);
}

void disk_image_free(struct disk_image *image)
{
    if (image == NULL) {
        return;
    }
    for (size_t i = 0; i < DISK_NAMES; i++) {
        free(image->files[i].bytes);
    }
    free(image);
}

void disk_copy(struct disk *dst, const struct disk *src)
{
    must(dst != src);
    if (dst->tracked != 0) {
        track(dst, NULL);
    }
    for (size_t i = 0; i < DISK_NAMES; i++) {
        const struct content *from = &src->contents[i];
        struct content *to = &dst->contents[i];
        to->exists = from->exists;
        to->generation = ++dst->generations;
        to->size = 0;
        if (from->size > 0) {
            content_put(to, from->bytes, from->size, 0);
        }
    }
    log_clear(dst);
    disk_drop_locks(dst);
}
