/* `onlyonce list`: what there is to name in a scenario.
 *
 * In: a topic. Out: one line for each thing. `list receivers NAME` tells all of one receiver; `list
 * sites FILE` plays the scenario, watches which
 * sites are reached and prints, in the order of the run, the sentences that can be pasted under
 * `faults:`.
 */
#include "sim/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "receivers/receiver.h"
#include "reports/format.h"
#include "sim/crash.h"
#include "sim/output.h"
#include "sim/grid.h"
#include "sim/plays.h"
#include "sim/scenario_settings.h"
#include "sim/words.h"
#include "sim/world.h"

/* ---- receivers ---- */

static int wider(int width, const char *text)
{
    int len = (int)strlen(text);
    return len > width ? len : width;
}

static void list_receivers(FILE *out)
{
    int width = 0;
    for (size_t i = 0; i < receivers_count(); i++) {
        width = wider(width, receiver_at(i)->name);
    }
    for (size_t i = 0; i < receivers_count(); i++) {
        const struct receiver *r = receiver_at(i);
        fprintf(out, "%-*s %s\n%-*s (", width, r->name, r->about, width, "");
        if (r->preset_of != NULL) {
            fprintf(out, "preset of %s; ", r->preset_of->name);
        }
        fprintf(out, "%s)\n", r->source);
    }
}

/* ---- one receiver ---- */

static void tell_settings(const struct receiver *code, FILE *out)
{
    size_t count = settings_count(code);
    int widths[3] = {0};
    char range[SETTING_TEXT], value[SETTING_TEXT];
    for (size_t i = 0; i < count; i++) {
        const struct setting *s = &code->settings[i];
        widths[0] = wider(widths[0], s->name);
        widths[1] = wider(widths[1], setting_range_text(s, range));
        widths[2] = wider(widths[2], setting_text(s, s->value, value));
    }
    fprintf(out, "settings\n%s", count == 0 ? "  none\n" : "");
    for (size_t i = 0; i < count; i++) {
        const struct setting *s = &code->settings[i];
        fprintf(out, "  %-*s  %-*s  default %-*s  %s\n", widths[0], s->name, widths[1],
                setting_range_text(s, range), widths[2], setting_text(s, s->value, value),
                s->about);
    }
}

static void tell_axes(const struct receiver *code, FILE *out)
{
    static const char *const axes[AXIS_COUNT] = {
#define X(name, text) [name] = text,
        AXES(X)
#undef X
    };
    int width = 0;
    for (size_t i = 0; i < AXIS_COUNT; i++) {
        width = code->axes[i] != NULL ? wider(width, axes[i]) : width;
    }
    fputs(width > 0 ? "axes\n" : "", out);
    for (size_t i = 0; i < AXIS_COUNT; i++) {
        if (code->axes[i] != NULL) {
            fprintf(out, "  %-*s  %s\n", width, axes[i], code->axes[i]);
        }
    }
}

static void tell_sql(const char *what, const char *text, FILE *out)
{
    if (text != NULL) {
        fprintf(out, "%s\n  %s\n", what, text);
    }
}

static void tell_statements(const struct receiver *code, FILE *out)
{
    int width = 0;
    const struct statement *list = code->statements;
    for (size_t i = 0; list != NULL && list[i].sql != NULL; i++) {
        width = wider(width, list[i].brief);
    }
    fputs(width > 0 ? "statements\n" : "", out);
    for (size_t i = 0; list != NULL && list[i].sql != NULL; i++) {
        fprintf(out, "  %-*s  %s\n", width, list[i].brief, list[i].sql);
    }
}

/* NULL: there is none of that name, and said so. */
static const struct receiver *known_receiver(const char *name)
{
    const struct receiver *code = receiver_find(name, strlen(name));
    if (code != NULL) {
        return code;
    }
    char quoted[NAME_TEXT];
    words_quote(name, strlen(name), quoted, sizeof(quoted));
    struct nearest near = {.word = name, .len = strlen(name)};
    for (size_t i = 0; i < receivers_count(); i++) {
        nearest_offer(&near, receiver_at(i)->name, strlen(receiver_at(i)->name));
    }
    fprintf(stderr, "onlyonce list: unknown receiver %s", quoted);
    if (near.best != NULL) {
        fprintf(stderr, "; did you mean %s?\n", near.best);
    } else {
        fputs("; `onlyonce list receivers` lists them\n", stderr);
    }
    return NULL;
}

static enum exit_status list_receiver(const char *name, FILE *out)
{
    const struct receiver *code = known_receiver(name);
    if (code == NULL) {
        return EXIT_USAGE;
    }
    fprintf(out, "%s\n  %s\n  (%s)\n", code->name, code->about, code->source);
    if (code->preset_of != NULL) {
        fprintf(out, "is %s\n", code->preset_of->name);
    }
    if (code->asks != NULL) {
        fprintf(out, "asks of its senders\n  %s\n", code->asks);
    }
    if (code->breaks != NULL) {
        fprintf(out, "breaks\n  %s\n", code->breaks);
    }
    fputs("steps\n ", out);
    for (unsigned s = STEP_NONE + 1; s < STEP_COUNT; s++) {
        if (code->steps & STEP_BIT(s)) {
            fprintf(out, " %s", step_text((enum step)s));
        }
    }
    fputc('\n', out);
    tell_settings(code, out);
    tell_axes(code, out);
    tell_sql("schema", code->schema, out);
    tell_sql("schema of a process", code->session, out);
    tell_statements(code, out);
    return EXIT_AS_EXPECTED;
}

/* ---- checks, faults, scenarios ---- */

static void list_checks(FILE *out)
{
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        fprintf(out, "%-22s%s %s\n", check_text((enum check)c),
                CHECKS_EXACTLY_ONCE & CHECK_BIT(c) ? "*" : " ", check_holds((enum check)c));
    }
    fputs("\n* belongs to exactly-once, which judges whoever `expect:` does not name\n", out);
}

static void list_faults(FILE *out)
{
    static const char *const examples[FAULT_KIND_COUNT] = {
        [FAULT_LOSE] = "lose reply m-77/1",
        [FAULT_DUPLICATE] = "duplicate request m-77/1 after 3s",
        [FAULT_DELAY] = "delay reply m-77/1 by 10m",
        [FAULT_CRASH] = "crash receiver at m-77/1 after commit (power none)",
        [FAULT_PAUSE] = "pause receiver at m-77/2 before record for 30s",
        [FAULT_STORE] = "store receiver at m-77/1 commit (applied)",
        [FAULT_HANDLER] = "handler receiver at m-77/1 after effect fails",
        [FAULT_CLOCK] = "clock receiver +3s at 10s",
        [FAULT_PARTITION] = "partition shop receiver 5s..20s",
        [FAULT_LYING_DISK] = "lying-disk receiver",
        [FAULT_STOP] = "stop receiver at m-77/1 before commit killed after 1s",
        [FAULT_SENDER_CRASH] = "sender-crash shop at m-77/1 after send restart after 5s",
        [FAULT_SENDER_AMNESIA] = "sender-amnesia shop at m-77/1 after send (outbox lost)",
    };
    for (unsigned k = FAULT_NONE + 1; k < FAULT_KIND_COUNT; k++) {
        enum fault_kind kind = (enum fault_kind)k;
        fprintf(out, "%-15s%s%s\n", fault_kind_text(kind), fault_kind_help(kind),
                fault_kind_covered(kind) ? "" : " (an assumption: no receiver need survive it)");
        fprintf(out, "%-15s  - %s\n", "", examples[k] != NULL ? examples[k] : "");
    }
}

static enum exit_status list_scenarios(const struct options *o, FILE *out)
{
    static char folder[] = "scenarios";
    char *const standard[] = {folder};
    struct scenario_list list;
    char *const *paths = o->path_count > 0 ? o->paths : standard;
    if (scenario_list_read(paths, 1, stderr, &list) != SIM_OK) {
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < list.count; i++) {
        char file[NAME_TEXT];
        shell_word(list.items[i].file, file, sizeof(file));
        fprintf(out, "%s\n    ", file);
        format_line(out, list.items[i].about != NULL ? list.items[i].about : list.items[i].name);
        fputc('\n', out);
    }
    scenario_list_fini(&list);
    return EXIT_AS_EXPECTED;
}

/* ---- sites ---- */

/* A run tells its sites as it reaches them, each once. */
struct site_printer {
    struct world *world;
    struct grid grid;
    struct sentence_names names;
    struct output *out;
};

static void print_site(void *context, const struct site *site, uint64_t index)
{
    struct site_printer *p = context;
    struct fault_value values[GRID_VALUES_MAX];
    (void)index;
    size_t n = grid_values(&p->grid, site, world_unsynced(p->world), values);
    for (size_t i = 0; i < n && p->out->trouble == 0; i++) {
        struct fault f = {.site = *site, .value = values[i]};
        char sentence[SENTENCE_MAX];
        sentence_print(&p->names, &f, sentence);
        fprintf(p->out->stream, "  - %s%s\n", sentence,
                fault_kind_covered(fault_kind(&f)) ? "" : " # assumption");
    }
}

static enum exit_status play_sites(const struct options *o, const struct pick *pick,
                                   struct output *out)
{
    enum sim_error e = SIM_OK;
    struct world *w = world_new(pick->scenario, pick->receiver, stderr, &e);
    if (w == NULL) {
        fprintf(stderr, "onlyonce list: %s\n", sim_error_text(e));
        return EXIT_HARNESS;
    }
    struct site_printer printer = {.world = w, .names = scenario_names(pick->scenario), .out = out};
    grid_init(&printer.grid, pick->scenario, false);
    struct result r = {0};
    struct play p = {.seed = o->seed_first, .observer = {&printer, print_site}};
    world_play(w, &p, &r);
    enum exit_status status = EXIT_AS_EXPECTED;
    if (r.verdict == VERDICT_ERROR) {
        fprintf(stderr, "onlyonce list: %s\n", r.reason);
        status = EXIT_HARNESS;
    }
    result_fini(&r);
    world_free(w);
    return status;
}

static enum exit_status list_sites(const struct options *o, struct output *out)
{
    struct plays plays;
    if (plays_read(&plays, o, stderr) != SIM_OK) {
        return EXIT_USAGE;
    }
    enum exit_status status = EXIT_USAGE;
    if (plays.scenarios.count != 1 || plays.count == 0) {
        fputs("onlyonce list sites: give one scenario file that has a receiver\n", stderr);
    } else {
        if (plays.count > 1 && !o->quiet) {
            char name[NAME_TEXT];
            const struct pick *first = &plays.picks[0];
            name_text(first->scenario->receivers[first->receiver].name, name, sizeof(name));
            fprintf(stderr, "onlyonce list: sites of %s, the first of %zu receivers\n", name,
                    plays.count);
        }
        status = play_sites(o, &plays.picks[0], out);
    }
    plays_fini(&plays);
    return status;
}

enum exit_status cmd_list(const struct options *o)
{
    struct output out;
    if (output_open(&out, o->output, OUTPUT_REPLACE) != SIM_OK) {
        return EXIT_HARNESS;
    }
    enum exit_status status = EXIT_AS_EXPECTED;
    switch (o->topic) {
    case LIST_RECEIVERS:
        if (o->path_count > 0) {
            status = list_receiver(o->paths[0], out.stream);
        } else {
            list_receivers(out.stream);
        }
        break;
    case LIST_CHECKS:
        list_checks(out.stream);
        break;
    case LIST_FAULTS:
        list_faults(out.stream);
        break;
    case LIST_SCENARIOS:
        status = list_scenarios(o, out.stream);
        break;
    case LIST_SITES:
        status = list_sites(o, &out);
        break;
    case LIST_NONE:
        must(!"a topic");
    }
    enum sim_error e = output_close(&out, status == EXIT_AS_EXPECTED);
    return e != SIM_OK ? EXIT_HARNESS : status;
}
