/* `onlyonce shrink`: the smallest story that fails as a run of a file does.
 *
 * In: a scenario file, a receiver, a seed. Out: a scenario, which expects the violation; what
 * became smaller, to standard error.
 */
#include "sim/cmd.h"

#include <inttypes.h>

#include "sim/output.h"
#include "sim/plays.h"
#include "sim/progress.h"
#include "sim/shrink_report.h"

static bool stop(void *context)
{
    (void)context;
    return interrupted();
}

/* The first receiver that fails, or the first error. NULL: all hold. */
static const struct pick *find_failing(const struct plays *plays, uint64_t seed,
                                       struct shrink_task *task, enum sim_error *error)
{
    for (size_t i = 0; i < plays->count && *error == SIM_OK && !interrupted(); i++) {
        const struct pick *pick = &plays->picks[i];
        struct world *w = world_new(pick->scenario, pick->receiver, stderr, error);
        if (w == NULL) {
            break;
        }
        struct result r = {0};
        struct play p = {.seed = seed};
        world_play(w, &p, &r);
        bool failed = shrink_check(&r, &task->check);
        task->fired = r.fired_count;
        *error = r.error;
        result_fini(&r);
        world_free(w);
        if (failed) {
            return pick;
        }
    }
    return NULL;
}

static void say_why_not(enum sim_error e)
{
    switch (e) {
    case SIM_ERR_LIMIT:
        fputs("onlyonce shrink: the story is too long to be told message by message\n", stderr);
        break;
    case SIM_ERR_DIFFERS:
        fputs("onlyonce shrink: the failure does not come again from the list of its faults\n",
              stderr);
        break;
    case SIM_OK:
    case SIM_ERR_USAGE:
    case SIM_ERR_SCENARIO:
    case SIM_ERR_IO:
    case SIM_ERR_STORE:
    case SIM_ERR_RECEIVER:
        fprintf(stderr, "onlyonce shrink: %s\n", sim_error_text(e));
        break;
    }
}

static void say(const struct shrink_result *s)
{
    char sizes[SHRINK_SIZES];
    fprintf(stderr, "onlyonce shrink: %s; %" PRIu64 " runs\n", shrink_sizes(s, sizes), s->runs);
    fprintf(stderr, "onlyonce shrink: %s\n", s->sentence);
    if (s->seed != 1) {
        fprintf(stderr, "onlyonce shrink: it fails with --seed %" PRIu64 "\n", s->seed);
    }
}

static enum exit_status write_story(const struct options *o, const struct shrink_result *s)
{
    struct output out;
    if (output_open(&out, o->output, OUTPUT_REPLACE) != SIM_OK) {
        return EXIT_HARNESS;
    }
    shrink_print(s, out.stream);
    if (output_close(&out, true) != SIM_OK) {
        return EXIT_HARNESS;
    }
    if (!o->quiet) {
        say(s);
    }
    switch (s->end) {
    case SHRUNK_ALL:
        break;
    case SHRUNK_TO_LIMIT:
        fprintf(stderr, "onlyonce shrink: perhaps not the smallest: the bound of %d runs was hit\n",
                SHRINK_RUNS);
        break;
    case SHRUNK_TO_STOP:
        fputs("onlyonce shrink: interrupted: perhaps not the smallest\n", stderr);
        return EXIT_INTERRUPTED;
    }
    return EXIT_AS_EXPECTED;
}

static enum exit_status shrink_pick(const struct options *o, const struct shrink_task *task)
{
    struct shrink_result s;
    enum sim_error e = shrink(task, stderr, &s);
    if (e != SIM_OK) {
        if (interrupted()) {
            return EXIT_INTERRUPTED;
        }
        say_why_not(e);
        return EXIT_HARNESS;
    }
    enum exit_status status = write_story(o, &s);
    scenario_fini(&s.scenario);
    return status;
}

static enum exit_status shrink_plays(const struct options *o, const struct plays *plays)
{
    if (plays->scenarios.count != 1) {
        fprintf(stderr, "onlyonce shrink: one scenario at a time; there are %zu\n",
                plays->scenarios.count);
        return EXIT_USAGE;
    }
    interrupt_catch();
    struct shrink_task task = {.seed = o->seed_first, .stop = stop};
    enum sim_error e = SIM_OK;
    const struct pick *pick = find_failing(plays, o->seed_first, &task, &e);
    if (e != SIM_OK) {
        say_why_not(e);
        return EXIT_HARNESS;
    }
    if (pick == NULL) {
        if (interrupted()) {
            return EXIT_INTERRUPTED;
        }
        fputs("onlyonce shrink: nothing fails: there is nothing to shrink\n", stderr);
        return EXIT_UNEXPECTED;
    }
    task.scenario = pick->scenario;
    task.receiver = pick->receiver;
    return shrink_pick(o, &task);
}

enum exit_status cmd_shrink(const struct options *o)
{
    struct plays plays;
    if (plays_read(&plays, o, stderr) != SIM_OK) {
        return EXIT_USAGE;
    }
    enum exit_status status = shrink_plays(o, &plays);
    plays_fini(&plays);
    return status;
}
