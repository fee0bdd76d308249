#include "sim/grid.h"

#include "receivers/receiver.h"
#include "sim/crash.h"

static uint64_t longest_wait(const struct scenario *s)
{
    uint64_t wait = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        const struct retry_policy *r = &s->senders[i].retry;
        uint64_t first = r->timeout ? r->timeout + r->after : r->after;
        wait = first > wait ? first : wait;
    }
    return wait;
}

/* For an answer from downstream, of all receivers, so that they have the same schedules. */
static uint64_t longest_answer(const struct scenario *s)
{
    uint64_t wait = 0;
    for (size_t i = 0; s->downstream != NULL && i < s->receiver_count; i++) {
        const struct scenario_receiver *r = &s->receivers[i];
        uint64_t own = r->code->waits != NULL ? r->code->waits(r->settings) : 0;
        wait = own > wait ? own : wait;
    }
    return wait;
}

void grid_init(struct grid *g, const struct scenario *s, bool full_power)
{
    uint64_t wait = longest_wait(s);
    *g = (struct grid){.scenario = s, .full_power = full_power};
    g->past_retry = wait + wait / 2;
    g->past_call = s->service.time_out + s->service.time_out / 2;
    uint64_t busy = s->receiver.database.busy_timeout;
    g->past_busy = busy + busy / 2;
    g->past_busy = g->past_busy > g->past_retry ? g->past_busy : g->past_retry;
    uint64_t hidden = s->broker.on ? s->broker.visibility : 0;
    g->past_visibility = hidden + hidden / 2;
    uint64_t answer = longest_answer(s);
    g->past_answer = answer + answer / 2;
}

static void add(struct fault_value *out, size_t *n, struct fault_value v)
{
    if (*n < GRID_VALUES_MAX) {
        out[(*n)++] = v;
    }
}

static void add_power(struct fault_value *out, size_t *n, enum crash_mode mode, size_t which)
{
    add(out, n, (struct fault_value){.choice = (uint8_t)mode, .n = (uint32_t)which});
}

/* What survives a crash. All unsynced operations kept is what a process crash leaves, so "power
 * all" would only repeat it; so would the first of one, all but none. */
static size_t crash_values(const struct grid *g, size_t unsynced, struct fault_value *out)
{
    size_t n = 0;
    add_power(out, &n, CRASH_PROCESS, 0);
    if (unsynced == 0) {
        return n;
    }
    add_power(out, &n, CRASH_NONE, 0);
    if (!g->full_power) {
        add_power(out, &n, CRASH_TORN, unsynced);
        if (unsynced > 1) {
            add_power(out, &n, CRASH_FIRST, (unsynced + 1) / 2);
            add_power(out, &n, CRASH_ONLY, unsynced);
            add_power(out, &n, CRASH_ALL_BUT, 1);
        }
        return n;
    }
    for (size_t i = 1; i <= unsynced; i++) {
        add_power(out, &n, CRASH_TORN, i);
        if (unsynced > 1) {
            add_power(out, &n, CRASH_ONLY, i);
        }
        if (unsynced > 2 || i == 1) {
            add_power(out, &n, CRASH_ALL_BUT, i);
        }
        if (i > 1 && i < unsynced) {
            add_power(out, &n, CRASH_FIRST, i);
        }
    }
    return n;
}

/* A second worker meets the lock of one that stands still: it waits, or it waits in vain. */
static size_t pause_values(const struct grid *g, struct fault_value *out)
{
    size_t n = 0;
    add(out, &n, (struct fault_value){.time = g->past_retry});
    if (g->past_busy > g->past_retry && g->scenario->receiver.workers > 1) {
        add(out, &n, (struct fault_value){.time = g->past_busy});
    }
    if (g->past_visibility > g->past_busy) {
        add(out, &n, (struct fault_value){.time = g->past_visibility});
    }
    return n;
}

static size_t clock_values(const struct site *site, struct fault_value *out)
{
    size_t n = 0;
    if (site->key.host == PLACE_RECEIVER || site->key.host == PLACE_DOWNSTREAM) {
        add(out, &n, (struct fault_value){.choice = CLOCK_OFFSET, .offset = (int64_t)SIM_S});
        add(out, &n, (struct fault_value){.choice = CLOCK_OFFSET, .offset = -(int64_t)SIM_S});
    } else { /* a sender's clock only measures its waits */
        add(out, &n, (struct fault_value){.choice = CLOCK_DRIFT, .offset = 10000});
        add(out, &n, (struct fault_value){.choice = CLOCK_DRIFT, .offset = -10000});
    }
    return n;
}

/* It heals in time for the second attempt; that what passes after is judged is what matters. On the
 * way from sender to receiver, and from there to the service, both ways or one, on the way back one
 * way: both ways is the same. */
static size_t partition_values(const struct grid *g, const struct site *site,
                               struct fault_value *out)
{
    size_t n = 0;
    struct fault_value v = {.time = SIM_START, .until = SIM_START + g->past_retry};
    bool forward = site->key.host >= PLACE_SENDER || site->key.value == PLACE_SERVICE ||
                   site->key.value == PLACE_DOWNSTREAM ||
                   (site->key.host == PLACE_BROKER && site->key.value == PLACE_RECEIVER);
    if (forward) {
        add(out, &n, v);
    }
    v.choice = 1;
    add(out, &n, v);
    return n;
}

/* Killed while it still runs only where a handling takes time; else that is a graceful stop. */
static size_t stop_values(const struct grid *g, struct fault_value *out)
{
    size_t n = 0;
    uint64_t step = dist_max(&g->scenario->receiver.step);
    uint64_t work = dist_max(&g->scenario->receiver.work);
    step = work > step ? work : step;
    add(out, &n, (struct fault_value){0});
    if (step > 0) {
        add(out, &n, (struct fault_value){.until = step});
    }
    return n;
}

/* Longer than whoever expects an answer to it waits. */
static uint64_t past_wait(const struct grid *g, const struct site *site)
{
    enum direction d = (enum direction)site->key.direction;
    if (op_is_follow(site->op)) {
        return g->past_answer > g->past_retry ? g->past_answer : g->past_retry;
    }
    return direction_outside(d)    ? g->past_call
           : direction_brokered(d) ? g->past_visibility
                                   : g->past_retry;
}

size_t grid_values(const struct grid *g, const struct site *site, size_t unsynced,
                   struct fault_value out[GRID_VALUES_MAX])
{
    size_t n = 0;
    switch ((enum fault_kind)site->key.draw) {
    case FAULT_LOSE:
    case FAULT_HANDLER:
    case FAULT_SENDER_CRASH:
    case FAULT_LYING_DISK:
        add(out, &n, (struct fault_value){0});
        break;
    case FAULT_DUPLICATE:
        add(out, &n, (struct fault_value){.n = 1});
        add(out, &n, (struct fault_value){.n = 1, .time = past_wait(g, site)});
        break;
    case FAULT_DELAY:
        add(out, &n, (struct fault_value){.time = past_wait(g, site)});
        break;
    case FAULT_CRASH:
        n = crash_values(g, unsynced, out);
        break;
    case FAULT_PAUSE:
        n = pause_values(g, out);
        break;
    case FAULT_STORE:
        for (uint8_t i = STORE_NOT_APPLIED; i <= STORE_FULL; i++) {
            add(out, &n, (struct fault_value){.choice = i});
        }
        break;
    case FAULT_STOP:
        n = stop_values(g, out);
        break;
    case FAULT_SENDER_AMNESIA:
        add(out, &n, (struct fault_value){.choice = AMNESIA_OUTBOX_LOST});
        add(out, &n, (struct fault_value){.choice = AMNESIA_COUNTER_BEHIND});
        break;
    case FAULT_CLOCK:
        n = clock_values(site, out);
        break;
    case FAULT_PARTITION:
        n = partition_values(g, site, out);
        break;
    case FAULT_NONE:
    case FAULT_KIND_COUNT:
        break;
    }
    return n;
}
