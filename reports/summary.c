/* The comparison as one page of Markdown.
 *
 * In: sums by scenario and receiver. Out: the matrix of verdicts, the costs of each receiver, the
 * violations as sentences, the commands that repeat them. Names are escaped: no byte of theirs is
 * taken for markup.
 */
#include "reports/compare.h"

#include <inttypes.h>
#include <string.h>

#include "sim/words.h"

void summary_text(FILE *out, const char *s)
{
    for (size_t i = 0, len = strlen(s), used; i < len; i += used) {
        used = words_utf8(s + i, len - i, NULL);
        if (used == 0) {
            fputs("\xef\xbf\xbd", out);
            used = 1;
        } else if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f) {
            putc(' ', out);
        } else if (strchr("\\`*_{}[]()<>#!|~&$", s[i]) != NULL) {
            fprintf(out, "&#%d;", s[i]);
        } else {
            fwrite(s + i, 1, used, out);
        }
    }
}

static const struct cell *find_cell(const struct comparison *c, const struct scenario *s,
                                    const char *receiver)
{
    for (size_t i = 0; i < c->cell_count; i++) {
        if (c->cells[i].scenario == s && strcmp(c->cells[i].receiver, receiver) == 0) {
            return &c->cells[i];
        }
    }
    return NULL;
}

static void put_verdicts(FILE *out, const struct sums *s)
{
    const char *separator = "";
    for (unsigned v = 0; v <= VERDICT_ERROR; v++) {
        if (s->verdicts[v] == 0) {
            continue;
        }
        fprintf(out, "%s%s", separator, verdict_text((enum verdict_kind)v));
        if (s->runs > 1) {
            fprintf(out, " %" PRIu64, s->verdicts[v]);
        }
        separator = ", ";
    }
    separator = ": ";
    for (unsigned k = 0; k < CHECK_COUNT; k++) {
        if (s->violating[k] > 0) {
            fprintf(out, "%s%s", separator, check_text((enum check)k));
            separator = ", ";
        }
    }
    if (s->unexpected > 0) {
        fprintf(out, " **not expected");
        if (s->runs > 1) {
            fprintf(out, " %" PRIu64, s->unexpected);
        }
        fputs("**", out);
    } else if (s->verdicts[VERDICT_PASS] < s->runs) {
        fputs(" (as expected)", out);
    }
}

static void put_head(FILE *out, const struct comparison *c, const char *corner)
{
    fprintf(out, "| %s |", corner);
    for (size_t i = 0; i < c->column_count; i++) {
        putc(' ', out);
        summary_text(out, c->columns[i].receiver);
        fputs(" |", out);
    }
    fputs("\n|---|", out);
    for (size_t i = 0; i < c->column_count; i++) {
        fputs("---|", out);
    }
    putc('\n', out);
}

static void put_matrix(FILE *out, const struct comparison *c)
{
    fputs("\n## Verdicts\n\n", out);
    put_head(out, c, "scenario");
    for (size_t i = 0; i < c->cell_count; i++) {
        const struct scenario *s = c->cells[i].scenario;
        if (i > 0 && c->cells[i - 1].scenario == s) {
            continue; /* cells of a scenario stand together */
        }
        fputs("| ", out);
        summary_text(out, s->name);
        fputs(" |", out);
        for (size_t k = 0; k < c->column_count; k++) {
            const struct cell *cell = find_cell(c, s, c->columns[k].receiver);
            putc(' ', out);
            if (cell != NULL) {
                put_verdicts(out, &cell->sums);
            } else {
                fputs("not played", out);
            }
            fputs(" |", out);
        }
        putc('\n', out);
    }
}

static void put_quotient(FILE *out, uint64_t a, uint64_t b)
{
    char text[QUOTIENT_TEXT];
    fprintf(out, " %s |", quotient(a, b, text));
}

/* One row of the table of costs. */
enum cost {
    COST_RUNS,
    COST_DUPLICATES,
    COST_BEYOND,
    COST_LATE,
    COST_SQL_FRESH,
    COST_SQL_DUPLICATE,
    COST_LATENCY,
    COST_WRITES,
    COST_SYNCS,
    COST_RECORDS,
    COST_DATABASE,
};

static void put_cost(FILE *out, enum cost cost, const struct sums *s)
{
    const struct costs *c = &s->costs;
    switch (cost) {
    case COST_RUNS:
        fprintf(out, " %" PRIu64 " |", s->runs);
        return;
    case COST_DUPLICATES:
        fprintf(out, " %" PRIu64 " |", s->duplicates);
        return;
    case COST_BEYOND:
        fprintf(out, " %" PRIu64 " |", s->beyond_one);
        return;
    case COST_LATE:
        fprintf(out, " %" PRIu64 " |", s->late);
        return;
    case COST_SQL_FRESH:
        put_quotient(out, c->sql_fresh, c->handlings_fresh);
        return;
    case COST_SQL_DUPLICATE:
        put_quotient(out, c->sql_duplicate, c->handlings_duplicate);
        return;
    case COST_LATENCY:
        put_quotient(out, c->latency_sum / SIM_US, c->latency_count * (SIM_MS / SIM_US));
        return;
    case COST_WRITES:
        put_quotient(out, c->disk_writes, s->handlings);
        return;
    case COST_SYNCS:
        put_quotient(out, c->disk_syncs, s->handlings);
        return;
    case COST_RECORDS:
        put_quotient(out, s->records, s->counted);
        return;
    case COST_DATABASE:
        put_quotient(out, c->database_bytes, s->runs);
        return;
    }
    must(!"a cost");
}

static void put_costs(FILE *out, const struct comparison *c)
{
    static const char *const names[] = {
        [COST_RUNS] = "runs",
        [COST_DUPLICATES] = "duplicates delivered",
        [COST_BEYOND] = "effects beyond one",
        [COST_LATE] = "late effects",
        [COST_SQL_FRESH] = "SQL statements per fresh message",
        [COST_SQL_DUPLICATE] = "SQL statements per duplicate",
        [COST_LATENCY] = "mean latency, ms of virtual time",
        [COST_WRITES] = "disk writes per message handled",
        [COST_SYNCS] = "disk syncs per message handled",
        [COST_RECORDS] = "records at the end",
        [COST_DATABASE] = "database at the end, bytes",
    };
    fputs("\n## Costs\n\n", out);
    put_head(out, c, "over all scenarios");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        fprintf(out, "| %s |", names[i]);
        for (size_t k = 0; k < c->column_count; k++) {
            put_cost(out, (enum cost)i, &c->columns[k].sums);
        }
        putc('\n', out);
    }
}

static void put_lines(FILE *out, const char *lines)
{
    while (*lines != '\0') {
        size_t len = strcspn(lines, "\n");
        char line[VIOLATION_TEXT + 64];
        snprintf(line, sizeof(line), "%.*s", (int)len, lines);
        fputs("  - ", out);
        summary_text(out, line);
        putc('\n', out);
        lines += len + (lines[len] != '\0');
    }
}

static void put_violations(FILE *out, const struct comparison *c)
{
    bool begun = false;
    for (size_t i = 0; i < c->cell_count; i++) {
        const struct cell *cell = &c->cells[i];
        if (cell->repeat == NULL) {
            continue;
        }
        fputs(begun ? "" : "\n## Violations and what was not expected\n", out);
        begun = true;
        fputs("\n- ", out);
        summary_text(out, cell->scenario->name);
        fputs(" on ", out);
        summary_text(out, cell->receiver);
        fputs(": ", out);
        put_verdicts(out, &cell->sums);
        putc('\n', out);
        if (cell->violations != NULL) {
            put_lines(out, cell->violations);
        }
        /* Literal: a line that begins with the program's name cannot close the block. */
        fprintf(out, "\n  ```sh\n  %s\n  ```\n", cell->repeat);
    }
}

void summary_print(FILE *out, const struct comparison *c, const struct tally *t, bool plotted)
{
    fputs("# Receivers compared\n\n", out);
    if (c->first_seed == c->last_seed) {
        fprintf(out, "Seed %" PRIu64 ", ", c->first_seed);
    } else {
        fprintf(out, "Seeds %" PRIu64 "..%" PRIu64 ", ", c->first_seed, c->last_seed);
    }
    fprintf(out, "%" PRIu64 " %s: %" PRIu64 " as expected, %" PRIu64 " not.\n", t->runs,
            t->runs == 1 ? "run" : "runs", t->expected, t->unexpected);
    if (t->interrupted) {
        fprintf(out, "\n**Interrupted: %" PRIu64 " of %" PRIu64 " runs were played.**\n", t->runs,
                t->planned);
    }
    put_matrix(out, c);
    put_costs(out, c);
    if (plotted) {
        fputs("\n![Duplicates delivered, effects beyond one and SQL statements per message, by "
              "receiver](duplicates.svg)\n",
              out);
    }
    summary_sweeps(out, &c->sweeps, plotted);
    put_violations(out, c);
}
