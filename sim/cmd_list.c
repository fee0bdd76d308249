/* `onlyonce list`: what there is to name in a scenario.
 *
 * In: a topic. Out: one line for each thing. `list sites FILE` plays the scenario, watches which
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
#include "sim/plays.h"
#include "sim/world.h"

/* ---- what the program knows ---- */

static void list_receivers(FILE *out)
{
    for (size_t i = 0; i < receivers_count; i++) {
        fprintf(out, "%-10s %s\n%-10s (%s)\n", receivers[i]->name, receivers[i]->about, "",
                receivers[i]->source);
    }
}

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
    };
    for (unsigned k = FAULT_NONE + 1; k < FAULT_KIND_COUNT; k++) {
        enum fault_kind kind = (enum fault_kind)k;
        fprintf(out, "%-11s%s%s\n", fault_kind_text(kind), fault_kind_help(kind),
                fault_kind_covered(kind) ? "" : " (an assumption: no receiver need survive it)");
        fprintf(out, "%-11s  - %s\n", "", examples[k] != NULL ? examples[k] : "");
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

/* Sites in the order in which they were reached. */
struct sites {
    struct site *items;
    size_t count, capacity;
};

static void remember(void *context, const struct site *site, uint64_t index)
{
    struct sites *s = context;
    (void)index;
    if (s->count == s->capacity) {
        s->capacity = s->capacity == 0 ? 256 : 2 * s->capacity;
        s->items = sim_realloc(s->items, s->capacity, sizeof(*s->items));
    }
    s->items[s->count++] = *site;
}

/* How long a sender waits before it tries again: what a delay must exceed to matter. */
static uint64_t patience(const struct scenario *s, uint64_t op)
{
    size_t sender = op_sender(op) - PLACE_SENDER;
    if (op == 0 || sender >= s->sender_count) {
        return SIM_S;
    }
    const struct retry_policy *r = &s->senders[sender].retry;
    uint64_t wait = r->timeout > 0 ? r->timeout : r->after;
    return wait > 0 && wait < SIM_TIME_MAX / 2 ? wait : SIM_S;
}

static size_t add_value(struct fault_value *values, size_t n, struct fault_value v)
{
    values[n] = v;
    return n + 1;
}

/* The values that make sense at a site. Returns how many. */
#define VALUES_MAX 4
static size_t values_of(const struct scenario *s, const struct site *site,
                        struct fault_value values[VALUES_MAX])
{
    static const enum crash_mode modes[] = {CRASH_PROCESS, CRASH_NONE, CRASH_ALL};
    static const enum store_fault stores[] = {STORE_NOT_APPLIED, STORE_APPLIED, STORE_BUSY,
                                              STORE_FULL};
    uint64_t longer = 2 * patience(s, site->op);
    size_t n = 0;
    switch ((enum fault_kind)site->key.draw) {
    case FAULT_LOSE:
    case FAULT_HANDLER:
    case FAULT_LYING_DISK:
        return add_value(values, n, (struct fault_value){0});
    case FAULT_DUPLICATE:
        return add_value(values, n, (struct fault_value){.n = 1, .time = SIM_S});
    case FAULT_DELAY:
    case FAULT_PAUSE:
        return add_value(values, n, (struct fault_value){.time = longer});
    case FAULT_CRASH:
        for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
            n = add_value(values, n, (struct fault_value){.choice = (uint8_t)modes[i]});
        }
        return n;
    case FAULT_STORE:
        for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
            n = add_value(values, n, (struct fault_value){.choice = (uint8_t)stores[i]});
        }
        return n;
    case FAULT_CLOCK:
        return add_value(values, n, (struct fault_value){.offset = (int64_t)longer});
    case FAULT_PARTITION:
        return add_value(values, n,
                         (struct fault_value){.time = SIM_START, .until = SIM_START + longer});
    case FAULT_NONE:
    case FAULT_KIND_COUNT:
        break;
    }
    return 0;
}

/* Sites by key, to print each once: open addressing, entries are index + 1. */
struct seen {
    uint32_t *slots;
    size_t mask;
};

static bool first_time(struct seen *seen, const struct sites *sites, size_t i)
{
    const struct rng_key *key = &sites->items[i].key;
    size_t at = rng_keyed(0, key) & seen->mask;
    while (seen->slots[at] != 0) {
        if (memcmp(&sites->items[seen->slots[at] - 1].key, key, sizeof(*key)) == 0) {
            return false;
        }
        at = (at + 1) & seen->mask;
    }
    seen->slots[at] = (uint32_t)i + 1;
    return true;
}

static void print_sites(const struct scenario *s, const struct sites *sites, struct output *out)
{
    struct sentence_names names = scenario_names(s);
    struct seen seen = {.mask = 1023};
    while (seen.mask < 2 * sites->count) {
        seen.mask = 2 * seen.mask + 1;
    }
    seen.slots = sim_zalloc(seen.mask + 1, sizeof(*seen.slots));
    for (size_t i = 0; i < sites->count && out->trouble == 0; i++) {
        struct fault_value values[VALUES_MAX];
        size_t n = first_time(&seen, sites, i) ? values_of(s, &sites->items[i], values) : 0;
        for (size_t j = 0; j < n; j++) {
            struct fault f = {.site = sites->items[i], .value = values[j]};
            char sentence[SENTENCE_MAX];
            sentence_print(&names, &f, sentence);
            fprintf(out->stream, "  - %s\n", sentence);
        }
    }
    free(seen.slots);
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
    struct sites sites = {0};
    struct result r = {0};
    struct play p = {.seed = o->seed_first, .observer = {&sites, remember}};
    world_play(w, &p, &r);
    print_sites(pick->scenario, &sites, out);
    enum exit_status status = EXIT_AS_EXPECTED;
    if (r.verdict == VERDICT_ERROR) {
        fprintf(stderr, "onlyonce list: %s\n", r.reason);
        status = EXIT_HARNESS;
    }
    free(sites.items);
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
        list_receivers(out.stream);
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
