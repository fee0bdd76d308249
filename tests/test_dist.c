/* Distributions: pinned samples, shapes against libm, bounds. */
#include "sim/rng.h"
#include "tests/suites.h"

#include <math.h>

#define MANY 200000

/* Numbers that random ones hardly ever are. */
static const uint64_t edges[] = {
    0,
    1,
    2,
    UINT64_C(1) << 31,
    UINT64_C(1) << 32,
    UINT64_C(1) << 33,
    UINT32_MAX,
    UINT64_C(1) << 62,
    UINT64_C(1) << 63,
    (UINT64_C(1) << 63) - 1,
    UINT64_MAX,
    UINT64_MAX - 1,
    UINT64_C(0x8000000080000000),
    UINT64_C(0x7fffffff7fffffff),
    UINT64_C(0x8000000000000000),
    UINT64_C(0x0000000080000000),
    UINT64_C(0xffffffff00000000),
};

static const struct dist dists[] = {
    {DIST_CONSTANT, 0, 20 * SIM_MS, 0},
    {DIST_UNIFORM, 0, 20 * SIM_MS, 80 * SIM_MS},
    {DIST_UNIFORM, 0, 0, SIM_TIME_MAX},
    {DIST_EXPONENTIAL, 0, 50 * SIM_MS, 0},
    {DIST_EXPONENTIAL, 0, 50 * SIM_MS, 200 * SIM_MS},
    {DIST_EXPONENTIAL, 0, 1, 0},
    {DIST_EXPONENTIAL, 0, SIM_TIME_MAX, 0},
    {DIST_EXPONENTIAL, 0, 0, 0},
    {DIST_LOG_NORMAL, 0, 20 * SIM_MS, 0},
    {DIST_LOG_NORMAL, 500, 20 * SIM_MS, 0},
    {DIST_LOG_NORMAL, 1000, 20 * SIM_MS, SIM_S},
    {DIST_LOG_NORMAL, 5000, 20 * SIM_MS, 0},
    {DIST_LOG_NORMAL, 5000, SIM_TIME_MAX, 0},
    {DIST_LOG_NORMAL, 5000, 1, 0},
    {DIST_LOG_NORMAL, 1000, 0, 0},
};

/* Every compiler, flag and machine must give these. */
START_TEST(samples_are_pinned)
{
    static const uint64_t pinned[ARRAY_LEN(dists)] = {0x2423f12c2fab6000,
                                                      0x244bc39dc613d370,
                                                      0xc673dad5bf764d32,
                                                      0x817248159cb868db,
                                                      0x90e669e0efb45fd4,
                                                      0x8e815bfa931a6b5e,
                                                      0x3d48ced1a0eb9d00,
                                                      0x0,
                                                      0x2423f12c2fab6000,
                                                      0x89ebdd5620b67f31,
                                                      0x6eb5ccff7ae82328,
                                                      0x3f6044bbfee70eb,
                                                      0x102f8bfa2408baf9,
                                                      0x5301ea26f4509346,
                                                      0x0};
    for (size_t i = 0; i < ARRAY_LEN(dists); i++) {
        uint64_t stream = 5;
        uint64_t sum = 0;
        for (int n = 0; n < 20000; n++) {
            sum = sum * UINT64_C(0x9e3779b97f4a7c15) + dist_sample(&dists[i], rng_next(&stream));
        }
        ck_assert_msg(sum == pinned[i], "distribution %zu: 0x%llx", i, (unsigned long long)sum);
    }
}
END_TEST

START_TEST(no_sample_exceeds_the_bound)
{
    for (size_t i = 0; i < ARRAY_LEN(dists); i++) {
        uint64_t bound = dist_max(&dists[i]);
        expect(bound <= SIM_TIME_MAX);
        for (size_t e = 0; e < ARRAY_LEN(edges); e++) {
            expect(dist_sample(&dists[i], edges[e]) <= bound);
        }
        uint64_t stream = i;
        for (int n = 0; n < MANY; n++) {
            expect(dist_sample(&dists[i], rng_next(&stream)) <= bound);
            /* Small numbers, which are the far tail of the exponential. */
            expect(dist_sample(&dists[i], (uint64_t)n) <= bound);
        }
        /* Points next to the centre of the disk, which are the far tail of the log-normal. */
        for (int u = -60; u <= 60; u++) {
            for (int v = -60; v <= 60; v++) {
                uint64_t random = (uint64_t)(uint32_t)u << 32 | (uint32_t)v;
                expect(dist_sample(&dists[i], random) <= bound);
            }
        }
    }
}
END_TEST

START_TEST(the_bound_is_reached)
{
    const struct dist *e = &dists[3];
    ck_assert_uint_eq(dist_sample(e, 0), dist_max(e));
    double means = (double)dist_max(e) / (double)e->a;
    ck_assert_double_eq_tol(means, 64 * log(2), 1e-6);
    const struct dist *l = &dists[9];
    ck_assert_uint_eq(dist_sample(l, UINT64_C(1) << 32), dist_max(l));
    double z = log((double)dist_max(l) / (double)l->a) / 0.5;
    ck_assert_double_eq_tol(z, sqrt(2 * 62 * log(2)), 1e-6);
    ck_assert_uint_eq(dist_max(&dists[4]), 200 * SIM_MS);
    ck_assert_uint_eq(dist_max(&dists[10]), SIM_S);
    ck_assert_uint_eq(dist_max(&dists[6]), SIM_TIME_MAX);
}
END_TEST

START_TEST(an_exponential_is_the_logarithm)
{
    uint64_t stream = 1;
    struct dist d = {DIST_EXPONENTIAL, 0, UINT64_C(1) << 50, 0};
    for (int n = 0; n < MANY; n++) {
        uint64_t random = rng_next(&stream) >> n % 64;
        long double u = ((long double)random + 1) / 18446744073709551616.0L;
        long double want = -(long double)d.a * logl(u);
        /* Beside libm's own rounding: 2^-52 of a mean. */
        expect(fabsl((long double)dist_sample(&d, random) - want) <= 4 + want * 1e-18L);
    }
    ck_assert_uint_eq(dist_sample(&d, UINT64_MAX), 0);
}
END_TEST

START_TEST(an_exponential_has_its_mean)
{
    struct dist d = {DIST_EXPONENTIAL, 0, 50 * SIM_MS, 0};
    double sum = 0;
    double squares = 0;
    uint64_t stream = 2;
    for (int n = 0; n < 5 * MANY; n++) {
        double x = (double)dist_sample(&d, rng_next(&stream)) / 5e7;
        sum += x;
        squares += x * x;
    }
    ck_assert_double_eq_tol(sum / (5 * MANY), 1, 0.005);
    ck_assert_double_eq_tol(squares / (5 * MANY), 2, 0.03);
}
END_TEST

/* The share of samples at most median * e^(sigma z) is that of a normal number at most z; mean and
 * deviation of the logarithm are 0 and sigma. */
START_TEST(a_log_normal_has_its_shape)
{
    static const uint32_t sigmas[] = {10, 250, 500, 1000, 2500};
    for (size_t i = 0; i < ARRAY_LEN(sigmas); i++) {
        struct dist d = {DIST_LOG_NORMAL, sigmas[i], UINT64_C(1) << 40, 0};
        double sigma = sigmas[i] / 1000.0;
        int below[9] = {0};
        double sum = 0;
        double squares = 0;
        uint64_t stream = i;
        for (int n = 0; n < 2 * MANY; n++) {
            double x = (double)dist_sample(&d, rng_next(&stream)) / (double)d.a;
            double z = log(x) / sigma;
            sum += z;
            squares += z * z;
            for (int q = 0; q < 9; q++) {
                below[q] += z <= (q - 4) * 0.75;
            }
        }
        ck_assert_double_eq_tol(sum / (2 * MANY), 0, 0.008);
        ck_assert_double_eq_tol(squares / (2 * MANY), 1, 0.012);
        for (int q = 0; q < 9; q++) {
            double want = erfc(-(q - 4) * 0.75 / sqrt(2)) / 2;
            ck_assert_double_eq_tol((double)below[q] / (2 * MANY), want, 0.004);
        }
    }
}
END_TEST

START_TEST(a_log_normal_is_the_exponential_of_its_point)
{
    uint64_t stream = 3;
    struct dist d = {DIST_LOG_NORMAL, 1500, UINT64_C(1) << 40, 0};
    for (int n = 0; n < MANY; n++) {
        uint64_t random = rng_next(&stream);
        long double u = (int32_t)(uint32_t)(random >> 32) / 2147483648.0L;
        long double v = (int32_t)(uint32_t)random / 2147483648.0L;
        long double s = u * u + v * v;
        if (s >= 1) {
            continue; /* taken from the stream that begins there */
        }
        long double z = u * sqrtl(-2 * logl(s) / s);
        long double want = (long double)d.a * expl(1.5L * z);
        /* z is good to 2^-28; where it is near 0, so is its square root. */
        expect(fabsl((long double)dist_sample(&d, random) / want - 1) <= 1e-7L);
    }
}
END_TEST

START_TEST(a_spread_of_nought_is_the_median)
{
    struct dist d = {DIST_LOG_NORMAL, 0, 12345678901, 0};
    uint64_t stream = 4;
    for (int n = 0; n < 1000; n++) {
        expect(dist_sample(&d, rng_next(&stream)) == d.a);
    }
    ck_assert_uint_eq(dist_max(&d), d.a);
}
END_TEST

START_TEST(a_time_beyond_the_end_ends_the_program)
{
    test_ends_the_program();
    struct dist d = {DIST_CONSTANT, 0, SIM_TIME_MAX + 1, 0};
    dist_sample(&d, 0);
}
END_TEST

static double share(const struct zipf *z, uint32_t k)
{
    uint64_t before = k > 1 ? z->cumulative[k - 2] : 0;
    return (double)(z->cumulative[k - 1] - before) / (double)z->cumulative[z->n - 1];
}

START_TEST(zipf_has_its_shares)
{
    static const uint32_t skews[] = {0, 500, 990, 1000, 1200, 2000};
    for (size_t i = 0; i < ARRAY_LEN(skews); i++) {
        double s = skews[i] / 1000.0;
        double total = 0;
        for (int k = 1; k <= 1000; k++) {
            total += pow(k, -s);
        }
        struct zipf z;
        zipf_init(&z, 1000, skews[i]);
        for (uint32_t k = 1; k <= 1000; k++) {
            expect(fabs(share(&z, k) / (pow(k, -s) / total) - 1) < 1e-9);
        }
        ck_assert_double_eq_tol(share(&z, 1) / share(&z, 2), pow(2, s), 1e-9);
        zipf_fini(&z);
    }
}
END_TEST

START_TEST(zipf_samples_by_its_shares)
{
    struct zipf z;
    zipf_init(&z, 100, 1000);
    int seen[101] = {0};
    uint64_t stream = 6;
    for (int n = 0; n < 5 * MANY; n++) {
        uint32_t k = zipf_sample(&z, rng_next(&stream));
        expect(k >= 1 && k <= 100);
        seen[k]++;
    }
    for (uint32_t k = 1; k <= 100; k++) {
        double want = share(&z, k) * 5 * MANY;
        expect(fabs(seen[k] - want) <= 5 * sqrt(want));
    }
    ck_assert_double_eq_tol((double)seen[1] / seen[2], 2, 0.03);
    ck_assert_uint_eq(zipf_sample(&z, 0), 1);
    ck_assert_uint_eq(zipf_sample(&z, UINT64_MAX), 100);
    zipf_fini(&z);
}
END_TEST

START_TEST(zipf_is_pinned_and_bounded_at_its_ends)
{
    static const struct {
        uint32_t n, skew;
        uint64_t pinned;
    } cases[] = {{1, 1000, 0x2000000000000000},
                 {2, 1000, 0x6800000000000000},
                 {1000, 990, 0x6f21370e53dad8},
                 {1000, 5000, 0xe367726490cdf605},
                 {ZIPF_MAX, 0, 0xd000000000000000},
                 {ZIPF_MAX, 1000, 0x523ff72d99cf9045},
                 {ZIPF_MAX, ZIPF_SKEW_MAX, 0x3030829811ce973d}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct zipf z;
        zipf_init(&z, cases[i].n, cases[i].skew);
        uint64_t sum = 0;
        uint64_t last = 0;
        for (uint32_t k = 0; k < z.n; k++) {
            expect(z.cumulative[k] >= last);
            last = z.cumulative[k];
            sum = sum * UINT64_C(0x9e3779b97f4a7c15) + last;
        }
        for (size_t e = 0; e < ARRAY_LEN(edges); e++) {
            uint32_t k = zipf_sample(&z, edges[e]);
            expect(k >= 1 && k <= cases[i].n);
        }
        ck_assert_msg(sum == cases[i].pinned, "zipf %zu: 0x%llx", i, (unsigned long long)sum);
        zipf_fini(&z);
    }
}
END_TEST

Suite *dist_suite(void)
{
    Suite *s = suite_create("dist");
    TCase *t = tcase_create("dist");
    tcase_add_test(t, samples_are_pinned);
    tcase_add_test(t, no_sample_exceeds_the_bound);
    tcase_add_test(t, the_bound_is_reached);
    tcase_add_test(t, an_exponential_is_the_logarithm);
    tcase_add_test(t, an_exponential_has_its_mean);
    tcase_add_test(t, a_log_normal_has_its_shape);
    tcase_add_test(t, a_log_normal_is_the_exponential_of_its_point);
    tcase_add_test(t, a_spread_of_nought_is_the_median);
    tcase_add_exit_test(t, a_time_beyond_the_end_ends_the_program, 3);
    tcase_add_test(t, zipf_has_its_shares);
    tcase_add_test(t, zipf_samples_by_its_shares);
    tcase_add_test(t, zipf_is_pinned_and_bounded_at_its_ends);
    suite_add_tcase(s, t);
    return s;
}
