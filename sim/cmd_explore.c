/* `onlyonce explore`: every schedule with at most K faults, for each scenario and receiver.
 *
 * In: files, receivers, a bound, which kinds. Out: one certificate for each scenario and receiver;
 * the first counterexample's story; the exit status.
 */
#include "sim/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/certificate.h"
#include "sim/explore.h"
#include "sim/output.h"
#include "sim/plays.h"
#include "sim/progress.h"
#include "sim/shrink_report.h"
#include "sim/words.h"

#define FAULTS_DEFAULT 2

struct exploration {
    const struct options *options;
    struct plays plays;
    struct output out;
    struct progress progress;
    uint32_t kinds;
    struct explore_filter only[EXPLORE_FILTERS_MAX];
    size_t only_count;
    uint64_t began; /* wall clock, of the present certificate */
    uint64_t unexpected, errors;
    char *repeat; /* of the first surprise */
    bool interrupted;
};

/* ---- which faults ---- */

static bool complain(const char *option, const char *what, const char *word, size_t len,
                     const struct nearest *n)
{
    char quoted[256];
    words_quote(word, len, quoted, sizeof(quoted));
    fprintf(stderr, "onlyonce explore: --%s: %s %s", option, what, quoted);
    if (n->best != NULL) {
        fprintf(stderr, "; did you mean %.*s?", (int)n->best_len, n->best);
    }
    fputc('\n', stderr);
    return false;
}

static enum fault_kind kind_named(const char *word, size_t len, struct nearest *n)
{
    for (unsigned k = FAULT_NONE + 1; k < FAULT_KIND_COUNT; k++) {
        const char *text = fault_kind_text((enum fault_kind)k);
        if (strlen(text) == len && memcmp(text, word, len) == 0) {
            return (enum fault_kind)k;
        }
        nearest_offer(n, text, strlen(text));
    }
    return FAULT_NONE;
}

/* `reply` or `commit` behind a kind. */
static bool where_named(const char *word, size_t len, struct explore_filter *f, struct nearest *n)
{
    /* "reply" and "ack" are directions to a network's kind of fault and steps to any other. */
    bool moves = fault_kind_scope(f->kind) == SCOPE_NETWORK;
    for (unsigned d = DIRECTION_NONE + 1; moves && d < DIRECTION_COUNT; d++) {
        const char *text = direction_text((enum direction)d);
        if (strlen(text) == len && memcmp(text, word, len) == 0) {
            f->direction = (uint8_t)d;
            return true;
        }
        nearest_offer(n, text, strlen(text));
    }
    for (unsigned s = STEP_NONE + 1; s < STEP_COUNT; s++) {
        const char *text = step_text((enum step)s);
        if (strlen(text) == len && memcmp(text, word, len) == 0) {
            f->step = (uint8_t)s;
            return true;
        }
        nearest_offer(n, text, strlen(text));
    }
    return false;
}

/* One entry of --only or --assume. */
static bool take_filter(struct exploration *x, const char *option, const char *word, size_t len)
{
    bool assume = strcmp(option, "assume") == 0;
    const char *colon = memchr(word, ':', len);
    size_t kind_len = colon ? (size_t)(colon - word) : len;
    struct nearest n = {.word = word, .len = kind_len};
    struct explore_filter f = {.kind = kind_named(word, kind_len, &n)};
    if (f.kind == FAULT_NONE) {
        return complain(option, "unknown fault", word, kind_len, &n);
    }
    n = (struct nearest){.word = "", .len = 0};
    if (assume && fault_kind_covered(f.kind)) {
        return complain(option, "covered anyway, no assumption:", word, kind_len, &n);
    }
    if (assume) {
        x->kinds |= UINT32_C(1) << f.kind;
        return true;
    }
    if (colon) {
        size_t where_len = len - kind_len - 1;
        n = (struct nearest){.word = colon + 1, .len = where_len};
        if (!where_named(colon + 1, where_len, &f, &n)) {
            return complain(option, "no direction and no step:", colon + 1, where_len, &n);
        }
    }
    if (x->only_count == EXPLORE_FILTERS_MAX) {
        return complain(option, "too many, from here on:", word, len, &n);
    }
    x->only[x->only_count++] = f;
    return true;
}

static bool take_filters(struct exploration *x, const char *option, const char *list)
{
    for (const char *s = list; s != NULL;) {
        size_t len = strcspn(s, ",");
        if (!take_filter(x, option, s, len)) {
            return false;
        }
        s = s[len] == ',' ? s + len + 1 : NULL;
    }
    return true;
}

/* ---- the command that explores one of them again ---- */

static void put_word(FILE *out, const char *option, const char *word)
{
    size_t size = shell_word(word, NULL, 0) + 1;
    char *quoted = sim_alloc(size);
    shell_word(word, quoted, size);
    fprintf(out, "%s%s", option, quoted);
    free(quoted);
}

static char *repeat_command(const struct options *o, const struct explore_task *t)
{
    char *text = NULL, receiver[4 * NAME_TEXT];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    put_word(out, "", program_invocation_name);
    fprintf(out, " explore --faults %u", t->faults);
    if (o->only) {
        put_word(out, " --only ", o->only);
    }
    if (o->assume) {
        put_word(out, " --assume ", o->assume);
    }
    fputs(t->keep ? " --keep-faults" : "", out);
    fputs(t->full_power ? " --full-power" : "", out);
    receiver_word(t->scenario->receivers[t->receiver].name, receiver, sizeof(receiver));
    fprintf(out, " --receiver %s --seed %" PRIu64, receiver, t->seed);
    put_word(out, t->scenario->file[0] == '-' && t->scenario->file[1] ? " -- " : " ",
             t->scenario->file);
    must(fclose(out) == 0);
    return text;
}

/* ---- one certificate ---- */

static bool stop(void *context)
{
    (void)context;
    return interrupted();
}

static void progress(void *context, uint64_t runs, unsigned faults, uint64_t done, uint64_t total)
{
    struct exploration *x = context;
    if (!x->progress.on) {
        return;
    }
    uint64_t ms = (progress_clock() - x->began) / SIM_MS + 1;
    char text[160];
    snprintf(text, sizeof(text),
             "%" PRIu64 " runs, %" PRIu64 " a second; %u faults: %" PRIu64 " of %" PRIu64
             " parts done",
             runs, runs * 1000 / ms, faults, done, total);
    progress_say(&x->progress, text);
}

/* The smallest story behind the counterexample, after a surprise or where it is to be kept. */
static void tell_story(struct exploration *x, const struct certificate *c)
{
    const struct options *o = x->options;
    const struct explore_task *t = c->task;
    if (!c->found || o->no_shrink || (c->expected && o->keep == NULL) || interrupted()) {
        return;
    }
    size_t kept = t->keep ? t->scenario->fault_count : 0;
    struct fault *faults = sim_alloc((kept + EXPLORE_FAULTS_MAX) * sizeof(*faults));
    for (size_t i = 0; i < kept; i++) {
        faults[i] = t->scenario->faults[i];
    }
    memcpy(faults + kept, c->counterexample, c->counterexample_faults * sizeof(*faults));
    enum sim_error e = SIM_OK;
    struct world *w = world_new(t->scenario, t->receiver, stderr, &e);
    if (w != NULL) {
        struct result r;
        world_play(w,
                   &(struct play){.seed = t->seed,
                                  .faults = faults,
                                  .fault_count = kept + c->counterexample_faults,
                                  .no_rates = true,
                                  .expectation = t->expectation},
                   &r);
        struct shrink_plan plan = {.keep = o->keep, .listed = true, .stop = stop};
        char *story = shrink_report(&r, &plan, &e);
        if (story != NULL && o->format == FORMAT_TEXT) {
            fputs(story, x->out.stream);
        }
        free(story);
        result_fini(&r);
        world_free(w);
    }
    x->errors += e != SIM_OK;
    free(faults);
}

static void explore_pick(struct exploration *x, const struct pick *pick)
{
    const struct options *o = x->options;
    const struct scenario *s = pick->scenario;
    const struct expectation *own = &s->explore_expectations[pick->receiver];
    const struct expectation *others = &s->expectations[pick->receiver];
    struct explore_task task = {
        .scenario = s,
        .receiver = pick->receiver,
        .seed = o->seed_first,
        .faults = FAULTS_DEFAULT,
        .kinds = x->kinds,
        .only = x->only,
        .only_count = x->only_count,
        .keep = o->keep_faults,
        .full_power = o->full_power,
        .jobs = (unsigned)o->jobs,
        .limit_runs = o->limit,
        .limit_ns = o->limit_ns,
        .expectation = own->given ? own : others,
        .stop = stop,
        .progress = progress,
        .wall_clock = progress_clock,
        .context = x,
    };
    if (o->faults != OPTION_NOT_GIVEN) {
        task.faults = (unsigned)o->faults;
    } else if (s->explore_faults > 0) {
        task.faults = s->explore_faults;
    }
    struct certificate c;
    x->began = progress_clock();
    explore(&task, stderr, &c);
    uint64_t elapsed = (progress_clock() - x->began) / SIM_MS;
    progress_clear(&x->progress);
    (o->format == FORMAT_JSON ? certificate_json : certificate_text)(x->out.stream, &c, elapsed);
    tell_story(x, &c);
    output_flush(&x->out);
    x->interrupted = x->interrupted || c.end == EXPLORED_TO_STOP;
    x->errors += c.verdict == VERDICT_ERROR;
    /* What was broken off is no surprise unless it found something. */
    bool surprise = !c.expected && (c.end != EXPLORED_TO_STOP || c.found);
    x->unexpected += surprise;
    if (surprise && x->repeat == NULL) {
        x->repeat = repeat_command(o, &task);
    }
}

static enum exit_status explore_all(struct exploration *x)
{
    interrupt_catch();
    progress_begin(&x->progress, 0, x->options->quiet);
    for (size_t i = 0; i < x->plays.count && !interrupted() && x->out.trouble == 0; i++) {
        explore_pick(x, &x->plays.picks[i]);
    }
    x->interrupted = x->interrupted || interrupted();
    if (x->repeat) {
        bool among_results = x->options->format == FORMAT_TEXT && x->options->output == NULL;
        fprintf(among_results ? x->out.stream : stderr, "%s\n", x->repeat);
    }
    enum sim_error e = output_close(&x->out, true);
    if (x->errors > 0 || e != SIM_OK) {
        return EXIT_HARNESS;
    }
    if (x->unexpected > 0) {
        return EXIT_UNEXPECTED;
    }
    return x->interrupted ? EXIT_INTERRUPTED : EXIT_AS_EXPECTED;
}

enum exit_status cmd_explore(const struct options *o)
{
    struct exploration x = {.options = o, .kinds = explore_covered_kinds()};
    if (!take_filters(&x, "assume", o->assume) || !take_filters(&x, "only", o->only)) {
        return EXIT_USAGE;
    }
    if (plays_read(&x.plays, o, stderr) != SIM_OK) {
        return EXIT_USAGE;
    }
    enum exit_status status = EXIT_HARNESS;
    if (output_open(&x.out, o->output, OUTPUT_REPLACE) == SIM_OK) {
        status = explore_all(&x);
    }
    free(x.repeat);
    plays_fini(&x.plays);
    return status;
}
