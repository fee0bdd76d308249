/* A world that has played is like a new one: nothing of one run is left in the next.
 *
 * Pinned, with 1 and 2 workers, in rollback and in WAL mode: a run has the same history hash in a
 * new world, after a thousand other runs, after runs with none, one and many commits, whether or
 * not the history is kept, and among runs of another world in the same process. Connections put
 * back by the image and connections opened anew agree on the history, also where the host dies at
 * any operation on its disk.
 *
 * Left open: two worlds that are halfway through their runs at the same time (there is no such
 * call).
 */
#include "tests/world_rig.h"

#include <stdlib.h>

static const struct reset_setting {
    const char *receiver, *journal, *synchronous;
    unsigned workers;
} settings[] = {
    {"table", "truncate", "full", 1},    {"table", "truncate", "full", 2},
    {"table", "wal", "full", 1},         {"table", "wal", "full", 2},
    {"entity", "truncate", "full", 2},   {"response", "wal", "normal", 3},
    {"response", "delete", "normal", 2}, {"naive", "persist", "full", 1},
};

#define CRASHES "crash: 1/300, power: 1/200,"

/* Something of everything. */
static void busy_scenario(struct scenario *s, const struct reset_setting *c, const char *crashes)
{
    rig_scenario(s,
                 "receivers: [table, entity, response, naive]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    workload: {count: 12, entities: 3, skew: 1.1, charge: 1..500}\n"
                 "    in_flight: 2\n"
                 "    retry: {after: 400ms, backoff: full-jitter, limit: 6}\n"
                 "  - name: till\n"
                 "    messages:\n"
                 "      - {id: x-1, entity: shop-entity-1, charge: 5}\n"
                 "      - {id: x-2, entity: box, charge: 6, at: 1200ms}\n"
                 "    retry: {after: 300ms, backoff: decorrelated-jitter, limit: 6}\n"
                 "network: {delay: 5ms..300ms, lose: 1/10, duplicate: 1/8}\n"
                 "hosts:\n"
                 "  receiver: {workers: %u, step: 0ms..3ms, %s"
                 " pause: 1/50, store: 1/60, handler: 1/80, pause_for: 0ms..100ms}\n"
                 "database: {journal: %s, synchronous: %s}\n",
                 c->workers, crashes, c->journal, c->synchronous);
}

static uint64_t hash_with(struct world *w, const struct play *p)
{
    struct result r;
    world_play(w, p, &r);
    uint64_t hash = r.history_hash;
    expect(r.error == SIM_OK && r.history_count > 10);
    result_fini(&r);
    return hash;
}

static uint64_t hash_of(struct world *w, uint64_t seed)
{
    return hash_with(w, &(struct play){.seed = seed});
}

static uint64_t hash_alone(const struct scenario *s, const char *receiver, uint64_t seed)
{
    struct world *w = rig_world(s, receiver);
    uint64_t hash = hash_of(w, seed);
    world_free(w);
    return hash;
}

START_TEST(after_a_thousand_other_runs)
{
    const struct reset_setting *c = &settings[_i];
    struct scenario s;
    busy_scenario(&s, c, CRASHES);
    uint64_t alone[10];
    for (uint64_t seed = 0; seed < 10; seed++) {
        alone[seed] = hash_alone(&s, c->receiver, seed);
        for (uint64_t other = 0; other < seed; other++) {
            ck_assert_uint_ne(alone[seed], alone[other]);
        }
    }
    struct world *w = rig_world(&s, c->receiver);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t hash = hash_of(w, i);
        expect(i >= 10 || hash == alone[i]);
    }
    for (uint64_t i = 0; i < 10; i++) {
        ck_assert_uint_eq(hash_of(w, i), alone[i]);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(kept_or_not_the_history_is_the_same)
{
    const struct reset_setting *c = &settings[_i];
    struct scenario s;
    busy_scenario(&s, c, CRASHES);
    struct world *w = rig_world(&s, c->receiver);
    for (uint64_t seed = 1; seed < 50; seed++) {
        uint64_t hash = hash_of(w, seed);
        expect(hash_with(w, &(struct play){.seed = seed, .keep_history = true}) == hash);
        expect(hash_of(w, seed) == hash);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Runs that end before anything was committed, after one commit, after many: the way to the
 * receiver is cut from some moment on, and the sender gives up. */
START_TEST(after_runs_with_no_one_and_many_commits)
{
    const struct reset_setting *c = &settings[_i];
    struct scenario s;
    busy_scenario(&s, c, CRASHES);
    struct world *w = rig_world(&s, c->receiver);
    uint64_t alone = hash_alone(&s, c->receiver, 7);
    unsigned none = 0, one = 0, many = 0;
    for (unsigned i = 0; i < 300; i++) {
        unsigned ms = 1000 + i % 60 * 5;
        struct fault cuts[] = {rig_fault(&s, "partition shop receiver %ums..100h", ms),
                               rig_fault(&s, "partition till receiver %ums..100h", ms)};
        struct result r = rig_play(w, i / 60, cuts, 2);
        none += r.effects == 0;
        one += r.effects == 1;
        many += r.effects > 1;
        result_fini(&r);
        expect(hash_of(w, 7) == alone);
    }
    ck_assert(none > 0 && one > 0 && many > 0);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Without random crashes: a process opened anew repairs its database before its first handling, so
 * what strikes in the middle of a repair does not strike both alike. */
START_TEST(fresh_and_kept_connections_agree)
{
    const struct reset_setting *c = &settings[_i];
    struct scenario s;
    busy_scenario(&s, c, "");
    struct world *w = rig_world(&s, c->receiver);
    for (uint64_t seed = 1; seed < 60; seed++) {
        uint64_t kept = hash_of(w, seed);
        expect(hash_with(w, &(struct play){.seed = seed, .reopen = true}) == kept);
        expect(hash_of(w, seed) == kept);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Runs that leave databases of the same age with other contents: whoever reads the ledger must not
 * believe pages of the run before. */
START_TEST(each_audit_reads_anew)
{
    const struct reset_setting *c = &settings[_i];
    struct scenario s;
    rig_scenario(&s,
                 "receivers: [table, entity, response, naive]\n"
                 "senders:\n"
                 "  - {name: shop, workload: {count: 4, entities: 6, charge: 1..9999}}\n"
                 "database: {journal: %s, synchronous: %s}\n",
                 c->journal, c->synchronous);
    struct world *w = rig_world(&s, c->receiver);
    for (uint64_t seed = 1; seed < 100; seed++) {
        struct result r = rig_play(w, seed, NULL, 0);
        if (r.verdict != VERDICT_VACUOUS || !rig_exactly_once(&r)) {
            ck_abort_msg("%s", rig_say(&r, NULL));
        }
        result_fini(&r);
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* Every operation on the disk in a run without other faults, with each sort of crash. */
START_TEST(fresh_and_kept_connections_agree_after_any_crash)
{
    const struct reset_setting *c = &settings[_i];
    struct scenario s;
    rig_scenario(&s,
                 "receivers: [table, entity, response, naive]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    workload: {count: 3, entities: 2}\n"
                 "    in_flight: 2\n"
                 "hosts: {receiver: {workers: %u}}\n"
                 "database: {journal: %s, synchronous: %s}\n",
                 c->workers, c->journal, c->synchronous);
    struct world *w = rig_world(&s, c->receiver);
    uint64_t alone = hash_alone(&s, c->receiver, 1);
    struct rig_sites sites = {.kind = FAULT_CRASH};
    struct result r = rig_collect(w, 1, NULL, 0, &sites);
    ck_assert_uint_eq(r.history_hash, alone); /* who is watched behaves the same */
    result_fini(&r);
    unsigned inside = 0;
    for (size_t i = 0; i < sites.count; i++) {
        inside += sites.list[i].key.moment == INSIDE;
        for (size_t v = 0; v < rig_crash_values(3); v++) {
            struct fault f = rig_crash_at(&sites.list[i], v, 3);
            struct play p = {.seed = 1, .faults = &f, .fault_count = 1};
            uint64_t kept = hash_with(w, &p);
            expect(kept != alone);
            p.reopen = true;
            expect(hash_with(w, &p) == kept);
            expect(hash_of(w, 1) == alone);
        }
    }
    ck_assert_uint_ge(inside, 9); /* three commits */
    rig_sites_fini(&sites);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(worlds_do_not_disturb_each_other)
{
    enum { WORLDS = ARRAY_LEN(settings), SEEDS = 12 };
    struct scenario s[WORLDS];
    struct world *w[WORLDS];
    uint64_t alone[WORLDS][SEEDS];
    for (size_t i = 0; i < WORLDS; i++) {
        busy_scenario(&s[i], &settings[i], CRASHES);
        w[i] = rig_world(&s[i], settings[i].receiver);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            alone[i][seed] = hash_of(w[i], seed);
        }
        world_free(w[i]);
    }
    for (size_t i = 0; i < WORLDS; i++) {
        w[i] = rig_world(&s[i], settings[i].receiver);
    }
    for (uint64_t n = 0; n < SEEDS; n++) {
        for (size_t i = 0; i < WORLDS; i++) {
            uint64_t seed = (n + i) % SEEDS;
            ck_assert_uint_eq(hash_of(w[i], seed), alone[i][seed]);
        }
    }
    /* One goes, the others stay. */
    world_free(w[0]);
    for (size_t i = 1; i < WORLDS; i++) {
        ck_assert_uint_eq(hash_of(w[i], 1), alone[i][1]);
        world_free(w[i]);
    }
    for (size_t i = 0; i < WORLDS; i++) {
        scenario_fini(&s[i]);
    }
}
END_TEST

Suite *reset_suite(void)
{
    const int all = ARRAY_LEN(settings);
    Suite *s = suite_create("reset");
    TCase *t = tcase_create("reset");
    tcase_add_loop_test(t, after_a_thousand_other_runs, 0, all);
    tcase_add_loop_test(t, kept_or_not_the_history_is_the_same, 0, all);
    tcase_add_loop_test(t, after_runs_with_no_one_and_many_commits, 0, all);
    tcase_add_loop_test(t, fresh_and_kept_connections_agree, 0, all);
    tcase_add_loop_test(t, fresh_and_kept_connections_agree_after_any_crash, 0, all);
    tcase_add_loop_test(t, each_audit_reads_anew, 0, all);
    tcase_add_test(t, worlds_do_not_disturb_each_other);
    suite_add_tcase(s, t);
    return s;
}
