/* Where results go, with every write checked.
 *
 * Owns: its stream and, until output_close, the temporary file beside the one that was asked for.
 */
#ifndef SIM_OUTPUT_H
#define SIM_OUTPUT_H

#include "sim/base.h"

struct output {
    FILE *stream; /* write here; trouble is kept until asked for */
    int descriptor;
    int trouble;     /* errno of the first write that failed; 0: none */
    char *path;      /* for messages; NULL: standard output */
    char *temporary; /* renamed to path at the end; NULL: written in place */
    bool keep_old;   /* an existing file is not replaced */
};

enum output_mode { OUTPUT_REPLACE, OUTPUT_NEW };

/* path NULL: standard output. A regular file is written beside its place and renamed at the end;
 * devices and pipes are written in place. OUTPUT_NEW: refused where path exists. Trouble is said to
 * standard error. */
enum sim_error output_open(struct output *o, const char *path, enum output_mode mode);
/* Hands over what was written so far. False: it cannot be written; said at the close. */
bool output_flush(struct output *o);
/* keep false: the temporary file is thrown away. Says to standard error what went wrong, once. */
enum sim_error output_close(struct output *o, bool keep);
/* Standard output is a terminal that wants colour. */
bool output_wants_colour(const struct output *o);

#endif
