/* Plots of a comparison, by gnuplot.
 *
 * In: sums by receiver. Out: duplicates.svg and duplicates.png, and beside them the data and the
 * script that they were drawn from. The script is the same for every comparison and runs inside the
 * directory: no name ever stands in it. Names stand in the data, as labels that are taken
 * literally.
 */
#include "reports/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/words.h"

#define LABEL_TEXT 32

static const char script[] =
    "# gnuplot duplicates.gp, in this directory.\n"
    "set encoding utf8\n"
    "set datafile separator tab\n"
    "set datafile commentschars ''\n"
    "unset key\n"
    "set style fill solid 0.8 noborder\n"
    "set boxwidth 0.6\n"
    "set xtics nomirror scale 0 rotate by -30 noenhanced\n"
    "set ytics nomirror\n"
    "set grid ytics linecolor rgb '#dddddd'\n"
    "set border 3\n"
    "set xrange [-0.6:*]\n"
    "set offsets 0, 0.6, 0, 0\n"
    "stats 'duplicates.dat' using 3 name 'A' nooutput\n"
    "stats 'duplicates.dat' using 4 name 'B' nooutput\n"
    "stats 'duplicates.dat' using 5 name 'C' nooutput\n"
    "top(most) = most > 0 ? 1.15 * most : 1\n"
    "do for [k = 1:2] {\n"
    "    if (k == 1) {\n"
    "        set terminal svg size 960, 360 noenhanced font 'sans,11' background rgb 'white'\n"
    "        set output '.duplicates.svg.tmp'\n"
    "    } else {\n"
    "        set terminal pngcairo size 960, 360 noenhanced font 'sans,11'\n"
    "        set output '.duplicates.png.tmp'\n"
    "    }\n"
    "    set multiplot layout 1, 3\n"
    "    set title 'duplicates delivered'\n"
    "    set yrange [0:top(A_max)]\n"
    "    plot 'duplicates.dat' using 1:3:xtic(2) with boxes linecolor rgb '#4477aa', \\\n"
    "        '' using 1:3:(stringcolumn(3)) with labels offset 0, 0.6\n"
    "    set title 'effects beyond one'\n"
    "    set yrange [0:top(B_max)]\n"
    "    plot 'duplicates.dat' using 1:4:xtic(2) with boxes linecolor rgb '#cc3311', \\\n"
    "        '' using 1:4:(stringcolumn(4)) with labels offset 0, 0.6\n"
    "    set title 'SQL statements per message'\n"
    "    set yrange [0:top(C_max)]\n"
    "    plot 'duplicates.dat' using 1:5:xtic(2) with boxes linecolor rgb '#228833', \\\n"
    "        '' using 1:5:(stringcolumn(5)) with labels offset 0, 0.6\n"
    "    unset multiplot\n"
    "    unset output\n"
    "}\n";

char *plot_path(const struct comparison *c, const char *name)
{
    size_t size = strlen(c->directory) + strlen(name) + 2;
    char *path = sim_alloc(size);
    snprintf(path, size, "%s/%s", c->directory, name);
    return path;
}

void plot_label(FILE *out, const char *name)
{
    char text[LABEL_TEXT];
    /* Long names are cut, so that the plots keep their room. */
    size_t n = words_quote(name, strlen(name), text, LABEL_TEXT);
    for (size_t i = 1; i + 1 < n; i++) {
        bool meant = text[i] == '"' || text[i] == '\\' || text[i] == '%';
        putc(meant ? '_' : text[i], out);
    }
}

static void put_data(FILE *out, const struct comparison *c)
{
    for (size_t i = 0; i < c->column_count; i++) {
        const struct sums *s = &c->columns[i].sums;
        char statements[QUOTIENT_TEXT];
        uint64_t handled = s->costs.handlings_fresh + s->costs.handlings_duplicate;
        quotient(s->costs.sql_fresh + s->costs.sql_duplicate, handled == 0 ? 1 : handled,
                 statements);
        fprintf(out, "%zu\t", i);
        plot_label(out, c->columns[i].receiver);
        fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%s\n", s->duplicates, s->beyond_one, statements);
    }
}

static enum sim_error write_inputs(const struct comparison *c)
{
    static const char *const names[] = {"duplicates.gp", "duplicates.dat"};
    enum sim_error e = SIM_OK;
    for (size_t i = 0; i < ARRAY_LEN(names) && e == SIM_OK; i++) {
        struct output out;
        char *path = plot_path(c, names[i]);
        e = output_open(&out, path, OUTPUT_REPLACE);
        free(path);
        if (e != SIM_OK) {
            break;
        }
        if (i == 0) {
            fputs(script, out.stream);
        } else {
            put_data(out.stream, c);
        }
        e = output_close(&out, true);
    }
    return e;
}

/* Runs gnuplot in the directory, in the C locale. Its exit status; 127: there is none; -1: it could
 * not be run. */
static int run_gnuplot(const char *directory, const char *script_name)
{
    pid_t child = fork();
    if (child < 0) {
        return -1;
    }
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        setenv("LC_ALL", "C.UTF-8", 1);
        /* Standard output is for results. */
        if (chdir(directory) == 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) {
            execlp("gnuplot", "gnuplot", script_name, (char *)NULL);
        }
        _exit(errno == ENOENT ? 127 : 126);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

enum sim_error plot_run(const struct comparison *c, const char *script_name, bool *drawn)
{
    int status = run_gnuplot(c->directory, script_name);
    *drawn = status == 0;
    if (status != 0 && status != 127) {
        fprintf(stderr, "onlyonce: gnuplot failed (status %d) on %s\n", status, script_name);
        return SIM_ERR_IO;
    }
    return SIM_OK;
}

enum sim_error plot_name(const struct comparison *c, const char *name)
{
    char temporary[64];
    snprintf(temporary, sizeof(temporary), ".%s.tmp", name);
    char *from = plot_path(c, temporary);
    char *to = plot_path(c, name);
    enum sim_error e = SIM_OK;
    if (rename(from, to) != 0) {
        fprintf(stderr, "onlyonce: cannot write %s: %s\n", name, strerror(errno));
        e = SIM_ERR_IO;
    }
    free(from);
    free(to);
    return e;
}

enum sim_error plot_remove(const struct comparison *c, const char *name, bool *was_there)
{
    char *path = plot_path(c, name);
    enum sim_error e = SIM_OK;
    bool gone = unlink(path) == 0;
    if (!gone && errno != ENOENT) {
        fprintf(stderr, "onlyonce: cannot remove old %s: %s\n", name, strerror(errno));
        e = SIM_ERR_IO;
    }
    if (was_there != NULL) {
        *was_there = gone;
    }
    free(path);
    return e;
}

enum sim_error plot_write(const struct comparison *c, bool *drawn)
{
    static const char *const names[] = {"duplicates.svg", "duplicates.png"};
    enum sim_error e = SIM_OK;
    *drawn = false;
    for (size_t i = 0; i < ARRAY_LEN(names) && e == SIM_OK; i++) {
        e = plot_remove(c, names[i], NULL);
    }
    if (e == SIM_OK && c->column_count > 0) {
        e = write_inputs(c);
    }
    if (e == SIM_OK && c->column_count > 0) {
        e = plot_run(c, "duplicates.gp", drawn);
    }
    for (size_t i = 0; i < ARRAY_LEN(names) && e == SIM_OK && *drawn; i++) {
        e = plot_name(c, names[i]);
    }
    return e;
}
