/* One run as a sequence diagram, for a terminal or for Mermaid. */
#ifndef REPORTS_DIAGRAM_H
#define REPORTS_DIAGRAM_H

#include "reports/story.h"

/* The diagram alone; colour: with escape sequences. */
void diagram_print(const struct story *s, bool colour, FILE *out);
/* The same story as Mermaid source. */
void mermaid_print(const struct story *s, const struct result *r, FILE *out);

#endif
