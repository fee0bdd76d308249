/* Schedules a second: three fresh and three duplicate deliveries, all checks, one world reused. */
#include "tests/bench/bench.h"
#include "tests/bench/rig.h"

#include "sim/disk.h"
#include "sim/explore.h"

#define RUNS 4000

static const char scenario[] = "name: bench\n"
                               "receivers: [table]\n"
                               "senders:\n"
                               "  - name: shop\n"
                               "    messages:\n"
                               "      - {id: m-1, entity: order-1, charge: 100}\n"
                               "      - {id: m-2, entity: order-2, charge: 100}\n"
                               "      - {id: m-3, entity: order-3, charge: 100}\n"
                               "    retry: {after: 1s}\n"
                               "faults:\n"
                               "  - lose reply m-1/1\n"
                               "  - lose reply m-2/1\n"
                               "  - lose reply m-3/1\n";

static const char story[] = "name: lost-reply\n"
                            "receivers: [table]\n"
                            "senders:\n"
                            "  - name: shop\n"
                            "    messages: [{id: m-77, entity: order-1042, charge: 4200}]\n"
                            "    retry: {after: 1s}\n"
                            "faults: [lose reply m-77/1]\n";

/* The same six deliveries as bare SQL on the simulated disk: what a schedule cannot beat. */
static uint64_t bare(void *context)
{
    (void)context;
    struct disk *d = disk_new("bench-bare", NULL);
    struct bare b;
    bare_open(&b, disk_vfs(d), 3);
    for (int i = 0; i < RUNS; i++) {
        bare_fresh(&b, 3);
        bare_duplicate(&b, 3);
    }
    bare_close(&b);
    disk_free(d);
    return RUNS;
}

static uint64_t play(void *context)
{
    for (int i = 0; i < RUNS; i++) {
        rig_play(context, false);
    }
    return RUNS;
}

/* Every schedule with at most two faults of the seed's story, by one process. */
static void bench_exploration(const struct scenario *s)
{
    static const struct expectation exactly_once;
    struct certificate c;
    struct explore_task task = {.scenario = s,
                                .seed = 1,
                                .faults = 2,
                                .kinds = explore_covered_kinds(),
                                .jobs = 1,
                                .expectation = &exactly_once};
    double seconds[5];
    for (size_t i = 0; i < ARRAY_LEN(seconds); i++) {
        uint64_t begin = bench_now();
        explore(&task, stderr, &c);
        must(c.verdict == VERDICT_PASS);
        seconds[i] = (double)(bench_now() - begin) / 1e9;
    }
    char figure[32];
    snprintf(figure, sizeof(figure), "%.2f s", bench_median(seconds, ARRAY_LEN(seconds)));
    bench_line("all schedules with at most 2 faults of the seed's story", figure, "1 s", "0.2 s");
    printf("    %llu schedules\n", (unsigned long long)c.schedules);
}

void bench_schedules(void)
{
    struct scenario s, t;
    rig_scenario(scenario, &s);
    rig_scenario(story, &t);
    struct world *three = rig_world(&s, 0), *one = rig_world(&t, 0);
    const struct bench_side sides[] = {
        {"three", play, three}, {"one", play, one}, {"bare", bare, NULL}};
    double ns[3];
    bench_rounds(sides, 3, 9, ns);
    char figure[32];
    snprintf(figure, sizeof(figure), "%.0f", 1e9 / ns[0]);
    bench_line("schedules/s and core: 3 fresh, 3 duplicate deliveries, full checks", figure,
               "50,000", "90,000");
    snprintf(figure, sizeof(figure), "%.2f", ns[2] / ns[0]);
    bench_line("the same against the bare SQL of its six deliveries", figure, "0.55", "0.80");
    printf("    us a schedule: three messages %.1f (bare SQL %.1f), the seed's story %.1f\n",
           ns[0] / 1e3, ns[2] / 1e3, ns[1] / 1e3);
    bench_exploration(&t);
    world_free(three);
    world_free(one);
    scenario_fini(&s);
    scenario_fini(&t);
}
