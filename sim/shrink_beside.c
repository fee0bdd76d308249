/* Settings of what stands beside sender and receiver: broker, stage downstream, service.
 *
 * In: a copy of the present story. Out: the same with one of them gone or as it usually is; true
 * where that is another story. Faults that name what is gone go with it.
 */
#include "sim/shrink_internal.h"

#include "receivers/receiver.h"
#include "sim/scenario_settings.h"

#include <stdlib.h>
#include <string.h>

static bool has_fault_at(const struct scenario *s, size_t count, const struct rng_key *key)
{
    for (size_t i = 0; i < count; i++) {
        if (memcmp(&s->faults[i].site.key, key, sizeof(*key)) == 0) {
            return true;
        }
    }
    return false;
}

/* Senders and receiver talk directly, and what befell a delivery or an ack befalls a request or a
 * reply. */
static bool no_broker(struct scenario *s)
{
    size_t kept = 0;
    if (!s->broker.on) {
        return false;
    }
    for (size_t i = 0; i < s->fault_count; i++) {
        struct rng_key *k = &s->faults[i].site.key;
        k->direction = k->direction == DELIVERY ? REQUEST : k->direction;
        k->direction = k->direction == ACK ? REPLY : k->direction;
        bool partition = k->draw == FAULT_PARTITION;
        bool gone = partition && (k->host == PLACE_BROKER || k->value == PLACE_BROKER);
        if (!gone && !has_fault_at(s, kept, k)) {
            s->faults[kept++] = s->faults[i];
        }
    }
    s->fault_count = kept;
    s->broker = (struct broker_config){0};
    return true;
}

static bool visibility(struct scenario *s)
{
    SHRINK_SET(s->broker.visibility, s->broker.on ? BROKER_VISIBILITY : 0);
}

static bool redeliver(struct scenario *s)
{
    SHRINK_SET(s->broker.redeliver, s->broker.on ? BROKER_REDELIVER : 0);
}

static bool at_once(struct scenario *s)
{
    SHRINK_SET(s->broker.after, 0);
}

static bool no_order(struct scenario *s)
{
    SHRINK_SET(s->broker.order, ORDER_NONE);
}

static bool usual_prefetch(struct scenario *s)
{
    SHRINK_SET(s->broker.prefetch, 0);
}

static bool no_replay(struct scenario *s)
{
    s->broker.replay_after = s->broker.on ? BROKER_REPLAY_AFTER : 0;
    SHRINK_SET(s->broker.replay, false);
}

static bool replay_after(struct scenario *s)
{
    SHRINK_SET(s->broker.replay_after, s->broker.on ? BROKER_REPLAY_AFTER : 0);
}

static bool no_duplicate_window(struct scenario *s)
{
    bool queued = s->broker.while_queued, other = s->broker.duplicate_window > 0;
    s->broker.while_queued = false;
    s->broker.duplicate_window = 0;
    return queued || other;
}

static bool late_acks_work(struct scenario *s)
{
    SHRINK_SET(s->broker.late_ack_fails, false);
}

/* Only what happens downstream can name it. */
static bool is_downstream(const struct fault *f)
{
    return f->site.key.host == PLACE_DOWNSTREAM || op_is_follow(f->site.op) ||
           (fault_kind(f) == FAULT_PARTITION && f->site.key.value == PLACE_DOWNSTREAM);
}

static bool no_downstream(struct scenario *s)
{
    if (s->downstream == NULL) {
        return false;
    }
    free(s->downstream->name);
    free(s->downstream);
    s->downstream = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < s->fault_count; i++) {
        if (!is_downstream(&s->faults[i])) {
            s->faults[kept++] = s->faults[i];
        }
    }
    s->fault_count = kept;
    return true;
}

/* The plainest receiver that is right. */
static bool table_downstream(struct scenario *s)
{
    static const char plain[] = "table";
    struct scenario_receiver *d = s->downstream;
    if (d == NULL || (strcmp(d->name, plain) == 0 && strcmp(d->code->name, plain) == 0)) {
        return false;
    }
    free(d->name);
    *d = (struct scenario_receiver){.name = sim_strdup(plain),
                                    .code = receiver_find(plain, sizeof(plain) - 1)};
    settings_default(d->code, d->settings);
    return true;
}

/* Played without its key all the same, by its usual name and settings. */
static bool usual_service(struct scenario *s)
{
    bool other = s->service.name != NULL;
    for (size_t i = 0; i < s->fault_count && other; i++) {
        const struct rng_key *k = &s->faults[i].site.key;
        bool named = k->host == PLACE_SERVICE || k->value == PLACE_SERVICE;
        other = !(named && fault_kind(&s->faults[i]) == FAULT_PARTITION);
    }
    if (other) {
        struct dist usual = {.kind = DIST_UNIFORM, .a = SHRINK_DELAY, .b = 4 * SHRINK_DELAY};
        free(s->service.name);
        s->service = (struct service_config){.keys = true, .time_out = 5 * SIM_S};
        s->network.outside = usual;
    }
    return other;
}

static bool service_keys(struct scenario *s)
{
    SHRINK_SET(s->service.keys, true);
}

static bool service_window(struct scenario *s)
{
    SHRINK_SET(s->service.window, 0);
}

static bool service_time_out(struct scenario *s)
{
    SHRINK_SET(s->service.time_out, 5 * SIM_S);
}

static bool service_delay(struct scenario *s)
{
    return s->service.name != NULL &&
           shrink_set_dist(&s->network.outside, shrink_constant(SHRINK_DELAY));
}

bool (*const shrink_beside[])(struct scenario *) = {
    no_downstream,    table_downstream,    no_broker,
    visibility,       redeliver,           at_once,
    no_order,         usual_prefetch,      no_replay,
    replay_after,     no_duplicate_window, late_acks_work,
    usual_service,    service_keys,        service_window,
    service_time_out, service_delay,
};
const size_t shrink_beside_count = ARRAY_LEN(shrink_beside);
