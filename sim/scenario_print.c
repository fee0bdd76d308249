/* A scenario as a file, part by part in the order of scenarios/README.md.
 *
 *     name: lost-reply
 *     receivers: [table, {name: mine, is: window, window: 20s}]
 *     senders: ...
 *     faults:
 *       - lose reply m-77/1
 *     expect: {naive: violates no-double-effect}
 */
#include "sim/scenario_print.h"

#include <stdlib.h>
#include <string.h>

#include "receivers/receiver.h"
#include "sim/scenario_print_internal.h"
#include "sim/scenario_settings.h"

static const struct dist delay_usual = {.kind = DIST_UNIFORM, .a = 20 * SIM_MS, .b = 80 * SIM_MS};
static const struct dist copy_usual = {.kind = DIST_UNIFORM, .b = SIM_S};
static const struct dist restart_usual = {.kind = DIST_CONSTANT, .a = 100 * SIM_MS};
static const struct dist pause_usual = {.kind = DIST_UNIFORM, .b = 5 * SIM_S};
static const struct dist step_usual[] = {{.kind = DIST_CONSTANT},
                                         {.kind = DIST_UNIFORM, .b = SIM_MS}};

/* [a, b] in one line, or an item a line. */
static void print_list(FILE *out, const char *key, char **items, size_t count)
{
    size_t width = strlen(key) + strlen(": []");
    for (size_t i = 0; i < count; i++) {
        width += print_columns(items[i]) + (i > 0 ? 2 : 0);
    }
    bool flow = width <= PRINT_WIDTH;
    fprintf(out, flow ? "%s: [" : "%s:\n", key);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%s%s", flow ? i > 0 ? ", " : "" : "  - ", items[i], flow ? "" : "\n");
    }
    fputs(flow ? "]\n" : "", out);
}

/* Those that differ from their defaults. */
static void print_settings(struct print_map *m, const struct scenario_receiver *r)
{
    char text[SETTING_TEXT];
    for (size_t i = 0; i < settings_count(r->code); i++) {
        const struct setting *setting = &r->code->settings[i];
        if (r->settings[i] == setting->value) {
            continue;
        }
        setting_text(setting, r->settings[i], text);
        if (setting->kind == SETTING_CHOICE) {
            print_take(m, setting->name, print_name(text));
        } else {
            print_put(m, setting->name, "%s", text);
        }
    }
}

/* table, {name: mine, is: table} or {name: mine, is: window, window: 20s} */
static char *receiver_text(const struct scenario_receiver *r)
{
    struct print_map m = {0};
    print_take(&m, "name", print_name(r->name));
    if (strcmp(r->name, r->code->name) != 0) {
        print_take(&m, "is", print_name(r->code->name));
    }
    print_settings(&m, r);
    bool plain = m.count == 1;
    char *flow = print_flow(&m);
    if (plain) {
        free(flow);
        return print_name(r->name);
    }
    return flow;
}

static void print_receivers(const struct scenario *s, FILE *out)
{
    char **items = sim_alloc(s->receiver_count * sizeof(*items));
    for (size_t i = 0; i < s->receiver_count; i++) {
        items[i] = receiver_text(&s->receivers[i]);
    }
    print_list(out, "receivers", items, s->receiver_count);
    for (size_t i = 0; i < s->receiver_count; i++) {
        free(items[i]);
    }
    free(items);
}

static void print_network(const struct scenario *s, FILE *out)
{
    struct print_map m = {0}, inner = {0};
    const struct dist *delay = s->network.delay;
    if (print_same_dist(&delay[0], &delay[1])) {
        print_dist(&m, "delay", &delay[0], &delay_usual);
    } else {
        print_dist(&inner, "request", &delay[REQUEST - 1], &delay_usual);
        print_dist(&inner, "reply", &delay[REPLY - 1], &delay_usual);
        print_nest(&m, "delay", &inner);
    }
    print_odds_pair(&m, "lose", s->rates.lose);
    print_odds_pair(&m, "duplicate", s->rates.duplicate);
    print_dist(&m, "duplicate_after", &s->rates.copy_after, &copy_usual);
    print_map(out, 0, "network", &m);
}

static void print_hosts(const struct scenario *s, FILE *out)
{
    struct print_map hosts = {0}, m = {0};
    const struct host_config *h = &s->receiver;
    print_number(&m, "workers", h->workers, 1);
    print_dist(&m, "step", &h->step, &step_usual[h->workers > 1]);
    print_dist(&m, "work", &h->work, &step_usual[0]);
    print_dist(&m, "restart", &h->restart, &restart_usual);
    print_clock(&m, h->clock_offset, h->clock_drift);
    print_odds(&m, "crash", s->rates.crash);
    print_odds(&m, "power", s->rates.power);
    print_odds(&m, "pause", s->rates.pause);
    print_odds(&m, "store", s->rates.store);
    print_odds(&m, "handler", s->rates.handler);
    print_dist(&m, "pause_for", &s->rates.pause_for, &pause_usual);
    print_nest(&hosts, "receiver", &m);
    for (size_t i = 0; i < s->sender_count; i++) {
        char *name = print_name(s->senders[i].name);
        print_clock(&m, s->senders[i].clock_offset, s->senders[i].clock_drift);
        print_nest(&hosts, name, &m);
        free(name);
    }
    print_map(out, 0, "hosts", &hosts);
}

static void print_database(const struct database_config *db, FILE *out)
{
    struct print_map m = {0};
    if (db->journal != JOURNAL_TRUNCATE) {
        print_put(&m, "journal", "%s", journal_text(db->journal));
    }
    if (db->synchronous != SYNC_FULL) {
        print_put(&m, "synchronous", "%s", synchronous_text(db->synchronous));
    }
    print_number(&m, "page_size", db->page_size, 1024);
    print_duration(&m, "busy_timeout", db->busy_timeout, 5 * SIM_S);
    print_map(out, 0, "database", &m);
}

static void print_service(const struct scenario *s, FILE *out)
{
    struct print_map m = {0};
    const struct service_config *c = &s->service;
    if (c->name == NULL) {
        return;
    }
    if (strcmp(c->name, SERVICE_NAME) != 0) {
        print_take(&m, "name", print_name(c->name));
    }
    if (!c->keys) {
        print_put(&m, "keys", "false");
    }
    print_duration(&m, "window", c->window, 0);
    print_dist(&m, "delay", &s->network.outside, &delay_usual);
    print_duration(&m, "time_out", c->time_out, 5 * SIM_S);
    if (m.count == 0) {
        fputs("service: {}\n", out);
    }
    print_map(out, 0, "service", &m);
}

static void print_faults(const struct scenario *s, FILE *out)
{
    struct sentence_names names = scenario_names(s);
    if (s->fault_count > 0) {
        fputs("faults:\n", out);
    }
    for (size_t i = 0; i < s->fault_count; i++) {
        char sentence[SENTENCE_MAX];
        sentence_print(&names, &s->faults[i], sentence);
        char *line = print_line(sentence);
        fprintf(out, "  - %s\n", line);
        free(line);
    }
    if (s->faults_until > 0) {
        char text[DURATION_TEXT];
        fprintf(out, "faults_until: %s\n", duration_text(s->faults_until, text));
    }
}

/* no-double-effect, [no-double-effect, progress], violates progress */
static char *expectation_text(const struct expectation *e)
{
    char *text;
    size_t size, told = 0;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    uint32_t rest = e->checks;
    bool all = (rest & CHECKS_EXACTLY_ONCE) == CHECKS_EXACTLY_ONCE;
    rest &= all ? ~(uint32_t)CHECKS_EXACTLY_ONCE : UINT32_MAX;
    bool list = !e->violates && all + __builtin_popcount(rest) > 1;
    fputs(e->violates ? "violates " : list ? "[" : "", out);
    if (all) {
        fputs("exactly-once", out);
        told++;
    }
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if (rest & CHECK_BIT(c)) {
            fprintf(out, "%s%s", told++ > 0 ? ", " : "", check_text((enum check)c));
        }
    }
    fputs(list ? "]" : "", out);
    fclose(out);
    return text;
}

/* One value for all, or one by receiver; nothing where nothing is given. */
static void put_expect(struct print_map *m, const struct scenario *s,
                       const struct expectation *list, const struct expectation *others)
{
    struct print_map by_name = {0};
    if (others->given) {
        print_take(m, "expect", expectation_text(others));
        return;
    }
    for (size_t i = 0; i < s->receiver_count; i++) {
        if (list[i].given) {
            char *name = print_name(s->receivers[i].name);
            print_take(&by_name, name, expectation_text(&list[i]));
            free(name);
        }
    }
    print_nest(m, "expect", &by_name);
}

static void print_expect(const struct scenario *s, FILE *out)
{
    struct print_map m = {0}, explore = {0};
    put_expect(&m, s, s->expectations, &s->expect_others);
    if (s->explore_faults > 0) {
        print_number(&explore, "faults", s->explore_faults, 0);
        put_expect(&explore, s, s->explore_expectations, &s->explore_others);
        print_nest(&m, "explore", &explore);
    }
    print_items(out, 0, &m);
}

static void print_contract(const struct scenario *s, FILE *out)
{
    struct print_map m = {0};
    if (s->no_give_up) {
        print_put(&m, "no_give_up", "true");
    }
    if (s->window > 0) {
        print_duration(&m, "window", s->window, 0);
    }
    if (s->window > 0 && s->late_forbidden) {
        print_put(&m, "late", "forbidden");
    }
    if (s->most_records > 0) {
        print_number(&m, "records", s->most_records, 0);
    }
    print_map(out, 0, "contract", &m);
}

void scenario_print(const struct scenario *s, FILE *out)
{
    char *name = print_name(s->name);
    fprintf(out, "name: %s\n", name);
    free(name);
    if (s->about != NULL) {
        print_about(out, s->about);
    }
    print_receivers(s, out);
    if (s->downstream != NULL) {
        char *text = receiver_text(s->downstream);
        fprintf(out, "downstream: %s\n", text);
        free(text);
    }
    print_senders(s, out);
    print_network(s, out);
    print_broker(&s->broker, out);
    print_hosts(s, out);
    print_database(&s->receiver.database, out);
    print_service(s, out);
    print_contract(s, out);
    print_faults(s, out);
    print_expect(s, out);
}

char *scenario_print_text(const struct scenario *s)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    must(out != NULL);
    scenario_print(s, out);
    fclose(out);
    return text;
}
