/* See disk_rig.h. Names of VFSs must be unique in a process, hence the counter. */
#include "tests/disk_rig.h"

#include <string.h>

static const char *const schema = "CREATE TABLE processed(id TEXT PRIMARY KEY) WITHOUT ROWID;"
                                  "CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER);"
                                  "CREATE TABLE ledger(id TEXT, amount INTEGER);"
                                  "INSERT INTO account VALUES (1, 0);";

static bool before(void *context, enum disk_op op)
{
    struct rig *r = context;
    r->operations++;
    r->sequence = (r->sequence ^ (uint64_t)op) * UINT64_C(0x100000001b3);
    if (r->operations != r->crash_at) {
        return true;
    }
    rig_crash(r);
    return false;
}

static const char *next_name(void)
{
    static int count;
    static char name[32];
    snprintf(name, sizeof(name), "rig-%d", count++);
    return name;
}

int rig_sql(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void connect(struct rig *r, struct rig_connection *c)
{
    char pragmas[256];
    snprintf(pragmas, sizeof(pragmas),
             "PRAGMA page_size=1024; PRAGMA temp_store=memory; PRAGMA journal_mode=%s;"
             "PRAGMA synchronous=%s;",
             r->setting.journal, r->setting.synchronous);
    must(sqlite3_open_v2("db", &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                         disk_vfs(r->disk)) == SQLITE_OK);
    must(rig_sql(c->db, pragmas) == SQLITE_OK);
    if (c == r->connections) {
        must(rig_sql(c->db, schema) == SQLITE_OK);
    }
    const struct {
        sqlite3_stmt **statement;
        const char *sql;
    } all[] = {
        {&c->begin, "BEGIN IMMEDIATE"},
        {&c->insert_id, "INSERT INTO processed VALUES (?1)"},
        {&c->update, "UPDATE account SET balance = balance + 1 WHERE id = 1"},
        {&c->insert_ledger, "INSERT INTO ledger VALUES (?1, 1)"},
        {&c->commit, "COMMIT"},
    };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        must(sqlite3_prepare_v2(c->db, all[i].sql, -1, all[i].statement, NULL) == SQLITE_OK);
    }
}

void rig_init(struct rig *r, const struct rig_setting *setting)
{
    must(arena_install() == SIM_OK);
    *r = (struct rig){.setting = *setting};
    arena_init(&r->arena, (size_t)1 << 30);
    arena_use(&r->arena);
    struct disk_hooks hooks = {.context = r, .before = before};
    r->disk = disk_new(next_name(), &hooks);
    disk_make_default(r->disk);
    disk_claim(r->disk, setting->claims);
    for (int i = 0; i < setting->connections; i++) {
        connect(r, &r->connections[i]);
    }
    for (int i = 0; i < setting->connections; i++) {
        sqlite3_file_control(r->connections[i].db, "main", SQLITE_FCNTL_RESET_CACHE, NULL);
    }
    arena_save(&r->arena, &r->process);
    r->world = disk_save(r->disk);
    rig_reset(r);
}

void rig_fini(struct rig *r)
{
    arena_use(NULL);
    arena_fini(&r->arena);
    arena_image_fini(&r->process);
    disk_image_free(r->world);
    disk_free(r->disk);
}

void rig_reset(struct rig *r)
{
    arena_restore(&r->arena, &r->process);
    disk_restore(r->disk, r->world);
    disk_refuse(r->disk, false);
    disk_full(r->disk, false);
    disk_lie(r->disk, r->setting.lying);
    sqlite3_randomness(0, NULL);
    r->crash_at = 0;
    r->operations = 0;
    r->sequence = 0;
    r->unsynced = 0;
    r->acknowledged = 0;
}

static bool step(sqlite3_stmt *s)
{
    bool done = sqlite3_step(s) == SQLITE_DONE;
    sqlite3_reset(s);
    return done;
}

void rig_run(struct rig *r, int first, int last)
{
    for (int i = first; i <= last; i++) {
        struct rig_connection *c = &r->connections[i % r->setting.connections];
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        sqlite3_bind_text(c->insert_id, 1, id, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(c->insert_ledger, 1, id, -1, SQLITE_TRANSIENT);
        if (!step(c->begin) || !step(c->insert_id) || !step(c->update) || !step(c->insert_ledger) ||
            !step(c->commit)) {
            rig_sql(c->db, "ROLLBACK");
            return;
        }
        r->acknowledged++;
    }
}

void rig_crash(struct rig *r)
{
    r->unsynced = disk_unsynced(r->disk);
    disk_crash(r->disk, r->mode, r->n);
}

void rig_restart(struct rig *r)
{
    arena_restore(&r->arena, &r->process);
    disk_refuse(r->disk, false);
    r->crash_at = 0;
}

/* Appends the first column of every row. False: SQLite failed, and out says how. */
static bool append(sqlite3 *db, const char *sql, char out[RIG_TEXT])
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    while (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW) {
        size_t used = strlen(out);
        snprintf(out + used, RIG_TEXT - used, " %s", (const char *)sqlite3_column_text(s, 0));
    }
    rc = rc == SQLITE_OK ? sqlite3_reset(s) : rc;
    sqlite3_finalize(s);
    if (rc != SQLITE_OK) {
        snprintf(out, RIG_TEXT, "error %d: %s", rc, sqlite3_errmsg(db));
    }
    return rc == SQLITE_OK;
}

void rig_read(sqlite3 *db, char out[RIG_TEXT])
{
    out[0] = '\0';
    (void)(append(db, "PRAGMA integrity_check", out) &&
           append(db, "SELECT 'ids' UNION ALL SELECT id FROM processed", out) &&
           append(db, "SELECT 'account' UNION ALL SELECT balance FROM account", out) &&
           append(db, "SELECT 'ledger' UNION ALL SELECT id FROM ledger", out));
}

void rig_read_fresh(const struct rig *r, char out[RIG_TEXT])
{
    struct arena *was = arena_use(NULL);
    struct disk *copy = disk_new(next_name(), NULL);
    disk_copy(copy, r->disk);
    sqlite3 *db = NULL;
    must(sqlite3_open_v2("db", &db, SQLITE_OPEN_READWRITE, disk_vfs(copy)) == SQLITE_OK);
    rig_read(db, out);
    must(sqlite3_close(db) == SQLITE_OK);
    disk_free(copy);
    arena_use(was);
}

void rig_expected(int m, char out[RIG_TEXT])
{
    char ids[RIG_TEXT / 4] = "";
    for (int i = 1; i <= m; i++) {
        size_t used = strlen(ids);
        snprintf(ids + used, sizeof(ids) - used, " %d", i);
    }
    snprintf(out, RIG_TEXT, " ok ids%s account %d ledger%s", ids, m, ids);
}

uint64_t rig_bytes_hash(const struct rig *r)
{
    static const char *const files[] = {"db", "db-journal", "db-wal"};
    sqlite3_vfs *vfs = sqlite3_vfs_find(disk_vfs(r->disk));
    uint64_t hash = 0;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        _Alignas(8) unsigned char space[256];
        sqlite3_file *file = (sqlite3_file *)(void *)space;
        must((size_t)vfs->szOsFile <= sizeof(space));
        hash = hash * 31 + i;
        if (vfs->xOpen(vfs, files[i], file, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
            continue;
        }
        sqlite3_int64 size = 0;
        must(file->pMethods->xFileSize(file, &size) == SQLITE_OK);
        for (sqlite3_int64 at = 0; at < size; at++) {
            unsigned char byte;
            must(file->pMethods->xRead(file, &byte, 1, at) == SQLITE_OK);
            hash = (hash ^ byte) * UINT64_C(0x100000001b3);
        }
        file->pMethods->xClose(file);
    }
    return hash;
}
