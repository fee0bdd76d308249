/* What one run came to, in words: verdicts, names, the command that repeats it.
 *
 * In: plain data of a run. Out: text that is safe to print. Names come from scenario files and may
 * hold anything: in sentences they are plain or JSON-quoted, in a command they are quoted for a
 * POSIX shell, so that neither a terminal nor a shell acts on them.
 */
#include "sim/result.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/words.h"

const char *verdict_text(enum verdict_kind v)
{
    switch (v) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        VERDICTS(X)
#undef X
    }
    must(!"a verdict");
}

void result_fini(struct result *r)
{
    free(r->violations);
    free(r->fired);
    free(r->fates);
    r->violations = NULL;
    r->fired = NULL;
    r->fates = NULL;
    r->violation_count = r->fired_count = 0;
}

/* ---- names ---- */

static bool plain(const char *name, const char *also)
{
    if (name[0] == '\0') {
        return false;
    }
    for (const char *s = name; *s != '\0'; s++) {
        bool letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
        if (!letter && !(*s >= '0' && *s <= '9') && strchr(also, *s) == NULL) {
            return false;
        }
    }
    return true;
}

size_t name_text(const char *name, char *out, size_t size)
{
    if (!plain(name, "_.:@-") || strlen(name) >= size) {
        return words_quote(name, strlen(name), out, size);
    }
    return (size_t)snprintf(out, size, "%s", name);
}

const char *seconds_text(uint64_t at, char out[SECONDS_TEXT])
{
    uint64_t ms = at / SIM_MS;
    snprintf(out, SECONDS_TEXT, "%" PRIu64 ".%03" PRIu64, ms / 1000, ms % 1000);
    return out;
}

/* ---- the command that repeats a run ---- */

/* Control characters, and the marks that reorder or hide text on a screen. */
static bool hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

size_t shell_word(const char *word, char *out, size_t size)
{
    size_t n = 0;
    if (plain(word, "_.:/@%+=,-")) {
        return (size_t)snprintf(out, size, "%s", word);
    }
    bool raw = true; /* no byte that a terminal could act on */
    for (size_t i = 0, len = strlen(word), used; i < len; i += used) {
        uint32_t c = 0;
        used = words_utf8(word + i, len - i, &c);
        raw = raw && used > 0 && !hidden(c);
        used = used > 0 ? used : 1;
    }
#define PUT(...)                                                                                   \
    n += (size_t)snprintf(n < size ? out + n : NULL, n < size ? size - n : 0, __VA_ARGS__)
    PUT(raw ? "'" : "$'");
    for (const unsigned char *s = (const unsigned char *)word; *s != '\0'; s++) {
        if (raw && *s == '\'') {
            PUT("'\\''");
        } else if (!raw && (*s == '\'' || *s == '\\')) {
            PUT("\\%c", *s);
        } else if (!raw && (*s < 0x20 || *s >= 0x7f)) {
            /* Three octal digits end by themselves; \x would swallow what follows. */
            PUT("\\%03o", *s);
        } else {
            PUT("%c", *s);
        }
    }
    PUT("'");
#undef PUT
    return n;
}

/* As --receiver reads it: names that are not plain are JSON strings, which keep their commas. */
void receiver_word(const char *name, char *out, size_t size)
{
    char quoted[NAME_TEXT];
    name_text(name, quoted, sizeof(quoted));
    shell_word(quoted, out, size);
}

size_t result_repeat(const struct result *r, char *out, size_t size)
{
    char receiver[4 * NAME_TEXT];
    receiver_word(r->receiver->name, receiver, sizeof(receiver));
    size_t program_size = shell_word(program_invocation_name, NULL, 0) + 1;
    size_t file_size = shell_word(r->scenario->file, NULL, 0) + 1;
    char *program = sim_alloc(program_size);
    char *file = sim_alloc(file_size);
    shell_word(program_invocation_name, program, program_size);
    shell_word(r->scenario->file, file, file_size);
    /* A file called -x.yaml is not an option. */
    bool dash = r->scenario->file[0] == '-' && r->scenario->file[1] != '\0';
    int n = snprintf(out, size, "%s run %s--receiver %s --seed %" PRIu64 " %s%s", program,
                     r->error == SIM_ERR_DIFFERS ? "--twice " : "", receiver, r->seed,
                     dash ? "-- " : "", file);
    free(program);
    free(file);
    must(n > 0);
    return (size_t)n;
}
