/* What the files of a world share. */
#ifndef SIM_WORLD_INTERNAL_H
#define SIM_WORLD_INTERNAL_H

#include "sim/scenario.h"

/* How long after the last first send, or after the end of faults, everything must have ended. */
uint64_t world_span(const struct scenario *s, const struct schedule *schedule);

#endif
