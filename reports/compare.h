/* Receivers side by side: what many runs came to, written as tables and plots into one directory.
 *
 * Owns: sums by scenario and receiver, and the open results.csv. Borrows: scenarios and receivers
 * of the results, until comparison_free.
 */
#ifndef REPORTS_COMPARE_H
#define REPORTS_COMPARE_H

#include "reports/format.h"
#include "reports/sweep.h"
#include "sim/output.h"

/* What is added up over runs. */
struct sums {
    uint64_t runs, unexpected;
    uint64_t verdicts[VERDICT_ERROR + 1];
    uint64_t violating[CHECK_COUNT]; /* runs that violate it */
    uint64_t duplicates, beyond_one, late, handlings;
    uint64_t records, counted; /* at the end, summed over the runs that have a table of records */
    struct costs costs;
};

/* One scenario on one receiver. */
struct cell {
    const struct scenario *scenario;
    const char *receiver;
    struct sums sums;
    char *violations; /* sentences of the first run that had some, one a line; or NULL */
    char *repeat;     /* of that run or the first unexpected one; or NULL */
    bool repeats_unexpected;
};

struct column {
    const char *receiver;
    struct sums sums;
};

struct comparison {
    char *directory;
    struct output results; /* results.csv, a row for each run */
    struct cell *cells;    /* in the order of the runs */
    size_t cell_count;
    struct column *columns; /* by receiver, in the order of the runs */
    size_t column_count;
    struct sweep_table sweeps;
    uint64_t first_seed, last_seed;
};

/* Makes the directory and begins results.csv. Trouble is said to standard error. */
enum sim_error comparison_open(struct comparison *c, const char *directory, uint64_t first_seed,
                               uint64_t last_seed);
void comparison_add(struct comparison *c, const struct result *r);
/* Writes everything and closes. quiet: does not say that plots are skipped. */
enum sim_error comparison_close(struct comparison *c, const struct tally *t, bool quiet);
void comparison_free(struct comparison *c);

/* ---- its parts ---- */

void csv_header(FILE *out);
void csv_result(FILE *out, const struct result *r);
void csv_verdicts(FILE *out, const struct comparison *c);
void summary_print(FILE *out, const struct comparison *c, const struct tally *t, bool plotted);
/* A field by RFC 4180; one that a spreadsheet would take for a formula begins with an apostrophe.
 */
void csv_text(FILE *out, const char *text);
/* Draws duplicates.svg and duplicates.png in the comparison's directory by gnuplot. *drawn: false
 * where there is no gnuplot. */
enum sim_error plot_write(const struct comparison *c, bool *drawn);
/* The same for each scenario with a sweep: sweep-1.svg and sweep-1.png are those of the first one.
 * Those of an earlier comparison go. */
enum sim_error plot_sweeps(const struct comparison *c, bool *drawn);
/* Their tables as Markdown, with the plots where they were drawn. */
void summary_sweeps(FILE *out, const struct sweep_table *t, bool plotted);
/* A name as text of Markdown. */
void summary_text(FILE *out, const char *s);
/* "2.35", of a / b; "-" where b is 0. Returns out. */
#define QUOTIENT_TEXT 32
const char *quotient(uint64_t a, uint64_t b, char out[QUOTIENT_TEXT]);

#endif
