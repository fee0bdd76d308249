/* `senders:` of a scenario file, all but the listed messages: names, workloads, loops, retries. */
#include "sim/scenario_internal.h"

#include "sim/words.h"

#include <string.h>

static const struct retry_policy retry_default = {
    .after = SIM_S, .max = 60 * SIM_S, .backoff = BACKOFF_FIXED, .limit = 5};

static void read_retry(struct yaml *y, const struct yaml_node *node, struct retry_policy *retry)
{
    static const char *const backoffs[] = {
#define X(name, text) text,
        BACKOFFS(X)
#undef X
    };
    if (node == NULL || !READ_MAPPING(y, node, "retry", "timeout", "after", "backoff", "max",
                                      "limit", "deadline")) {
        return;
    }
    unsigned backoff = retry->backoff;
    size_t before = y->error_count;
    read_duration(y, value_of(node, "timeout"), 1, &retry->timeout);
    read_duration(y, value_of(node, "after"), 1, &retry->after);
    read_choice(y, value_of(node, "backoff"), "backoff", backoffs, ARRAY_LEN(backoffs), &backoff);
    read_duration(y, value_of(node, "max"), 1, &retry->max);
    read_u32(y, value_of(node, "limit"), 1, 1000, &retry->limit);
    read_duration(y, value_of(node, "deadline"), 1, &retry->deadline);
    retry->backoff = (enum backoff)backoff;
    if (y->error_count > before) {
        return;
    }
    const struct yaml_node *max = value_of(node, "max");
    if (max != NULL && retry->max < retry->after) {
        yaml_error(y, max->at, "\"max\" lies below \"after\"");
    }
    retry->max = retry->max < retry->after ? retry->after : retry->max;
    if (retry_horizon(retry) > DURATION_MAX) {
        yaml_error(y, node->at, "these retries could last longer than 3650d");
    }
}

static const char *const effects[] = {
#define X(name, text) text,
    EFFECTS(X)
#undef X
};

static void read_workload(struct yaml *y, const struct yaml_node *node, struct workload *w)
{
    uint64_t count = 0;
    unsigned effect = EFFECT_ADD;
    w->entities = 1;
    w->amount = (struct dist){.kind = DIST_CONSTANT, .a = 1};
    if (!READ_MAPPING(y, node, "a workload", "count", "entities", "skew", "charge", "effect")) {
        return;
    }
    if (value_of(node, "count") == NULL) {
        yaml_error(y, node->at, "\"count\" is missing here: how many messages");
    }
    read_number(y, value_of(node, "count"), 1, COUNT_MAX, &count);
    read_u32(y, value_of(node, "entities"), 1, UINT32_C(1) << 20, &w->entities);
    read_thousandths(y, value_of(node, "skew"), 5000, &w->skew);
    read_amounts(y, value_of(node, "charge"), &w->amount);
    read_choice(y, value_of(node, "effect"), "effect", effects, ARRAY_LEN(effects), &effect);
    w->effect = (uint8_t)effect;
    w->count = count;
}

static void must_be_absent(struct yaml *y, const struct yaml_node *sender, const char *key,
                           const char *why)
{
    for (const struct yaml_node *k = sender->first; k != NULL; k = k->next) {
        if (strcmp(k->text, key) == 0) {
            yaml_error(y, k->at, "\"%s\" is %s", key, why);
        }
    }
}

static void read_loop(struct yaml *y, const struct yaml_node *node, struct sender_config *sender)
{
    static const char *const loops[] = {"closed", "open"};
    unsigned loop = 0;
    if (!read_choice(y, value_of(node, "loop"), "loop", loops, ARRAY_LEN(loops), &loop)) {
        return;
    }
    sender->open_loop = loop == 1;
    sender->in_flight = 1;
    if (!sender->open_loop) {
        read_u32(y, value_of(node, "in_flight"), 1, 1000000, &sender->in_flight);
        must_be_absent(y, node, "rate", "for an open loop; add \"loop: open\"");
        must_be_absent(y, node, "every", "for an open loop; add \"loop: open\"");
        return;
    }
    must_be_absent(y, node, "in_flight", "for a closed loop");
    const struct yaml_node *rate = value_of(node, "rate"), *every = value_of(node, "every");
    if ((rate == NULL) == (every == NULL)) {
        yaml_error(y, node->at, "an open loop needs one of \"rate\" and \"every\"");
    }
    size_t before = y->error_count;
    read_rate(y, rate, &sender->gap);
    read_dist(y, every, &sender->gap);
    uint64_t operations = sender->workload.count > 0 ? sender->workload.count : 1;
    if (y->error_count == before && dist_max(&sender->gap) > DURATION_MAX / operations) {
        yaml_error(y, (rate ? rate : every)->at, "this workload could last longer than 3650d");
    }
}

static void read_sender_name(struct reader *r, const struct yaml_node *node, size_t place)
{
    struct yaml *y = &r->yaml;
    struct sender_config *sender = &r->s->senders[place];
    const struct yaml_node *name = value_of(node, "name");
    if (name == NULL) {
        yaml_error(y, node->at, "a sender needs a \"name\"");
    } else if (read_name(y, name, "the name of a sender", PLACE_NAME_MAX, &sender->name)) {
        char shown[60];
        words_quote(sender->name, strlen(sender->name), shown, sizeof(shown));
        if (strcmp(sender->name, "receiver") == 0) {
            yaml_error(y, name->at, "\"receiver\" is the name of the host that receives");
        } else if (r->s->downstream != NULL && strcmp(sender->name, "downstream") == 0) {
            yaml_error(y, name->at, "\"downstream\" is the name of the second receiver's host");
        } else if (r->s->broker.on && strcmp(sender->name, "broker") == 0) {
            yaml_error(y, name->at, "\"broker\" is the name of the broker");
        }
        for (size_t i = 0; i < place; i++) {
            if (strcmp(r->s->senders[i].name, sender->name) == 0) {
                yaml_error(y, name->at, "two senders are named %s; first in line %d", shown,
                           r->s->senders[i].line);
            }
        }
    }
    if (sender->name == NULL) {
        sender->name = sim_strdup("");
    }
}

/* What it does with the keys, bodies and groups of its attempts; whether it opens a session. */
static void read_policies(struct yaml *y, const struct yaml_node *node,
                          struct sender_config *sender)
{
    static const char *const keys[] = {
#define X(name, text) text,
        KEY_POLICIES(X)
#undef X
    };
    static const char *const bodies[] = {"stable", "stamped"};
    static const char *const groups[] = {"stable", "new-per-attempt"};
    static const char *const sessions[] = {"none", "registered"};
    static const char *const correlations[] = {"id", "none"};
    unsigned key = KEYS_STABLE, body = 0, group = 0, session = 0, correlation = 0;
    read_choice(y, value_of(node, "keys"), "keys", keys, ARRAY_LEN(keys), &key);
    read_choice(y, value_of(node, "body"), "body", bodies, ARRAY_LEN(bodies), &body);
    read_choice(y, value_of(node, "groups"), "groups", groups, ARRAY_LEN(groups), &group);
    read_choice(y, value_of(node, "session"), "session", sessions, ARRAY_LEN(sessions), &session);
    read_choice(y, value_of(node, "correlation"), "correlation", correlations,
                ARRAY_LEN(correlations), &correlation);
    sender->uncorrelated = correlation == 1;
    sender->opens_session = session == 1;
    sender->keys = (enum key_policy)key;
    sender->stamped = body == 1;
    sender->group_changes = group == 1;
}

static void read_sender(struct reader *r, const struct yaml_node *node, size_t place)
{
    static const char *const give_ups[] = {"unknown", "failed"};
    struct yaml *y = &r->yaml;
    struct sender_config *sender = &r->s->senders[place];
    sender->retry = retry_default;
    sender->in_flight = 1;
    yaml_position(y, node->at, &sender->line, &sender->column);
    if (node->kind == YAML_MAPPING) {
        read_sender_name(r, node, place);
    } else {
        sender->name = sim_strdup("");
    }
    if (!READ_MAPPING(y, node, "a sender", "name", "messages", "workload", "loop", "in_flight",
                      "rate", "every", "retry", "on_give_up", "keys", "body", "groups", "session",
                      "correlation")) {
        return;
    }
    const struct yaml_node *messages = value_of(node, "messages");
    const struct yaml_node *workload = value_of(node, "workload");
    if ((messages == NULL) == (workload == NULL)) {
        yaml_error(y, node->at, "a sender needs one of \"messages\" and \"workload\"");
    }
    if (workload != NULL) {
        read_workload(y, workload, &sender->workload);
    }
    read_loop(y, node, sender);
    read_retry(y, value_of(node, "retry"), &sender->retry);
    unsigned give_up = 0;
    read_choice(y, value_of(node, "on_give_up"), "on_give_up", give_ups, ARRAY_LEN(give_ups),
                &give_up);
    sender->give_up_is_failed = give_up == 1;
    read_policies(y, node, sender);
}

void read_senders(struct reader *r, const struct yaml_node *mapping)
{
    struct scenario *s = r->s;
    const struct yaml_node *list = value_of(mapping, "senders");
    if (list == NULL) {
        yaml_error(&r->yaml, mapping->at, "\"senders\" is missing: who sends which messages");
        return;
    }
    if (!read_sequence(&r->yaml, list, "a list of senders")) {
        return;
    }
    if (list->len > SENDERS_MAX) {
        yaml_error(&r->yaml, list->at, "more than %d senders", SENDERS_MAX);
        return;
    }
    s->senders = sim_zalloc(list->len, sizeof(*s->senders));
    for (const struct yaml_node *item = list->first; item != NULL; item = item->next) {
        read_sender(r, item, s->sender_count++);
    }
}
