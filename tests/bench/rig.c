#include "tests/bench/rig.h"

#include <string.h>

void rig_scenario(const char *text, struct scenario *s)
{
    must(scenario_parse("bench", text, strlen(text), stderr, s) == SIM_OK);
}

struct world *rig_world(const struct scenario *s, size_t receiver)
{
    enum sim_error e;
    struct world *w = world_new(s, receiver, stderr, &e);
    must(w != NULL);
    return w;
}

uint64_t rig_play(struct world *w, bool any)
{
    struct result r;
    world_play(w, &(struct play){.seed = 1}, &r);
    must(any || r.verdict == VERDICT_PASS);
    uint64_t operations = r.operations;
    result_fini(&r);
    return operations;
}

static sqlite3_stmt *prepare(struct bare *b, const char *sql)
{
    sqlite3_stmt *s = NULL;
    must(sqlite3_prepare_v3(b->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL) == SQLITE_OK);
    return s;
}

void bare_open(struct bare *b, const char *vfs, uint32_t entities)
{
    memset(b, 0, sizeof(*b));
    b->entities = entities;
    must(sqlite3_open_v2(vfs ? "db" : ":memory:", &b->db,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs) == SQLITE_OK);
    const char *schema =
        "PRAGMA temp_store=memory;"
        "CREATE TABLE entity(id TEXT PRIMARY KEY, number INTEGER NOT NULL, balance INTEGER NOT"
        " NULL) WITHOUT ROWID;"
        "CREATE TABLE ledger(row INTEGER PRIMARY KEY, operation INTEGER NOT NULL, entity INTEGER"
        " NOT NULL, amount INTEGER NOT NULL);"
        "CREATE TABLE processed_message(id TEXT PRIMARY KEY) WITHOUT ROWID;";
    if (vfs) {
        must(sqlite3_exec(b->db,
                          "PRAGMA page_size=1024; PRAGMA synchronous=full;"
                          "PRAGMA journal_mode=truncate;",
                          NULL, NULL, NULL) == SQLITE_OK);
    }
    must(sqlite3_exec(b->db, schema, NULL, NULL, NULL) == SQLITE_OK);
    b->begin = prepare(b, "BEGIN IMMEDIATE");
    b->id = prepare(b, "INSERT INTO processed_message(id) VALUES(?1)");
    b->ledger = prepare(b, "INSERT INTO ledger(row, operation, entity, amount)"
                           " VALUES(?1, ?2, ?3, ?4)");
    b->update = prepare(b, "UPDATE entity SET balance = balance + ?2 WHERE id = ?1");
    b->insert = prepare(b, "INSERT INTO entity(id, number, balance) VALUES(?1, ?3, ?2)");
    b->commit = prepare(b, "COMMIT");
    b->rollback = prepare(b, "ROLLBACK");
}

void bare_close(struct bare *b)
{
    sqlite3_stmt *all[] = {b->begin,  b->id,     b->ledger,  b->update,
                           b->insert, b->commit, b->rollback};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        sqlite3_finalize(all[i]);
    }
    must(sqlite3_close(b->db) == SQLITE_OK);
}

static void step(sqlite3_stmt *s)
{
    must(sqlite3_step(s) == SQLITE_DONE);
    sqlite3_reset(s);
}

void bare_fresh(struct bare *b, uint64_t messages)
{
    char id[32], entity[32];
    for (uint64_t i = 0; i < messages; i++) {
        uint64_t n = ++b->next;
        uint32_t e = (uint32_t)(n * 7919 % b->entities);
        snprintf(id, sizeof(id), "shop-%llu", (unsigned long long)n);
        snprintf(entity, sizeof(entity), "shop-entity-%u", e + 1);
        step(b->begin);
        sqlite3_bind_text(b->id, 1, id, -1, SQLITE_STATIC);
        step(b->id);
        sqlite3_bind_int64(b->ledger, 1, (int64_t)n);
        sqlite3_bind_int64(b->ledger, 2, (int64_t)n);
        sqlite3_bind_int64(b->ledger, 3, e);
        sqlite3_bind_int64(b->ledger, 4, 100);
        step(b->ledger);
        sqlite3_bind_text(b->update, 1, entity, -1, SQLITE_STATIC);
        sqlite3_bind_int64(b->update, 2, 100);
        step(b->update);
        if (sqlite3_changes(b->db) == 0) {
            sqlite3_bind_text(b->insert, 1, entity, -1, SQLITE_STATIC);
            sqlite3_bind_int64(b->insert, 2, 100);
            sqlite3_bind_int64(b->insert, 3, e);
            step(b->insert);
        }
        step(b->commit);
    }
}

void bare_duplicate(struct bare *b, uint64_t messages)
{
    char id[32];
    snprintf(id, sizeof(id), "shop-%llu", (unsigned long long)b->next);
    for (uint64_t i = 0; i < messages; i++) {
        step(b->begin);
        sqlite3_bind_text(b->id, 1, id, -1, SQLITE_STATIC);
        must(sqlite3_step(b->id) == SQLITE_CONSTRAINT);
        sqlite3_reset(b->id);
        step(b->rollback);
    }
}
