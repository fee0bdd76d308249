/* `receivers:`, `expect:` and `explore:` of a scenario file. */
#include "sim/scenario_internal.h"

#include "receivers/receiver.h"
#include "sim/scenario_settings.h"
#include "sim/words.h"

#include <stdlib.h>
#include <string.h>

static void unknown_receiver(struct yaml *y, const struct yaml_node *node)
{
    struct nearest near = {.word = node->text, .len = node->len};
    for (size_t i = 0; i < receivers_count(); i++) {
        nearest_offer(&near, receiver_at(i)->name, strlen(receiver_at(i)->name));
    }
    char found[60];
    words_quote(node->text, node->len, found, sizeof(found));
    if (near.best != NULL) {
        yaml_error(y, node->at, "unknown receiver %s; did you mean \"%s\"?", found, near.best);
    } else {
        yaml_error(y, node->at, "unknown receiver %s; see \"onlyonce list receivers\"", found);
    }
}

/* NULL: there is none of that name, and said so. */
static const struct receiver *code_of(struct yaml *y, const struct yaml_node *is)
{
    if (is->kind != YAML_SCALAR) {
        expected(y, is, "the name of a receiver");
        return NULL;
    }
    const struct receiver *code = receiver_find(is->text, is->len);
    if (code == NULL) {
        unknown_receiver(y, is);
    }
    return code;
}

/* {name: mine, is: table}, {name: fifo, is: window, window: 20s}: its values. NULL: it has no code
 * or no name, and said so. */
static const struct receiver *receiver_mapping(struct yaml *y, const struct yaml_node *item,
                                               int64_t settings[SETTINGS_MAX])
{
    const struct yaml_node *name = value_of(item, "name");
    const struct yaml_node *is = value_of(item, "is") != NULL ? value_of(item, "is") : name;
    size_t before = y->error_count;
    const struct receiver *code = NULL;
    if (is != NULL) {
        code = code_of(y, is);
    } else {
        READ_MAPPING(y, item, "a receiver", "name", "is");
    }
    if (code != NULL) {
        /* Where a setting is wrong the name is known still: `expect` may use it. */
        settings_read(y, item, code, settings);
    }
    if (name == NULL && y->error_count == before) {
        yaml_error(y, item->at, "\"name\" is missing here");
    }
    return name != NULL ? code : NULL;
}

/* table, or a mapping; *at: where its name stands. False: it is none, and said so. */
static bool read_one(struct yaml *y, const struct yaml_node *item, struct scenario_receiver *one,
                     const struct yaml_node **at)
{
    const struct yaml_node *name = item;
    *one = (struct scenario_receiver){0};
    if (item->kind == YAML_MAPPING) {
        name = value_of(item, "name");
        one->code = receiver_mapping(y, item, one->settings);
    } else {
        one->code = code_of(y, item);
        if (one->code != NULL) {
            settings_default(one->code, one->settings);
        }
    }
    if (one->code == NULL) {
        return false;
    }
    *at = name;
    yaml_position(y, name->at, &one->line, &one->column);
    return read_name(y, name, "the name of a receiver", NAME_BYTES, &one->name);
}

static void read_receiver(struct reader *r, const struct yaml_node *item)
{
    struct yaml *y = &r->yaml;
    struct scenario *s = r->s;
    struct scenario_receiver *one = &s->receivers[s->receiver_count];
    const struct yaml_node *name = NULL;
    if (!read_one(y, item, one, &name)) {
        return;
    }
    if (scenario_receiver_place(s, one->name, strlen(one->name)) != SIZE_MAX) {
        char shown[60];
        words_quote(one->name, strlen(one->name), shown, sizeof(shown));
        yaml_error(y, name->at, "two receivers are named %s", shown);
        free(one->name);
        return;
    }
    s->receiver_count++;
}

void read_downstream(struct reader *r, const struct yaml_node *mapping)
{
    const struct yaml_node *node = value_of(mapping, "downstream"), *name = NULL;
    struct scenario_receiver one;
    if (node != NULL && read_one(&r->yaml, node, &one, &name)) {
        if (one.code->steps & STEP_BIT(STEP_EXTERNAL)) {
            yaml_error(&r->yaml, name->at,
                       "a receiver that calls the service cannot stand downstream");
        }
        r->s->downstream = sim_alloc(sizeof(one));
        *r->s->downstream = one;
    }
}

void read_receivers(struct reader *r, const struct yaml_node *mapping)
{
    const struct yaml_node *list = value_of(mapping, "receivers");
    if (list == NULL) {
        yaml_error(&r->yaml, mapping->at, "\"receivers\" is missing; for example [table, naive]");
        return;
    }
    if (!read_sequence(&r->yaml, list, "a list of receivers such as [table, naive]")) {
        return;
    }
    if (list->len > RECEIVERS_MAX) {
        yaml_error(&r->yaml, list->at, "more than %d receivers", RECEIVERS_MAX);
        return;
    }
    r->s->receivers = sim_zalloc(list->len, sizeof(*r->s->receivers));
    for (const struct yaml_node *item = list->first; item != NULL; item = item->next) {
        read_receiver(r, item);
    }
}

/* The set of a check's name that stands at `at`; 0: unknown, and said so. */
static uint32_t check_at(struct yaml *y, size_t at, const char *name, size_t len)
{
    uint32_t set = check_set(name, len);
    if (set != 0) {
        return set;
    }
    struct nearest near = {.word = name, .len = len};
    nearest_offer(&near, "exactly-once", strlen("exactly-once"));
    nearest_offer(&near, "violates", strlen("violates"));
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        nearest_offer(&near, check_text((enum check)c), strlen(check_text((enum check)c)));
    }
    char found[60];
    words_quote(name, len, found, sizeof(found));
    if (near.best != NULL) {
        yaml_error(y, at, "unknown check %s; did you mean \"%s\"?", found, near.best);
    } else {
        yaml_error(y, at, "unknown check %s; see \"onlyonce list checks\"", found);
    }
    return 0;
}

/* exactly-once, no-double-effect, "violates no-double-effect" */
static bool one_expectation(struct yaml *y, const struct yaml_node *node, struct expectation *out)
{
    static const char violates[] = "violates ";
    size_t skip = 0;
    if (strncmp(node->text, violates, sizeof(violates) - 1) == 0) {
        out->violates = true;
        skip = sizeof(violates) - 1;
        while (node->text[skip] == ' ') {
            skip++;
        }
    }
    out->checks =
        check_at(y, node->at + (node->direct ? skip : 0), node->text + skip, node->len - skip);
    return out->checks != 0;
}

static bool read_expectation(struct yaml *y, const struct yaml_node *node, struct expectation *out)
{
    static const char what[] = "a check, a list of checks or \"violates CHECK\"";
    struct expectation e = {.given = true};
    yaml_position(y, node->at, &e.line, &e.column);
    if (node->kind == YAML_SCALAR) {
        if (!one_expectation(y, node, &e)) {
            return false;
        }
    } else if (!read_sequence(y, node, what)) {
        return false;
    }
    for (const struct yaml_node *item = node->first; item != NULL; item = item->next) {
        if (item->kind != YAML_SCALAR) {
            return expected(y, item, "the name of a check");
        }
        uint32_t set = check_at(y, item->at, item->text, item->len);
        if (set == 0) {
            return false;
        }
        e.checks |= set;
    }
    *out = e;
    return true;
}

/* Whether the key is the name that a sweep made receivers of. */
static bool names_sweep(const struct scenario_receiver *one, const struct yaml_node *key)
{
    return one->swept != NULL && strlen(one->swept) == key->len &&
           memcmp(one->swept, key->text, key->len) == 0;
}

static void expect_of_nobody(struct reader *r, const struct yaml_node *key, const char *found)
{
    struct nearest near = {.word = key->text, .len = key->len};
    for (size_t n = 0; n < r->s->receiver_count; n++) {
        const struct scenario_receiver *one = &r->s->receivers[n];
        nearest_offer(&near, one->name, strlen(one->name));
        if (one->swept != NULL) {
            nearest_offer(&near, one->swept, strlen(one->swept));
        }
    }
    yaml_error(&r->yaml, key->at, "expect for %s, which is not among the receivers%s%s%s", found,
               near.best ? "; did you mean \"" : "", near.best ? near.best : "",
               near.best ? "\"?" : "");
}

/* A key that names a whole sweep: for its values of which nothing more special is said. */
static void expect_of_sweeps(struct reader *r, const struct yaml_node *map,
                             struct expectation *list)
{
    struct scenario *s = r->s;
    bool *of_sweep = sim_zalloc(s->receiver_count, sizeof(*of_sweep));
    for (const struct yaml_node *key = map->first; key != NULL; key = key->next) {
        struct expectation e = {0};
        bool read = false;
        for (size_t i = 0; i < s->receiver_count; i++) {
            if (!names_sweep(&s->receivers[i], key)) {
                continue;
            }
            if (of_sweep[i]) {
                char found[60];
                words_quote(key->text, key->len, found, sizeof(found));
                yaml_error(&r->yaml, key->at, "key %s stands here twice", found);
                break;
            }
            if (!read && !read_expectation(&r->yaml, key->value, &e)) {
                break;
            }
            read = of_sweep[i] = true;
            list[i] = list[i].given ? list[i] : e;
        }
    }
    free(of_sweep);
}

static void expect_by_receiver(struct reader *r, const struct yaml_node *map,
                               struct expectation *list)
{
    struct yaml *y = &r->yaml;
    for (const struct yaml_node *key = map->first; key != NULL; key = key->next) {
        size_t i = scenario_receiver_place(r->s, key->text, key->len);
        char found[60];
        words_quote(key->text, key->len, found, sizeof(found));
        if (i == SIZE_MAX) {
            bool known = false;
            for (size_t n = 0; n < r->s->receiver_count; n++) {
                known = known || names_sweep(&r->s->receivers[n], key);
            }
            if (!known) {
                expect_of_nobody(r, key, found);
            }
            continue;
        }
        if (list[i].given) {
            yaml_error(y, key->at, "key %s stands here twice; first in line %d", found,
                       list[i].line);
            continue;
        }
        read_expectation(y, key->value, &list[i]);
    }
    expect_of_sweeps(r, map, list);
}

/* The value of an `expect` (NULL: there is none): one for each receiver, and one for those that
 * --receiver brings in. */
static struct expectation *read_expect(struct reader *r, const struct yaml_node *node,
                                       struct expectation *others)
{
    size_t count = r->s->receiver_count;
    struct expectation *list = sim_zalloc(count, sizeof(*list));
    if (node == NULL) {
        return list;
    }
    if (node->kind == YAML_MAPPING) {
        expect_by_receiver(r, node, list);
    } else if (read_expectation(&r->yaml, node, others)) {
        for (size_t i = 0; i < count; i++) {
            list[i] = *others;
        }
    }
    return list;
}

/* The `expect` inside, where there is one. */
static const struct yaml_node *read_explore(struct reader *r, const struct yaml_node *node)
{
    if (node == NULL || !READ_MAPPING(&r->yaml, node, "explore", "faults", "expect")) {
        return NULL;
    }
    if (value_of(node, "faults") == NULL) {
        yaml_error(&r->yaml, node->at, "\"faults\" is missing here: how many at most, 1..5");
    }
    read_u32(&r->yaml, value_of(node, "faults"), 1, 5, &r->s->explore_faults);
    return value_of(node, "expect");
}

void read_expectations(struct reader *r, const struct yaml_node *mapping)
{
    struct scenario *s = r->s;
    const struct yaml_node *explore = read_explore(r, value_of(mapping, "explore"));
    s->explore_expectations = read_expect(r, explore, &s->explore_others);
    s->expectations = read_expect(r, value_of(mapping, "expect"), &s->expect_others);
}
