/* Measuring for `make bench`: rounds that alternate, medians, ratios within one run. */
#ifndef BENCH_H
#define BENCH_H

#include "sim/base.h"

/* CPU time of this process, ns. */
uint64_t bench_now(void);

/* Runs each of `count` functions once in every round, in turn, and leaves the median ns of each in
 * median[]. A function returns how many items it did; its figure is ns an item. */
struct bench_side {
    const char *name;
    uint64_t (*run)(void *context);
    void *context;
};
void bench_rounds(const struct bench_side *sides, size_t count, unsigned rounds, double *median);

/* Sorts the figures. */
double bench_median(double *figures, size_t count);

/* One line: name, figure with unit, and against what `design.md` asks to hold and aims at. */
void bench_line(const char *what, const char *figure, const char *hold, const char *aim);

/* The suites. Each prints its lines. */
void bench_messages(void);
void bench_schedules(void);
void bench_engine(void);
void bench_growth(void);
void bench_jobs(void);

#endif
