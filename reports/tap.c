/* Results of `run` in the Test Anything Protocol, version 13 (Debian's prove refuses 14).
 *
 * In: results. Out: one test point for each run; what was unexpected has a YAML block below it,
 * whose values are JSON strings. The plan comes last, so that a run cut short still has a true one.
 */
#include "reports/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/words.h"

struct tap {
    FILE *out;
    uint64_t points;
    bool many_seeds;
};

static void *tap_begin(FILE *out, const struct format_plan *plan)
{
    struct tap *t = sim_alloc(sizeof(*t));
    *t = (struct tap){.out = out, .many_seeds = plan->many_seeds};
    fputs("TAP version 13\n", out);
    return t;
}

/* A name in a description, where # would begin a directive. */
static void put_name(FILE *out, const char *name)
{
    char text[NAME_TEXT];
    name_text(name, text, sizeof(text));
    for (const char *s = text; *s != '\0'; s++) {
        if (*s == '#') {
            putc('\\', out);
        }
        putc(*s, out);
    }
}

/* A YAML value in double quotes. prove's own reader of YAML knows no \u, so that what a JSON string
 * would escape that way becomes a question mark. */
static void put_value(FILE *out, const char *key, const char *value)
{
    size_t size = 6 * strlen(value) + 8;
    char *quoted = sim_alloc(size);
    size_t n = words_quote(value, strlen(value), quoted, size);
    fprintf(out, "  %s: ", key);
    for (size_t i = 0; i < n; i++) {
        if (quoted[i] == '\\' && quoted[i + 1] == 'u') {
            putc('?', out);
            i += 5;
        } else if (quoted[i] == '\\') {
            putc(quoted[i++], out);
            putc(quoted[i], out);
        } else {
            putc(quoted[i], out);
        }
    }
    putc('\n', out);
    free(quoted);
}

static void put_details(FILE *out, const struct result *r)
{
    char summary[FORMAT_SUMMARY];
    char *text;
    size_t size;
    fputs("  ---\n", out);
    put_value(out, "message", format_summary(r, summary));
    FILE *stream = open_memstream(&text, &size);
    must(stream != NULL);
    format_details(stream, r, "", 10);
    fclose(stream);
    if (size > 0) {
        text[size - 1] = '\0'; /* the last line's end */
        put_value(out, "violations", text);
    }
    free(text);
    char *repeat = format_repeat(r);
    put_value(out, "repeat", repeat);
    free(repeat);
    fputs("  ...\n", out);
}

static void tap_result(void *state, const struct result *r)
{
    struct tap *t = state;
    fprintf(t->out, "%s %" PRIu64 " - ", r->expected ? "ok" : "not ok", ++t->points);
    put_name(t->out, r->scenario->name);
    fputs(" on ", t->out);
    put_name(t->out, r->receiver->name);
    if (t->many_seeds) {
        fprintf(t->out, " with seed %" PRIu64, r->seed);
    }
    fprintf(t->out, " (%s)\n", verdict_text(r->verdict));
    if (!r->expected) {
        put_details(t->out, r);
    }
}

static void tap_group_end(void *state)
{
    (void)state;
}

static void tap_end(void *state, const struct tally *all)
{
    struct tap *t = state;
    if (all->interrupted) {
        fprintf(t->out, "Bail out! interrupted after %" PRIu64 " of %" PRIu64 " runs\n", all->runs,
                all->planned);
    } else {
        fprintf(t->out, "1..%" PRIu64 "%s\n", t->points,
                t->points == 0 ? " # skipped: nothing to run" : "");
    }
    free(t);
}

const struct format format_tap = {tap_begin, tap_result, tap_group_end, tap_end};
