#include "sim/connection.h"

#include <string.h>

#define SQL_TEXT 2048

/* `number` is the harness's own, so that an audit finds an entity without its name. A ledger row is
 * numbered by the operation's slot and the n-th effect begun of it, so rows of forgotten operations
 * are overwritten and the table stays as large as what is in flight. */
const char host_schema[] =
    "CREATE TABLE entity(id TEXT PRIMARY KEY, number INTEGER NOT NULL, balance INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE ledger(row INTEGER PRIMARY KEY, operation INTEGER NOT NULL,"
    " entity INTEGER NOT NULL, amount INTEGER NOT NULL);";

static const char *const own_sql[OWN_COUNT] = {
    [OWN_BEGIN_IMMEDIATE] = "BEGIN IMMEDIATE",
    [OWN_BEGIN] = "BEGIN",
    [OWN_COMMIT] = "COMMIT",
    [OWN_ROLLBACK] = "ROLLBACK",
    [OWN_UPDATE_ENTITY] = "UPDATE entity SET balance = balance + ?2 WHERE id = ?1",
    [OWN_INSERT_ENTITY] = "INSERT INTO entity(id, number, balance) VALUES(?1, ?3, ?2)",
    [OWN_LEDGER] = ("INSERT OR REPLACE INTO ledger(row, operation, entity, amount)"
                    " VALUES(?1, ?2, ?3, ?4)"),
    [OWN_BALANCE] = "SELECT balance FROM entity WHERE id = ?1",
};

static enum sim_error refuse(struct worker *w, const char *what, FILE *errors)
{
    fprintf(errors, "onlyonce: receiver %s: SQLite refuses %s: %s\n", w->host->code->name, what,
            w->db ? sqlite3_errmsg(w->db) : "out of memory");
    return SIM_ERR_STORE;
}

static enum sim_error settings(struct worker *w, FILE *errors)
{
    const struct database_config *c = &w->host->config->database;
    char text[256];
    snprintf(text, sizeof(text),
             "PRAGMA page_size=%u; PRAGMA temp_store=memory; PRAGMA synchronous=%s;"
             " PRAGMA journal_mode=%s;",
             c->page_size, synchronous_text(c->synchronous), journal_text(c->journal));
    if (sqlite3_exec(w->db, text, NULL, NULL, NULL) != SQLITE_OK) {
        return refuse(w, "its settings", errors);
    }
    return SIM_OK;
}

static enum sim_error prepare(struct worker *w, const char *sql, sqlite3_stmt **out, FILE *errors)
{
    if (sqlite3_prepare_v3(w->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) != SQLITE_OK) {
        return refuse(w, sql, errors);
    }
    return SIM_OK;
}

static enum sim_error prepare_all(struct worker *w, FILE *errors)
{
    enum sim_error e = SIM_OK;
    for (size_t i = 0; e == SIM_OK && i < OWN_COUNT; i++) {
        e = prepare(w, own_sql[i], &w->own[i], errors);
    }
    const struct statement *s = w->host->code->statements;
    for (size_t i = 0; e == SIM_OK && s && s[i].sql; i++) {
        must(i < STATEMENTS_MAX);
        e = prepare(w, s[i].sql, &w->statements[i], errors);
    }
    for (unsigned i = 0; e == SIM_OK && i < RETENTION_STATEMENTS_MAX; i++) {
        char text[SQL_TEXT];
        const char *sql = retention_sql(w->host->code, w->host->settings, i, text, sizeof(text));
        if (sql != NULL) {
            e = prepare(w, sql, &w->statements[RETENTION_STATEMENTS + i], errors);
        }
    }
    return e;
}

static enum sim_error create_tables(struct worker *w, FILE *errors)
{
    char text[SQL_TEXT];
    const struct receiver *code = w->host->code;
    const char *const schemas[] = {host_schema, code->schema,
                                   retention_schema(code, w->host->settings, text, sizeof(text))};
    for (size_t i = 0; i < ARRAY_LEN(schemas); i++) {
        if (schemas[i] && sqlite3_exec(w->db, schemas[i], NULL, NULL, NULL) != SQLITE_OK) {
            return refuse(w, "its schema", errors);
        }
    }
    return SIM_OK;
}

enum sim_error connection_open(struct worker *w, bool create, FILE *errors)
{
    const struct receiver *code = w->host->code;
    if (sqlite3_open_v2("db", &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        disk_vfs(w->host->disk)) != SQLITE_OK) {
        return refuse(w, "to open the database", errors);
    }
    enum sim_error e = settings(w, errors);
    e = e == SIM_OK && create ? create_tables(w, errors) : e;
    if (e == SIM_OK && code->session &&
        sqlite3_exec(w->db, code->session, NULL, NULL, NULL) != SQLITE_OK) {
        return refuse(w, "its session", errors);
    }
    return e == SIM_OK ? prepare_all(w, errors) : e;
}

void connection_close(struct worker *w)
{
    for (size_t i = 0; i < OWN_COUNT; i++) {
        sqlite3_finalize(w->own[i]);
    }
    for (size_t i = 0; i < PREPARED_MAX; i++) {
        sqlite3_finalize(w->statements[i]);
    }
    memset(w->own, 0, sizeof(w->own));
    memset(w->statements, 0, sizeof(w->statements));
    sqlite3_close(w->db);
    w->db = NULL;
}
