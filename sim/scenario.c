/* A scenario file as a whole: its parts in order, and its end. Bytes in, struct scenario out. */
#include "sim/scenario_internal.h"

#include "sim/words.h"

#include <stdlib.h>
#include <string.h>

/* "scenarios/seed/lost-reply.yaml" is named lost-reply. */
static char *name_of_file(const char *file)
{
    if (strcmp(file, "-") == 0) {
        return sim_strdup("stdin");
    }
    const char *slash = strrchr(file, '/');
    const char *base = slash != NULL ? slash + 1 : file;
    const char *dot = strrchr(base, '.');
    size_t len = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base);
    char *name = sim_strndup(base, len);
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t c = 0;
        n = words_utf8(name + i, len - i, &c);
        if (n == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0)) {
            n = n > 0 ? n : 1;
            memset(name + i, '?', n);
        }
    }
    return name;
}

static void read_contract(struct reader *r, const struct yaml_node *node)
{
    static const char *const lates[] = {"allowed", "forbidden"};
    struct yaml *y = &r->yaml;
    if (node == NULL ||
        !READ_MAPPING(y, node, "contract", "no_give_up", "window", "late", "records")) {
        return;
    }
    const struct yaml_node *window = value_of(node, "window"), *late = value_of(node, "late");
    unsigned forbidden = 0;
    read_bool(y, value_of(node, "no_give_up"), &r->s->no_give_up);
    read_duration(y, window, 1, &r->s->window);
    read_choice(y, late, "late", lates, ARRAY_LEN(lates), &forbidden);
    if (late != NULL && window == NULL) {
        yaml_error(y, late->at,
                   "\"late\" is said of what comes after the contract's \"window\", and there is "
                   "none");
    }
    r->s->late_forbidden = forbidden == 1;
    read_number(y, value_of(node, "records"), 1, 1000000000, &r->s->most_records);
}

static void read_all(struct reader *r, const struct yaml_node *root)
{
    struct yaml *y = &r->yaml;
    if (root->kind != YAML_MAPPING) {
        READ_MAPPING(y, root, "a scenario", "name");
        return;
    }
    READ_MAPPING(y, root, "a scenario", "name", "about", "receivers", "sweep", "senders", "network",
                 "broker", "downstream", "hosts", "database", "faults", "faults_until", "contract",
                 "expect", "explore", "service");
    read_name(y, value_of(root, "name"), "the name of a scenario", NAME_BYTES, &r->s->name);
    read_text(y, value_of(root, "about"), "about", &r->s->about);
    read_contract(r, value_of(root, "contract"));
    size_t before = y->error_count;
    read_receivers(r, root);
    if (y->error_count == before) {
        read_sweep(r, value_of(root, "sweep"));
    }
    /* What refers to names is not read where the names are in doubt: one slip, one error. */
    if (y->error_count == before) {
        read_expectations(r, root);
    }
    before = y->error_count;
    read_network(r, root);
    read_broker(r, root);
    read_downstream(r, root);
    read_senders(r, root);
    read_messages(r, root);
    read_service(r, root);
    if (y->error_count == before) {
        read_hosts(r, root);
        read_faults(r, root);
    }
}

enum sim_error scenario_parse(const char *name, const char *text, size_t len, FILE *errors,
                              struct scenario *out)
{
    *out = (struct scenario){.file = sim_strdup(name)};
    struct reader r = {.s = out};
    const struct yaml_node *root = yaml_load(&r.yaml, out->file, text, len);
    if (root != NULL) {
        read_all(&r, root);
    }
    enum sim_error result = SIM_OK;
    if (r.yaml.error_count > 0) {
        yaml_print_errors(&r.yaml, errors);
        result = SIM_ERR_SCENARIO;
    } else if (out->name == NULL) {
        out->name = name_of_file(name);
    }
    yaml_fini(&r.yaml);
    if (result != SIM_OK) {
        scenario_fini(out);
    }
    return result;
}

static void sender_fini(struct sender_config *sender)
{
    for (size_t i = 0; i < sender->message_count; i++) {
        free(sender->messages[i].id);
        free(sender->messages[i].key);
        free(sender->messages[i].group);
    }
    free(sender->messages);
    free(sender->name);
}

void scenario_fini(struct scenario *s)
{
    for (size_t i = 0; i < s->receiver_count; i++) {
        free(s->receivers[i].name);
        free(s->receivers[i].swept);
    }
    if (s->downstream != NULL) {
        free(s->downstream->name);
        free(s->downstream);
    }
    for (size_t i = 0; i < s->sender_count; i++) {
        sender_fini(&s->senders[i]);
    }
    for (size_t i = 0; i < s->entity_listed; i++) {
        free(s->entities[i]);
    }
    if (s->ids != NULL) {
        name_table_fini(s->ids);
    }
    free(s->file);
    free(s->name);
    free(s->about);
    free(s->receivers);
    free(s->expectations);
    free(s->explore_expectations);
    free(s->service.name);
    free(s->senders);
    free(s->entities);
    free(s->ids);
    free(s->faults);
    *s = (struct scenario){0};
}
