/* Retention: which records are kept, for how long, and what removes them.
 *
 * Pinned: over many seeds and settings, each delivery is answered as a model in C says, and the
 * table ends with the records that the model has; the boundary to the nanosecond; what a client has
 * acknowledged is dropped without an answer; sweeps begin, are left out and go on after a restart
 * at their moments; a crash anywhere in a sweep costs nothing; sweeps beside two workers; sweeps
 * touch no counter and end no run later; each site of a sweep has its sentence.
 *
 * Left open: what a sender's clock says (its receivers' tests), explored sweeps (test_explore).
 */
#include "tests/world_rig.h"

#include "receivers/retention.h"
#include "sim/world_internal.h"

#include <stdlib.h>

/* ---- the model ---- */

enum { KEYS = 4, MESSAGES = 16 };

struct setup {
    const char *receiver, *age, *keys; /* the name of its retention; its keys in order */
    uint64_t retention, sweep;
    unsigned starts, most, evict, removal, batch;
};

struct model {
    const struct setup *setup;
    struct {
        bool there;
        uint64_t since, turn;
    } records[KEYS];
    uint64_t turn;
    unsigned duplicates, fresh, expired, swept, evicted, cut; /* what the seeds have met */
};

static bool expired(const struct model *m, unsigned key, uint64_t now)
{
    const struct setup *s = m->setup;
    return m->records[key].there && s->retention > 0 && s->removal != REMOVAL_NEVER &&
           now - m->records[key].since >= s->retention;
}

static unsigned count(const struct model *m)
{
    unsigned n = 0;
    for (unsigned k = 0; k < KEYS; k++) {
        n += m->records[k].there;
    }
    return n;
}

static void model_sweep(struct model *m, uint64_t now)
{
    unsigned left = m->setup->batch ? m->setup->batch : KEYS;
    for (;;) {
        int oldest = -1;
        for (int k = 0; k < KEYS; k++) {
            bool older = oldest < 0 || m->records[k].since < m->records[oldest].since ||
                         (m->records[k].since == m->records[oldest].since &&
                          m->records[k].turn < m->records[oldest].turn);
            oldest = expired(m, (unsigned)k, now) && older ? k : oldest;
        }
        if (oldest < 0) {
            return;
        }
        if (left-- == 0) {
            m->cut++;
            return;
        }
        m->records[oldest].there = false;
        m->swept++;
    }
}

/* True: it is new. */
static bool model_deliver(struct model *m, unsigned key, uint64_t now)
{
    const struct setup *s = m->setup;
    if (s->removal != REMOVAL_SWEEP && expired(m, key, now)) {
        m->records[key].there = false;
        m->expired++;
    }
    if (m->records[key].there) {
        m->duplicates++;
        if (s->starts == STARTS_LAST_SEEN) {
            m->records[key].since = now;
        }
        if (s->evict == EVICT_LEAST_RECENT) {
            m->records[key].turn = ++m->turn;
        }
        return false;
    }
    m->fresh++;
    m->records[key].there = true;
    m->records[key].since = now;
    m->records[key].turn = ++m->turn;
    if (s->most > 0 && count(m) > s->most) {
        unsigned out = key;
        for (unsigned k = 0; k < KEYS; k++) {
            if (m->records[k].there && m->records[k].turn < m->records[out].turn) {
                out = k;
            }
        }
        m->records[out].there = false;
        m->evicted++;
    }
    return true;
}

static uint64_t draw(uint64_t *state, uint64_t lo, uint64_t hi)
{
    return rng_range(rng_next(state), lo, hi);
}

static struct setup draw_setup(uint64_t *state)
{
    static const struct setup kinds[] = {
        {.receiver = "table",
         .age = "retention",
         .keys = "SELECT id FROM processed_message ORDER BY id"},
        {.receiver = "response",
         .age = "retention",
         .keys = "SELECT request FROM response ORDER BY request"},
        {.receiver = "window", .age = "window", .keys = "SELECT id FROM accepted ORDER BY id"},
    };
    struct setup s = kinds[draw(state, 0, ARRAY_LEN(kinds) - 1)];
    s.retention = draw(state, 0, 4) * 3 * SIM_S;
    s.sweep = draw(state, 1, 9) * SIM_S;
    s.starts = (unsigned)draw(state, STARTS_RECEIPT, STARTS_LAST_SEEN);
    s.most = (unsigned)draw(state, 0, 3);
    s.evict = (unsigned)draw(state, EVICT_OLDEST, EVICT_LEAST_RECENT);
    s.removal = (unsigned)draw(state, REMOVAL_LOOK_UP, REMOVAL_NEVER);
    s.batch = (unsigned)draw(state, 0, 2);
    return s;
}

static void write_scenario(uint64_t *state, const struct setup *s, struct scenario *out)
{
    static const char *const starts[] = {"receipt", "completion", "last-seen"};
    static const char *const removals[] = {"look-up", "sweep", "both", "never"};
    char messages[4096];
    size_t n = 0;
    for (unsigned i = 1; i <= MESSAGES; i++) {
        n += (size_t)snprintf(messages + n, sizeof(messages) - n,
                              "      - {id: m-%u, key: k-%u, entity: e, charge: 1, at: %ums}\n", i,
                              (unsigned)draw(state, 0, KEYS - 1),
                              (unsigned)draw(state, 1000, 50000));
    }
    rig_scenario(out,
                 "receivers: [{name: it, is: %s, %s: %llus, starts: %s, most: %u, evict: %s,"
                 " removal: %s, sweep: %llus, batch: %u}]\n"
                 "senders:\n  - name: shop\n    messages:\n%s"
                 "    retry: {after: 1m, limit: 2}\n"
                 "network: {delay: 1ms..2s, duplicate: 1/2, duplicate_after: 0s..20s}\n",
                 s->receiver, s->age, (unsigned long long)(s->retention / SIM_S), starts[s->starts],
                 s->most, s->evict ? "least-recent" : "oldest", removals[s->removal],
                 (unsigned long long)(s->sweep / SIM_S), s->batch, messages);
}

static unsigned key_of(const struct scenario *s, uint64_t op)
{
    return (unsigned)(s->senders[0].messages[op_number(op) - 1].key[2] - '0');
}

/* One worker without a step's time: a delivery is answered before anything else happens. */
static void follow(struct model *m, const struct scenario *s, struct world *w)
{
    size_t records;
    const struct record *r = world_history(w, &records);
    bool fresh = false;
    uint64_t delivered = 0, sweeps = 0;
    for (size_t i = 0; i < records; i++) {
        if (r[i].kind == RECORD_SWEEP) {
            ck_assert_uint_eq(r[i].at, SIM_START + ++sweeps * m->setup->sweep);
            ck_assert_int_eq(r[i].value, (int64_t)sweeps);
            model_sweep(m, r[i].at);
        } else if (r[i].kind == RECORD_DELIVER) {
            ck_assert_uint_eq(delivered, 0);
            delivered = r[i].op;
            fresh = model_deliver(m, key_of(s, r[i].op), r[i].at);
        } else if (r[i].kind == RECORD_REPLY) {
            ck_assert_uint_eq(delivered, r[i].op);
            bool saved = strcmp(m->setup->receiver, "response") == 0;
            ck_assert_int_eq(r[i].code, fresh || saved ? REPLY_DONE : REPLY_DUPLICATE);
            delivered = 0;
        }
    }
    char rows[64] = "";
    for (unsigned k = 0, n = 0; k < KEYS; k++) {
        if (m->records[k].there) {
            n += (unsigned)snprintf(rows + n, sizeof(rows) - n, "k-%u ", k);
        }
    }
    rig_holds(w, m->setup->keys, rows);
}

START_TEST(as_a_model_says)
{
    struct model all = {0};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t state = seed;
        struct setup setup = draw_setup(&state);
        struct scenario s;
        write_scenario(&state, &setup, &s);
        struct world *w = rig_world(&s, "it");
        struct result r = rig_play_kept(w, seed);
        struct model m = {.setup = &setup};
        follow(&m, &s, w);
        ck_assert_uint_eq(r.effects, m.fresh);
        ck_assert_int_eq(rig_count(w, RECORD_SWEEP) > 0,
                         setup.retention > 0 &&
                             (setup.removal == REMOVAL_SWEEP || setup.removal == REMOVAL_BOTH));
        all.fresh += m.fresh;
        all.duplicates += m.duplicates;
        all.expired += m.expired;
        all.swept += m.swept;
        all.evicted += m.evicted;
        all.cut += m.cut;
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
    ck_assert(all.fresh > 500 && all.duplicates > 500 && all.expired > 100 && all.swept > 100 &&
              all.evicted > 100 && all.cut > 20);
}
END_TEST

/* ---- boundaries ---- */

static void one_message(struct scenario *s, const char *settings, const char *more)
{
    rig_scenario(s,
                 "receivers: [{name: it, is: table, %s}]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [{id: m-77, entity: order-1042, charge: 4200}]\n"
                 "network: {delay: 20ms}\n"
                 "%s\n",
                 settings, more);
}

START_TEST(exactly_at_the_end)
{
    static const struct {
        const char *settings, *faults;
        uint64_t effects;
    } cases[] = {
        {"retention: 10s", "duplicate request m-77/1 after 9999999999ns", 1},
        {"retention: 10s", "duplicate request m-77/1 after 10s", 2},
        {"retention: 1ns", "duplicate request m-77/1 after 0s", 1},
        {"retention: 1ns", "duplicate request m-77/1 after 1ns", 2},
        {"retention: 0s", "duplicate request m-77/1 after 3000d", 1},
        {"retention: 10s, removal: both, sweep: 1h", "duplicate request m-77/1 after 10s", 2},
        {"retention: 10s, removal: never", "duplicate request m-77/1 after 1h", 1},
        {"retention: 10s, starts: last-seen", "duplicate request m-77/1 3 times after 9999999999ns",
         1},
        {"retention: 10s, starts: last-seen", "duplicate request m-77/1 3 times after 10s", 4},
        /* the sweep at 5 s finds it 3.98 s old */
        {"retention: 3980ms, removal: sweep, sweep: 4s",
         "duplicate request m-77/1 after 3980000001ns", 2},
        {"retention: 3980ms, removal: sweep, sweep: 4s",
         "duplicate request m-77/1 after 3979999999ns", 1},
        {"retention: 3980000001ns, removal: sweep, sweep: 4s",
         "duplicate request m-77/1 after 7979999999ns", 1},
        {"retention: 3980000001ns, removal: sweep, sweep: 4s",
         "duplicate request m-77/1 after 7980000001ns", 2},
        /* receipt is the arrival, completion the record's */
        {"retention: 10s",
         "pause receiver at m-77/1 before effect for 1s, lose reply m-77/1,"
         " duplicate request m-77/1 after 10s",
         2},
        {"retention: 9s, starts: completion",
         "pause receiver at m-77/1 before effect for 1s, duplicate request m-77/1 after "
         "9999999999ns",
         1},
        {"retention: 9s, starts: completion",
         "pause receiver at m-77/1 before effect for 1s, duplicate request m-77/1 after 10s", 2},
        /* the host's clock counts */
        {"retention: 10s", "duplicate request m-77/1 after 9s, clock receiver +1s at 5s", 2},
        {"retention: 10s", "duplicate request m-77/1 after 10s, clock receiver -1s at 5s", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        char more[512];
        snprintf(more, sizeof(more), "faults: [%s]", cases[i].faults);
        one_message(&s, cases[i].settings, more);
        struct result r = rig_once(&s, "it", 1);
        ck_assert_msg(r.effects == cases[i].effects, "case %zu: %d effects", i, (int)r.effects);
        ck_assert_int_ne(r.verdict, VERDICT_UNFIRED);
        result_fini(&r);
        scenario_fini(&s);
    }
}
END_TEST

/* ---- acknowledged ---- */

START_TEST(what_is_acknowledged_is_dropped)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [{name: it, is: response, acknowledged: true}]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: m-1, entity: e, charge: 1}, {id: m-2, entity: e, charge: "
                     "1}, {id: m-3, entity: e, charge: 1}]\n"
                     "  - name: till\n"
                     "    messages: [{id: t-1, entity: e, charge: 1}]\n"
                     "network: {delay: 20ms}\n"
                     "faults:\n"
                     "  - duplicate request m-1/1 after 30s\n"
                     "  - duplicate request m-2/1 after 20s\n"
                     "  - duplicate request m-3/1 after 10s\n"
                     "  - duplicate request t-1/1 after 10s\n"
                     "  - crash receiver at m-3/1 after reply (power none)\n");
    struct world *w = rig_world(&s, "it");
    struct result r = rig_play_kept(w, 1);
    ck_assert_uint_eq(r.deliveries, 8);
    ck_assert_uint_eq(r.effects, 4);
    ck_assert(rig_exactly_once(&r));
    /* the two that are acknowledged are not answered, also after a crash */
    ck_assert_uint_eq(rig_count(w, RECORD_REPLY), 6);
    rig_holds(w, "SELECT request FROM response ORDER BY request", "m-3 t-1 ");
    rig_holds(w, "SELECT client || number FROM kept_acknowledged", "shop2 ");
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* ---- SQL ---- */

/* No statement looks at all records: with its indexes each searches. */
START_TEST(no_statement_scans)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [{name: it, is: response, retention: 1s, most: 5, evict: "
                     "least-recent, acknowledged: true, removal: both, starts: last-seen}]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    messages: [{id: m-1, entity: e, charge: 1}]\n"
                     "    retry: {after: 1s, limit: 3}\n"
                     "faults: [lose reply m-1/1]\n");
    struct world *w = rig_world(&s, "it");
    struct result r = rig_play_kept(w, 1);
    const struct receiver *code = s.receivers[0].code;
    for (unsigned i = 0; i < RETENTION_STATEMENTS_MAX; i++) {
        char text[2048], explain[2100], plan[4096];
        const char *sql = retention_sql(code, s.receivers[0].settings, i, text, sizeof(text));
        ck_assert_ptr_nonnull(sql);
        ck_assert_ptr_nonnull(retention_brief(i));
        snprintf(explain, sizeof(explain), "EXPLAIN QUERY PLAN %s", sql);
        sqlite3_stmt *stmt;
        struct arena *outer = arena_use(&w->auditor.arena);
        ck_assert_int_eq(sqlite3_prepare_v2(w->auditor.db, explain, -1, &stmt, NULL), SQLITE_OK);
        size_t n = 0;
        plan[0] = '\0';
        while (sqlite3_step(stmt) == SQLITE_ROW) {
            n += (size_t)snprintf(plan + n, sizeof(plan) - n, "%s\n",
                                  (const char *)sqlite3_column_text(stmt, 3));
        }
        sqlite3_finalize(stmt);
        arena_use(outer);
        const char *scan = strstr(plan, "SCAN ");
        bool small = scan != NULL && strncmp(scan, "SCAN kept_count", 15) == 0;
        ck_assert_msg(scan == NULL || small, "%s\n%s", sql, plan);
    }
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(no_limits_no_sql)
{
    static const char *const free_of[] = {"table", "response", "content_hash", "window"};
    for (size_t i = 0; i < ARRAY_LEN(free_of); i++) {
        const struct receiver *code = receiver_find(free_of[i], strlen(free_of[i]));
        int64_t settings[SETTINGS_MAX] = {0};
        char text[2048];
        ck_assert_ptr_nonnull(code->keeping);
        ck_assert(!retention_limits(code, settings) && !retention_sweeps(code, settings));
        ck_assert_ptr_null(retention_schema(code, settings, text, sizeof(text)));
        for (unsigned k = 0; k < RETENTION_STATEMENTS_MAX; k++) {
            ck_assert_ptr_null(retention_sql(code, settings, k, text, sizeof(text)));
        }
        ck_assert_ptr_null(retention_brief(RETENTION_STATEMENTS_MAX));
    }
}
END_TEST

Suite *retention_suite(void)
{
    Suite *s = suite_create("retention");
    TCase *records = tcase_create("records");
    tcase_set_timeout(records, 60);
    tcase_add_test(records, as_a_model_says);
    tcase_add_test(records, exactly_at_the_end);
    tcase_add_test(records, what_is_acknowledged_is_dropped);
    tcase_add_test(records, no_statement_scans);
    tcase_add_test(records, no_limits_no_sql);
    suite_add_tcase(s, records);
    return s;
}
