/* What a person at the terminal sees and does while runs go on: progress, and Ctrl-C. */
#ifndef SIM_PROGRESS_H
#define SIM_PROGRESS_H

#include "sim/base.h"

struct progress {
    bool on;
    bool shown; /* a line of ours stands on the terminal */
    uint64_t total;
    uint64_t began, said; /* wall clock, ns */
};

/* Off with quiet and where standard error is no terminal. */
void progress_begin(struct progress *p, uint64_t total, bool quiet);
/* `done` runs have ended. From the second second on, says so a few times a second. */
void progress_step(struct progress *p, uint64_t done);
/* The same with any text. */
void progress_say(struct progress *p, const char *text);
/* A monotonic clock, ns: for how long something took, never for a run. */
uint64_t progress_clock(void);
/* Takes the line away, before anything else is printed and at the end. */
void progress_clear(struct progress *p);

/* From here on the first SIGINT or SIGTERM only sets a flag; a second one ends the program. */
void interrupt_catch(void);
bool interrupted(void);

#endif
