/* What the receivers of a sweep came to, side by side: one row for each receiver and value.
 *
 * Owns: sums. Borrows: scenarios and receivers of the results, until sweep_fini.
 */
#ifndef REPORTS_SWEEP_H
#define REPORTS_SWEEP_H

#include "sim/result.h"

struct sweep_row {
    const struct scenario *scenario;
    const struct scenario_receiver *receiver;
    uint64_t runs, unexpected;
    uint64_t verdicts[VERDICT_ERROR + 1];
    uint64_t operations, with_effect, doubled; /* summed over runs */
    uint64_t beyond;                           /* duplicates that were applied again, at any age */
    uint64_t late;                             /* those of them that the contract calls late */
    bool has_records;
    uint64_t records, records_most; /* at the end, at any time; of the run with the most */
    uint64_t bytes;                 /* of the database at the end; of the run with the most */
};

/* Zeroed: empty. Rows in the order of the runs. */
struct sweep_table {
    struct sweep_row *rows;
    size_t count;
};

/* A result of a receiver that no sweep made is passed over. Results of one receiver come together.
 */
void sweep_add(struct sweep_table *t, const struct result *r);
void sweep_fini(struct sweep_table *t);

/* How many rows from `first` on belong to the same scenario. */
size_t sweep_group(const struct sweep_table *t, size_t first);
/* The setting that is swept, its value as text: "5m". */
const struct setting *sweep_setting(const struct sweep_row *row);
const char *sweep_value(const struct sweep_row *row);
/* Double side-effect violation rate: operations with more than one effect, of those that have one,
 * in hundredths of a percent. */
uint64_t sweep_dsevr(const struct sweep_row *row);
/* "pass", or of several runs "pass 97, fail 3". Returns out. */
#define SWEEP_VERDICTS 128
const char *sweep_verdicts(const struct sweep_row *row, char out[SWEEP_VERDICTS]);

/* As columns for a person; for sweep.csv. */
void sweep_text(FILE *out, const struct sweep_table *t);
void sweep_csv(FILE *out, const struct sweep_table *t);

#endif
