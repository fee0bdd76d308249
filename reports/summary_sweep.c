/* The sweeps of a comparison as Markdown: for each scenario a table and its plot. */
#include "reports/compare.h"

#include <inttypes.h>

static void put_row(FILE *out, const struct sweep_row *row)
{
    char verdicts[SWEEP_VERDICTS];
    uint64_t part = sweep_dsevr(row);
    fprintf(out, "| %s | ", sweep_value(row));
    summary_text(out, row->receiver->swept);
    fprintf(out, " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 ".%02" PRIu64 "%% |", row->beyond,
            row->late, part / 100, part % 100);
    if (row->has_records) {
        fprintf(out, " %" PRIu64 " | %" PRIu64 " |", row->records, row->records_most);
    } else {
        fputs(" - | - |", out);
    }
    fprintf(out, " %" PRIu64 " | %s%s |\n", row->bytes, sweep_verdicts(row, verdicts),
            row->unexpected > 0 ? " **not expected**" : "");
}

void summary_sweeps(FILE *out, const struct sweep_table *t, bool plotted)
{
    size_t number = 1;
    fputs(t->count > 0 ? "\n## Sweeps\n" : "", out);
    for (size_t i = 0, n; i < t->count; i += n, number++) {
        n = sweep_group(t, i);
        fputs("\n### ", out);
        summary_text(out, t->rows[i].scenario->name);
        fprintf(out,
                ": %s\n\n| value | receiver | duplicates applied again | of them late | DSEVR |"
                " records at the end | most records | database, bytes | verdict |\n"
                "|---|---|---|---|---|---|---|---|---|\n",
                sweep_setting(&t->rows[i])->name);
        for (size_t k = i; k < i + n; k++) {
            put_row(out, &t->rows[k]);
        }
        if (plotted) {
            fprintf(out,
                    "\n![Duplicates applied again and bytes kept, by the value of %s]"
                    "(sweep-%zu.svg)\n",
                    sweep_setting(&t->rows[i])->name, number);
        }
    }
}
