/* Plots of sweeps, by gnuplot: what a longer window costs, and what it saves.
 *
 * In: rows of a comparison's sweeps. Out: for each scenario sweep-N.svg and sweep-N.png, and beside
 * them the data and the script. Left axis: duplicates that were applied again; right axis: bytes
 * kept; two lines for each receiver. The values stand on a scale of logarithms where they are
 * durations or reach far, and one beside the other where they are words.
 */
#include "reports/plot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum scale { SCALE_LINEAR, SCALE_LOG, SCALE_WORDS };

#define FILE_TEXT 64

/* Rows of one scenario. */
struct picture {
    size_t number; /* from 1 */
    const struct sweep_row *rows;
    size_t count;
    size_t receivers;
    enum scale scale;
};

static const char *file_text(const struct picture *p, const char *end, char out[FILE_TEXT])
{
    snprintf(out, FILE_TEXT, "sweep-%zu.%s", p->number, end);
    return out;
}

static int64_t number_of(const struct sweep_row *row)
{
    return row->receiver->settings[row->receiver->swept_setting];
}

static bool begins_receiver(const struct picture *p, size_t i)
{
    return i == 0 || strcmp(p->rows[i].receiver->swept, p->rows[i - 1].receiver->swept) != 0;
}

static enum scale scale_of(const struct picture *p)
{
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < p->count; i++) {
        int64_t n = number_of(&p->rows[i]);
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    switch (sweep_setting(&p->rows[0])->kind) {
    case SETTING_DURATION:
        return least > 0 ? SCALE_LOG : SCALE_WORDS; /* 0 may mean for ever: it has no place */
    case SETTING_NUMBER:
        return least > 0 && most / least >= 100 ? SCALE_LOG : SCALE_LINEAR;
    case SETTING_FLAG:
    case SETTING_CHOICE:
        return SCALE_WORDS;
    }
    return SCALE_WORDS;
}

/* Where words stand: in the order of the first receiver's values. */
static size_t place_of(const struct picture *p, const struct sweep_row *row)
{
    size_t i = 0;
    while (i < p->count && number_of(&p->rows[i]) != number_of(row)) {
        i++;
    }
    return i;
}

/* ---- what gnuplot reads ---- */

/* Where a value stands on its scale: the logarithm to base 2 in steps of 1/256 is near enough to
 * tell whether two labels have room. */
static int64_t along(enum scale scale, int64_t n)
{
    if (scale != SCALE_LOG) {
        return n;
    }
    int bits = 63 - __builtin_clzll((unsigned long long)n);
    uint64_t mantissa = ((uint64_t)n << (63 - bits)) >> 55; /* 256..511 */
    return bits * 256 + (int64_t)mantissa - 256;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = number_of(a), y = number_of(b);
    return (x > y) - (x < y);
}

/* The rows of one receiver, in the order of the scale. A label that would cover the one before it
 * is left out. */
static void put_block(FILE *out, const struct picture *p, struct sweep_row *rows, size_t count)
{
    if (p->scale != SCALE_WORDS) {
        qsort(rows, count, sizeof(*rows), by_number);
    }
    int64_t room =
        along(p->scale, number_of(&rows[count - 1])) - along(p->scale, number_of(&rows[0]));
    int64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t number = number_of(&rows[i]), here = along(p->scale, number);
        if (p->scale == SCALE_WORDS || i == 0 || here - last > room / 20) {
            fputs(sweep_value(&rows[i]), out);
            last = here;
        }
        fprintf(out, "\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t",
                p->scale == SCALE_WORDS ? (int64_t)place_of(p, &rows[i]) : number, rows[i].beyond,
                rows[i].bytes);
        plot_label(out, rows[i].scenario->name);
        putc('\n', out);
    }
}

/* A block for each receiver with the names of its lines before it. */
static void put_data(FILE *out, const struct picture *p)
{
    struct sweep_row *rows = sim_alloc(p->count * sizeof(*rows));
    memcpy(rows, p->rows, p->count * sizeof(*rows));
    for (size_t i = 0, n; i < p->count; i += n) {
        n = 1;
        while (i + n < p->count && !begins_receiver(p, i + n)) {
            n++;
        }
        fputs(i > 0 ? "\n\nvalue\tx\t" : "value\tx\t", out);
        plot_label(out, rows[i].receiver->swept);
        fputs(": applied again\t", out);
        plot_label(out, rows[i].receiver->swept);
        fputs(": bytes kept\tscenario\n", out);
        put_block(out, p, &rows[i], n);
    }
    free(rows);
}

static const char head[] = "set encoding utf8\n"
                           "set datafile separator tab\n"
                           "set datafile commentschars ''\n"
                           "set key outside top center horizontal noenhanced\n"
                           "set border 11\n"
                           "set xtics nomirror rotate by -30 noenhanced\n"
                           "set ytics nomirror\n"
                           "set y2tics nomirror\n"
                           "set grid ytics linetype 1 linecolor rgb '#dddddd'\n"
                           "set ylabel 'duplicates applied again (operations)' noenhanced\n"
                           "set y2label 'database at the end (KiB)' noenhanced\n"
                           "set yrange [0:*]\n"
                           "set y2range [0:*]\n"
                           "set offsets graph 0.04, graph 0.04, graph 0.08, 0\n"
                           "array LEFT[4] = ['#0077bb', '#009988', '#332288', '#117733']\n"
                           "array RIGHT[4] = ['#ee7733', '#cc3311', '#aa4499', '#ddaa33']\n"
                           "array FULL[4] = [7, 9, 13, 15]\n"
                           "array OPEN[4] = [4, 8, 12, 14]\n";

static void put_script(FILE *out, const struct picture *p)
{
    static const char *const units[] = {
        [SETTING_DURATION] = " (duration)",
        [SETTING_NUMBER] = " (number)",
        [SETTING_FLAG] = "",
        [SETTING_CHOICE] = "",
    };
    const struct setting *setting = sweep_setting(&p->rows[0]);
    char data[FILE_TEXT], script[FILE_TEXT];
    file_text(p, "dat", data);
    fprintf(out, "# gnuplot %s, in this directory.\n%s", file_text(p, "gp", script), head);
    fprintf(out, "stats '%s' index 0 using (NAME = strcol(5), $3) nooutput\n", data);
    fprintf(out, "set title NAME.': what each value of %s costs' noenhanced\n", setting->name);
    fprintf(out, "set xlabel '%s%s%s' noenhanced\n", setting->name, units[setting->kind],
            p->scale == SCALE_LOG ? ", log scale" : "");
    fputs(p->scale == SCALE_LOG ? "set logscale x\n" : "", out);
    static const char *const ends[] = {"svg", "png"};
    static const char *const terminals[] = {
        "svg size 800, 500 noenhanced font 'sans,12' background rgb 'white'",
        "pngcairo size 800, 500 noenhanced font 'sans,12'"};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        fprintf(
            out,
            "set terminal %s\n"
            "set output '.sweep-%zu.%s.tmp'\n"
            "plot for [i = 0:%zu] '%s' index i using 2:3:xtic(1) axes x1y1 with linespoints \\\n"
            "    linewidth 4 - i %% 3 pointsize 1.6 - 0.3 * (i %% 3) pointtype FULL[i %% 4 + 1] "
            "\\\n"
            "    linecolor rgb LEFT[i %% 4 + 1] title columnheader(3), \\\n"
            "    for [i = 0:%zu] '%s' index i using 2:($4 / 1024) axes x1y2 with linespoints \\\n"
            "    linewidth 2 dashtype 2 pointsize 1.6 - 0.3 * (i %% 3) pointtype OPEN[i %% 4 + 1] "
            "\\\n"
            "    linecolor rgb RIGHT[i %% 4 + 1] title columnheader(4)\n"
            "unset output\n",
            terminals[i], p->number, ends[i], p->receivers - 1, data, p->receivers - 1, data);
    }
}

/* ---- files ---- */

static enum sim_error write_one(const struct comparison *c, const struct picture *p,
                                const char *end, void (*put)(FILE *, const struct picture *))
{
    char name[FILE_TEXT];
    struct output out;
    char *path = plot_path(c, file_text(p, end, name));
    enum sim_error e = output_open(&out, path, OUTPUT_REPLACE);
    free(path);
    if (e == SIM_OK) {
        put(out.stream, p);
        e = output_close(&out, true);
    }
    return e;
}

/* Of an earlier comparison; they are numbered without a gap. */
static enum sim_error remove_old(const struct comparison *c)
{
    static const char *const ends[] = {"svg", "png", "dat", "gp"};
    enum sim_error e = SIM_OK;
    bool more = true;
    for (size_t n = 1; more && e == SIM_OK; n++) {
        more = false;
        for (size_t i = 0; i < ARRAY_LEN(ends) && e == SIM_OK; i++) {
            char name[FILE_TEXT];
            bool was_there;
            e = plot_remove(c, file_text(&(struct picture){.number = n}, ends[i], name),
                            &was_there);
            more = more || was_there;
        }
    }
    return e;
}

static enum sim_error draw(const struct comparison *c, const struct picture *p, bool *drawn)
{
    char name[FILE_TEXT];
    enum sim_error e = write_one(c, p, "dat", put_data);
    if (e == SIM_OK) {
        e = write_one(c, p, "gp", put_script);
    }
    if (e == SIM_OK) {
        e = plot_run(c, file_text(p, "gp", name), drawn);
    }
    if (e == SIM_OK && *drawn) {
        e = plot_name(c, file_text(p, "svg", name));
    }
    if (e == SIM_OK && *drawn) {
        e = plot_name(c, file_text(p, "png", name));
    }
    return e;
}

enum sim_error plot_sweeps(const struct comparison *c, bool *drawn)
{
    const struct sweep_table *t = &c->sweeps;
    enum sim_error e = remove_old(c);
    size_t number = 1;
    *drawn = false;
    for (size_t i = 0, n; i < t->count && e == SIM_OK; i += n, number++) {
        n = sweep_group(t, i);
        struct picture p = {.number = number, .rows = &t->rows[i], .count = n};
        for (size_t k = 0; k < n; k++) {
            p.receivers += begins_receiver(&p, k);
        }
        p.scale = scale_of(&p);
        e = draw(c, &p, drawn);
    }
    return e;
}
