/* Simulated messages a second against bare loops of the same SQL: on ":memory:" and on the same
 * simulated disk. Checks and history are on; each side works on a new database in each round. */
#include "tests/bench/bench.h"
#include "tests/bench/rig.h"

#include "sim/arena.h"
#include "sim/disk.h"

#include <string.h>

#define MESSAGES 40000
#define ENTITIES 100

static const char scenario[] = "name: bench\n"
                               "receivers: [table]\n"
                               "senders:\n"
                               "  - name: shop\n"
                               "    workload: {count: 40000, entities: 100, charge: 100}\n"
                               "    retry: {after: 1s}\n";

static uint64_t simulated(void *context)
{
    return rig_play(context, true);
}

static uint64_t bare_memory(void *context)
{
    (void)context;
    struct bare b;
    bare_open(&b, NULL, ENTITIES);
    bare_fresh(&b, MESSAGES);
    bare_close(&b);
    return MESSAGES;
}

static uint64_t bare_disk(void *context)
{
    (void)context;
    struct disk *d = disk_new("bench-disk", NULL);
    struct bare b;
    bare_open(&b, disk_vfs(d), ENTITIES);
    bare_fresh(&b, MESSAGES);
    bare_close(&b);
    disk_free(d);
    return MESSAGES;
}

void bench_messages(void)
{
    struct scenario s;
    rig_scenario(scenario, &s);
    struct world *w = rig_world(&s, 0);
    const struct bench_side sides[] = {
        {"simulated", simulated, w}, {"memory", bare_memory, NULL}, {"disk", bare_disk, NULL}};
    double ns[3];
    bench_rounds(sides, 3, 9, ns);
    char figure[32];
    snprintf(figure, sizeof(figure), "%.2f", ns[1] / ns[0]);
    bench_line("messages/s, table, against the bare loop on :memory:", figure, "0.70", "0.90");
    snprintf(figure, sizeof(figure), "%.2f", ns[2] / ns[0]);
    bench_line("messages/s, table, against the bare loop on the simulated disk", figure, "0.70",
               "0.85");
    printf("    ns a message: simulated %.0f, :memory: %.0f, same disk %.0f\n", ns[0], ns[1],
           ns[2]);
    world_free(w);
    scenario_fini(&s);
}
