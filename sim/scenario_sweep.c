/* `sweep:` of a scenario file: one receiver becomes several, which differ in one setting.
 *
 *     receivers: [{name: fifo, is: window}, table]
 *     sweep: {fifo.window: [1m, 5m, 1h]}
 *
 * In: the receivers that were read, and a setting with its values. Out: fifo@1m, fifo@5m and
 * fifo@1h in the place of fifo, each of which remembers that it was fifo. `receiver.window` means
 * every receiver that has the setting.
 */
#include "sim/scenario_internal.h"

#include "sim/scenario_settings.h"
#include "sim/words.h"

#include <stdlib.h>
#include <string.h>

static const char everyone[] = "receiver";

/* The one entry, taken apart: NAME "." SETTING. */
struct sweep {
    const struct yaml_node *key;
    size_t name_len;
    const char *setting;
    bool all;
    const struct setting *first; /* of the first receiver that has it */
};

/* Index of the setting; SIZE_MAX: this receiver is not swept. */
static size_t swept_setting(const struct sweep *w, const struct scenario_receiver *one)
{
    if (!w->all &&
        (strlen(one->name) != w->name_len || memcmp(one->name, w->key->text, w->name_len) != 0)) {
        return SIZE_MAX;
    }
    size_t count = settings_count(one->code);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(one->code->settings[i].name, w->setting) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void put_near(char *out, size_t size, const struct nearest *near)
{
    out[0] = '\0';
    if (near->best != NULL) {
        char quoted[NAME_BYTES + 8];
        words_quote(near->best, near->best_len, quoted, sizeof(quoted));
        snprintf(out, size, "; did you mean %s?", quoted);
    }
}

static void unknown_name(struct reader *r, const struct sweep *w)
{
    char found[60], hint[NAME_BYTES + 40];
    struct nearest near = {.word = w->key->text, .len = w->name_len};
    nearest_offer(&near, everyone, strlen(everyone));
    for (size_t i = 0; i < r->s->receiver_count; i++) {
        nearest_offer(&near, r->s->receivers[i].name, strlen(r->s->receivers[i].name));
    }
    put_near(hint, sizeof(hint), &near);
    words_quote(w->key->text, w->name_len, found, sizeof(found));
    yaml_error(&r->yaml, w->key->at, "sweep of %s, which is not among the receivers%s", found,
               hint);
}

static void unknown_setting(struct reader *r, const struct sweep *w, size_t receiver)
{
    char found[60], name[60], hint[NAME_BYTES + 40];
    struct nearest near = {.word = w->setting, .len = strlen(w->setting)};
    for (size_t i = 0; i < r->s->receiver_count; i++) {
        const struct receiver *code = r->s->receivers[i].code;
        for (size_t n = 0; (w->all || i == receiver) && n < settings_count(code); n++) {
            nearest_offer(&near, code->settings[n].name, strlen(code->settings[n].name));
        }
    }
    put_near(hint, sizeof(hint), &near);
    words_quote(w->setting, strlen(w->setting), found, sizeof(found));
    words_quote(w->key->text, w->name_len, name, sizeof(name));
    size_t at = w->key->at + (w->key->direct ? w->name_len + 1 : 0);
    if (w->all) {
        yaml_error(&r->yaml, at, "none of the receivers has a setting %s%s", found, hint);
    } else {
        yaml_error(&r->yaml, at, "%s has no setting %s%s", name, found, hint);
    }
}

/* Finds out who is swept. False: nobody can be, and said so. */
static bool find_swept(struct reader *r, struct sweep *w)
{
    struct yaml *y = &r->yaml;
    const char *dot = strrchr(w->key->text, '.');
    if (dot == NULL || dot == w->key->text || dot[1] == '\0') {
        char found[60];
        words_quote(w->key->text, w->key->len, found, sizeof(found));
        yaml_error(y, w->key->at, "expected receiver.SETTING or NAME.SETTING, found %s", found);
        return false;
    }
    w->name_len = (size_t)(dot - w->key->text);
    w->setting = dot + 1;
    w->all = w->name_len == strlen(everyone) && memcmp(w->key->text, everyone, w->name_len) == 0;
    size_t place = scenario_receiver_place(r->s, w->key->text, w->name_len);
    if (!w->all && place == SIZE_MAX) {
        unknown_name(r, w);
        return false;
    }
    for (size_t i = 0; i < r->s->receiver_count; i++) {
        size_t index = swept_setting(w, &r->s->receivers[i]);
        if (index == SIZE_MAX) {
            continue;
        }
        const struct setting *s = &r->s->receivers[i].code->settings[index];
        w->first = w->first == NULL ? s : w->first;
        if (s->kind != w->first->kind ||
            (s->kind == SETTING_CHOICE && strcmp(s->choices, w->first->choices) != 0)) {
            yaml_error(y, w->key->at,
                       "the receivers mean different things by \"%s\"; sweep the setting of one, "
                       "NAME.%s",
                       w->setting, w->setting);
            return false;
        }
    }
    if (w->first == NULL) {
        unknown_setting(r, w, place);
    }
    return w->first != NULL;
}

/* The values as this receiver's setting takes them. */
static bool read_values(struct yaml *y, const struct yaml_node *list, const struct setting *s,
                        int64_t values[SWEEP_MAX])
{
    size_t count = 0;
    for (const struct yaml_node *item = list->first; item != NULL; item = item->next) {
        if (!setting_read(y, item, s, &values[count])) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            if (values[i] == values[count]) {
                char text[SETTING_TEXT];
                yaml_error(y, item->at, "the value %s stands here twice",
                           setting_text(s, values[i], text));
                return false;
            }
        }
        count++;
    }
    return true;
}

/* One receiver with one of the values; false: it cannot have its name, and said so. */
static bool make_one(struct reader *r, const struct sweep *w, const struct scenario_receiver *from,
                     uint32_t setting, int64_t value, struct scenario_receiver *to)
{
    char text[SETTING_TEXT], name[NAME_BYTES + SETTING_TEXT], found[60];
    int n = snprintf(name, sizeof(name), "%s@%s", from->name,
                     setting_text(&from->code->settings[setting], value, text));
    words_quote(name, (size_t)n, found, sizeof(found));
    if (n >= NAME_BYTES) {
        yaml_error(&r->yaml, w->key->at, "the sweep makes a receiver %s, whose name is too long",
                   found);
        return false;
    }
    if (scenario_receiver_place(r->s, name, (size_t)n) != SIZE_MAX) {
        yaml_error(&r->yaml, w->key->at, "the sweep makes a receiver %s, and there is one already",
                   found);
        return false;
    }
    *to = *from;
    to->name = sim_strdup(name);
    to->swept = sim_strdup(from->name);
    to->swept_setting = setting;
    to->settings[setting] = value;
    return true;
}

/* Puts the new receivers in place of the old ones. */
static void expand(struct reader *r, const struct sweep *w, const struct yaml_node *list)
{
    struct scenario *s = r->s;
    struct scenario_receiver *made =
        sim_zalloc(s->receiver_count * list->len, sizeof(*s->receivers));
    bool *replaced = sim_zalloc(s->receiver_count, sizeof(*replaced));
    size_t count = 0;
    bool good = true;
    for (size_t i = 0; i < s->receiver_count && good; i++) {
        const struct scenario_receiver *one = &s->receivers[i];
        size_t setting = swept_setting(w, one);
        int64_t values[SWEEP_MAX];
        if (setting == SIZE_MAX) {
            made[count++] = *one;
            continue;
        }
        replaced[i] = true;
        good = read_values(&r->yaml, list, &one->code->settings[setting], values);
        for (size_t n = 0; n < list->len && good; n++) {
            good = make_one(r, w, one, (uint32_t)setting, values[n], &made[count]);
            count += good;
        }
    }
    if (good && count > RECEIVERS_MAX) {
        yaml_error(&r->yaml, w->key->at, "the sweep makes %zu receivers; at most %d are allowed",
                   count, RECEIVERS_MAX);
    }
    for (size_t i = 0; i < s->receiver_count && good; i++) {
        if (replaced[i]) {
            free(s->receivers[i].name);
        }
    }
    for (size_t i = 0; i < count && !good; i++) {
        if (made[i].swept != NULL) {
            free(made[i].name);
            free(made[i].swept);
        }
    }
    if (good) {
        free(s->receivers);
        s->receivers = made;
        s->receiver_count = count;
    } else {
        free(made);
    }
    free(replaced);
}

void read_sweep(struct reader *r, const struct yaml_node *node)
{
    struct yaml *y = &r->yaml;
    if (node == NULL) {
        return;
    }
    if (node->kind != YAML_MAPPING || node->first == NULL) {
        expected(y, node, "a setting and its values, such as {receiver.window: [1m, 5m]}");
        return;
    }
    struct sweep w = {.key = node->first};
    const struct yaml_node *list = w.key->value;
    if (w.key->next != NULL) {
        yaml_error(y, w.key->next->at, "a sweep is over one setting, and this is a second");
        return;
    }
    if (!find_swept(r, &w) || !read_sequence(y, list, "a list of values such as [1m, 5m]")) {
        return;
    }
    if (list->len > SWEEP_MAX) {
        yaml_error(y, list->at, "more than %d values", SWEEP_MAX);
        return;
    }
    expand(r, &w, list);
}
