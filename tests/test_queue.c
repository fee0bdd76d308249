/* The queue against a list that is searched from end to end. */
#include "sim/queue.h"
#include "sim/rng.h"
#include "tests/suites.h"

#include <stdlib.h>

/* What was pushed, in that order; the earliest of equals is the first one. */
struct pushed {
    uint64_t at;
    struct queue_handle handle;
    bool waiting;
};

struct model {
    struct pushed *list;
    uint32_t count, waiting;
};

static void push(struct queue *q, struct model *m, uint64_t at)
{
    struct event e = {.serial = m->count, .message.op = ~(uint64_t)m->count};
    m->list[m->count] = (struct pushed){at, queue_push(q, at, &e), true};
    m->count++;
    m->waiting++;
}

static uint32_t earliest(const struct model *m)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->list[i].waiting && (best == UINT32_MAX || m->list[i].at < m->list[best].at)) {
            best = i;
        }
    }
    return best;
}

/* Pops from both and compares; false when both are empty. */
static bool pop(struct queue *q, struct model *m)
{
    uint64_t at = 0;
    uint64_t peeked = 0;
    struct event e = {0};
    expect(queue_count(q) == m->waiting);
    bool peek = queue_peek(q, &peeked);
    bool some = queue_pop(q, &at, &e);
    uint32_t i = earliest(m);
    expect(some == (i != UINT32_MAX) && peek == some);
    if (some) {
        expect(e.serial == i);
        expect(e.message.op == ~(uint64_t)i);
        expect(at == m->list[i].at);
        expect(peeked == at);
        expect(!queue_remove(q, m->list[i].handle));
        m->list[i].waiting = false;
        m->waiting--;
    }
    return some;
}

static void take_away(struct queue *q, struct model *m, uint32_t i)
{
    expect(queue_remove(q, m->list[i].handle) == m->list[i].waiting);
    m->waiting -= m->list[i].waiting;
    m->list[i].waiting = false;
    expect(!queue_remove(q, m->list[i].handle));
}

START_TEST(the_worked_example)
{
    struct queue q;
    queue_init(&q, 0);
    struct event a = {.serial = 'a'}, b = {.serial = 'b'}, c = {.serial = 'c'}, e;
    uint64_t at;
    ck_assert(!queue_peek(&q, &at) && !queue_pop(&q, &at, &e));
    queue_push(&q, 5, &a);
    queue_push(&q, 1, &b);
    queue_push(&q, 5, &c);
    ck_assert(queue_pop(&q, &at, &e) && at == 1 && e.serial == 'b');
    ck_assert(queue_pop(&q, &at, &e) && at == 5 && e.serial == 'a');
    ck_assert(queue_pop(&q, &at, &e) && at == 5 && e.serial == 'c');
    ck_assert(!queue_peek(&q, &at) && !queue_pop(&q, &at, &e));
    queue_fini(&q);
}
END_TEST

static uint64_t pattern(int which, uint32_t i, uint32_t n, uint64_t *stream)
{
    switch (which) {
    case 0:
        return 7; /* all ties */
    case 1:
        return i;
    case 2:
        return n - i;
    case 3:
        return i % 2;
    case 4:
        return SIM_TIME_MAX - i / 4;
    default:
        return rng_range(rng_next(stream), 0, n);
    }
}

/* Every slot, in queues of up to 90 events (four levels), also right after a pop, when the root is
 * hollow, and with a push afterwards. */
START_TEST(any_one_can_be_removed)
{
    struct queue q;
    queue_init(&q, 1);
    struct pushed list[100];
    uint64_t stream = 1;
    for (uint32_t n = 1; n <= 90; n += n < 25 ? 1 : 13) {
        for (int which = 0; which < 7; which++) {
            for (int popped = 0; popped < 3; popped++) {
                for (uint32_t victim = 0; victim < n; victim++) {
                    struct model m = {.list = list};
                    queue_reset(&q);
                    for (uint32_t i = 0; i < n; i++) {
                        push(&q, &m, pattern(which, i, n, &stream));
                    }
                    for (int i = 0; i < popped; i++) {
                        pop(&q, &m);
                    }
                    take_away(&q, &m, victim);
                    if (victim % 2 == 0) {
                        push(&q, &m, 7);
                    }
                    while (pop(&q, &m)) {
                    }
                }
            }
        }
    }
    queue_fini(&q);
}
END_TEST

/* Random pushes, pops and removals; each seed with times from another range, from all ties to no
 * ties, and its own idea of how full the queue is. */
START_TEST(it_agrees_with_a_list)
{
    enum { STEPS = 1500 };
    struct pushed *list = calloc(STEPS, sizeof(*list));
    struct queue q;
    queue_init(&q, 4);
    for (uint64_t seed = 0; seed < 200; seed++) {
        static const uint64_t ranges[] = {0, 1, 3, 20, 1000, SIM_TIME_MAX};
        uint64_t stream = seed;
        uint64_t range = ranges[seed % ARRAY_LEN(ranges)];
        uint64_t pushes = rng_range(rng_next(&stream), 30, 60);
        struct model m = {.list = list};
        queue_reset(&q);
        for (int i = 0; i < STEPS; i++) {
            uint64_t dice = rng_range(rng_next(&stream), 0, 99);
            if (dice < pushes) {
                push(&q, &m, rng_range(rng_next(&stream), 0, range));
            } else if (dice < 85 || m.count == 0) {
                pop(&q, &m);
            } else {
                take_away(&q, &m, (uint32_t)rng_range(rng_next(&stream), 0, m.count - 1));
            }
        }
        if (seed % 3 != 0) { /* the others are reset while they are full */
            while (pop(&q, &m)) {
            }
        }
    }
    queue_fini(&q);
    free(list);
}
END_TEST

START_TEST(handles_go_stale)
{
    struct queue q;
    queue_init(&q, 2);
    struct event e = {0};
    uint64_t at;
    ck_assert(!queue_remove(&q, (struct queue_handle){0}));
    ck_assert(!queue_remove(&q, (struct queue_handle){.slot = 3}));
    ck_assert(!queue_remove(&q, (struct queue_handle){.slot = UINT32_MAX}));
    struct queue_handle old[64];
    for (int i = 0; i < 64; i++) {
        old[i] = queue_push(&q, 1, &e);
        for (int j = 0; j < i; j++) {
            expect(!queue_remove(&q, old[j]));
        }
        if (i % 2 == 0) {
            expect(queue_pop(&q, &at, &e));
        } else {
            expect(queue_remove(&q, old[i]));
        }
    }
    struct queue_handle before = queue_push(&q, 1, &e);
    queue_reset(&q);
    ck_assert(!queue_remove(&q, before));
    struct queue_handle after = queue_push(&q, 2, &e);
    ck_assert(!queue_remove(&q, before));
    ck_assert(queue_peek(&q, &at) && at == 2);
    ck_assert(queue_remove(&q, after));
    ck_assert_uint_eq(queue_count(&q), 0);
    queue_fini(&q);
}
END_TEST

START_TEST(a_reset_queue_is_like_a_new_one)
{
    struct queue q;
    queue_init(&q, 8);
    for (uint32_t left = 0; left < 20; left++) {
        struct event e = {0};
        uint64_t at;
        for (uint32_t i = 0; i < 20; i++) {
            queue_push(&q, i, &e);
        }
        for (uint32_t i = left; i < 20; i++) {
            queue_pop(&q, &at, &e);
        }
        queue_reset(&q);
        expect(queue_count(&q) == 0);
        expect(q.next_seq == 0);
        expect(!queue_peek(&q, &at) && !queue_pop(&q, &at, &e));
        struct pushed list[50];
        struct model m = {.list = list};
        for (uint32_t i = 0; i < 50; i++) {
            push(&q, &m, 49 - i);
        }
        while (pop(&q, &m)) {
        }
    }
    ck_assert_uint_le(q.capacity, 64);
    queue_fini(&q);
}
END_TEST

START_TEST(a_time_beyond_the_end_ends_the_program)
{
    test_ends_the_program();
    struct queue q;
    queue_init(&q, 1);
    struct event e = {0};
    queue_push(&q, SIM_TIME_MAX, &e);
    queue_push(&q, SIM_TIME_MAX + 1, &e);
}
END_TEST

Suite *queue_suite(void)
{
    Suite *s = suite_create("queue");
    TCase *t = tcase_create("queue");
    tcase_add_test(t, the_worked_example);
    tcase_add_test(t, any_one_can_be_removed);
    tcase_add_test(t, it_agrees_with_a_list);
    tcase_add_test(t, handles_go_stale);
    tcase_add_test(t, a_reset_queue_is_like_a_new_one);
    tcase_add_exit_test(t, a_time_beyond_the_end_ends_the_program, 3);
    suite_add_tcase(s, t);
    return s;
}
