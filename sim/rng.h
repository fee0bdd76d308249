/* Random numbers that are keyed, not drawn in sequence, and distributions in integers.
 *
 * A number is a hash of the seed and of a key: a few integers that say what the number is for
 * (which draw, operation, attempt, copy, step, n-th time). So the same attempt of the same
 * operation meets the same fate whichever receiver is under test, and a new draw anywhere moves no
 * other.
 *
 * No floating point: gcc, clang, -O0, -O3, x86-64 and arm64 give the same samples.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include "sim/base.h"

/* 24 bytes without padding: they are hashed as they lie. */
struct rng_key {
    uint64_t operation; /* hash of the operation's id; 0: none */
    uint16_t attempt;   /* from 1; 0: none */
    uint16_t copy;      /* from 1; 0: none */
    uint16_t redelivery;
    uint16_t nth;      /* n-th time of this step in this handling, from 1; 0: none */
    uint16_t disk;     /* disk operation inside the step, from 1; 0: at the step's boundary */
    uint8_t draw;      /* enum draw, or an enum fault_kind */
    uint8_t host;      /* place of a host in the world */
    uint8_t direction; /* enum direction */
    uint8_t step;      /* enum step */
    uint8_t moment;    /* enum moment */
    uint8_t value;     /* which of several numbers of one site, from 0 */
};
_Static_assert(sizeof(struct rng_key) == 24, "hashed as bytes, so no padding");

/* What a number is for, beside the fault kinds, whose values lie below DRAW_FIRST. */
enum draw {
    DRAW_FIRST = 128,
    DRAW_DELAY = DRAW_FIRST, /* network delay of a copy */
    DRAW_COPY_DELAY,         /* how much later a duplicate follows */
    DRAW_BACKOFF,            /* jitter of a retry */
    DRAW_STEP_TIME,          /* duration of a handler's step */
    DRAW_RESTART,            /* how long a host stays down */
    DRAW_PAUSE,              /* length of a random pause */
    DRAW_ARRIVAL,            /* gap between two operations of a workload */
    DRAW_ENTITY,
    DRAW_AMOUNT,
    DRAW_WORK, /* duration of the business's work in a handling */
};

uint64_t rng_keyed(uint64_t seed, const struct rng_key *key);
/* Hash of a name, for rng_key.operation. Never 0. */
uint64_t rng_name(const char *name, size_t len);
/* The next number of a stream that starts at any number, for samplers that need several. */
uint64_t rng_next(uint64_t *state);
/* True with the odds r, from one random number. */
bool rng_chance(uint64_t random, struct ratio r);
/* Uniform in lo..hi, both included; lo <= hi. */
uint64_t rng_range(uint64_t random, uint64_t lo, uint64_t hi);

#define DIST_SIGMA_MAX 5000

enum dist_kind { DIST_CONSTANT, DIST_UNIFORM, DIST_EXPONENTIAL, DIST_LOG_NORMAL };

/* A distribution over 0..SIM_TIME_MAX: durations or amounts.
 *   constant      a
 *   uniform       a..b, both included
 *   exponential   mean a, cut at b where b > 0
 *   log-normal    median a, spread sigma / 1000 (standard deviation of the logarithm), cut at b > 0
 * A sample beyond the cut becomes the cut. a and b are at most SIM_TIME_MAX. */
struct dist {
    enum dist_kind kind;
    uint32_t sigma; /* in thousandths, at most DIST_SIGMA_MAX */
    uint64_t a;
    uint64_t b;
};

uint64_t dist_sample(const struct dist *d, uint64_t random);
/* The largest value that dist_sample can return; for an uncut exponential or log-normal the bound
 * that the 64-bit number gives (about 45 means). Limits and horizons are computed from it. */
uint64_t dist_max(const struct dist *d);

/* Zipf over 1..n: P(k) proportional to 1 / k^(skew/1000). Owns its table: 8 bytes an item. */
#define ZIPF_MAX (UINT32_C(1) << 20)
#define ZIPF_SKEW_MAX 5000
struct zipf {
    uint64_t *cumulative;
    uint32_t n;
};
/* 1 <= n <= ZIPF_MAX; skew in thousandths, 0..ZIPF_SKEW_MAX. */
void zipf_init(struct zipf *z, uint32_t n, uint32_t skew);
void zipf_fini(struct zipf *z);
/* 1..n */
uint32_t zipf_sample(const struct zipf *z, uint64_t random);

#endif
