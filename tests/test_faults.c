/* Each kind of fault in the world: what it does, told by the records of a run.
 *
 * Pinned: a stop, gentle or with a deadline; a sender's crash, its lost outbox, its counter that is
 * behind; that every kind can be written, fires and is survived by the right receivers where it is
 * covered; that sites come in one order, each once, and a run is the same up to the fault that
 * tells it from another; when a violation is certain, and the sentence on it.
 *
 * Left open: which attempts excuse an unfinished operation (test_canaries, with a receiver that
 * never answers).
 */
#include "tests/world_rig.h"

#include "sim/crash.h"

#include <stdlib.h>

#define M77 ((uint64_t)PLACE_SENDER << 48 | 1)
#define M78 ((uint64_t)PLACE_SENDER << 48 | 2)

/* One message, or two; `rest` is more of the scenario, `faults` a list without brackets. */
static struct scenario scenario;
static struct world *world;

static struct result play(const char *receiver, const char *messages, const char *rest,
                          const char *faults)
{
    rig_scenario(&scenario,
                 "receivers: [table, entity, response, naive]\n"
                 "senders:\n"
                 "  - name: shop\n"
                 "    messages: [%s]\n"
                 "    %s\n"
                 "faults: [%s]\n",
                 messages, rest, faults);
    world = rig_world(&scenario, receiver);
    return rig_play_kept(world, 1);
}

static void done(struct result *r)
{
    result_fini(r);
    world_free(world);
    scenario_fini(&scenario);
}

#define ONE "{id: m-77, entity: box, charge: 5}"
#define TWO ONE ", {id: m-78, entity: box, charge: 6}"
#define SLOWLY "retry: {after: 1s}\nnetwork: {delay: 10ms}\nhosts: {receiver: {step: 1ms}}"
#define AT_ONCE "retry: {after: 1s}\nnetwork: {delay: 10ms}"

static const struct record *the(enum record_kind kind, size_t n)
{
    const struct record *r = rig_find(world, kind, n);
    ck_assert_msg(r != NULL, "no %s %zu", record_kind_text(kind), n);
    return r;
}

/* ---- stop ---- */

START_TEST(a_stop_lets_what_runs_end)
{
    struct result r =
        play("table", TWO, SLOWLY, "stop receiver at m-77/1 before commit restart after 500ms");
    ck_assert_uint_eq(rig_count(world, RECORD_STOP), 2);
    const struct record *asked = the(RECORD_STOP, 0), *ended = the(RECORD_STOP, 1);
    ck_assert_uint_eq(asked->code, 0);
    ck_assert_int_eq(asked->value, 0);
    ck_assert_uint_eq(ended->code, 1);
    ck_assert(the(RECORD_COMMITTED, 0)->at > asked->at);
    ck_assert(the(RECORD_REPLY, 0)->at <= ended->at);
    ck_assert_int_eq(the(RECORD_SURVIVED, 0)->value, 1);
    ck_assert_uint_eq(the(RECORD_RESTART, 0)->at, ended->at + 500 * SIM_MS);
    ck_assert_uint_eq(rig_count(world, RECORD_CRASH), 0);
    ck_assert_uint_eq(r.crashes, 0);
    ck_assert_uint_eq(r.restarts, 1);
    ck_assert(rig_exactly_once(&r) && r.verdict != VERDICT_FAIL);
    done(&r);
}
END_TEST

/* What waits in the queue is dropped, what arrives is refused, as if the host were down. */
START_TEST(a_stop_takes_nothing_new)
{
    struct result r = play("table", TWO ", {id: m-79, entity: box, charge: 7, at: 1002ms}",
                           "in_flight: 2\n    " SLOWLY, "stop receiver at m-77/1 before begin");
    /* m-78 came with m-77 and waited, m-79 comes while m-77 is still handled */
    ck_assert_uint_eq(the(RECORD_DELIVER, 1)->op, M78);
    ck_assert(the(RECORD_DELIVER, 1)->at < the(RECORD_STOP, 0)->at);
    ck_assert_uint_eq(r.handlings, 3);
    ck_assert_uint_eq(r.deliveries, 4);
    const struct record *down = the(RECORD_DOWN, 0);
    ck_assert_uint_eq(down->op, op_make(PLACE_SENDER, 3));
    ck_assert(down->at > the(RECORD_STOP, 0)->at && down->at < the(RECORD_STOP, 1)->at);
    ck_assert(rig_exactly_once(&r));
    done(&r);
}
END_TEST

START_TEST(a_deadline_kills_what_still_runs)
{
    struct result r = play("table", ONE, AT_ONCE,
                           "stop receiver at m-77/1 before commit killed after 300ms, "
                           "pause receiver at m-77/1 before commit for 5s");
    ck_assert_uint_eq(rig_count(world, RECORD_STOP), 1); /* it never ended by itself */
    ck_assert_int_eq(the(RECORD_STOP, 0)->value, 300 * SIM_MS);
    ck_assert_uint_eq(the(RECORD_CRASH, 0)->at, the(RECORD_STOP, 0)->at + 300 * SIM_MS);
    ck_assert_uint_eq(the(RECORD_CRASH, 0)->code, CRASH_PROCESS);
    ck_assert_int_eq(the(RECORD_SURVIVED, 0)->value, 0);
    ck_assert_uint_eq(r.crashes, 1);
    ck_assert_uint_eq(r.restarts, 1);
    ck_assert(rig_exactly_once(&r));
    done(&r);
}
END_TEST

/* The deadline is that of one process: it does not reach the next one. */
START_TEST(a_deadline_that_is_kept_kills_nothing)
{
    struct result r = play("table", TWO, AT_ONCE,
                           "stop receiver at m-77/1 before commit killed after 1100ms, "
                           "pause receiver at m-77/2 before commit for 1s, lose reply m-77/1");
    ck_assert_uint_eq(rig_count(world, RECORD_STOP), 2);
    ck_assert_uint_eq(rig_count(world, RECORD_CRASH), 0);
    ck_assert_uint_eq(r.restarts, 1);
    done(&r);
}
END_TEST

START_TEST(the_last_worker_ends_the_process)
{
    struct result r = play(
        "table", ONE ", {id: m-78, entity: box, charge: 6, at: 1s}",
        "retry: {after: 30s}\nnetwork: {delay: 10ms}\n"
        "hosts: {receiver: {workers: 2, step: 1ms}}",
        "stop receiver at m-77/1 before commit, pause receiver at m-78/1 before receive for 2s");
    const struct record *ended = the(RECORD_STOP, 1);
    ck_assert_uint_eq(ended->code, 1);
    ck_assert(ended->at >= 3 * SIM_S);
    ck_assert_uint_eq(r.attempts, 2);
    ck_assert(rig_exactly_once(&r));
    done(&r);
}
END_TEST

/* ---- senders ---- */

START_TEST(a_sender_that_crashed_sends_again)
{
    struct result r =
        play("table", TWO, AT_ONCE, "sender-crash shop at m-77/1 after send restart after 3s");
    ck_assert_uint_eq(the(RECORD_SENDER_CRASH, 0)->at, SIM_START);
    ck_assert_uint_eq(the(RECORD_SENDER_CRASH, 0)->place, PLACE_SENDER);
    ck_assert_uint_eq(the(RECORD_SENDER_CRASH, 0)->code, 0);
    const struct record *lost = the(RECORD_DOWN, 0);
    ck_assert_uint_eq(lost->place, PLACE_SENDER);
    ck_assert_uint_eq(lost->code, REPLY_DONE);
    ck_assert_uint_eq(rig_count(world, RECORD_TIMEOUT), 0);
    const struct record *restart = the(RECORD_SENDER_RESTART, 0), *again = the(RECORD_SEND, 1);
    ck_assert_uint_eq(restart->at, SIM_START + 3 * SIM_S);
    ck_assert_int_eq(restart->value, 1);
    ck_assert_uint_eq(again->at, restart->at);
    ck_assert_uint_eq(again->op, M77);
    ck_assert_uint_eq(again->attempt, 2);
    ck_assert_uint_eq(the(RECORD_SEND, 2)->op, M78);
    ck_assert(rig_exactly_once(&r) && r.verdict == VERDICT_PASS);
    done(&r);
}
END_TEST

/* With the limit used up it can only give up; the restart takes a second where nothing is said. */
START_TEST(a_sender_that_crashed_keeps_to_its_limit)
{
    struct result r = play("table", TWO, "retry: {after: 1s, limit: 1}\nnetwork: {delay: 10ms}",
                           "sender-crash shop at m-77/1 after send");
    ck_assert_uint_eq(the(RECORD_CLOSE, 0)->op, M77);
    ck_assert_uint_eq(the(RECORD_CLOSE, 0)->at, SIM_START + SENDER_RESTART);
    ck_assert_int_eq(the(RECORD_CLOSE, 0)->value, 1);
    ck_assert_uint_eq(r.attempts, 2);
    ck_assert_uint_eq(r.gave_up, 1);
    done(&r);
}
END_TEST

/* What falls due while the sender is down happens when it is back, and its list goes on. */
START_TEST(first_sends_wait_for_the_sender)
{
    struct result r = play("table", ONE ", {id: m-78, entity: box, charge: 6, at: 1500ms}", AT_ONCE,
                           "sender-crash shop at m-77/1 after send restart after 2s, "
                           "sender-crash shop at m-77/2 after send restart after 2s");
    ck_assert_uint_eq(rig_count(world, RECORD_SENDER_CRASH), 2);
    ck_assert_uint_eq(the(RECORD_SEND, 1)->at, 3 * SIM_S);
    ck_assert_uint_eq(the(RECORD_SEND, 2)->at, 5 * SIM_S);
    ck_assert_uint_eq(the(RECORD_SEND, 2)->attempt, 3);
    ck_assert_uint_eq(the(RECORD_SEND, 3)->op, M78);
    ck_assert_uint_eq(the(RECORD_SEND, 3)->at, 5 * SIM_S);
    ck_assert_uint_eq(r.operations, 2);
    ck_assert(rig_exactly_once(&r));
    done(&r);
}
END_TEST

/* Generated messages: open loop and closed, several in flight, memory of slots given back. */
START_TEST(a_workload_goes_on_after_a_crash)
{
    static const char *const loops[] = {"loop: open, every: 40ms", "in_flight: 4", "loop: closed"};
    static const char *const what[] = {"sender-crash shop at shop-7/1 after send",
                                       "sender-amnesia shop at shop-7/1 after send (outbox lost)"};
    for (size_t i = 0; i < 2 * ARRAY_LEN(loops); i++) {
        rig_scenario(&scenario,
                     "receivers: [table]\n"
                     "senders: [{name: shop, workload: {count: 40, entities: 3}, %s}]\n"
                     "faults: [%s]\n",
                     loops[i / 2], what[i % 2]);
        world = rig_world(&scenario, "table");
        struct result r = rig_play_kept(world, 1);
        ck_assert_uint_eq(r.operations, 40);
        ck_assert_uint_eq(rig_count(world, RECORD_SENDER_RESTART), 1);
        ck_assert_uint_eq(rig_count(world, RECORD_CLOSE), 40);
        ck_assert_uint_eq(r.gave_up > 0, i % 2);
        ck_assert(rig_exactly_once(&r));
        done(&r);
    }
}
END_TEST

START_TEST(a_lost_outbox_is_forgotten)
{
    struct result r = play("table", TWO, AT_ONCE "\ncontract: {no_give_up: true}",
                           "sender-amnesia shop at m-77/1 after send (outbox lost), "
                           "lose reply m-78/1");
    const struct record *close = the(RECORD_CLOSE, 0);
    ck_assert_uint_eq(the(RECORD_SENDER_CRASH, 0)->code, 1 + AMNESIA_OUTBOX_LOST);
    ck_assert_uint_eq(close->at, SIM_START);
    ck_assert_uint_eq(close->code, BELIEF_UNKNOWN);
    ck_assert_int_eq(close->value, 1);
    ck_assert_int_eq(the(RECORD_SENDER_RESTART, 0)->value, 0);
    ck_assert_uint_eq(the(RECORD_SEND, 1)->op, M78);
    ck_assert_uint_eq(the(RECORD_SEND, 1)->at, SIM_START + SENDER_RESTART);
    ck_assert_uint_eq(r.unfinishable, 1);
    ck_assert_int_eq(r.verdict, VERDICT_PASS);
    done(&r);
}
END_TEST

/* One new operation under an old key; the receivers that trust keys merge the two. */
START_TEST(a_counter_that_is_behind_repeats_a_key)
{
    static const char *const trusting[] = {"table", "entity", "response"};
    static const char fault[] = "sender-amnesia shop at m-77/1 after send (counter behind)";
    char text[VIOLATION_TEXT];
    for (size_t i = 0; i < ARRAY_LEN(trusting); i++) {
        struct result r =
            play(trusting[i], TWO ", {id: m-79, entity: box, charge: 7}", AT_ONCE, fault);
        ck_assert(rig_violated(&r, CHECK_DISTINCT_OPERATIONS));
        ck_assert_uint_eq(r.violated[CHECK_DISTINCT_OPERATIONS], 1); /* m-79 is itself again */
        bool told = false;
        for (size_t j = 0; j < r.violation_count; j++) {
            violation_text(&scenario, &r.violations[j], text, sizeof(text));
            told |= r.violations[j].op == M78 && strstr(text, "it carries the key of m-77");
        }
        ck_assert(told);
        done(&r);
    }
    struct result r = play("naive", TWO, AT_ONCE, fault);
    ck_assert(!rig_violated(&r, CHECK_DISTINCT_OPERATIONS));
    done(&r);
}
END_TEST

/* ---- every kind ---- */

static const struct {
    const char *fault;
    enum record_kind record; /* that a fired fault leaves, at least `count` times */
    size_t count;
} kinds[] = {
    {"lose request m-77/1", RECORD_LOST, 1},
    {"lose reply m-77/1", RECORD_LOST, 1},
    {"duplicate request m-77/1 3 times after 100ms", RECORD_COPY, 3},
    {"duplicate reply m-77/1 2 times", RECORD_COPY, 2},
    {"delay request m-77/1 by 2s", RECORD_DELAYED, 1},
    {"delay reply m-77/1 by 2s", RECORD_DELAYED, 1},
    {"crash receiver at m-77/1 before commit (process) restart after 3s", RECORD_RESTART, 1},
    {"crash receiver at m-77/1 in commit disk 2 (power none)", RECORD_CRASH, 1},
    {"pause receiver at m-77/1 before receive for 2s", RECORD_PAUSE, 1},
    {"pause receiver at m-77/1 before reply for 2s", RECORD_PAUSE, 1},
    {"store receiver at m-77/1 begin (busy)", RECORD_ANSWER, 2},
    {"store receiver at m-77/1 record (not applied)", RECORD_ROLLED_BACK, 1},
    {"store receiver at m-77/1 effect (full)", RECORD_ROLLED_BACK, 1},
    {"store receiver at m-77/1 commit (applied)", RECORD_ANSWER, 2},
    {"handler receiver at m-77/1 after effect fails", RECORD_ROLLED_BACK, 1},
    {"clock receiver +3s", RECORD_CLOCK, 1},
    {"clock receiver -3s at 1010ms", RECORD_CLOCK, 1},
    {"clock receiver drift +50ppm", RECORD_CLOCK, 1},
    {"clock shop drift -50000ppm at 1s", RECORD_CLOCK, 1},
    {"clock shop +1h at 1s", RECORD_CLOCK, 1},
    {"partition shop receiver 1s..3s", RECORD_LOST, 2},
    {"partition shop to receiver 1s..3s", RECORD_LOST, 2},
    {"partition receiver to shop 1s..3s", RECORD_LOST, 2},
    {"lying-disk receiver", RECORD_END, 1},
    {"stop receiver at m-77/1 before receive", RECORD_STOP, 2},
    {"stop receiver at m-77/1 before reply killed after 1ms", RECORD_STOP, 2},
    {"sender-crash shop at m-77/1 after send", RECORD_SENDER_RESTART, 1},
    {"sender-amnesia shop at m-77/1 after send (outbox lost)", RECORD_SENDER_RESTART, 1},
    {"sender-amnesia shop at m-77/1 after send (counter behind)", RECORD_SENDER_RESTART, 1},
};

START_TEST(every_kind_fires_and_is_survived)
{
    static const char *const right[] = {"table", "entity", "response"};
    for (size_t i = 0; i < ARRAY_LEN(right); i++) {
        struct result r = play(right[i], ONE ", {id: m-78, entity: box, charge: 6, at: 10s}",
                               AT_ONCE, kinds[_i].fault);
        ck_assert_msg(r.fired_count == 1, "%s: not fired", kinds[_i].fault);
        ck_assert_msg(rig_count(world, kinds[_i].record) >= kinds[_i].count, "%s: %zu %s",
                      kinds[_i].fault, rig_count(world, kinds[_i].record),
                      record_kind_text(kinds[_i].record));
        bool behind = r.fired[0].site.key.draw == FAULT_SENDER_AMNESIA && r.fired[0].value.choice;
        ck_assert_msg(behind || (r.verdict != VERDICT_FAIL && rig_exactly_once(&r)), "%s",
                      kinds[_i].fault);
        done(&r);
    }
}
END_TEST

/* ---- sites ---- */

struct passed {
    struct site sites[4096];
    uint64_t index[4096];
    size_t count;
};

static void pass(void *context, const struct site *site, uint64_t index)
{
    struct passed *p = context;
    expect(p->count < ARRAY_LEN(p->sites));
    p->sites[p->count] = *site;
    p->index[p->count++] = index;
}

static void watch(const struct fault *faults, size_t count, struct passed *p)
{
    static const struct fault none;
    p->count = 0;
    struct play play = {.seed = 1,
                        .faults = count > 0 ? faults : &none,
                        .fault_count = count,
                        .observer = {p, pass}};
    struct result r;
    world_play(world, &play, &r);
    ck_assert_uint_eq(r.fired_count, count);
    result_fini(&r);
}

static bool same_site(const struct passed *a, const struct passed *b, size_t i)
{
    return a->index[i] == b->index[i] &&
           memcmp(&a->sites[i].key, &b->sites[i].key, sizeof(a->sites[i].key)) == 0;
}

/* Each site once and with a growing index; and with one more fault, the run is the same up to it.
 */
START_TEST(a_run_is_the_same_up_to_its_fault)
{
    static struct passed plain, other;
    struct result played = play("table", TWO, AT_ONCE "\ncontract: {no_give_up: true}", "");
    watch(NULL, 0, &plain);
    size_t tried = 0;
    for (size_t i = 0; i < plain.count; i++) {
        const struct site *site = &plain.sites[i];
        expect(i == 0 || plain.index[i] > plain.index[i - 1]);
        for (size_t j = 0; j < i; j++) {
            expect(memcmp(&plain.sites[j].key, &site->key, sizeof(site->key)) != 0);
        }
        enum fault_kind kind = (enum fault_kind)site->key.draw;
        if (kind != FAULT_STOP && fault_kind_scope(kind) != SCOPE_SENDER) {
            continue;
        }
        struct fault f = {.site = *site};
        f.value.until = tried % 2 * SIM_MS;
        f.value.choice = kind == FAULT_SENDER_AMNESIA ? (uint8_t)(tried % 2) : 0;
        watch(&f, 1, &other);
        tried++;
        for (size_t j = 0; j <= i; j++) {
            expect(same_site(&plain, &other, j));
        }
        for (size_t j = 1; j < other.count; j++) {
            expect(other.index[j] > other.index[j - 1]);
        }
    }
    ck_assert_uint_gt(tried, 12);
    done(&played);
}
END_TEST

/* Two sites at each transmission, and no more. */
START_TEST(a_sender_may_die_at_each_send)
{
    static struct passed p;
    struct result r = play("table", TWO, AT_ONCE, "");
    struct fault lose = rig_fault(&scenario, "lose reply m-77/1");
    watch(&lose, 1, &p);
    unsigned crash = 0, amnesia = 0;
    for (size_t i = 0; i < p.count; i++) {
        crash += p.sites[i].key.draw == FAULT_SENDER_CRASH;
        amnesia += p.sites[i].key.draw == FAULT_SENDER_AMNESIA;
    }
    ck_assert_uint_eq(crash, 3);
    ck_assert_uint_eq(amnesia, 3);
    done(&r);
}
END_TEST

/* ---- certainty ---- */

/* The record of a violation stands where nothing can take it back any more, not at the end. */
START_TEST(violations_are_marked_when_they_are_certain)
{
    /* a ghost: when the sender, who has used up its attempts, takes that for failure */
    struct result r = play("table", ONE ", {id: m-78, entity: box, charge: 6, at: 20s}",
                           "on_give_up: failed\n    retry: {after: 1s, limit: 2}",
                           "lose reply m-77/1, lose reply m-77/2");
    ck_assert(rig_violated(&r, CHECK_NO_GHOST_EFFECT));
    ck_assert_uint_eq(the(RECORD_VIOLATION, 0)->at, the(RECORD_CLOSE, 0)->at);
    ck_assert_uint_eq(r.violations[0].at, 3 * SIM_S);
    done(&r);
    /* a lost effect: when the sender believes the answer and nothing is under way */
    r = play("table",
             "{id: m-77, entity: box, charge: 5}, {id: m-78, key: m-77, entity: box, "
             "charge: 6}, {id: m-79, entity: box, charge: 7, at: 20s}",
             AT_ONCE, "");
    ck_assert(rig_violated(&r, CHECK_NO_LOST_EFFECT));
    ck_assert_uint_eq(the(RECORD_VIOLATION, 1)->at, the(RECORD_CLOSE, 1)->at);
    done(&r);
    /* or when its last copy, which could still have made up for it, is gone */
    r = play("table",
             "{id: m-77, entity: box, charge: 5}, {id: m-78, key: m-77, entity: box, "
             "charge: 6}, {id: m-79, entity: box, charge: 7, at: 20s}",
             AT_ONCE, "duplicate request m-78/1 after 5s");
    ck_assert(the(RECORD_VIOLATION, 1)->at > the(RECORD_CLOSE, 1)->at + 4 * SIM_S);
    ck_assert(the(RECORD_VIOLATION, 1)->at < 20 * SIM_S);
    done(&r);
    /* two effects: at the second commit */
    r = play("naive", ONE, AT_ONCE, "lose reply m-77/1");
    ck_assert_uint_eq(the(RECORD_VIOLATION, 0)->at, the(RECORD_COMMITTED, 1)->at);
    done(&r);
}
END_TEST

/* ---- why ---- */

#define AT(ms) (SIM_START + (ms)*SIM_MS)
#define TOLD(check_, reason_, op_, at_, a_, b_, ...)                                               \
    {                                                                                              \
        .check = (check_), .reason = (reason_), .op = (op_), .at = (at_), .a = (a_), .b = (b_),    \
        .testimony = {                                                                             \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct {
    struct violation v;
    const char *text;
} whys[] = {
    {TOLD(CHECK_NO_DOUBLE_EFFECT, WHY_EFFECTS, M77, AT(1043), 2, 0, .belief = BELIEF_DONE,
          .closed = true, .effects = {{AT(64), 1, 1}, {AT(1043), 2, 1}}),
     "box charged 2 times: m-77/1 at 1.064 s, m-77/2 at 2.043 s; shop believes m-77 done once"},
    {TOLD(CHECK_NO_DOUBLE_EFFECT, WHY_EFFECTS, M77, AT(70), 3, 0,
          .effects = {{AT(64), 1, 1}, {AT(70), 1, 2}}),
     "box charged 3 times: m-77/1 at 1.064 s, m-77/1.2 at 1.070 s, and 1 more; shop still waits "
     "for "
     "an answer to m-77"},
    {TOLD(CHECK_NO_DOUBLE_EFFECT, WHY_EFFECTS, M77, AT(70), 2, 0, .closed = true, .gave_up = true,
          .effects = {{AT(64), 1, 1}, {AT(70), 1, 2}}),
     "box charged 2 times: m-77/1 at 1.064 s, m-77/1.2 at 1.070 s; shop gave m-77 up and believes "
     "it unknown"},
    {TOLD(CHECK_NO_LOST_EFFECT, WHY_LOST, M77, AT(99), 0, 0, .closed = true, .closed_at = AT(90)),
     "shop believes m-77 done since 1.090 s, but box was never charged by it"},
    {TOLD(CHECK_NO_LOST_EFFECT, WHY_LOST, M77, AT(99), 0, 0, .closed = true, .closed_at = AT(90),
          .effects_ever = 1),
     "shop believes m-77 done since 1.090 s, but nothing is left of its charge of box"},
    {TOLD(CHECK_NO_GHOST_EFFECT, WHY_GHOST, M77, AT(99), 1, 0, .closed_at = AT(90),
          .effects = {{AT(64), 1, 1}}),
     "shop was told that m-77 failed at 1.090 s, but box was charged 1 time by it: m-77/1 at 1.064 "
     "s"},
    {TOLD(CHECK_NO_GHOST_EFFECT, WHY_GHOST, M77, AT(99), 1, 0, .closed_at = AT(90), .gave_up = true,
          .effects = {{AT(64), 1, 1}}),
     "shop took giving m-77 up for failure at 1.090 s, but box was charged 1 time by it: m-77/1 at "
     "1.064 s"},
    {TOLD(CHECK_ACK_IMPLIES_DURABLE, WHY_NOT_DURABLE, M77, AT(208), AT(65), AT(208),
          .effects = {{AT(64), 1, 1}}, .acked = {AT(65), 1, 1}),
     "m-77, charged by m-77/1 at 1.064 s and acknowledged at 1.065 s, was undone by the crash at "
     "1.208 s"},
    {TOLD(CHECK_ACK_IMPLIES_DURABLE, WHY_NOT_DURABLE, M77, AT(208), AT(65), AT(208),
          .acked = {AT(65), 1, 1}),
     "m-77, acknowledged at 1.065 s before its effect was on the disk, was lost in the crash at "
     "1.208 s"},
    {TOLD(CHECK_SAME_REPLY, WHY_FOREIGN_REPLY, M78, AT(5), 99, 0, .replied = {AT(5), 2, 1}),
     "m-78/2 was answered at 1.005 s with receipt 99, which is not its own"},
    {TOLD(CHECK_SAME_REPLY, WHY_REFUSED_LATER, M77, AT(900), AT(100), 0, .acked = {AT(100), 1, 1},
          .replied = {AT(900), 2, 1}),
     "m-77/1 had succeeded at 1.100 s and m-77/2 was refused at 1.900 s"},
    {TOLD(CHECK_SAME_REPLY, WHY_OTHER_RESPONSE, M77, AT(900), 8, 9, .acked = {AT(100), 1, 1},
          .replied = {AT(900), 2, 1}),
     "m-77/2 was answered at 1.900 s with receipt 8, but m-77/1 first with receipt 9"},
    {TOLD(CHECK_DISTINCT_OPERATIONS, WHY_MERGED, M78, AT(1), 0, 0, .replied = {AT(1), 1, 1},
          .key_of = M77),
     "m-78/1 was answered as a duplicate at 1.001 s, though it had never been handled; it carries "
     "the key of m-77"},
    {TOLD(CHECK_PROGRESS, WHY_STUCK, M77, AT(99), 5, 0, .fair_attempt = 3),
     "m-77 has no final answer after 5 attempts, though no fault touched m-77/3"},
    {TOLD(CHECK_PROGRESS, WHY_GAVE_UP, M77, AT(99), 5, 0, .fair_attempt = 1),
     "shop gave m-77 up after 5 attempts, which the contract forbids, though no fault touched "
     "m-77/1"},
    {TOLD(CHECK_STATE_MATCHES_EFFECTS, WHY_BALANCE, 0, AT(99), -5, 0, .belief = 0),
     "the balance of box is 5 less than the sum of its effects"},
    {TOLD(CHECK_STATE_MATCHES_EFFECTS, WHY_CORRUPT, 0, AT(99), 0, 0, .belief = 0),
     "the database cannot be read at 1.099 s: it is corrupt"},
    {TOLD(CHECK_SAME_REPLY, WHY_NO_RECEIPT, M77, AT(900), 0, 0, .replied = {AT(900), 2, 1}),
     "m-77/2 was told at 1.900 s of its success, but not the receipt that shop needs"},
};

START_TEST(a_violation_says_what_contradicts_what)
{
    struct result r = play("table", TWO, AT_ONCE, "");
    unsigned seen = 0;
    for (size_t i = 0; i < ARRAY_LEN(whys); i++) {
        char text[VIOLATION_TEXT];
        violation_text(&scenario, &whys[i].v, text, sizeof(text));
        ck_assert_str_eq(text, whys[i].text);
        seen |= 1u << whys[i].v.reason;
        for (size_t size = 1; size < 20; size++) {
            ck_assert_uint_eq(violation_text(&scenario, &whys[i].v, text, size), size - 1);
            ck_assert_uint_eq(strlen(text), size - 1);
        }
    }
    ck_assert_uint_eq(seen, (2u << WHY_NO_RECEIPT) - 1);
    done(&r);
}
END_TEST

/* The facts come from the world: an effect whose commit a crash cut off is told as well. */
START_TEST(the_world_supplies_the_facts)
{
    char text[VIOLATION_TEXT];
    struct result r = play("naive", ONE, AT_ONCE, "lose reply m-77/1");
    violation_text(&scenario, &r.violations[0], text, sizeof(text));
    ck_assert_str_eq(text, "box charged 2 times: m-77/1 at 1.010 s, m-77/2 at 2.010 s; shop "
                           "believes m-77 done once");
    done(&r);
    r = play("naive", ONE, AT_ONCE, "crash receiver at m-77/1 after commit (process)");
    violation_text(&scenario, &r.violations[0], text, sizeof(text));
    ck_assert_str_eq(text, "box charged 2 times: m-77/1 at 1.010 s, m-77/2 at 2.010 s; shop "
                           "believes m-77 done once");
    done(&r);
}
END_TEST

Suite *faults_suite(void)
{
    Suite *s = suite_create("faults");
    TCase *t = tcase_create("faults");
    tcase_add_test(t, a_stop_lets_what_runs_end);
    tcase_add_test(t, a_stop_takes_nothing_new);
    tcase_add_test(t, a_deadline_kills_what_still_runs);
    tcase_add_test(t, a_deadline_that_is_kept_kills_nothing);
    tcase_add_test(t, the_last_worker_ends_the_process);
    tcase_add_test(t, a_sender_that_crashed_sends_again);
    tcase_add_test(t, a_sender_that_crashed_keeps_to_its_limit);
    tcase_add_test(t, first_sends_wait_for_the_sender);
    tcase_add_test(t, a_workload_goes_on_after_a_crash);
    tcase_add_test(t, a_lost_outbox_is_forgotten);
    tcase_add_test(t, a_counter_that_is_behind_repeats_a_key);
    tcase_add_loop_test(t, every_kind_fires_and_is_survived, 0, ARRAY_LEN(kinds));
    tcase_add_test(t, a_run_is_the_same_up_to_its_fault);
    tcase_add_test(t, a_sender_may_die_at_each_send);
    tcase_add_test(t, violations_are_marked_when_they_are_certain);
    tcase_add_loop_test(t, a_violation_says_what_contradicts_what, 0, 1);
    tcase_add_test(t, the_world_supplies_the_facts);
    suite_add_tcase(s, t);
    return s;
}
