/* Settings of receivers: defaults, values from a file, values as text. */
#include "sim/scenario_settings.h"

#include "sim/scenario_internal.h"

#include <inttypes.h>
#include <string.h>

size_t settings_count(const struct receiver *code)
{
    size_t n = 0;
    while (code->settings != NULL && code->settings[n].name != NULL) {
        n++;
    }
    must(n <= SETTINGS_MAX);
    return n;
}

void settings_default(const struct receiver *code, int64_t values[SETTINGS_MAX])
{
    size_t count = settings_count(code);
    for (size_t i = 0; i < SETTINGS_MAX; i++) {
        values[i] = i < count ? code->settings[i].value : 0;
    }
}

/* ---- choices ---- */

/* The words of a choice, one behind the other in `text`. */
struct choices {
    char text[SETTING_TEXT];
    const char *words[SETTING_WORDS_MAX];
    size_t count;
};

static void split(const char *text, struct choices *c)
{
    size_t len = strlen(text);
    must(len > 0 && len < sizeof(c->text));
    memcpy(c->text, text, len + 1);
    c->count = 0;
    for (char *word = c->text; word != NULL;) {
        char *blank = strchr(word, ' ');
        must(c->count < ARRAY_LEN(c->words));
        c->words[c->count++] = word;
        if (blank != NULL) {
            *blank++ = '\0';
        }
        word = blank;
    }
}

/* ---- from a file ---- */

static bool setting_duration(struct yaml *y, const struct yaml_node *node, const struct setting *s,
                             int64_t *out)
{
    uint64_t ns = 0;
    bool good = node->kind == YAML_SCALAR && duration_parse(node->text, node->len, &ns);
    if (!good || ns < (uint64_t)s->least || ns > (uint64_t)s->most) {
        char range[SETTING_TEXT], usual[SETTING_TEXT], what[3 * SETTING_TEXT];
        snprintf(what, sizeof(what), "a duration in %s, such as %s", setting_range_text(s, range),
                 setting_text(s, s->value, usual));
        return expected(y, node, what);
    }
    *out = (int64_t)ns;
    return true;
}

bool setting_read(struct yaml *y, const struct yaml_node *node, const struct setting *s,
                  int64_t *out)
{
    uint64_t number = 0;
    bool flag = false;
    unsigned choice = 0;
    struct choices c;
    bool good = false;
    switch (s->kind) {
    case SETTING_DURATION:
        return setting_duration(y, node, s, out);
    case SETTING_NUMBER:
        good = read_number(y, node, (uint64_t)s->least, (uint64_t)s->most, &number);
        *out = (int64_t)number;
        break;
    case SETTING_FLAG:
        good = read_bool(y, node, &flag);
        *out = flag;
        break;
    case SETTING_CHOICE:
        split(s->choices, &c);
        good = read_choice(y, node, s->name, c.words, c.count, &choice);
        *out = (int64_t)choice;
        break;
    }
    return good;
}

bool settings_read(struct yaml *y, const struct yaml_node *mapping, const struct receiver *code,
                   int64_t values[SETTINGS_MAX])
{
    const char *keys[SETTINGS_MAX + 2] = {"name", "is"};
    size_t count = settings_count(code);
    for (size_t i = 0; i < count; i++) {
        keys[i + 2] = code->settings[i].name;
    }
    char what[120];
    snprintf(what, sizeof(what), "a receiver that is %s%s", code->name,
             count == 0 ? ", which has no settings" : "");
    settings_default(code, values);
    if (!read_mapping(y, mapping, what, keys, count + 2)) {
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct yaml_node *node = value_of(mapping, code->settings[i].name);
        if (node != NULL) {
            good = setting_read(y, node, &code->settings[i], &values[i]) && good;
        }
    }
    return good;
}

/* ---- as text ---- */

const char *setting_text(const struct setting *s, int64_t value, char out[SETTING_TEXT])
{
    char text[DURATION_TEXT];
    struct choices c;
    switch (s->kind) {
    case SETTING_DURATION:
        snprintf(out, SETTING_TEXT, "%s", duration_text((uint64_t)value, text));
        break;
    case SETTING_NUMBER:
        snprintf(out, SETTING_TEXT, "%" PRId64, value);
        break;
    case SETTING_FLAG:
        snprintf(out, SETTING_TEXT, "%s", value != 0 ? "true" : "false");
        break;
    case SETTING_CHOICE:
        split(s->choices, &c);
        must(value >= 0 && (uint64_t)value < c.count);
        snprintf(out, SETTING_TEXT, "%s", c.words[value]);
        break;
    }
    return out;
}

const char *setting_range_text(const struct setting *s, char out[SETTING_TEXT])
{
    char least[DURATION_TEXT], most[DURATION_TEXT];
    switch (s->kind) {
    case SETTING_DURATION:
        snprintf(out, SETTING_TEXT, "%s..%s", duration_text((uint64_t)s->least, least),
                 duration_text((uint64_t)s->most, most));
        break;
    case SETTING_NUMBER:
        snprintf(out, SETTING_TEXT, "%" PRId64 "..%" PRId64, s->least, s->most);
        break;
    case SETTING_FLAG:
        snprintf(out, SETTING_TEXT, "true|false");
        break;
    case SETTING_CHOICE:
        must(strlen(s->choices) < SETTING_TEXT);
        for (size_t i = 0; i <= strlen(s->choices); i++) {
            out[i] = s->choices[i];
            if (out[i] == ' ') {
                out[i] = '|';
            }
        }
        break;
    }
    return out;
}
