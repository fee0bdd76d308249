/* The names of a scenario: hosts, operations, keys, entities; from numbers and back.
 *
 * Generated names are never stored: "<sender>-<n>" for operations, "<sender>-entity-<n>" for
 * entities, both from 1; "<sender>-register" for the operation by which a sender opens its session.
 */
#include "sim/scenario_internal.h"

#include "sim/words.h"

#include <inttypes.h>
#include <string.h>

static bool same(const char *a, const char *name, size_t len)
{
    return strlen(a) == len && memcmp(a, name, len) == 0;
}

size_t scenario_receiver_place(const struct scenario *s, const char *name, size_t len)
{
    for (size_t i = 0; i < s->receiver_count; i++) {
        if (same(s->receivers[i].name, name, len)) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* The number behind the last "-" of name, 1..max without leading zeros; 0: none. *prefix is what
 * stands before that "-". */
static uint64_t number_behind(const char *name, size_t len, uint64_t max, size_t *prefix)
{
    size_t i = len;
    while (i > 0 && name[i - 1] >= '0' && name[i - 1] <= '9') {
        i--;
    }
    if (i == len || i < 2 || name[i - 1] != '-' || name[i] == '0' || len - i > 10) {
        return 0;
    }
    *prefix = i - 1;
    uint64_t n = 0;
    for (; i < len; i++) {
        n = n * 10 + (uint64_t)(name[i] - '0');
    }
    return n <= max ? n : 0;
}

uint64_t scenario_generated_operation(const struct scenario *s, const char *id, size_t len)
{
    size_t prefix;
    uint64_t n = number_behind(id, len, COUNT_MAX, &prefix);
    for (size_t i = 0; n > 0 && i < s->sender_count; i++) {
        if (n <= s->senders[i].workload.count && same(s->senders[i].name, id, prefix)) {
            return op_make(PLACE_SENDER + (unsigned)i, n);
        }
    }
    return 0;
}

uint64_t scenario_registration(const struct scenario *s, const char *id, size_t len)
{
    size_t width = strlen(REGISTRATION_SUFFIX);
    if (len <= width || memcmp(id + len - width, REGISTRATION_SUFFIX, width) != 0) {
        return 0;
    }
    for (size_t i = 0; i < s->sender_count; i++) {
        if (s->senders[i].opens_session && same(s->senders[i].name, id, len - width)) {
            return op_make(PLACE_SENDER + (unsigned)i, 0);
        }
    }
    return 0;
}

uint32_t scenario_generated_entity(const struct scenario *s, const char *name, size_t len)
{
    static const char middle[] = "-entity";
    size_t prefix;
    uint64_t n = number_behind(name, len, COUNT_MAX, &prefix);
    size_t width = sizeof(middle) - 1;
    if (n == 0 || prefix <= width || memcmp(name + prefix - width, middle, width) != 0) {
        return UINT32_MAX;
    }
    for (size_t i = 0; i < s->sender_count; i++) {
        const struct workload *w = &s->senders[i].workload;
        if (w->count > 0 && n <= w->entities && same(s->senders[i].name, name, prefix - width)) {
            return w->first_entity + (uint32_t)n - 1;
        }
    }
    return UINT32_MAX;
}

static unsigned place(const void *context, const char *name, size_t len)
{
    const struct scenario *s = context;
    if (same("receiver", name, len)) {
        return PLACE_RECEIVER;
    }
    if (s->broker.on && same("broker", name, len)) {
        return PLACE_BROKER;
    }
    if (s->downstream != NULL && same("downstream", name, len)) {
        return PLACE_DOWNSTREAM;
    }
    if (s->service.name != NULL && same(s->service.name, name, len)) {
        return PLACE_SERVICE;
    }
    for (size_t i = 0; i < s->sender_count; i++) {
        if (s->senders[i].name != NULL && same(s->senders[i].name, name, len)) {
            return PLACE_SENDER + (unsigned)i;
        }
    }
    return PLACE_NONE;
}

static uint64_t operation(const void *context, const char *id, size_t len)
{
    const struct scenario *s = context;
    const struct name_entry *e = s->ids != NULL ? name_table_find(s->ids, id, len) : NULL;
    uint64_t op = e != NULL ? e->value : scenario_generated_operation(s, id, len);
    size_t width = sizeof(FOLLOW_SUFFIX) - 1;
    op = op == 0 ? scenario_registration(s, id, len) : op;
    if (op != 0) {
        return op;
    }
    if (s->downstream != NULL && len > width &&
        memcmp(id + len - width, FOLLOW_SUFFIX, width) == 0) {
        uint64_t parent = operation(context, id, len - width);
        return parent != 0 && op_sender(parent) >= PLACE_SENDER ? op_follow(parent) : 0;
    }
    return same(SWEEP_NAME, id, len) ? OP_SWEEP : same(RELAY_NAME, id, len) ? OP_RELAY : 0;
}

static const struct sender_config *sender_of(const struct scenario *s, uint64_t op)
{
    must(op_sender(op) >= PLACE_SENDER && op_sender(op) - PLACE_SENDER < s->sender_count);
    return &s->senders[op_sender(op) - PLACE_SENDER];
}

static unsigned attempts(const void *context, uint64_t op)
{
    bool own = op_is_job(op) || op_is_follow(op);
    return own ? 0 : sender_of(context, op)->retry.limit;
}

static void place_name(const void *context, unsigned place, char *out)
{
    const struct scenario *s = context;
    if (place >= PLACE_SENDER && place - PLACE_SENDER < s->sender_count) {
        snprintf(out, KEY_MAX, "%s", s->senders[place - PLACE_SENDER].name);
    } else if (place == PLACE_SERVICE) {
        snprintf(out, KEY_MAX, "%s", service_name(&s->service));
    } else {
        must(place == PLACE_RECEIVER || place == PLACE_BROKER || place == PLACE_DOWNSTREAM);
        snprintf(out, KEY_MAX, "%s",
                 place == PLACE_BROKER       ? "broker"
                 : place == PLACE_DOWNSTREAM ? "downstream"
                                             : "receiver");
    }
}

static size_t copy(const char *text, char *out)
{
    size_t len = strlen(text);
    must(len < KEY_MAX);
    memcpy(out, text, len + 1);
    return len;
}

size_t scenario_operation_id(const struct scenario *s, uint64_t op, char *out)
{
    if (op_is_job(op)) {
        return copy(op_is_sweep(op) ? SWEEP_NAME : RELAY_NAME, out);
    }
    if (op_is_follow(op)) {
        size_t len = scenario_operation_id(s, op_parent(op), out);
        must(len + sizeof(FOLLOW_SUFFIX) <= KEY_MAX);
        memcpy(out + len, FOLLOW_SUFFIX, sizeof(FOLLOW_SUFFIX));
        return len + sizeof(FOLLOW_SUFFIX) - 1;
    }
    const struct sender_config *sender = sender_of(s, op);
    uint64_t n = op_number(op);
    if (n == 0) {
        return (size_t)snprintf(out, KEY_MAX, "%s" REGISTRATION_SUFFIX, sender->name);
    }
    if (sender->workload.count > 0) {
        must(n >= 1 && n <= sender->workload.count);
        return (size_t)snprintf(out, KEY_MAX, "%s-%" PRIu64, sender->name, n);
    }
    must(n >= 1 && n <= sender->message_count);
    return copy(sender->messages[n - 1].id, out);
}

size_t scenario_operation_key(const struct scenario *s, uint64_t op, char *out)
{
    if (op_is_job(op) || op_is_follow(op)) {
        return scenario_operation_id(s, op, out);
    }
    const struct sender_config *sender = sender_of(s, op);
    uint64_t n = op_number(op);
    bool listed = sender->workload.count == 0 && n >= 1 && n <= sender->message_count;
    const struct listed_message *m = listed ? &sender->messages[n - 1] : NULL;
    if (sender->keys == KEYS_NONE) {
        return copy("", out);
    }
    if (m != NULL && sender->keys == KEYS_PER_ENTITY) {
        const char *entity = scenario_entity(s, m->entity, out);
        return entity == out ? strlen(out) : copy(entity, out);
    }
    if (m != NULL && m->key != NULL) {
        return copy(m->key, out);
    }
    return scenario_operation_id(s, op, out);
}

const char *scenario_entity(const struct scenario *s, uint32_t entity, char *out)
{
    if (entity < s->entity_listed) {
        return s->entities[entity];
    }
    for (size_t i = 0; i < s->sender_count; i++) {
        const struct workload *w = &s->senders[i].workload;
        if (w->count > 0 && entity >= w->first_entity && entity - w->first_entity < w->entities) {
            snprintf(out, KEY_MAX, "%s-entity-%" PRIu32, s->senders[i].name,
                     entity - w->first_entity + 1);
            return out;
        }
    }
    must(!"an entity of this scenario");
}

static void operation_name(const void *context, uint64_t op, char *out)
{
    scenario_operation_id(context, op, out);
}

/* The last id of a workload that makes such ids, but not so many; "" where there is none. */
static void last_generated(const struct scenario *s, const char *id, size_t len, char *out)
{
    size_t prefix;
    out[0] = '\0';
    if (number_behind(id, len, UINT64_MAX, &prefix) == 0) {
        return;
    }
    for (size_t i = 0; i < s->sender_count; i++) {
        if (s->senders[i].workload.count > 0 && same(s->senders[i].name, id, prefix)) {
            snprintf(out, KEY_MAX, "%s-%" PRIu64, s->senders[i].name, s->senders[i].workload.count);
        }
    }
}

static void suggest(const void *context, bool operation, const char *name, size_t len, char *out)
{
    const struct scenario *s = context;
    struct nearest near = {.word = name, .len = len};
    if (operation) {
        last_generated(s, name, len, out);
        if (out[0] != '\0') {
            return;
        }
        /* A long list is not searched to its end: a suggestion is not worth that. */
        for (size_t i = 0; s->ids != NULL && i < s->ids->count && i < 1000; i++) {
            nearest_offer(&near, s->ids->entries[i].name, s->ids->entries[i].len);
        }
    } else {
        nearest_offer(&near, "receiver", strlen("receiver"));
        if (s->downstream != NULL) {
            nearest_offer(&near, "downstream", strlen("downstream"));
        }
        if (s->broker.on) {
            nearest_offer(&near, "broker", strlen("broker"));
        }
        if (s->service.name != NULL) {
            nearest_offer(&near, s->service.name, strlen(s->service.name));
        }
        for (size_t i = 0; i < s->sender_count; i++) {
            nearest_offer(&near, s->senders[i].name, strlen(s->senders[i].name));
        }
    }
    snprintf(out, KEY_MAX, "%.*s", (int)near.best_len, near.best != NULL ? near.best : "");
}

struct sentence_names scenario_names(const struct scenario *s)
{
    return (struct sentence_names){
        .context = s,
        .place = place,
        .operation = operation,
        .attempts = attempts,
        .place_name = place_name,
        .operation_name = operation_name,
        .suggest = suggest,
    };
}
