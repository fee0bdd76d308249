/* Two processes against one: the same runs, twice as many, on two cores. Wall time, since that is
 * what a second core is for. */
#include "tests/bench/bench.h"
#include "tests/bench/rig.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char scenario[] = "name: bench\n"
                               "receivers: [table]\n"
                               "senders:\n"
                               "  - name: shop\n"
                               "    workload: {count: 200000, entities: 100, charge: 100}\n"
                               "    retry: {after: 1s}\n";

static uint64_t wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SIM_S + (uint64_t)t.tv_nsec;
}

static uint64_t with_processes(unsigned count)
{
    uint64_t begin = wall();
    for (unsigned i = 0; i < count; i++) {
        pid_t child = fork();
        must(child >= 0);
        if (child == 0) {
            struct scenario s;
            rig_scenario(scenario, &s);
            rig_play(rig_world(&s, 0), true);
            _exit(0);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        wait(NULL);
    }
    return wall() - begin;
}

void bench_jobs(void)
{
    double ratios[5];
    for (size_t i = 0; i < ARRAY_LEN(ratios); i++) {
        ratios[i] = 2.0 * (double)with_processes(1) / (double)with_processes(2);
    }
    char figure[32];
    snprintf(figure, sizeof(figure), "%.2f x", bench_median(ratios, ARRAY_LEN(ratios)));
    bench_line("2 processes against 1, wall time, median of 5", figure, "1.9 x", "1.97 x");
}
