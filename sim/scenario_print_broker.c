/* `broker:` of a scenario, as a file writes it: what differs from the defaults. */
#include "sim/scenario_print_internal.h"

void print_broker(const struct broker_config *b, FILE *out)
{
    struct print_map m = {0};
    if (!b->on) {
        return;
    }
    print_duration(&m, "visibility", b->visibility, BROKER_VISIBILITY);
    print_number(&m, "redeliver", b->redeliver, BROKER_REDELIVER);
    print_duration(&m, "after", b->after, 0);
    if (b->order != ORDER_NONE) {
        print_put(&m, "fifo", "%s", broker_order_text(b->order));
    }
    print_number(&m, "prefetch", b->prefetch, 0);
    if (b->replay) {
        print_put(&m, "dead_letters", "replayed");
        print_duration(&m, "replay_after", b->replay_after, BROKER_REPLAY_AFTER);
    }
    if (b->while_queued) {
        print_put(&m, "duplicate_window", "queued");
    }
    print_duration(&m, "duplicate_window", b->duplicate_window, 0);
    if (b->late_ack_fails) {
        print_put(&m, "delete_late", "fails");
    }
    if (m.count == 0) {
        fputs("broker: {}\n", out);
    } else {
        print_map(out, 0, "broker", &m);
    }
}
