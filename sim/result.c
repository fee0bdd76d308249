/* What one run came to, in words: verdicts, sentences on violations, the command that repeats it.
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
    if (!plain(name, "_.:-") || strlen(name) >= size) {
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

/* ---- sentences on violations ---- */

/* A receipt came through a receiver, which may have made it up. */
static bool known_operation(const struct scenario *s, uint64_t op)
{
    unsigned sender = op_sender(op);
    if (sender < PLACE_SENDER || sender - PLACE_SENDER >= s->sender_count) {
        return false;
    }
    const struct sender_config *c = &s->senders[sender - PLACE_SENDER];
    return op_number(op) >= 1 && op_number(op) <= c->message_count + c->workload.count;
}

/* "the receipt of m-78 (its effect 1)", or only its number. */
static void receipt_text(const struct scenario *s, int64_t receipt, char *out, size_t size)
{
    uint64_t op = receipt_op(receipt);
    char raw[KEY_MAX], name[NAME_TEXT];
    if (receipt <= 0 || !known_operation(s, op)) {
        snprintf(out, size, "receipt %" PRId64, receipt);
        return;
    }
    scenario_operation_id(s, op, raw);
    name_text(raw, name, sizeof(name));
    snprintf(out, size, "the receipt of %s (its effect %u)", name, receipt_nth(receipt));
}

/* The names in a sentence. */
struct cast {
    char op[NAME_TEXT];
    char sender[NAME_TEXT];
    char entity[NAME_TEXT];
    char at[SECONDS_TEXT];
    char receipt_a[NAME_TEXT + 64], receipt_b[NAME_TEXT + 64]; /* of WHY_..._REPLY and RESPONSE */
};

static void cast_of(const struct scenario *s, const struct violation *v, struct cast *c)
{
    char raw[KEY_MAX] = "";
    snprintf(c->op, sizeof(c->op), "the world");
    snprintf(c->sender, sizeof(c->sender), "the sender");
    snprintf(c->entity, sizeof(c->entity), "the entity");
    if (v->op != 0) {
        scenario_operation_id(s, v->op, raw);
        name_text(raw, c->op, sizeof(c->op));
        size_t sender = op_sender(v->op) - PLACE_SENDER;
        if (sender < s->sender_count) {
            name_text(s->senders[sender].name, c->sender, sizeof(c->sender));
        }
    }
    bool names_entity = v->reason == WHY_EFFECTS || v->reason == WHY_LOST ||
                        v->reason == WHY_GHOST || v->reason == WHY_BALANCE;
    if (names_entity && v->b >= 0 && (uint64_t)v->b <= UINT32_MAX) {
        name_text(scenario_entity(s, (uint32_t)v->b, raw), c->entity, sizeof(c->entity));
    }
    seconds_text(v->at, c->at);
    receipt_text(s, v->a, c->receipt_a, sizeof(c->receipt_a));
    receipt_text(s, v->b, c->receipt_b, sizeof(c->receipt_b));
}

static const char *times(int64_t n)
{
    return n == 1 ? "time" : "times";
}

static int sentence(const struct cast *c, const struct violation *v, char *out, size_t size)
{
    char a[SECONDS_TEXT], b[SECONDS_TEXT];
    seconds_text((uint64_t)v->a, a);
    seconds_text((uint64_t)v->b, b);
    switch (v->reason) {
    case WHY_EFFECTS:
        return snprintf(out, size, "%s charged %" PRId64 " %s by %s", c->entity, v->a, times(v->a),
                        c->op);
    case WHY_LOST:
        return snprintf(out, size, "%s believes %s done, but %s was never charged by it", c->sender,
                        c->op, c->entity);
    case WHY_GHOST:
        return snprintf(out, size,
                        "%s was told that %s failed, but %s was charged %" PRId64 " %s by it",
                        c->sender, c->op, c->entity, v->a, times(v->a));
    case WHY_NOT_DURABLE:
        return snprintf(out, size, "%s, acknowledged at %s s, was undone by the crash at %s s",
                        c->op, a, b);
    case WHY_FOREIGN_REPLY:
        return snprintf(out, size, "%s was answered at %s s with %s, which is not its own", c->op,
                        c->at, c->receipt_a);
    case WHY_REFUSED_LATER:
        return snprintf(out, size, "%s had succeeded at %s s and was refused at %s s", c->op, a,
                        c->at);
    case WHY_OTHER_RESPONSE:
        return snprintf(out, size, "%s was answered at %s s with %s, but first with %s", c->op,
                        c->at, c->receipt_a, c->receipt_b);
    case WHY_MERGED:
        return snprintf(out, size,
                        "%s was answered as a duplicate at %s s, though it had never "
                        "been handled",
                        c->op, c->at);
    case WHY_STUCK:
        return snprintf(out, size, "%s has no final answer after %" PRId64 " %s", c->op, v->a,
                        v->a == 1 ? "attempt" : "attempts");
    case WHY_GAVE_UP:
        return snprintf(out, size, "%s gave %s up after %" PRId64 " %s, which the contract forbids",
                        c->sender, c->op, v->a, v->a == 1 ? "attempt" : "attempts");
    case WHY_BALANCE:
        return snprintf(
            out, size, "the balance of %s is %" PRIu64 " %s than the sum of its effects", c->entity,
            v->a < 0 ? -(uint64_t)v->a : (uint64_t)v->a, v->a < 0 ? "less" : "more");
    case WHY_CORRUPT:
        return snprintf(out, size, "the database cannot be read at %s s: it is corrupt", c->at);
    }
    must(!"a reason");
}

size_t violation_text(const struct scenario *s, const struct violation *v, char *out, size_t size)
{
    struct cast c;
    must(size > 0);
    cast_of(s, v, &c);
    int n = sentence(&c, v, out, size);
    must(n >= 0);
    return (size_t)n < size ? (size_t)n : size - 1;
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
static void receiver_word(const char *name, char *out, size_t size)
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
