/* The words of a sentence, one after the other: see sim/sentence_scan.h. */
#include "sim/sentence_scan.h"

#include "sim/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

bool scan_fail(struct scan *s, size_t offset, const char *format, ...)
{
    s->error->offset = offset;
    va_list args;
    va_start(args, format);
    vsnprintf(s->error->text, sizeof(s->error->text), format, args);
    va_end(args);
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void scan_blanks(struct scan *s)
{
    while (s->at < s->len && is_blank(s->text[s->at])) {
        s->at++;
    }
}

struct word scan_word(struct scan *s)
{
    scan_blanks(s);
    size_t start = s->at;
    if (s->at < s->len && (s->text[s->at] == '(' || s->text[s->at] == ')')) {
        s->at++;
    } else {
        while (s->at < s->len && !is_blank(s->text[s->at]) && s->text[s->at] != '(' &&
               s->text[s->at] != ')') {
            s->at++;
        }
    }
    return (struct word){s->text + start, s->at - start, start};
}

static bool word_is(struct word w, const char *text)
{
    return strlen(text) == w.len && memcmp(w.text, text, w.len) == 0;
}

/* Takes the next word if it is this one. */
bool scan_take(struct scan *s, const char *text)
{
    size_t at = s->at;
    if (word_is(scan_word(s), text)) {
        return true;
    }
    s->at = at;
    return false;
}

enum { SHOWN = 64 };

/* The word as an error names it: quoted, or "the end". */
static const char *shown(struct word w, char out[SHOWN])
{
    if (w.len == 0) {
        return "the end";
    }
    words_quote(w.text, w.len, out, SHOWN);
    return out;
}

bool scan_expect(struct scan *s, const char *text)
{
    struct word w = scan_word(s);
    char found[SHOWN];
    return word_is(w, text) ||
           scan_fail(s, w.offset, "expected \"%s\", found %s", text, shown(w, found));
}

/* One of count words, as its index; -1: none, and said so. what: "fault", "step". */
int scan_one_of(struct scan *s, struct word w, const char *what, const char *const *words,
                size_t count)
{
    struct nearest near = {.word = w.text, .len = w.len};
    char list[160] = "";
    for (size_t i = 0, n = 0; i < count; i++) {
        if (word_is(w, words[i])) {
            return (int)i;
        }
        nearest_offer(&near, words[i], strlen(words[i]));
        n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s",
                              i == 0           ? ""
                              : i == count - 1 ? " or "
                                               : ", ",
                              words[i]);
        must(n < sizeof(list));
    }
    char found[SHOWN];
    shown(w, found);
    if (w.len == 0) {
        scan_fail(s, w.offset, "expected a %s here: %s", what, list);
    } else if (near.best != NULL) {
        scan_fail(s, w.offset, "unknown %s %s; did you mean \"%s\"?", what, found, near.best);
    } else {
        scan_fail(s, w.offset, "unknown %s %s; one of %s", what, found, list);
    }
    return -1;
}

int scan_choose(struct scan *s, const char *what, const char *const *words, size_t count)
{
    return scan_one_of(s, scan_word(s), what, words, count);
}

static bool all_digits(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9') {
            return false;
        }
    }
    return len > 0;
}

/* A decimal number of a part of the sentence that begins at offset. */
bool scan_number_of(struct scan *s, const char *what, const char *text, size_t len, size_t offset,
                    uint32_t max, uint32_t *out)
{
    struct word w = {text, len, offset};
    char found[SHOWN];
    if (!all_digits(text, len)) {
        return scan_fail(s, offset, "expected %s, a number, found %s", what, shown(w, found));
    }
    uint64_t n = 0;
    for (size_t i = 0; i < len && n <= max; i++) {
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    if (n < 1 || n > max) {
        return scan_fail(s, offset, "%s must be 1..%" PRIu32, what, max);
    }
    *out = (uint32_t)n;
    return true;
}

bool scan_number(struct scan *s, const char *what, uint32_t max, uint32_t *out)
{
    struct word w = scan_word(s);
    return scan_number_of(s, what, w.text, w.len, w.offset, max, out);
}

/* Takes the next word if it is a number; *out is left alone where it is not. */
bool scan_optional_number(struct scan *s, const char *what, uint32_t max, uint32_t *out)
{
    size_t at = s->at;
    struct word w = scan_word(s);
    if (w.len > 0 && w.text[0] >= '0' && w.text[0] <= '9') {
        return scan_number_of(s, what, w.text, w.len, w.offset, max, out);
    }
    s->at = at;
    return true;
}

bool scan_time_of(struct scan *s, const char *text, size_t len, size_t offset, uint64_t *out)
{
    struct word w = {text, len, offset};
    char found[SHOWN];
    *out = UINT64_MAX;
    if (!duration_parse(text, len, out) && !words_like_duration(text, len)) {
        return scan_fail(s, offset,
                         "expected a duration such as 3s or 20ms (ns us ms s m h d), found %s",
                         shown(w, found));
    }
    return *out <= (uint64_t)CLOCK_OFFSET_MAX ||
           scan_fail(s, offset, "a duration is at most 3650d");
}

bool scan_positive_time(struct scan *s, uint64_t *out)
{
    struct word w = scan_word(s);
    return scan_time_of(s, w.text, w.len, w.offset, out) &&
           (*out > 0 || scan_fail(s, w.offset, "the duration must be above 0s"));
}

/* A moment on the world's clock. */
bool scan_moment_of(struct scan *s, const char *text, size_t len, size_t offset, uint64_t *out)
{
    return scan_time_of(s, text, len, offset, out) &&
           (*out >= SIM_START || scan_fail(s, offset, "the world's clock starts at 1s"));
}

/* A name, bare or quoted, into out[KEY_MAX]. what: "host", "message". */
bool scan_name(struct scan *s, const char *what, char *out, size_t *len)
{
    scan_blanks(s);
    size_t start = s->at;
    if (start < s->len && s->text[start] == '"') {
        size_t used = words_unquote(s->text + start, s->len - start, out, NAME_BYTES, len);
        s->at += used;
        return used > 0 ||
               scan_fail(s, start, "not a quoted name of at most %d bytes", NAME_BYTES - 1);
    }
    while (s->at < s->len && !is_blank(s->text[s->at]) && s->text[s->at] != '/' &&
           s->text[s->at] != '(' && s->text[s->at] != ')' && s->text[s->at] != '"') {
        s->at++;
    }
    *len = s->at - start;
    if (*len == 0) {
        char found[SHOWN];
        s->at = start;
        struct word w = scan_word(s);
        return scan_fail(s, start, "expected a %s, found %s", what, shown(w, found));
    }
    if (*len >= NAME_BYTES) {
        return scan_fail(s, start, "a name has at most %d bytes", NAME_BYTES - 1);
    }
    memcpy(out, s->text + start, *len);
    out[*len] = '\0';
    return sentence_bare(out, *len) ||
           scan_fail(s, start, "a name with other characters than A-Za-z0-9_.:- needs quotes");
}
