/* The listed messages of a scenario file, and the numbers of all entities.
 *
 * Read after all senders, because a listed message may name an entity that a workload generates,
 * and may not take an id that a workload makes.
 */
#include "sim/scenario_internal.h"

#include "sim/words.h"

#include <stdlib.h>
#include <string.h>

/* Marks a number that counts from the first generated entity; all numbers are below it. */
#define GENERATED (UINT32_C(1) << 31)

struct messages {
    struct reader *r;
    struct name_table entities;
};

static bool present(struct yaml *y, const struct yaml_node *item, const char *key)
{
    if (value_of(item, key) != NULL) {
        return true;
    }
    yaml_error(y, item->at, "a message needs \"%s\"", key);
    return false;
}

static const char *const effects[] = {
#define X(name, text) text,
    EFFECTS(X)
#undef X
};

/* The one word of {add: N}, as its place in effects. False: none or several; said. */
static bool read_effect_word(struct yaml *y, const struct yaml_node *effect, size_t *which)
{
    size_t found = 0;
    if (!read_mapping(y, effect, "effect", effects, ARRAY_LEN(effects))) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(effects); i++) {
        if (value_of(effect, effects[i]) != NULL) {
            *which = i;
            found++;
        }
    }
    if (found != 1) {
        yaml_error(y, effect->at,
                   "an effect is one of \"add\", \"set\", \"create\" and \"insert\"; here %s",
                   found == 0 ? "is none" : "are several");
    }
    return found == 1;
}

/* charge: N, or effect: {add: N} */
static void read_effect(struct yaml *y, const struct yaml_node *item, struct listed_message *m)
{
    const struct yaml_node *charge = value_of(item, "charge"), *effect = value_of(item, "effect");
    uint64_t n = 1;
    if ((charge == NULL) == (effect == NULL)) {
        yaml_error(y, item->at, "a message needs one of \"charge\" and \"effect\"");
        return;
    }
    size_t which = EFFECT_ADD;
    if (effect != NULL && !read_effect_word(y, effect, &which)) {
        return;
    }
    read_number(y, effect != NULL ? value_of(effect, effects[which]) : charge, 1,
                (uint64_t)AMOUNT_MAX, &n);
    m->effect = (uint8_t)which;
    m->amount = (int64_t)n;
}

static void read_id(struct messages *m, const struct yaml_node *node, uint64_t op, char **id)
{
    struct yaml *y = &m->r->yaml;
    struct scenario *s = m->r->s;
    if (!read_name(y, node, "an id", NAME_BYTES, id) || *id == NULL) {
        return;
    }
    bool is_new;
    uint64_t other = name_table_put(s->ids, *id, strlen(*id), op, &is_new)->value;
    char shown[60];
    words_quote(*id, strlen(*id), shown, sizeof(shown));
    if (!is_new) {
        yaml_error(y, node->at, "duplicate id %s; first in line %d", shown,
                   s->senders[op_sender(other) - PLACE_SENDER].messages[op_number(other) - 1].line);
    } else if (scenario_generated_operation(s, *id, strlen(*id)) != 0) {
        yaml_error(y, node->at, "duplicate id %s; a workload makes it too", shown);
    } else if (scenario_registration(s, *id, strlen(*id)) != 0) {
        yaml_error(y, node->at, "duplicate id %s; a sender opens its session under it", shown);
    }
}

static void put_entity(struct messages *m, const char *name, uint32_t *entity)
{
    bool is_new;
    *entity = (uint32_t)name_table_put(&m->entities, name, strlen(name), m->entities.count, &is_new)
                  ->value;
}

static void read_entity(struct messages *m, const struct yaml_node *node, uint32_t *entity)
{
    char *name = NULL;
    if (!read_name(&m->r->yaml, node, "the name of an entity", NAME_BYTES, &name) || name == NULL) {
        return;
    }
    *entity = scenario_generated_entity(m->r->s, name, strlen(name));
    if (*entity != UINT32_MAX) {
        *entity |= GENERATED;
    } else {
        put_entity(m, name, entity);
    }
    free(name);
}

/* What opens a session asks for nothing else. */
static void only_registers(struct yaml *y, const struct yaml_node *item)
{
    static const char *const others[] = {"entity",  "group",   "charge",  "effect",
                                         "version", "invalid", "declined"};
    for (const struct yaml_node *k = item->first; k != NULL; k = k->next) {
        for (size_t i = 0; i < ARRAY_LEN(others); i++) {
            if (strcmp(k->text, others[i]) == 0) {
                yaml_error(y, k->at, "\"%s\" does not go with \"register\"", others[i]);
            }
        }
    }
}

static void read_message(struct messages *m, const struct yaml_node *item, unsigned sender)
{
    struct yaml *y = &m->r->yaml;
    struct sender_config *config = &m->r->s->senders[sender];
    struct listed_message *message = &config->messages[config->message_count++];
    yaml_position(y, item->at, &message->line, &message->column);
    if (!READ_MAPPING(y, item, "a message", "id", "key", "group", "entity", "charge", "effect",
                      "version", "invalid", "declined", "register", "at")) {
        return;
    }
    uint64_t op = op_make(PLACE_SENDER + sender, config->message_count);
    if (present(y, item, "id")) {
        read_id(m, value_of(item, "id"), op, &message->id);
    }
    /* One that says so in a wrong way is not asked for what it would need else. */
    message->registers =
        !read_bool(y, value_of(item, "register"), &message->registers) || message->registers;
    if (message->registers) {
        only_registers(y, item);
        put_entity(m, "", &message->entity);
    } else if (present(y, item, "entity")) {
        read_entity(m, value_of(item, "entity"), &message->entity);
    }
    read_name(y, value_of(item, "key"), "a key", KEY_LISTED, &message->key);
    read_name(y, value_of(item, "group"), "a group", NAME_BYTES, &message->group);
    if (!message->registers) {
        read_effect(y, item, message);
    }
    read_number(y, value_of(item, "version"), 1, VERSION_MAX, &message->version);
    read_bool(y, value_of(item, "invalid"), &message->invalid);
    read_u32(y, value_of(item, "declined"), 0, DECLINED_MAX, &message->declined);
    read_moment(y, value_of(item, "at"), &message->at);
}

static void read_list(struct messages *m, const struct yaml_node *list, unsigned sender)
{
    if (!read_sequence(&m->r->yaml, list, "a list of messages")) {
        return;
    }
    if (list->len > 1000000) {
        yaml_error(&m->r->yaml, list->at, "more than 1000000 messages; use a \"workload\"");
        return;
    }
    m->r->s->senders[sender].messages = sim_zalloc(list->len, sizeof(struct listed_message));
    for (const struct yaml_node *item = list->first; item != NULL; item = item->next) {
        read_message(m, item, sender);
    }
}

/* Listed entities come first, generated ones behind them. */
static void number_entities(struct messages *m)
{
    struct scenario *s = m->r->s;
    s->entity_listed = m->entities.count;
    s->entities = sim_zalloc(s->entity_listed, sizeof(*s->entities));
    for (size_t i = 0; i < s->entity_listed; i++) {
        s->entities[i] = sim_strdup(m->entities.entries[i].name);
    }
    uint32_t listed = (uint32_t)s->entity_listed;
    s->entity_count = listed;
    for (size_t i = 0; i < s->sender_count; i++) {
        struct sender_config *sender = &s->senders[i];
        sender->workload.first_entity += listed;
        s->entity_count += sender->workload.count > 0 ? sender->workload.entities : 0;
        for (size_t n = 0; n < sender->message_count; n++) {
            struct listed_message *message = &sender->messages[n];
            if (message->entity & GENERATED) {
                message->entity = (message->entity & ~GENERATED) + listed;
            }
        }
    }
}

void read_messages(struct reader *r, const struct yaml_node *mapping)
{
    struct messages m = {.r = r};
    struct scenario *s = r->s;
    s->ids = sim_zalloc(1, sizeof(*s->ids));
    uint32_t generated = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        struct workload *w = &s->senders[i].workload;
        w->first_entity = generated;
        generated += w->count > 0 ? w->entities : 0;
    }
    const struct yaml_node *senders = value_of(mapping, "senders");
    const struct yaml_node *item = senders != NULL ? senders->first : NULL;
    for (unsigned i = 0; i < s->sender_count; i++, item = item->next) {
        const struct yaml_node *list = value_of(item, "messages");
        if (list != NULL) {
            read_list(&m, list, i);
        }
    }
    number_entities(&m);
    name_table_fini(&m.entities);
}
