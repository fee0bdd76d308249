/* YAML text as a tree of nodes that know where they stand, and errors that point there.
 *
 * In: the bytes of a file. Out: a tree of scalars, sequences and mappings, without anchors,
 * aliases, tags, directives' surprises or a second document; or errors. libfyaml does the parsing;
 * what it would pass over in silence (a NUL, UTF-16, a second document) is refused here first.
 *
 * Owns: its copy of the text, the nodes, the collected errors; freed by yaml_fini.
 */
#ifndef SIM_SCENARIO_YAML_H
#define SIM_SCENARIO_YAML_H

#include "sim/base.h"

enum yaml_kind { YAML_NULL, YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node {
    enum yaml_kind kind;
    bool plain;  /* a scalar without quotes */
    bool direct; /* a scalar whose text stands in the file byte for byte from `at` on */
    size_t at;   /* byte offset in the text */
    size_t len;  /* of a scalar; else the number of children (mapping: of keys) */
    char *text;  /* of a scalar, with NUL */
    struct yaml_node *first, *last, *next; /* children; of a mapping its keys */
    struct yaml_node *value;               /* of a key of a mapping */
};

struct yaml_error {
    size_t at;
    char *text;
};

struct yaml_block;

struct yaml {
    const char *file; /* as named by the user */
    const char *text; /* lines end in LF alone */
    size_t len;
    size_t *lines; /* where each begins */
    size_t line_count;
    struct yaml_block *blocks;
    struct yaml_error *errors;
    size_t error_count, error_capacity;
};

/* NULL: there are errors. The file's name is borrowed until yaml_fini. */
struct yaml_node *yaml_load(struct yaml *y, const char *file, const char *text, size_t len);
void yaml_fini(struct yaml *y);

/* Notes an error at a byte of the text. */
void yaml_error(struct yaml *y, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints the first ten errors in the order of the file, and how many more there are. */
void yaml_print_errors(struct yaml *y, FILE *out);
/* "file:line:col: error: text" for what has no source line. */
void yaml_print_bare(FILE *out, const char *file, int line, int column, const char *text);

/* Line and column (in characters) of a byte, both from 1. */
void yaml_position(const struct yaml *y, size_t at, int *line, int *column);

/* The steps before parsing: sim/scenario_bytes.c. A copy of the text without carriage returns; the
 * places of its lines; false: it is not text that libfyaml may see, and said why. */
void yaml_take_text(struct yaml *y, const char *text, size_t len);
void yaml_index_lines(struct yaml *y);
bool yaml_is_text(struct yaml *y);

/* What stands between single quotes, into out[len]; returns its length. libfyaml 0.7.12 leaks
 * memory where it does this itself and several '' follow each other. */
size_t yaml_single_quoted(const char *s, size_t len, char *out);

/* Memory that lives as long as the tree. */
void *yaml_alloc(struct yaml *y, size_t bytes);

#endif
