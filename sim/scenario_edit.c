/* Changes of a scenario that keep it whole.
 *
 * Places of senders, numbers of operations and numbers of entities follow from the lists. A change
 * of the lists first turns what refers to such numbers into names (faults into sentences, entities
 * into their names), then changes the lists, then looks the names up anew.
 */
#include "sim/scenario_edit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario_internal.h"

static void *copy_of(const void *list, size_t count, size_t size)
{
    void *copy = sim_zalloc(count > 0 ? count : 1, size);
    if (count > 0) {
        memcpy(copy, list, count * size);
    }
    return copy;
}

static char *copy_text(const char *text)
{
    return text != NULL ? sim_strdup(text) : NULL;
}

static void number_ids(struct scenario *s)
{
    s->ids = sim_zalloc(1, sizeof(*s->ids));
    for (size_t i = 0; i < s->sender_count; i++) {
        for (size_t n = 0; n < s->senders[i].message_count; n++) {
            bool is_new;
            const char *id = s->senders[i].messages[n].id;
            name_table_put(s->ids, id, strlen(id), op_make(PLACE_SENDER + (unsigned)i, n + 1),
                           &is_new);
            must(is_new);
        }
    }
}

static void copy_sender(const struct sender_config *from, struct sender_config *to)
{
    *to = *from;
    to->name = sim_strdup(from->name);
    to->messages = copy_of(from->messages, from->message_count, sizeof(*from->messages));
    for (size_t n = 0; n < from->message_count; n++) {
        to->messages[n].id = sim_strdup(from->messages[n].id);
        to->messages[n].key = copy_text(from->messages[n].key);
        to->messages[n].group = copy_text(from->messages[n].group);
    }
}

void scenario_copy(const struct scenario *from, struct scenario *to)
{
    *to = *from;
    to->file = sim_strdup(from->file);
    to->name = sim_strdup(from->name);
    to->about = copy_text(from->about);
    to->service.name = copy_text(from->service.name);
    size_t count = from->receiver_count;
    to->receivers = copy_of(from->receivers, count, sizeof(*from->receivers));
    if (from->downstream != NULL) {
        to->downstream = copy_of(from->downstream, 1, sizeof(*from->downstream));
        to->downstream->name = sim_strdup(from->downstream->name);
    }
    for (size_t i = 0; i < count; i++) {
        to->receivers[i].name = sim_strdup(from->receivers[i].name);
        to->receivers[i].swept = copy_text(from->receivers[i].swept);
    }
    to->expectations = copy_of(from->expectations, count, sizeof(*from->expectations));
    to->explore_expectations =
        copy_of(from->explore_expectations, count, sizeof(*from->explore_expectations));
    to->senders = copy_of(from->senders, from->sender_count, sizeof(*from->senders));
    for (size_t i = 0; i < from->sender_count; i++) {
        copy_sender(&from->senders[i], &to->senders[i]);
    }
    to->entities = copy_of(from->entities, from->entity_listed, sizeof(*from->entities));
    for (size_t i = 0; i < from->entity_listed; i++) {
        to->entities[i] = sim_strdup(from->entities[i]);
    }
    to->faults = copy_of(from->faults, from->fault_count, sizeof(*from->faults));
    number_ids(to);
}

void scenario_keep_receiver(struct scenario *s, size_t receiver)
{
    must(receiver < s->receiver_count);
    for (size_t i = 0; i < s->receiver_count; i++) {
        if (i != receiver) {
            free(s->receivers[i].name);
            free(s->receivers[i].swept);
        }
    }
    s->receivers[0] = s->receivers[receiver];
    s->receiver_count = 1;
    s->expectations[0] = s->explore_expectations[0] = (struct expectation){0};
    s->expect_others = s->explore_others = (struct expectation){0};
    s->explore_faults = 0;
}

/* ---- names, while numbers change ---- */

struct names {
    char **faults;
    size_t fault_count;
    char **entities; /* of the listed messages, in order */
    size_t entity_count;
};

size_t scenario_listed(const struct scenario *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        count += s->senders[i].message_count;
    }
    return count;
}

static struct names take_names(const struct scenario *s)
{
    struct sentence_names by_number = scenario_names(s);
    struct names names = {.fault_count = s->fault_count, .entity_count = scenario_listed(s)};
    names.faults = sim_zalloc(names.fault_count + 1, sizeof(*names.faults));
    for (size_t i = 0; i < s->fault_count; i++) {
        char sentence[SENTENCE_MAX];
        sentence_print(&by_number, &s->faults[i], sentence);
        names.faults[i] = sim_strdup(sentence);
    }
    names.entities = sim_zalloc(names.entity_count + 1, sizeof(*names.entities));
    size_t k = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        for (size_t n = 0; n < s->senders[i].message_count; n++) {
            char name[KEY_MAX];
            names.entities[k++] =
                sim_strdup(scenario_entity(s, s->senders[i].messages[n].entity, name));
        }
    }
    return names;
}

/* Listed entities in order of appearance, generated ones behind them, as the reader has them. */
static void number_entities(struct scenario *s, const struct names *names)
{
    struct name_table listed = {0};
    uint32_t *numbers = sim_zalloc(names->entity_count + 1, sizeof(*numbers));
    uint32_t generated = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        struct workload *w = &s->senders[i].workload;
        w->first_entity = generated;
        generated += w->count > 0 ? w->entities : 0;
    }
    for (size_t k = 0; k < names->entity_count; k++) {
        const char *name = names->entities[k];
        bool is_new;
        if (scenario_generated_entity(s, name, strlen(name)) == UINT32_MAX) {
            numbers[k] =
                (uint32_t)name_table_put(&listed, name, strlen(name), listed.count, &is_new)->value;
        } else {
            numbers[k] = UINT32_MAX;
        }
    }
    for (size_t i = 0; i < s->entity_listed; i++) {
        free(s->entities[i]);
    }
    free(s->entities);
    s->entity_listed = listed.count;
    s->entity_count = listed.count + generated;
    s->entities = sim_zalloc(listed.count + 1, sizeof(*s->entities));
    for (size_t i = 0; i < listed.count; i++) {
        s->entities[i] = sim_strdup(listed.entries[i].name);
    }
    size_t k = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        struct sender_config *sender = &s->senders[i];
        sender->workload.first_entity += (uint32_t)listed.count;
        for (size_t n = 0; n < sender->message_count; n++, k++) {
            const char *name = names->entities[k];
            sender->messages[n].entity =
                numbers[k] != UINT32_MAX
                    ? numbers[k]
                    : scenario_generated_entity(s, name, strlen(name)) + (uint32_t)listed.count;
        }
    }
    name_table_fini(&listed);
    free(numbers);
}

/* Puts everything back in order and frees the names. */
static void put_names(struct scenario *s, struct names *names)
{
    must(names->entity_count == scenario_listed(s));
    number_entities(s, names);
    name_table_fini(s->ids);
    free(s->ids);
    number_ids(s);
    struct sentence_names by_name = scenario_names(s);
    struct sentence_error error;
    size_t count = 0;
    for (size_t i = 0; i < names->fault_count; i++) {
        count += sentence_parse(&by_name, names->faults[i], strlen(names->faults[i]),
                                &s->faults[count], &error);
        free(names->faults[i]);
    }
    s->fault_count = count;
    scenario_number_faults(s->faults, count);
    for (size_t i = 0; i < names->entity_count; i++) {
        free(names->entities[i]);
    }
    free(names->faults);
    free(names->entities);
}

/* ---- faults ---- */

void scenario_number_faults(struct fault *faults, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct rng_key *key = &faults[i].site.key;
        if (fault_kind_scope(fault_kind(&faults[i])) != SCOPE_WORLD) {
            continue;
        }
        key->nth = key->nth > 1 ? 1 : key->nth;
        for (size_t j = 0; j < i; j++) {
            if (memcmp(&faults[j].site.key, key, sizeof(*key)) == 0) {
                key->nth++;
                j = SIZE_MAX; /* the next number may be taken too */
            }
        }
    }
}

void scenario_set_faults(struct scenario *s, const struct fault *faults, size_t count)
{
    struct fault *list = copy_of(faults, count, sizeof(*faults));
    free(s->faults);
    s->faults = list;
    s->fault_count = count;
    scenario_number_faults(list, count);
}

/* ---- messages ---- */

uint64_t scenario_generated(const struct scenario *s)
{
    uint64_t most = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        uint64_t count = s->senders[i].workload.count;
        most = count > most ? count : most;
    }
    return most;
}

void scenario_cut_workloads(struct scenario *s, uint64_t count)
{
    must(count > 0);
    struct names names = take_names(s);
    for (size_t i = 0; i < s->sender_count; i++) {
        struct workload *w = &s->senders[i].workload;
        w->count = w->count > count ? count : w->count;
    }
    put_names(s, &names);
}

/* A number of a workload's operation, as the sender draws it when it begins the operation. */
static uint64_t draw(uint64_t seed, const char *id, enum draw which)
{
    struct rng_key key = {.operation = rng_name(id, strlen(id)), .draw = (uint8_t)which};
    return rng_keyed(seed, &key);
}

static void list_workload(const struct scenario *s, struct sender_config *sender, uint64_t seed,
                          char **entities)
{
    struct workload *w = &sender->workload;
    struct zipf zipf = {0};
    if (w->skew > 0) {
        zipf_init(&zipf, w->entities, w->skew);
    }
    sender->messages = sim_zalloc(w->count, sizeof(*sender->messages));
    sender->message_count = w->count;
    for (uint64_t n = 0; n < w->count; n++) {
        char text[KEY_MAX];
        snprintf(text, sizeof(text), "%s-%" PRIu64, sender->name, n + 1);
        uint64_t random = draw(seed, text, DRAW_ENTITY);
        uint32_t entity =
            w->first_entity + (w->skew > 0 ? zipf_sample(&zipf, random) - 1
                                           : (uint32_t)rng_range(random, 0, w->entities - 1));
        sender->messages[n] = (struct listed_message){
            .id = sim_strdup(text),
            .amount = (int64_t)dist_sample(&w->amount, draw(seed, text, DRAW_AMOUNT)),
            .effect = w->effect,
        };
        entities[n] = sim_strdup(scenario_entity(s, entity, text));
    }
    if (w->skew > 0) {
        zipf_fini(&zipf);
    }
}

void scenario_list_workloads(struct scenario *s, uint64_t seed)
{
    struct names names = take_names(s);
    uint64_t count = names.entity_count;
    for (size_t i = 0; i < s->sender_count; i++) {
        count += s->senders[i].workload.count;
    }
    char **entities = sim_zalloc(count + 1, sizeof(*entities));
    size_t from = 0, to = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        struct sender_config *sender = &s->senders[i];
        if (sender->workload.count > 0) {
            free(sender->messages);
            list_workload(s, sender, seed, entities + to);
        } else {
            memcpy(entities + to, names.entities + from, sender->message_count * sizeof(*entities));
            from += sender->message_count;
        }
        to += sender->message_count;
    }
    for (size_t i = 0; i < s->sender_count; i++) {
        s->senders[i].workload = (struct workload){0};
    }
    free(names.entities);
    names.entities = entities;
    names.entity_count = count;
    put_names(s, &names);
}

static void sender_free(struct sender_config *sender)
{
    free(sender->messages);
    free(sender->name);
}

void scenario_keep_messages(struct scenario *s, const bool *keep)
{
    struct names names = take_names(s);
    size_t from = 0, to = 0, senders = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        struct sender_config sender = s->senders[i];
        size_t kept = 0;
        for (size_t n = 0; n < sender.message_count; n++, from++) {
            if (keep[from]) {
                sender.messages[kept++] = sender.messages[n];
                names.entities[to++] = names.entities[from];
            } else {
                free(sender.messages[n].id);
                free(sender.messages[n].key);
                free(sender.messages[n].group);
                free(names.entities[from]);
            }
        }
        sender.message_count = kept;
        if (kept > 0 || sender.workload.count > 0) {
            s->senders[senders++] = sender;
        } else {
            sender_free(&sender);
        }
    }
    s->sender_count = senders;
    names.entity_count = to;
    put_names(s, &names);
}
