/* Keyed random numbers, streams, odds and ranges. */
#include "sim/rng.h"
#include "tests/suites.h"

#include <string.h>
#include <xxhash.h>

/* Any other value here changes every history that exists: raise HISTORY_EPOCH with it. */
START_TEST(numbers_are_pinned)
{
    struct rng_key key = {0};
    ck_assert_uint_eq(rng_keyed(0, &key), UINT64_C(0x743df94ee4c78a2a));
    key = (struct rng_key){.operation = rng_name("m-77", 4),
                           .attempt = 1,
                           .copy = 2,
                           .redelivery = 3,
                           .nth = 4,
                           .disk = 5,
                           .draw = DRAW_DELAY,
                           .host = 7,
                           .direction = 1,
                           .step = 9,
                           .moment = 1,
                           .value = 11};
    ck_assert_uint_eq(rng_keyed(1, &key), UINT64_C(0x9e64404a602f969d));
    ck_assert_uint_eq(rng_name("m-77", 4), UINT64_C(0x743f5257f39313c6));
    ck_assert_uint_eq(rng_name("", 0), UINT64_C(0x2d06800538d394c2));
    /* The first numbers that splitmix64's authors' code gives. */
    uint64_t stream = 0;
    ck_assert_uint_eq(rng_next(&stream), UINT64_C(0xe220a8397b1dcdaf));
    ck_assert_uint_eq(rng_next(&stream), UINT64_C(0x6e789e6aa1b965f4));
    ck_assert_uint_eq(rng_next(&stream), UINT64_C(0x06c45d188009454f));
}
END_TEST

START_TEST(numbers_are_those_of_the_library)
{
    uint64_t stream = 3;
    for (int i = 0; i < 10000; i++) {
        struct rng_key key;
        uint64_t words[3] = {rng_next(&stream), rng_next(&stream), rng_next(&stream)};
        uint64_t seed = rng_next(&stream);
        memcpy(&key, words, sizeof(key));
        expect(rng_keyed(seed, &key) == XXH3_64bits_withSeed(words, 24, seed));
        expect(rng_name((const char *)words, i % 25) == XXH3_64bits(words, i % 25));
    }
}
END_TEST

START_TEST(every_bit_of_key_and_seed_matters)
{
    struct rng_key key = {.operation = 42, .attempt = 1, .copy = 1, .draw = DRAW_DELAY};
    uint64_t number = rng_keyed(1, &key);
    int changed = 0;
    for (int bit = 0; bit < 24 * 8; bit++) {
        unsigned char bytes[24];
        memcpy(bytes, &key, 24);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        struct rng_key other;
        memcpy(&other, bytes, 24);
        expect(rng_keyed(1, &other) != number);
        changed += __builtin_popcountll(rng_keyed(1, &other) ^ number);
    }
    /* About half of the bits, so that neighbours look unrelated. */
    ck_assert_int_gt(changed, 192 * 28);
    ck_assert_int_lt(changed, 192 * 36);
    for (int bit = 0; bit < 64; bit++) {
        expect(rng_keyed(1 ^ UINT64_C(1) << bit, &key) != number);
    }
    ck_assert_uint_eq(rng_keyed(1, &key), number);
}
END_TEST

START_TEST(names_are_never_nought_and_differ)
{
    ck_assert_uint_ne(rng_name("", 0), 0);
    ck_assert_uint_ne(rng_name("a", 1), rng_name("b", 1));
    ck_assert_uint_ne(rng_name("m-1", 3), rng_name("m-10", 4));
    ck_assert_uint_eq(rng_name("m-10", 3), rng_name("m-1", 3));
}
END_TEST

START_TEST(odds_hold)
{
    static const struct ratio odds[] = {{0, 1},
                                        {0, 1000},
                                        {1, 1},
                                        {7, 7},
                                        {1, 2},
                                        {1, 20},
                                        {1, 50},
                                        {2, 3},
                                        {19, 20},
                                        {1, 1000},
                                        {UINT32_MAX, UINT32_MAX}};
    enum { DRAWS = 1000000 };
    for (size_t i = 0; i < ARRAY_LEN(odds); i++) {
        uint64_t stream = i;
        int hits = 0;
        for (int n = 0; n < DRAWS; n++) {
            hits += rng_chance(rng_next(&stream), odds[i]);
        }
        double p = (double)odds[i].num / odds[i].den;
        double error = hits - p * DRAWS;
        /* Five standard deviations; exact for never and always. */
        expect(error * error <= 25 * p * (1 - p) * DRAWS);
        expect(rng_chance(0, odds[i]) == (odds[i].num > 0));
        expect(rng_chance(UINT64_MAX, odds[i]) == (odds[i].num == odds[i].den));
    }
}
END_TEST

START_TEST(odds_above_one_end_the_program)
{
    test_ends_the_program();
    rng_chance(0, (struct ratio){3, 2});
}
END_TEST

START_TEST(ranges_hold_and_reach_their_ends)
{
    ck_assert_uint_eq(rng_range(0, 5, 5), 5);
    ck_assert_uint_eq(rng_range(UINT64_MAX, 5, 5), 5);
    ck_assert_uint_eq(rng_range(0, 10, 19), 10);
    ck_assert_uint_eq(rng_range(UINT64_MAX, 10, 19), 19);
    ck_assert_uint_eq(rng_range(0, 0, UINT64_MAX), 0);
    ck_assert_uint_eq(rng_range(UINT64_MAX, 0, UINT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(rng_range(UINT64_MAX, 1, UINT64_MAX), UINT64_MAX);
    ck_assert_uint_eq(rng_range(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
    uint64_t stream = 11;
    int seen[10] = {0};
    for (int i = 0; i < 100000; i++) {
        uint64_t n = rng_range(rng_next(&stream), 10, 19);
        expect(n >= 10 && n <= 19);
        seen[n - 10]++;
        uint64_t lo = rng_next(&stream);
        uint64_t hi = lo + rng_range(rng_next(&stream), 0, UINT64_MAX - lo);
        n = rng_range(rng_next(&stream), lo, hi);
        expect(n >= lo && n <= hi);
    }
    for (int i = 0; i < 10; i++) {
        expect(seen[i] > 9500 && seen[i] < 10500);
    }
}
END_TEST

START_TEST(a_range_from_above_to_below_ends_the_program)
{
    test_ends_the_program();
    rng_range(0, 2, 1);
}
END_TEST

Suite *rng_suite(void)
{
    Suite *s = suite_create("rng");
    TCase *t = tcase_create("rng");
    tcase_add_test(t, numbers_are_pinned);
    tcase_add_test(t, numbers_are_those_of_the_library);
    tcase_add_test(t, every_bit_of_key_and_seed_matters);
    tcase_add_test(t, names_are_never_nought_and_differ);
    tcase_add_test(t, odds_hold);
    tcase_add_exit_test(t, odds_above_one_end_the_program, 3);
    tcase_add_test(t, ranges_hold_and_reach_their_ends);
    tcase_add_exit_test(t, a_range_from_above_to_below_ends_the_program, 3);
    suite_add_tcase(s, t);
    return s;
}
