/* `onlyonce run`: plays scenarios and tells one verdict per scenario and receiver.
 *
 * In: files, receivers, a range of seeds, a shard. Out: results as they come, in one of the
 * formats; the exit status. Nothing is kept of a run that was told, so memory does not grow with
 * runs.
 */
#include "sim/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reports/format.h"
#include "reports/record.h"
#include "sim/output.h"
#include "sim/plays.h"
#include "sim/progress.h"
#include "sim/shrink_report.h"
#include "sim/world.h"

struct session {
    const struct options *options;
    struct plays plays;
    struct output out;
    const struct format *format;
    void *state; /* of the format */
    struct tally tally;
    struct progress progress;
    uint64_t index;       /* of the next run, whoever's shard it is in */
    char *story;          /* the smallest behind the first unexpected failure; NULL: none */
    bool shrunk;          /* that failure has come */
    enum sim_error kept;  /* trouble with --keep */
    char *repeat;         /* of the first unexpected run, for formats that do not print it */
    bool shares_terminal; /* results appear where progress does */
    bool stop;
};

static const struct format *format_of(enum format_name f)
{
    switch (f) {
    case FORMAT_TEXT:
    case FORMAT_MERMAID:
        return &format_text;
    case FORMAT_JSON:
        return &format_json;
    case FORMAT_JUNIT:
        return &format_junit;
    case FORMAT_TAP:
        return &format_tap;
    }
    must(!"a format");
}

/* Runs with index first..first+count-1 that belong to this shard. */
static uint64_t in_shard(const struct options *o, uint64_t first, uint64_t count)
{
    uint64_t wait = (o->shard - 1 + o->shards - first % o->shards) % o->shards;
    return count <= wait ? 0 : (count - wait - 1) / o->shards + 1;
}

static uint64_t seeds(const struct options *o)
{
    return o->seed_last - o->seed_first + 1;
}

static struct format_plan plan_of(const struct session *s)
{
    struct format_plan plan = {.many_seeds = s->options->many_seeds,
                               .colour = output_wants_colour(&s->out),
                               .quiet = s->options->quiet};
    for (size_t i = 0; i < s->plays.count; i++) {
        const struct pick *p = &s->plays.picks[i];
        char name[NAME_TEXT];
        int n = (int)name_text(p->scenario->name, name, sizeof(name));
        plan.scenario_width = n > plan.scenario_width && n <= 32 ? n : plan.scenario_width;
        n = (int)name_text(p->scenario->receivers[p->receiver].name, name, sizeof(name));
        plan.receiver_width = n > plan.receiver_width && n <= 24 ? n : plan.receiver_width;
    }
    return plan;
}

/* ---- one run ---- */

/* Two histories of one schedule: the first record that differs goes into the result. */
static void compare_histories(struct result *r, const struct record *a, size_t a_count,
                              const struct record *b, size_t b_count)
{
    char first[RECORD_TEXT] = "nothing", second[RECORD_TEXT] = "nothing";
    size_t i = 0;
    while (i < a_count && i < b_count && memcmp(&a[i], &b[i], sizeof(*a)) == 0) {
        i++;
    }
    if (i == a_count && i == b_count) {
        return;
    }
    if (i < a_count) {
        record_text(r->scenario, &a[i], first);
    }
    if (i < b_count) {
        record_text(r->scenario, &b[i], second);
    }
    r->verdict = VERDICT_ERROR;
    r->error = SIM_ERR_DIFFERS;
    r->expected = false;
    int n = snprintf(r->reason, sizeof(r->reason), "record %zu differs: %s, then %s", i + 1, first,
                     second);
    if (n >= (int)sizeof(r->reason)) {
        fprintf(stderr, "onlyonce: record %zu differs: first %s, then %s\n", i + 1, first, second);
    }
}

static void play_run(struct session *s, struct world *w, uint64_t seed, struct result *r)
{
    struct play p = {.seed = seed, .keep_history = s->options->twice};
    world_play(w, &p, r);
    if (!s->options->twice || r->verdict == VERDICT_ERROR) {
        return;
    }
    size_t count, again_count;
    const struct record *records = world_history(w, &count);
    struct record *kept = sim_alloc((count + 1) * sizeof(*kept));
    memcpy(kept, records, count * sizeof(*kept));
    struct result again = {0};
    world_play(w, &p, &again);
    records = world_history(w, &again_count);
    compare_histories(r, kept, count, records, again_count);
    result_fini(&again);
    free(kept);
}

static void count_run(struct session *s, const struct result *r)
{
    struct tally *t = &s->tally;
    t->runs++;
    t->verdicts[r->verdict]++;
    t->expected += r->expected;
    t->unexpected += !r->expected;
    t->errors += r->verdict == VERDICT_ERROR;
    if (!r->expected && s->repeat == NULL) {
        s->repeat = format_repeat(r);
    }
}

static bool stop(void *context)
{
    (void)context;
    return interrupted();
}

/* Behind the first unexpected failure: what is left when everything is left out that can be. */
static void find_story(struct session *s, const struct result *r)
{
    const struct options *o = s->options;
    if (s->shrunk || r->expected || r->verdict != VERDICT_FAIL || o->no_shrink ||
        (o->format != FORMAT_TEXT && o->keep == NULL)) {
        return;
    }
    s->shrunk = true;
    s->story = shrink_report(r, &(struct shrink_plan){.keep = o->keep, .stop = stop}, &s->kept);
}

/* Tells one result, and whether there shall be another. */
static void tell(struct session *s, const struct result *r)
{
    count_run(s, r);
    if (s->shares_terminal && s->options->format != FORMAT_TEXT) {
        progress_clear(&s->progress); /* text prints at the end of a group only */
    }
    s->format->result(s->state, r);
    find_story(s, r);
    if (s->options->format != FORMAT_TEXT) {
        output_flush(&s->out);
    }
    progress_step(&s->progress, s->tally.runs);
    s->stop = s->out.trouble != 0 || interrupted() || (s->options->fail_fast && !r->expected);
}

/* ---- all runs ---- */

/* The receiver could not even be set up: one result stands for all its runs. */
static void tell_stillborn(struct session *s, const struct pick *pick, enum sim_error e)
{
    struct result r = {.scenario = pick->scenario,
                       .receiver = &pick->scenario->receivers[pick->receiver],
                       .expectation = &pick->scenario->expectations[pick->receiver],
                       .seed = s->options->seed_first,
                       .verdict = VERDICT_ERROR,
                       .error = e};
    snprintf(r.reason, sizeof(r.reason), "%s", sim_error_text(e));
    tell(s, &r);
}

static void play_pick(struct session *s, const struct pick *pick)
{
    const struct options *o = s->options;
    uint64_t count = seeds(o);
    if (in_shard(o, s->index, count) == 0) {
        s->index += count;
        return;
    }
    enum sim_error e = SIM_OK;
    struct world *w = world_new(pick->scenario, pick->receiver, stderr, &e);
    if (w == NULL) {
        tell_stillborn(s, pick, e);
        s->index += count;
    }
    for (uint64_t i = 0; w != NULL && i < count && !s->stop; i++, s->index++) {
        if (s->index % o->shards != o->shard - 1) {
            continue;
        }
        struct result r = {0};
        play_run(s, w, o->seed_first + i, &r);
        tell(s, &r);
        result_fini(&r);
    }
    if (w != NULL) {
        world_free(w);
    }
    if (s->shares_terminal) {
        progress_clear(&s->progress);
    }
    s->format->group_end(s->state);
    output_flush(&s->out);
    s->stop = s->stop || s->out.trouble != 0;
}

static enum exit_status status_of(const struct tally *t, enum sim_error output)
{
    if (t->errors > 0 || output != SIM_OK) {
        return EXIT_HARNESS;
    }
    if (t->unexpected > 0) {
        return EXIT_UNEXPECTED;
    }
    return t->interrupted ? EXIT_INTERRUPTED : EXIT_AS_EXPECTED;
}

static enum exit_status play_all(struct session *s)
{
    struct format_plan plan = plan_of(s);
    s->format = format_of(s->options->format);
    s->tally.planned = in_shard(s->options, 0, s->plays.count * seeds(s->options));
    s->shares_terminal = s->out.path == NULL && isatty(s->out.descriptor);
    interrupt_catch();
    progress_begin(&s->progress, s->tally.planned, s->options->quiet);
    s->state = s->format->begin(s->out.stream, &plan);
    for (size_t i = 0; i < s->plays.count && !s->stop; i++) {
        play_pick(s, &s->plays.picks[i]);
    }
    progress_clear(&s->progress);
    s->tally.interrupted = interrupted() && s->tally.runs < s->tally.planned;
    if (s->story != NULL && s->options->format == FORMAT_TEXT) {
        fprintf(s->out.stream, "\n%s", s->story);
    }
    s->format->end(s->state, &s->tally);
    enum sim_error e = output_close(&s->out, true);
    e = e != SIM_OK ? e : s->kept;
    /* Where a person may not see them among the results. */
    if (s->options->format != FORMAT_TEXT || s->options->output != NULL) {
        if (s->tally.interrupted) {
            fprintf(stderr, "onlyonce: interrupted: %" PRIu64 " of %" PRIu64 " runs were played\n",
                    s->tally.runs, s->tally.planned);
        }
        if (s->repeat != NULL) {
            fprintf(stderr, "%s\n", s->repeat);
        }
    }
    return status_of(&s->tally, e);
}

enum exit_status cmd_run(const struct options *o)
{
    struct session s = {.options = o};
    if (plays_read(&s.plays, o, stderr) != SIM_OK) {
        return EXIT_USAGE;
    }
    enum exit_status status = EXIT_HARNESS;
    if (output_open(&s.out, o->output, OUTPUT_REPLACE) == SIM_OK) {
        status = play_all(&s);
    }
    free(s.repeat);
    free(s.story);
    plays_fini(&s.plays);
    return status;
}
