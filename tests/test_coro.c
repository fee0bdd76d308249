/* Coroutines: stacks of their own that keep what was on them.
 *
 * Pinned: values on a stack survive yields, whatever the other coroutines do meanwhile; yields out
 * of nested calls; the same coroutine used again and again; a coroutine that runs another one; a
 * stack as deep as promised; a guard page below it.
 *
 * Left open: what a switch costs (make bench).
 */
#include "sim/coro.h"
#include "sim/rng.h"
#include "tests/suites.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define TEST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_ASAN 1
#endif
#endif

struct counter {
    struct coro *coro;
    unsigned from, steps, seen;
};

static void count(void *argument)
{
    struct counter *c = argument;
    unsigned n = c->from;
    for (unsigned i = 0; i < c->steps; i++) {
        c->seen = n++;
        coro_yield(c->coro);
    }
    c->seen = n;
}

START_TEST(one_coroutine)
{
    struct counter c = {.coro = coro_new(), .from = 5, .steps = 3};
    ck_assert(!coro_busy(c.coro));
    ck_assert(!coro_start(c.coro, count, &c));
    ck_assert(coro_busy(c.coro));
    ck_assert_uint_eq(c.seen, 5);
    ck_assert(!coro_resume(c.coro));
    ck_assert_uint_eq(c.seen, 6);
    ck_assert(!coro_resume(c.coro));
    ck_assert(coro_resume(c.coro));
    ck_assert_uint_eq(c.seen, 8);
    ck_assert(!coro_busy(c.coro));
    coro_free(c.coro);
    coro_free(NULL);
    coro_free(coro_new()); /* never started */
}
END_TEST

START_TEST(used_again_and_again)
{
    struct counter c = {.coro = coro_new()};
    for (unsigned i = 0; i < 20000; i++) {
        c.from = i;
        c.steps = i % 4;
        bool ended = coro_start(c.coro, count, &c);
        for (unsigned n = 0; n < c.steps; n++) {
            expect(!ended && c.seen == i + n);
            ended = coro_resume(c.coro);
        }
        expect(ended && c.seen == i + c.steps);
    }
    coro_free(c.coro);
}
END_TEST

/* Many at a time, resumed in a random order, started again when they end. */
START_TEST(many_coroutines)
{
    enum { MANY = 300 };
    static struct counter all[MANY];
    static unsigned done[MANY];
    uint64_t stream = 1;
    for (unsigned i = 0; i < MANY; i++) {
        all[i].coro = coro_new();
    }
    for (unsigned step = 0; step < 100000; step++) {
        uint64_t random = rng_next(&stream);
        unsigned i = (unsigned)(random % MANY);
        struct counter *c = &all[i];
        bool ended;
        if (coro_busy(c->coro)) {
            ended = coro_resume(c->coro);
            done[i]++;
        } else {
            c->from = (unsigned)(random >> 32) % 1000;
            c->steps = (unsigned)(random >> 48) % 20;
            done[i] = 0;
            ended = coro_start(c->coro, count, c);
        }
        expect(c->seen == c->from + done[i]);
        expect(ended == (done[i] == c->steps));
    }
    for (unsigned i = 0; i < MANY; i++) {
        while (coro_busy(all[i].coro)) {
            coro_resume(all[i].coro);
        }
        coro_free(all[i].coro);
    }
}
END_TEST

struct diver {
    struct coro *coro;
    unsigned depth; /* of the recursion */
    unsigned every; /* yields at each so many levels, down and up */
    uint64_t sum;
    unsigned yields;
};

static uint64_t __attribute__((noinline)) dive(struct diver *d, unsigned level)
{
    unsigned char local[64];
    memset(local, (int)(level & 0xff), sizeof(local));
    if (d->every && level % d->every == 0) {
        d->yields++;
        coro_yield(d->coro);
    }
    uint64_t sum = level < d->depth ? dive(d, level + 1) : 0;
    if (d->every && level % d->every == 0) {
        d->yields++;
        coro_yield(d->coro);
    }
    for (size_t i = 0; i < sizeof(local); i++) {
        sum += local[i] == (level & 0xff);
    }
    return sum;
}

static void dives(void *argument)
{
    struct diver *d = argument;
    d->sum = dive(d, 0);
}

/* Two that stand still in the middle of nested calls, at different depths, turn by turn. */
START_TEST(yields_in_nested_calls)
{
    struct diver a = {.coro = coro_new(), .depth = 100, .every = 7};
    struct diver b = {.coro = coro_new(), .depth = 60, .every = 1};
    for (int times = 0; times < 3; times++) {
        a.yields = b.yields = 0;
        bool a_ended = coro_start(a.coro, dives, &a), b_ended = coro_start(b.coro, dives, &b);
        while (!a_ended || !b_ended) {
            a_ended = a_ended || coro_resume(a.coro);
            b_ended = b_ended || coro_resume(b.coro);
        }
        ck_assert_uint_eq(a.sum, 101 * 64);
        ck_assert_uint_eq(b.sum, 61 * 64);
        ck_assert_uint_eq(a.yields, 2 * 15);
        ck_assert_uint_eq(b.yields, 2 * 61);
    }
    coro_free(a.coro);
    coro_free(b.coro);
}
END_TEST

/* SQLite's deepest calls are far from this. */
START_TEST(deep_within_the_stack)
{
#ifdef TEST_ASAN
    enum { DEPTH = 200 }; /* frames are many times as large there */
#else
    enum { DEPTH = 1200 }; /* of 150 bytes or so */
#endif
    struct diver d = {.coro = coro_new(), .depth = DEPTH};
    for (int times = 0; times < 100; times++) {
        d.every = times % 2 ? 0 : 100;
        bool ended = coro_start(d.coro, dives, &d);
        while (!ended) {
            ended = coro_resume(d.coro);
        }
        ck_assert_uint_eq(d.sum, (DEPTH + 1) * 64);
    }
    coro_free(d.coro);
}
END_TEST

/* One coroutine runs another, as a world runs a host that runs a handler. */
struct outer {
    struct coro *coro;
    struct counter inner;
    unsigned sum;
};

static void runs_inner(void *argument)
{
    struct outer *o = argument;
    bool ended = coro_start(o->inner.coro, count, &o->inner);
    while (!ended) {
        o->sum += o->inner.seen;
        coro_yield(o->coro);
        ended = coro_resume(o->inner.coro);
    }
    o->sum += o->inner.seen;
}

START_TEST(a_coroutine_within_a_coroutine)
{
    struct outer o = {.coro = coro_new(), .inner = {.coro = coro_new(), .from = 1, .steps = 4}};
    unsigned rounds = 1;
    for (bool ended = coro_start(o.coro, runs_inner, &o); !ended; rounds++) {
        ended = coro_resume(o.coro);
    }
    ck_assert_uint_eq(rounds, 5);
    ck_assert_uint_eq(o.sum, 1 + 2 + 3 + 4 + 5);
    coro_free(o.coro);
    coro_free(o.inner.coro);
}
END_TEST

#ifndef TEST_ASAN
START_TEST(too_deep_hits_the_guard_page)
{
    signal(SIGSEGV, SIG_DFL);
    struct diver d = {.coro = coro_new(), .depth = 1000000};
    coro_start(d.coro, dives, &d);
}
END_TEST
#endif

START_TEST(a_busy_coroutine_is_not_started)
{
    test_ends_the_program();
    struct counter c = {.coro = coro_new(), .steps = 1};
    coro_start(c.coro, count, &c);
    coro_start(c.coro, count, &c);
}
END_TEST

START_TEST(an_idle_coroutine_is_not_resumed)
{
    test_ends_the_program();
    coro_resume(coro_new());
}
END_TEST

START_TEST(a_busy_coroutine_is_not_freed)
{
    test_ends_the_program();
    struct counter c = {.coro = coro_new(), .steps = 1};
    coro_start(c.coro, count, &c);
    coro_free(c.coro);
}
END_TEST

Suite *coro_suite(void)
{
    Suite *s = suite_create("coro");
    TCase *t = tcase_create("coro");
    tcase_add_test(t, one_coroutine);
    tcase_add_test(t, used_again_and_again);
    tcase_add_test(t, many_coroutines);
    tcase_add_test(t, yields_in_nested_calls);
    tcase_add_test(t, deep_within_the_stack);
    tcase_add_test(t, a_coroutine_within_a_coroutine);
#ifndef TEST_ASAN
    tcase_add_test_raise_signal(t, too_deep_hits_the_guard_page, SIGSEGV);
#endif
    tcase_add_exit_test(t, a_busy_coroutine_is_not_started, 3);
    tcase_add_exit_test(t, an_idle_coroutine_is_not_resumed, 3);
    tcase_add_exit_test(t, a_busy_coroutine_is_not_freed, 3);
    suite_add_tcase(s, t);
    return s;
}
