/* Why a check was violated, in one sentence: what contradicts what.
 *
 * In: a violation with the three ledgers' word on its operation. Out: text that is safe to print.
 * What is not known is left out, so that a violation without testimony still has a sentence.
 */
#include "sim/cover.h"
#include "sim/result.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct out {
    char *text;
    size_t size, n;
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(o->text + o->n, o->size - o->n, format, args);
    va_end(args);
    must(n >= 0);
    o->n += (size_t)n < o->size - o->n ? (size_t)n : o->size - o->n - 1;
}

/* A receipt came through a receiver, which may have made it up. */
static bool known_operation(const struct scenario *s, uint64_t op)
{
    unsigned sender = op_sender(op);
    if (sender < PLACE_SENDER || sender - PLACE_SENDER >= s->sender_count) {
        return false;
    }
    const struct sender_config *c = &s->senders[sender - PLACE_SENDER];
    return op_number(op) >= 1 && op_number(op) <= c->message_count + c->workload.count;
}

/* "the receipt of m-78 (its effect 1)", or only its number. */
static void receipt_text(const struct scenario *s, int64_t receipt, char *out, size_t size)
{
    uint64_t op = receipt_op(receipt);
    char raw[KEY_MAX], name[NAME_TEXT];
    if (receipt <= 0 || !known_operation(s, op)) {
        snprintf(out, size, "receipt %" PRId64, receipt);
        return;
    }
    scenario_operation_id(s, op, raw);
    name_text(raw, name, sizeof(name));
    snprintf(out, size, "the receipt of %s (its effect %u)", name, receipt_nth(receipt));
}

/* How a sentence speaks of an effect: "order-1042 charged", "its charge of order-1042". */
static const struct effect_words {
    const char *done, *noun;
} effect_words[] = {
    [EFFECT_ADD] = {"charged", "charge"},
    [EFFECT_SET] = {"set", "setting"},
    [EFFECT_CREATE] = {"created", "creation"},
    [EFFECT_INSERT] = {"inserted", "insertion"},
};

/* The names in a sentence. */
struct cast {
    const struct violation *v;
    const struct effect_words *words;
    bool no_key;         /* its sender gives no keys */
    bool late_forbidden; /* by the contract */
    char op[NAME_TEXT];
    char sender[NAME_TEXT];
    char key_of[NAME_TEXT]; /* operation whose key it shares; "": none */
    char entity[NAME_TEXT];
    char service[NAME_TEXT];
    char at[SECONDS_TEXT];
    char receipt_a[NAME_TEXT + 64], receipt_b[NAME_TEXT + 64]; /* of WHY_..._REPLY and RESPONSE */
};

/* By a fault, or because the file says so; of a listed message the first one that does. 0: none. */
static uint64_t same_key(const struct scenario *s, const struct violation *v)
{
    char key[KEY_MAX], other[KEY_MAX];
    if (v->testimony.key_of != 0 || v->op == 0 || v->reason != WHY_MERGED) {
        return v->testimony.key_of;
    }
    scenario_operation_key(s, v->op, key);
    for (size_t i = 0; i < s->sender_count; i++) {
        for (size_t n = 1; n <= s->senders[i].message_count; n++) {
            uint64_t op = op_make(PLACE_SENDER + (unsigned)i, n);
            scenario_operation_key(s, op, other);
            if (op != v->op && strcmp(key, other) == 0) {
                return op;
            }
        }
    }
    return 0;
}

static enum effect effect_of(const struct sender_config *c, uint64_t n)
{
    bool listed = c->workload.count == 0 && n >= 1 && n <= c->message_count;
    return (enum effect)(listed ? c->messages[n - 1].effect : c->workload.effect);
}

static void cast_of(const struct scenario *s, const struct violation *v, struct cast *c)
{
    char raw[KEY_MAX] = "";
    c->v = v;
    c->late_forbidden = s->late_forbidden;
    c->words = &effect_words[EFFECT_ADD];
    c->no_key = false;
    name_text(service_name(&s->service), c->service, sizeof(c->service));
    snprintf(c->op, sizeof(c->op), "the world");
    snprintf(c->sender, sizeof(c->sender), "the sender");
    snprintf(c->entity, sizeof(c->entity), "the entity");
    if (v->op != 0) {
        scenario_operation_id(s, v->op, raw);
        name_text(raw, c->op, sizeof(c->op));
        size_t sender = op_sender(v->op) - PLACE_SENDER;
        if (sender < s->sender_count) {
            const struct sender_config *config = &s->senders[sender];
            name_text(config->name, c->sender, sizeof(c->sender));
            c->words = &effect_words[effect_of(config, op_number(v->op))];
            c->no_key = config->keys == KEYS_NONE;
        }
    }
    c->key_of[0] = '\0';
    uint64_t other = same_key(s, v);
    if (other != 0) {
        scenario_operation_id(s, other, raw);
        name_text(raw, c->key_of, sizeof(c->key_of));
    }
    bool names_entity = v->reason == WHY_EFFECTS || v->reason == WHY_LOST ||
                        v->reason == WHY_GHOST || v->reason == WHY_BALANCE ||
                        v->reason == WHY_OUT_OF_ORDER || v->reason == WHY_NOT_EMITTED ||
                        v->reason == WHY_UNFOUNDED || v->reason == WHY_TWO_IDS;
    if (names_entity && v->b >= 0 && (uint64_t)v->b <= UINT32_MAX) {
        name_text(scenario_entity(s, (uint32_t)v->b, raw), c->entity, sizeof(c->entity));
    }
    if (op_is_follow(v->op)) {
        size_t n = strlen(c->entity);
        snprintf(c->sender, sizeof(c->sender), "the receiver");
        snprintf(c->entity + n, sizeof(c->entity) - n, " downstream");
    }
    seconds_text(v->at, c->at);
    receipt_text(s, v->a, c->receipt_a, sizeof(c->receipt_a));
    receipt_text(s, v->b, c->receipt_b, sizeof(c->receipt_b));
}

/* "1 attempt", "2 attempts" */
static void put_count(struct out *o, int64_t n, const char *what)
{
    put(o, "%" PRId64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void put_deliveries(struct out *o, uint32_t n)
{
    put(o, "%u deliver%s", n, n == 1 ? "y" : "ies");
}

/* "m-77/2.2", or the operation alone where its message is not known. */
static void put_message(struct out *o, const struct cast *c, const struct occasion *when)
{
    put(o, "%s", c->op);
    if (when->at != 0) {
        put(o, "/%u", when->attempt);
    }
    if (when->copy > 1) {
        put(o, ".%u", when->copy);
    }
}

/* ": m-77/1 at 1.064 s, m-77/2 at 2.043 s" of all that there were. */
static void put_effects(struct out *o, const struct cast *c, int64_t all)
{
    const struct testimony *t = &c->v->testimony;
    int64_t told = 0;
    for (size_t i = 0; i < EFFECTS_TOLD && t->effects[i].at != 0; i++) {
        char at[SECONDS_TEXT];
        put(o, "%s", told++ == 0 ? ": " : ", ");
        put_message(o, c, &t->effects[i]);
        if (t->echoes[i] > 1) {
            put(o, "%s.%u", t->effects[i].copy > 1 ? "" : ".1", t->echoes[i]);
        }
        put(o, " at %s s", seconds_text(t->effects[i].at, at));
    }
    if (told > 0 && all > told) {
        put(o, ", and %" PRId64 " more", all - told);
    }
}

static void put_belief(struct out *o, const struct cast *c)
{
    const struct testimony *t = &c->v->testimony;
    if (!t->closed) {
        put(o, "%s still waits for an answer to %s", c->sender, c->op);
    } else if (t->gave_up) {
        put(o, "%s gave %s up and believes it %s", c->sender, c->op,
            belief_text((enum belief)t->belief));
    } else {
        put(o, "%s believes %s %s", c->sender, c->op,
            t->belief == BELIEF_DONE ? "done once" : belief_text((enum belief)t->belief));
    }
}

static void put_double(struct out *o, const struct cast *c)
{
    put(o, "%s %s ", c->entity, c->words->done);
    put_count(o, c->v->a, "time");
    if (c->v->testimony.effects[0].at == 0) {
        put(o, " by %s", c->op);
        return;
    }
    put_effects(o, c, c->v->a);
    if (c->v->testimony.effects_late > 0) {
        put(o, " (%u late%s)", c->v->testimony.effects_late,
            c->late_forbidden ? ", which the contract forbids" : "");
    }
    put(o, "; ");
    put_belief(o, c);
}

static void put_lost(struct out *o, const struct cast *c)
{
    const struct testimony *t = &c->v->testimony;
    char at[SECONDS_TEXT];
    put(o, "%s believes %s done", c->sender, c->op);
    if (t->closed_at != 0) {
        put(o, " since %s s", seconds_text(t->closed_at, at));
    }
    if (t->effects_ever > 0) {
        put(o, ", but nothing is left of its %s of %s", c->words->noun, c->entity);
    } else {
        put(o, ", but %s was never %s by it", c->entity, c->words->done);
    }
    if (t->dead_letters > 0) {
        put(o, "; after ");
        put_deliveries(o, t->deliveries);
        put(o, " it is a dead letter");
    }
}

static void put_ghost(struct out *o, const struct cast *c)
{
    const struct testimony *t = &c->v->testimony;
    char at[SECONDS_TEXT];
    put(o, "%s ", c->sender);
    put(o, t->gave_up ? "took giving %s up for failure" : "was told that %s failed", c->op);
    if (t->closed_at != 0) {
        put(o, " at %s s", seconds_text(t->closed_at, at));
    }
    put(o, ", but %s was %s ", c->entity, c->words->done);
    put_count(o, c->v->a, "time");
    put(o, " by it");
    put_effects(o, c, c->v->a);
}

/* Effects at the service: more than one, or against what is believed. */
static void put_external(struct out *o, const struct cast *c)
{
    const struct testimony *t = &c->v->testimony;
    if (c->v->reason == WHY_EXTERNAL_LOST) {
        put(o, "%s believes %s done, but %s was never called for it", c->sender, c->op, c->service);
        return;
    }
    if (c->v->reason == WHY_EXTERNAL_GHOST) {
        put(o, "%s ", c->sender);
        put(o, t->gave_up ? "took giving %s up for failure" : "was told that %s failed", c->op);
        put(o, ", but %s was charged ", c->service);
    } else {
        put(o, "%s was charged ", c->service);
    }
    put_count(o, c->v->a, "time");
    put(o, " for %s", c->op);
    put_effects(o, c, c->v->a);
    if (t->effects_late > 0) {
        put(o, " (%u late%s)", t->effects_late,
            c->late_forbidden ? ", which the contract forbids" : "");
    }
    if (c->v->reason == WHY_EXTERNAL) {
        put(o, "; ");
        put_belief(o, c);
    }
}

static void put_undone(struct out *o, const struct cast *c)
{
    const struct testimony *t = &c->v->testimony;
    char acked[SECONDS_TEXT], crash[SECONDS_TEXT], effect[SECONDS_TEXT];
    seconds_text((uint64_t)c->v->a, acked);
    seconds_text((uint64_t)c->v->b, crash);
    put(o, "%s, ", c->op);
    if (t->effects[0].at != 0) {
        put(o, "%s by ", c->words->done);
        put_message(o, c, &t->effects[0]);
        put(o, " at %s s and ", seconds_text(t->effects[0].at, effect));
    }
    put(o, "acknowledged at %s s", acked);
    if (t->acked.at != 0 && t->effects[0].at == 0) {
        put(o, " before its effect was on the disk, was lost in the crash at %s s", crash);
    } else {
        put(o, ", was undone by the crash at %s s", crash);
    }
}

static void put_reply(struct out *o, const struct cast *c)
{
    const struct testimony *t = &c->v->testimony;
    char first[SECONDS_TEXT];
    if (c->v->reason == WHY_REFUSED_LATER) {
        put_message(o, c, &t->acked);
        put(o, " had succeeded at %s s and ", seconds_text((uint64_t)c->v->a, first));
        if (t->replied.at != 0) {
            put_message(o, c, &t->replied);
            put(o, " ");
        }
        put(o, "was refused at %s s", c->at);
        return;
    }
    put_message(o, c, &t->replied);
    if (c->v->reason == WHY_NO_RECEIPT) {
        put(o, " was told at %s s of its success, but not the receipt that %s needs", c->at,
            c->sender);
        return;
    }
    put(o, " was answered at %s s with %s, ", c->at, c->receipt_a);
    if (c->v->reason == WHY_FOREIGN_REPLY) {
        put(o, "which is not its own");
        return;
    }
    put(o, "but ");
    if (t->acked.at != 0) {
        put_message(o, c, &t->acked);
        put(o, " ");
    }
    put(o, "first with %s", c->receipt_b);
}

static void put_merged(struct out *o, const struct cast *c)
{
    put_message(o, c, &c->v->testimony.replied);
    put(o, " was answered as a duplicate at %s s, though it had never been handled", c->at);
    if (c->no_key && c->v->testimony.key_of == 0) {
        put(o, "; it carries no key");
    } else if (c->key_of[0] != '\0') {
        put(o, "; it carries the key of %s", c->key_of);
    } else if (c->v->b != 0 && receipt_op(c->v->b) != c->v->op) {
        put(o, "; the answer carries %s", c->receipt_b);
    }
}

static void put_unfinished(struct out *o, const struct cast *c)
{
    const struct testimony *t = &c->v->testimony;
    if (c->v->reason == WHY_STUCK) {
        put(o, "%s has no final answer after ", c->op);
    } else {
        put(o, "%s gave %s up after ", c->sender, c->op);
    }
    put_count(o, c->v->a, "attempt");
    put(o, "%s", c->v->reason == WHY_GAVE_UP ? ", which the contract forbids" : "");
    if (t->fair_attempt != 0) {
        put(o, ", though no fault touched %s/%u", c->op, t->fair_attempt);
    }
}

/* "handling 3 (m-77/1)" */
static void put_handling(struct out *o, const struct cast *c, const struct deed *d)
{
    put(o, "handling %" PRId64 " (", d->token);
    put_message(o, c, &d->when);
    put(o, ")");
}

static void put_order(struct out *o, const struct scenario *s, const struct cast *c)
{
    char raw[KEY_MAX], other[NAME_TEXT];
    scenario_operation_id(s, (uint64_t)c->v->a, raw);
    name_text(raw, other, sizeof(other));
    put(o, "%s took effect on %s at %s s, after %s, which %s began later", c->op, c->entity, c->at,
        other, c->sender);
}

static const char *move_verb(int64_t move)
{
    switch ((enum record_move)move) {
    case MOVE_NONE:
        break;
    case MOVE_CLAIM:
        return "claimed";
    case MOVE_RENEW:
        return "renewed";
    case MOVE_COMPLETE:
        return "completed";
    case MOVE_RELEASE:
        return "released";
    case MOVE_EXPIRE:
        return "removed";
    }
    return "moved";
}

/* A record was moved by one handling against what another had done to it. */
static void put_move(struct out *o, const struct cast *c)
{
    const struct testimony *t = &c->v->testimony;
    char at[SECONDS_TEXT];
    put(o, "%s's record was %s", c->op, move_verb(c->v->a));
    if (t->moved.token != 0) {
        put(o, " by ");
        put_handling(o, c, &t->moved);
    }
    put(o, " at %s s, but ", c->at);
    bool held = c->v->b == STANDING_IN_PROGRESS ||
                (c->v->reason == WHY_NOT_OWNER && t->completed.token == 0);
    if (held && t->claimed.token != 0) {
        put_handling(o, c, &t->claimed);
        put(o, " held it since %s s", seconds_text(t->claimed.when.at, at));
    } else if (c->v->b == STANDING_COMPLETED && t->completed.token != 0) {
        put_handling(o, c, &t->completed);
        put(o, " had completed it at %s s", seconds_text(t->completed.when.at, at));
    } else {
        put(o, "nobody held it");
    }
}

static void put_uncovered(struct out *o, const struct scenario *s, const struct violation *v)
{
    struct cover cover = {0};
    if (v->b >= 0 && (size_t)v->b < s->receiver_count) {
        cover_compute(s, &s->receivers[v->b], &cover);
    }
    put(o, "%s", cover.text[0] != '\0' ? cover.text : "the receiver does not cover all retries");
}

size_t violation_text(const struct scenario *s, const struct violation *v, char *text, size_t size)
{
    struct cast c;
    struct out o = {text, size, 0};
    must(size > 0);
    text[0] = '\0';
    cast_of(s, v, &c);
    switch (v->reason) {
    case WHY_EFFECTS:
        put_double(&o, &c);
        break;
    case WHY_LOST:
        put_lost(&o, &c);
        break;
    case WHY_GHOST:
        put_ghost(&o, &c);
        break;
    case WHY_NOT_DURABLE:
        put_undone(&o, &c);
        break;
    case WHY_FOREIGN_REPLY:
    case WHY_REFUSED_LATER:
    case WHY_OTHER_RESPONSE:
    case WHY_NO_RECEIPT:
        put_reply(&o, &c);
        break;
    case WHY_MERGED:
        put_merged(&o, &c);
        break;
    case WHY_STUCK:
    case WHY_GAVE_UP:
        put_unfinished(&o, &c);
        break;
    case WHY_HELD:
        put(&o, "the broker still holds %s after ", c.op);
        put_deliveries(&o, v->testimony.deliveries);
        break;
    case WHY_OUT_OF_ORDER:
        put_order(&o, s, &c);
        break;
    case WHY_NOT_EMITTED:
        put(&o, "%s took effect on %s, and downstream never heard of it", c.op, c.entity);
        break;
    case WHY_TWO_IDS:
        put(&o, "downstream was told of %s under %" PRId64 " ids", c.op, v->a);
        break;
    case WHY_UNFOUNDED:
        put(&o, "downstream was told of %s, which has no effect on %s", c.op, c.entity);
        break;
    case WHY_BALANCE:
        put(&o, "the balance of %s is %" PRIu64 " %s than the sum of its effects", c.entity,
            v->a < 0 ? -(uint64_t)v->a : (uint64_t)v->a, v->a < 0 ? "less" : "more");
        break;
    case WHY_CORRUPT:
        put(&o, "the database cannot be read at %s s: it is corrupt", c.at);
        break;
    case WHY_TRANSITION:
    case WHY_NOT_OWNER:
        put_move(&o, &c);
        break;
    case WHY_RECORDS:
        put(&o, "%" PRId64 " records are kept at %s s, where %" PRId64 " may be", v->a, c.at, v->b);
        break;
    case WHY_UNOWNED:
        put_count(&o, v->a, "record");
        put(&o, " in progress at the end, which nothing will ever end");
        break;
    case WHY_NOT_COVERED:
        put_uncovered(&o, s, v);
        break;
    case WHY_EXTERNAL:
    case WHY_EXTERNAL_LOST:
    case WHY_EXTERNAL_GHOST:
        put_external(&o, &c);
        break;
    }
    return o.n;
}
