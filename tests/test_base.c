/* Durations as text, the end that must() makes, the texts of errors. */
#include "sim/base.h"
#include "sim/message.h"
#include "sim/rng.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

static bool parse(const char *s, uint64_t *ns)
{
    return duration_parse(s, strlen(s), ns);
}

START_TEST(durations_are_read)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {
        {"0s", 0},
        {"0ns", 0},
        {"1ns", 1},
        {"20us", 20 * SIM_US},
        {"20ms", 20 * SIM_MS},
        {"1500ms", 1500 * SIM_MS},
        {"5s", 5 * SIM_S},
        {"007s", 7 * SIM_S},
        {"3m", 180 * SIM_S},
        {"2h", 7200 * SIM_S},
        {"1d", 86400 * SIM_S},
        {"53375d", UINT64_C(53375) * 86400 * SIM_S},
        {"4611686018427387904ns", SIM_TIME_MAX},
    };
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        uint64_t ns = 12345;
        ck_assert_msg(parse(good[i].text, &ns), "%s", good[i].text);
        expect(ns == good[i].ns);
    }
}
END_TEST

START_TEST(what_is_no_duration_is_refused)
{
    static const char *const bad[] = {
        "",
        "5",
        "s",
        "-5s",
        "+5s",
        " 5s",
        "5 s",
        "5s ",
        "5S",
        "5sec",
        "1.5s",
        "1,5s",
        "5ss",
        "0x5s",
        "1e3s",
        "5min",
        "5M",
        "5\xc2\xb5s",
        "m",
        "5mss",
        "53376d",
        "4611686018427387905ns",
        "4611686018427388us",
        "18446744073709551616ns",
        "18446744073709551617s",
        "99999999999999999999999999999999999999d",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        uint64_t ns;
        ck_assert_msg(!parse(bad[i], &ns), "%s", bad[i]);
    }
    uint64_t ns;
    ck_assert(!duration_parse("5\0s", 3, &ns));
    ck_assert(!duration_parse("5s\0", 3, &ns));
    ck_assert(duration_parse("5sx", 2, &ns));
}
END_TEST

START_TEST(durations_are_written_in_the_largest_unit_that_is_exact)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {1, "1ns"},
        {1500 * SIM_US, "1500us"},
        {20 * SIM_MS, "20ms"},
        {90 * SIM_S, "90s"},
        {300 * SIM_S, "5m"},
        {86400 * SIM_S, "1d"},
        {90000 * SIM_S, "25h"},
        {SIM_S + 1, "1000000001ns"},
        {SIM_TIME_MAX, "4611686018427387904ns"},
        {UINT64_MAX, "18446744073709551615ns"},
    };
    char text[DURATION_TEXT];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_str_eq(duration_text(cases[i].ns, text), cases[i].text);
    }
}
END_TEST

START_TEST(durations_survive_the_round_trip)
{
    static const uint64_t units[] = {1, SIM_US, SIM_MS, SIM_S, 60 * SIM_S, 3600 * SIM_S};
    uint64_t stream = 7;
    for (int i = 0; i < 200000; i++) {
        uint64_t unit = units[rng_range(rng_next(&stream), 0, ARRAY_LEN(units) - 1)];
        uint64_t bound = SIM_TIME_MAX / unit >> rng_range(rng_next(&stream), 0, 50);
        uint64_t ns = unit * rng_range(rng_next(&stream), 0, bound);
        char text[DURATION_TEXT];
        uint64_t back;
        expect(parse(duration_text(ns, text), &back));
        expect(back == ns);
    }
}
END_TEST

START_TEST(must_lets_truth_pass)
{
    int evaluated = 0;
    must(++evaluated == 1);
    ck_assert_int_eq(evaluated, 1);
}
END_TEST

START_TEST(must_ends_the_program)
{
    test_ends_the_program();
    must(1 + 1 == 3);
}
END_TEST

START_TEST(an_overflowing_array_ends_the_program)
{
    test_ends_the_program();
    free(sim_realloc(NULL, SIZE_MAX / 2, 4));
}
END_TEST

START_TEST(memory_is_never_null)
{
    void *p = sim_alloc(0);
    ck_assert_ptr_nonnull(p);
    free(p);
    p = sim_zalloc(0, 8);
    ck_assert_ptr_nonnull(p);
    free(p);
    unsigned char *zeros = sim_zalloc(100, 3);
    for (int i = 0; i < 300; i++) {
        expect(zeros[i] == 0);
    }
    zeros = sim_realloc(zeros, 0, 8);
    ck_assert_ptr_nonnull(zeros);
    free(zeros);
    char *copy = sim_strndup("abcdef", 3);
    ck_assert_str_eq(copy, "abc");
    free(copy);
    copy = sim_strdup("");
    ck_assert_str_eq(copy, "");
    free(copy);
}
END_TEST

START_TEST(texts_are_there_and_differ)
{
    static const enum sim_error errors[] = {
#define X(name, text) name,
        SIM_ERRORS(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        ck_assert_ptr_nonnull(sim_error_text(errors[i]));
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(sim_error_text(errors[i]), sim_error_text(errors[j]));
        }
    }
    ck_assert_str_eq(sim_error_text((enum sim_error)99), "unknown error");
    ck_assert_str_eq(reply_status_text(REPLY_RETRY_LATER), "retry-later");
    ck_assert_str_eq(reply_status_text((enum reply_status)99), "unknown");
}
END_TEST

START_TEST(operation_numbers_fall_apart_as_they_were_made)
{
    static const uint64_t numbers[] = {1, 2, 10000000, (UINT64_C(1) << 48) - 1};
    for (unsigned sender = 1; sender <= 255; sender++) {
        for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
            uint64_t op = op_make(sender, numbers[i]);
            expect(op_sender(op) == sender);
            expect(op_number(op) == numbers[i]);
        }
    }
}
END_TEST

Suite *base_suite(void)
{
    Suite *s = suite_create("base");
    TCase *t = tcase_create("base");
    tcase_add_test(t, durations_are_read);
    tcase_add_test(t, what_is_no_duration_is_refused);
    tcase_add_test(t, durations_are_written_in_the_largest_unit_that_is_exact);
    tcase_add_test(t, durations_survive_the_round_trip);
    tcase_add_test(t, must_lets_truth_pass);
    tcase_add_exit_test(t, must_ends_the_program, 3);
    tcase_add_exit_test(t, an_overflowing_array_ends_the_program, 3);
    tcase_add_test(t, memory_is_never_null);
    tcase_add_test(t, texts_are_there_and_differ);
    tcase_add_test(t, operation_numbers_fall_apart_as_they_were_made);
    suite_add_tcase(s, t);
    return s;
}
