/* Random numbers from keys.
 *
 * In: a seed and a key of 24 bytes, a name, or the state of a stream. Out: 64 random bits, and
 * chances and ranges made of them. Nothing is remembered between two calls.
 *
 * XXH3 is compiled into this file, because a call into the shared library costs as much again as
 * the hash of 24 bytes; its values are the library's.
 */
#define XXH_INLINE_ALL
#include "sim/rng.h"

#include <xxhash.h>

/* The upper half of the product: random scaled to 0..n-1 without a division. Its bias is below
 * n / 2^64. */
static uint64_t scaled(uint64_t random, uint64_t n)
{
    return (uint64_t)((unsigned __int128)random * n >> 64);
}

uint64_t rng_keyed(uint64_t seed, const struct rng_key *key)
{
    return XXH3_64bits_withSeed(key, sizeof(*key), seed);
}

uint64_t rng_name(const char *name, size_t len)
{
    uint64_t hash = XXH3_64bits(name, len);
    return hash != 0 ? hash : 1;
}

/* splitmix64 (Steele, Lea, Flood 2014; https://prng.di.unimi.it/splitmix64.c): any state, also 0,
 * is a good start. */
uint64_t rng_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = *state;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

bool rng_chance(uint64_t random, struct ratio r)
{
    must(r.den >= 1 && r.num <= r.den);
    return scaled(random, r.den) < r.num;
}

uint64_t rng_range(uint64_t random, uint64_t lo, uint64_t hi)
{
    must(lo <= hi);
    if (hi - lo == UINT64_MAX) {
        return random;
    }
    return lo + scaled(random, hi - lo + 1);
}
