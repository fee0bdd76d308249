/* `make bench`: the lines of the design's table of numbers that exist so far, each as a ratio or a
 * figure from this run on this machine. Nothing here is a test: nothing fails for being slow. */
#include "tests/bench/bench.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>

uint64_t bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * SIM_S + (uint64_t)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *figures, size_t count)
{
    qsort(figures, count, sizeof(*figures), by_value);
    return figures[count / 2];
}

void bench_rounds(const struct bench_side *sides, size_t count, unsigned rounds, double *median)
{
    double *figures = sim_alloc(count * rounds * sizeof(*figures));
    for (unsigned r = 0; r < rounds; r++) {
        for (size_t i = 0; i < count; i++) {
            uint64_t begin = bench_now();
            uint64_t items = sides[i].run(sides[i].context);
            figures[i * rounds + r] = (double)(bench_now() - begin) / (double)items;
        }
    }
    for (size_t i = 0; i < count; i++) {
        median[i] = bench_median(&figures[i * rounds], rounds);
    }
    free(figures);
}

void bench_line(const char *what, const char *figure, const char *hold, const char *aim)
{
    printf("%-66s %14s   hold %-8s aim %s\n", what, figure, hold, aim);
    fflush(stdout);
}

int main(void)
{
    printf("SQLite %s, single thread, memory statistics off; medians of CPU time\n\n",
           sqlite3_libversion());
    bench_messages();
    bench_schedules();
    bench_engine();
    bench_growth();
    bench_jobs();
    return 0;
}
