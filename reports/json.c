/* Results of `run` as JSON: one object for each run, one run a line.
 *
 * In: results. Out: objects with the same keys in the same order, whatever the verdict. Text that
 * is not UTF-8 (a file name may be anything) has U+FFFD in its place. The history's hash is a
 * string of 16 hex digits, because JSON numbers are too small for it.
 */
#include "reports/format.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cover.h"
#include "sim/scenario_settings.h"
#include "sim/words.h"

static json_t *json_text(const char *s)
{
    size_t len = strlen(s), n = 0;
    char *clean = sim_alloc(3 * len + 1);
    for (size_t i = 0, used; i < len; i += used) {
        used = words_utf8(s + i, len - i, NULL);
        memcpy(clean + n, used > 0 ? s + i : "\xef\xbf\xbd", used > 0 ? used : 3);
        n += used > 0 ? used : 3;
        used = used > 0 ? used : 1;
    }
    json_t *text = json_stringn(clean, n);
    free(clean);
    must(text != NULL);
    return text;
}

static void put(json_t *object, const char *key, json_t *value)
{
    must(value != NULL && json_object_set_new(object, key, value) == 0);
}

static void put_text(json_t *object, const char *key, const char *value)
{
    put(object, key, json_text(value));
}

static void put_number(json_t *object, const char *key, uint64_t value)
{
    put(object, key, json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value)));
}

static json_t *sentences(const struct scenario *s, const struct fault *faults, size_t count,
                         const uint8_t *fates, enum fault_fate fate)
{
    struct sentence_names names = scenario_names(s);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        bool idle = fate == FATE_UNREACHED && fates != NULL && fates[i] == FATE_HELD;
        if (fates == NULL || fates[i] == fate || idle) {
            char sentence[SENTENCE_MAX];
            sentence_print(&names, &faults[i], sentence);
            must(json_array_append_new(list, json_text(sentence)) == 0);
        }
    }
    return list;
}

static json_t *violations(const struct result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->violation_count; i++) {
        const struct violation *v = &r->violations[i];
        char text[VIOLATION_TEXT], id[KEY_MAX] = "";
        json_t *one = json_object();
        put_text(one, "check", check_text(v->check));
        if (v->op != 0) {
            scenario_operation_id(r->scenario, v->op, id);
            put_text(one, "operation", id);
        } else {
            put(one, "operation", json_null());
        }
        violation_text(r->scenario, v, text, sizeof(text));
        put_text(one, "message", text);
        put_number(one, "at_ns", v->at);
        must(json_array_append_new(list, one) == 0);
    }
    return list;
}

/* only_set: checks that this run does not judge are left out. */
static json_t *by_check(const uint64_t counts[CHECK_COUNT], uint32_t set)
{
    json_t *object = json_object();
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if (set & CHECK_BIT(c)) {
            put_number(object, check_text((enum check)c), counts[c]);
        }
    }
    return object;
}

static json_t *costs(const struct costs *c)
{
    json_t *o = json_object();
    put_number(o, "sql_fresh", c->sql_fresh);
    put_number(o, "sql_duplicate", c->sql_duplicate);
    put_number(o, "handlings_fresh", c->handlings_fresh);
    put_number(o, "handlings_duplicate", c->handlings_duplicate);
    put_number(o, "latency_sum_ns", c->latency_sum);
    put_number(o, "latency_max_ns", c->latency_max);
    put_number(o, "latency_count", c->latency_count);
    put_number(o, "disk_writes", c->disk_writes);
    put_number(o, "disk_syncs", c->disk_syncs);
    put_number(o, "disk_bytes", c->disk_bytes);
    put_number(o, "database_bytes", c->database_bytes);
    return o;
}

static void put_schedule(json_t *o, const struct result *r)
{
    const struct scenario *s = r->scenario;
    put(o, "schedule", sentences(s, r->fired, r->fired_count, NULL, FATE_FIRED));
    size_t listed = format_listed(r);
    put(o, "unfired", sentences(s, s->faults, listed, r->fates, FATE_UNREACHED));
    put(o, "not_applicable", sentences(s, s->faults, listed, r->fates, FATE_NOT_APPLICABLE));
}

static void put_counts(json_t *o, const struct result *r)
{
    put_number(o, "operations", r->operations);
    put_number(o, "attempts", r->attempts);
    put_number(o, "deliveries", r->deliveries);
    put_number(o, "duplicates", r->duplicates);
    put_number(o, "handlings", r->handlings);
    put_number(o, "effects", r->effects);
    if (r->calls) {
        put_number(o, "external_effects", r->external);
    }
    put_number(o, "copies", r->copies);
    put_number(o, "lost", r->lost);
    put_number(o, "crashes", r->crashes);
    put_number(o, "restarts", r->restarts);
    put_number(o, "gave_up", r->gave_up);
    put_number(o, "unfinishable", r->unfinishable);
    put_number(o, "with_effect", r->with_effect);
    put_number(o, "doubled", r->doubled);
    put_number(o, "late", r->late);
    if (r->has_records) {
        put_number(o, "records", r->records);
        put_number(o, "records_most", r->records_most);
    }
    if (r->scenario->downstream != NULL) {
        put_number(o, "follow_ons", r->follow_ons);
        put_number(o, "follow_deliveries", r->follow_deliveries);
        put_number(o, "follow_effects", r->follow_effects);
    }
    if (r->receiver->code->moves != NULL || r->premature > 0) {
        put_number(o, "premature_expirations", r->premature);
    }
    if (r->scenario->broker.on) {
        put_number(o, "dead_letters", r->dead_letters);
        put_number(o, "replayed", r->replayed);
        put_number(o, "kept_out", r->kept_out);
    }
}

static void put_cover(json_t *o, const struct result *r)
{
    struct cover c;
    cover_compute(r->scenario, r->receiver, &c);
    if (c.judged) {
        json_t *one = json_object();
        put(one, "holds", json_boolean(c.holds));
        put_number(one, "needed_ns", c.needed);
        put_number(one, "given_ns", c.given);
        put_text(one, "text", c.text);
        put(o, "retention_covers_retries", one);
    }
}

static void put_sweep(json_t *o, const struct scenario_receiver *r)
{
    if (r->swept == NULL) {
        return;
    }
    const struct setting *setting = &r->code->settings[r->swept_setting];
    char value[SETTING_TEXT];
    json_t *sweep = json_object();
    put_text(sweep, "receiver", r->swept);
    put_text(sweep, "setting", setting->name);
    put_text(sweep, "value", setting_text(setting, r->settings[r->swept_setting], value));
    put(o, "sweep", sweep);
}

static void json_result(void *state, const struct result *r)
{
    FILE *out = state;
    json_t *o = json_object();
    char hash[17];
    put_text(o, "scenario", r->scenario->name);
    put_text(o, "file", r->scenario->file);
    put_text(o, "receiver", r->receiver->name);
    put_sweep(o, r->receiver);
    put_number(o, "seed", r->seed);
    put_schedule(o, r);
    put_text(o, "verdict", verdict_text(r->verdict));
    put(o, "expected", json_boolean(r->expected));
    put_text(o, "reason", r->reason);
    put(o, "violations", violations(r));
    put(o, "violated", by_check(r->violated, r->checks));
    put(o, "judged", by_check(r->judged, r->checks));
    put_counts(o, r);
    put(o, "costs", costs(&r->costs));
    put_cover(o, r);
    put_number(o, "events", r->events);
    put_number(o, "ended_ns", r->ended);
    snprintf(hash, sizeof(hash), "%016" PRIx64, r->history_hash);
    put_text(o, "history", hash);
    put_number(o, "epoch", HISTORY_EPOCH);
    char *repeat = format_repeat(r);
    put_text(o, "repeat", repeat);
    free(repeat);
    /* A failed write is kept by the stream's owner. */
    char *line = json_dumps(o, JSON_COMPACT);
    must(line != NULL);
    fprintf(out, "%s\n", line);
    free(line);
    json_decref(o);
}

static void *json_begin(FILE *out, const struct format_plan *plan)
{
    (void)plan;
    return out;
}

static void json_group_end(void *state)
{
    (void)state;
}

static void json_end(void *state, const struct tally *t)
{
    (void)state;
    (void)t;
}

const struct format format_json = {json_begin, json_result, json_group_end, json_end};
