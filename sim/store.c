/* The store as a handler sees it: statements, transactions, and what faults make of them. Effects:
 * sim/store_effect.c.
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

/* The handling with that token runs in this process: it has neither ended nor died with another. */
static bool still_runs(const struct host *host, int64_t token)
{
    for (uint32_t i = 0; i < host->config->workers; i++) {
        const struct worker *w = &host->workers[i];
        if (coro_busy(w->coro) && w->handling.token == token) {
            return true;
        }
    }
    return false;
}

/* A claim is taken over. What the owner does with it later, the checks of records say. */
static void count_premature(const struct handling *h)
{
    const struct standing_record *r = &h->op->record;
    if (r->standing == STANDING_IN_PROGRESS && r->claimed.token != h->token &&
        still_runs(h->host, r->claimed.token)) {
        h->host->counters.premature++;
    }
}

/* The record's moves of a transaction that is committed now. */
static void tell_moves(struct handling *h)
{
    struct host *host = h->host;
    struct moved m = {.by = {h->token, handling_occasion(h)},
                      .since = h->since,
                      .since_clock = h->since_clock,
                      .clock = clock_read(&host->clock, host->run->now),
                      .arrived = h->arrived,
                      .arrived_clock = handling_arrived(h)};
    for (uint8_t i = 0; i < h->moves_open; i++) {
        m.move = h->moves[i];
        if (m.move == MOVE_CLAIM) {
            count_premature(h);
        }
        host->listener.moved(host->listener.context, h->op, &m);
    }
    if (h->moves_open > 0) {
        h->asked = 0;
    }
}

/* A statement of the receiver has done what it says it does to the record. */
static void note_move(struct handling *h)
{
    if (h->moving != MOVE_NONE && sqlite3_changes(h->worker->db) > 0) {
        must(h->moves_open < MOVES_OPEN);
        if (h->moves_open == 0) {
            const struct host *host = h->host;
            h->since = h->asked ? h->asked : host->run->now;
            h->since_clock = h->asked ? h->asked_clock : clock_read(&host->clock, host->run->now);
        }
        h->moves[h->moves_open++] = h->moving;
    }
}

/* What the transaction held has become state, or has not. */
static void transaction_ended(struct handling *h, bool committed)
{
    struct host *host = h->host;
    if (committed && h->sweep) {
        handling_record(h, RECORD_COMMITTED, 0, 0);
    } else if (committed) {
        operation_committed(host->operations, h->op, h->effects_open, h->sum_open, h->arrived,
                            handling_occasion(h));
        operation_already(h->op, h->already_open);
        h->op->wrote += h->changed;
        host->counters.commits += h->changed;
        h->op->disk_mark = host->counters.commits;
        handling_record(h, RECORD_COMMITTED,
                        (uint8_t)(h->effects_open > 255 ? 255 : h->effects_open), 0);
        host->listener.committed(host->listener.context, h->op);
        tell_moves(h);
    } else {
        handling_record(h, RECORD_ROLLED_BACK, 0, 0);
    }
    if (committed && h->parcels_open) {
        host_relay_later(host);
    }
    h->parcels_open = false;
    h->effects_open = h->already_open = 0;
    h->sum_open = 0;
    h->moves_open = 0;
    h->changed = false;
    host_wake_waiting(host);
}

/* BEGIN IMMEDIATE takes a lock and changes nothing. */
static bool writes(const struct handling *h, sqlite3_stmt *stmt)
{
    return !sqlite3_stmt_readonly(stmt) && stmt != h->worker->own[OWN_BEGIN_IMMEDIATE];
}

/* Runs a bound statement and follows the transaction it may begin or end. */
enum outcome store_run(struct handling *h, sqlite3_stmt *stmt)
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
        note_move(h);
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
        store_run(h, h->worker->own[OWN_ROLLBACK]);
    }
}

/* One unit of work under a store fault. A COMMIT that is not applied is rolled back. */
enum outcome store_under_faults(struct handling *h, sqlite3_stmt *stmt,
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
    return store_under_faults(h, stmt, store_run);
}
