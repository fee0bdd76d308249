/* One record of a history as one line of text: for golden histories and for telling two apart. */
#ifndef REPORTS_RECORD_H
#define REPORTS_RECORD_H

#include "sim/result.h"

#define RECORD_TEXT 1024

/* "1064438492 step m-77/1 receiver begin ok -2": time in ns, kind, message, place (and worker,
 * where there is more than one), then step, what the record's code means, and its value where they
 * are not empty. Returns out. */
const char *record_text(const struct scenario *s, const struct record *r, char out[RECORD_TEXT]);

#endif
