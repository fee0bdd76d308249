/* What a crash leaves.
 *
 * In: the contents, the undo log, an enum crash_mode. Out: the contents that survive, synced.
 *
 * A power loss takes every unsynced operation back, last first, and keeps what was written; then it
 * does again, in order, what survives. Directory operations survive only as a prefix, and a write
 * only if its file does.
 */
#include "sim/disk_internal.h"

#include <string.h>

static void undo(struct disk *d, struct undo *u)
{
    struct content *c = &d->contents[u->name];
    if (u->op == DISK_CREATE) {
        c->exists = false;
        return;
    }
    if (u->op == DISK_DELETE) {
        c->exists = true;
        c->generation = u->generation;
        c->size = u->old_size;
        return;
    }
    if (!c->exists || c->generation != u->generation) {
        return;
    }
    if (u->op == DISK_WRITE) {
        size_t written = d->log.redo.used;
        must(pool_take(&d->log.redo, u->len) == written);
        memcpy(d->log.redo.bytes + written, c->bytes + u->offset, u->len);
        if (u->old_len > 0) {
            size_t start = u->offset < u->old_size ? u->offset : u->old_size;
            content_touch(c, start, start + u->old_len);
            memcpy(c->bytes + start, d->log.old.bytes + u->old, u->old_len);
        }
        u->old = written;
    }
    c->size = u->old_size;
}

/* Half of the sectors that a write spans, rounded down, as bytes from its offset. */
static size_t torn_len(const struct undo *u)
{
    size_t first = u->offset / 512;
    size_t sectors = (u->offset + u->len - 1) / 512 - first + 1;
    size_t end = (first + sectors / 2) * 512;
    return end > u->offset ? end - u->offset : 0;
}

static void redo(struct disk *d, const struct undo *u, bool torn)
{
    struct content *c = &d->contents[u->name];
    if (u->op == DISK_CREATE) {
        c->exists = true;
        c->generation = u->generation;
        c->size = 0;
        return;
    }
    if (!c->exists || c->generation != u->generation) {
        return;
    }
    if (u->op == DISK_DELETE) {
        c->exists = false;
        c->size = 0;
    } else if (u->op == DISK_TRUNCATE) {
        content_resize(c, u->offset);
    } else if (u->op == DISK_WRITE) {
        size_t len = torn ? torn_len(u) : u->len;
        if (len > 0) {
            content_put(c, d->log.redo.bytes + u->old, len, u->offset);
        }
    }
}

static bool survives(enum crash_mode mode, size_t n, size_t i)
{
    switch (mode) {
    case CRASH_PROCESS:
    case CRASH_ALL:
        return true;
    case CRASH_NONE:
        return false;
    case CRASH_FIRST:
    case CRASH_TORN:
        return i <= n;
    case CRASH_ONLY:
        return i == n;
    case CRASH_ALL_BUT:
        return i != n;
    }
    return false;
}

static void power_loss(struct disk *d, enum crash_mode mode, size_t n)
{
    struct undo_log *log = &d->log;
    log->redo.used = 0;
    for (size_t i = log->count; i > 0; i--) {
        undo(d, &log->entries[i - 1]);
    }
    bool names_survive = true;
    for (size_t i = 1; i <= log->count; i++) {
        const struct undo *u = &log->entries[i - 1];
        bool torn = mode == CRASH_TORN && i == n;
        bool keep = survives(mode, n, i);
        if (op_is_name(u->op)) {
            names_survive = names_survive && keep && !torn;
            keep = names_survive;
        }
        if (keep && !(torn && u->op != DISK_WRITE)) {
            redo(d, u, torn);
        }
    }
}

void disk_crash(struct disk *d, enum crash_mode mode, size_t n)
{
    bool all = mode == CRASH_PROCESS || mode == CRASH_ALL;
    if (!all && !(crash_mode_counted(mode) && n > d->log.count)) {
        power_loss(d, mode, n);
    }
    log_clear(d);
    disk_drop_locks(d);
    d->refusing = true;
}

const char *crash_mode_text(enum crash_mode mode)
{
    switch (mode) {
#define X(name, text, counted)                                                                     \
    case name:                                                                                     \
        return text;
        CRASH_MODES(X)
#undef X
    }
    return "unknown";
}

bool crash_mode_counted(enum crash_mode mode)
{
    switch (mode) {
#define X(name, text, counted)                                                                     \
    case name:                                                                                     \
        return counted;
        CRASH_MODES(X)
#undef X
    }
    return false;
}
