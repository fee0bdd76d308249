/* A sweep's table: what each value of the setting came to.
 *
 * In: results as they come. Out: for a person
 *
 *     window-sweep: window
 *     value  receiver  applied again  late  DSEVR   records  bytes    verdict
 *     1m     fifo                411   330  20.55%  -        143360   fail
 *
 * and the same as CSV. With several seeds counts are summed, sizes are those of the largest run.
 */
#include "reports/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/compare.h"
#include "sim/scenario_settings.h"

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void sweep_add(struct sweep_table *t, const struct result *r)
{
    if (r->receiver->swept == NULL) {
        return;
    }
    struct sweep_row *row = t->count > 0 ? &t->rows[t->count - 1] : NULL;
    if (row == NULL || row->receiver != r->receiver) {
        t->rows = sim_realloc(t->rows, t->count + 1, sizeof(*t->rows));
        row = &t->rows[t->count++];
        *row = (struct sweep_row){.scenario = r->scenario, .receiver = r->receiver};
    }
    row->runs++;
    row->unexpected += !r->expected;
    row->verdicts[r->verdict]++;
    row->operations += r->operations;
    row->with_effect += r->with_effect;
    row->doubled += r->doubled;
    row->beyond += r->beyond;
    row->late += r->late;
    row->has_records = row->has_records || r->has_records;
    row->records = most(row->records, r->records);
    row->records_most = most(row->records_most, r->records_most);
    row->bytes = most(row->bytes, r->costs.database_bytes);
}

void sweep_fini(struct sweep_table *t)
{
    free(t->rows);
    *t = (struct sweep_table){0};
}

size_t sweep_group(const struct sweep_table *t, size_t first)
{
    size_t n = first;
    while (n < t->count && t->rows[n].scenario == t->rows[first].scenario) {
        n++;
    }
    return n - first;
}

const struct setting *sweep_setting(const struct sweep_row *row)
{
    return &row->receiver->code->settings[row->receiver->swept_setting];
}

const char *sweep_value(const struct sweep_row *row)
{
    return row->receiver->name + strlen(row->receiver->swept) + 1;
}

uint64_t sweep_dsevr(const struct sweep_row *row)
{
    return row->with_effect == 0 ? 0 : row->doubled * 10000 / row->with_effect;
}

const char *sweep_verdicts(const struct sweep_row *row, char out[SWEEP_VERDICTS])
{
    size_t n = 0;
    for (unsigned v = 0; v <= VERDICT_ERROR; v++) {
        const char *word = verdict_text((enum verdict_kind)v);
        if (row->verdicts[v] == row->runs) {
            snprintf(out, SWEEP_VERDICTS, "%s", word);
            return out;
        }
        if (row->verdicts[v] > 0) {
            n += (size_t)snprintf(out + n, SWEEP_VERDICTS - n, "%s%s %" PRIu64, n > 0 ? ", " : "",
                                  word, row->verdicts[v]);
        }
    }
    return out;
}

/* ---- for a person ---- */

enum { VALUE, RECEIVER, BEYOND, LATE, DSEVR, RECORDS, BYTES, VERDICT, COLUMNS };
static const char *const heads[COLUMNS] = {"value", "receiver", "applied again", "late",
                                           "DSEVR", "records",  "bytes",         "verdict"};

struct line {
    char text[COLUMNS][NAME_TEXT];
};

static void fill(const struct sweep_row *row, struct line *l)
{
    char verdicts[SWEEP_VERDICTS];
    uint64_t part = sweep_dsevr(row);
    snprintf(l->text[VALUE], NAME_TEXT, "%s", sweep_value(row));
    name_text(row->receiver->swept, l->text[RECEIVER], NAME_TEXT);
    snprintf(l->text[BEYOND], NAME_TEXT, "%" PRIu64, row->beyond);
    snprintf(l->text[LATE], NAME_TEXT, "%" PRIu64, row->late);
    snprintf(l->text[DSEVR], NAME_TEXT, "%" PRIu64 ".%02" PRIu64 "%%", part / 100, part % 100);
    snprintf(l->text[RECORDS], NAME_TEXT, row->has_records ? "%" PRIu64 : "-", row->records_most);
    snprintf(l->text[BYTES], NAME_TEXT, "%" PRIu64, row->bytes);
    snprintf(l->text[VERDICT], NAME_TEXT, "%s%s", sweep_verdicts(row, verdicts),
             row->unexpected > 0 ? ", NOT EXPECTED" : "");
}

static void put_line(FILE *out, const struct line *l, const int widths[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++) {
        bool number = i >= BEYOND && i <= BYTES;
        if (i + 1 == COLUMNS) {
            fprintf(out, "%s\n", l->text[i]);
        } else {
            fprintf(out, number ? "%*s  " : "%-*s  ", widths[i], l->text[i]);
        }
    }
}

static void put_group(FILE *out, const struct sweep_row *rows, size_t count)
{
    char name[NAME_TEXT];
    int widths[COLUMNS];
    struct line *lines = sim_zalloc(count + 1, sizeof(*lines));
    for (size_t c = 0; c < COLUMNS; c++) {
        snprintf(lines[0].text[c], NAME_TEXT, "%s", heads[c]);
        widths[c] = (int)strlen(heads[c]);
    }
    for (size_t i = 0; i < count; i++) {
        fill(&rows[i], &lines[i + 1]);
        for (size_t c = 0; c < COLUMNS; c++) {
            int width = (int)strlen(lines[i + 1].text[c]);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    name_text(rows[0].scenario->name, name, sizeof(name));
    fprintf(out, "\n%s: sweep of %s\n", name, sweep_setting(&rows[0])->name);
    for (size_t i = 0; i <= count; i++) {
        put_line(out, &lines[i], widths);
    }
    free(lines);
}

void sweep_text(FILE *out, const struct sweep_table *t)
{
    for (size_t i = 0, n; i < t->count; i += n) {
        n = sweep_group(t, i);
        put_group(out, &t->rows[i], n);
    }
}

/* ---- for programs ---- */

void sweep_csv(FILE *out, const struct sweep_table *t)
{
    fputs("scenario,receiver,setting,value,value_number,operations,applied_again,late,doubled,"
          "dsevr_percent,records,records_most,bytes\r\n",
          out);
    for (size_t i = 0; i < t->count; i++) {
        const struct sweep_row *row = &t->rows[i];
        uint64_t part = sweep_dsevr(row);
        csv_text(out, row->scenario->name);
        putc(',', out);
        csv_text(out, row->receiver->swept);
        fprintf(out, ",%s,%s,%" PRId64, sweep_setting(row)->name, sweep_value(row),
                row->receiver->settings[row->receiver->swept_setting]);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ".%02" PRIu64,
                row->operations, row->beyond, row->late, row->doubled, part / 100, part % 100);
        if (row->has_records) {
            fprintf(out, ",%" PRIu64 ",%" PRIu64, row->records, row->records_most);
        } else {
            fputs(",,", out);
        }
        fprintf(out, ",%" PRIu64 "\r\n", row->bytes);
    }
}
