/* Faults as sentences, the way out: a fault and the names of its world, to one line of text.
 *
 * What parsing supplies by itself is left out, so that each fault has exactly one sentence.
 */
#include "sim/sentence.h"

#include "sim/crash.h"
#include "sim/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct out {
    char *text;
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(o->text + o->n, SENTENCE_MAX - o->n, format, args);
    va_end(args);
    must(n >= 0 && (size_t)n < SENTENCE_MAX - o->n);
    o->n += (size_t)n;
}

static void put_time(struct out *o, uint64_t ns)
{
    char text[DURATION_TEXT];
    put(o, "%s", duration_text(ns, text));
}

bool sentence_bare(const char *name, size_t len)
{
    static const char bare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-";
    return len > 0 && strspn(name, bare) == len && name[len] == '\0';
}

static void put_name(struct out *o, const char *name, bool quote)
{
    if (sentence_bare(name, strlen(name)) && !quote) {
        put(o, "%s", name);
        return;
    }
    o->n += words_quote(name, strlen(name), o->text + o->n, SENTENCE_MAX - o->n);
}

static void put_place(struct out *o, const struct sentence_names *names, unsigned place)
{
    char name[KEY_MAX];
    names->place_name(names->context, place, name);
    put_name(o, name, strcmp(name, "to") == 0);
}

/* numbers: of copies, as many as are written where the last is not 1; 0 stands for 1. */
static void put_message(struct out *o, const struct sentence_names *names, uint64_t op,
                        unsigned attempt, const unsigned numbers[3])
{
    char name[KEY_MAX];
    names->operation_name(names->context, op, name);
    put_name(o, name, false);
    put(o, "/%u", attempt);
    size_t count = 3;
    while (count > 0 && numbers[count - 1] <= 1) {
        count--;
    }
    for (size_t i = 0; i < count; i++) {
        put(o, ".%u", numbers[i] > 1 ? numbers[i] : 1);
    }
}

static void put_step(struct out *o, const struct rng_key *k)
{
    static const char *const moments[] = {
        [MOMENT_NONE] = "", [BEFORE] = "before ", [AFTER] = "after ", [INSIDE] = "in "};
    must(k->moment < ARRAY_LEN(moments));
    put(o, " %s%s", moments[k->moment], step_text((enum step)k->step));
    if (k->nth > 1) {
        put(o, " %u", k->nth);
    }
    if (k->moment == INSIDE) {
        put(o, " disk %u", k->disk);
    }
}

static void put_network(struct out *o, const struct fault *f)
{
    const struct fault_value *v = &f->value;
    switch (fault_kind(f)) {
    case FAULT_DUPLICATE:
        if (v->n > 1) {
            put(o, " %" PRIu32 " times", v->n);
        }
        if (v->time > 0) {
            put(o, " after ");
            put_time(o, v->time);
        }
        break;
    case FAULT_DELAY:
        put(o, " by ");
        put_time(o, v->time);
        break;
    case FAULT_LOSE:
    case FAULT_CRASH:
    case FAULT_PAUSE:
    case FAULT_STORE:
    case FAULT_HANDLER:
    case FAULT_CLOCK:
    case FAULT_PARTITION:
    case FAULT_LYING_DISK:
    case FAULT_STOP:
    case FAULT_SENDER_CRASH:
    case FAULT_SENDER_AMNESIA:
    case FAULT_NONE:
    case FAULT_KIND_COUNT:
        break;
    }
}

static void put_restart(struct out *o, const struct fault_value *v)
{
    if (v->time > 0) {
        put(o, " restart after ");
        put_time(o, v->time);
    }
}

static void put_crash(struct out *o, const struct fault_value *v)
{
    static const struct {
        const char *text;
        bool counted;
    } modes[] = {
#define X(name, text, counted) [name] = {text, counted},
        CRASH_MODES(X)
#undef X
    };
    must(v->choice < ARRAY_LEN(modes));
    put(o, " (%s", modes[v->choice].text);
    if (modes[v->choice].counted) {
        put(o, " %" PRIu32, v->n);
    }
    put(o, ")");
    put_restart(o, v);
}

static void put_stop(struct out *o, const struct fault_value *v)
{
    if (v->until > 0) {
        put(o, " killed after ");
        put_time(o, v->until);
    }
    put_restart(o, v);
}

static void put_clock(struct out *o, const struct fault_value *v)
{
    uint64_t size = v->offset < 0 ? -(uint64_t)v->offset : (uint64_t)v->offset;
    char sign = v->offset < 0 ? '-' : '+';
    if (v->choice == CLOCK_DRIFT) {
        put(o, " drift %c%" PRIu64 "ppm", sign, size);
    } else {
        put(o, " %c", sign);
        put_time(o, size);
    }
    if (v->time > 0) {
        put(o, " at ");
        put_time(o, v->time);
    }
}

static void put_partition(struct out *o, const struct sentence_names *names, const struct fault *f)
{
    put(o, f->value.choice ? " to " : " ");
    put_place(o, names, f->site.key.value);
    put(o, " ");
    put_time(o, f->value.time);
    put(o, "..");
    put_time(o, f->value.until);
}

size_t sentence_print(const struct sentence_names *names, const struct fault *f,
                      char text[SENTENCE_MAX])
{
    struct out o = {text, 0};
    const struct rng_key *k = &f->site.key;
    enum fault_kind kind = fault_kind(f);
    put(&o, "%s ", fault_kind_text(kind));
    if (fault_kind_scope(kind) == SCOPE_NETWORK) {
        bool answer = k->direction == ANSWER;
        put(&o, "%s ", direction_text((enum direction)k->direction));
        put_message(&o, names, f->site.op, k->attempt,
                    (unsigned[]){k->copy, answer ? k->redelivery : k->nth, answer ? k->nth : 0});
        put_network(&o, f);
        return o.n;
    }
    put_place(&o, names, k->host);
    if (fault_kind_scope(kind) == SCOPE_STEP) {
        put(&o, " at ");
        put_message(&o, names, f->site.op, k->attempt, (unsigned[]){k->copy, 0, 0});
        put_step(&o, k);
    }
    if (fault_kind_scope(kind) == SCOPE_SENDER) {
        put(&o, " at ");
        put_message(&o, names, f->site.op, k->attempt, (unsigned[]){0, 0, 0});
        put(&o, " after send");
    }
    switch (kind) {
    case FAULT_CRASH:
        put_crash(&o, &f->value);
        break;
    case FAULT_STOP:
        put_stop(&o, &f->value);
        break;
    case FAULT_SENDER_AMNESIA:
        put(&o, " (%s)", amnesia_text((enum amnesia)f->value.choice));
        put_restart(&o, &f->value);
        break;
    case FAULT_SENDER_CRASH:
        put_restart(&o, &f->value);
        break;
    case FAULT_PAUSE:
        put(&o, " for ");
        put_time(&o, f->value.time);
        break;
    case FAULT_STORE:
        put(&o, " (%s)", store_fault_text((enum store_fault)f->value.choice));
        break;
    case FAULT_HANDLER:
        put(&o, " fails");
        break;
    case FAULT_CLOCK:
        put_clock(&o, &f->value);
        break;
    case FAULT_PARTITION:
        put_partition(&o, names, f);
        break;
    case FAULT_LYING_DISK:
    case FAULT_LOSE:
    case FAULT_DUPLICATE:
    case FAULT_DELAY:
    case FAULT_NONE:
    case FAULT_KIND_COUNT:
        break;
    }
    return o.n;
}

size_t sentence_message(const struct sentence_names *names, uint64_t op, unsigned attempt,
                        unsigned copy, char text[SENTENCE_MAX])
{
    struct out o = {text, 0};
    put_message(&o, names, op, attempt, (unsigned[]){copy, 0, 0});
    return o.n;
}
