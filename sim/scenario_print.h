/* A scenario as a file: what is read back from it is the same plain data.
 *
 * In: struct scenario. Out: YAML in the style of scenarios/: defaults left out, small mappings in
 * one line, names quoted only where YAML or a reader could take them for something else. Comments
 * and the layout of the file that it was read from are not kept. Printing what was printed and read
 * gives the same bytes.
 */
#ifndef SIM_SCENARIO_PRINT_H
#define SIM_SCENARIO_PRINT_H

#include "sim/scenario.h"

/* Trouble with the stream is the caller's to ask for. */
void scenario_print(const struct scenario *s, FILE *out);
/* The same in memory; the caller frees it. */
char *scenario_print_text(const struct scenario *s);

#endif
