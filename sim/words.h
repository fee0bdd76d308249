/* Words in messages to people: quoted so that no byte of theirs reaches a terminal raw, and the
 * known word that a misspelt one comes closest to.
 */
#ifndef SIM_WORDS_H
#define SIM_WORDS_H

#include "sim/base.h"

/* Writes s as a JSON string: quotes, backslashes and every control character escaped, UTF-8 kept,
 * bytes that are not UTF-8 as \ufffd. What does not fit in size (at least 8) is cut at "...".
 * Complete where size >= 6 * len + 3. Returns the length. */
size_t words_quote(const char *s, size_t len, char *out, size_t size);

/* Reads the JSON string that begins at s[0] == '"'. Returns the bytes used with its quotes, 0 where
 * it is none or decodes to more than size - 1 bytes or to a NUL. *out_len may be NULL. */
size_t words_unquote(const char *s, size_t len, char *out, size_t size, size_t *out_len);

/* Length of the UTF-8 character at s, 0 where it is not one (overlong, surrogate, cut). *c may be
 * NULL. */
size_t words_utf8(const char *s, size_t len, uint32_t *c);

/* True for what has the form of a duration, however large: the error is its size then. */
bool words_like_duration(const char *s, size_t len);

/* The closest of the words offered. Zeroed but for the word asked about. */
struct nearest {
    const char *word;
    size_t len;
    const char *best; /* borrowed from nearest_offer; NULL: none is close enough */
    size_t best_len;
    unsigned distance;
};
void nearest_offer(struct nearest *n, const char *candidate, size_t len);

#endif
