/* One row of characters, drawn cell by cell and printed as UTF-8. */
#ifndef REPORTS_CANVAS_H
#define REPORTS_CANVAS_H

#include "sim/base.h"

#define CANVAS_WIDTH 100

struct canvas {
    uint32_t cells[CANVAS_WIDTH]; /* code points; 0: the right half of a wide one */
};

void canvas_clear(struct canvas *c);
void canvas_put(struct canvas *c, int x, uint32_t character);
void canvas_fill(struct canvas *c, int from, int to, uint32_t character); /* both included */
/* Writes text at x in at most `room` columns, the last of them an ellipsis where it is cut. Returns
 * the columns used. */
int canvas_text(struct canvas *c, int x, int room, const char *text);
/* Columns that text takes. */
int canvas_columns(const char *text);
/* Prints cells from..end without blanks at the end. */
void canvas_print(const struct canvas *c, int from, FILE *out);

#endif
