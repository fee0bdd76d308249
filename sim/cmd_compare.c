/* `onlyonce compare`: receivers side by side.
 *
 * In: files, receivers, seeds, a directory. Out: the report in that directory; one line that says
 * where it lies; the exit status as of `run`.
 */
#include "sim/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare.h"
#include "sim/output.h"
#include "sim/plays.h"
#include "sim/progress.h"
#include "sim/world.h"

struct comparing {
    const struct options *options;
    struct plays plays;
    struct comparison comparison;
    struct tally tally;
    struct progress progress;
    char *repeat; /* of the first unexpected run */
};

static void add(struct comparing *c, const struct result *r)
{
    struct tally *t = &c->tally;
    t->runs++;
    t->verdicts[r->verdict]++;
    t->expected += r->expected;
    t->unexpected += !r->expected;
    t->errors += r->verdict == VERDICT_ERROR;
    if (!r->expected && c->repeat == NULL) {
        c->repeat = format_repeat(r);
    }
    comparison_add(&c->comparison, r);
    progress_step(&c->progress, t->runs);
}

static void play_pick(struct comparing *c, const struct pick *pick)
{
    const struct options *o = c->options;
    enum sim_error e = SIM_OK;
    struct world *w = world_new(pick->scenario, pick->receiver, stderr, &e);
    if (w == NULL) {
        struct result r = {.scenario = pick->scenario,
                           .receiver = &pick->scenario->receivers[pick->receiver],
                           .expectation = &pick->scenario->expectations[pick->receiver],
                           .seed = o->seed_first,
                           .verdict = VERDICT_ERROR,
                           .error = e};
        snprintf(r.reason, sizeof(r.reason), "%s", sim_error_text(e));
        add(c, &r);
        return;
    }
    for (uint64_t i = 0; i <= o->seed_last - o->seed_first && !interrupted(); i++) {
        struct result r = {0};
        struct play p = {.seed = o->seed_first + i};
        world_play(w, &p, &r);
        add(c, &r);
        result_fini(&r);
        if (c->comparison.results.trouble != 0) {
            break;
        }
    }
    world_free(w);
}

static enum sim_error tell(const struct comparing *c)
{
    struct output out;
    enum sim_error e = output_open(&out, NULL, OUTPUT_REPLACE);
    if (e != SIM_OK) {
        return e;
    }
    char path[NAME_TEXT];
    shell_word(c->options->output, path, sizeof(path));
    const struct tally *t = &c->tally;
    fprintf(out.stream, "%" PRIu64 " %s: %" PRIu64 " as expected, %" PRIu64 " not\n", t->runs,
            t->runs == 1 ? "run" : "runs", t->expected, t->unexpected);
    fprintf(out.stream, "the report lies in %s; begin with %s/summary.md\n", path, path);
    if (t->interrupted) {
        fprintf(out.stream, "interrupted: %" PRIu64 " of %" PRIu64 " runs were played\n", t->runs,
                t->planned);
    }
    if (c->repeat != NULL) {
        fprintf(out.stream, "%s\n", c->repeat);
    }
    return output_close(&out, true);
}

static enum exit_status status_of(const struct tally *t, enum sim_error e)
{
    if (e != SIM_OK || t->errors > 0) {
        return EXIT_HARNESS;
    }
    if (t->unexpected > 0) {
        return EXIT_UNEXPECTED;
    }
    return t->interrupted ? EXIT_INTERRUPTED : EXIT_AS_EXPECTED;
}

static enum exit_status play_all(struct comparing *c)
{
    const struct options *o = c->options;
    enum sim_error e = comparison_open(&c->comparison, o->output, o->seed_first, o->seed_last);
    if (e != SIM_OK) {
        return EXIT_HARNESS;
    }
    c->tally.planned = c->plays.count * (o->seed_last - o->seed_first + 1);
    interrupt_catch();
    progress_begin(&c->progress, c->tally.planned, o->quiet);
    for (size_t i = 0; i < c->plays.count && !interrupted(); i++) {
        if (c->comparison.results.trouble == 0) {
            play_pick(c, &c->plays.picks[i]);
        }
    }
    progress_clear(&c->progress);
    c->tally.interrupted = interrupted() && c->tally.runs < c->tally.planned;
    e = comparison_close(&c->comparison, &c->tally, o->quiet);
    if (e == SIM_OK) {
        e = tell(c);
    }
    return status_of(&c->tally, e);
}

enum exit_status cmd_compare(const struct options *o)
{
    struct comparing c = {.options = o};
    if (plays_read(&c.plays, o, stderr) != SIM_OK) {
        return EXIT_USAGE;
    }
    enum exit_status status = play_all(&c);
    comparison_free(&c.comparison);
    free(c.repeat);
    plays_fini(&c.plays);
    return status;
}
