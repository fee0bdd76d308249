/* The registered receivers, under everything at once and at each other's elbow.
 *
 * Pinned: over a random mix the right receivers pass and the canary is convicted, with one worker
 * and with several, in rollback and in WAL mode; messages of one entity interleave; two workers
 * hold one message; one worker waits for another's lock, as long as it may.
 *
 * Left open: every single crash point (test_crash), receivers that nobody registered
 * (test_canaries).
 */
#include "tests/world_rig.h"

#include "receivers/receiver.h"

static bool is_canary(const struct receiver *r)
{
    return strcmp(r->source, "wrong on purpose") == 0;
}

/* A preset is what it is a preset of, but for what it says. */
START_TEST(presets_are_receivers)
{
    ck_assert_uint_ge(presets_count, 2);
    for (size_t i = 0; i < presets_count; i++) {
        const struct preset *p = &presets[i];
        const struct receiver *r = receiver_find(p->name, strlen(p->name));
        ck_assert_ptr_nonnull(r);
        ck_assert_ptr_eq(r, receiver_at(receivers_count() - presets_count + i));
        ck_assert_ptr_eq(r->preset_of, p->is);
        ck_assert(p->is->preset_of == NULL && r->handle == p->is->handle);
        ck_assert(p->about != NULL && p->source != NULL && r->about == p->about);
        ck_assert(r->source == p->source && r->breaks == p->breaks && r->asks == p->asks);
        for (size_t d = 0; p->defaults[d].setting != NULL; d++) {
            size_t at = 0;
            while (r->settings[at].name != NULL &&
                   strcmp(r->settings[at].name, p->defaults[d].setting) != 0) {
                at++;
            }
            const struct setting *s = &r->settings[at];
            ck_assert_msg(s->name != NULL, "%s: %s", p->name, p->defaults[d].setting);
            ck_assert((s->kind == SETTING_CHOICE) == (p->defaults[d].word != NULL));
            ck_assert(s->kind == SETTING_CHOICE || s->value == p->defaults[d].value);
            if (s->kind == SETTING_DURATION || s->kind == SETTING_NUMBER) {
                ck_assert_msg(s->value >= s->least && s->value <= s->most, "%s: %s", p->name,
                              s->name);
            }
            ck_assert(s->kind != SETTING_FLAG || s->value == 0 || s->value == 1);
            for (size_t e = 0; e < d; e++) {
                ck_assert_str_ne(p->defaults[d].setting, p->defaults[e].setting);
            }
        }
    }
    ck_assert_int_eq(receiver_find("azure_service_bus", 17)->settings[0].value, 600 * SIM_S);
    ck_assert_int_eq(receiver_find("window", 6)->settings[0].value, 300 * SIM_S);
}
END_TEST

START_TEST(names_are_unique)
{
    for (size_t i = 0; i < receivers_count(); i++) {
        const char *name = receiver_at(i)->name;
        ck_assert_ptr_eq(receiver_find(name, strlen(name)), receiver_at(i));
    }
    ck_assert_ptr_null(receiver_find("sqs", 3));
}
END_TEST

enum { MESSAGES = 300 };

/* It replays a failure for ever: then not every message can be done. */
static bool saves_failures(const struct receiver *r)
{
    for (size_t i = 0; r->settings != NULL && r->settings[i].name != NULL; i++) {
        if (strcmp(r->settings[i].name, "failures") == 0) {
            return r->settings[i].value == 0;
        }
    }
    return false;
}

static void mix(struct scenario *s, const char *receiver, unsigned workers, const char *journal)
{
    bool saves = saves_failures(receiver_find(receiver, strlen(receiver)));
    rig_scenario(s,
                 "receivers: [%s]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    workload: {count: 100, entities: 5, skew: 1.2, charge: 1..9999}\n"
                 "    in_flight: 4\n"
                 "    retry: {after: 500ms, backoff: full-jitter, limit: 30}\n"
                 "  - name: till\n"
                 "    workload: {count: 100, entities: 1}\n"
                 "    loop: open\n"
                 "    every: {exponential: {mean: 100ms, max: 2s}}\n"
                 "    retry: {after: 300ms, backoff: exponential, timeout: 200ms, limit: 30}\n"
                 "  - name: app\n"
                 "    workload: {count: 100, entities: 50}\n"
                 "    in_flight: 2\n"
                 "    retry: {after: 400ms, limit: 60, backoff: decorrelated-jitter}\n"
                 "network: {delay: 5ms..400ms, lose: 1/15, duplicate: 1/15}\n"
                 "hosts:\n"
                 "  receiver: {workers: %u, step: 0ms..2ms, crash: 1/800, power: 1/800,"
                 " pause: 1/100, pause_for: 0ms..600ms, store: 1/100, handler: %s}\n"
                 "database: {journal: %s}\n",
                 receiver, workers, saves ? "0" : "1/100", journal);
}

/* i: receiver, workers and journal mode behind it */
START_TEST(over_a_random_mix)
{
    const struct receiver *code = receiver_at((size_t)_i % receivers_count());
    if (is_canary(code) && strcmp(code->name, "naive") != 0) {
        return; /* test_flawed */
    }
    if (code->breaks != NULL || code->asks != NULL) {
        return; /* the mix may have what breaks it: scenarios/window/twins.yaml; or not have what it
                   asks for: test_session, test_watermark */
    }
    size_t mode = (size_t)_i / receivers_count();
    struct scenario s;
    mix(&s, code->name, mode % 2 ? 3 : 1, mode / 2 ? "wal" : "truncate");
    struct world *w = rig_world(&s, code->name);
    unsigned kinds[FAULT_KIND_COUNT] = {0};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct play p = {.seed = seed};
        struct result r;
        world_play(w, &p, &r);
        enum verdict_kind wanted = is_canary(code) ? VERDICT_FAIL : VERDICT_PASS;
        if (r.verdict != wanted || r.operations != MESSAGES || r.duplicates < 20) {
            ck_abort_msg("%s", rig_say(&r, NULL));
        }
        expect(is_canary(code) == rig_violated(&r, CHECK_NO_DOUBLE_EFFECT));
        expect(r.gave_up == 0 && r.with_effect == MESSAGES);
        expect(is_canary(code) || rig_exactly_once(&r));
        for (unsigned c = 0; c < CHECK_COUNT; c++) { /* naive is wrong in nothing else */
            expect(c == CHECK_NO_DOUBLE_EFFECT || !rig_violated(&r, (enum check)c));
            bool asked = CHECKS_EXACTLY_ONCE & CHECK_BIT(c);
            expect(c == CHECK_NO_GHOST_EFFECT || (r.judged[c] > 0) == asked);
        }
        for (size_t i = 0; i < r.fired_count; i++) {
            kinds[fault_kind(&r.fired[i])]++;
        }
        result_fini(&r);
    }
    static const enum fault_kind met[] = {FAULT_LOSE,  FAULT_DUPLICATE, FAULT_CRASH,
                                          FAULT_PAUSE, FAULT_STORE,     FAULT_HANDLER};
    for (size_t i = 0; i < ARRAY_LEN(met); i++) {
        ck_assert(kinds[met[i]] > 5 || (met[i] == FAULT_HANDLER && saves_failures(code)));
    }
    world_free(w);
    scenario_fini(&s);
}
END_TEST

/* a-1, b-1, a-1 again, a-2, b-1 again: one that keeps only the last id forgets the others. */
/* Slots follow what is in flight, not what was sent: each operation gives its own back, also where
 * the end of its last handling was the last that could touch it. */
START_TEST(slots_come_back)
{
    struct scenario s;
    rig_scenario(&s, "receivers: [table]\n"
                     "senders:\n"
                     "  - name: shop\n"
                     "    workload: {count: 20000, entities: 50, charge: 100}\n"
                     "    in_flight: 4\n"
                     "    retry: {after: 1s, limit: 4}\n"
                     "network: {lose: 1/20, duplicate: 1/20}\n"
                     "hosts: {receiver: {crash: 1/20000}}\n");
    struct world *w = rig_world(&s, "table");
    struct result r;
    world_play(w, &(struct play){.seed = 1}, &r);
    ck_assert_uint_eq(r.operations, 20000);
    ck_assert_uint_lt(r.slots, 64);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

START_TEST(messages_of_one_entity_interleave)
{
    static const char *const names[] = {"table", "entity", "response"};
    struct scenario s;
    rig_scenario(&s, "receivers: [table, entity, response]\n"
                     "senders:\n"
                     "  - name: a\n"
                     "    messages:\n"
                     "      - {id: a-1, entity: order, charge: 1, at: 1s}\n"
                     "      - {id: a-2, entity: order, charge: 20, at: 3s}\n"
                     "  - name: b\n"
                     "    messages:\n"
                     "      - {id: b-1, entity: order, charge: 300, at: 2s}\n"
                     "      - {id: b-2, entity: other, charge: 4000, at: 2s}\n"
                     "network: {delay: 10ms}\n"
                     "faults:\n"
                     "  - duplicate request a-1/1 3 times after 1500ms\n"
                     "  - duplicate request b-1/1 3 times after 1500ms\n"
                     "  - duplicate request a-2/1 2 times after 100ms\n");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct result r = rig_once(&s, names[i], 1);
        ck_assert_int_eq(r.verdict, VERDICT_PASS);
        ck_assert(rig_exactly_once(&r));
        ck_assert_uint_eq(r.duplicates, 8);
        result_fini(&r);
    }
    scenario_fini(&s);
}
END_TEST

/* Two workers hold the same message at once: one waits for the other, both answer. */
START_TEST(the_same_message_at_once)
{
    static const char *const names[] = {"table", "entity", "response"};
    struct scenario s;
    rig_scenario(&s, "receivers: [table, entity, response]\n"
                     "senders:\n"
                     "  - {name: a, messages: [{id: m, entity: order, charge: 1}]}\n"
                     "network: {delay: 10ms}\n"
                     "hosts: {receiver: {workers: 3, step: 1ms..2ms}}\n"
                     "faults: [duplicate request m/1 2 times]\n");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct world *w = rig_world(&s, names[i]);
        for (uint64_t seed = 1; seed <= 50; seed++) {
            struct result r = rig_play_kept(w, seed);
            expect(r.verdict == VERDICT_PASS && rig_exactly_once(&r));
            expect(r.handlings == 3 && rig_count(w, RECORD_WAIT) > 0);
            expect(rig_count(w, RECORD_REPLY) == 3);
            result_fini(&r);
        }
        world_free(w);
    }
    scenario_fini(&s);
}
END_TEST

/* A worker stands still with the lock: the other waits as long as it may, then says so. */
START_TEST(a_lock_is_waited_for)
{
    static const struct {
        unsigned pause_ms, busy_ms;
        enum reply_status first; /* reply */
        unsigned at_ms;          /* when, after the other began to wait */
    } cases[] = {{3000, 5000, REPLY_DONE, 3000},
                 {8000, 5000, REPLY_RETRY_LATER, 5000},
                 {8000, 0, REPLY_RETRY_LATER, 0}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct scenario s;
        rig_scenario(
            &s,
            "receivers: [table, entity, response]\n"
            "senders:\n"
            "  - {name: a, messages: [{id: m-1, entity: x, charge: 1}], retry: {after: 1m}}\n"
            "  - {name: b, messages: [{id: m-2, entity: y, charge: 1}], retry: {after: 1m}}\n"
            "network: {delay: 10ms}\n"
            "hosts: {receiver: {workers: 2, step: 0ms}}\n"
            "database: {busy_timeout: %ums}\n"
            "faults: [pause receiver at m-1/1 before commit for %ums]\n",
            cases[i].busy_ms, cases[i].pause_ms);
        for (size_t n = 0; n < s.receiver_count; n++) {
            struct world *w = rig_world(&s, s.receivers[n].name);
            struct result r = rig_play_kept(w, 1);
            ck_assert(rig_exactly_once(&r) && r.verdict != VERDICT_FAIL);
            const struct record *reply = rig_find(w, RECORD_REPLY, 0);
            ck_assert_int_eq(reply->code, cases[i].first);
            ck_assert_uint_eq(reply->at, SIM_START + (10 + cases[i].at_ms) * SIM_MS);
            ck_assert((rig_count(w, RECORD_WAIT) > 0) == (cases[i].busy_ms > 0));
            result_fini(&r);
            world_free(w);
        }
        scenario_fini(&s);
    }
}
END_TEST

/* Each answer of a store in trouble, and a handler that fails, at each step of a handling. */
START_TEST(trouble_at_every_step)
{
    static const char *const names[] = {"table", "entity", "response"};
    static const char *const steps[] = {"begin",  "record", "look-up", "claim",
                                        "effect", "commit", "receive"};
    static const char *const troubles[] = {"(not applied)", "(applied)", "(busy)", "(full)"};
    struct scenario s;
    rig_scenario(&s, "receivers: [table, entity, response]\n"
                     "senders:\n"
                     "  - {name: a, messages: [{id: m, entity: order, charge: 1}]}\n");
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        struct world *w = rig_world(&s, names[n]);
        unsigned fired = 0;
        for (size_t i = 0; i < ARRAY_LEN(steps) * (ARRAY_LEN(troubles) + 1); i++) {
            const char *step = steps[i % ARRAY_LEN(steps)];
            size_t trouble = i / ARRAY_LEN(steps);
            struct fault f =
                trouble < ARRAY_LEN(troubles)
                    ? rig_fault(&s, "store receiver at m/1 %s %s", step, troubles[trouble])
                    : rig_fault(&s, "handler receiver at m/1 after %s fails", step);
            struct result r = rig_play(w, 1, &f, 1);
            bool fires = r.fates[0] == FATE_FIRED;
            fired += fires;
            /* A full disk is no trouble where nothing is written. */
            enum verdict_kind wanted = VERDICT_PASS;
            if (r.repeated == 0) {
                wanted = r.fates[0] == FATE_UNREACHED ? VERDICT_UNFIRED : VERDICT_VACUOUS;
            }
            if (r.verdict != wanted || !rig_exactly_once(&r) ||
                (fires && r.repeated == 0 && strcmp(troubles[trouble], "(full)") != 0)) {
                ck_abort_msg("%s", rig_say(&r, &f));
            }
            result_fini(&r);
        }
        ck_assert_uint_ge(fired, 4 * 4 + 5);
        world_free(w);
    }
    scenario_fini(&s);
}
END_TEST

/* The wait for the lock ends early, and its own end, which comes later, disturbs nobody. */
START_TEST(a_wait_that_was_cut_short)
{
    struct scenario s;
    rig_scenario(&s,
                 "receivers: [table]\n"
                 "senders:\n"
                 "  - {name: a, messages: [{id: m-1, entity: x, charge: 1}], retry: {after: 1m}}\n"
                 "  - {name: b, messages: [{id: m-2, entity: y, charge: 1}], retry: {after: 1m}}\n"
                 "network: {delay: 10ms}\n"
                 "hosts: {receiver: {workers: 2, step: 0ms}}\n"
                 "database: {busy_timeout: 5s}\n"
                 "faults: [pause receiver at m-1/1 before commit for 3s,\n"
                 "         pause receiver at m-2/1 before commit for 8s]\n");
    struct world *w = rig_world(&s, "table");
    struct result r = rig_play_kept(w, 1);
    ck_assert(rig_exactly_once(&r));
    ck_assert_uint_eq(rig_find(w, RECORD_REPLY, 0)->at, SIM_START + 3010 * SIM_MS);
    ck_assert_uint_eq(rig_find(w, RECORD_REPLY, 1)->at, SIM_START + 11010 * SIM_MS);
    result_fini(&r);
    world_free(w);
    scenario_fini(&s);
}
END_TEST

Suite *receivers_suite(void)
{
    Suite *s = suite_create("receivers");
    TCase *t = tcase_create("receivers");
    tcase_add_loop_test(t, over_a_random_mix, 0, 4 * (int)receivers_count());
    tcase_add_test(t, presets_are_receivers);
    tcase_add_test(t, names_are_unique);
    tcase_add_test(t, slots_come_back);
    tcase_add_test(t, messages_of_one_entity_interleave);
    tcase_add_test(t, the_same_message_at_once);
    tcase_add_test(t, a_lock_is_waited_for);
    tcase_add_test(t, a_wait_that_was_cut_short);
    tcase_add_test(t, trouble_at_every_step);
    suite_add_tcase(s, t);
    return s;
}
