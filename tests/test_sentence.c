/* Sentences: every fault has one, and it comes back as the same fault; what does not parse says
 * where and why. */
#include "sim/disk.h"
#include "sim/sentence.h"
#include "tests/suites.h"

#include <string.h>

/* Names that need quoting and names that do not; operations are numbered from 1 in this order, and
 * the senders take turns. */
static const char *const ids[] = {"m-77",
                                  "a.b:c_d",
                                  "with space",
                                  "quo\"te\\",
                                  "1/2",
                                  "\x01\x1b[31m",
                                  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa5",
                                  "(process)",
                                  "to",
                                  "-"};
static const char *const hosts[] = {"shop", "to", "the shop", "tab\there", "at"};

static bool same(const char *a, const char *name, size_t len)
{
    return strlen(a) == len && memcmp(a, name, len) == 0;
}

static unsigned place(const void *context, const char *name, size_t len)
{
    (void)context;
    for (unsigned i = 0; i < ARRAY_LEN(hosts); i++) {
        if (same(hosts[i], name, len)) {
            return PLACE_SENDER + i;
        }
    }
    return same("receiver", name, len) ? PLACE_RECEIVER : PLACE_NONE;
}

static uint64_t op_of(uint64_t number)
{
    return op_make(PLACE_SENDER + (unsigned)((number - 1) % ARRAY_LEN(hosts)), number);
}

static uint64_t operation(const void *context, const char *id, size_t len)
{
    (void)context;
    for (unsigned i = 0; i < ARRAY_LEN(ids); i++) {
        if (same(ids[i], id, len)) {
            return op_of(i + 1);
        }
    }
    return 0;
}

static unsigned attempts(const void *context, uint64_t op)
{
    (void)context;
    return op_number(op) == 1 ? 5 : 0;
}

static void place_name(const void *context, unsigned p, char *out)
{
    (void)context;
    strcpy(out, p == PLACE_RECEIVER ? "receiver" : hosts[p - PLACE_SENDER]);
}

static void operation_name(const void *context, uint64_t op, char *out)
{
    (void)context;
    strcpy(out, ids[op_number(op) - 1]);
}

static const struct sentence_names names = {NULL,       place,          operation, attempts,
                                            place_name, operation_name, NULL};

/* The next number in lo..hi. */
static uint64_t draw(uint64_t *state, uint64_t lo, uint64_t hi)
{
    return rng_range(rng_next(state), lo, hi);
}

static uint64_t draw_time(uint64_t *state, uint64_t least)
{
    static const uint64_t units[] = {1, SIM_US, SIM_MS, SIM_S, 60 * SIM_S, 3600 * SIM_S};
    uint64_t t = draw(state, 0, 70) * units[draw(state, 0, ARRAY_LEN(units) - 1)];
    return t > least ? t : least;
}

static void draw_message(uint64_t *state, struct fault *f)
{
    uint64_t number = draw(state, 1, ARRAY_LEN(ids));
    f->site.op = op_of(number);
    const char *id = ids[number - 1];
    f->site.key.operation = rng_name(id, strlen(id));
    f->site.key.attempt = (uint16_t)draw(state, 1, number == 1 ? 5 : 1000);
    f->site.key.copy = (uint16_t)draw(state, 1, 3);
}

static void draw_step(uint64_t *state, struct fault *f)
{
    draw_message(state, f);
    struct rng_key *k = &f->site.key;
    k->host = PLACE_RECEIVER;
    k->step = (uint8_t)draw(state, STEP_RECEIVE, STEP_COUNT - 1);
    k->nth = (uint16_t)draw(state, 1, 3);
}

static void draw_crash(uint64_t *state, struct fault *f)
{
    static const bool counted[] = {
#define X(name, text, counted) counted,
        CRASH_MODES(X)
#undef X
    };
    f->site.key.moment = (uint8_t)draw(state, BEFORE, INSIDE);
    f->site.key.disk = f->site.key.moment == INSIDE ? (uint16_t)draw(state, 1, 40) : 0;
    f->value.choice = (uint8_t)draw(state, 0, ARRAY_LEN(counted) - 1);
    f->value.n = counted[f->value.choice] ? (uint32_t)draw(state, 1, 20) : 0;
    f->value.time = draw(state, 0, 1) ? draw_time(state, 1) : 0;
}

static void draw_world(uint64_t *state, enum fault_kind kind, struct fault *f)
{
    struct rng_key *k = &f->site.key;
    k->host = (uint8_t)(draw(state, 0, 1) ? PLACE_RECEIVER
                                          : PLACE_SENDER + draw(state, 0, ARRAY_LEN(hosts) - 1));
    k->nth = 1;
    if (kind == FAULT_PARTITION) {
        k->value = (uint8_t)(k->host == PLACE_RECEIVER
                                 ? PLACE_SENDER + draw(state, 0, ARRAY_LEN(hosts) - 1)
                                 : PLACE_RECEIVER);
        f->value.choice = (uint8_t)draw(state, 0, 1);
        f->value.time = SIM_START + draw_time(state, 0);
        f->value.until = f->value.time + draw_time(state, 1);
        return;
    }
    f->value.choice = (uint8_t)draw(state, CLOCK_OFFSET, CLOCK_DRIFT);
    f->value.offset = f->value.choice == CLOCK_DRIFT ? (int64_t)draw(state, 1, DRIFT_MAX_PPM)
                                                     : (int64_t)draw_time(state, 1);
    f->value.offset = draw(state, 0, 1) ? f->value.offset : -f->value.offset;
    f->value.time = draw(state, 0, 1) ? SIM_START + draw_time(state, 0) : 0;
}

static void draw_network(uint64_t *state, enum fault_kind kind, struct fault *f)
{
    draw_message(state, f);
    static const uint8_t directions[] = {REQUEST, REPLY, CALL, ANSWER};
    f->site.key.direction = directions[draw(state, 0, ARRAY_LEN(directions) - 1)];
    if (f->site.key.direction != REQUEST && draw(state, 0, 1)) {
        f->site.key.nth = (uint16_t)draw(state, 2, 4);
    }
    if (f->site.key.direction == ANSWER && draw(state, 0, 1)) {
        f->site.key.redelivery = (uint16_t)draw(state, 2, 4);
    }
    if (kind == FAULT_DUPLICATE) {
        f->value.n = (uint32_t)draw(state, 1, 100);
        f->value.time = draw_time(state, 0);
    } else if (kind == FAULT_DELAY) {
        f->value.time = draw_time(state, 1);
    }
}

static void draw_sender(uint64_t *state, enum fault_kind kind, struct fault *f)
{
    draw_message(state, f);
    f->site.key.host = (uint8_t)op_sender(f->site.op);
    f->site.key.copy = 0;
    f->value.time = draw(state, 0, 1) ? draw_time(state, 1) : 0;
    if (kind == FAULT_SENDER_AMNESIA) {
        f->value.choice = (uint8_t)draw(state, AMNESIA_OUTBOX_LOST, AMNESIA_COUNTER_BEHIND);
    }
}

static struct fault draw_fault(uint64_t *state, enum fault_kind kind)
{
    struct fault f = {0};
    f.site.key.draw = (uint8_t)kind;
    switch (fault_kind_scope(kind)) {
    case SCOPE_NETWORK:
        draw_network(state, kind, &f);
        return f;
    case SCOPE_STEP:
        draw_step(state, &f);
        break;
    case SCOPE_WORLD:
        if (kind == FAULT_LYING_DISK) {
            f.site.key.host = PLACE_RECEIVER;
        } else {
            draw_world(state, kind, &f);
        }
        return f;
    case SCOPE_SENDER:
        draw_sender(state, kind, &f);
        return f;
    }
    if (kind == FAULT_CRASH) {
        draw_crash(state, &f);
    } else if (kind == FAULT_STOP) {
        f.site.key.moment = BEFORE;
        f.value.until = draw(state, 0, 1) ? draw_time(state, 1) : 0;
        f.value.time = draw(state, 0, 1) ? draw_time(state, 1) : 0;
    } else if (kind == FAULT_PAUSE) {
        f.site.key.moment = BEFORE;
        f.value.time = draw_time(state, 1);
    } else if (kind == FAULT_STORE) {
        f.value.choice = (uint8_t)draw(state, STORE_NOT_APPLIED, STORE_FULL);
    } else {
        f.site.key.moment = AFTER;
    }
    return f;
}

static void assert_parses_to(const char *text, size_t len, const struct fault *want)
{
    struct fault got;
    struct sentence_error error = {0};
    ck_assert_msg(sentence_parse(&names, text, len, &got, &error), "%s\n  at %zu: %s", text,
                  error.offset, error.text);
    ck_assert_msg(memcmp(&got.site.key, &want->site.key, sizeof(got.site.key)) == 0, "key: %s",
                  text);
    ck_assert_uint_eq(got.site.op, want->site.op);
    ck_assert_uint_eq(got.value.choice, want->value.choice);
    ck_assert_uint_eq(got.value.n, want->value.n);
    ck_assert_uint_eq(got.value.time, want->value.time);
    ck_assert_uint_eq(got.value.until, want->value.until);
    ck_assert_int_eq(got.value.offset, want->value.offset);
    ck_assert_int_eq(got.line, 0);
}

START_TEST(every_fault_comes_back)
{
    enum fault_kind kind = (enum fault_kind)_i;
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        uint64_t state = seed * 1000 + (uint64_t)kind;
        struct fault f = draw_fault(&state, kind);
        char text[SENTENCE_MAX];
        size_t len = sentence_print(&names, &f, text);
        ck_assert_uint_eq(len, strlen(text));
        assert_parses_to(text, len, &f);
    }
}
END_TEST

/* The sentences of the design and of sim/sentence.h print as they were written. */
static const char *const canonical[] = {
    "lose request m-77/1",
    "lose reply m-77/1",
    "duplicate request m-77/1 after 3s",
    "duplicate reply m-77/1.2 3 times after 3s",
    "delay reply m-77/1 by 10m",
    "delay reply m-77/1.1.3 by 10m",
    "lose call m-77/1",
    "lose call m-77/1.2",
    "duplicate call m-77/1.1.3 after 3s",
    "lose answer m-77/1.1.3",
    "delay answer m-77/1.1.1.2 by 10m",
    "delay answer m-77/1.2.3.4 by 10m",
    "crash receiver at m-77/1 before external (process)",
    "crash receiver at m-77/1 after commit (process)",
    "crash receiver at m-77/1 before reply (power none)",
    "crash receiver at m-77/1 after commit 2 (power torn 2) restart after 5s",
    "crash receiver at m-77/1 in commit disk 7 (power all but 3)",
    "pause receiver at m-77/2 before record for 30s",
    "store receiver at m-77/1 claim (not applied)",
    "store receiver at m-77/1.2 look-up 2 (busy)",
    "handler receiver at m-77/1 after effect fails",
    "clock receiver +3s",
    "clock receiver +3s at 10s",
    "clock receiver drift -50ppm",
    "clock \"to\" drift +50ppm at 2s",
    "partition shop receiver 5s..20s",
    "partition shop to receiver 5s..20s",
    "partition \"to\" to receiver 5s..20s",
    "lying-disk receiver",
    "stop receiver at m-77/1 before commit",
    "stop receiver at m-77/1.2 before commit 2 restart after 5s",
    "stop receiver at m-77/1 before commit killed after 1s",
    "stop receiver at m-77/1 before commit killed after 1s restart after 5s",
    "sender-crash shop at m-77/1 after send",
    "sender-crash shop at m-77/5 after send restart after 5s",
    "sender-amnesia shop at m-77/1 after send (outbox lost)",
    "sender-amnesia shop at m-77/1 after send (counter behind) restart after 5s",
    "sender-crash \"to\" at a.b:c_d/1 after send",
    "lose request \"quo\\\"te\\\\\"/1",
    "lose request \"\\u0001\\u001b[31m\"/1",
    "lose request \"1/2\"/1",
};

START_TEST(canonical_sentences_print_as_written)
{
    struct fault f;
    struct sentence_error error = {0};
    ck_assert_msg(sentence_parse(&names, canonical[_i], strlen(canonical[_i]), &f, &error),
                  "%s: %s", canonical[_i], error.text);
    char text[SENTENCE_MAX];
    sentence_print(&names, &f, text);
    ck_assert_str_eq(text, canonical[_i]);
}
END_TEST

/* Other ways to write a sentence, and its one printed form. */
static const char *const loose[][2] = {
    {"  lose   reply\tm-77/1.1 \n", "lose reply m-77/1"},
    {"lose reply \"m-77\"/1", "lose reply m-77/1"},
    {"lose reply m-77/1.1.1", "lose reply m-77/1"},
    {"duplicate request m-77/1 1 times after 0s", "duplicate request m-77/1"},
    {"crash receiver at m-77/1 after commit", "crash receiver at m-77/1 after commit (process)"},
    {"crash receiver at m-77/1 after commit 1 ( power  torn 2 ) restart after 5000ms",
     "crash receiver at m-77/1 after commit (power torn 2) restart after 5s"},
    {"lose reply \"\\u006d-77\"/1", "lose reply m-77/1"},
    {"lose reply \"\\u00e9\\u20ac\\ud83d\\udca5\"/1",
     "lose reply \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa5\"/1"},
    {"clock \"receiver\" +3000ms", "clock receiver +3s"},
    {"sender-crash \"shop\" at m-77/1.1 after send", "sender-crash shop at m-77/1 after send"},
};

START_TEST(loose_sentences_have_one_printed_form)
{
    struct fault f;
    struct sentence_error error = {0};
    ck_assert_msg(sentence_parse(&names, loose[_i][0], strlen(loose[_i][0]), &f, &error), "%s: %s",
                  loose[_i][0], error.text);
    char text[SENTENCE_MAX];
    sentence_print(&names, &f, text);
    ck_assert_str_eq(text, loose[_i][1]);
}
END_TEST

static const struct wrong {
    const char *text;
    size_t offset;
    const char *error;
} wrong[] = {
    {"", 0, "expected a fault here"},
    {"loose reply m-77/1", 0, "unknown fault \"loose\"; did you mean \"lose\"?"},
    {"lose rpely m-77/1", 5, "did you mean \"reply\"?"},
    {"lose reply m-78/1", 11, "unknown message \"m-78\""},
    {"lose reply m-77", 11, "expected a message with its attempt"},
    {"lose reply m-77 /1", 11, "expected a message with its attempt"},
    {"lose reply m-77/6", 16, "attempt 6 cannot exist: the limit is 5"},
    {"lose reply m+77/1", 11, "needs quotes"},
    {"lose reply m\xff/1", 11, "needs quotes"},
    {"lose reply m-77/0", 16, "the attempt must be 1..65535"},
    {"lose reply m-77/", 16, "expected the attempt, a number"},
    {"lose reply m-77/99999999999999999999", 16, "the attempt must be 1..65535"},
    {"lose reply m-77/1.", 18, "expected the copy, a number"},
    {"lose reply m-77/1.x", 18, "expected the copy, a number"},
    {"lose reply m-77/1.2.3.4", 20, "expected the copy of the reply, a number"},
    {"lose request m-77/1.2.3", 20, "expected the copy, a number"},
    {"lose reply m-77/1 now", 18, "the sentence should end before \"now\""},
    {"lose reply \"m-77", 11, "not a quoted name"},
    {"lose reply \"\\u0000\"/1", 11, "not a quoted name"},
    {"lose reply \"\\ud800\"/1", 11, "not a quoted name"},
    {"delay reply m-77/1", 18, "expected \"by\", found the end"},
    {"delay reply m-77/1 by 3", 22, "expected a duration"},
    {"delay reply m-77/1 by 0s", 22, "the duration must be above 0s"},
    {"delay reply m-77/1 by 99999d", 22, "at most 3650d"},
    {"duplicate request m-77/1 101 times", 25, "the number of copies must be 1..100"},
    {"duplicate request m-77/1 3 tmes", 27, "expected \"times\", found \"tmes\""},
    {"duplicate request m-77/1 100 times after 3650d", 41, "more than 3650d"},
    {"crash reciever at m-77/1 after commit", 6, "unknown host \"reciever\""},
    {"crash shop at m-77/1 after commit", 6, "not a sender"},
    {"crash receiver at m-77/1 after comit", 31, "did you mean \"commit\"?"},
    {"crash receiver at m-77/1 after zzz", 31, "unknown step \"zzz\"; one of receive, begin"},
    {"store receiver at m-77/1 claim (zzz)", 32, "one of not applied, applied, busy or full"},
    {"crash receiver at m-77/1 aftr commit", 25, "did you mean \"after\"?"},
    {"crash receiver at m-77/1 in commit", 34, "expected \"disk\""},
    {"crash receiver at m-77/1 after commit (power)", 39, "unknown way to crash \"power\""},
    {"crash receiver at m-77/1 after commit (power torn)", 49, "expected the disk operation"},
    {"crash receiver at m-77/1 after commit (process", 46, "expected \")\""},
    {"crash receiver at m-77/1 after commit (process) restart after 0s", 62, "above 0s"},
    {"pause receiver at m-77/1 after commit for 3s", 25, "expected \"before\""},
    {"store receiver at m-77/1 claim (not aplied)", 32, "did you mean \"not applied\"?"},
    {"handler receiver at m-77/1 after effect", 39, "expected \"fails\""},
    {"clock receiver 3s", 15, "expected an offset such as +3s"},
    {"clock receiver +0s", 16, "above 0s"},
    {"clock receiver drift 50ppm", 21, "expected a drift"},
    {"clock receiver drift +100001ppm", 22, "the drift in ppm must be 1..100000"},
    {"clock receiver +3s at 999ms", 22, "the world's clock starts at 1s"},
    {"partition shop receiver 20s..5s", 24, "ends before it begins"},
    {"partition shop receiver 5s", 24, "expected a span of time"},
    {"partition shop receiver 0s..5s", 24, "the world's clock starts at 1s"},
    {"partition shop at 5s..20s", 10, "between a sender and a receiver"},
    {"lying-disk shop", 11, "not a sender"},
    {"stop shop at m-77/1 before commit", 5, "not a sender"},
    {"stop receiver at m-77/1 after commit", 24, "expected \"before\""},
    {"stop receiver at m-77/1 before commit killed after 0s", 51, "above 0s"},
    {"stop receiver at m-77/1 before commit killed", 44, "expected \"after\""},
    {"stop receiver at m-77/1 before commit restart after 1s killed after 1s", 55,
     "should end before \"killed\""},
    {"sender-crash receiver at m-77/1 after send", 13, "needs a sender"},
    {"sender-crash \"to\" at m-77/1 after send", 21, "another sender's"},
    {"sender-crash shop at m-77/1.2 after send", 21, "sends an attempt once"},
    {"sender-crash shop at m-77/6 after send", 26, "the limit is 5"},
    {"sender-crash shop at m-77/1 after commit", 34, "expected \"send\""},
    {"sender-crash shop at m-77/1", 27, "expected \"after\""},
    {"sender-amnesia shop at m-77/1 after send", 40, "expected \"(\""},
    {"sender-amnesia shop at m-77/1 after send (outbox)", 42, "unknown loss of memory \"outbox\""},
    {"sender-crash shop at m-77/1 after send (outbox lost)", 39, "should end before \"(\""},
};

START_TEST(errors_say_where_and_why)
{
    const struct wrong *w = &wrong[_i];
    struct fault f;
    struct sentence_error error = {.offset = SIZE_MAX};
    ck_assert_msg(!sentence_parse(&names, w->text, strlen(w->text), &f, &error), "%s", w->text);
    ck_assert_msg(strstr(error.text, w->error) != NULL, "%s\n  got: %s\n  not: %s", w->text,
                  error.text, w->error);
    ck_assert_msg(error.offset == w->offset, "%s\n  %s\n  offset %zu, not %zu", w->text, error.text,
                  error.offset, w->offset);
}
END_TEST

START_TEST(every_cut_sentence_is_refused_or_shorter)
{
    const char *text = canonical[_i];
    for (size_t len = 0; len < strlen(text); len++) {
        struct fault f;
        struct sentence_error error = {.offset = SIZE_MAX};
        if (!sentence_parse(&names, text, len, &f, &error)) {
            ck_assert_uint_le(error.offset, len);
            ck_assert_str_ne(error.text, "");
        }
    }
}
END_TEST

START_TEST(messages_are_named_like_in_sentences)
{
    char text[SENTENCE_MAX];
    ck_assert_uint_eq(sentence_message(&names, 1, 2, 0, text), 6);
    ck_assert_str_eq(text, "m-77/2");
    sentence_message(&names, 3, 1, 2, text);
    ck_assert_str_eq(text, "\"with space\"/1.2");
}
END_TEST

Suite *sentence_suite(void)
{
    Suite *suite = suite_create("sentence");
    TCase *tests = tcase_create("sentence");
    tcase_add_loop_test(tests, every_fault_comes_back, FAULT_NONE + 1, FAULT_KIND_COUNT);
    tcase_add_loop_test(tests, canonical_sentences_print_as_written, 0, ARRAY_LEN(canonical));
    tcase_add_loop_test(tests, loose_sentences_have_one_printed_form, 0, ARRAY_LEN(loose));
    tcase_add_loop_test(tests, errors_say_where_and_why, 0, ARRAY_LEN(wrong));
    tcase_add_loop_test(tests, every_cut_sentence_is_refused_or_shorter, 0, ARRAY_LEN(canonical));
    tcase_add_test(tests, messages_are_named_like_in_sentences);
    suite_add_tcase(suite, tests);
    return suite;
}
