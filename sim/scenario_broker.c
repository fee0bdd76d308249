/* `broker:` of a scenario file. */
#include "sim/scenario_internal.h"

#include <string.h>

/* A duration, or `queued`. */
static void read_window(struct yaml *y, const struct yaml_node *node, struct broker_config *b)
{
    static const char queued[] = "queued";
    size_t len = sizeof(queued) - 1;
    if (node != NULL && node->kind == YAML_SCALAR && node->len == len &&
        memcmp(node->text, queued, len) == 0) {
        b->while_queued = true;
    } else {
        read_duration(y, node, 0, &b->duplicate_window);
    }
}

void read_broker(struct reader *r, const struct yaml_node *mapping)
{
    static const char *const orders[] = {
#define X(name, text) text,
        BROKER_ORDERS(X)
#undef X
    };
    static const char *const fates[] = {"kept", "replayed"};
    static const char *const lates[] = {"works", "fails"};
    struct yaml *y = &r->yaml;
    struct broker_config *b = &r->s->broker;
    const struct yaml_node *node = value_of(mapping, "broker");
    if (node == NULL) {
        return;
    }
    *b = broker_usual();
    if (!READ_MAPPING(y, node, "broker", "visibility", "redeliver", "after", "fifo", "prefetch",
                      "dead_letters", "replay_after", "duplicate_window", "delete_late")) {
        return;
    }
    const struct yaml_node *replay_after = value_of(node, "replay_after");
    unsigned order = 0, fate = 0, late = 0;
    read_duration(y, value_of(node, "visibility"), 1, &b->visibility);
    read_u32(y, value_of(node, "redeliver"), 1, BROKER_REDELIVER_MAX, &b->redeliver);
    read_duration(y, value_of(node, "after"), 0, &b->after);
    read_choice(y, value_of(node, "fifo"), "fifo", orders, ARRAY_LEN(orders), &order);
    read_u32(y, value_of(node, "prefetch"), 1, BROKER_PREFETCH_MAX, &b->prefetch);
    read_choice(y, value_of(node, "dead_letters"), "dead_letters", fates, ARRAY_LEN(fates), &fate);
    read_duration(y, replay_after, 0, &b->replay_after);
    read_window(y, value_of(node, "duplicate_window"), b);
    read_choice(y, value_of(node, "delete_late"), "delete_late", lates, ARRAY_LEN(lates), &late);
    if (replay_after != NULL && fate == 0) {
        yaml_error(y, replay_after->at,
                   "\"replay_after\" is said of dead letters that are \"replayed\", and these are "
                   "kept");
    }
    b->order = (enum broker_order)order;
    b->replay = fate == 1;
    b->late_ack_fails = late == 1;
}
