/* Results and verdicts as CSV (RFC 4180).
 *
 * In: results, sums. Out: rows with CRLF ends. Names from scenario files are data, also to whoever
 * opens the file in a spreadsheet: a field that would be taken for a formula begins with an
 * apostrophe.
 */
#include "reports/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void csv_text(FILE *out, const char *text)
{
    bool formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
    bool quoted = text[strcspn(text, ",\"\r\n")] != '\0' || text[0] == ' ';
    if (quoted) {
        putc('"', out);
    }
    if (formula) {
        putc('\'', out);
    }
    for (const char *s = text; *s != '\0'; s++) {
        if (*s == '"') {
            putc('"', out);
        }
        putc(*s, out);
    }
    if (quoted) {
        putc('"', out);
    }
}

/* X(column, value): the numbers of a run. */
#define NUMBERS(X)                                                                                 \
    X("operations", r->operations)                                                                 \
    X("attempts", r->attempts)                                                                     \
    X("deliveries", r->deliveries)                                                                 \
    X("duplicates", r->duplicates)                                                                 \
    X("handlings", r->handlings)                                                                   \
    X("effects", r->effects)                                                                       \
    X("external_effects", r->external)                                                             \
    X("operations_with_effect", r->with_effect)                                                    \
    X("operations_doubled", r->doubled)                                                            \
    X("lost", r->lost)                                                                             \
    X("copies", r->copies)                                                                         \
    X("crashes", r->crashes)                                                                       \
    X("restarts", r->restarts)                                                                     \
    X("gave_up", r->gave_up)                                                                       \
    X("sql_fresh", r->costs.sql_fresh)                                                             \
    X("handlings_fresh", r->costs.handlings_fresh)                                                 \
    X("sql_duplicate", r->costs.sql_duplicate)                                                     \
    X("handlings_duplicate", r->costs.handlings_duplicate)                                         \
    X("latency_sum_ns", r->costs.latency_sum)                                                      \
    X("latency_max_ns", r->costs.latency_max)                                                      \
    X("latency_count", r->costs.latency_count)                                                     \
    X("disk_writes", r->costs.disk_writes)                                                         \
    X("disk_syncs", r->costs.disk_syncs)                                                           \
    X("disk_bytes", r->costs.disk_bytes)                                                           \
    X("database_bytes", r->costs.database_bytes)                                                   \
    X("late", r->late)                                                                             \
    X("records", r->records)                                                                       \
    X("records_most", r->records_most)                                                             \
    X("premature_expirations", r->premature)                                                       \
    X("follow_ons", r->follow_ons)                                                                 \
    X("follow_deliveries", r->follow_deliveries)                                                   \
    X("follow_effects", r->follow_effects)

void csv_header(FILE *out)
{
    fputs("scenario,file,receiver,seed,verdict,expected,reason,violated", out);
#define X(column, value) fputs("," column, out);
    NUMBERS(X)
#undef X
    fputs(",history,epoch,repeat\r\n", out);
}

void csv_result(FILE *out, const struct result *r)
{
    char violated[FORMAT_SUMMARY];
    csv_text(out, r->scenario->name);
    putc(',', out);
    csv_text(out, r->scenario->file);
    putc(',', out);
    csv_text(out, r->receiver->name);
    fprintf(out, ",%" PRIu64 ",%s,%s,", r->seed, verdict_text(r->verdict),
            r->expected ? "true" : "false");
    csv_text(out, r->reason);
    putc(',', out);
    csv_text(out, format_violated(r, violated));
#define X(column, value) fprintf(out, ",%" PRIu64, (uint64_t)(value));
    NUMBERS(X)
#undef X
    fprintf(out, ",%016" PRIx64 ",%d,", r->history_hash, HISTORY_EPOCH);
    char *repeat = format_repeat(r);
    csv_text(out, repeat);
    free(repeat);
    fputs("\r\n", out);
}

void csv_verdicts(FILE *out, const struct comparison *c)
{
    fputs("scenario,file,receiver,runs", out);
    for (unsigned v = 0; v <= VERDICT_ERROR; v++) {
        fprintf(out, ",%s", verdict_text((enum verdict_kind)v));
    }
    fputs(",unexpected,violated\r\n", out);
    for (size_t i = 0; i < c->cell_count; i++) {
        const struct cell *cell = &c->cells[i];
        csv_text(out, cell->scenario->name);
        putc(',', out);
        csv_text(out, cell->scenario->file);
        putc(',', out);
        csv_text(out, cell->receiver);
        fprintf(out, ",%" PRIu64, cell->sums.runs);
        for (unsigned v = 0; v <= VERDICT_ERROR; v++) {
            fprintf(out, ",%" PRIu64, cell->sums.verdicts[v]);
        }
        fprintf(out, ",%" PRIu64 ",", cell->sums.unexpected);
        const char *separator = "";
        for (unsigned k = 0; k < CHECK_COUNT; k++) {
            if (cell->sums.violating[k] > 0) {
                fprintf(out, "%s%s", separator, check_text((enum check)k));
                separator = " ";
            }
        }
        fputs("\r\n", out);
    }
}
