/* Scalars and mappings of a scenario file that is written.
 *
 * In: names and texts that may hold anything but control characters. Out: YAML. What is not plainly
 * a word stands in quotes, so that neither libfyaml nor the reader of another YAML takes it for a
 * number, a truth value, a comment or the end of a mapping.
 */
#include "sim/scenario_print_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/words.h"

size_t print_columns(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++) {
        n += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return n;
}

/* Characters that YAML forbids, or that no reader of the file would see. */
static bool is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa1) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202f) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           c >= 0xfffe;
}

static bool has_hidden(const char *s)
{
    for (size_t n, len = strlen(s); len > 0; s += n, len -= n) {
        uint32_t c = 0;
        n = words_utf8(s, len, &c);
        if (n == 0 || is_hidden(c)) {
            return true;
        }
    }
    return false;
}

/* Words that some YAML takes for no text. */
static bool is_word_of_yaml(const char *s)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(s, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char *double_quoted(const char *s)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    fputc('"', out);
    for (size_t n, len = strlen(s); len > 0; s += n, len -= n) {
        uint32_t c = 0;
        n = words_utf8(s, len, &c);
        must(n > 0);
        if (c == '"' || c == '\\') {
            fprintf(out, "\\%c", (char)c);
        } else if (c == '\n') {
            fputs("\\n", out);
        } else if (is_hidden(c)) {
            fprintf(out, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
        } else {
            fwrite(s, 1, n, out);
        }
    }
    fputc('"', out);
    fclose(out);
    return text;
}

/* Single quotes where a text holds double ones; never '', see yaml_single_quoted. */
static char *quoted(const char *s)
{
    if (strchr(s, '"') == NULL || strchr(s, '\'') != NULL || has_hidden(s)) {
        return double_quoted(s);
    }
    char *text = sim_alloc(strlen(s) + 3);
    sprintf(text, "'%s'", s);
    return text;
}

char *print_name(const char *name)
{
    static const char more[] = "0123456789_-./";
    bool plain = is_letter(name[0]) || name[0] == '_';
    for (const char *c = name; plain && *c != '\0'; c++) {
        plain = is_letter(*c) || strchr(more, *c) != NULL;
    }
    return plain && !is_word_of_yaml(name) ? sim_strdup(name) : quoted(name);
}

char *print_line(const char *text)
{
    size_t len = strlen(text);
    bool plain = is_letter(text[0]) && !is_word_of_yaml(text) && !has_hidden(text) &&
                 strstr(text, ": ") == NULL && strstr(text, " #") == NULL && text[len - 1] != ':' &&
                 text[len - 1] != ' ';
    return plain ? sim_strdup(text) : quoted(text);
}

/* Words with one blank between two, and perhaps a line end behind the last. */
static bool can_fold(const char *text)
{
    size_t len = strlen(text);
    len -= len > 0 && text[len - 1] == '\n';
    if (len == 0 || text[0] == ' ' || text[len - 1] == ' ' || strstr(text, "  ") != NULL) {
        return false;
    }
    char *words = sim_strndup(text, len);
    bool good = !has_hidden(words);
    free(words);
    return good;
}

static void fold(FILE *out, const char *text)
{
    size_t column = 0;
    while (*text != '\0' && *text != '\n') {
        size_t len = strcspn(text, " \n");
        char *word = sim_strndup(text, len);
        size_t width = print_columns(word);
        if (column > 0 && column + 1 + width > PRINT_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%s", column > 0 ? " " : "  ", word);
        column += (column > 0 ? 1 : 2) + width;
        free(word);
        text += len;
        text += *text == ' ';
    }
    fputc('\n', out);
}

void print_about(FILE *out, const char *text)
{
    size_t len = strlen(text);
    bool ended = len > 0 && text[len - 1] == '\n';
    char *line = print_line(text);
    if (can_fold(text) && (ended || print_columns(line) + strlen("about: ") > PRINT_WIDTH)) {
        fprintf(out, "about: >%s\n", ended ? "" : "-");
        fold(out, text);
    } else {
        fprintf(out, "about: %s\n", line);
    }
    free(line);
}

/* ---- mappings ---- */

static struct print_item *item(struct print_map *m, const char *key)
{
    m->items = sim_realloc(m->items, m->count + 1, sizeof(*m->items));
    m->items[m->count] = (struct print_item){.key = sim_strdup(key)};
    return &m->items[m->count++];
}

void print_take(struct print_map *m, const char *key, char *text)
{
    item(m, key)->text = text;
}

void print_put(struct print_map *m, const char *key, const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    must(vasprintf(&text, format, args) >= 0);
    va_end(args);
    print_take(m, key, text);
}

void print_nest(struct print_map *m, const char *key, struct print_map *inner)
{
    if (inner->count > 0) {
        struct print_map *kept = sim_alloc(sizeof(*kept));
        *kept = *inner;
        item(m, key)->inner = kept;
    }
    *inner = (struct print_map){0};
}

static void map_fini(struct print_map *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->items[i].key);
        free(m->items[i].text);
        if (m->items[i].inner != NULL) {
            map_fini(m->items[i].inner);
            free(m->items[i].inner);
        }
    }
    free(m->items);
    *m = (struct print_map){0};
}

static void flow(FILE *out, const struct print_map *m)
{
    fputc('{', out);
    for (size_t i = 0; i < m->count; i++) {
        fprintf(out, "%s%s: ", i > 0 ? ", " : "", m->items[i].key);
        if (m->items[i].inner != NULL) {
            flow(out, m->items[i].inner);
        } else {
            fputs(m->items[i].text, out);
        }
    }
    fputc('}', out);
}

static char *flow_text(const struct print_map *m)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    flow(out, m);
    fclose(out);
    return text;
}

char *print_flow(struct print_map *m)
{
    char *text = flow_text(m);
    map_fini(m);
    return text;
}

static void map_block(FILE *out, int indent, const char *key, const struct print_map *m);

static void items_block(FILE *out, int indent, const struct print_map *m)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->items[i].inner != NULL) {
            map_block(out, indent, m->items[i].key, m->items[i].inner);
        } else {
            fprintf(out, "%*s%s: %s\n", indent, "", m->items[i].key, m->items[i].text);
        }
    }
}

static void map_block(FILE *out, int indent, const char *key, const struct print_map *m)
{
    char *line = flow_text(m);
    size_t width = (size_t)indent + print_columns(key) + 2 + print_columns(line);
    if (width <= PRINT_WIDTH) {
        fprintf(out, "%*s%s: %s\n", indent, "", key, line);
    } else {
        fprintf(out, "%*s%s:\n", indent, "", key);
        items_block(out, indent + 2, m);
    }
    free(line);
}

void print_items(FILE *out, int indent, struct print_map *m)
{
    items_block(out, indent, m);
    map_fini(m);
}

void print_map(FILE *out, int indent, const char *key, struct print_map *m)
{
    if (m->count > 0) {
        map_block(out, indent, key, m);
    }
    map_fini(m);
}
