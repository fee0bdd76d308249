#include "sim/scenario_yaml.h"

#include "sim/words.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

/* Deeper than any scenario; keeps a hostile file from growing the parser's stack. */
enum { DEPTH_MAX = 24 };

struct yaml_block {
    struct yaml_block *next;
    size_t used, size;
    _Alignas(max_align_t) char bytes[];
};

void *yaml_alloc(struct yaml *y, size_t bytes)
{
    size_t step = _Alignof(max_align_t);
    bytes = (bytes + step - 1) / step * step;
    if (y->blocks == NULL || y->blocks->size - y->blocks->used < bytes) {
        size_t size = bytes > 16000 ? bytes : 16000;
        struct yaml_block *b = sim_alloc(sizeof(*b) + size);
        *b = (struct yaml_block){.next = y->blocks, .size = size};
        y->blocks = b;
    }
    void *p = y->blocks->bytes + y->blocks->used;
    y->blocks->used += bytes;
    return memset(p, 0, bytes);
}

void yaml_fini(struct yaml *y)
{
    for (struct yaml_block *b = y->blocks, *next; b != NULL; b = next) {
        next = b->next;
        free(b);
    }
    for (size_t i = 0; i < y->error_count; i++) {
        free(y->errors[i].text);
    }
    free(y->errors);
    free(y->lines);
    *y = (struct yaml){0};
}

struct load {
    struct yaml *y;
    struct yaml_node *root;
    struct yaml_node *open[DEPTH_MAX];
    struct yaml_node *key; /* waits for its value, in open[depth - 1] */
    struct yaml_node *keys[DEPTH_MAX];
    unsigned depth;
    size_t last; /* where the last token with a place ended */
    bool done;
};

static size_t token_at(const struct load *l, struct fy_token *token)
{
    const struct fy_mark *mark = token != NULL ? fy_token_start_mark(token) : NULL;
    size_t at = mark != NULL && mark->input_pos <= l->y->len ? mark->input_pos : l->last;
    return at;
}

/* The token of a name begins behind its sign. */
static size_t sign_at(const struct load *l, struct fy_token *token, char sign)
{
    size_t at = token_at(l, token);
    return at > 0 && l->y->text[at - 1] == sign ? at - 1 : at;
}

static bool attach(struct load *l, struct yaml_node *node)
{
    if (l->depth == 0) {
        l->root = node;
        return true;
    }
    struct yaml_node *parent = l->open[l->depth - 1];
    struct yaml_node **key = &l->keys[l->depth - 1];
    if (parent->kind == YAML_MAPPING && *key != NULL) {
        (*key)->value = node;
        *key = NULL;
        return true;
    }
    if (parent->kind == YAML_MAPPING) {
        if (node->kind != YAML_SCALAR) {
            yaml_error(l->y, node->at, "a key must be a word");
            return false;
        }
        *key = node;
    }
    if (parent->last != NULL) {
        parent->last->next = node;
    } else {
        parent->first = node;
    }
    parent->last = node;
    parent->len++;
    return true;
}

static bool open_node(struct load *l, struct yaml_node *node)
{
    if (!attach(l, node)) {
        return false;
    }
    if (l->depth == DEPTH_MAX) {
        yaml_error(l->y, node->at, "nested too deeply");
        return false;
    }
    l->keys[l->depth] = NULL;
    l->open[l->depth++] = node;
    return true;
}

static struct yaml_node *node_new(struct load *l, enum yaml_kind kind, struct fy_token *token)
{
    struct yaml_node *node = yaml_alloc(l->y, sizeof(*node));
    node->kind = kind;
    node->at = token_at(l, token);
    l->last = node->at;
    return node;
}

static bool scalar(struct load *l, struct fy_token *token)
{
    struct yaml_node *node = node_new(l, YAML_SCALAR, token);
    enum fy_scalar_style style = token != NULL ? fy_token_scalar_style(token) : FYSS_PLAIN;
    node->plain = style == FYSS_PLAIN || style == FYSS_ANY;
    const char *source = l->y->text + node->at;
    size_t len = 0;
    if (style == FYSS_SINGLE_QUOTED) {
        size_t end = fy_token_end_mark(token)->input_pos;
        must(end >= node->at && end <= l->y->len);
        node->text = yaml_alloc(l->y, end - node->at + 1);
        len = yaml_single_quoted(source, end - node->at, node->text);
    } else {
        const char *text = token != NULL ? fy_token_get_text(token, &len) : NULL;
        node->text = yaml_alloc(l->y, len + 1);
        memcpy(node->text, len > 0 ? text : "", len);
    }
    node->len = len;
    node->direct = len <= l->y->len - node->at && memcmp(source, node->text, len) == 0;
    l->last = node->direct ? node->at + len : node->at;
    if (node->plain &&
        (len == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0)) {
        node->kind = YAML_NULL;
    }
    for (size_t at = 0, n; at < len; at += n) {
        n = words_utf8(node->text + at, len - at, NULL);
        if (n == 0 || node->text[at] == '\0') {
            yaml_error(l->y, node->at, "this text decodes to a NUL or to what is not Unicode");
            return false;
        }
    }
    return attach(l, node);
}

static bool unmarked(struct load *l, struct fy_token *anchor, struct fy_token *tag)
{
    if (anchor != NULL) {
        yaml_error(l->y, sign_at(l, anchor, '&'), "anchors are not supported; write it out");
        return false;
    }
    if (tag != NULL) {
        yaml_error(l->y, sign_at(l, tag, '!'), "tags are not supported");
        return false;
    }
    return true;
}

static bool take_event(struct load *l, const struct fy_event *e)
{
    switch (e->type) {
    case FYET_DOCUMENT_START:
        if (l->done) {
            yaml_error(l->y, token_at(l, e->document_start.document_start),
                       "a second document; one file holds one scenario");
        }
        return !l->done;
    case FYET_DOCUMENT_END:
        l->done = true;
        return true;
    case FYET_MAPPING_START:
        return unmarked(l, e->mapping_start.anchor, e->mapping_start.tag) &&
               open_node(l, node_new(l, YAML_MAPPING, e->mapping_start.mapping_start));
    case FYET_SEQUENCE_START:
        return unmarked(l, e->sequence_start.anchor, e->sequence_start.tag) &&
               open_node(l, node_new(l, YAML_SEQUENCE, e->sequence_start.sequence_start));
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        must(l->depth > 0);
        l->depth--;
        return true;
    case FYET_SCALAR:
        return unmarked(l, e->scalar.anchor, e->scalar.tag) && scalar(l, e->scalar.value);
    case FYET_ALIAS:
        yaml_error(l->y, sign_at(l, e->alias.anchor, '*'),
                   "aliases are not supported; quote the text if it begins with *");
        return false;
    case FYET_NONE:
    case FYET_STREAM_START:
    case FYET_STREAM_END:
        return true;
    }
    return true;
}

/* The byte of libfyaml's line and column, both from 1. */
static size_t byte_of(const struct yaml *y, int line, int column)
{
    size_t at = y->lines[(size_t)line < y->line_count ? (size_t)line - 1 : y->line_count - 1];
    while (column > 1 && at < y->len && y->text[at] != '\n') {
        at += words_utf8(y->text + at, y->len - at, NULL);
        column--;
    }
    return at;
}

static void tell_syntax_error(struct load *l, struct fy_diag *diag)
{
    void *iterator = NULL;
    struct fy_diag_error *e = fy_diag_errors_iterate(diag, &iterator);
    if (e == NULL) {
        yaml_error(l->y, l->last, "not valid YAML");
        return;
    }
    size_t at = e->line > 0 ? byte_of(l->y, e->line, e->column) : l->last;
    char text[160];
    words_quote(e->msg, strlen(e->msg), text, sizeof(text));
    text[strlen(text) - 1] = '\0';
    yaml_error(l->y, at, "not valid YAML: %s", text + 1);
}

static void read_events(struct load *l, struct fy_parser *parser, struct fy_diag *diag)
{
    bool good = true;
    struct fy_event *e;
    while (good && (e = fy_parser_parse(parser)) != NULL) {
        good = take_event(l, e);
        fy_parser_event_free(parser, e);
    }
    if (good && fy_parser_get_stream_error(parser)) {
        tell_syntax_error(l, diag);
    } else if (good && (l->root == NULL || l->root->kind == YAML_NULL)) {
        yaml_error(l->y, 0, "the file is empty");
    }
}

struct yaml_node *yaml_load(struct yaml *y, const char *file, const char *text, size_t len)
{
    *y = (struct yaml){.file = file};
    yaml_take_text(y, text, len);
    yaml_index_lines(y);
    if (!yaml_is_text(y)) {
        return NULL;
    }
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    struct fy_diag *diag = fy_diag_create(&diag_config);
    must(diag != NULL);
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg config = {
        .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2,
        .diag = diag,
    };
    struct fy_parser *parser = fy_parser_create(&config);
    must(parser != NULL);
    must(fy_parser_set_string(parser, y->text, y->len) == 0);
    struct load l = {.y = y};
    read_events(&l, parser, diag);
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    return y->error_count == 0 ? l.root : NULL;
}
