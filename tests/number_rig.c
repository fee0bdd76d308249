#include "tests/number_rig.h"

#include "sim/explore.h"

#include <stdlib.h>

void rig_answers(struct world *w, const struct scenario *s, const char *about, const char *id,
                 const char *want)
{
    struct sentence_names names = scenario_names(s);
    uint64_t op = names.operation(names.context, id, strlen(id));
    char text[512] = "";
    size_t count;
    const struct record *records = world_history(w, &count);
    ck_assert_uint_ne(op, 0);
    for (size_t i = 0; i < count; i++) {
        if (records[i].kind == RECORD_REPLY && records[i].op == op) {
            strcat(text, text[0] != '\0' ? " " : "");
            strcat(text, reply_status_text((enum reply_status)records[i].code));
        }
    }
    if (strcmp(text, want) != 0) {
        ck_abort_msg("%s: %s was answered \"%s\", not \"%s\"", about, id, text, want);
    }
}

void numbers_hold(const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &rules[i];
        struct scenario s;
        rig_scenario(&s,
                     "receivers: [%s]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    retry: {after: 100s, max: 100s, limit: 1}\n"
                     "%s"
                     "    messages: [%s]\n"
                     "network: {delay: 20ms}\n"
                     "faults: [%s]\n",
                     rule->receiver, rule->sender, rule->messages, rule->faults);
        struct world *w = rig_world(&s, "it");
        struct result r = rig_play_kept(w, 1);
        for (size_t f = 0; f < r.listed_count; f++) {
            ck_assert_msg(r.fates[f] == FATE_FIRED, "%s: fault %zu", rule->about, f);
        }
        for (size_t n = 0; rule->want[n].id != NULL; n++) {
            rig_answers(w, &s, rule->about, rule->want[n].id, rule->want[n].answers);
        }
        if (rule->sql != NULL) {
            rig_holds(w, rule->sql, rule->rows);
        }
        result_fini(&r);
        world_free(w);
        scenario_fini(&s);
    }
}

void mix_holds(const char *receiver, const char *sender, unsigned workers, uint64_t seeds)
{
    struct scenario s;
    rig_scenario(&s,
                 "receivers: [%s]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    workload: {count: 25, entities: 3, charge: 1..9999}\n"
                 "    retry: {after: 500ms, backoff: full-jitter, limit: 100}\n"
                 "%s"
                 "  - name: till\n"
                 "    workload: {count: 25, effect: create}\n"
                 "    retry: {after: 300ms, timeout: 200ms, limit: 100}\n"
                 "%s"
                 "network: {delay: 5ms..400ms, lose: 1/15, duplicate: 1/10,"
                 " duplicate_after: 0s..20s}\n"
                 "hosts:\n"
                 "  receiver: {workers: %u, step: 0ms..2ms, crash: 1/800, power: 1/800,"
                 " pause: 1/100, pause_for: 0ms..600ms, store: 1/100, handler: 1/100}\n",
                 receiver, sender, sender, workers);
    struct world *w = rig_world(&s, "it");
    uint64_t deaths = 0, duplicates = 0, registrations = s.senders[0].opens_session ? 2 : 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct play p = {.seed = seed};
        struct result r;
        world_play(w, &p, &r);
        if (r.verdict != VERDICT_PASS || r.gave_up > 0 || r.with_effect != 50 || r.effects != 50 ||
            r.operations != 50 + registrations) {
            ck_abort_msg("%s: %s", receiver, rig_say(&r, NULL));
        }
        deaths += r.crashes;
        duplicates += r.duplicates;
        result_fini(&r);
    }
    ck_assert_uint_gt(deaths, seeds / 2);
    ck_assert_uint_gt(duplicates, 10 * seeds);
    world_free(w);
    scenario_fini(&s);
}

void explored_holds(const char *receiver, const char *sender)
{
    static const struct expectation exactly_once;
    bool heavy = getenv("ONLYONCE_HEAVY") != NULL;
    struct scenario s;
    rig_scenario(&s,
                 "receivers: [%s]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages:\n"
                 "      - {id: m-1, entity: e, charge: 1}\n"
                 "      - {id: m-2, entity: e, charge: 20}\n"
                 "%s"
                 "hosts: {receiver: {workers: 2, step: 0ms..1ms}}\n",
                 receiver, sender);
    struct certificate c;
    struct explore_task task = {.scenario = &s,
                                .receiver = 0,
                                .seed = 1,
                                .faults = heavy ? 2 : 1,
                                .kinds = explore_covered_kinds(),
                                .jobs = 2,
                                .expectation = &exactly_once};
    explore(&task, stderr, &c);
    if (c.verdict != VERDICT_PASS) {
        struct sentence_names names = scenario_names(&s);
        char text[2][SENTENCE_MAX] = {"", ""};
        for (unsigned i = 0; i < c.counterexample_faults && i < 2; i++) {
            sentence_print(&names, &c.counterexample[i], text[i]);
        }
        ck_abort_msg("%s: %s\n  - %s\n  - %s", receiver, verdict_text(c.verdict), text[0], text[1]);
    }
    ck_assert_uint_gt(c.schedules, 100);
    if (heavy) {
        printf("%s: %llu schedules hold\n", receiver, (unsigned long long)c.schedules);
    }
    scenario_fini(&s);
}
