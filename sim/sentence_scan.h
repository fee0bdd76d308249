/* The words of a sentence, one after the other, for sim/sentence_parse.c alone.
 *
 * In: text and a place in it. Out: words, numbers, times and names, or the first error with its
 * place. Words are separated by blanks; a parenthesis is a word of its own.
 */
#ifndef SIM_SENTENCE_SCAN_H
#define SIM_SENTENCE_SCAN_H

#include "sim/sentence.h"

struct scan {
    const struct sentence_names *names;
    const char *text;
    size_t len;
    size_t at;
    struct fault *fault;
    struct sentence_error *error;
};

struct word {
    const char *text;
    size_t len; /* 0: the sentence's end */
    size_t offset;
};

/* Writes the error and returns false. */
bool scan_fail(struct scan *s, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void scan_blanks(struct scan *s);
struct word scan_word(struct scan *s);
/* Takes the next word if it is this one. */
bool scan_take(struct scan *s, const char *text);
bool scan_expect(struct scan *s, const char *text);
/* A word as its place among count words; -1: none of them, and said so. what: "fault", "step". */
int scan_one_of(struct scan *s, struct word w, const char *what, const char *const *words,
                size_t count);
/* The next word. */
int scan_choose(struct scan *s, const char *what, const char *const *words, size_t count);

/* Decimal numbers in 1..max. The first reads a part of a word. */
bool scan_number_of(struct scan *s, const char *what, const char *text, size_t len, size_t offset,
                    uint32_t max, uint32_t *out);
bool scan_number(struct scan *s, const char *what, uint32_t max, uint32_t *out);
/* Takes the next word if it begins with a digit; *out is left alone where it does not. */
bool scan_optional_number(struct scan *s, const char *what, uint32_t max, uint32_t *out);

bool scan_time_of(struct scan *s, const char *text, size_t len, size_t offset, uint64_t *out);
bool scan_positive_time(struct scan *s, uint64_t *out);
/* A moment on the world's clock. */
bool scan_moment_of(struct scan *s, const char *text, size_t len, size_t offset, uint64_t *out);

/* A name, bare or quoted, into out[KEY_MAX]. what: "host", "message". */
bool scan_name(struct scan *s, const char *what, char *out, size_t *len);

/* --- sim/sentence_site.c: each fills its part of the fault's site. */

/* Disk operations, times of a step, attempts: more than any run has. */
#define SCAN_COUNT_MAX UINT16_MAX

/* There is a broker between senders and receiver. */
bool scan_brokered(const struct scan *s);

bool scan_place(struct scan *s, uint8_t *out);
/* A host that handles messages. */
bool scan_receiving_place(struct scan *s);
/* A sender, "at", an attempt of one of its operations, "after send". */
bool scan_sending(struct scan *s);
/* m-77/1, m-77/1.2; of a reply and a call also m-77/1.2.3, of an answer m-77/1.2.3.4 */
bool scan_message(struct scan *s);
/* commit, commit 2 */
bool scan_step(struct scan *s);

#endif
