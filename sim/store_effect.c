/* The business: what a message changes, with the ledger row that says so to the judge.
 *
 * In: a handling whose operation says what is asked for. Out: balance and ledger row written in one
 * transaction, or neither. The row's amount is the difference that the effect made to the balance,
 * so that a balance is the sum of the rows whatever the effects are:
 *
 *     add, create   n
 *     set           n less the balance before; where that is 0 nothing is written: OK, no row, no
 *                   effect, no receipt
 *     insert        n; CONSTRAINT, and the transaction as it was, where the entity exists
 *
 * A message that opens a session changes nothing here. The business may refuse: always what is
 * invalid, and as many executions as the scenario says.
 */
#include "sim/handling.h"

static enum outcome write_row(struct handling *h, uint32_t nth, int64_t amount)
{
    const struct operation *op = h->op;
    sqlite3_stmt *stmt = h->worker->own[OWN_LEDGER];
    sqlite3_bind_int64(stmt, 1, ledger_row(op->slot, nth));
    sqlite3_bind_int64(stmt, 2, (int64_t)op->op);
    sqlite3_bind_int64(stmt, 3, op->entity);
    sqlite3_bind_int64(stmt, 4, amount);
    return store_run(h, stmt);
}

static enum outcome change_entity(struct handling *h, enum own_statement which, int64_t amount)
{
    sqlite3_stmt *stmt = h->worker->own[which];
    sqlite3_bind_text(stmt, 1, handling_entity(h), -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 2, amount);
    if (which == OWN_INSERT_ENTITY) {
        sqlite3_bind_int64(stmt, 3, h->op->entity);
    }
    return store_run(h, stmt);
}

/* The balance grows by amount; an entity that is missing is made. */
static enum outcome grow_entity(struct handling *h, int64_t amount)
{
    enum outcome o = change_entity(h, OWN_UPDATE_ENTITY, amount);
    if (o == OK && sqlite3_changes(h->worker->db) == 0) {
        o = change_entity(h, OWN_INSERT_ENTITY, amount);
    }
    return o;
}

/* What is missing from the balance to n. */
static enum outcome difference(struct handling *h, int64_t *out)
{
    sqlite3_stmt *stmt = h->worker->own[OWN_BALANCE];
    sqlite3_bind_text(stmt, 1, handling_entity(h), -1, SQLITE_STATIC);
    enum outcome o = store_run(h, stmt);
    *out = h->op->amount;
    if (o == ROW) {
        *out -= sqlite3_column_int64(stmt, 0);
        sqlite3_reset(stmt);
        h->row = NULL;
        o = OK;
    }
    return o;
}

/* In the transaction that is open. */
static enum outcome write_effect(struct handling *h)
{
    struct operation *op = h->op;
    int64_t amount = op->amount;
    enum outcome o = OK;
    if (op->effect == EFFECT_SET) {
        o = difference(h, &amount);
        if (o == OK && amount == 0) {
            h->already_open++;
            h->already = true;
            return OK;
        }
    } else if (op->effect == EFFECT_INSERT) {
        o = change_entity(h, OWN_INSERT_ENTITY, amount);
    }
    if (o != OK) {
        return o;
    }
    uint32_t nth = operation_effect_begun(h->host->operations, op, h->arrived);
    o = write_row(h, nth, amount);
    if (o == OK && op->effect != EFFECT_INSERT) {
        o = grow_entity(h, amount);
    }
    if (o == OK) {
        h->effects_open++;
        h->sum_open += amount;
        h->receipt = receipt_make(op->op, nth);
        handling_record(h, RECORD_EFFECT, 0, amount);
    }
    return o;
}

/* Asked each time that the effect is, before the store is. */
static bool declines(struct operation *op)
{
    op->executions++;
    return op->invalid || op->executions <= op->declined;
}

/* All writes or none: half of an effect would be the harness's fault, so trouble between two of
 * them rolls the whole transaction back, as SQLite itself does when the disk is full. An insert
 * that is refused has written nothing. */
static enum outcome write_whole_effect(struct handling *h, sqlite3_stmt *none)
{
    (void)none;
    struct worker *w = h->worker;
    if (h->op->registers) {
        return OK;
    }
    if (declines(h->op)) {
        return DECLINED;
    }
    bool own_transaction = sqlite3_get_autocommit(w->db);
    enum outcome o = own_transaction ? store_run(h, w->own[OWN_BEGIN_IMMEDIATE]) : OK;
    o = o == OK ? write_effect(h) : o;
    if (own_transaction && o == OK) {
        o = store_run(h, w->own[OWN_COMMIT]);
    }
    bool untouched = o == CONSTRAINT && h->op->effect == EFFECT_INSERT && !own_transaction;
    if (o != OK && o != DEAD && !untouched) {
        store_undo(h);
    }
    return o;
}

enum outcome store_effect(struct handling *h)
{
    return store_under_faults(h, NULL, write_whole_effect);
}
