/* Errors in a file, for people: where, what, the source line, a caret.
 *
 * In: byte offsets and texts. Out: "file:line:col: error: text", sorted by place. Nothing of the
 * file reaches the terminal raw: control characters are shown as "?", names come in quoted.
 */
#include "sim/scenario_yaml.h"

#include "sim/words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    PRINTED_MAX = 10,
    COLLECTED_MAX = 1000, /* beyond this a file only counts as wrong */
    SOURCE_WIDTH = 100,   /* characters of a source line that are shown */
};

void yaml_error(struct yaml *y, size_t at, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (y->error_count == COLLECTED_MAX) {
        return;
    }
    if (y->error_count == y->error_capacity) {
        y->error_capacity = y->error_capacity > 0 ? 2 * y->error_capacity : 8;
        y->errors = sim_realloc(y->errors, y->error_capacity, sizeof(*y->errors));
    }
    y->errors[y->error_count++] = (struct yaml_error){at, sim_strdup(text)};
}

/* A byte that is not UTF-8 counts as one character. */
static size_t step(const struct yaml *y, size_t at)
{
    size_t n = words_utf8(y->text + at, y->len - at, NULL);
    return n > 0 ? n : 1;
}

/* The number of the line that holds a byte, from 0. */
static size_t line_of(const struct yaml *y, size_t at)
{
    size_t low = 0, high = y->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (y->lines[middle] <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

void yaml_position(const struct yaml *y, size_t at, int *line, int *column)
{
    at = at < y->len ? at : y->len;
    size_t n = line_of(y, at);
    *line = (int)n + 1;
    *column = 1;
    for (size_t i = y->lines[n]; i < at; i += step(y, i)) {
        (*column)++;
    }
}

static void put_file(FILE *out, const char *file)
{
    char quoted[4096];
    size_t len = strlen(file);
    size_t n = words_quote(file, len, quoted, sizeof(quoted));
    if (n == len + 2) {
        fputs(file, out);
    } else {
        fputs(quoted, out);
    }
}

void yaml_print_bare(FILE *out, const char *file, int line, int column, const char *text)
{
    put_file(out, file);
    fprintf(out, ":%d:%d: error: %s\n", line, column, text);
}

static void put_source(const struct yaml *y, size_t at, FILE *out)
{
    int line, column;
    yaml_position(y, at, &line, &column);
    size_t i = y->lines[line - 1];
    int first = column > SOURCE_WIDTH - 20 ? column - SOURCE_WIDTH / 2 : 1;
    for (int c = 1; c < first; c++) {
        i += step(y, i);
    }
    fputs("  ", out);
    for (int c = first; c < first + SOURCE_WIDTH && i < y->len && y->text[i] != '\n'; c++) {
        char one[16];
        size_t n = step(y, i);
        /* A character that needs an escape makes its quoted form longer than itself. */
        bool shown = words_quote(y->text + i, n, one, sizeof(one)) == n + 2 || y->text[i] == '"' ||
                     y->text[i] == '\\';
        if (shown) {
            fwrite(y->text + i, 1, n, out);
        } else {
            fputc(y->text[i] == '\t' ? ' ' : '?', out);
        }
        i += n;
    }
    fprintf(out, "\n  %*s^\n", column - first, "");
}

static int by_place(const void *a, const void *b)
{
    const struct yaml_error *x = a, *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return strcmp(x->text, y->text);
}

void yaml_print_errors(struct yaml *y, FILE *out)
{
    if (y->error_count > 1) {
        qsort(y->errors, y->error_count, sizeof(*y->errors), by_place);
    }
    for (size_t i = 0; i < y->error_count && i < PRINTED_MAX; i++) {
        int line, column;
        yaml_position(y, y->errors[i].at, &line, &column);
        yaml_print_bare(out, y->file, line, column, y->errors[i].text);
        if (y->len > 0) {
            put_source(y, y->errors[i].at, out);
        }
    }
    if (y->error_count > PRINTED_MAX) {
        put_file(out, y->file);
        fprintf(out, ": %zu more errors\n", y->error_count - PRINTED_MAX);
    }
}
