/* The words everything else is written in: time, ratios, must(), errors.
 *
 * Time is an unsigned number of nanoseconds. The world's clock starts at SIM_START, well above
 * zero, so that a delay which is used as a deadline shows at once.
 *
 * Trouble has three lanes. A programmer's error ends the program through must(). An operating
 * error (a full disk, an unreadable file) is an enum sim_error that the caller handles. A
 * simulated fault is data in the world and never an error code of ours.
 */
#ifndef SIM_BASE_H
#define SIM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SIM_US UINT64_C(1000)
#define SIM_MS UINT64_C(1000000)
#define SIM_S UINT64_C(1000000000)
#define SIM_START SIM_S
/* No time in a world lies beyond this (about 146 years), so that a sum of two never wraps. */
#define SIM_TIME_MAX (UINT64_C(1) << 62)

#define SIM_ERRORS(X)                                                                              \
    X(SIM_OK, "no error")                                                                          \
    X(SIM_ERR_USAGE, "usage error")                                                                \
    X(SIM_ERR_SCENARIO, "scenario error")                                                          \
    X(SIM_ERR_IO, "input or output failed")                                                        \
    X(SIM_ERR_STORE, "SQLite failed outside the simulation")                                       \
    X(SIM_ERR_LIMIT, "a limit of the harness was reached")                                         \
    X(SIM_ERR_RECEIVER, "a receiver did not end its handling")                                     \
    X(SIM_ERR_DIFFERS, "two runs of one schedule differ")

enum sim_error {
#define X(name, text) name,
    SIM_ERRORS(X)
#undef X
};

/* Static text of an error; never NULL. */
const char *sim_error_text(enum sim_error e);

/* Odds num/den with num <= den and den >= 1; 0/1 is never. */
struct ratio {
    uint32_t num;
    uint32_t den;
};

_Noreturn void must_failed(const char *file, int line, const char *what);

/* Programmer's errors, never compiled out. Ends the program with exit status 3. */
#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            must_failed(__FILE__, __LINE__, #condition);                                           \
        }                                                                                          \
    } while (0)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* malloc, calloc, realloc and strdup that never return NULL. The caller frees with free(). */
void *sim_alloc(size_t bytes);
void *sim_zalloc(size_t count, size_t size);
void *sim_realloc(void *old, size_t count, size_t size);
char *sim_strdup(const char *s);
char *sim_strndup(const char *s, size_t n);

/* Writes a duration in the largest unit that keeps it exact ("20ms", "1500us", "0s", "5m"), as
 * scenario files write it. Returns out. */
#define DURATION_TEXT 32
const char *duration_text(uint64_t ns, char out[DURATION_TEXT]);

/* Reads a duration as scenario files write it: a decimal integer and one of ns us ms s m h d.
 * False: not of that form, or above SIM_TIME_MAX. */
bool duration_parse(const char *s, size_t len, uint64_t *ns);

#endif
