/* In: words of a file or a command line. Out: their quoted forms, and the nearest known word. */
#include "sim/words.h"

#include <string.h>

size_t words_utf8(const char *s, size_t len, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (len == 0) {
        return 0;
    }
    unsigned char first = (unsigned char)s[0];
    size_t n = first < 0x80             ? 1
               : (first & 0xe0) == 0xc0 ? 2
               : (first & 0xf0) == 0xe0 ? 3
               : (first & 0xf8) == 0xf0 ? 4
                                        : 0;
    if (n == 0 || n > len) {
        return 0;
    }
    uint32_t code = n == 1 ? first : first & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)s[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | ((unsigned char)s[i] & 0x3f);
    }
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        return 0;
    }
    if (c != NULL) {
        *c = code;
    }
    return n;
}

/* One character of a JSON string into out[8]; *used is what it took of s. */
static size_t quote_one(const char *s, size_t len, char *out, size_t *used)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letter[] = "\"\\bfnrt";
    uint32_t c = 0xfffd;
    size_t n = words_utf8(s, len, &c);
    *used = n ? n : 1;
    const char *short_form = n == 1 && c != 0 ? strchr(plain, (int)c) : NULL;
    if (short_form != NULL) {
        out[0] = '\\';
        out[1] = letter[short_form - plain];
        return 2;
    }
    /* Beside C0 and C1: line and paragraph separators, and the marks that reorder text on screen.
     */
    bool hidden = c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
                  (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
    if (n == 0 || hidden) {
        return (size_t)snprintf(out, 8, "\\u%04x", (unsigned)c);
    }
    memcpy(out, s, n);
    return n;
}

size_t words_quote(const char *s, size_t len, char *out, size_t size)
{
    must(size >= 8);
    size_t n = 0;
    size_t safe = 1; /* where a cut still leaves room for the dots */
    out[n++] = '"';
    for (size_t i = 0, used; i < len; i += used) {
        char one[8];
        size_t width = quote_one(s + i, len - i, one, &used);
        if (n + width + 2 > size) {
            memcpy(out + safe, "...\"", 5);
            return safe + 4;
        }
        memcpy(out + n, one, width);
        n += width;
        if (n + 5 <= size) {
            safe = n;
        }
    }
    out[n++] = '"';
    out[n] = '\0';
    return n;
}

static bool hex4(const char *s, size_t len, uint32_t *c)
{
    *c = 0;
    for (size_t i = 0; i < 4; i++) {
        if (i >= len) {
            return false;
        }
        char h = s[i];
        uint32_t digit = h >= '0' && h <= '9'   ? (uint32_t)(h - '0')
                         : h >= 'a' && h <= 'f' ? (uint32_t)(h - 'a' + 10)
                         : h >= 'A' && h <= 'F' ? (uint32_t)(h - 'A' + 10)
                                                : 16;
        if (digit == 16) {
            return false;
        }
        *c = *c << 4 | digit;
    }
    return true;
}

static size_t utf8_put(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3f));
        c >>= 6;
    }
    out[0] = (char)((0xf00u >> n & 0xf0) | c);
    return n;
}

/* An escape that begins at s[0] == '\\', into out[4]. Returns the bytes used, 0: not one. */
static size_t unescape(const char *s, size_t len, char *out, size_t *width)
{
    static const char letter[] = "\"\\/bfnrt";
    static const char plain[] = "\"\\/\b\f\n\r\t";
    if (len < 2 || s[1] == '\0') {
        return 0;
    }
    const char *known = strchr(letter, s[1]);
    if (known != NULL) {
        out[0] = plain[known - letter];
        *width = 1;
        return 2;
    }
    uint32_t c;
    size_t used = 6;
    if (s[1] != 'u' || !hex4(s + 2, len - 2, &c)) {
        return 0;
    }
    if (c >= 0xd800 && c <= 0xdbff) {
        uint32_t low;
        if (len < 12 || s[6] != '\\' || s[7] != 'u' || !hex4(s + 8, len - 8, &low) ||
            low < 0xdc00 || low > 0xdfff) {
            return 0;
        }
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        used = 12;
    }
    if (c == 0 || (c >= 0xdc00 && c <= 0xdfff)) {
        return 0;
    }
    *width = utf8_put(c, out);
    return used;
}

size_t words_unquote(const char *s, size_t len, char *out, size_t size, size_t *out_len)
{
    size_t n = 0;
    for (size_t i = 1; i < len;) {
        char one[4];
        size_t width = 0;
        size_t used;
        if (s[i] == '"') {
            out[n] = '\0';
            if (out_len != NULL) {
                *out_len = n;
            }
            return i + 1;
        }
        if (s[i] == '\\') {
            used = unescape(s + i, len - i, one, &width);
        } else {
            used = (unsigned char)s[i] < 0x20 ? 0 : words_utf8(s + i, len - i, NULL);
            width = used;
            memcpy(one, s + i, used);
        }
        if (used == 0 || n + width >= size) {
            return 0;
        }
        memcpy(out + n, one, width);
        n += width;
        i += used;
    }
    return 0;
}

bool words_like_duration(const char *s, size_t len)
{
    size_t digits = 0;
    while (digits < len && s[digits] >= '0' && s[digits] <= '9') {
        digits++;
    }
    char one[4] = "1";
    uint64_t ns;
    if (digits == 0 || len - digits > 2) {
        return false;
    }
    memcpy(one + 1, s + digits, len - digits);
    return duration_parse(one, len - digits + 1, &ns);
}

enum { WORD_MAX = 64 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edits (insert, delete, replace, swap of neighbours) from a to b; case does not count. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned rows[3][WORD_MAX + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (unsigned j = 0; j <= nb; j++) {
        last[j] = j;
    }
    for (size_t i = 1; i <= na; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned differ = (a[i - 1] | 32) != (b[j - 1] | 32);
            now[j] = least(least(now[j - 1], last[j]) + 1, last[j - 1] + differ);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
        unsigned *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[nb];
}

void nearest_offer(struct nearest *n, const char *candidate, size_t len)
{
    if (n->len == 0 || len == 0 || n->len > WORD_MAX || len > WORD_MAX) {
        return;
    }
    unsigned edits = distance(n->word, n->len, candidate, len);
    size_t longest = n->len > len ? n->len : len;
    /* One slip in three letters; a word of two letters has no room for one. */
    if (edits > longest / 3 || (n->best != NULL && edits >= n->distance)) {
        return;
    }
    n->best = candidate;
    n->best_len = len;
    n->distance = edits;
}
