/* The numbers are sums of longest parts, so they are never too small for what is counted; see the
 * header for what is.
 *
 * Worked example: shop retries for 2 h, a request takes at most 5 m, the receiver's clock is right.
 * A retry may be looked up 2 h 5 m after the first delivery; with a retention of 1 h its record is
 * gone by then, and the effect happens twice.
 */
#include "sim/cover.h"

#include "receivers/retention.h"
#include "sim/broker.h"
#include "sim/words.h"

#include <inttypes.h>
#include <string.h>

static uint64_t add(uint64_t a, uint64_t b)
{
    return a < SIM_TIME_MAX - (b < SIM_TIME_MAX ? b : SIM_TIME_MAX) ? a + b : SIM_TIME_MAX;
}

/* n x a / b, rounded up. */
static uint64_t scale(uint64_t n, uint64_t a, uint64_t b)
{
    unsigned __int128 x = ((unsigned __int128)n * a + b - 1) / b;
    return x < SIM_TIME_MAX ? (uint64_t)x : SIM_TIME_MAX;
}

static bool by_sender(const struct scenario_receiver *r)
{
    return r->code->keeping != NULL && r->settings[RETENTION_CLOCK] == CLOCK_SENDER;
}

void cover_promise(const struct scenario_receiver *r, struct promise *out)
{
    *out = (struct promise){.fenced = true};
    if (r->code->promise != NULL) {
        out->fenced = false;
        r->code->promise(r->settings, out);
    } else if (r->code->keeping != NULL && r->code->settings != NULL) {
        out->retention = retention_promised(r->settings);
        out->retention_name = r->code->settings[RETENTION].name;
        out->records = (uint64_t)r->settings[RETENTION_MOST];
    }
}

/* ---- clocks ---- */

/* The largest drift that a host ever has, in parts per million; sign: of those that are counted. */
static uint64_t worst_drift(const struct scenario *s, unsigned place, int32_t own, int sign)
{
    int64_t worst = (int64_t)own * sign > 0 ? (int64_t)own * sign : 0;
    for (size_t i = 0; i < s->fault_count; i++) {
        const struct fault *f = &s->faults[i];
        if (fault_kind(f) == FAULT_CLOCK && f->site.key.host == place &&
            f->value.choice == CLOCK_DRIFT && f->value.offset * sign > worst) {
            worst = f->value.offset * sign;
        }
    }
    return (uint64_t)worst;
}

uint64_t cover_clock_error(const struct scenario *s, uint64_t over, bool early)
{
    int sign = early ? 1 : -1;
    uint64_t error =
        scale(over, worst_drift(s, PLACE_RECEIVER, s->receiver.clock_drift, sign), 1000000);
    for (size_t i = 0; i < s->fault_count; i++) {
        const struct fault *f = &s->faults[i];
        if (fault_kind(f) == FAULT_CLOCK && f->site.key.host == PLACE_RECEIVER &&
            f->value.choice == CLOCK_OFFSET && f->value.offset * sign > 0) {
            error = add(error, (uint64_t)(f->value.offset * sign));
        }
    }
    return error;
}

/* Where a record is dated by its sender: how far the receiver's clock is ahead of that one. */
static uint64_t ahead(const struct scenario *s, const struct scenario_receiver *r,
                      const struct sender_config *sender)
{
    int64_t by = s->receiver.clock_offset - sender->clock_offset;
    return by_sender(r) && by > 0 ? (uint64_t)by : 0;
}

/* ---- how late a retry may be ---- */

static bool never(struct ratio r)
{
    return r.num == 0;
}

/* Whether the receiver may answer that the sender is to try again, which makes it wait twice. */
static bool may_answer_errors(const struct scenario *s)
{
    bool may = s->receiver.workers > 1 || !never(s->rates.store) || !never(s->rates.handler);
    for (size_t i = 0; i < s->fault_count && !may; i++) {
        enum fault_kind kind = fault_kind(&s->faults[i]);
        may = kind == FAULT_STORE || kind == FAULT_HANDLER;
    }
    return may;
}

static uint64_t horizon_of(const struct scenario *s, const struct sender_config *sender)
{
    const struct retry_policy *r = &sender->retry;
    struct retry_policy twice = *r;
    if (r->timeout == 0 && may_answer_errors(s)) {
        /* An answer that comes just before the next attempt puts it off by another wait. */
        uint64_t longest = r->backoff == BACKOFF_FIXED || r->max < r->after ? r->after : r->max;
        uint64_t answer = add(dist_max(&s->network.delay[0]), dist_max(&s->network.delay[1]));
        twice.timeout = answer < longest ? answer : longest;
    }
    unsigned place = PLACE_SENDER + (unsigned)(sender - s->senders);
    uint64_t slow = worst_drift(s, place, sender->clock_drift, -1);
    return scale(retry_horizon(&twice), 1000000, 1000000 - slow);
}

/* What listed faults may add. */
struct listed {
    uint64_t way;    /* to the way of a request */
    uint64_t down;   /* a sender is down */
    uint64_t paused; /* a handling stands still */
};

static struct listed listed_faults(const struct scenario *s)
{
    struct listed l = {0};
    for (size_t i = 0; i < s->fault_count; i++) {
        const struct fault *f = &s->faults[i];
        const struct fault_value *v = &f->value;
        if (f->site.key.host == PLACE_DOWNSTREAM || op_is_follow(f->site.op)) {
            continue; /* what lies in the way of a message further on */
        }
        switch (fault_kind(f)) {
        case FAULT_DUPLICATE:
            l.way = f->site.key.direction == REQUEST ? add(l.way, v->n * v->time) : l.way;
            break;
        case FAULT_DELAY:
            l.way = f->site.key.direction == REQUEST ? add(l.way, v->time) : l.way;
            break;
        case FAULT_SENDER_CRASH:
        case FAULT_SENDER_AMNESIA:
            l.down = add(l.down, v->time > 0 ? v->time : SENDER_RESTART);
            break;
        case FAULT_PAUSE:
            l.paused = add(l.paused, v->time);
            break;
        case FAULT_NONE:
        case FAULT_LOSE:
        case FAULT_CRASH:
        case FAULT_STORE:
        case FAULT_HANDLER:
        case FAULT_CLOCK:
        case FAULT_PARTITION:
        case FAULT_LYING_DISK:
        case FAULT_STOP:
        case FAULT_KIND_COUNT:
            break;
        }
    }
    return l;
}

/* Each step once more than it need be; a pause; a lock that another worker holds; an answer from
 * downstream; one call to the service. */
static uint64_t longest_handling(const struct scenario *s, const struct scenario_receiver *r)
{
    uint64_t sum = listed_faults(s).paused;
    if (r->code->steps & STEP_BIT(STEP_EXTERNAL)) {
        sum = add(sum, s->service.time_out);
    }
    if (!never(s->rates.pause)) {
        sum = add(sum, dist_max(&s->rates.pause_for));
    }
    if (s->receiver.workers > 1) {
        sum = add(sum, s->receiver.database.busy_timeout);
    }
    if (s->downstream != NULL && r->code->waits != NULL) {
        sum = add(sum, r->code->waits(r->settings));
    }
    uint64_t step = dist_max(&s->receiver.step);
    sum = add(sum, dist_max(&s->receiver.work));
    return add(sum, scale(step, STEPS_INSIDE, 1));
}

/* The latest look-up, with the parts that the sentence names. */
struct lateness {
    const struct sender_config *sender; /* whose it is */
    uint64_t horizon, way, queue, handling, clock, all;
};

static struct lateness latest(const struct scenario *s, const struct scenario_receiver *r)
{
    struct lateness worst = {0};
    struct listed l = listed_faults(s);
    uint64_t way = add(dist_max(&s->network.delay[REQUEST - 1]), l.way);
    if (!never(s->rates.duplicate[REQUEST - 1])) {
        way = add(way, dist_max(&s->rates.copy_after));
    }
    for (size_t i = 0; i < s->sender_count; i++) {
        struct lateness x = {.sender = &s->senders[i], .way = way};
        x.horizon = add(horizon_of(s, x.sender), l.down);
        x.handling = longest_handling(s, r);
        x.queue = s->broker.on ? broker_span(&s->broker, way) : 0;
        x.all = add(add(x.horizon, add(x.way, x.queue)), x.handling);
        x.clock = add(cover_clock_error(s, x.all, true), ahead(s, r, x.sender));
        x.all = add(x.all, x.clock);
        if (worst.sender == NULL || x.all > worst.all) {
            worst = x;
        }
    }
    return worst;
}

/* Most operations that may begin within that time: all that there are, or what the gaps of open
 * loops let through. */
static uint64_t most_operations(const struct scenario *s, uint64_t within)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        const struct sender_config *c = &s->senders[i];
        uint64_t all = c->message_count + c->workload.count;
        bool even = c->gap.kind == DIST_CONSTANT || c->gap.kind == DIST_UNIFORM;
        if (c->open_loop && c->workload.count > 0 && even && c->gap.a > 0) {
            uint64_t begun = within / c->gap.a + 1;
            all = begun < all ? begun : all;
        }
        sum += all;
    }
    return sum;
}

/* ---- the sentence ---- */

#define SPAN_TEXT 64

/* "2h5m", "1.001 s" as "1s1ms": three units, what is left rounded up. */
static const char *span_text(uint64_t ns, char out[SPAN_TEXT])
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"d", 86400 * SIM_S}, {"h", 3600 * SIM_S}, {"m", 60 * SIM_S}, {"s", SIM_S},
                 {"ms", SIM_MS},       {"us", SIM_US},      {"ns", 1}};
    if (ns >= SIM_TIME_MAX) {
        snprintf(out, SPAN_TEXT, "any time");
        return out;
    }
    size_t first = 0;
    while (first + 1 < ARRAY_LEN(units) && ns < units[first].ns) {
        first++;
    }
    size_t last = first + 2 < ARRAY_LEN(units) ? first + 2 : ARRAY_LEN(units) - 1;
    uint64_t left = (ns + units[last].ns - 1) / units[last].ns * units[last].ns;
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = first > 0 ? first - 1 : 0; i <= last; i++) {
        if (left >= units[i].ns) {
            n += (size_t)snprintf(out + n, SPAN_TEXT - n, "%" PRIu64 "%s", left / units[i].ns,
                                  units[i].unit);
            left %= units[i].ns;
        }
    }
    if (n == 0) {
        snprintf(out, SPAN_TEXT, "0s");
    }
    return out;
}

#define SHOWN (6 * PLACE_NAME_MAX)

static const char *shown(const char *name, char out[SHOWN])
{
    size_t len = strlen(name);
    if (sentence_bare(name, len)) {
        snprintf(out, SHOWN, "%s", name);
    } else {
        words_quote(name, len, out, SHOWN);
    }
    return out;
}

static void say_part(char *text, const char *what, uint64_t ns)
{
    char span[SPAN_TEXT];
    if (ns > 0) {
        size_t n = strlen(text);
        snprintf(text + n, 256 - n, ", %s %s", what, span_text(ns, span));
    }
}

static void say_late(const struct lateness *x, const struct scenario_receiver *r,
                     const struct promise *p, struct cover *out)
{
    char parts[256] = "", sender[SHOWN], name[SHOWN], all[SPAN_TEXT], kept[SPAN_TEXT],
         retries[SPAN_TEXT];
    shown(x->sender->name, sender);
    say_part(parts, "delay", x->way);
    say_part(parts, "broker", x->queue);
    say_part(parts, "handling", x->handling);
    say_part(parts, "clock", x->clock);
    if (p->retention <= 1) { /* a setting says that there are none */
        snprintf(
            out->text, sizeof(out->text),
            "a retry may come %s after the first delivery (%s: retries %s%s), but no record is "
            "kept that could tell it: set %s of %s",
            span_text(x->all, all), sender, span_text(x->horizon, retries), parts,
            p->retention_name, shown(r->name, name));
        return;
    }
    snprintf(
        out->text, sizeof(out->text),
        "a retry may come %s after the first delivery (%s: retries %s%s), but records are kept "
        "for %s: raise %s of %s to more than %s, or lower retry.limit or retry.deadline of %s",
        span_text(x->all, all), sender, span_text(x->horizon, retries), parts,
        span_text(p->retention, kept), p->retention_name ? p->retention_name : "retention",
        shown(r->name, name), all, sender);
}

static bool retention_covers(const struct scenario *s, const struct scenario_receiver *r,
                             const struct promise *p, struct cover *out)
{
    struct lateness x = latest(s, r);
    char all[SPAN_TEXT], name[SHOWN];
    out->needed = x.all;
    out->given = p->retention;
    if (p->retention > 0 && p->retention <= x.all) {
        out->what = COVER_RETENTION;
        say_late(&x, r, p, out);
        return false;
    }
    uint64_t operations = most_operations(s, x.all);
    if (p->records > 0 && p->records < operations) {
        out->what = COVER_RECORDS;
        out->needed = operations;
        out->given = p->records;
        snprintf(out->text, sizeof(out->text),
                 "up to %" PRIu64 " messages may come in the %s in which a retry may, but only "
                 "%" PRIu64 " records are kept: let %s keep at least %" PRIu64,
                 operations, span_text(x.all, all), p->records, shown(r->name, name), operations);
        return false;
    }
    return true;
}

/* The shortest horizon of those that retry at all; NULL: nobody does. */
static const struct sender_config *hastiest(const struct scenario *s)
{
    const struct sender_config *found = NULL;
    for (size_t i = 0; i < s->sender_count; i++) {
        uint64_t h = retry_horizon(&s->senders[i].retry);
        if (h > 0 && (found == NULL || h < retry_horizon(&found->retry))) {
            found = &s->senders[i];
        }
    }
    return found;
}

static bool lease_fits(const struct scenario *s, const struct scenario_receiver *r,
                       const struct promise *p, struct cover *out)
{
    char lease[SPAN_TEXT], other[SPAN_TEXT], name[SHOWN], sender[SHOWN];
    const char *setting = p->lease_name ? p->lease_name : "the lease";
    const struct sender_config *hasty = hastiest(s);
    uint64_t horizon = hasty ? retry_horizon(&hasty->retry) : 0;
    uint64_t handling = longest_handling(s, r);
    span_text(p->lease, lease);
    shown(r->name, name);
    if (hasty != NULL && p->lease > horizon) {
        out->what = COVER_LEASE_LONG;
        out->needed = p->lease;
        out->given = horizon;
        span_text(horizon, other);
        shown(hasty->name, sender);
        snprintf(out->text, sizeof(out->text),
                 "a record in progress blocks its key for %s, but %s retries only for %s: it gives "
                 "up before it may take over: lower %s of %s to at most %s, or raise retry.limit "
                 "or retry.deadline of %s",
                 lease, sender, other, setting, name, other, sender);
        return false;
    }
    if (!p->fenced && p->lease <= handling) {
        out->what = COVER_LEASE_SHORT;
        out->needed = handling;
        out->given = p->lease;
        span_text(handling, other);
        snprintf(out->text, sizeof(out->text),
                 "a handling may take %s, but its claim lapses after %s and another may work "
                 "beside it: raise %s of %s to more than %s",
                 other, lease, setting, name, other);
        return false;
    }
    return true;
}

void cover_compute(const struct scenario *s, const struct scenario_receiver *r, struct cover *out)
{
    struct promise p;
    *out = (struct cover){.judged = r->code->promise != NULL || r->code->keeping != NULL};
    if (!out->judged) {
        return;
    }
    cover_promise(r, &p);
    out->holds = retention_covers(s, r, &p, out) && (p.lease == 0 || lease_fits(s, r, &p, out));
}
