/* An operation as its sender makes it: from a listed message, or drawn for a workload.
 *
 * In: its number. Out: an open slot that holds everything that will travel: id, key, group, entity,
 * effect, version and the time by the sender's own clock.
 */
#include "sim/sender_internal.h"

#include <string.h>

/* "<sender>-<n>"; hand-written since it is made once for each message of a workload. */
static size_t generated_id(const struct sender *s, uint64_t n, char *out)
{
    size_t len = strlen(s->config->name);
    memcpy(out, s->config->name, len);
    out[len++] = '-';
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    while (count > 0) {
        out[len++] = digits[--count];
    }
    out[len] = '\0';
    return len;
}

void sender_key(const struct sender *s, uint64_t n, char *out)
{
    if (n == 0) {
        int len = snprintf(out, KEY_MAX, "%s" REGISTRATION_SUFFIX, s->config->name);
        must(len > 0 && len < KEY_MAX);
        return;
    }
    if (s->config->workload.count > 0) {
        generated_id(s, n, out);
        return;
    }
    const struct listed_message *m = &s->config->messages[n - 1];
    const char *key = m->key ? m->key : m->id;
    must(strlen(key) < KEY_MAX);
    strcpy(out, key);
}

static struct operation *open_listed(struct sender *s, uint64_t n)
{
    const struct listed_message *m = &s->config->messages[n - 1];
    struct operation *op =
        operations_open(s->operations, op_make(s->place, n), rng_name(m->id, strlen(m->id)));
    sender_key(s, n, op->key);
    op->entity = m->entity;
    op->amount = m->amount;
    op->listed = true;
    op->effect = m->effect;
    op->invalid = m->invalid;
    op->declined = m->declined;
    op->registers = m->registers;
    op->version = (int64_t)m->version;
    op->group = m->group;
    return op;
}

static struct operation *open_generated(struct sender *s, uint64_t n)
{
    const struct workload *w = &s->config->workload;
    char id[KEY_MAX];
    size_t len = generated_id(s, n, id);
    struct operation *op = operations_open(s->operations, op_make(s->place, n), rng_name(id, len));
    memcpy(op->key, id, len + 1);
    struct rng_key key = sender_draw(op, DRAW_ENTITY);
    uint64_t random = run_draw(s->run, &key);
    op->entity =
        w->first_entity + (s->zipf.cumulative ? zipf_sample(&s->zipf, random) - 1
                                              : (uint32_t)rng_range(random, 0, w->entities - 1));
    key = sender_draw(op, DRAW_AMOUNT);
    op->amount = (int64_t)dist_sample(&w->amount, run_draw(s->run, &key));
    op->effect = w->effect;
    return op;
}

static struct operation *open_registration(struct sender *s)
{
    char id[KEY_MAX];
    sender_key(s, 0, id);
    struct operation *op =
        operations_open(s->operations, op_make(s->place, 0), rng_name(id, strlen(id)));
    memcpy(op->key, id, sizeof(op->key));
    op->entity = UINT32_MAX;
    op->registers = true;
    return op;
}

struct operation *sender_open(struct sender *s, uint64_t n)
{
    struct operation *op = n == 0                          ? open_registration(s)
                           : s->config->workload.count > 0 ? open_generated(s, n)
                                                           : open_listed(s, n);
    op->sender = s->config;
    op->number = (int64_t)n;
    op->made_at = (int64_t)clock_read(&s->clock, s->run->now);
    if (n > 0) {
        acknowledged_begin(s, op);
    }
    return op;
}
