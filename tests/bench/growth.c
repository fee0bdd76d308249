/* Cost and memory of a message as messages add up: sequential ids, all kept. BENCH_FULL=1 goes to
 * the design's ten million (about a minute). */
#include "tests/bench/bench.h"
#include "tests/bench/rig.h"

#include <stdlib.h>
#include <sys/resource.h>

static double ns_a_message(uint64_t count, unsigned rounds)
{
    char text[512];
    snprintf(text, sizeof(text),
             "name: bench\nreceivers: [table]\nsenders:\n  - name: shop\n"
             "    workload: {count: %llu, entities: 100, charge: 100}\n    retry: {after: 1s}\n",
             (unsigned long long)count);
    struct scenario s;
    rig_scenario(text, &s);
    struct world *w = rig_world(&s, 0);
    uint64_t begin = bench_now();
    for (unsigned i = 0; i < rounds; i++) {
        rig_play(w, true);
    }
    double ns = (double)(bench_now() - begin) / ((double)count * rounds);
    world_free(w);
    scenario_fini(&s);
    return ns;
}

static long resident_kib(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

void bench_growth(void)
{
    bool full = getenv("BENCH_FULL") != NULL;
    uint64_t many = full ? 10000000 : 1000000;
    double few_ns = ns_a_message(10000, 20);
    long before = resident_kib();
    double many_ns = ns_a_message(many, 1);
    long after = resident_kib();
    char figure[32], what[96];
    snprintf(what, sizeof(what), "cost of a message at %llu messages against 10,000",
             (unsigned long long)many);
    snprintf(figure, sizeof(figure), "%.2f x", many_ns / few_ns);
    bench_line(what, figure, "1.3 x", "1.1 x");
    printf("    peak memory grew by %.1f bytes an id kept (database on the simulated disk)\n",
           (double)(after - before) * 1024 / (double)many);
}
