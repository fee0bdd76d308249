/* What a handler may read of its message and of its host: see receivers/receiver.h.
 *
 * In: a handling. Out: what travels (key, body, group, numbers), never the operation. Texts that
 * are made on the way lie with the worker until its next handling.
 */
#include "sim/handling.h"
#include "sim/sender_config.h"

#include <inttypes.h>

/* "<text>~2" from the second attempt on. */
static const char *of_attempt(const struct handling *h, const char *text, char out[KEY_MAX])
{
    unsigned attempt = message_sent_as(&h->message);
    if (attempt <= 1) {
        return text;
    }
    int n = snprintf(out, KEY_MAX, "%s~%u", text, attempt);
    must(n > 0 && n < KEY_MAX);
    return out;
}

const char *handling_key(const struct handling *h)
{
    if (op_is_follow(h->op->op) && h->message.behind > 0) {
        return h->op->others[h->message.behind - 1];
    }
    switch (h->op->sender->keys) {
    case KEYS_STABLE:
        return h->op->key;
    case KEYS_NEW_PER_ATTEMPT:
        return of_attempt(h, h->op->key, h->worker->key);
    case KEYS_PER_ENTITY:
        return handling_entity(h);
    case KEYS_NONE:
        return "";
    }
    must(!"a key policy");
}

const char *handling_client(const struct handling *h)
{
    return h->host->client_name(h->host->names, op_sender(h->message.op));
}

const char *handling_entity(const struct handling *h)
{
    if (h->op->registers) {
        return "";
    }
    return h->host->entity_name(h->host->names, h->op->entity, h->worker->entity);
}

int64_t handling_amount(const struct handling *h)
{
    return h->op->amount;
}

int64_t handling_setting(const struct handling *h, unsigned index)
{
    must(index < SETTINGS_MAX);
    return h->host->settings[index];
}

const char *handling_body(struct handling *h)
{
    struct worker *w = h->worker;
    const char *entity = handling_entity(h);
    const size_t size = sizeof(w->body);
    const int64_t n = h->op->amount;
    int len = 0;
    if (h->op->registers) {
        return "register";
    }
    switch ((enum effect)h->op->effect) {
    case EFFECT_ADD:
        len = snprintf(w->body, size, "add %" PRId64 " to %s", n, entity);
        break;
    case EFFECT_SET:
        len = snprintf(w->body, size, "set %s to %" PRId64, entity, n);
        break;
    case EFFECT_CREATE:
        len = snprintf(w->body, size, "create %" PRId64 " of %s", n, entity);
        break;
    case EFFECT_INSERT:
        len = snprintf(w->body, size, "insert %s with %" PRId64, entity, n);
        break;
    }
    must(len > 0 && (size_t)len < size);
    if (h->op->sender->stamped) {
        len += snprintf(w->body + len, size - (size_t)len, ", attempt %u",
                        message_sent_as(&h->message));
        must((size_t)len < size);
    }
    return w->body;
}

uint64_t handling_now(const struct handling *h)
{
    struct handling *own = &h->worker->handling; /* the same, to be written */
    uint64_t now = clock_read(&h->host->clock, h->host->run->now);
    if (own->asked == 0) {
        own->asked = h->host->run->now;
        own->asked_clock = now;
    }
    return now;
}

uint64_t handling_arrived(const struct handling *h)
{
    return clock_read(&h->host->clock, h->arrived);
}

void handling_note(struct handling *h, int64_t note)
{
    h->note = note;
}

int64_t handling_noted(const struct handling *h)
{
    return h->note;
}

bool handling_valid(const struct handling *h)
{
    return !h->op->invalid;
}

const char *handling_group(const struct handling *h)
{
    const char *group = h->op->group != NULL ? h->op->group : handling_entity(h);
    return h->op->sender->group_changes ? of_attempt(h, group, h->worker->group) : group;
}

int64_t handling_number(const struct handling *h)
{
    return h->op->number;
}

int64_t handling_session(const struct handling *h)
{
    /* A broker keeps what the client said to itself. */
    return h->message.direction == REQUEST ? h->message.receipt : 0;
}

bool handling_registers(const struct handling *h)
{
    return h->op->registers;
}

int64_t handling_acknowledged(const struct handling *h)
{
    int64_t n = handling_number(h) - (int64_t)h->message.behind;
    return n > 0 && !op_is_follow(h->message.op) ? n : 0; /* with a counter that is behind */
}

int64_t handling_version(const struct handling *h)
{
    return h->op->version != 0 ? h->op->version : (int64_t)op_number(h->message.op);
}

int64_t handling_made_at(const struct handling *h)
{
    return h->op->made_at;
}
