#include "sim/service.h"

#include <stdlib.h>
#include <string.h>

const char *service_did_text(enum service_did d)
{
    switch (d) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        SERVICE_DEEDS(X)
#undef X
    }
    return "?";
}

void service_init(struct service *s, const struct service_config *config, struct run *run,
                  struct network *network, struct operations *operations)
{
    *s = (struct service){
        .config = config, .run = run, .network = network, .operations = operations};
}

void service_fini(struct service *s)
{
    free(s->keys);
}

void service_start(struct service *s)
{
    if (s->key_count > 0) {
        memset(s->keys, 0, s->key_capacity * sizeof(s->keys[0]));
    }
    s->key_count = 0;
}

/* Where the key is, or would be. */
static struct service_key *place_of(struct service_key *keys, size_t capacity, uint64_t key)
{
    size_t i = (size_t)key & (capacity - 1);
    while (keys[i].key != 0 && keys[i].key != key) {
        i = (i + 1) & (capacity - 1);
    }
    return &keys[i];
}

static void grow(struct service *s)
{
    size_t capacity = s->key_capacity > 0 ? 2 * s->key_capacity : 64;
    struct service_key *keys = sim_zalloc(capacity, sizeof(*keys));
    for (size_t i = 0; i < s->key_capacity; i++) {
        if (s->keys[i].key != 0) {
            *place_of(keys, capacity, s->keys[i].key) = s->keys[i];
        }
    }
    free(s->keys);
    s->keys = keys;
    s->key_capacity = capacity;
}

/* Its entry, made free where it is new or its time is over. NULL: calls are not told apart. */
static struct service_key *look_up(struct service *s, uint64_t key)
{
    if (key == 0 || !s->config->keys) {
        return NULL;
    }
    if (2 * (s->key_count + 1) > s->key_capacity) {
        grow(s);
    }
    struct service_key *k = place_of(s->keys, s->key_capacity, key);
    if (k->key == 0) {
        s->key_count++;
        k->key = key;
        k->receipt = 0;
    } else if (s->config->window > 0 && s->run->now - k->since >= s->config->window) {
        k->receipt = 0;
    }
    return k;
}

static int64_t apply(struct service *s, struct operation *op, const struct message *m)
{
    struct occasion when = {s->run->now, m->attempt, m->copy};
    return receipt_make(op->op, operation_external(s->operations, op, when, m->echo));
}

static enum service_did decide(struct service *s, struct operation *op, const struct message *m,
                               int64_t *receipt)
{
    struct service_key *k = look_up(s, (uint64_t)m->receipt);
    if (k != NULL && k->receipt != 0) {
        bool same = k->entity == op->entity && k->amount == op->amount && k->effect == op->effect;
        *receipt = same ? k->receipt : 0;
        return same ? SERVICE_KNOWN : SERVICE_REFUSED;
    }
    *receipt = apply(s, op, m);
    if (k != NULL) {
        k->since = s->run->now;
        k->receipt = *receipt;
        k->entity = op->entity;
        k->amount = op->amount;
        k->effect = op->effect;
    }
    return SERVICE_NEW;
}

void service_receive(struct service *s, struct operation *op, const struct message *m)
{
    int64_t receipt;
    op->called++;
    enum service_did did = decide(s, op, m, &receipt);
    struct record line = {.kind = RECORD_SERVICE,
                          .op = m->op,
                          .attempt = m->attempt,
                          .copy = record_copy(m->copy),
                          .place = PLACE_SERVICE,
                          .code = (uint8_t)did,
                          .value = receipt};
    run_record(s->run, line);
    if (did == SERVICE_NEW) {
        s->applied(s->context, op);
    }
    line.kind = RECORD_SERVICE_ANSWER;
    run_record(s->run, line);
    struct message answer = *m;
    unsigned caller = call_place(m->behind);
    bool of_delivery = call_of_delivery(m->behind);
    answer.direction = ANSWER;
    answer.echo = 1;
    answer.behind = call_behind(caller, of_delivery, m->echo);
    answer.status = (uint8_t)did;
    answer.receipt = receipt;
    network_send(s->network, op, &answer, PLACE_SERVICE, caller);
}
