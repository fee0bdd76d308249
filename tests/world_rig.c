#include "tests/world_rig.h"

#include "sim/crash.h"
#include "sim/world_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

void rig_scenario(struct scenario *s, const char *format, ...)
{
    char text[16384];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    must(n > 0 && (size_t)n < sizeof(text));
    if (scenario_parse("test.yaml", text, (size_t)n, stderr, s) != SIM_OK) {
        ck_abort_msg("the test's scenario does not parse:\n%s", text);
    }
}

size_t rig_receiver(const struct scenario *s, const char *name)
{
    for (size_t i = 0; i < s->receiver_count; i++) {
        if (strcmp(s->receivers[i].name, name) == 0) {
            return i;
        }
    }
    ck_abort_msg("no receiver %s in the test's scenario", name);
}

struct world *rig_world(const struct scenario *s, const char *receiver)
{
    enum sim_error error;
    struct world *w = world_new(s, rig_receiver(s, receiver), stderr, &error);
    ck_assert_ptr_nonnull(w);
    return w;
}

struct fault rig_fault(const struct scenario *s, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    must(n > 0 && (size_t)n < sizeof(text));
    struct sentence_names names = scenario_names(s);
    struct sentence_error error;
    struct fault f;
    if (!sentence_parse(&names, text, (size_t)n, &f, &error)) {
        ck_abort_msg("\"%s\": %s", text, error.text);
    }
    return f;
}

struct result rig_play(struct world *w, uint64_t seed, const struct fault *faults, size_t count)
{
    static const struct fault none;
    struct play p = {.seed = seed, .faults = count > 0 ? faults : &none, .fault_count = count};
    struct result r;
    world_play(w, &p, &r);
    return r;
}

struct result rig_play_kept(struct world *w, uint64_t seed)
{
    struct play p = {.seed = seed, .keep_history = true};
    struct result r;
    world_play(w, &p, &r);
    return r;
}

struct result rig_once(const struct scenario *s, const char *receiver, uint64_t seed)
{
    struct world *w = rig_world(s, receiver);
    struct play p = {.seed = seed};
    struct result r;
    world_play(w, &p, &r);
    world_free(w);
    return r;
}

static void add_site(struct rig_sites *sites, const struct site *site)
{
    if (sites->count == sites->capacity) {
        sites->capacity = sites->capacity ? 2 * sites->capacity : 64;
        sites->list = sim_realloc(sites->list, sites->capacity, sizeof(*sites->list));
    }
    sites->list[sites->count++] = *site;
}

static void reached(void *context, const struct site *site, uint64_t index)
{
    struct rig_sites *sites = context;
    (void)index;
    if (site->key.draw == sites->kind) {
        add_site(sites, site);
    }
}

struct result rig_collect(struct world *w, uint64_t seed, const struct fault *faults, size_t count,
                          struct rig_sites *sites)
{
    static const struct fault none;
    struct play p = {.seed = seed,
                     .faults = count > 0 ? faults : &none,
                     .fault_count = count,
                     .observer = {sites, reached}};
    struct result r;
    sites->count = 0;
    world_play(w, &p, &r);
    return r;
}

void rig_sites_fini(struct rig_sites *sites)
{
    free(sites->list);
    *sites = (struct rig_sites){0};
}

static bool same_handling(const struct site *a, const struct site *b)
{
    return a->key.operation == b->key.operation && a->key.attempt == b->key.attempt &&
           a->key.copy == b->key.copy;
}

bool rig_handling(const struct rig_sites *sites, size_t n, struct rig_sites *out)
{
    const struct site *wanted = NULL;
    size_t begun = 0;
    for (size_t i = 0; wanted == NULL && i < sites->count; i++) {
        size_t j = 0;
        while (!same_handling(&sites->list[i], &sites->list[j])) {
            j++;
        }
        if (j == i && begun++ == n) {
            wanted = &sites->list[i];
        }
    }
    out->count = 0;
    for (size_t i = 0; wanted != NULL && i < sites->count; i++) {
        if (same_handling(wanted, &sites->list[i])) {
            add_site(out, &sites->list[i]);
        }
    }
    return wanted != NULL;
}

static const enum crash_mode plain_modes[] = {CRASH_PROCESS, CRASH_NONE, CRASH_ALL};
static const enum crash_mode counted_modes[] = {CRASH_FIRST, CRASH_ONLY, CRASH_ALL_BUT, CRASH_TORN};

size_t rig_crash_values(uint32_t most)
{
    return ARRAY_LEN(plain_modes) + most * ARRAY_LEN(counted_modes);
}

struct fault rig_crash_at(const struct site *site, size_t value, uint32_t most)
{
    struct fault f = {.site = *site};
    if (value < ARRAY_LEN(plain_modes)) {
        f.value.choice = (uint8_t)plain_modes[value];
        return f;
    }
    value -= ARRAY_LEN(plain_modes);
    must(value / most < ARRAY_LEN(counted_modes));
    f.value.choice = (uint8_t)counted_modes[value / most];
    f.value.n = (uint32_t)(value % most) + 1;
    return f;
}

const char *rig_say(const struct result *r, const struct fault *f)
{
    static char text[SENTENCE_MAX + 512];
    struct sentence_names names = scenario_names(r->scenario);
    char sentence[SENTENCE_MAX] = "no fault";
    if (f != NULL) {
        sentence_print(&names, f, sentence);
    }
    int n = snprintf(text, sizeof(text), "%s, seed %" PRIu64 ", %s: %s", r->receiver->name, r->seed,
                     sentence, verdict_text(r->verdict));
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if (r->violated[c] > 0) {
            n += snprintf(text + n, sizeof(text) - (size_t)n, " %s", check_text((enum check)c));
        }
    }
    return text;
}

const struct record *rig_find(struct world *w, enum record_kind kind, size_t n)
{
    size_t count;
    const struct record *records = world_history(w, &count);
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind == kind && n-- == 0) {
            return &records[i];
        }
    }
    return NULL;
}

size_t rig_count(struct world *w, enum record_kind kind)
{
    size_t count, n = 0;
    const struct record *records = world_history(w, &count);
    for (size_t i = 0; i < count; i++) {
        n += records[i].kind == kind;
    }
    return n;
}

void rig_holds(struct world *w, const char *sql, const char *rows)
{
    char text[4096] = "";
    size_t n = 0;
    sqlite3_stmt *stmt;
    struct arena *outer = arena_use(&w->auditor.arena);
    ck_assert_int_eq(sqlite3_prepare_v2(w->auditor.db, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const unsigned char *column = sqlite3_column_text(stmt, 0);
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ", (const char *)column);
        ck_assert_uint_lt(n, sizeof(text));
    }
    sqlite3_finalize(stmt);
    arena_use(outer);
    ck_assert_str_eq(text, rows);
}
