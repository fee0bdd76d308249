/* Settings of one sender: its loop, its retries, its keys, bodies and groups, what its messages ask
 * for.
 *
 * In: its configuration in a copy of the present story. Out: the same with one thing as it usually
 * is; true where that is another story.
 */
#include "sim/shrink_internal.h"

#include <stdlib.h>
#include <string.h>

static bool closed_loop(struct sender_config *c)
{
    c->gap = (struct dist){0};
    SHRINK_SET(c->open_loop, false);
}

static bool one_in_flight(struct sender_config *c)
{
    SHRINK_SET(c->in_flight, 1);
}

static bool honest(struct sender_config *c)
{
    SHRINK_SET(c->give_up_is_failed, false);
}

static bool sender_offset(struct sender_config *c)
{
    SHRINK_SET(c->clock_offset, 0);
}

static bool sender_drift(struct sender_config *c)
{
    SHRINK_SET(c->clock_drift, 0);
}

static bool no_deadline(struct sender_config *c)
{
    SHRINK_SET(c->retry.deadline, 0);
}

static bool no_timeout(struct sender_config *c)
{
    SHRINK_SET(c->retry.timeout, 0);
}

static bool fixed_backoff(struct sender_config *c)
{
    c->retry.max = 60 * SIM_S > c->retry.after ? 60 * SIM_S : c->retry.after;
    SHRINK_SET(c->retry.backoff, BACKOFF_FIXED);
}

static bool usual_max(struct sender_config *c)
{
    SHRINK_SET(c->retry.max, 60 * SIM_S > c->retry.after ? 60 * SIM_S : c->retry.after);
}

static bool retry_after_1s(struct sender_config *c)
{
    c->retry.max = c->retry.max > SIM_S ? c->retry.max : SIM_S;
    SHRINK_SET(c->retry.after, SIM_S);
}

/* No message has a key of its own. */
static bool own_keys(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].key != NULL;
        free(c->messages[i].key);
        c->messages[i].key = NULL;
    }
    return changed;
}

static bool stable_keys(struct sender_config *c)
{
    SHRINK_SET(c->keys, KEYS_STABLE);
}

static bool stable_body(struct sender_config *c)
{
    SHRINK_SET(c->stamped, false);
}

static bool stable_groups(struct sender_config *c)
{
    SHRINK_SET(c->group_changes, false);
}

/* The group of every message is its entity. */
static bool own_groups(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].group != NULL;
        free(c->messages[i].group);
        c->messages[i].group = NULL;
    }
    return changed;
}

static bool only_adds(struct sender_config *c)
{
    bool changed = c->workload.effect != EFFECT_ADD;
    c->workload.effect = EFFECT_ADD;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].effect != EFFECT_ADD;
        c->messages[i].effect = EFFECT_ADD;
    }
    return changed;
}

static bool no_versions(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].version != 0;
        c->messages[i].version = 0;
    }
    return changed;
}

static bool all_valid(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].invalid;
        c->messages[i].invalid = false;
    }
    return changed;
}

static bool none_declined(struct sender_config *c)
{
    bool changed = false;
    for (size_t i = 0; i < c->message_count; i++) {
        changed = changed || c->messages[i].declined != 0;
        c->messages[i].declined = 0;
    }
    return changed;
}

static bool correlated(struct sender_config *c)
{
    SHRINK_SET(c->uncorrelated, false);
}

bool shrink_no_session(struct sender_config *c)
{
    SHRINK_SET(c->opens_session, false);
}

bool (*const shrink_of_sender[])(struct sender_config *) = {
    closed_loop,       one_in_flight, honest,        sender_offset, sender_drift,
    no_deadline,       no_timeout,    fixed_backoff, usual_max,     retry_after_1s,
    own_keys,          stable_keys,   stable_body,   stable_groups, own_groups,
    only_adds,         no_versions,   all_valid,     none_declined, correlated,
    shrink_no_session,
};
const size_t shrink_of_sender_count = ARRAY_LEN(shrink_of_sender);
