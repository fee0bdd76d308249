/* What plots by gnuplot share. Their scripts run inside the comparison's directory, and no name
 * from a scenario ever stands in one: names stand in the data, as labels that are taken literally.
 */
#ifndef REPORTS_PLOT_H
#define REPORTS_PLOT_H

#include "reports/compare.h"

/* A file of the directory. The caller frees it. */
char *plot_path(const struct comparison *c, const char *name);
/* A label without what gnuplot's reader of data gives a meaning: tabs, quotes, line ends. */
void plot_label(FILE *out, const char *name);
/* Runs a script of the directory. *drawn: false where there is no gnuplot. */
enum sim_error plot_run(const struct comparison *c, const char *script, bool *drawn);
/* A finished picture, NAME.tmp with a dot before it, takes its name. */
enum sim_error plot_name(const struct comparison *c, const char *name);
/* Removes one of an earlier comparison, which would pass for this one's. *was_there may be NULL. */
enum sim_error plot_remove(const struct comparison *c, const char *name, bool *was_there);

#endif
