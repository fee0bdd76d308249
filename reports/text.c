/* Results of `run` for a person: one line for each scenario and receiver, in columns.
 *
 * In: results, grouped by scenario and receiver. Out:
 *
 *     pass     lost-reply  table  as expected   2 deliveries, 1 duplicate, 1 effect
 *     fail     lost-reply  naive  as expected   no-double-effect
 *              no-double-effect: order-1042 charged 2 times: m-77/1 at 1.064 s, ...
 *
 * With many seeds the line sums them up, and the first few unexpected runs follow, each with its
 * violations, its faults and the command that repeats it. The last line of all is such a command,
 * of the first unexpected run.
 *
 * Owns: the text of a few details, so memory does not grow with runs.
 */
#include "reports/format.h"
#include "reports/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cover.h"
#include "sim/site.h"

#define DETAILED_RUNS 3
#define DETAILED_VIOLATIONS 5
#define FAULTS_TOLD 20

struct group {
    uint64_t runs, unexpected;
    uint64_t verdicts[VERDICT_ERROR + 1];
    uint64_t violating[CHECK_COUNT]; /* runs that violate it */
    uint64_t deliveries, duplicates, effects, external, late, doubled, with_effect, unfinishable;
    uint64_t dead_letters, replayed, premature;
    uint64_t follow_ons, follow_deliveries, follow_effects;
    bool calls; /* the receiver calls the service */
    char scenario[NAME_TEXT], receiver[NAME_TEXT];
    char summary[FORMAT_SUMMARY]; /* of the first run */
    uint64_t seed;                /* of the first run */
    char *details;                /* rendered at once: results do not stay */
    size_t details_size;
    FILE *details_stream;
    unsigned detailed;
    bool exampled;             /* the details begin with an expected failure */
    const struct scenario *of; /* of its runs, as is the receiver; borrowed while they come */
    const struct scenario_receiver *by;
};

struct text {
    FILE *out;
    struct format_plan plan;
    struct group group;
    struct sweep_table sweeps; /* of the scenario that is being told */
    char *repeat;              /* of the first unexpected run */
};

static const char *paint(const struct text *t, const char *colour)
{
    return t->plan.colour ? colour : "";
}
#define RED "\033[31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

static void *text_begin(FILE *out, const struct format_plan *plan)
{
    struct text *t = sim_zalloc(1, sizeof(*t));
    t->out = out;
    t->plan = *plan;
    return t;
}

/* ---- details of one run ---- */

static void tell_faults(FILE *out, const struct result *r)
{
    struct sentence_names names = scenario_names(r->scenario);
    char sentence[SENTENCE_MAX];
    for (size_t i = 0; i < r->fired_count && i < FAULTS_TOLD; i++) {
        sentence_print(&names, &r->fired[i], sentence);
        fprintf(out, "           fault: %s\n", sentence);
    }
    if (r->fired_count > FAULTS_TOLD) {
        fprintf(out, "           ... and %zu more faults\n", r->fired_count - FAULTS_TOLD);
    }
}

/* Listed faults that did nothing: a reader would otherwise take the run for a test of them. */
static void tell_idle_faults(FILE *out, const struct result *r)
{
    struct sentence_names names = scenario_names(r->scenario);
    char sentence[SENTENCE_MAX];
    for (size_t i = 0; i < format_listed(r); i++) {
        if (r->fates[i] == FATE_FIRED) {
            continue;
        }
        sentence_print(&names, &r->scenario->faults[i], sentence);
        fprintf(out, "           %s: %s\n",
                r->fates[i] == FATE_NOT_APPLICABLE ? "not applicable" : "did not fire", sentence);
    }
}

static void tell_unexpected(struct text *t, const struct result *r)
{
    FILE *out = t->group.details_stream;
    if (t->plan.many_seeds) {
        char summary[FORMAT_SUMMARY];
        fprintf(out, "         seed %" PRIu64 ": %s\n", r->seed, format_summary(r, summary));
    }
    format_details(out, r, "           ", DETAILED_VIOLATIONS);
    tell_faults(out, r);
    tell_idle_faults(out, r);
    char *repeat = format_repeat(r);
    fprintf(out, "           repeat: %s\n", repeat);
    free(repeat);
}

/* ---- one group ---- */

static void group_begin(struct group *g, const struct result *r)
{
    *g = (struct group){.seed = r->seed, .of = r->scenario, .by = r->receiver};
    name_text(r->scenario->name, g->scenario, sizeof(g->scenario));
    name_text(r->receiver->name, g->receiver, sizeof(g->receiver));
    format_summary(r, g->summary);
    g->details_stream = open_memstream(&g->details, &g->details_size);
    must(g->details_stream != NULL);
}

/* Behind the last of its receivers, and a blank line before what follows. */
static void end_sweep(struct text *t, const struct scenario *next)
{
    if (t->sweeps.count == 0 || t->sweeps.rows[0].scenario == next) {
        return;
    }
    if (!t->plan.quiet) {
        sweep_text(t->out, &t->sweeps);
        fputs(next != NULL ? "\n" : "", t->out);
    }
    sweep_fini(&t->sweeps);
}

static void text_result(void *state, const struct result *r)
{
    struct text *t = state;
    struct group *g = &t->group;
    end_sweep(t, r->scenario);
    sweep_add(&t->sweeps, r);
    if (g->runs == 0) {
        group_begin(g, r);
    }
    g->runs++;
    g->verdicts[r->verdict]++;
    g->unexpected += !r->expected;
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        g->violating[c] += r->violated[c] > 0;
    }
    g->deliveries += r->deliveries;
    g->duplicates += r->duplicates;
    g->effects += r->effects;
    g->external += r->external;
    g->calls |= r->calls;
    g->late += r->late;
    g->doubled += r->doubled;
    g->with_effect += r->with_effect;
    g->unfinishable += r->unfinishable;
    g->dead_letters += r->dead_letters;
    g->replayed += r->replayed;
    g->premature += r->premature;
    g->follow_ons += r->follow_ons;
    g->follow_deliveries += r->follow_deliveries;
    g->follow_effects += r->follow_effects;
    if (!r->expected && g->detailed < DETAILED_RUNS) {
        g->detailed++;
        tell_unexpected(t, r);
    } else if (r->expected && g->runs == 1) {
        /* What was expected is shown once: the first run stands for the others. */
        format_details(g->details_stream, r, "           ", 3);
        tell_idle_faults(g->details_stream, r);
        g->exampled = r->violation_count > 0;
    }
    if (!r->expected && t->repeat == NULL) {
        t->repeat = format_repeat(r);
    }
}

/* "pass", or of several seeds "pass 97, fail 3" */
static void verdicts_text(const struct group *g, char *out, size_t size)
{
    size_t n = 0;
    for (unsigned v = 0; v <= VERDICT_ERROR; v++) {
        if (g->verdicts[v] == g->runs) {
            snprintf(out, size, "%s", verdict_text((enum verdict_kind)v));
            return;
        }
        if (g->verdicts[v] > 0) {
            n += (size_t)snprintf(out + n, size - n, "%s%s %" PRIu64, n > 0 ? ", " : "",
                                  verdict_text((enum verdict_kind)v), g->verdicts[v]);
        }
    }
}

static void print_count(FILE *out, uint64_t n, const char *one, const char *many,
                        const char *separator)
{
    fprintf(out, "%" PRIu64 " %s%s", n, n == 1 ? one : many, separator);
}

static void print_counts(struct text *t)
{
    const struct group *g = &t->group;
    print_count(t->out, g->deliveries, "delivery", "deliveries", ", ");
    print_count(t->out, g->duplicates, "duplicate", "duplicates", ", ");
    print_count(t->out, g->effects, "effect", "effects", "");
    if (g->calls) {
        fputs(", ", t->out);
        print_count(t->out, g->external, "external effect", "external effects", "");
    }
    if (g->late > 0) {
        fputs(", ", t->out);
        print_count(t->out, g->late, "late effect", "late effects", "");
    }
    if (g->dead_letters > 0) {
        fputs(", ", t->out);
        print_count(t->out, g->dead_letters, "dead letter", "dead letters", "");
    }
    if (g->replayed > 0) {
        fprintf(t->out, ", %" PRIu64 " replayed", g->replayed);
    }
    if (g->premature > 0) {
        fputs(", ", t->out);
        print_count(t->out, g->premature, "premature lease expiration",
                    "premature lease expirations", "");
    }
    if (g->follow_ons > 0) {
        fputs(", downstream ", t->out);
        print_count(t->out, g->follow_deliveries, "delivery", "deliveries", " of ");
        print_count(t->out, g->follow_ons, "message", "messages", ", ");
        print_count(t->out, g->follow_effects, "effect", "effects", "");
    }
    if (g->doubled > 0 && g->with_effect > 0) {
        uint64_t part = g->doubled * 10000 / g->with_effect;
        fprintf(t->out, ", DSEVR %" PRIu64 ".%02" PRIu64 "%%", part / 100, part % 100);
    }
}

/* Where runs did not pass, or had late effects, and it was to be expected from the settings. */
static void print_note(struct text *t)
{
    const struct group *g = &t->group;
    struct cover c;
    cover_compute(g->of, g->by, &c);
    bool told = g->violating[CHECK_RETENTION] > 0;
    if (c.judged && !c.holds && !told && (g->late > 0 || g->verdicts[VERDICT_PASS] < g->runs)) {
        fprintf(t->out, "           note: %s\n", c.text);
    }
}

static void print_group(struct text *t)
{
    const struct group *g = &t->group;
    char verdicts[128];
    verdicts_text(g, verdicts, sizeof(verdicts));
    const char *colour = g->unexpected == 0 ? GREEN : RED;
    fprintf(t->out, "%s%-8s%s %-*s  %-*s  ", paint(t, colour), verdicts, paint(t, PLAIN),
            t->plan.scenario_width, g->scenario, t->plan.receiver_width, g->receiver);
    if (g->unexpected == 0) {
        fputs("as expected  ", t->out);
    } else {
        fprintf(t->out, "%sNOT EXPECTED%s ", paint(t, RED), paint(t, PLAIN));
    }
    if (t->plan.many_seeds) {
        fprintf(t->out, "%" PRIu64 " %s", g->runs, g->runs == 1 ? "run" : "runs");
        if (g->unexpected > 0) {
            fprintf(t->out, ", %" PRIu64 " not expected", g->unexpected);
        }
        fputs(", ", t->out);
    }
    print_counts(t);
    fputc('\n', t->out);
    if (!t->plan.many_seeds && g->unexpected > 0) {
        fprintf(t->out, "           %s\n", g->summary);
    }
    print_note(t);
    if (g->unfinishable > 0) {
        fputs("           ", t->out);
        print_count(t->out, g->unfinishable, "operation", "operations",
                    " could not finish: faults left no attempt alone\n");
    }
    for (unsigned c = 0; t->plan.many_seeds && c < CHECK_COUNT; c++) {
        if (g->violating[c] > 0) {
            fprintf(t->out, "           %s violated in %" PRIu64 " of %" PRIu64 " %s\n",
                    check_text((enum check)c), g->violating[c], g->runs,
                    g->runs == 1 ? "run" : "runs");
        }
    }
    if (t->plan.many_seeds && g->exampled) {
        fprintf(t->out, "         seed %" PRIu64 ", for example:\n", g->seed);
    }
}

static void text_group_end(void *state)
{
    struct text *t = state;
    struct group *g = &t->group;
    if (g->runs == 0) {
        return;
    }
    fclose(g->details_stream);
    if (!t->plan.quiet || g->unexpected > 0) {
        print_group(t);
        fwrite(g->details, 1, g->details_size, t->out);
        if (g->unexpected > g->detailed) {
            uint64_t more = g->unexpected - g->detailed;
            fprintf(t->out, "         ... and %" PRIu64 " more unexpected %s\n", more,
                    more == 1 ? "run" : "runs");
        }
    }
    free(g->details);
    *g = (struct group){0};
}

static void text_end(void *state, const struct tally *all)
{
    struct text *t = state;
    text_group_end(t);
    end_sweep(t, NULL);
    if (!t->plan.quiet || all->unexpected > 0 || all->interrupted) {
        fprintf(t->out, "\n%" PRIu64 " %s: %" PRIu64 " as expected", all->runs,
                all->runs == 1 ? "run" : "runs", all->expected);
        if (all->unexpected > 0) {
            fprintf(t->out, ", %s%" PRIu64 " not%s", paint(t, RED), all->unexpected,
                    paint(t, PLAIN));
        }
        for (unsigned v = 0; v <= VERDICT_ERROR; v++) {
            if (all->verdicts[v] > 0) {
                fprintf(t->out, " · %" PRIu64 " %s", all->verdicts[v],
                        verdict_text((enum verdict_kind)v));
            }
        }
        fputc('\n', t->out);
        if (all->interrupted) {
            fprintf(t->out, "%sinterrupted%s: %" PRIu64 " of %" PRIu64 " runs were played\n",
                    paint(t, YELLOW), paint(t, PLAIN), all->runs, all->planned);
        }
    }
    if (t->repeat != NULL) {
        fprintf(t->out, "%s\n", t->repeat);
    }
    free(t->repeat);
    free(t);
}

const struct format format_text = {text_begin, text_result, text_group_end, text_end};
