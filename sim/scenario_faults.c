/* `faults:` and `faults_until:` of a scenario file. */
#include "sim/scenario_internal.h"

#include <string.h>

/* Several clock faults of one host, or partitions of one pair, are told apart by a number; any
 * other site fires once. */
static bool is_numbered(const struct fault *f)
{
    return fault_kind(f) == FAULT_CLOCK || fault_kind(f) == FAULT_PARTITION;
}

static void read_fault(struct reader *r, const struct yaml_node *item, struct name_table *sites)
{
    struct yaml *y = &r->yaml;
    if (item->kind != YAML_SCALAR) {
        expected(y, item, "a sentence such as \"lose reply m-77/1\"");
        return;
    }
    struct sentence_names names = scenario_names(r->s);
    struct sentence_error error;
    struct fault *f = &r->s->faults[r->s->fault_count];
    if (!sentence_parse(&names, item->text, item->len, f, &error)) {
        yaml_error(y, item->at + (item->direct ? error.offset : 0), "%s", error.text);
        return;
    }
    yaml_position(y, item->at, &f->line, &f->column);
    bool is_new;
    for (;;) {
        const struct name_entry *same = name_table_put(
            sites, (const char *)&f->site.key, sizeof(f->site.key), (uint64_t)f->line, &is_new);
        if (is_new) {
            break;
        }
        if (!is_numbered(f)) {
            yaml_error(y, item->at, "this site has a fault already, in line %d", (int)same->value);
            return;
        }
        f->site.key.nth++;
    }
    r->s->fault_count++;
}

void read_faults(struct reader *r, const struct yaml_node *mapping)
{
    struct yaml *y = &r->yaml;
    struct scenario *s = r->s;
    read_moment(y, value_of(mapping, "faults_until"), &s->faults_until);
    const struct yaml_node *list = value_of(mapping, "faults");
    if (list == NULL) {
        return;
    }
    if (list->kind != YAML_SEQUENCE) {
        expected(y, list, "a list of sentences such as \"lose reply m-77/1\"");
        return;
    }
    if (list->len > FAULTS_MAX) {
        yaml_error(y, list->at, "more than %d faults", FAULTS_MAX);
        return;
    }
    s->faults = sim_zalloc(list->len, sizeof(*s->faults));
    struct name_table sites = {0};
    for (const struct yaml_node *item = list->first; item != NULL; item = item->next) {
        read_fault(r, item, &sites);
    }
    name_table_fini(&sites);
}
