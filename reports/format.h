/* How the results of `run` are told: one result at a time, in one of several formats. */
#ifndef REPORTS_FORMAT_H
#define REPORTS_FORMAT_H

#include "sim/result.h"

/* What is known before the first run. */
struct format_plan {
    int scenario_width, receiver_width; /* longest names, in bytes */
    bool many_seeds;
    bool colour;
    bool quiet; /* text: only what was not expected */
};

/* What is known after the last one. */
struct tally {
    uint64_t planned, runs, expected, unexpected, errors; /* errors are among the unexpected */
    uint64_t verdicts[VERDICT_ERROR + 1];
    bool interrupted;
};

struct format {
    /* Returns the state that the others get; end frees it. `plan` is copied. */
    void *(*begin)(FILE *out, const struct format_plan *plan);
    void (*result)(void *state, const struct result *r);
    /* The last run of this scenario on this receiver was told. */
    void (*group_end)(void *state);
    void (*end)(void *state, const struct tally *t);
};

extern const struct format format_text;
extern const struct format format_json;
extern const struct format format_junit;
extern const struct format format_tap;

/* ---- what several formats need ---- */

/* Text for a person on a run that was not expected: "reason" or the violations, one a line. Each
 * line begins with `indent`; at most `most` violations are told. */
void format_details(FILE *out, const struct result *r, const char *indent, size_t most);
/* In a few words why a run counts as unexpected: "fail: no-double-effect", "pass, though
 * violates no-lost-effect was expected". Returns out. */
#define FORMAT_SUMMARY 512
const char *format_summary(const struct result *r, char out[FORMAT_SUMMARY]);
/* The checks that were violated, separated by commas. Returns out. */
const char *format_violated(const struct result *r, char out[FORMAT_SUMMARY]);
/* How many of the scenario's faults have a fate; 0 where others were played. */
size_t format_listed(const struct result *r);
/* Free text (an `about`) on one line, every control character replaced by a blank. */
void format_line(FILE *out, const char *text);
/* The command that repeats r. The caller frees it. */
char *format_repeat(const struct result *r);

#endif
