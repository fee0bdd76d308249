#include "sim/auditor.h"

#include <string.h>

#define ARENA_BYTES ((size_t)64 << 20)

/* SELECT count(*) FROM table WHERE condition */
static bool prepare_count(struct auditor *a, const char *table, const char *condition,
                          sqlite3_stmt **out)
{
    char text[512];
    int n = snprintf(text, sizeof(text), "SELECT count(*) FROM %s WHERE %s", table, condition);
    must(n > 0 && (size_t)n < sizeof(text));
    return sqlite3_prepare_v3(a->db, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK;
}

static bool prepare_counts(struct auditor *a, const struct keeping *keeping)
{
    if (keeping == NULL) {
        return true;
    }
    return prepare_count(a, keeping->table, "true", &a->records) &&
           (keeping->unowned == NULL ||
            prepare_count(a, keeping->table, keeping->unowned, &a->unowned));
}

enum sim_error auditor_init(struct auditor *a, const char *vfs_name, const struct disk *like,
                            const struct keeping *keeping, FILE *errors)
{
    memset(a, 0, sizeof(*a));
    arena_init(&a->arena, ARENA_BYTES);
    a->disk = disk_new(vfs_name, NULL);
    disk_copy(a->disk, like);
    struct arena *outer = arena_use(&a->arena);
    bool good =
        sqlite3_open_v2("db", &a->db, SQLITE_OPEN_READWRITE, disk_vfs(a->disk)) == SQLITE_OK &&
        sqlite3_prepare_v3(a->db, "SELECT row, operation, entity, amount FROM ledger", -1,
                           SQLITE_PREPARE_PERSISTENT, &a->rows, NULL) == SQLITE_OK &&
        sqlite3_prepare_v3(a->db, "SELECT number, balance FROM entity", -1,
                           SQLITE_PREPARE_PERSISTENT, &a->entities, NULL) == SQLITE_OK &&
        prepare_counts(a, keeping);
    if (good) {
        sqlite3_file_control(a->db, "main", SQLITE_FCNTL_RESET_CACHE, NULL);
        arena_save(&a->arena, &a->just_opened);
    } else {
        fprintf(errors, "onlyonce: the ledger cannot be read: %s\n", sqlite3_errmsg(a->db));
    }
    arena_use(outer);
    return good ? SIM_OK : SIM_ERR_STORE;
}

void auditor_fini(struct auditor *a)
{
    disk_free(a->disk);
    arena_image_fini(&a->just_opened);
    arena_fini(&a->arena);
}

/* True: read to the end. */
static bool read_all(struct auditor *a, struct verdict *v, struct operations *ops)
{
    int rc;
    while ((rc = sqlite3_step(a->rows)) == SQLITE_ROW) {
        verdict_audit_row(
            v, ops, sqlite3_column_int64(a->rows, 0), (uint64_t)sqlite3_column_int64(a->rows, 1),
            (uint32_t)sqlite3_column_int64(a->rows, 2), sqlite3_column_int64(a->rows, 3));
    }
    sqlite3_reset(a->rows);
    if (rc != SQLITE_DONE) {
        return false;
    }
    while ((rc = sqlite3_step(a->entities)) == SQLITE_ROW) {
        verdict_audit_entity(v, (uint32_t)sqlite3_column_int64(a->entities, 0),
                             sqlite3_column_int64(a->entities, 1));
    }
    sqlite3_reset(a->entities);
    return rc == SQLITE_DONE;
}

void auditor_read(struct auditor *a, const struct disk *of, struct verdict *v,
                  struct operations *ops, bool crashed)
{
    disk_copy(a->disk, of);
    struct arena *outer = arena_use(&a->arena);
    /* The connection is idle and only its cache knows the copy before this one. */
    sqlite3_file_control(a->db, "main", SQLITE_FCNTL_RESET_CACHE, NULL);
    verdict_audit_begin(v, ops);
    if (read_all(a, v, ops)) {
        verdict_audit_end(v, ops, crashed);
    } else {
        verdict_audit_corrupt(v);
        arena_restore(&a->arena, &a->just_opened); /* whatever a damaged file left in it */
    }
    arena_use(outer);
}

static bool count(sqlite3_stmt *stmt, uint64_t *out)
{
    if (stmt == NULL) {
        return true;
    }
    bool good = sqlite3_step(stmt) == SQLITE_ROW;
    *out = good ? (uint64_t)sqlite3_column_int64(stmt, 0) : 0;
    return sqlite3_reset(stmt) == SQLITE_OK && good;
}

struct record_counts auditor_count(struct auditor *a, const struct disk *of)
{
    struct record_counts c = {0};
    if (a->records == NULL) {
        return c;
    }
    struct arena *outer = arena_use(&a->arena);
    if (of != NULL) {
        disk_copy(a->disk, of);
        sqlite3_file_control(a->db, "main", SQLITE_FCNTL_RESET_CACHE, NULL);
    }
    c.known = count(a->records, &c.records) && count(a->unowned, &c.unowned);
    if (!c.known) {
        arena_restore(&a->arena, &a->just_opened); /* whatever a damaged file left in it */
    }
    arena_use(outer);
    return c;
}
