/* `onlyonce show`: one run as a sequence diagram.
 *
 * In: a scenario file, a receiver, a seed. Out: the diagram, the verdict, one sentence for each
 * violation, the faults that fired; or the same as Mermaid source.
 */
#include "sim/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/canvas.h"
#include "reports/diagram.h"
#include "reports/format.h"
#include "sim/output.h"
#include "sim/plays.h"
#include "sim/words.h"
#include "sim/world.h"

#define FAULTS_TOLD 20
#define VIOLATIONS_TOLD 10

/* 0: unknown, and said. */
static uint64_t find_operation(const struct scenario *s, const char *id)
{
    struct sentence_names names = scenario_names(s);
    uint64_t op = names.operation(names.context, id, strlen(id));
    if (op != 0) {
        return op;
    }
    char quoted[NAME_TEXT];
    struct nearest near = {.word = id, .len = strlen(id)};
    for (size_t i = 0; i < s->sender_count; i++) {
        for (size_t j = 0; j < s->senders[i].message_count; j++) {
            const char *known = s->senders[i].messages[j].id;
            nearest_offer(&near, known, strlen(known));
        }
    }
    words_quote(id, strlen(id), quoted, sizeof(quoted));
    fprintf(stderr, "onlyonce show: no operation %s in this scenario", quoted);
    if (near.best != NULL) {
        words_quote(near.best, near.best_len, quoted, sizeof(quoted));
        fprintf(stderr, "; did you mean %s?", quoted);
    }
    fputc('\n', stderr);
    return 0;
}

static void print_fault(const struct result *r, const char *what, const struct fault *f, FILE *out)
{
    char sentence[SENTENCE_MAX];
    struct sentence_names names = scenario_names(r->scenario);
    sentence_print(&names, f, sentence);
    fprintf(out, "%s: %s\n", what, sentence);
}

static void print_faults(const struct result *r, uint64_t op, FILE *out)
{
    size_t told = 0, more = 0;
    for (size_t i = 0; i < r->fired_count; i++) {
        if (op != 0 && r->fired[i].site.op != op) {
            continue;
        }
        if (told < FAULTS_TOLD) {
            print_fault(r, "fault", &r->fired[i], out);
            told++;
        } else {
            more++;
        }
    }
    if (more > 0) {
        fprintf(out, "... and %zu more faults; --format json of `run` names them all\n", more);
    }
    for (size_t i = 0; i < format_listed(r); i++) {
        if (r->fates[i] != FATE_FIRED) {
            print_fault(r, r->fates[i] == FATE_NOT_APPLICABLE ? "not applicable" : "did not fire",
                        &r->scenario->faults[i], out);
        }
    }
}

static void print_violations(const struct result *r, uint64_t op, FILE *out)
{
    for (size_t i = 0; i < r->violation_count && op != 0; i++) {
        if (r->violations[i].op == op) {
            char text[VIOLATION_TEXT];
            violation_text(r->scenario, &r->violations[i], text, sizeof(text));
            fprintf(out, "  %s: %s\n", check_text(r->violations[i].check), text);
        }
    }
    if (op == 0) {
        format_details(out, r, "  ", VIOLATIONS_TOLD);
    }
}

/* What a reader of the diagram needs below it. */
static void print_verdict(const struct result *r, uint64_t op, FILE *out)
{
    char text[FORMAT_SUMMARY];
    fprintf(out, "\nverdict: %s%s\n", format_summary(r, text),
            r->expected ? " (as expected)" : " (NOT EXPECTED)");
    print_violations(r, op, out);
    print_faults(r, op, out);
}

/* Words of a text in lines as wide as the diagram. */
static void print_wrapped(FILE *out, const char *text)
{
    int column = 0;
    while (*text != '\0') {
        size_t len = strcspn(text, " ");
        char *word = sim_strndup(text, len);
        int width = canvas_columns(word);
        if (column > 0 && column + 1 + width > CANVAS_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%s", column > 0 ? " " : "", word);
        column += (column > 0) + width;
        free(word);
        text += len + strspn(text + len, " ");
    }
    fputc('\n', out);
}

static void print_title(const struct result *r, FILE *out)
{
    char scenario[NAME_TEXT], receiver[NAME_TEXT];
    name_text(r->scenario->name, scenario, sizeof(scenario));
    name_text(r->receiver->name, receiver, sizeof(receiver));
    fprintf(out, "%s, receiver %s, seed %" PRIu64 "\n", scenario, receiver, r->seed);
    if (r->scenario->about != NULL && r->scenario->about[0] != '\0') {
        char *about;
        size_t size;
        FILE *stream = open_memstream(&about, &size);
        must(stream != NULL);
        format_line(stream, r->scenario->about);
        fclose(stream);
        print_wrapped(out, about);
        free(about);
    }
    fputc('\n', out);
}

static enum exit_status print(const struct options *o, const struct result *r,
                              const struct record *records, size_t count, uint64_t op)
{
    struct output out;
    if (output_open(&out, o->output, OUTPUT_REPLACE) != SIM_OK) {
        return EXIT_HARNESS;
    }
    struct story story;
    story_make(&story, r, records, count, op, o->limit);
    if (o->format == FORMAT_MERMAID) {
        mermaid_print(&story, r, out.stream);
    } else {
        print_title(r, out.stream);
        diagram_print(&story, output_wants_colour(&out), out.stream);
        print_verdict(r, op, out.stream);
    }
    story_fini(&story);
    char *repeat = format_repeat(r);
    bool beside = o->format != FORMAT_TEXT || o->output != NULL;
    if (!r->expected && o->format == FORMAT_TEXT) {
        fprintf(out.stream, "%s\n", repeat);
    }
    enum sim_error e = output_close(&out, true);
    if (!r->expected && beside) {
        fprintf(stderr, "%s\n", repeat);
    }
    free(repeat);
    if (e != SIM_OK || r->verdict == VERDICT_ERROR) {
        return EXIT_HARNESS;
    }
    return r->expected ? EXIT_AS_EXPECTED : EXIT_UNEXPECTED;
}

static enum exit_status play(const struct options *o, const struct pick *pick, uint64_t op)
{
    enum sim_error e = SIM_OK;
    struct world *w = world_new(pick->scenario, pick->receiver, stderr, &e);
    if (w == NULL) {
        fprintf(stderr, "onlyonce: %s\n", sim_error_text(e));
        return EXIT_HARNESS;
    }
    struct result r = {0};
    struct play p = {.seed = o->seed_first, .keep_history = true};
    world_play(w, &p, &r);
    size_t count = 0;
    const struct record *records = world_history(w, &count);
    enum exit_status status = print(o, &r, records, count, op);
    result_fini(&r);
    world_free(w);
    return status;
}

enum exit_status cmd_show(const struct options *o)
{
    struct plays plays;
    if (plays_read(&plays, o, stderr) != SIM_OK) {
        return EXIT_USAGE;
    }
    enum exit_status status = EXIT_USAGE;
    uint64_t op = 0;
    if (plays.scenarios.count != 1) {
        fprintf(stderr, "onlyonce show: one scenario at a time; there are %zu\n",
                plays.scenarios.count);
    } else if (plays.count == 0) {
        fputs("onlyonce show: the scenario names no receiver; --receiver chooses one\n", stderr);
    } else if (o->operation == NULL ||
               (op = find_operation(plays.picks[0].scenario, o->operation)) != 0) {
        if (plays.count > 1 && !o->quiet) {
            char name[NAME_TEXT];
            const struct pick *first = &plays.picks[0];
            name_text(first->scenario->receivers[first->receiver].name, name, sizeof(name));
            fprintf(stderr, "onlyonce show: %s, the first of %zu receivers\n", name, plays.count);
        }
        status = play(o, &plays.picks[0], op);
    }
    plays_fini(&plays);
    return status;
}
