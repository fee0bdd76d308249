/* What is told of a run: sentences, commands, formats, diagrams.
 *
 * In: results made by hand, whose names are as hostile as a scenario file allows. Out: text that is
 * read back by the libraries it is meant for, or compared with what a reader should see.
 */
#include "tests/suites.h"

#include <inttypes.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

#include "receivers/receiver.h"
#include "reports/canvas.h"
#include "reports/compare.h"
#include "reports/diagram.h"
#include "sim/host.h"

/* ---- a run made by hand ---- */

#define M77 ((uint64_t)PLACE_SENDER << 48 | 1)
#define M78 ((uint64_t)PLACE_SENDER << 48 | 2)
#define MS(n) (SIM_START + (n)*SIM_MS)

static const char plain_file[] = "name: lost-reply\n"
                                 "receivers: [table, naive]\n"
                                 "senders:\n"
                                 "  - name: shop\n"
                                 "    messages:\n"
                                 "      - {id: m-77, entity: order-1042, charge: 4200}\n"
                                 "      - {id: m-78, entity: order-1043, charge: 100}\n"
                                 "faults:\n"
                                 "  - lose reply m-77/1\n"
                                 "  - lose reply m-78/1\n"
                                 "expect: {naive: violates no-double-effect}\n";

#define EVIL_NAME "=a,b|\"c\" #1 <&>'`*_\xc3\xa9"
#define EVIL_RECEIVER "t,\"x\" ]]>"
static const char evil_file[] = "name: \"=a,b|\\\"c\\\" #1 <&>'`*_\\u00e9\"\n"
                                "receivers: [{name: \"t,\\\"x\\\" ]]>\", is: table}]\n"
                                "senders:\n"
                                "  - name: \"sh;op#\"\n"
                                "    messages:\n"
                                "      - {id: \"m;77#\", entity: \"order|1042\", charge: 4200}\n"
                                "      - {id: \"m-78\", entity: \"@SUM(A1)\", charge: 1}\n";

struct stage {
    struct scenario scenario;
    struct result result;
    char *text;
    size_t size;
    FILE *out;
};

static void stage_open(struct stage *s, const char *file, const char *yaml)
{
    memset(s, 0, sizeof(*s));
    ck_assert_int_eq(scenario_parse(file, yaml, strlen(yaml), stderr, &s->scenario), SIM_OK);
    s->result = (struct result){.scenario = &s->scenario,
                                .receiver = &s->scenario.receivers[0],
                                .expectation = &s->scenario.expectations[0],
                                .seed = 7,
                                .verdict = VERDICT_PASS,
                                .expected = true,
                                .checks = CHECKS_EXACTLY_ONCE,
                                .operations = 2,
                                .deliveries = 3,
                                .duplicates = 1,
                                .effects = 2,
                                .with_effect = 1,
                                .history_hash = UINT64_C(0x0123456789abcdef)};
    s->out = open_memstream(&s->text, &s->size);
    ck_assert_ptr_nonnull(s->out);
}

static void stage_fail(struct stage *s)
{
    struct violation *v = sim_zalloc(1, sizeof(*v));
    *v = (struct violation){CHECK_NO_DOUBLE_EFFECT, WHY_EFFECTS, M77, MS(1043), 2, 0, {0}};
    s->result.violations = v;
    s->result.violation_count = 1;
    s->result.violated[CHECK_NO_DOUBLE_EFFECT] = 1;
    s->result.verdict = VERDICT_FAIL;
    s->result.expected = false;
}

static const char *stage_text(struct stage *s)
{
    fflush(s->out);
    return s->text;
}

static void stage_close(struct stage *s)
{
    fclose(s->out);
    free(s->text);
    result_fini(&s->result);
    scenario_fini(&s->scenario);
}

static void tell(struct stage *s, const struct format *f, bool many_seeds)
{
    struct format_plan plan = {.many_seeds = many_seeds};
    struct tally t = {.planned = 1, .runs = 1};
    t.expected = s->result.expected;
    t.unexpected = !s->result.expected;
    t.verdicts[s->result.verdict] = 1;
    void *state = f->begin(s->out, &plan);
    f->result(state, &s->result);
    f->group_end(state);
    f->end(state, &t);
}

START_TEST(every_reason_is_a_sentence)
{
    static const struct {
        struct violation v;
        const char *text;
    } rows[] = {
        {{CHECK_NO_DOUBLE_EFFECT, WHY_EFFECTS, M77, 0, 2, 0, {0}},
         "order-1042 charged 2 times by m-77"},
        {{CHECK_NO_LOST_EFFECT, WHY_LOST, M77, 0, 0, 0, {0}},
         "shop believes m-77 done, but order-1042 was never charged by it"},
        {{CHECK_NO_GHOST_EFFECT, WHY_GHOST, M78, 0, 1, 1, {0}},
         "shop was told that m-78 failed, but order-1043 was charged 1 time by it"},
        {{CHECK_ACK_IMPLIES_DURABLE, WHY_NOT_DURABLE, M77, 0, MS(64), MS(208), {0}},
         "m-77, acknowledged at 1.064 s, was undone by the crash at 1.208 s"},
        {{CHECK_SAME_REPLY, WHY_FOREIGN_REPLY, M78, MS(5), (int64_t)32 << 16 | 1 << 24 | 3, 0, {0}},
         "m-78 was answered at 1.005 s with the receipt of m-77 (its effect 3), which is not its "
         "own"},
        {{CHECK_SAME_REPLY, WHY_FOREIGN_REPLY, M78, MS(5), 99, 0, {0}},
         "m-78 was answered at 1.005 s with receipt 99, which is not its own"},
        {{CHECK_SAME_REPLY, WHY_FOREIGN_REPLY, M78, MS(5), -1, 0, {0}},
         "m-78 was answered at 1.005 s with receipt -1, which is not its own"},
        {{CHECK_SAME_REPLY, WHY_REFUSED_LATER, M77, MS(900), MS(100), 0, {0}},
         "m-77 had succeeded at 1.100 s and was refused at 1.900 s"},
        {{CHECK_SAME_REPLY, WHY_OTHER_RESPONSE, M77, MS(900), 8, 9, {0}},
         "m-77 was answered at 1.900 s with receipt 8, but first with receipt 9"},
        {{CHECK_DISTINCT_OPERATIONS, WHY_MERGED, M78, MS(1), 0, 0, {0}},
         "m-78 was answered as a duplicate at 1.001 s, though it had never been handled"},
        {{CHECK_PROGRESS, WHY_STUCK, M77, 0, 1, 0, {0}},
         "m-77 has no final answer after 1 attempt"},
        {{CHECK_PROGRESS, WHY_GAVE_UP, M77, 0, 5, 0, {0}},
         "shop gave m-77 up after 5 attempts, which the contract forbids"},
        {{CHECK_STATE_MATCHES_EFFECTS, WHY_BALANCE, 0, 0, -4200, 0, {0}},
         "the balance of order-1042 is 4200 less than the sum of its effects"},
        {{CHECK_STATE_MATCHES_EFFECTS, WHY_BALANCE, 0, 0, 100, 1, {0}},
         "the balance of order-1043 is 100 more than the sum of its effects"},
        {{CHECK_SAME_REPLY, WHY_NO_RECEIPT, M77, MS(5), 0, 0, {0}},
         "m-77 was told at 1.005 s of its success, but not the receipt that shop needs"},
        {{CHECK_STATE_MATCHES_EFFECTS, WHY_CORRUPT, 0, MS(1500), 0, 0, {0}},
         "the database cannot be read at 2.500 s: it is corrupt"},
    };
    struct stage s;
    unsigned seen = 0;
    stage_open(&s, "f.yaml", plain_file);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[VIOLATION_TEXT];
        size_t n = violation_text(&s.scenario, &rows[i].v, text, sizeof(text));
        ck_assert_str_eq(text, rows[i].text);
        ck_assert_uint_eq(n, strlen(text));
        seen |= 1u << rows[i].v.reason;
        /* Cut, it still ends. */
        n = violation_text(&s.scenario, &rows[i].v, text, 10);
        ck_assert_uint_eq(n, 9);
        ck_assert_uint_eq(strlen(text), 9);
    }
    ck_assert_uint_eq(seen, (2u << WHY_NO_RECEIPT) - 1);
    stage_close(&s);
}
END_TEST

START_TEST(shell_words)
{
    static const char *const rows[][2] = {
        {"a/b-c_1.yaml", "a/b-c_1.yaml"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$(x)`y`\"\\", "'$(x)`y`\"\\'"},
        {"\xc3\xa9", "'\xc3\xa9'"},
        {"a\nb", "$'a\\012b'"},
        {"\x1b[31m'\\", "$'\\033[31m\\'\\\\'"},
        {"\xff"
         "1",
         "$'\\3771'"},
        {"\xe2\x80\xae", "$'\\342\\200\\256'"}, /* right-to-left override */
        {"~x", "'~x'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[64];
        size_t n = shell_word(rows[i][0], out, sizeof(out));
        ck_assert_str_eq(out, rows[i][1]);
        ck_assert_uint_eq(n, strlen(rows[i][1]));
        ck_assert_uint_eq(shell_word(rows[i][0], NULL, 0), n);
    }
}
END_TEST

START_TEST(repeat_names_everything)
{
    struct stage s;
    stage_open(&s, "-odd file.yaml", evil_file);
    char *repeat = format_repeat(&s.result);
    const char *from = strstr(repeat, " run ");
    ck_assert_ptr_nonnull(from);
    ck_assert_str_eq(from, " run --receiver '\"t,\\\"x\\\" ]]>\"' --seed 7 -- '-odd file.yaml'");
    free(repeat);
    s.result.error = SIM_ERR_DIFFERS;
    repeat = format_repeat(&s.result);
    ck_assert_ptr_nonnull(strstr(repeat, " run --twice --receiver "));
    free(repeat);
    stage_close(&s);
}
END_TEST

/* ---- formats ---- */

START_TEST(json_parses_back)
{
    struct stage s;
    stage_open(&s, "bad\x01\xff.yaml", evil_file);
    stage_fail(&s);
    tell(&s, &format_json, true);
    const char *text = stage_text(&s);
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
    json_error_t error;
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_ptr_nonnull(o);
    ck_assert_str_eq(json_string_value(json_object_get(o, "scenario")), EVIL_NAME);
    ck_assert_str_eq(json_string_value(json_object_get(o, "receiver")), EVIL_RECEIVER);
    ck_assert_str_eq(json_string_value(json_object_get(o, "file")), "bad\x01\xef\xbf\xbd.yaml");
    ck_assert_int_eq(json_integer_value(json_object_get(o, "seed")), 7);
    ck_assert_str_eq(json_string_value(json_object_get(o, "history")), "0123456789abcdef");
    ck_assert_int_eq(json_integer_value(json_object_get(o, "epoch")), HISTORY_EPOCH);
    ck_assert(json_is_false(json_object_get(o, "expected")));
    json_t *v = json_array_get(json_object_get(o, "violations"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(v, "check")), "no-double-effect");
    ck_assert_str_eq(json_string_value(json_object_get(v, "operation")), "m;77#");
    ck_assert_str_eq(json_string_value(json_object_get(v, "message")),
                     "\"order|1042\" charged 2 times by \"m;77#\"");
    static const char *const keys[] = {"schedule", "verdict",    "judged",     "operations",
                                       "attempts", "deliveries", "duplicates", "handlings",
                                       "effects",  "repeat"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        ck_assert_msg(json_object_get(o, keys[i]) != NULL, "no %s", keys[i]);
    }
    json_decref(o);
    stage_close(&s);
}
END_TEST

static char *xml_attribute(xmlNodePtr node, const char *name)
{
    char *value = (char *)xmlGetProp(node, BAD_CAST name);
    ck_assert_ptr_nonnull(value);
    return value;
}

static xmlNodePtr child(xmlNodePtr node, const char *name)
{
    for (xmlNodePtr c = node->children; c != NULL; c = c->next) {
        if (c->type == XML_ELEMENT_NODE && strcmp((const char *)c->name, name) == 0) {
            return c;
        }
    }
    ck_abort_msg("no element %s", name);
    return NULL;
}

START_TEST(junit_parses_back)
{
    struct stage s;
    stage_open(&s, "bad\x01\xff\x7f.yaml", evil_file);
    stage_fail(&s);
    tell(&s, &format_junit, true);
    stage_text(&s);
    xmlDocPtr doc = xmlReadMemory(s.text, (int)s.size, "r.xml", NULL, XML_PARSE_NONET);
    ck_assert_ptr_nonnull(doc);
    xmlNodePtr suite = child(xmlDocGetRootElement(doc), "testsuite");
    xmlNodePtr test = child(suite, "testcase");
    char *name = xml_attribute(suite, "name");
    ck_assert_str_eq(name, EVIL_NAME);
    xmlFree(name);
    name = xml_attribute(test, "name");
    ck_assert_str_eq(name, EVIL_RECEIVER ", seed 7");
    xmlFree(name);
    name = xml_attribute(test, "file");
    ck_assert_str_eq(name, "bad\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.yaml");
    xmlFree(name);
    name = xml_attribute(child(test, "failure"), "message");
    ck_assert_str_eq(name, "fail: no-double-effect");
    xmlFree(name);
    xmlFreeDoc(doc);
    stage_close(&s);
    xmlCleanupParser();
}
END_TEST

START_TEST(tap_points_and_plan)
{
    struct stage s;
    stage_open(&s, "f.yaml", evil_file);
    stage_fail(&s);
    tell(&s, &format_tap, false);
    const char *text = stage_text(&s);
    ck_assert_ptr_eq(strstr(text, "TAP version 13\nnot ok 1 - "), text);
    ck_assert_ptr_nonnull(strstr(text, "\n1..1\n"));
    /* A bare # would begin a directive. */
    for (const char *p = strchr(text, '#'); p != NULL && p < strstr(text, "  ---");
         p = strchr(p + 1, '#')) {
        ck_assert_int_eq(p[-1], '\\');
    }
    stage_close(&s);
}
END_TEST

START_TEST(text_ends_with_the_command)
{
    struct stage s;
    for (int seeds = 0; seeds < 2; seeds++) {
        stage_open(&s, "f.yaml", plain_file);
        stage_fail(&s);
        tell(&s, &format_text, seeds == 1);
        const char *text = stage_text(&s);
        char *repeat = format_repeat(&s.result);
        size_t n = strlen(repeat);
        ck_assert_uint_gt(s.size, n + 2);
        ck_assert_int_eq(text[s.size - n - 2], '\n');
        ck_assert_int_eq(strncmp(text + s.size - n - 1, repeat, n), 0);
        ck_assert_ptr_nonnull(strstr(text, "order-1042 charged 2 times by m-77"));
        free(repeat);
        stage_close(&s);
    }
}
END_TEST

START_TEST(text_names_faults_that_did_nothing)
{
    struct stage s;
    stage_open(&s, "f.yaml", plain_file);
    s.result.listed_count = 2;
    s.result.fates = sim_zalloc(2, 1);
    s.result.fates[0] = FATE_NOT_APPLICABLE;
    s.result.fates[1] = FATE_UNREACHED;
    tell(&s, &format_text, false);
    ck_assert_ptr_nonnull(strstr(stage_text(&s), "not applicable: lose reply m-77/1\n"));
    ck_assert_ptr_nonnull(strstr(stage_text(&s), "did not fire: lose reply m-78/1\n"));
    stage_close(&s);
}
END_TEST

/* One field of RFC 4180 into out; returns what follows its separator. */
static const char *csv_field(const char *s, char *out)
{
    if (*s == '"') {
        for (s++; *s != '"' || s[1] == '"'; s++) {
            s += *s == '"';
            *out++ = *s;
        }
        s++;
    } else {
        while (*s != ',' && *s != '\r') {
            *out++ = *s++;
        }
    }
    *out = '\0';
    ck_assert(*s == ',' || (s[0] == '\r' && s[1] == '\n'));
    return *s == ',' ? s + 1 : s + 2;
}

START_TEST(csv_parses_back)
{
    struct stage s;
    char field[512];
    stage_open(&s, "a\nb.yaml", evil_file);
    stage_fail(&s);
    csv_result(s.out, &s.result);
    const char *p = csv_field(stage_text(&s), field);
    ck_assert_str_eq(field, "'" EVIL_NAME); /* = would be a formula */
    p = csv_field(p, field);
    ck_assert_str_eq(field, "a\nb.yaml");
    p = csv_field(p, field);
    ck_assert_str_eq(field, EVIL_RECEIVER);
    p = csv_field(p, field);
    ck_assert_str_eq(field, "7");
    size_t fields = 4;
    for (; *p != '\0'; fields++) {
        p = csv_field(p, field);
    }
    stage_close(&s);

    stage_open(&s, "f", evil_file);
    csv_header(s.out);
    for (p = stage_text(&s); *p != '\0'; fields--) {
        p = csv_field(p, field);
    }
    ck_assert_uint_eq(fields, 0);
    stage_close(&s);
}
END_TEST

START_TEST(csv_disarms_formulas)
{
    static const char *const rows[][2] = {
        {"=1", "'=1"}, {"+1", "'+1"},      {"-1", "'-1"},           {"@x", "'@x"},
        {"a", "a"},    {"a,b", "\"a,b\""}, {"=a\"", "\"'=a\"\"\""}, {"", ""}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct stage s;
        stage_open(&s, "f", plain_file);
        csv_text(s.out, rows[i][0]);
        ck_assert_str_eq(stage_text(&s), rows[i][1]);
        stage_close(&s);
    }
}
END_TEST

START_TEST(quotients)
{
    char out[QUOTIENT_TEXT];
    ck_assert_str_eq(quotient(9, 4, out), "2.25");
    ck_assert_str_eq(quotient(2, 3, out), "0.67");
    ck_assert_str_eq(quotient(1, 0, out), "-");
    ck_assert_str_eq(quotient(UINT64_MAX, 1, out), "18446744073709551615.00");
}
END_TEST

/* ---- diagrams ---- */

/* The seed's story on `table`: m-77 charged, reply lost, retried, duplicate refused. */
#define AT(ms, what, ...)                                                                          \
    {                                                                                              \
        .at = MS(ms), .kind = what, __VA_ARGS__                                                    \
    }
#define SHOP(ms, what, n, ...)                                                                     \
    AT(ms, what, .op = M77, .attempt = n, .place = PLACE_SENDER, __VA_ARGS__)
#define HOST(ms, what, n, ...)                                                                     \
    AT(ms, what, .op = M77, .attempt = n, .copy = 1, .place = PLACE_RECEIVER, __VA_ARGS__)
#define DID(ms, n, which, statement, outcome)                                                      \
    HOST(ms, RECORD_STEP, n, .step = which, .value = statement, .code = outcome)
static const struct record story_records[] = {
    SHOP(0, RECORD_SEND, 1, .code = 0),
    HOST(64, RECORD_DELIVER, 1, .value = 1),
    HOST(64, RECORD_HANDLE, 1, .code = 0),
    DID(64, 1, STEP_RECEIVE, STATEMENT_NONE, OK),
    DID(64, 1, STEP_BEGIN, STATEMENT_BEGIN, OK),
    DID(64, 1, STEP_RECORD, 0, OK),
    HOST(64, RECORD_EFFECT, 1, .value = 4200),
    DID(64, 1, STEP_EFFECT, STATEMENT_EFFECT, OK),
    HOST(64, RECORD_COMMITTED, 1, .code = 1),
    DID(64, 1, STEP_COMMIT, STATEMENT_COMMIT, OK),
    HOST(65, RECORD_REPLY, 1, .code = REPLY_DONE),
    HOST(65, RECORD_LOST, 1, .code = REPLY),
    SHOP(1000, RECORD_TIMEOUT, 1, .code = 0),
    SHOP(1000, RECORD_SEND, 2, .code = 0),
    HOST(1043, RECORD_DELIVER, 2, .value = 2),
    HOST(1043, RECORD_HANDLE, 2, .code = 0),
    DID(1043, 2, STEP_RECORD, 0, CONSTRAINT),
    AT(1043, RECORD_CRASH, .place = PLACE_RECEIVER, .code = CRASH_TORN, .value = 2),
    AT(1043, RECORD_SURVIVED, .place = PLACE_RECEIVER, .value = 1),
    AT(1143, RECORD_RESTART, .place = PLACE_RECEIVER),
    SHOP(2000, RECORD_CLOSE, 2, .code = BELIEF_UNKNOWN, .value = 1),
    SHOP(2000, RECORD_VIOLATION, 2, .code = CHECK_NO_DOUBLE_EFFECT),
    AT(2000, RECORD_END, .value = 0),
};

static const char golden[] =
    " seconds  shop                              receiver                          database\n"
    "          │                                 │                                 │\n"
    "   1.000  ├─ m-77/1 ─────────────── 64 ms ─▶┃                                 │\n"
    "   1.064  │                                 ┠─ begin ────────────────────────▶│\n"
    "          │                                 ┠─ insert id ────────────────────▶│\n"
    "          │                                 ┠─ effect: order-1042 +4200 ─────▶│\n"
    "          │                                 ┠─ commit ───────────────────────▶│\n"
    "   1.065  │           lost ✗── done m-77/1 ─┤                                 │\n"
    "   2.000  ● no answer to m-77/1: time-out   │                                 │\n"
    "          ├─ m-77/2 ─────────────── 43 ms ─▶┃                                 │\n"
    "   2.043  │                                 ┠─ insert id ─────── constraint ─✗│\n"
    "          │                                 ╪═ CRASH (power torn 2) ══════════╪\n"
    "          │                                 ┊                                 ● 1 effect "
    "survived\n"
    "   2.143  │                                 ● restarts                        │\n"
    "   3.000  ● gives m-77 up, believes it unknown                                │\n"
    "          ✖ no-double-effect violated       │                                 │\n";

START_TEST(diagram_of_the_story)
{
    struct stage s;
    struct story story;
    stage_open(&s, "f.yaml", plain_file);
    story_make(&story, &s.result, story_records, ARRAY_LEN(story_records), 0, 200);
    diagram_print(&story, false, s.out);
    ck_assert_str_eq(stage_text(&s), golden);
    ck_assert_uint_eq(story.left_out, 0);
    story_fini(&story);
    stage_close(&s);
}
END_TEST

START_TEST(diagram_tells_copies_and_drifts)
{
    static const struct record records[] = {
        AT(0, RECORD_CLOCK, .place = PLACE_SENDER, .code = CLOCK_DRIFT, .value = -50),
        HOST(0, RECORD_REPLY, 1, .code = 1), HOST(0, RECORD_COPY, 1, .code = REPLY, .value = 2),
        SHOP(50, RECORD_ANSWER, 1, .code = 1), DID(60, 1, STEP_EFFECT, STATEMENT_EFFECT, FULL)};
    struct stage s;
    struct story story;
    stage_open(&s, "f.yaml", plain_file);
    story_make(&story, &s.result, records, ARRAY_LEN(records), 0, 9);
    ck_assert_str_eq(story.moves[0].label, "the clock of shop drifts by -50 ppm");
    ck_assert_str_eq(story.moves[2].label, "m-77/1.1.2 (copy)");
    ck_assert_str_eq(story.moves[story.count - 1].label, "effect: order-1042 +4200");
    story_fini(&story);
    stage_close(&s);
}
END_TEST

START_TEST(diagram_says_what_it_leaves_out)
{
    struct stage s;
    struct story story;
    stage_open(&s, "f.yaml", plain_file);
    story_make(&story, &s.result, story_records, ARRAY_LEN(story_records), 0, 3);
    ck_assert_uint_eq(story.count, 3);
    ck_assert_uint_eq(story.left_out, 11);
    story.left_out = 12345;
    diagram_print(&story, false, s.out);
    ck_assert_ptr_nonnull(strstr(stage_text(&s), "... 12,345 more; use --limit\n"));
    story_fini(&story);
    /* An operation that does nothing has no story. */
    story_make(&story, &s.result, story_records, ARRAY_LEN(story_records), M78, 200);
    ck_assert_uint_eq(story.count, 0);
    story_fini(&story);
    stage_close(&s);
}
END_TEST

START_TEST(mermaid_escapes_names)
{
    struct stage s;
    struct story story;
    stage_open(&s, "f.yaml", evil_file);
    story_make(&story, &s.result, story_records, ARRAY_LEN(story_records), 0, 200);
    mermaid_print(&story, &s.result, s.out);
    const char *text = stage_text(&s);
    ck_assert_ptr_eq(strstr(text, "sequenceDiagram\n    participant P0 as #34;sh#59;op#35;#34;\n"),
                     text);
    ck_assert_ptr_nonnull(strstr(text, "P0->>P1: #34;m#59;77#35;#34;/1, 64 ms (1.000 s)\n"));
    ck_assert_ptr_nonnull(strstr(text, "P1--xP0: done #34;m#59;77#35;#34;/1, lost (1.065 s)\n"));
    ck_assert_ptr_nonnull(strstr(text, "Note over P1,P2: CRASH (power torn 2) (2.043 s)\n"));
    stage_close(&s);
    story_fini(&story);
}
END_TEST

START_TEST(rows_are_cut_at_their_width)
{
    struct canvas c;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    canvas_clear(&c);
    ck_assert_int_eq(canvas_text(&c, 0, 5, "abcdefgh"), 5);
    canvas_text(&c, CANVAS_WIDTH - 3, 50, "xyz12");
    canvas_text(&c, 10, 4, "\xe4\xb8\xad\xe6\x96\x87"); /* two columns each */
    canvas_text(&c, 20, 2, "e\xcc\x81\xff");
    canvas_put(&c, -1, 'n');
    canvas_put(&c, CANVAS_WIDTH, 'n');
    canvas_print(&c, 0, out);
    fclose(out);
    ck_assert_ptr_eq(strstr(text, "abcd…     \xe4\xb8\xad\xe6\x96\x87      e\xef\xbf\xbd"), text);
    ck_assert_str_eq(text + strlen(text) - 5, "xy…");
    free(text);
}
END_TEST

Suite *reports_suite(void)
{
    Suite *suite = suite_create("reports");
    TCase *tests = tcase_create("reports");
    tcase_add_test(tests, every_reason_is_a_sentence);
    tcase_add_test(tests, shell_words);
    tcase_add_test(tests, repeat_names_everything);
    tcase_add_test(tests, json_parses_back);
    tcase_add_test(tests, junit_parses_back);
    tcase_add_test(tests, tap_points_and_plan);
    tcase_add_test(tests, text_ends_with_the_command);
    tcase_add_test(tests, text_names_faults_that_did_nothing);
    tcase_add_test(tests, csv_parses_back);
    tcase_add_test(tests, csv_disarms_formulas);
    tcase_add_test(tests, quotients);
    tcase_add_test(tests, diagram_of_the_story);
    tcase_add_test(tests, diagram_tells_copies_and_drifts);
    tcase_add_test(tests, diagram_says_what_it_leaves_out);
    tcase_add_test(tests, mermaid_escapes_names);
    tcase_add_test(tests, rows_are_cut_at_their_width);
    suite_add_tcase(suite, tests);
    return suite;
}
