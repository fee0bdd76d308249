/* Typed values of a scenario file: mappings with known keys, names, words. */
#include "sim/scenario_internal.h"

#include "sim/words.h"

#include <string.h>

bool expected(struct yaml *y, const struct yaml_node *node, const char *what)
{
    char found[80];
    switch (node->kind) {
    case YAML_NULL:
        snprintf(found, sizeof(found), "nothing");
        break;
    case YAML_SCALAR:
        words_quote(node->text, node->len, found, 60);
        break;
    case YAML_SEQUENCE:
        snprintf(found, sizeof(found), "a list");
        break;
    case YAML_MAPPING:
        snprintf(found, sizeof(found), "a mapping");
        break;
    }
    yaml_error(y, node->at, "expected %s, found %s", what, found);
    return false;
}

static void unknown_key(struct yaml *y, const struct yaml_node *key, const char *what,
                        const char *const *keys, size_t count)
{
    char found[60];
    words_quote(key->text, key->len, found, sizeof(found));
    struct nearest near = {.word = key->text, .len = key->len};
    char list[240] = "";
    for (size_t i = 0, n = 0; i < count; i++) {
        nearest_offer(&near, keys[i], strlen(keys[i]));
        n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i > 0 ? ", " : "", keys[i]);
        must(n < sizeof(list));
    }
    if (near.best != NULL) {
        yaml_error(y, key->at, "unknown key %s in %s; did you mean \"%s\"?", found, what,
                   near.best);
    } else {
        yaml_error(y, key->at, "unknown key %s in %s; it may have %s", found, what, list);
    }
}

bool read_mapping(struct yaml *y, const struct yaml_node *node, const char *what,
                  const char *const *keys, size_t count)
{
    if (node->kind != YAML_MAPPING) {
        char text[80];
        snprintf(text, sizeof(text), "%s, a mapping of keys", what);
        return expected(y, node, text);
    }
    const struct yaml_node *seen[32] = {NULL};
    must(count <= ARRAY_LEN(seen));
    size_t before = y->error_count;
    for (const struct yaml_node *key = node->first; key != NULL; key = key->next) {
        size_t i = 0;
        while (i < count && strcmp(key->text, keys[i]) != 0) {
            i++;
        }
        if (i == count) {
            unknown_key(y, key, what, keys, count);
        } else if (seen[i] != NULL) {
            int line, column;
            yaml_position(y, seen[i]->at, &line, &column);
            yaml_error(y, key->at, "key \"%s\" stands here twice; first in line %d", keys[i], line);
        } else {
            seen[i] = key;
        }
    }
    return y->error_count == before;
}

const struct yaml_node *value_of(const struct yaml_node *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != YAML_MAPPING) {
        return NULL;
    }
    for (const struct yaml_node *k = mapping->first; k != NULL; k = k->next) {
        if (k->kind == YAML_SCALAR && strcmp(k->text, key) == 0) {
            return k->value;
        }
    }
    return NULL;
}

bool read_sequence(struct yaml *y, const struct yaml_node *node, const char *what)
{
    if (node->kind != YAML_SEQUENCE) {
        return expected(y, node, what);
    }
    if (node->first == NULL) {
        yaml_error(y, node->at, "expected %s, found an empty one", what);
        return false;
    }
    return true;
}

/* Control characters would act on a terminal, and XML cannot hold them. */
static bool is_printable(struct yaml *y, const struct yaml_node *node, const char *what, bool lines)
{
    for (size_t at = 0; at < node->len;) {
        uint32_t c = 0;
        at += words_utf8(node->text + at, node->len - at, &c);
        if ((c < 0x20 && !(lines && (c == '\n' || c == '\t'))) || (c >= 0x7f && c < 0xa0)) {
            char shown[60];
            words_quote(node->text, node->len, shown, sizeof(shown));
            yaml_error(y, node->at, "%s may not hold control characters: %s", what, shown);
            return false;
        }
    }
    return true;
}

bool read_text(struct yaml *y, const struct yaml_node *node, const char *what, char **out)
{
    if (node == NULL) {
        return true;
    }
    if (node->kind != YAML_SCALAR) {
        return expected(y, node, what);
    }
    if (!is_printable(y, node, what, true)) {
        return false;
    }
    *out = sim_strndup(node->text, node->len);
    return true;
}

bool read_name(struct yaml *y, const struct yaml_node *node, const char *what, size_t max,
               char **out)
{
    if (node == NULL) {
        return true;
    }
    if (node->kind != YAML_SCALAR || node->len == 0) {
        return expected(y, node, what);
    }
    if (node->len >= max) {
        yaml_error(y, node->at, "%s of %zu bytes is too long; at most %zu", what, node->len,
                   max - 1);
        return false;
    }
    if (!is_printable(y, node, what, false)) {
        return false;
    }
    *out = sim_strndup(node->text, node->len);
    return true;
}

bool read_choice(struct yaml *y, const struct yaml_node *node, const char *what,
                 const char *const *words, size_t count, unsigned *out)
{
    if (node == NULL) {
        return true;
    }
    char list[120];
    size_t n = (size_t)snprintf(list, sizeof(list), "%s: ", what);
    struct nearest near = {.word = node->text, .len = node->kind == YAML_SCALAR ? node->len : 0};
    for (size_t i = 0; i < count; i++) {
        if (node->kind == YAML_SCALAR && strcmp(node->text, words[i]) == 0) {
            *out = (unsigned)i;
            return true;
        }
        nearest_offer(&near, words[i], strlen(words[i]));
        n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
                              i == 0           ? ""
                              : i == count - 1 ? " or "
                                               : ", ",
                              words[i]);
        must(n < sizeof(list));
    }
    if (near.best == NULL) {
        return expected(y, node, list);
    }
    char found[60];
    words_quote(node->text, node->len, found, sizeof(found));
    yaml_error(y, node->at, "unknown %s %s; did you mean \"%s\"?", what, found, near.best);
    return false;
}
