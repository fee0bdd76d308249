/* The store as a handler sees it: statements, transactions, effects, and what faults make of them.
 *
 * In: bound statements. Out: outcomes, and, when a transaction ends, word of whether its effects
 * have become state.
 */
#include "sim/handling.h"

static enum outcome outcome_of(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_DONE:
    case SQLITE_OK:
        return OK;
    case SQLITE_ROW:
        return ROW;
    case SQLITE_CONSTRAINT:
        return CONSTRAINT;
    case SQLITE_BUSY:
        return BUSY;
    case SQLITE_FULL:
        return FULL;
    default: /* not our enum */
        return STORE_ERROR;
    }
}

/* What the transaction held has become state, or has not. */
static void transaction_ended(struct handling *h, bool committed)
{
    struct host *host = h->host;
    if (committed) {
        operation_committed(host->operations, h->op, h->effects_open, h->arrived,
                            handling_occasion(h));
        h->op->wrote += h->changed;
        host->counters.commits += h->changed;
        h->op->disk_mark = host->counters.commits;
        handling_record(h, RECORD_COMMITTED,
                        (uint8_t)(h->effects_open > 255 ? 255 : h->effects_open), 0);
        host->listener.committed(host->listener.context, h->op);
    } else {
        handling_record(h, RECORD_ROLLED_BACK, 0, 0);
    }
    h->effects_open = 0;
    h->changed = false;
    host_wake_waiting(host);
}

/* BEGIN IMMEDIATE takes a lock and changes nothing. */
static bool writes(const struct handling *h, sqlite3_stmt *stmt)
{
    return !sqlite3_stmt_readonly(stmt) && stmt != h->worker->own[OWN_BEGIN_IMMEDIATE];
}

/* Runs a bound statement and follows the transaction it may begin or end. */
static enum outcome execute(struct handling *h, sqlite3_stmt *stmt)
{
    bool was_open = !sqlite3_get_autocommit(h->worker->db);
    /* A write that commits by itself: after a crash inside it only the disk knows whether it did.
     */
    bool alone = !was_open && writes(h, stmt);
    h->changed = h->changed || alone;
    int rc = sqlite3_step(stmt);
    h->statements++;
    if (!h->host->up) {
        sqlite3_reset(stmt);
        return DEAD;
    }
    enum outcome o = outcome_of(rc);
    if (o == ROW) {
        h->row = stmt;
    } else {
        sqlite3_reset(stmt);
    }
    bool is_open = !sqlite3_get_autocommit(h->worker->db);
    if (o == OK && writes(h, stmt)) {
        h->changed = true;
    } else if (alone) {
        h->changed = false;
    }
    if (was_open && !is_open) {
        transaction_ended(h, o == OK && stmt == h->worker->own[OWN_COMMIT]);
    } else if (!was_open && !is_open && h->changed) {
        transaction_ended(h, true);
    }
    return o;
}

void store_undo(struct handling *h)
{
    if (h->host->up && !sqlite3_get_autocommit(h->worker->db)) {
        execute(h, h->worker->own[OWN_ROLLBACK]);
    }
}

/* One unit of work under a store fault. A COMMIT that is not applied is rolled back. */
static enum outcome under_faults(struct handling *h, sqlite3_stmt *stmt,
                                 enum outcome (*run)(struct handling *h, sqlite3_stmt *stmt))
{
    struct fault_value value;
    if (!handling_site_fires(h, FAULT_STORE, MOMENT_NONE, &value)) {
        return run(h, stmt);
    }
    operation_hinder(h->op, h->message.attempt);
    enum outcome o = STORE_ERROR;
    switch ((enum store_fault)value.choice) {
    case STORE_NOT_APPLIED:
        if (stmt == h->worker->own[OWN_COMMIT]) {
            store_undo(h);
        }
        break;
    case STORE_APPLIED:
        run(h, stmt);
        break;
    case STORE_BUSY:
        o = BUSY;
        break;
    case STORE_FULL:
        disk_full(h->host->disk, true);
        o = run(h, stmt);
        disk_full(h->host->disk, false);
        break;
    }
    return h->host->up ? o : DEAD;
}

enum outcome store_execute(struct handling *h, sqlite3_stmt *stmt)
{
    return under_faults(h, stmt, execute);
}

/* The ledger row and the change of the balance, in the transaction that is open. */
static enum outcome write_effect(struct handling *h)
{
    struct operation *op = h->op;
    struct worker *w = h->worker;
    uint32_t nth = operation_effect_begun(h->host->operations, op, h->arrived);
    sqlite3_bind_int64(w->own[OWN_LEDGER], 1, ledger_row(op->slot, nth));
    sqlite3_bind_int64(w->own[OWN_LEDGER], 2, (int64_t)op->op);
    sqlite3_bind_int64(w->own[OWN_LEDGER], 3, op->entity);
    sqlite3_bind_int64(w->own[OWN_LEDGER], 4, op->amount);
    enum outcome o = execute(h, w->own[OWN_LEDGER]);
    const char *entity = handling_entity(h);
    const enum own_statement change[] = {OWN_UPDATE_ENTITY, OWN_INSERT_ENTITY};
    for (size_t i = 0; o == OK && i < ARRAY_LEN(change); i++) {
        sqlite3_stmt *stmt = w->own[change[i]];
        sqlite3_bind_text(stmt, 1, entity, -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 2, op->amount);
        if (change[i] == OWN_INSERT_ENTITY) {
            sqlite3_bind_int64(stmt, 3, op->entity);
        }
        o = execute(h, stmt);
        if (o == OK && sqlite3_changes(w->db) > 0) {
            break;
        }
    }
    if (o == OK) {
        h->effects_open++;
        h->receipt = receipt_make(op->op, nth);
        handling_record(h, RECORD_EFFECT, 0, op->amount);
    }
    return o;
}

/* Both writes or none: half of an effect would be the harness's fault, so trouble between the two
 * rolls the whole transaction back, as SQLite itself does when the disk is full. */
static enum outcome write_whole_effect(struct handling *h, sqlite3_stmt *none)
{
    (void)none;
    struct worker *w = h->worker;
    bool own_transaction = sqlite3_get_autocommit(w->db);
    enum outcome o = own_transaction ? execute(h, w->own[OWN_BEGIN_IMMEDIATE]) : OK;
    o = o == OK ? write_effect(h) : o;
    if (own_transaction && o == OK) {
        o = execute(h, w->own[OWN_COMMIT]);
    }
    if (o != OK && o != DEAD) {
        store_undo(h);
    }
    return o;
}

enum outcome store_effect(struct handling *h)
{
    return under_faults(h, NULL, write_whole_effect);
}
