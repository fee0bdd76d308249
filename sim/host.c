#include "sim/host.h"

#include "sim/connection.h"
#include "sim/host_internal.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((size_t)256 << 20)

static bool before_disk_operation(void *context, enum disk_op op)
{
    struct host *h = context;
    (void)op;
    return h->running == NULL || handling_disk_operation(&h->running->handling);
}

static uint64_t own_clock(void *context)
{
    const struct host *h = context;
    return clock_read(&h->clock, h->run->now);
}

/* SQLite calls this instead of answering SQLITE_BUSY. The worker stands still until somebody's
 * transaction ends or its patience does; 0 gives up. */
static int wait_for_lock(void *context, int times)
{
    struct worker *w = context;
    struct host *h = w->host;
    if (h->running != w) {
        return 0; /* outside a handling: while opening */
    }
    if (times == 0) {
        w->lock_deadline = h->run->now + h->config->database.busy_timeout;
    }
    if (!h->up || h->run->now >= w->lock_deadline) {
        return 0;
    }
    run_record(h->run, (struct record){.kind = RECORD_WAIT,
                                       .op = w->handling.op->op,
                                       .attempt = w->handling.message.attempt,
                                       .copy = record_copy(w->handling.message.copy),
                                       .place = h->place,
                                       .worker = w->number,
                                       .step = w->handling.step});
    w->waits_for_lock = true;
    host_sleep(w, w->lock_deadline);
    w->waits_for_lock = false;
    return h->up;
}

static enum sim_error open_all(struct host *h, FILE *errors)
{
    enum sim_error e = SIM_OK;
    for (uint32_t i = 0; e == SIM_OK && i < h->connections; i++) {
        e = connection_open(&h->workers[i], false, errors);
    }
    for (uint32_t i = 0; e == SIM_OK && i < h->connections; i++) {
        sqlite3_busy_handler(h->workers[i].db, wait_for_lock, &h->workers[i]);
        /* An empty cache, so that the process's image believes nothing about the disk. */
        int rc = sqlite3_file_control(h->workers[i].db, "main", SQLITE_FCNTL_RESET_CACHE, NULL);
        must(rc == SQLITE_OK);
    }
    return e;
}

static void close_all(struct host *h)
{
    for (uint32_t i = 0; i < h->connections; i++) {
        if (h->workers[i].db) {
            connection_close(&h->workers[i]);
        }
    }
}

/* The handles lie outside the arena and have to go back with it. */
static void keep_handles(struct host *h)
{
    for (uint32_t i = 0; i < h->connections; i++) {
        const struct worker *w = &h->workers[i];
        h->kept[i].db = w->db;
        memcpy(h->kept[i].own, w->own, sizeof(w->own));
        memcpy(h->kept[i].statements, w->statements, sizeof(w->statements));
    }
}

static void put_process_back(struct host *h)
{
    arena_restore(&h->arena, &h->just_started);
    for (uint32_t i = 0; i < h->connections; i++) {
        struct worker *w = &h->workers[i];
        w->db = h->kept[i].db;
        memcpy(w->own, h->kept[i].own, sizeof(w->own));
        memcpy(w->statements, h->kept[i].statements, sizeof(w->statements));
    }
}

/* The process starts: everything is opened anew, or the image of what it was then is put back. */
static enum sim_error start_process(struct host *h, FILE *errors)
{
    if (!h->reopen) {
        put_process_back(h);
        return SIM_OK;
    }
    arena_restore(&h->arena, &h->never_started);
    for (uint32_t i = 0; i < h->connections; i++) {
        struct worker *w = &h->workers[i];
        w->db = NULL;
        memset(w->own, 0, sizeof(w->own));
        memset(w->statements, 0, sizeof(w->statements));
    }
    struct arena *outer = arena_use(&h->arena);
    enum sim_error e = open_all(h, errors);
    arena_use(outer);
    return e;
}

enum sim_error host_init(struct host *h, const char *vfs_name, FILE *errors)
{
    must(h->config->workers >= 1 && h->config->workers <= WORKERS_MAX);
    enum sim_error e = arena_install();
    if (e != SIM_OK) {
        return e;
    }
    h->connections = h->config->workers + host_sweeper_init(h);
    h->connections += host_relay_init(h);
    arena_init(&h->arena, ARENA_BYTES);
    struct disk_hooks hooks = {h, before_disk_operation, own_clock};
    h->disk = disk_new(vfs_name, &hooks);
    for (uint32_t i = 0; i < h->connections; i++) {
        h->workers[i].host = h;
        h->workers[i].number = (uint8_t)i;
        h->workers[i].coro = coro_new();
    }
    arena_save(&h->arena, &h->never_started);
    struct arena *outer = arena_use(&h->arena);
    /* The tables are made by a process of their own, whose memory is not part of the image. */
    e = connection_open(&h->workers[0], true, errors);
    close_all(h);
    arena_restore(&h->arena, &h->never_started);
    e = e == SIM_OK ? open_all(h, errors) : e;
    if (e == SIM_OK) {
        h->first_disk = disk_save(h->disk);
        arena_save(&h->arena, &h->just_started);
        keep_handles(h);
    } else {
        close_all(h);
    }
    arena_use(outer);
    return e;
}

void host_fini(struct host *h)
{
    for (uint32_t i = 0; i < ARRAY_LEN(h->workers); i++) {
        coro_free(h->workers[i].coro);
    }
    /* The connections lie in the arena and go with it. */
    disk_image_free(h->first_disk);
    disk_free(h->disk);
    arena_image_fini(&h->just_started);
    arena_image_fini(&h->never_started);
    arena_fini(&h->arena);
    free(h->inbox);
    free(h->sweeping);
    free(h->relaying);
}

enum sim_error host_start(struct host *h, bool reopen, FILE *errors)
{
    h->running = NULL;
    h->reopen = reopen;
    h->clock =
        (struct host_clock){.offset = h->config->clock_offset, .drift = h->config->clock_drift};
    disk_restore(h->disk, h->first_disk);
    disk_refuse(h->disk, false);
    disk_lie(h->disk, false);
    enum sim_error e = start_process(h, errors);
    h->up = true;
    h->buried = true;
    h->stopping = h->unwinding = false;
    h->incarnation++;
    h->inbox_count = 0;
    h->inbox_head = 0;
    memset(&h->counters, 0, sizeof(h->counters));
    h->sweeps = 0;
    h->sweeps_due = 0;
    h->relays = 0;
    h->relay_due = h->relay_wanted = false;
    host_sweep_later(h);
    return e;
}

static void record_host(const struct host *h, enum record_kind kind, uint8_t code, int64_t value)
{
    run_record(h->run, (struct record){
                           .kind = (uint8_t)kind, .place = h->place, .code = code, .value = value});
}

static void inbox_push(struct host *h, const struct message *m)
{
    if (h->inbox_count == h->inbox_capacity) {
        uint32_t capacity = h->inbox_capacity ? 2 * h->inbox_capacity : 16;
        struct arrival *bigger = sim_alloc(capacity * sizeof(*bigger));
        for (uint32_t i = 0; i < h->inbox_count; i++) {
            bigger[i] = h->inbox[(h->inbox_head + i) % h->inbox_capacity];
        }
        free(h->inbox);
        h->inbox = bigger;
        h->inbox_capacity = capacity;
        h->inbox_head = 0;
    }
    h->inbox[(h->inbox_head + h->inbox_count++) % h->inbox_capacity] =
        (struct arrival){*m, h->run->now};
}

static struct arrival inbox_pop(struct host *h)
{
    struct arrival a = h->inbox[h->inbox_head];
    h->inbox_head = (h->inbox_head + 1) % h->inbox_capacity;
    h->inbox_count--;
    return a;
}

void host_sleep(struct worker *w, uint64_t until)
{
    struct host *h = w->host;
    struct event e = {
        .kind = EVENT_RESUME, .host = h->place, .worker = w->number, .serial = ++w->serial};
    queue_push(&h->run->queue, until, &e);
    coro_yield(w->coro);
}

void host_wake_waiting(struct host *h)
{
    for (uint32_t i = 0; i < h->connections; i++) {
        struct worker *w = &h->workers[i];
        if (w->waits_for_lock) {
            /* Under the sleep's own serial: whichever event comes first wakes it, once. */
            struct event e = {
                .kind = EVENT_RESUME, .host = h->place, .worker = w->number, .serial = w->serial};
            queue_push(&h->run->queue, h->run->now, &e);
        }
    }
}

/* The host holds op no longer, for one delivery. */
static void let_go(struct host *h, struct operation *op)
{
    operations_leave(h->operations, op);
    h->listener.left(h->listener.context, op);
}

static void end_handling(struct host *h, struct worker *w)
{
    const struct handling *d = &w->handling;
    if (d->sweep) {
        if (d->op == h->relaying) {
            host_relay_ended(h);
        }
        return;
    }
    struct host_counters *c = &h->counters;
    *(d->repeated ? &c->handlings_duplicate : &c->handlings_fresh) += 1;
    *(d->repeated ? &c->sql_duplicate : &c->sql_fresh) += d->statements;
    let_go(h, d->op);
}

void host_run_worker(struct host *h, struct worker *w, void (*entry)(void *worker))
{
    struct arena *outer = arena_use(&h->arena);
    struct worker *before = h->running;
    h->running = w;
    bool ended = entry ? coro_start(w->coro, entry, w) : coro_resume(w->coro);
    h->running = before;
    arena_use(outer);
    if (ended) {
        end_handling(h, w);
    }
}

static struct worker *idle_worker(struct host *h)
{
    for (uint32_t i = 0; i < h->config->workers; i++) {
        if (!coro_busy(h->workers[i].coro)) {
            return &h->workers[i];
        }
    }
    return NULL;
}

/* Deliveries that nobody took. */
static void drop_inbox(struct host *h)
{
    while (h->inbox_count > 0) {
        struct arrival a = inbox_pop(h);
        let_go(h, operations_at(h->operations, a.message.slot));
    }
}

/* Every stack leaves through its own error path; deliveries that nobody took are dropped. */
static void unwind(struct host *h)
{
    h->unwinding = true;
    for (uint32_t i = 0; i < h->connections; i++) {
        while (coro_busy(h->workers[i].coro)) {
            host_run_worker(h, &h->workers[i], NULL);
        }
    }
    drop_inbox(h);
    h->unwinding = false;
}

void host_stop(struct host *h)
{
    h->up = false;
    disk_refuse(h->disk, true);
    unwind(h);
}

/* From here on every call of a handler is refused, and the disk keeps what such a death leaves. */
static void go_down(struct host *h, enum crash_mode mode, uint32_t n, uint64_t down_for)
{
    must(h->up);
    h->up = false;
    h->stopping = false;
    h->buried = false;
    h->down_for = down_for;
    h->unpowered = mode != CRASH_PROCESS;
    h->incarnation++;
    h->relay_due = false;
    operations_trouble(h->operations, SIM_TIME_MAX);
    disk_crash(h->disk, mode, n);
}

/* The host died in a worker's step. What was only in memory goes, and the image of the process just
 * started is put back on the disk that survived. */
static void bury(struct host *h)
{
    if (h->up || h->buried) {
        return;
    }
    h->buried = true;
    unwind(h);
    h->listener.died(h->listener.context);
    uint64_t down = h->down_for;
    if (down == 0) {
        struct rng_key key = {.draw = DRAW_RESTART,
                              .host = h->place,
                              .nth = (uint16_t)(h->counters.crashes + h->counters.stops)};
        down = dist_sample(&h->config->restart, run_draw(h->run, &key));
    }
    struct event e = {.kind = EVENT_RESTART, .host = h->place, .serial = h->incarnation};
    queue_push(&h->run->queue, h->run->now + down, &e);
}

/* The last handling of a process that was asked to stop is over: it ends. What it wrote stays, and
 * what was in its memory goes, as at a crash of the process alone. */
static void end_if_done(struct host *h)
{
    if (!h->up || !h->stopping) {
        return;
    }
    for (uint32_t i = 0; i < h->connections; i++) {
        if (coro_busy(h->workers[i].coro)) {
            return;
        }
    }
    record_host(h, RECORD_STOP, 1, 0);
    h->counters.stops++;
    go_down(h, CRASH_PROCESS, 0, h->down_for);
}

void host_pump(struct host *h)
{
    struct worker *w;
    end_if_done(h);
    bury(h);
    while (h->up && !h->stopping && h->inbox_count > 0 && (w = idle_worker(h)) != NULL) {
        struct arrival a = inbox_pop(h);
        struct message m = a.message;
        struct operation *op = operations_at(h->operations, m.slot);
        op->handlings++;
        h->counters.handlings++;
        w->handling = (struct handling){.host = h,
                                        .worker = w,
                                        .op = op,
                                        .message = m,
                                        .arrived = a.at,
                                        .token = (int64_t)h->counters.handlings,
                                        .repeated = op->handlings > 1};
        run_record(h->run, (struct record){.kind = RECORD_HANDLE,
                                           .op = m.op,
                                           .attempt = m.attempt,
                                           .copy = record_copy(m.copy),
                                           .place = h->place,
                                           .worker = w->number,
                                           .code = w->number});
        host_run_worker(h, w, handling_run);
        end_if_done(h);
        bury(h);
    }
}

void host_deliver(struct host *h, struct operation *op, const struct message *m)
{
    struct record line = {.kind = RECORD_DOWN,
                          .op = m->op,
                          .attempt = m->attempt,
                          .copy = record_copy(m->copy),
                          .place = h->place};
    if (!h->up || h->stopping) {
        run_record(h->run, line);
        let_go(h, op);
        return;
    }
    op->deliveries++;
    if (op_is_follow(op->op)) {
        op->ids_arrived |= UINT32_C(1) << (m->behind < 31 ? m->behind : 31);
    }
    h->counters.deliveries++;
    h->counters.repeated_deliveries += op->deliveries > 1;
    line.kind = RECORD_DELIVER;
    line.value = op->deliveries;
    run_record(h->run, line);
    inbox_push(h, m);
    host_pump(h);
}

void host_resume(struct host *h, unsigned worker, uint32_t serial)
{
    struct worker *w = &h->workers[worker];
    if (w->serial != serial || !coro_busy(w->coro)) {
        return;
    }
    w->serial++; /* a second event for the same sleep is stale from here on */
    host_run_worker(h, w, NULL);
    host_pump(h);
}

void host_die(struct host *h, enum crash_mode mode, uint32_t n, uint64_t down_for)
{
    h->counters.crashes++;
    record_host(h, RECORD_CRASH, (uint8_t)mode, n);
    go_down(h, mode, n, down_for);
}

void host_ask_to_stop(struct host *h, uint64_t killed_after, uint64_t down_for)
{
    must(h->up);
    h->stopping = true;
    h->down_for = down_for;
    operations_trouble(h->operations, SIM_TIME_MAX);
    record_host(h, RECORD_STOP, 0, (int64_t)killed_after);
    drop_inbox(h);
    if (killed_after > 0) {
        struct event e = {.kind = EVENT_KILL, .host = h->place, .serial = h->incarnation};
        queue_push(&h->run->queue, h->run->now + killed_after, &e);
    }
}

void host_kill(struct host *h, uint32_t incarnation)
{
    if (incarnation != h->incarnation || !h->up || !h->stopping) {
        return;
    }
    host_die(h, CRASH_PROCESS, 0, h->down_for);
    bury(h);
}

void host_restart(struct host *h, uint32_t incarnation)
{
    if (incarnation != h->incarnation || h->up) {
        return;
    }
    h->up = true;
    h->counters.restarts++;
    disk_refuse(h->disk, false);
    if (start_process(h, stderr) != SIM_OK) {
        /* A process that cannot open a broken database; the kept one meets it in its statements. */
        put_process_back(h);
    }
    h->operations->troubled_until = h->run->now;
    record_host(h, RECORD_RESTART, 0, 0);
    host_sweep_later(h);
    host_relay_later(h);
}
