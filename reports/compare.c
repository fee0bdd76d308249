/* Receivers side by side.
 *
 * In: results as they come. Out: in one directory summary.md, results.csv, verdicts.csv,
 * duplicates.svg and .png, where there is a sweep sweep.csv, sweep-1.svg and .png, each in one
 * piece or not at all, and the same bytes for the same results. Kept are sums only, so memory
 * follows scenarios and receivers and not runs.
 */
#include "reports/compare.h"

#include "reports/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/words.h"

#define SENTENCES 3

const char *quotient(uint64_t a, uint64_t b, char out[QUOTIENT_TEXT])
{
    if (b == 0) {
        snprintf(out, QUOTIENT_TEXT, "-");
        return out;
    }
    unsigned __int128 hundredths = ((unsigned __int128)a * 100 + b / 2) / b;
    snprintf(out, QUOTIENT_TEXT, "%" PRIu64 ".%02u", (uint64_t)(hundredths / 100),
             (unsigned)(hundredths % 100));
    return out;
}

/* ---- the directory ---- */

static enum sim_error make_directories(char *path)
{
    for (char *s = path + 1;; s++) {
        if (*s != '/' && *s != '\0') {
            continue;
        }
        char end = *s;
        *s = '\0';
        struct stat st;
        int error = mkdir(path, 0777) == 0 ? 0 : errno;
        if (error != 0 && (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))) {
            char quoted[1024];
            words_quote(path, strlen(path), quoted, sizeof(quoted));
            fprintf(stderr, "onlyonce: cannot make directory %s: %s\n", quoted,
                    strerror(error == EEXIST ? ENOTDIR : error));
            return SIM_ERR_IO;
        }
        *s = end;
        if (end == '\0') {
            return SIM_OK;
        }
    }
}

static enum sim_error open_in(const struct comparison *c, const char *name, struct output *out)
{
    size_t size = strlen(c->directory) + strlen(name) + 2;
    char *path = sim_alloc(size);
    snprintf(path, size, "%s/%s", c->directory, name);
    enum sim_error e = output_open(out, path, OUTPUT_REPLACE);
    free(path);
    return e;
}

enum sim_error comparison_open(struct comparison *c, const char *directory, uint64_t first_seed,
                               uint64_t last_seed)
{
    *c = (struct comparison){
        .directory = sim_strdup(directory), .first_seed = first_seed, .last_seed = last_seed};
    enum sim_error e = make_directories(c->directory);
    if (e == SIM_OK) {
        e = open_in(c, "results.csv", &c->results);
    }
    if (e == SIM_OK) {
        csv_header(c->results.stream);
    }
    return e;
}

void comparison_free(struct comparison *c)
{
    for (size_t i = 0; i < c->cell_count; i++) {
        free(c->cells[i].violations);
        free(c->cells[i].repeat);
    }
    free(c->cells);
    free(c->columns);
    sweep_fini(&c->sweeps);
    free(c->directory);
}

/* ---- adding up ---- */

static void add(struct sums *s, const struct result *r)
{
    s->runs++;
    s->unexpected += !r->expected;
    s->verdicts[r->verdict]++;
    for (unsigned i = 0; i < CHECK_COUNT; i++) {
        s->violating[i] += r->violated[i] > 0;
    }
    s->duplicates += r->duplicates;
    s->beyond_one += r->beyond;
    s->late += r->late;
    s->records += r->has_records ? r->records : 0;
    s->counted += r->has_records;
    s->handlings += r->handlings;
    s->costs.sql_fresh += r->costs.sql_fresh;
    s->costs.sql_duplicate += r->costs.sql_duplicate;
    s->costs.handlings_fresh += r->costs.handlings_fresh;
    s->costs.handlings_duplicate += r->costs.handlings_duplicate;
    s->costs.latency_sum += r->costs.latency_sum;
    s->costs.latency_count += r->costs.latency_count;
    s->costs.disk_writes += r->costs.disk_writes;
    s->costs.disk_syncs += r->costs.disk_syncs;
    s->costs.disk_bytes += r->costs.disk_bytes;
    s->costs.database_bytes += r->costs.database_bytes;
    if (r->costs.latency_max > s->costs.latency_max) {
        s->costs.latency_max = r->costs.latency_max;
    }
}

/* Runs come in groups, so the cell is the last one or a new one. */
static struct cell *cell_of(struct comparison *c, const struct result *r)
{
    struct cell *last = c->cell_count > 0 ? &c->cells[c->cell_count - 1] : NULL;
    if (last != NULL && last->scenario == r->scenario && last->receiver == r->receiver->name) {
        return last;
    }
    c->cells = sim_realloc(c->cells, c->cell_count + 1, sizeof(*c->cells));
    c->cells[c->cell_count] = (struct cell){.scenario = r->scenario, .receiver = r->receiver->name};
    return &c->cells[c->cell_count++];
}

static struct column *column_of(struct comparison *c, const char *receiver)
{
    for (size_t i = 0; i < c->column_count; i++) {
        if (strcmp(c->columns[i].receiver, receiver) == 0) {
            return &c->columns[i];
        }
    }
    c->columns = sim_realloc(c->columns, c->column_count + 1, sizeof(*c->columns));
    c->columns[c->column_count] = (struct column){.receiver = receiver};
    return &c->columns[c->column_count++];
}

static void keep_details(struct cell *cell, const struct result *r)
{
    size_t size;
    bool better = !r->expected && !cell->repeats_unexpected;
    if (!better && (cell->repeat != NULL || r->violation_count == 0)) {
        return;
    }
    free(cell->violations);
    free(cell->repeat);
    cell->violations = NULL;
    if (r->violation_count > 0) {
        FILE *stream = open_memstream(&cell->violations, &size);
        must(stream != NULL);
        format_details(stream, r, "", SENTENCES);
        fclose(stream);
    }
    cell->repeat = format_repeat(r);
    cell->repeats_unexpected = !r->expected;
}

void comparison_add(struct comparison *c, const struct result *r)
{
    struct cell *cell = cell_of(c, r);
    add(&cell->sums, r);
    add(&column_of(c, r->receiver->name)->sums, r);
    keep_details(cell, r);
    sweep_add(&c->sweeps, r);
    csv_result(c->results.stream, r);
}

/* ---- writing ---- */

static enum sim_error write_verdicts(const struct comparison *c)
{
    struct output out;
    enum sim_error e = open_in(c, "verdicts.csv", &out);
    if (e == SIM_OK) {
        csv_verdicts(out.stream, c);
        e = output_close(&out, true);
    }
    return e;
}

/* Only where there is a sweep; an old one would pass for this comparison's. */
static enum sim_error write_sweeps(const struct comparison *c)
{
    struct output out;
    if (c->sweeps.count == 0) {
        return plot_remove(c, "sweep.csv", NULL);
    }
    enum sim_error e = open_in(c, "sweep.csv", &out);
    if (e == SIM_OK) {
        sweep_csv(out.stream, &c->sweeps);
        e = output_close(&out, true);
    }
    return e;
}

static enum sim_error write_summary(const struct comparison *c, const struct tally *t, bool plotted)
{
    struct output out;
    enum sim_error e = open_in(c, "summary.md", &out);
    if (e == SIM_OK) {
        summary_print(out.stream, c, t, plotted);
        e = output_close(&out, true);
    }
    return e;
}

enum sim_error comparison_close(struct comparison *c, const struct tally *t, bool quiet)
{
    bool plotted = false;
    enum sim_error e = output_close(&c->results, true);
    if (e == SIM_OK) {
        e = write_verdicts(c);
    }
    if (e == SIM_OK) {
        e = write_sweeps(c);
    }
    if (e == SIM_OK) {
        e = plot_write(c, &plotted);
        if (e == SIM_OK) {
            bool drawn;
            e = plot_sweeps(c, &drawn);
        }
        if (e == SIM_OK && !plotted && !quiet && c->column_count > 0) {
            fputs("skipped: package gnuplot-nox (no plots)\n", stderr);
        }
    }
    /* Last, so that a summary that is there speaks of files that are there. */
    if (e == SIM_OK) {
        e = write_summary(c, t, plotted);
    }
    return e;
}
