/* Distributions in integers.
 *
 * In: 64 random bits. Out: a sample, the same on every machine and compiler; the largest sample
 * there can be; a table for Zipf.
 *
 * Numbers with a fraction are integers in units of 2^-56 ("Q56"), 2^-62 or 2^-64. Logarithm and
 * exponential are power series after the usual reduction to a short interval; both are good to
 * about 2^-52. Every rounding goes down, which makes the exponential monotone (a larger argument
 * never gives a smaller result), and dist_max a bound and not an estimate.
 */
#include "sim/rng.h"

#include <stdlib.h>

#define LN2_Q64 UINT64_C(0xb17217f7d1cf79ab)
#define LN2_Q56 ((int64_t)(LN2_Q64 >> 8))
#define ONE_Q62 (UINT64_C(1) << 62)

static uint64_t mul_high(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* -ln(x / 2^64) in Q56, for x >= 1.
 *
 * x is m * 2^(63-z) with m in 1..2, so -ln(x / 2^64) = (z + 1) ln 2 - ln m, and
 * ln m = 2 (s + s^3/3 + s^5/5 + ...) with s = (m - 1) / (m + 1) < 1/3. */
static uint64_t neg_ln(uint64_t x)
{
    static const uint64_t odd[] = {
        /* 2 / (2i + 1) in Q62 */
        ONE_Q62 / 1 * 2,  ONE_Q62 / 3 * 2,  ONE_Q62 / 5 * 2,  ONE_Q62 / 7 * 2,  ONE_Q62 / 9 * 2,
        ONE_Q62 / 11 * 2, ONE_Q62 / 13 * 2, ONE_Q62 / 15 * 2, ONE_Q62 / 17 * 2, ONE_Q62 / 19 * 2,
        ONE_Q62 / 21 * 2, ONE_Q62 / 23 * 2, ONE_Q62 / 25 * 2, ONE_Q62 / 27 * 2, ONE_Q62 / 29 * 2,
        ONE_Q62 / 31 * 2, ONE_Q62 / 33 * 2};
    const uint64_t half = UINT64_C(1) << 63;
    unsigned zeros = (unsigned)__builtin_clzll(x);
    uint64_t m = x << zeros;
    /* Both sides halved, so that the divisor fits 64 bits. */
    uint64_t s = (uint64_t)(((unsigned __int128)(m - half) << 63) / ((m >> 1) + (half >> 1)));
    uint64_t square = mul_high(s, s);
    uint64_t sum = 0;
    for (size_t i = ARRAY_LEN(odd); i-- > 0;) {
        sum = odd[i] + mul_high(sum, square);
    }
    uint64_t twos = (uint64_t)((unsigned __int128)LN2_Q64 * (zeros + 1) >> 8);
    return twos - (mul_high(sum, s) >> 6);
}

/* e^y = mantissa * 2^k, mantissa in 1..2 in Q62; y in Q56, of either sign. */
static uint64_t exp_parts(int64_t y, int *k)
{
    static const uint64_t inverse_factorial[] = {/* 1 / i! in Q62 */
                                                 ONE_Q62,
                                                 ONE_Q62,
                                                 ONE_Q62 / 2,
                                                 ONE_Q62 / 6,
                                                 ONE_Q62 / 24,
                                                 ONE_Q62 / 120,
                                                 ONE_Q62 / 720,
                                                 ONE_Q62 / 5040,
                                                 ONE_Q62 / 40320,
                                                 ONE_Q62 / 362880,
                                                 ONE_Q62 / 3628800,
                                                 ONE_Q62 / 39916800,
                                                 ONE_Q62 / 479001600,
                                                 ONE_Q62 / 6227020800,
                                                 ONE_Q62 / 87178291200,
                                                 ONE_Q62 / 1307674368000,
                                                 ONE_Q62 / 20922789888000,
                                                 ONE_Q62 / 355687428096000};
    int64_t whole = y / LN2_Q56;
    if (y % LN2_Q56 < 0) {
        whole--;
    }
    uint64_t fraction = (uint64_t)(y - whole * LN2_Q56) << 8;
    uint64_t sum = 0;
    for (size_t i = ARRAY_LEN(inverse_factorial); i-- > 0;) {
        sum = inverse_factorial[i] + mul_high(sum, fraction);
    }
    *k = (int)whole;
    return sum;
}

/* a * e^y, at most SIM_TIME_MAX. */
static uint64_t times_exp(uint64_t a, int64_t y)
{
    int k;
    uint64_t mantissa = exp_parts(y, &k);
    if (a == 0 || k < -64) {
        return 0;
    }
    if (k > 62) {
        return SIM_TIME_MAX;
    }
    unsigned __int128 product = (unsigned __int128)a * mantissa >> (62 - k);
    return product < SIM_TIME_MAX ? (uint64_t)product : SIM_TIME_MAX;
}

/* Largest r with r * r <= x. Newton's method from above only falls until it is there. */
static uint64_t square_root(uint64_t x)
{
    if (x == 0) {
        return 0;
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll(x);
    uint64_t r = UINT64_C(1) << (bits + 1) / 2;
    for (;;) {
        uint64_t next = (r + x / r) / 2;
        if (next >= r) {
            return r;
        }
        r = next;
    }
}

/* A standard normal number in Q28 by Marsaglia's polar method: for a point (u, v) in the unit disk
 * with s = u^2 + v^2, u * sqrt(-2 ln s / s) is normal. Its square is at most -2 ln s, and s is at
 * least 2^-62: that is the bound normal_max. */
static int64_t normal(uint64_t random)
{
    uint64_t stream = random;
    for (;;) {
        int64_t u = (int32_t)(uint32_t)(random >> 32);
        int64_t v = (int32_t)(uint32_t)random;
        uint64_t s = (uint64_t)(u * u) + (uint64_t)(v * v);
        if (s > 0 && s < ONE_Q62) {
            uint64_t twice = 2 * neg_ln(s << 2);
            uint64_t square = (uint64_t)((unsigned __int128)twice * (uint64_t)(u * u) / s);
            int64_t z = (int64_t)square_root(square);
            return u < 0 ? -z : z;
        }
        random = rng_next(&stream);
    }
}

static int64_t normal_max(void)
{
    return (int64_t)square_root(2 * neg_ln(4));
}

/* z * sigma / 1000: from Q28 to Q56. |z| < 2^32 and sigma < 2^13, so nothing overflows. */
static int64_t spread(int64_t z, uint32_t sigma)
{
    return z * (int64_t)sigma * (1 << 18) / 1000 * (1 << 10);
}

static uint64_t exponential(uint64_t mean, uint64_t ln)
{
    unsigned __int128 product = (unsigned __int128)mean * ln >> 56;
    return product < SIM_TIME_MAX ? (uint64_t)product : SIM_TIME_MAX;
}

static uint64_t cut(const struct dist *d, uint64_t sample)
{
    return d->b > 0 && sample > d->b ? d->b : sample;
}

static void must_be_valid(const struct dist *d)
{
    must(d->a <= SIM_TIME_MAX && d->b <= SIM_TIME_MAX && d->sigma <= DIST_SIGMA_MAX);
}

uint64_t dist_sample(const struct dist *d, uint64_t random)
{
    must_be_valid(d);
    switch (d->kind) {
    case DIST_CONSTANT:
        return d->a;
    case DIST_UNIFORM:
        return rng_range(random, d->a, d->b);
    case DIST_EXPONENTIAL:
        /* (random + 1) / 2^64 lies in 0..1 without 0; the last value would wrap, and is ln 1. */
        return cut(d, random == UINT64_MAX ? 0 : exponential(d->a, neg_ln(random + 1)));
    case DIST_LOG_NORMAL:
        return cut(d, times_exp(d->a, spread(normal(random), d->sigma)));
    }
    must(!"a kind of distribution");
    return 0;
}

uint64_t dist_max(const struct dist *d)
{
    must_be_valid(d);
    switch (d->kind) {
    case DIST_CONSTANT:
        return d->a;
    case DIST_UNIFORM:
        return d->b;
    case DIST_EXPONENTIAL:
        return cut(d, exponential(d->a, neg_ln(1)));
    case DIST_LOG_NORMAL:
        return cut(d, times_exp(d->a, spread(normal_max(), d->sigma)));
    }
    must(!"a kind of distribution");
    return 0;
}

/* The weights are k^-skew, as large as their sum fits 64 bits. */
void zipf_init(struct zipf *z, uint32_t n, uint32_t skew)
{
    must(n >= 1 && n <= ZIPF_MAX && skew <= ZIPF_SKEW_MAX);
    z->n = n;
    z->cumulative = sim_alloc(n * sizeof(*z->cumulative));
    int room = 0;
    while (n >> room > 0) {
        room++;
    }
    uint64_t sum = 0;
    for (uint32_t k = 1; k <= n; k++) {
        uint64_t ln = neg_ln(1) - neg_ln(k);
        int64_t y = -(int64_t)((unsigned __int128)ln * skew / 1000);
        sum += times_exp(ONE_Q62 >> room, y);
        z->cumulative[k - 1] = sum;
    }
}

void zipf_fini(struct zipf *z)
{
    free(z->cumulative);
    z->cumulative = NULL;
    z->n = 0;
}

uint32_t zipf_sample(const struct zipf *z, uint64_t random)
{
    uint64_t point = mul_high(random, z->cumulative[z->n - 1]);
    uint32_t lo = 0;
    uint32_t hi = z->n - 1;
    while (lo < hi) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (z->cumulative[middle] > point) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    return lo + 1;
}
