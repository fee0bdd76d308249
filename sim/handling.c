/* What a handler may call, each as one step: see receivers/receiver.h.
 *
 * In: calls on a worker's coroutine. Out: SQL on the worker's connection, replies into the network.
 */
#include "sim/handling.h"

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

enum outcome sql(struct handling *h, enum step step, unsigned index, const char *types, ...)
{
    if (step_refused(h)) {
        return DEAD;
    }
    sqlite3_stmt *stmt = index < STATEMENTS_MAX ? h->worker->statements[index] : NULL;
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
    return step_leave(h, store_execute(h, stmt), (int64_t)index);
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

enum outcome apply_effect(struct handling *h)
{
    if (step_refused(h)) {
        return DEAD;
    }
    enum outcome o = step_enter(h, STEP_EFFECT);
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

enum outcome reply(struct handling *h, enum reply_status status, int64_t receipt)
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
    handling_record(h, RECORD_REPLY, (uint8_t)status, receipt);
    h->op->replied = handling_occasion(h);
    h->op->reply_late = operation_late(host->operations, h->op, h->arrived);
    host->listener.replied(host->listener.context, h->op, status, receipt);
    struct message m = h->message;
    m.direction = REPLY;
    m.echo = 1;
    m.status = (uint8_t)status;
    m.receipt = receipt;
    network_send(host->network, h->op, &m, host->place, op_sender(m.op));
    return step_leave(h, OK, STATEMENT_NONE);
}

void give_up(struct handling *h, enum outcome o)
{
    if (o == DEAD) {
        return;
    }
    if (rollback(h) == DEAD) {
        return;
    }
    reply(h, o == BUSY || o == FULL ? REPLY_RETRY_LATER : REPLY_ERROR, 0);
}

const char *handling_key(const struct handling *h)
{
    return h->op->key;
}

const char *handling_client(const struct handling *h)
{
    return h->host->client_name(h->host->names, op_sender(h->message.op));
}

const char *handling_entity(const struct handling *h)
{
    return h->host->entity_name(h->host->names, h->op->entity, h->worker->entity);
}

int64_t handling_amount(const struct handling *h)
{
    return h->op->amount;
}

int64_t handling_setting(const struct handling *h, unsigned index)
{
    must(index < SETTINGS_MAX);
    return h->host->settings[index];
}

const char *handling_body(struct handling *h)
{
    snprintf(h->worker->body, sizeof(h->worker->body), "add %lld to %s", (long long)h->op->amount,
             handling_entity(h));
    return h->worker->body;
}

uint64_t handling_now(const struct handling *h)
{
    return clock_read(&h->host->clock, h->host->run->now);
}

int64_t handling_receipt(const struct handling *h)
{
    return h->receipt;
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
    if (h->host->up) {
        if (h->row) {
            sqlite3_reset(h->row);
            h->row = NULL;
        }
        store_undo(h); /* a connection pool hands no open transaction to the next request */
    }
}
