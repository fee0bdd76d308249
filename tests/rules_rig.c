#include "tests/rules_rig.h"

const char *rule_answers(struct world *w)
{
    static char text[512];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < rig_count(w, RECORD_REPLY); i++) {
        const struct record *r = rig_find(w, RECORD_REPLY, i);
        if (r->place != PLACE_RECEIVER) { /* a broker's */
            continue;
        }
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ",
                              reply_status_text((enum reply_status)r->code));
        ck_assert_uint_lt(n, sizeof(text));
    }
    return text;
}

struct result rule_play(struct scenario *s, struct world **w, const struct rule *rule)
{
    rig_scenario(s,
                 "receivers: [{name: it, is: %s}]\n"
                 "%s"
                 "network: {delay: 20ms}\n"
                 "%s\n",
                 rule->it, rule->sent, rule->more);
    *w = rig_world(s, "it");
    return rig_play_kept(*w, 1);
}

void rule_fini(struct scenario *s, struct world *w, struct result *r)
{
    result_fini(r);
    world_free(w);
    scenario_fini(s);
}

void rules_hold(const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct scenario s;
        struct world *w;
        struct result r = rule_play(&s, &w, &rules[i]);
        const char *got = rule_answers(w);
        ck_assert_msg(r.effects == rules[i].effects && strcmp(got, rules[i].answers) == 0,
                      "case %zu, %s: %d effects, answers %s", i, rules[i].it, (int)r.effects, got);
        ck_assert_msg(r.verdict != VERDICT_UNFIRED, "case %zu: a fault did not happen", i);
        rule_fini(&s, w, &r);
    }
}

void rule_default(const char *receiver, const char *setting, int64_t value)
{
    const struct receiver *r = receiver_find(receiver, strlen(receiver));
    for (size_t i = 0; r->settings[i].name != NULL; i++) {
        if (strcmp(r->settings[i].name, setting) == 0) {
            ck_assert_msg(r->settings[i].value == value, "%s: %s", receiver, setting);
            return;
        }
    }
    ck_abort_msg("%s has no setting %s", receiver, setting);
}

void rule_judged(const struct rule *rule, uint32_t checks, const char *query, const char *rows)
{
    struct scenario s;
    struct world *w;
    struct result r = rule_play(&s, &w, rule);
    const char *got = rule_answers(w);
    ck_assert_msg(r.effects == rule->effects && strcmp(got, rule->answers) == 0,
                  "%s: %d effects, answers %s", rule->it, (int)r.effects, got);
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        ck_assert_msg((r.violated[c] > 0) == !!(checks & CHECK_BIT(c)), "%s: %s", rule->it,
                      rig_say(&r, NULL));
    }
    if (query != NULL) {
        rig_holds(w, query, rows);
    }
    rule_fini(&s, w, &r);
}
