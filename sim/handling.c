/* What a handler may call, each as one step: see receivers/receiver.h.
 *
 * In: calls on a worker's coroutine. Out: SQL on the worker's connection, replies into the network.
 */
#include "sim/handling.h"

#include "receivers/retention.h"

#include <stdarg.h>

const char *outcome_text(enum outcome o)
{
    switch (o) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        OUTCOMES(X)
#undef X
    }
    return "?";
}

const char *record_move_text(enum record_move m)
{
    switch (m) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        MOVES(X)
#undef X
    }
    return "?";
}

enum outcome sql(struct handling *h, enum step step, unsigned index, const char *types, ...)
{
    if (step_refused(h)) {
        return DEAD;
    }
    sqlite3_stmt *stmt = index < PREPARED_MAX ? h->worker->statements[index] : NULL;
    must(stmt != NULL);
    enum outcome o = step_enter(h, step);
    if (o != OK) {
        return o;
    }
    va_list values;
    va_start(values, types);
    for (int i = 0; types[i] != '\0'; i++) {
        must(types[i] == 't' || types[i] == 'i');
        if (types[i] == 't') {
            sqlite3_bind_text(stmt, i + 1, va_arg(values, const char *), -1, SQLITE_STATIC);
        } else {
            sqlite3_bind_int64(stmt, i + 1, va_arg(values, int64_t));
        }
    }
    va_end(values);
    const struct receiver *code = h->host->code;
    h->moving = code->moves && index < RETENTION_STATEMENTS ? code->moves[index] : MOVE_NONE;
    o = store_execute(h, stmt);
    h->moving = MOVE_NONE;
    return step_leave(h, o, (int64_t)index);
}

int64_t handling_column_int(const struct handling *h, int column)
{
    must(h->row != NULL);
    return sqlite3_column_int64(h->row, column);
}

const char *handling_column_text(const struct handling *h, int column)
{
    must(h->row != NULL);
    const unsigned char *text = sqlite3_column_text(h->row, column);
    return text ? (const char *)text : "";
}

int64_t handling_changes(const struct handling *h)
{
    return h->host->up ? sqlite3_changes(h->worker->db) : 0;
}

int64_t handling_process(const struct handling *h)
{
    return (int64_t)h->host->counters.restarts + 1;
}

int64_t handling_token(const struct handling *h)
{
    return h->token;
}

static enum outcome own_step(struct handling *h, enum step step, enum own_statement which,
                             int statement)
{
    if (step_refused(h)) {
        return DEAD;
    }
    enum outcome o = step_enter(h, step);
    if (o != OK) {
        return o;
    }
    return step_leave(h, store_execute(h, h->worker->own[which]), statement);
}

enum outcome begin_immediate(struct handling *h)
{
    return own_step(h, STEP_BEGIN, OWN_BEGIN_IMMEDIATE, STATEMENT_BEGIN);
}

enum outcome begin_deferred(struct handling *h)
{
    return own_step(h, STEP_BEGIN, OWN_BEGIN, STATEMENT_BEGIN);
}

enum outcome commit(struct handling *h)
{
    return own_step(h, STEP_COMMIT, OWN_COMMIT, STATEMENT_COMMIT);
}

enum outcome rollback(struct handling *h)
{
    if (h->host->up && sqlite3_get_autocommit(h->worker->db)) {
        return step_refused(h) ? DEAD : OK;
    }
    return own_step(h, STEP_ROLLBACK, OWN_ROLLBACK, STATEMENT_ROLLBACK);
}

/* The work of one attempt takes as long whichever receiver handles it. Downstream there is none. */
static enum outcome do_work(struct handling *h)
{
    struct host *host = h->host;
    const struct dist *d = &host->config->work;
    bool none = d->kind == DIST_CONSTANT && d->a == 0;
    if (none || h->worked || h->op->registers || host->place != PLACE_RECEIVER) {
        return OK;
    }
    h->worked = true;
    const struct message *m = &h->message;
    struct rng_key key = {.operation = h->op->op_hash,
                          .attempt = m->attempt,
                          .copy = m->copy,
                          .draw = DRAW_WORK,
                          .host = host->place};
    uint64_t ns = dist_sample(d, run_draw(host->run, &key));
    handling_record(h, RECORD_WORK, 0, (int64_t)ns);
    if (ns > 0) {
        host_sleep(h->worker, host->run->now + ns);
    }
    return host->up ? OK : DEAD;
}

enum outcome business_work(struct handling *h)
{
    return step_refused(h) ? DEAD : do_work(h);
}

enum outcome apply_effect(struct handling *h)
{
    if (step_refused(h)) {
        return DEAD;
    }
    enum outcome o = step_enter(h, STEP_EFFECT);
    o = o == OK ? do_work(h) : o;
    return o == OK ? step_leave(h, store_effect(h), STATEMENT_EFFECT) : o;
}

enum outcome work(struct handling *h, enum step step, uint64_t ns)
{
    if (step_refused(h)) {
        return DEAD;
    }
    enum outcome o = step_enter(h, step);
    if (o == OK && ns > 0) {
        host_sleep(h->worker, h->host->run->now + ns);
    }
    return o == OK ? step_leave(h, OK, STATEMENT_NONE) : o;
}

/* code: HTTP status, 0: none. */
static enum outcome answer(struct handling *h, enum reply_status status, int64_t receipt,
                           unsigned code, bool replayed)
{
    struct host *host = h->host;
    if (step_refused(h)) {
        return DEAD;
    }
    must(status != REPLY_NONE);
    must(!h->replied);
    enum outcome o = step_enter(h, STEP_REPLY);
    if (o != OK) {
        return o;
    }
    h->replied = true;
    if (h->already && (status == REPLY_DONE || status == REPLY_DUPLICATE)) {
        operation_already(h->op, 1);
    }
    handling_record(h, RECORD_REPLY, (uint8_t)status, receipt);
    if (code > 0) {
        handling_record(h, RECORD_HTTP, replayed, code);
    }
    h->op->replied = handling_occasion(h);
    h->op->reply_late = operation_late(host->operations, h->op, h->arrived);
    host->listener.replied(host->listener.context, h->op, status, receipt);
    struct message m = h->message;
    bool brokered = m.direction == DELIVERY; /* then the broker is answered, with its ticket */
    m.direction = brokered ? ACK : REPLY;
    m.echo = 1;
    m.behind = 0;
    m.status = (uint8_t)status;
    m.receipt = brokered ? m.receipt : receipt;
    network_send(host->network, h->op, &m, host->place, brokered ? PLACE_BROKER : op_sender(m.op));
    return step_leave(h, OK, STATEMENT_NONE);
}

enum outcome reply(struct handling *h, enum reply_status status, int64_t receipt)
{
    return answer(h, status, receipt, 0, false);
}

enum outcome reply_http(struct handling *h, enum reply_status status, int64_t receipt,
                        unsigned code, bool replayed)
{
    must(code >= 100 && code <= 599);
    return answer(h, status, receipt, code, replayed);
}

void give_up(struct handling *h, enum outcome o)
{
    if (o == DEAD) {
        return;
    }
    if (rollback(h) == DEAD) {
        return;
    }
    enum reply_status status = o == BUSY || o == FULL ? REPLY_RETRY_LATER
                               : o == DECLINED        ? REPLY_REFUSED
                                                      : REPLY_ERROR;
    reply(h, status, 0);
}

int64_t handling_receipt(const struct handling *h)
{
    return h->receipt;
}

/* A connection pool hands no open transaction to the next request. */
static void let_connection_go(struct handling *h)
{
    if (!h->host->up) {
        return;
    }
    if (h->row) {
        sqlite3_reset(h->row);
        h->row = NULL;
    }
    store_undo(h);
}

void handling_run_sweep(void *worker)
{
    struct worker *w = worker;
    retention_run_sweep(&w->handling);
    let_connection_go(&w->handling);
}

void handling_run_relay(void *worker)
{
    struct worker *w = worker;
    w->handling.host->code->relay(&w->handling);
    let_connection_go(&w->handling);
}

void handling_run(void *worker)
{
    struct worker *w = worker;
    struct handling *h = &w->handling;
    enum outcome o = step_enter(h, STEP_RECEIVE);
    o = o == OK ? step_leave(h, OK, STATEMENT_NONE) : o;
    if (o == OK) {
        h->host->code->handle(h);
    } else {
        give_up(h, o);
    }
    let_connection_go(h);
}
