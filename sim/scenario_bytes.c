/* The bytes of a scenario file before they are YAML: lines are counted, what is not text is
 * refused. */
#include "sim/scenario_yaml.h"

#include "sim/words.h"

#include <string.h>

/* libfyaml 0.7.12 loses text where a quoted one goes over lines that end in CR LF. */
void yaml_take_text(struct yaml *y, const char *text, size_t len)
{
    char *copy = yaml_alloc(y, len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\r' || i + 1 == len || text[i + 1] != '\n') {
            copy[n++] = text[i];
        }
    }
    y->text = copy;
    y->len = n;
}

/* Notes where lines begin, so that a place in a long file is found quickly. */
void yaml_index_lines(struct yaml *y)
{
    size_t count = 1;
    for (size_t i = 0; i < y->len; i++) {
        count += y->text[i] == '\n';
    }
    y->lines = sim_zalloc(count, sizeof(*y->lines));
    y->line_count = 1;
    for (size_t i = 0; i < y->len; i++) {
        if (y->text[i] == '\n') {
            y->lines[y->line_count++] = i + 1;
        }
    }
    static const char mark[] = "\xef\xbb\xbf";
    if (y->len >= 3 && memcmp(y->text, mark, 3) == 0) {
        y->lines[0] = 3;
    }
}

/* What YAML forbids, and what libfyaml would misread without a word. */
bool yaml_is_text(struct yaml *y)
{
    static const char be[] = "\xfe\xff", le[] = "\xff\xfe";
    if (y->len >= 2 && (memcmp(y->text, be, 2) == 0 || memcmp(y->text, le, 2) == 0)) {
        yaml_error(y, 0, "the file is UTF-16; save it as UTF-8");
        return false;
    }
    bool blank = true;
    for (size_t at = 0, n; at < y->len; at += n) {
        uint32_t c;
        n = words_utf8(y->text + at, y->len - at, &c);
        if (n == 0) {
            yaml_error(y, at, "byte 0x%02x is not valid UTF-8", (unsigned char)y->text[at]);
            return false;
        }
        if (c == 0) {
            yaml_error(y, at, "a NUL byte; is the file UTF-16 or binary?");
            return false;
        }
        if (c == '\t') {
            /* YAML allows some; libfyaml 0.7.12 crashes at "? a:<tab>?". */
            yaml_error(y, at, "a tab; use blanks, or \"\\t\" in double quotes");
            return false;
        }
        if (c == '\r') {
            yaml_error(y, at, "a carriage return that ends no line");
            return false;
        }
        if ((c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0)) {
            yaml_error(y, at, "control character U+%04X; write \"\\u%04x\" in double quotes", c, c);
            return false;
        }
        if (c == 0xfeff && at > 0) {
            yaml_error(y, at, "a byte order mark inside the file");
            return false;
        }
        blank = blank && (c <= ' ' || c == 0xfeff);
    }
    if (blank) {
        yaml_error(y, 0, "the file is empty");
    }
    return !blank;
}

/* Line breaks in quotes: blanks around them go, one becomes a blank, further ones stay. */
static size_t fold(const char *s, size_t len, size_t at, char *out, size_t *n)
{
    while (*n > 0 && out[*n - 1] == ' ') {
        (*n)--;
    }
    size_t breaks = 0;
    for (; at < len && (s[at] == ' ' || s[at] == '\n'); at++) {
        breaks += s[at] == '\n';
    }
    if (breaks == 1) {
        out[(*n)++] = ' ';
    }
    for (; breaks > 1; breaks--) {
        out[(*n)++] = '\n';
    }
    return at;
}

size_t yaml_single_quoted(const char *s, size_t len, char *out)
{
    size_t n = 0;
    for (size_t at = 0; at < len;) {
        if (s[at] == '\n') {
            at = fold(s, len, at, out, &n);
            continue;
        }
        at += s[at] == '\'';
        if (at < len) {
            out[n++] = s[at++];
        }
    }
    return n;
}
