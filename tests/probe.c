#include "tests/probe.h"

struct seen seen[SEEN_MAX];
size_t seen_count;
enum outcome outcomes[SEEN_MAX];
size_t outcome_count;

void look(struct handling *h)
{
    must(seen_count < SEEN_MAX);
    struct seen *s = &seen[seen_count++];
    snprintf(s->key, sizeof(s->key), "%s", handling_key(h));
    snprintf(s->group, sizeof(s->group), "%s", handling_group(h));
    snprintf(s->body, sizeof(s->body), "%s", handling_body(h));
    s->number = handling_number(h);
    s->acknowledged = handling_acknowledged(h);
    s->version = handling_version(h);
    s->made_at = handling_made_at(h);
    s->valid = handling_valid(h);
}

void probe_table(struct handling *h)
{
    look(h);
    receiver_find("table", 5)->handle(h);
}

enum outcome effect_noted(struct handling *h)
{
    enum outcome o = apply_effect(h);
    must(outcome_count < SEEN_MAX);
    outcomes[outcome_count++] = o;
    return o;
}

/* `text` with its receiver replaced by the handler. */
struct world *probed(struct scenario *s, struct receiver *code, void (*handle)(struct handling *h))
{
    *code = *receiver_find("table", 5);
    code->handle = handle;
    s->receivers[0].code = code;
    seen_count = outcome_count = 0;
    return rig_world(s, s->receivers[0].name);
}

uint32_t violated(const struct result *r)
{
    uint32_t set = 0;
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        set |= r->violated[c] > 0 ? CHECK_BIT(c) : 0;
    }
    return set;
}

void shop(struct scenario *s, const char *policy, const char *messages, const char *faults)
{
    rig_scenario(s,
                 "receivers: [table, naive, ack_first]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [%s]\n"
                 "%s"
                 "network: {delay: 50ms}\n"
                 "faults: [%s]\n",
                 messages, policy, faults);
}
