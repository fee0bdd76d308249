/* The event engine alone: the hold model (pop the earliest, push it back later), uniform increments
 * below a million. */
#include "tests/bench/bench.h"

#include "sim/queue.h"
#include "sim/rng.h"

#define HOLDS 1000000

struct hold {
    struct queue queue;
    uint64_t random;
};

static uint64_t hold(void *context)
{
    struct hold *h = context;
    struct event e;
    uint64_t at;
    for (int i = 0; i < HOLDS; i++) {
        must(queue_pop(&h->queue, &at, &e));
        h->random = h->random * UINT64_C(6364136223846793005) + 1442695040888963407;
        queue_push(&h->queue, at + (h->random >> 33) % 1000000, &e);
    }
    return HOLDS;
}

void bench_engine(void)
{
    static const unsigned pending[] = {10, 100, 1000};
    struct hold holds[ARRAY_LEN(pending)];
    struct bench_side sides[ARRAY_LEN(pending)];
    double ns[ARRAY_LEN(pending)];
    for (size_t i = 0; i < ARRAY_LEN(pending); i++) {
        holds[i].random = 1;
        queue_init(&holds[i].queue, 16);
        for (unsigned n = 0; n < pending[i]; n++) {
            queue_push(&holds[i].queue, n * 1000, &(struct event){0});
        }
        sides[i] = (struct bench_side){"hold", hold, &holds[i]};
    }
    bench_rounds(sides, ARRAY_LEN(pending), 9, ns);
    char figure[64];
    snprintf(figure, sizeof(figure), "%.0f %.0f %.0f ns", ns[0], ns[1], ns[2]);
    bench_line("event engine, hold model, at 10, 100, 1,000 pending", figure, "(3.5 x",
               "5 x ns-3)");
    for (size_t i = 0; i < ARRAY_LEN(pending); i++) {
        queue_fini(&holds[i].queue);
    }
}
