/* A host's own clock: an offset and a drift from the world's time, both of which may change. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "sim/base.h"

/* What a host's clock shows when the world's clock shows 0: 2024-01-01T00:00:00Z, in ns since 1970,
 * so that SQLite's date functions give sensible dates. */
#define CLOCK_EPOCH (UINT64_C(1704067200) * SIM_S)

struct host_clock {
    int64_t offset; /* ns added since the start, drift so far included */
    int32_t drift;  /* parts per million */
    uint64_t since; /* world time from which drift counts */
};

static inline int64_t clock_drifted(const struct host_clock *c, uint64_t now)
{
    return (int64_t)((__int128)(now - c->since) * c->drift / 1000000);
}
/* ns since 1970 as this host believes; never below 0. */
static inline uint64_t clock_read(const struct host_clock *c, uint64_t now)
{
    int64_t t = (int64_t)(CLOCK_EPOCH + now) + c->offset + clock_drifted(c, now);
    return t > 0 ? (uint64_t)t : 0;
}
static inline void clock_jump(struct host_clock *c, int64_t by)
{
    c->offset += by;
}
static inline void clock_set_drift(struct host_clock *c, uint64_t now, int32_t ppm)
{
    c->offset += clock_drifted(c, now);
    c->since = now;
    c->drift = ppm;
}

#endif
