#include "tests/outbox_rig.h"

#include "tests/probe.h"

struct result tale_play(struct scenario *s, struct world **w, const char *it, const char *lines)
{
    rig_scenario(s,
                 "receivers: [{name: it, is: %s}]\n"
                 "downstream: table\n"
                 "network: {delay: 20ms}\n"
                 "expect: [exactly-once, emitted-once]\n"
                 "%s",
                 it, lines);
    *w = rig_world(s, "it");
    return rig_play_kept(*w, 1);
}

void tale_fini(struct scenario *s, struct world *w, struct result *r)
{
    result_fini(r);
    world_free(w);
    scenario_fini(s);
}

uint64_t tale_sent(struct world *w)
{
    uint64_t sent = 0;
    for (size_t i = 0; i < rig_count(w, RECORD_SEND); i++) {
        sent += op_is_follow(rig_find(w, RECORD_SEND, i)->op);
    }
    return sent;
}

static const char *answers(struct world *w)
{
    static char text[512];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < rig_count(w, RECORD_REPLY); i++) {
        const struct record *r = rig_find(w, RECORD_REPLY, i);
        if (r->place == PLACE_RECEIVER) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n > 0 ? " " : "",
                                  reply_status_text((enum reply_status)r->code));
            ck_assert_uint_lt(n, sizeof(text));
        }
    }
    return text;
}

void tale_check(const struct tale *t)
{
    struct scenario s;
    struct world *w;
    struct result r = tale_play(&s, &w, t->it, t->lines);
    const char *got = answers(w);
    ck_assert_msg(strcmp(got, t->answers) == 0, "%s\n%s: answers %s", t->it, t->lines, got);
    ck_assert_msg(r.effects == t->effects && r.follow_effects == t->below,
                  "%s\n%s: %d effects, %d downstream", t->it, t->lines, (int)r.effects,
                  (int)r.follow_effects);
    ck_assert_msg(tale_sent(w) == t->sent, "%s\n%s: sent %d times", t->it, t->lines,
                  (int)tale_sent(w));
    ck_assert_msg(violated(&r) == t->violated, "%s\n%s: %s", t->it, t->lines, rig_say(&r, NULL));
    for (size_t i = 0; i < r.listed_count; i++) {
        ck_assert_msg(r.fates[i] == FATE_FIRED, "%s\n%s: fault %zu", t->it, t->lines, i);
    }
    tale_fini(&s, w, &r);
}
