/* What a crash of a host leaves of its disk. */
#ifndef SIM_CRASH_H
#define SIM_CRASH_H

#include "sim/base.h"

/* What survives when the host dies. n counts the unsynced operations of the moment from 1. */
#define CRASH_MODES(X)                                                                             \
    X(CRASH_PROCESS, "process", false)  /* all written bytes survive */                            \
    X(CRASH_NONE, "power none", false)  /* all unsynced operations are lost */                     \
    X(CRASH_ALL, "power all", false)    /* all unsynced operations survive */                      \
    X(CRASH_FIRST, "power first", true) /* the first n survive */                                  \
    X(CRASH_ONLY, "power only", true)   /* only the n-th survives */                               \
    X(CRASH_ALL_BUT, "power all but", true)                                                        \
    X(CRASH_TORN, "power torn", true) /* the first n - 1, and half of the sectors of the n-th */

enum crash_mode {
#define X(name, text, counted) name,
    CRASH_MODES(X)
#undef X
};

const char *crash_mode_text(enum crash_mode mode);
/* Whether the mode carries a number. */
bool crash_mode_counted(enum crash_mode mode);

#endif
