/* The smallest story behind a failing run.
 *
 * In: a result. Out: for instance
 *
 *     smallest story: 856 faults -> 1, 10000 messages -> 1
 *       lose reply shop-11/1
 *       shop-entity-96 charged 2 times by shop-11
 *       kept: stories/mix-naive.yaml
 */
#include "sim/shrink_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/output.h"
#include "sim/scenario_print.h"
#include "sim/words.h"

#define FAULTS_TOLD 10
#define NAME_KEPT 80 /* bytes of a name in the name of a file */

static int tell_change(char *out, size_t size, uint64_t before, uint64_t after, const char *what)
{
    if (before == after) {
        return snprintf(out, size, "%" PRIu64 " %s%s", after, what, after == 1 ? "" : "s");
    }
    return snprintf(out, size, "%" PRIu64 " %s%s -> %" PRIu64, before, what, before == 1 ? "" : "s",
                    after);
}

const char *shrink_sizes(const struct shrink_result *s, char out[SHRINK_SIZES])
{
    int n = tell_change(out, SHRINK_SIZES, s->before.faults, s->after.faults, "fault");
    n += snprintf(out + n, SHRINK_SIZES - (size_t)n, ", ");
    tell_change(out + n, SHRINK_SIZES - (size_t)n, s->before.messages, s->after.messages,
                "message");
    return out;
}

void shrink_print(const struct shrink_result *s, FILE *out)
{
    if (s->seed != 1) {
        fprintf(out, "# Fails with --seed %" PRIu64 ".\n", s->seed);
    }
    scenario_print(&s->scenario, out);
}

/* ---- the file ---- */

static size_t put_safe(const char *name, char *out, bool *safe)
{
    static const char more[] = "_-.";
    size_t n = 0;
    for (; name[n] != '\0' && n < NAME_KEPT; n++) {
        char c = name[n];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    (strchr(more, c) != NULL && n > 0);
        out[n] = good ? c : '_';
        *safe = *safe && good;
    }
    *safe = *safe && name[n] == '\0';
    return n;
}

void shrink_file_name(const char *scenario, const char *receiver, char out[SHRINK_FILE])
{
    bool safe = true;
    size_t n = put_safe(scenario, out, &safe);
    out[n++] = '-';
    n += put_safe(receiver, out + n, &safe);
    if (!safe) {
        uint64_t hash =
            rng_name(scenario, strlen(scenario)) ^ (rng_name(receiver, strlen(receiver)) >> 1);
        n += (size_t)snprintf(out + n, SHRINK_FILE - n, "-%08" PRIx32, (uint32_t)hash);
    }
    snprintf(out + n, SHRINK_FILE - n, ".yaml");
}

/* Writes into the directory and nowhere else: a link that stands there is not followed. */
static enum sim_error keep_story(const struct shrink_result *s, const char *directory,
                                 const char *path)
{
    struct stat st;
    struct output out;
    char quoted[1024];
    words_quote(path, strlen(path), quoted, sizeof(quoted));
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "onlyonce: cannot write %s: %s\n", quoted, strerror(errno));
        return SIM_ERR_IO;
    }
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        fprintf(stderr, "onlyonce: cannot write %s: it is no regular file\n", quoted);
        return SIM_ERR_IO;
    }
    enum sim_error e = output_open(&out, path, OUTPUT_REPLACE);
    if (e != SIM_OK) {
        return e;
    }
    shrink_print(s, out.stream);
    return output_close(&out, true);
}

/* ---- the lines ---- */

static void tell_story(const struct shrink_result *s, FILE *out)
{
    char sizes[SHRINK_SIZES];
    fprintf(out, "smallest story: %s\n", shrink_sizes(s, sizes));
    struct sentence_names names = scenario_names(&s->scenario);
    for (size_t i = 0; i < s->scenario.fault_count && i < FAULTS_TOLD; i++) {
        char sentence[SENTENCE_MAX];
        sentence_print(&names, &s->scenario.faults[i], sentence);
        fprintf(out, "  %s\n", sentence);
    }
    if (s->scenario.fault_count > FAULTS_TOLD) {
        fprintf(out, "  ... and %zu more faults\n", s->scenario.fault_count - FAULTS_TOLD);
    }
    fprintf(out, "  %s\n", s->sentence);
    if (s->end == SHRUNK_TO_LIMIT) {
        fprintf(out, "  (perhaps not the smallest: the bound was hit after %" PRIu64 " runs)\n",
                s->runs);
    }
}

static char *path_in(const char *directory, const char *name)
{
    size_t len = strlen(directory), size = len + SHRINK_FILE + 2;
    char *path = sim_alloc(size);
    bool ended = len > 0 && directory[len - 1] == '/';
    snprintf(path, size, "%s%s%s", directory, ended ? "" : "/", name);
    return path;
}

static char *report(const struct result *r, const struct shrink_result *s, const char *directory,
                    enum sim_error *error)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    tell_story(s, out);
    if (directory != NULL) {
        char name[SHRINK_FILE];
        shrink_file_name(r->scenario->name, r->receiver->name, name);
        char *path = path_in(directory, name);
        *error = keep_story(s, directory, path);
        if (*error == SIM_OK) {
            size_t width = shell_word(path, NULL, 0) + 1;
            char *word = sim_alloc(width);
            shell_word(path, word, width);
            fprintf(out, "  kept: %s\n", word);
            free(word);
        }
        free(path);
    }
    fclose(out);
    return text;
}

char *shrink_report(const struct result *r, const struct shrink_plan *plan, enum sim_error *error)
{
    struct shrink_result s;
    struct shrink_task task = {
        .scenario = r->scenario,
        .receiver = (size_t)(r->receiver - r->scenario->receivers),
        .seed = r->seed,
        .faults = plan->listed ? r->fired : NULL,
        .fault_count = plan->listed ? r->fired_count : 0,
        .fired = r->fired_count,
        .limit_runs = SHRINK_QUICK_RUNS,
        .limit_events = SHRINK_QUICK_EVENTS,
        .stop = plan->stop,
        .context = plan->context,
    };
    static const struct fault none;
    if (plan->listed && r->fired_count == 0) {
        task.faults = &none;
    }
    *error = SIM_OK;
    if (!shrink_check(r, &task.check) || shrink(&task, stderr, &s) != SIM_OK) {
        return NULL;
    }
    char *text = report(r, &s, plan->keep, error);
    scenario_fini(&s.scenario);
    return text;
}
