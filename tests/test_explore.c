/* Exploration against brute force: in small worlds, all sets of at most K (site, value) pairs from
 * the closure of sites reached, less those in which one never fires or has a value that the grid
 * does not give there, are the schedules that the walk plays: the same ones, each once, with the
 * same violations. Further: jobs change nothing, limits and filters say what was covered, kept
 * faults are held. Left open: the convictions of canaries (tests/test_convictions.c). */
#include "tests/suites.h"
#include "tests/world_rig.h"

#include "receivers/receiver.h"
#include "sim/explore.h"

#include <stdlib.h>
#include <string.h>

/* ---- sets of schedules ---- */

struct visit {
    struct fault faults[3];
    unsigned count;
    uint64_t hash;
    uint32_t violated;
};

struct visits {
    struct visit *items;
    size_t count, capacity;
};

static int by_site(const void *a, const void *b)
{
    const struct fault *x = a, *y = b;
    int sites = memcmp(&x->site.key, &y->site.key, sizeof(x->site.key));
    if (sites) {
        return sites;
    }
    /* by fields: the bytes between them are nobody's */
    const int64_t a_value[] = {x->value.choice, x->value.n, (int64_t)x->value.time,
                               (int64_t)x->value.until, x->value.offset};
    const int64_t b_value[] = {y->value.choice, y->value.n, (int64_t)y->value.time,
                               (int64_t)y->value.until, y->value.offset};
    for (size_t i = 0; i < ARRAY_LEN(a_value); i++) {
        if (a_value[i] != b_value[i]) {
            return a_value[i] < b_value[i] ? -1 : 1;
        }
    }
    return 0;
}

static int by_schedule(const void *a, const void *b)
{
    const struct visit *x = a, *y = b;
    if (x->count != y->count) {
        return x->count < y->count ? -1 : 1;
    }
    for (unsigned i = 0; i < x->count; i++) {
        int faults = by_site(&x->faults[i], &y->faults[i]);
        if (faults) {
            return faults;
        }
    }
    return 0;
}

static void remember(void *context, const struct fault *faults, unsigned count,
                     const struct result *r)
{
    struct visits *v = context;
    if (v->count == v->capacity) {
        v->capacity = v->capacity ? 2 * v->capacity : 1024;
        v->items = sim_realloc(v->items, v->capacity, sizeof(v->items[0]));
    }
    struct visit *one = &v->items[v->count++];
    memset(one, 0, sizeof(*one));
    one->count = count;
    one->hash = r->history_hash;
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        one->violated |= r->violated[c] > 0 ? CHECK_BIT(c) : 0;
    }
    for (unsigned i = 0; i < count; i++) {
        one->faults[i].site.key = faults[i].site.key;
        one->faults[i].value = faults[i].value;
    }
    qsort(one->faults, count, sizeof(one->faults[0]), by_site);
}

/* ---- brute force ---- */

struct pairs {
    struct fault *items;
    size_t count, capacity;
};

struct brute {
    struct world *world;
    struct grid grid;
    const struct explore_task *task;
    struct pairs closure;
    bool grew;
    const struct fault *now; /* the set that is being played */
    unsigned count;
    unsigned in_grid; /* how many of them had a value of the grid where they were reached */
};

static bool wanted(const struct explore_task *t, const struct rng_key *key)
{
    return (t->kinds >> key->draw & 1) != 0;
}

static void see(void *context, const struct site *site, uint64_t index)
{
    struct brute *b = context;
    struct fault_value values[GRID_VALUES_MAX];
    (void)index;
    if (!wanted(b->task, &site->key)) {
        return;
    }
    size_t n = grid_values(&b->grid, site, world_unsynced(b->world), values);
    for (size_t i = 0; i < n; i++) {
        struct fault f = {.site = *site, .value = values[i]};
        bool known = false;
        for (size_t k = 0; k < b->closure.count && !known; k++) {
            known = by_site(&b->closure.items[k], &f) == 0;
        }
        for (unsigned k = 0; k < b->count; k++) {
            b->in_grid += by_site(&b->now[k], &f) == 0;
        }
        if (!known) {
            if (b->closure.count == b->closure.capacity) {
                b->closure.capacity = b->closure.capacity ? 2 * b->closure.capacity : 256;
                b->closure.items =
                    sim_realloc(b->closure.items, b->closure.capacity, sizeof(struct fault));
            }
            b->closure.items[b->closure.count++] = f;
            b->grew = true;
        }
    }
}

/* Plays a set; true: each of its faults fired, with a value of the grid. */
static bool play_set(struct brute *b, const struct fault *faults, unsigned count, struct result *r)
{
    static const struct fault none[1];
    b->now = faults;
    b->count = count;
    b->in_grid = 0;
    world_play(b->world,
               &(struct play){.seed = 1,
                              .faults = count ? faults : none,
                              .fault_count = count,
                              .no_rates = true,
                              .expectation = b->task->expectation,
                              .observer = {b, see}},
               r);
    bool good = b->in_grid == count;
    for (unsigned i = 0; i < count; i++) {
        good = good && (r->fates[i] == FATE_FIRED || r->fates[i] == FATE_HELD);
    }
    return good;
}

/* All sets of exactly `size` pairs on different sites. */
static void all_sets(struct brute *b, struct fault *set, unsigned have, size_t from, unsigned size,
                     struct visits *out)
{
    if (have == size) {
        struct result r;
        if (play_set(b, set, size, &r) && out) {
            remember(out, set, size, &r);
        }
        result_fini(&r);
        return;
    }
    size_t count = b->closure.count; /* may grow meanwhile: the next round sees those */
    for (size_t i = from; i < count; i++) {
        bool taken = false;
        for (unsigned k = 0; k < have; k++) {
            taken = taken || memcmp(&set[k].site.key, &b->closure.items[i].site.key,
                                    sizeof(set[k].site.key)) == 0;
        }
        if (!taken) {
            set[have] = b->closure.items[i];
            all_sets(b, set, have + 1, i + 1, size, out);
        }
    }
}

static void by_brute_force(const struct explore_task *task, struct visits *out)
{
    struct fault set[3];
    struct brute b = {.task = task};
    enum sim_error e;
    b.world = world_new(task->scenario, task->receiver, stderr, &e);
    ck_assert_ptr_nonnull(b.world);
    grid_init(&b.grid, task->scenario, task->full_power);
    /* The closure: sites reached by any schedule of fewer faults; a last fault needs no more. */
    do {
        b.grew = false;
        for (unsigned size = 0; size < task->faults; size++) {
            all_sets(&b, set, 0, 0, size, NULL);
        }
    } while (b.grew);
    for (unsigned size = 0; size <= task->faults; size++) {
        all_sets(&b, set, 0, 0, size, out);
    }
    free(b.closure.items);
    world_free(b.world);
}

/* ---- the worlds ---- */

struct small_world {
    const char *receiver;
    unsigned faults;
    uint32_t kinds;
    bool full_power;
    const char *scenario;
};

#define KIND(k) (UINT32_C(1) << (k))
#define ONE_MESSAGE                                                                                \
    "receivers: [table, naive, response]\n"                                                        \
    "senders:\n"                                                                                   \
    "  - name: shop\n"                                                                             \
    "    messages: [{id: m-1, entity: e, charge: 1}]\n"                                            \
    "    retry: {after: 1s, limit: 3}\n"
#define TWO_MESSAGES                                                                               \
    "receivers: [table, naive, response]\n"                                                        \
    "senders:\n"                                                                                   \
    "  - name: shop\n"                                                                             \
    "    messages: [{id: m-1, entity: e, charge: 1}, {id: m-2, entity: e, charge: 2}]\n"           \
    "    retry: {after: 1s, limit: 2}\n"
#define TWO_WORKERS ONE_MESSAGE "hosts: {receiver: {workers: 2, step: 1ms}}\n"

#define SWEPT                                                                                      \
    "receivers: [{name: swept, is: table, retention: 300ms, removal: sweep, sweep: 450ms}]\n"      \
    "senders:\n"                                                                                   \
    "  - name: shop\n"                                                                             \
    "    messages: [{id: m-1, entity: e, charge: 1}, {id: m-2, entity: e, charge: 2, at: 2s}]\n"   \
    "    retry: {after: 1s, limit: 2}\n"

static const struct small_world worlds[] = {
    {"table", 2, KIND(FAULT_LOSE) | KIND(FAULT_DUPLICATE) | KIND(FAULT_DELAY), false, ONE_MESSAGE},
    {"naive", 3, KIND(FAULT_LOSE) | KIND(FAULT_DUPLICATE), false, ONE_MESSAGE},
    {"naive", 2, KIND(FAULT_LOSE) | KIND(FAULT_DELAY) | KIND(FAULT_PARTITION), false, TWO_MESSAGES},
    {"table", 2, KIND(FAULT_CRASH), false, ONE_MESSAGE},
    {"table", 1, KIND(FAULT_CRASH), true, ONE_MESSAGE},
    {"response", 2, KIND(FAULT_STORE) | KIND(FAULT_HANDLER), false, ONE_MESSAGE},
    {"table", 2, KIND(FAULT_PAUSE) | KIND(FAULT_DUPLICATE) | KIND(FAULT_CLOCK), false, TWO_WORKERS},
    {"naive", 2, KIND(FAULT_STORE) | KIND(FAULT_LOSE), false, ONE_MESSAGE},
    {"swept", 1, UINT32_MAX, false, SWEPT},
    {"swept", 2, KIND(FAULT_STORE) | KIND(FAULT_STOP) | KIND(FAULT_PAUSE), false, SWEPT},
};

static struct explore_task task_of(const struct small_world *w, struct scenario *s)
{
    rig_scenario(s, "%s", w->scenario);
    size_t receiver = 0;
    while (strcmp(s->receivers[receiver].name, w->receiver) != 0) {
        receiver++;
    }
    /* A violation that nobody can show keeps the walk from ending early. */
    static const struct expectation never = {.given = true, .violates = true};
    return (struct explore_task){.scenario = s,
                                 .receiver = receiver,
                                 .seed = 1,
                                 .faults = w->faults,
                                 .kinds = w->kinds,
                                 .full_power = w->full_power,
                                 .jobs = 1,
                                 .expectation = &never};
}

START_TEST(as_brute_force)
{
    struct scenario s;
    struct visits walked = {0}, brute = {0};
    struct certificate c;
    struct explore_task task = task_of(&worlds[_i], &s);
    task.visited = remember;
    task.context = &walked;
    explore(&task, stderr, &c);
    by_brute_force(&task, &brute);
    qsort(walked.items, walked.count, sizeof(walked.items[0]), by_schedule);
    qsort(brute.items, brute.count, sizeof(brute.items[0]), by_schedule);
    ck_assert_uint_eq(c.schedules, walked.count);
    ck_assert_uint_gt(walked.count, 20);
    for (size_t i = 1; i < walked.count; i++) {
        expect(by_schedule(&walked.items[i - 1], &walked.items[i]) < 0);
    }
    ck_assert_uint_eq(walked.count, brute.count);
    for (size_t i = 0; i < walked.count; i++) {
        expect(by_schedule(&walked.items[i], &brute.items[i]) == 0);
        expect(walked.items[i].violated == brute.items[i].violated);
        expect(walked.items[i].hash == brute.items[i].hash);
    }
    free(walked.items);
    free(brute.items);
    scenario_fini(&s);
}
END_TEST

START_TEST(jobs_change_nothing)
{
    struct scenario s;
    struct certificate one, three;
    struct explore_task task = task_of(&worlds[_i], &s);
    explore(&task, stderr, &one);
    task.jobs = 3;
    explore(&task, stderr, &three);
    ck_assert_uint_eq(one.schedules, three.schedules);
    ck_assert_uint_eq(one.digest, three.digest);
    ck_assert_int_eq(one.found, three.found);
    ck_assert_uint_eq(one.counterexample_faults, three.counterexample_faults);
    ck_assert_mem_eq(one.counterexample, three.counterexample, sizeof(one.counterexample));
    ck_assert_mem_eq(one.judged, three.judged, sizeof(one.judged));
    ck_assert_mem_eq(one.violated, three.violated, sizeof(one.violated));
    ck_assert_mem_eq(one.sites, three.sites, sizeof(one.sites));
    scenario_fini(&s);
}
END_TEST

START_TEST(fewest_faults_first)
{
    struct scenario s;
    struct certificate c;
    struct explore_task task = task_of(&worlds[1], &s);
    static const struct expectation exactly_once;
    task.expectation = &exactly_once;
    explore(&task, stderr, &c);
    ck_assert_int_eq(c.verdict, VERDICT_FAIL);
    ck_assert_int_eq(c.end, EXPLORED_TO_COUNTEREXAMPLE);
    ck_assert_uint_eq(c.counterexample_faults, 1);
    ck_assert(!c.expected);
    ck_assert_uint_eq(c.levels[2].schedules, 0);
    scenario_fini(&s);
}
END_TEST

START_TEST(a_limit_is_told)
{
    struct scenario s;
    struct certificate c;
    struct explore_task task = task_of(&worlds[0], &s);
    static const struct expectation exactly_once;
    task.expectation = &exactly_once;
    task.limit_runs = 10;
    explore(&task, stderr, &c);
    ck_assert_uint_eq(c.schedules, 10);
    ck_assert_int_eq(c.end, EXPLORED_TO_LIMIT);
    ck_assert_int_eq(c.verdict, VERDICT_PASS);
    ck_assert(!c.expected); /* what was not covered is not acquitted */
    ck_assert(c.levels[0].whole);
    ck_assert(!c.levels[1].whole || !c.levels[2].whole);
    scenario_fini(&s);
}
END_TEST

START_TEST(filters_and_kept_faults)
{
    struct scenario s;
    struct certificate c;
    rig_scenario(&s, ONE_MESSAGE "faults: [lose reply m-1/1]\n");
    static const struct explore_filter only[] = {{.kind = FAULT_LOSE, .direction = REPLY}};
    static const struct expectation exactly_once;
    struct explore_task task = {.scenario = &s,
                                .seed = 1,
                                .faults = 2,
                                .kinds = explore_covered_kinds(),
                                .only = only,
                                .only_count = 1,
                                .jobs = 1,
                                .expectation = &exactly_once};
    explore(&task, stderr, &c);
    /* {} {m-1/1} {m-1/1 m-1/2}; without the fault there is no second attempt */
    ck_assert_uint_eq(c.schedules, 3);
    ck_assert_uint_eq(c.sites[FAULT_LOSE], 2);
    task.keep = true;
    explore(&task, stderr, &c);
    /* m-1/1 is held: {} {m-1/2} {m-1/2 m-1/3} */
    ck_assert_uint_eq(c.schedules, 3);
    ck_assert_uint_eq(c.levels[2].schedules, 1);
    ck_assert_uint_eq(c.levels[0].vacuous, 0);
    scenario_fini(&s);
}
END_TEST

START_TEST(nothing_sent_twice_is_vacuous)
{
    struct scenario s;
    struct certificate c;
    static const struct expectation exactly_once;
    rig_scenario(&s, ONE_MESSAGE);
    struct explore_task task = {.scenario = &s,
                                .seed = 1,
                                .faults = 1,
                                .kinds = KIND(FAULT_CLOCK),
                                .jobs = 1,
                                .expectation = &exactly_once};
    explore(&task, stderr, &c);
    ck_assert_int_eq(c.verdict, VERDICT_VACUOUS);
    ck_assert(!c.expected);
    scenario_fini(&s);
}
END_TEST

/* ---- sites ---- */

struct keys {
    struct rng_key *items;
    uint64_t *indices;
    size_t count, capacity;
};

static void keep_key(void *context, const struct site *site, uint64_t index)
{
    struct keys *k = context;
    if (k->count == k->capacity) {
        k->capacity = k->capacity ? 2 * k->capacity : 4096;
        k->items = sim_realloc(k->items, k->capacity, sizeof(k->items[0]));
    }
    expect(k->count == 0 || index > k->indices[0]);
    k->indices[0] = index;
    k->items[k->count++] = site->key;
}

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct rng_key));
}

/* What the rule of exploration and `list sites` rest on. */
START_TEST(a_site_is_evaluated_once)
{
    char *paths[] = {"scenarios"};
    struct scenario_list list;
    ck_assert_int_eq(scenario_list_read(paths, 1, stderr, &list), SIM_OK);
    for (size_t i = 0; i < list.count; i++) {
        for (size_t r = 0; r < list.items[i].receiver_count; r++) {
            enum sim_error e;
            uint64_t last = 0;
            struct keys keys = {.indices = &last};
            struct result result;
            struct world *w = world_new(&list.items[i], r, stderr, &e);
            world_play(w, &(struct play){.seed = 1, .observer = {&keys, keep_key}}, &result);
            qsort(keys.items, keys.count, sizeof(keys.items[0]), by_key);
            for (size_t k = 1; k < keys.count; k++) {
                expect(by_key(&keys.items[k - 1], &keys.items[k]) != 0);
            }
            free(keys.items);
            result_fini(&result);
            world_free(w);
        }
    }
    scenario_list_fini(&list);
}
END_TEST

/* ---- a new site moves no other ---- */

extern const struct receiver receiver_table;

/* `table` with one more step, and so with sites of every kind that were not there before. */
static void one_step_more(struct handling *h)
{
    if (work(h, STEP_ACK, 0) == OK) {
        receiver_table.handle(h);
    }
}

/* Records of a play, without those of the new step. Returns how many. */
static size_t records_without(struct world *w, uint8_t step, struct record **out)
{
    size_t count, kept = 0;
    const struct record *all = world_history(w, &count);
    *out = sim_alloc(count * sizeof(**out));
    for (size_t i = 0; i < count; i++) {
        if (all[i].step != step) {
            (*out)[kept++] = all[i];
        }
    }
    return kept;
}

START_TEST(a_new_site_moves_no_other)
{
    struct receiver more = receiver_table;
    struct scenario s;
    struct record *records[2];
    size_t counts[2];
    more.handle = one_step_more;
    more.steps |= STEP_BIT(STEP_ACK);
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    workload: {count: 200, entities: 5, charge: 1..9}\n"
                     "    in_flight: 3\n"
                     "    retry: {after: 300ms, backoff: full-jitter, limit: 9}\n"
                     "network: {lose: 1/10, duplicate: 1/10}\n"
                     "hosts: {receiver: {pause: 0, store: 1/50}}\n"
                     "faults:\n"
                     "  - crash receiver at shop-7/1 in commit disk 9 (power torn 3)\n"
                     "  - crash receiver at shop-20/1 after commit (power none)\n"
                     "  - crash receiver at shop-30/2 before effect (process)\n"
                     "  - crash receiver at shop-40/1 before commit (process)\n"
                     "  - pause receiver at shop-9/1 before effect for 2s\n");
    for (int i = 0; i < 2; i++) {
        struct result r;
        enum sim_error e;
        s.receivers[0].code = i ? &more : &receiver_table;
        struct world *w = world_new(&s, 0, stderr, &e);
        world_play(w, &(struct play){.seed = 7, .keep_history = true}, &r);
        ck_assert_int_ne(r.verdict, VERDICT_FAIL);
        ck_assert_uint_gt(r.crashes, 0);
        ck_assert_uint_gt(r.fired_count, 20);
        counts[i] = records_without(w, STEP_ACK, &records[i]);
        result_fini(&r);
        world_free(w);
    }
    ck_assert_uint_eq(counts[0], counts[1]);
    ck_assert_mem_eq(records[0], records[1], counts[0] * sizeof(*records[0]));
    free(records[0]);
    free(records[1]);
    scenario_fini(&s);
}
END_TEST

Suite *explore_suite(void)
{
    Suite *s = suite_create("explore");
    TCase *t = tcase_create("explore");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, as_brute_force, 0, (int)ARRAY_LEN(worlds));
    tcase_add_loop_test(t, jobs_change_nothing, 0, (int)ARRAY_LEN(worlds));
    tcase_add_test(t, fewest_faults_first);
    tcase_add_test(t, a_limit_is_told);
    tcase_add_test(t, filters_and_kept_faults);
    tcase_add_test(t, nothing_sent_twice_is_vacuous);
    tcase_add_test(t, a_site_is_evaluated_once);
    tcase_add_test(t, a_new_site_moves_no_other);
    suite_add_tcase(s, t);
    return s;
}
