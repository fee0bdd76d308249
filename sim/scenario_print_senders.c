/* `senders:` of a scenario file that is written. */
#include "sim/scenario_print_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static void print_message(const struct scenario *s, const struct listed_message *message, FILE *out)
{
    char entity[KEY_MAX];
    struct print_map m = {0};
    print_take(&m, "id", print_name(message->id));
    if (message->key != NULL) {
        print_take(&m, "key", print_name(message->key));
    }
    if (message->group != NULL) {
        print_take(&m, "group", print_name(message->group));
    }
    if (message->registers) {
        print_put(&m, "register", "true");
    } else {
        print_take(&m, "entity", print_name(scenario_entity(s, message->entity, entity)));
    }
    if (message->registers) {
        /* asks for nothing else */
    } else if (message->effect == EFFECT_ADD) {
        print_put(&m, "charge", "%" PRId64, message->amount);
    } else {
        print_put(&m, "effect", "{%s: %" PRId64 "}", effect_text((enum effect)message->effect),
                  message->amount);
    }
    print_number(&m, "version", message->version, 0);
    if (message->invalid) {
        print_put(&m, "invalid", "true");
    }
    print_number(&m, "declined", message->declined, 0);
    print_duration(&m, "at", message->at, 0);
    char *line = print_flow(&m);
    fprintf(out, "      - %s\n", line);
    free(line);
}

static void print_workload(const struct workload *w, FILE *out)
{
    struct print_map m = {0};
    print_number(&m, "count", w->count, 0);
    print_number(&m, "entities", w->entities, 1);
    print_decimal(&m, "skew", w->skew);
    print_amounts(&m, "charge", &w->amount);
    if (w->effect != EFFECT_ADD) {
        print_put(&m, "effect", "%s", effect_text((enum effect)w->effect));
    }
    print_map(out, 4, "workload", &m);
}

static void print_loop(const struct sender_config *sender, FILE *out)
{
    if (!sender->open_loop) {
        if (sender->in_flight != 1) {
            fprintf(out, "    in_flight: %" PRIu32 "\n", sender->in_flight);
        }
        return;
    }
    fputs("    loop: open\n", out);
    const struct dist *gap = &sender->gap;
    uint64_t rate = gap->kind == DIST_CONSTANT && gap->a > 0 ? SIM_S / gap->a : 0;
    if (rate > 1 && SIM_S / rate == gap->a) {
        fprintf(out, "    rate: %" PRIu64 "/s\n", rate);
        return;
    }
    struct print_map m = {0};
    print_dist(&m, "every", gap, NULL);
    print_items(out, 4, &m);
}

static void print_retry(const struct retry_policy *r, FILE *out)
{
    struct print_map m = {0};
    uint64_t max = 60 * SIM_S;
    print_duration(&m, "timeout", r->timeout, 0);
    print_duration(&m, "after", r->after, SIM_S);
    if (r->backoff != BACKOFF_FIXED) {
        print_put(&m, "backoff", "%s", backoff_text(r->backoff));
    }
    /* The reader lifts the default to "after". */
    print_duration(&m, "max", r->max, r->after > max ? r->after : max);
    print_number(&m, "limit", r->limit, 5);
    print_duration(&m, "deadline", r->deadline, 0);
    print_map(out, 4, "retry", &m);
}

static void print_policies(const struct sender_config *sender, FILE *out)
{
    if (sender->keys != KEYS_STABLE) {
        fprintf(out, "    keys: %s\n", key_policy_text(sender->keys));
    }
    if (sender->stamped) {
        fputs("    body: stamped\n", out);
    }
    if (sender->group_changes) {
        fputs("    groups: new-per-attempt\n", out);
    }
    if (sender->uncorrelated) {
        fputs("    correlation: none\n", out);
    }
    if (sender->opens_session) {
        fputs("    session: registered\n", out);
    }
}

void print_senders(const struct scenario *s, FILE *out)
{
    fputs("senders:\n", out);
    for (size_t i = 0; i < s->sender_count; i++) {
        const struct sender_config *sender = &s->senders[i];
        char *name = print_name(sender->name);
        fprintf(out, "  - name: %s\n", name);
        free(name);
        if (sender->workload.count > 0) {
            print_workload(&sender->workload, out);
        } else {
            fputs("    messages:\n", out);
        }
        for (size_t n = 0; n < sender->message_count; n++) {
            print_message(s, &sender->messages[n], out);
        }
        print_loop(sender, out);
        print_retry(&sender->retry, out);
        if (sender->give_up_is_failed) {
            fputs("    on_give_up: failed\n", out);
        }
        print_policies(sender, out);
    }
}
