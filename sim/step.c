/* A step's two ends: the sites around whatever a handler's call does.
 *
 *     crash before · stop before · pause before · time passes · the thing itself, with a site at
 *     each operation on the disk · crash after · the handler fails after
 */
#include "sim/handling.h"

#include <unistd.h>

#define CALLS_AFTER_DEATH_MAX 1000
#define CALLS_MAX 60000

static _Noreturn void never_ends(const struct handling *h, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "onlyonce: receiver %s does not end its handling: %s\n", h->host->code->name,
            why);
    _exit(3);
}

bool step_refused(struct handling *h)
{
    if (h->row) {
        sqlite3_reset(h->row);
        h->row = NULL;
    }
    if (++h->calls > CALLS_MAX) {
        never_ends(h, "60,000 calls in one handling");
    }
    if (h->host->up) {
        return false;
    }
    if (++h->calls_after_death >= CALLS_AFTER_DEATH_MAX) {
        never_ends(h, "1,000 calls after its host had died");
    }
    return true;
}

struct site step_site(const struct handling *h, enum fault_kind kind, enum moment moment)
{
    const struct message *m = &h->message;
    return (struct site){
        .op = m->op,
        .key = {.operation = m->op_hash,
                .attempt = m->attempt,
                .copy = m->copy,
                .nth = h->nth[h->step],
                .disk = moment == INSIDE ? h->disk : 0,
                .draw = (uint8_t)kind,
                .host = h->host->place,
                .step = h->step,
                .moment = (uint8_t)moment},
    };
}

bool handling_site_ask(struct handling *h, enum fault_kind kind, enum moment moment,
                       struct fault_value *value)
{
    struct site site = step_site(h, kind, moment);
    if (site.key.attempt == 0) { /* a sweep whose number has no name */
        schedule_skip(&h->host->run->schedule, 1);
        return false;
    }
    return schedule_fires(&h->host->run->schedule, &site, h->host->run->now, value);
}

void handling_record(const struct handling *h, enum record_kind kind, uint8_t code, int64_t value)
{
    run_record(h->host->run, (struct record){.kind = (uint8_t)kind,
                                             .op = h->message.op,
                                             .attempt = h->message.attempt,
                                             .copy = record_copy(h->message.copy),
                                             .place = h->host->place,
                                             .worker = h->worker->number,
                                             .step = h->step,
                                             .code = code,
                                             .value = value});
}

/* True: the host died here. */
static bool crash_at(struct handling *h, enum moment moment)
{
    struct fault_value value;
    if (!handling_site_fires(h, FAULT_CRASH, moment, &value)) {
        return false;
    }
    if (h->changed) {
        h->op->wrote++; /* whether it was durable, only the disk knows */
        h->changed = false;
    }
    if (h->effects_open > 0) {
        h->op->dying = handling_occasion(h);
    }
    bool commits = h->step == STEP_COMMIT || h->step == STEP_EFFECT;
    if (moment == INSIDE && commits && h->already_open > 0) {
        operation_already(h->op, h->already_open); /* only the disk knows: for it */
        h->already_open = 0;
    }
    if (h->moves_open > 0 || h->moving != MOVE_NONE) {
        h->op->record.cut = true;
        h->op->record.cut_kept = h->arrived;
        h->op->record.cut_kept_clock = handling_arrived(h);
    }
    host_die(h->host, (enum crash_mode)value.choice, value.n, value.time);
    return true;
}

bool handling_disk_operation(struct handling *h)
{
    if (!h->host->up) {
        return false;
    }
    h->disk++;
    return !crash_at(h, INSIDE);
}

/* A fault lies in the way of the sender's attempt that is handled here; a broker has answered it
 * long ago. */
static void hinder(const struct handling *h)
{
    if (h->message.direction == REQUEST) {
        operation_hinder(h->op, h->message.attempt);
    }
}

enum outcome step_enter(struct handling *h, enum step step)
{
    struct host *host = h->host;
    h->step = (uint8_t)step;
    h->nth[step]++;
    h->disk = 0;
    if (crash_at(h, BEFORE)) {
        return DEAD;
    }
    struct fault_value value;
    if (handling_site_fires(h, FAULT_STOP, BEFORE, &value)) {
        host_ask_to_stop(host, value.until, value.time);
    }
    if (handling_site_fires(h, FAULT_PAUSE, BEFORE, &value)) {
        handling_record(h, RECORD_PAUSE, 0, (int64_t)value.time);
        hinder(h);
        operations_trouble(host->operations, host->run->now + value.time);
        host_sleep(h->worker, host->run->now + value.time);
    }
    const struct dist *d = &host->config->step;
    if (d->kind != DIST_CONSTANT || d->a > 0) {
        struct rng_key key = step_site(h, FAULT_NONE, MOMENT_NONE).key;
        key.draw = DRAW_STEP_TIME;
        host_sleep(h->worker, host->run->now + dist_sample(d, run_draw(host->run, &key)));
    }
    return host->up ? OK : DEAD;
}

enum outcome step_leave(struct handling *h, enum outcome o, int64_t statement)
{
    if (!h->host->up) {
        return DEAD;
    }
    handling_record(h, RECORD_STEP, (uint8_t)o, statement);
    if (crash_at(h, AFTER)) {
        return DEAD;
    }
    struct fault_value value;
    if (handling_site_fires(h, FAULT_HANDLER, AFTER, &value)) {
        hinder(h);
        return FAILED;
    }
    return o;
}
