#include "tests/replies.h"

#include "sim/message.h"

#include <stdarg.h>

static const char *id_of(const struct scenario *s, uint64_t op)
{
    const struct sender_config *c = &s->senders[op_sender(op) - PLACE_SENDER];
    must(op_number(op) <= c->message_count);
    return c->messages[op_number(op) - 1].id;
}

__attribute__((format(printf, 3, 4))) static void say(char *out, size_t *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *n += (size_t)vsnprintf(out + *n, REPLIES_TEXT - *n, format, args);
    va_end(args);
    must(*n < REPLIES_TEXT);
}

void replies_text(const struct scenario *s, struct world *w, char out[REPLIES_TEXT])
{
    size_t count, n = 0;
    const struct record *records = world_history(w, &count);
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        const struct record *http =
            i + 1 < count && records[i + 1].kind == RECORD_HTTP ? &records[i + 1] : NULL;
        if (r->kind != RECORD_REPLY) {
            continue;
        }
        say(out, &n, "%s%s/%u", n > 0 ? ", " : "", id_of(s, r->op), (unsigned)r->attempt);
        if (r->copy > 1) {
            say(out, &n, ".%u", (unsigned)r->copy);
        }
        if (http != NULL) {
            say(out, &n, " %d", (int)http->value);
        }
        say(out, &n, " %s", reply_status_text((enum reply_status)r->code));
        if (r->value != 0) {
            say(out, &n, " #%u", (unsigned)receipt_nth(r->value));
        }
        if (http != NULL && http->code) {
            say(out, &n, " replayed");
        }
    }
}

struct result conversation_play(const struct conversation *c, struct scenario *s, struct world **w)
{
    const char *lines = c->lines != NULL ? c->lines : SHOP(CHARGE("m-77"));
    bool delays = strstr(lines, "network:") != NULL;
    rig_scenario(s, "receivers: [%s]\n%s%s", c->receiver, delays ? "" : "network: {delay: 20ms}\n",
                 lines);
    *w = rig_world(s, s->receivers[0].name);
    return rig_play_kept(*w, 1);
}

void conversation_end(struct scenario *s, struct world *w, struct result *r)
{
    result_fini(r);
    world_free(w);
    scenario_fini(s);
}

void conversation_check(const struct conversation *c)
{
    struct scenario s;
    struct world *w;
    char text[REPLIES_TEXT];
    struct result r = conversation_play(c, &s, &w);
    ck_assert_int_eq(r.error, SIM_OK);
    replies_text(&s, w, text);
    ck_assert_msg(strcmp(text, c->replies) == 0, "%s\n%sanswered: %s\nnot:      %s", c->receiver,
                  c->lines ? c->lines : "", text, c->replies);
    ck_assert_msg(r.effects == c->effects, "%s\n%s: %s: %u effects, not %u", c->receiver,
                  c->lines ? c->lines : "", text, (unsigned)r.effects, (unsigned)c->effects);
    conversation_end(&s, w, &r);
}
