/* Certificates of explorations.
 *
 * In: a certificate. Out: what was asked, what was covered, what was found:
 *
 *     pass     lost-reply  table  as expected  every schedule with at most 2 faults: 24,512
 *                0 faults 1 · 1 fault 163 · 2 faults 24,348
 *                sites 131: lose 4, duplicate 4, ...
 *                judged: no-double-effect 24,512, ...
 *                seed 1, epoch 1, SQLite 3.40.1, digest 0123456789abcdef
 */
#include "reports/certificate.h"

#include <inttypes.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "reports/format.h"

static const char *const ends[] = {
    [EXPLORED_ALL] = "all",
    [EXPLORED_TO_COUNTEREXAMPLE] = "counterexample",
    [EXPLORED_TO_LIMIT] = "limit",
    [EXPLORED_TO_STOP] = "interrupted",
};

/* "24,512" */
static const char *grouped(uint64_t n, char out[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), o = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            out[o++] = ',';
        }
        out[o++] = digits[i];
    }
    out[o] = '\0';
    return out;
}

static unsigned largest_size(const struct certificate *c)
{
    unsigned k = 0;
    for (unsigned i = 0; i <= c->task->faults; i++) {
        k = c->levels[i].schedules > 0 ? i : k;
    }
    return k;
}

static void text_head(FILE *out, const struct certificate *c)
{
    const struct explore_task *t = c->task;
    char n[32], scenario[NAME_TEXT], receiver[NAME_TEXT];
    name_text(t->scenario->name, scenario, sizeof(scenario));
    name_text(t->scenario->receivers[t->receiver].name, receiver, sizeof(receiver));
    fprintf(out, "%-8s %s  %s  %s  ", verdict_text(c->verdict), scenario, receiver,
            c->expected ? "as expected" : "NOT EXPECTED");
    switch (c->end) {
    case EXPLORED_ALL:
        fprintf(out, "every schedule with at most %u %s: %s\n", t->faults,
                t->faults == 1 ? "fault" : "faults", grouped(c->schedules, n));
        break;
    case EXPLORED_TO_COUNTEREXAMPLE:
        fprintf(out, "every schedule with at most %u %s, up to what was looked for: %s\n",
                largest_size(c), largest_size(c) == 1 ? "fault" : "faults",
                grouped(c->schedules, n));
        break;
    case EXPLORED_TO_LIMIT:
        fprintf(out, "ended at the limit, not all was covered: %s schedules\n",
                grouped(c->schedules, n));
        break;
    case EXPLORED_TO_STOP:
        fprintf(out, "interrupted, not all was covered: %s schedules\n", grouped(c->schedules, n));
        break;
    }
}

static void text_levels(FILE *out, const struct certificate *c)
{
    char n[32];
    fputs("           ", out);
    for (unsigned i = 0; i <= largest_size(c); i++) {
        const struct explore_level *l = &c->levels[i];
        fprintf(out, "%s%u %s %s%s", i > 0 ? " · " : "", i, i == 1 ? "fault" : "faults",
                grouped(l->schedules, n), l->whole ? "" : " (not all)");
        if (l->failed > 0) {
            fprintf(out, " (%s fail)", grouped(l->failed, n));
        }
    }
    fputs("\n           sites", out);
    uint64_t sum = 0;
    for (unsigned k = 0; k < FAULT_KIND_COUNT; k++) {
        sum += c->sites[k];
    }
    fprintf(out, " %s:", grouped(sum, n));
    const char *comma = " ";
    for (unsigned k = 0; k < FAULT_KIND_COUNT; k++) {
        if (c->sites[k] > 0) {
            fprintf(out, "%s%s %s", comma, fault_kind_text((enum fault_kind)k),
                    grouped(c->sites[k], n));
            comma = ", ";
        }
    }
    fputs("\n           judged:", out);
    comma = " ";
    for (unsigned k = 0; k < CHECK_COUNT; k++) {
        if (c->judged[k] > 0) {
            fprintf(out, "%s%s %s", comma, check_text((enum check)k), grouped(c->judged[k], n));
            comma = ", ";
        }
    }
    fputc('\n', out);
}

static void text_found(FILE *out, const struct certificate *c)
{
    char n[32], sentence[SENTENCE_MAX];
    struct sentence_names names = scenario_names(c->task->scenario);
    for (unsigned k = 0; k < CHECK_COUNT; k++) {
        if (c->violated[k] > 0) {
            fprintf(out, "           %s violated in %s of them\n", check_text((enum check)k),
                    grouped(c->violated[k], n));
        }
    }
    if (!c->found) {
        return;
    }
    fprintf(out, "           first counterexample, %u %s%s\n", c->counterexample_faults,
            c->counterexample_faults == 1 ? "fault" : "faults",
            c->counterexample_faults > 0 ? ":" : ": nothing need go wrong");
    for (unsigned i = 0; i < c->counterexample_faults; i++) {
        sentence_print(&names, &c->counterexample[i], sentence);
        fprintf(out, "             - %s\n", sentence);
    }
}

void certificate_text(FILE *out, const struct certificate *c, uint64_t elapsed_ms)
{
    char n[32];
    text_head(out, c);
    if (c->error != SIM_OK) {
        fprintf(out, "           error: %s\n", sim_error_text(c->error));
    }
    text_levels(out, c);
    text_found(out, c);
    fprintf(out,
            "           seed %" PRIu64 ", epoch %d, SQLite %s, digest %016" PRIx64 "; %" PRIu64
            ".%03" PRIu64 " s, %s a second\n",
            c->task->seed, HISTORY_EPOCH, sqlite3_libversion(), c->digest, elapsed_ms / 1000,
            elapsed_ms % 1000, grouped(c->schedules * 1000 / (elapsed_ms + 1), n));
}

/* ---- JSON ---- */

static json_t *levels(const struct certificate *c)
{
    json_t *list = json_array();
    for (unsigned i = 0; i <= largest_size(c); i++) {
        const struct explore_level *l = &c->levels[i];
        json_t *one = json_pack("{s:i, s:I, s:I, s:I, s:b}", "faults", (int)i, "schedules",
                                (json_int_t)l->schedules, "failed", (json_int_t)l->failed,
                                "vacuous", (json_int_t)l->vacuous, "whole", (int)l->whole);
        must(one != NULL && json_array_append_new(list, one) == 0);
    }
    return list;
}

static json_t *sites(const struct certificate *c)
{
    json_t *o = json_object();
    for (unsigned k = FAULT_NONE + 1; k < FAULT_KIND_COUNT; k++) {
        must(json_object_set_new(o, fault_kind_text((enum fault_kind)k),
                                 json_integer((json_int_t)c->sites[k])) == 0);
    }
    return o;
}

static json_t *by_check(const uint64_t counts[CHECK_COUNT])
{
    json_t *o = json_object();
    for (unsigned k = 0; k < CHECK_COUNT; k++) {
        must(json_object_set_new(o, check_text((enum check)k),
                                 json_integer((json_int_t)counts[k])) == 0);
    }
    return o;
}

static json_t *counterexample(const struct certificate *c)
{
    if (!c->found) {
        return json_null();
    }
    struct sentence_names names = scenario_names(c->task->scenario);
    json_t *list = json_array();
    for (unsigned i = 0; i < c->counterexample_faults; i++) {
        char sentence[SENTENCE_MAX];
        sentence_print(&names, &c->counterexample[i], sentence);
        must(json_array_append_new(list, json_string(sentence)) == 0);
    }
    return list;
}

void certificate_json(FILE *out, const struct certificate *c, uint64_t elapsed_ms)
{
    const struct explore_task *t = c->task;
    char digest[17];
    snprintf(digest, sizeof(digest), "%016" PRIx64, c->digest);
    json_t *o = json_pack(
        "{s:s, s:s, s:I, s:i, s:s, s:b, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:s, s:i,"
        " s:s, s:I}",
        "scenario", t->scenario->name, "receiver", t->scenario->receivers[t->receiver].name, "seed",
        (json_int_t)t->seed, "faults", (int)t->faults, "verdict", verdict_text(c->verdict),
        "expected", (int)c->expected, "end", ends[c->end], "schedules", (json_int_t)c->schedules,
        "levels", levels(c), "sites", sites(c), "judged", by_check(c->judged), "violated",
        by_check(c->violated), "counterexample", counterexample(c), "kept_faults", (int)t->keep,
        "full_power", (int)t->full_power, "digest", digest, "epoch", HISTORY_EPOCH, "sqlite",
        sqlite3_libversion(), "elapsed_ms", (json_int_t)elapsed_ms);
    must(o != NULL);
    char *line = json_dumps(o, JSON_COMPACT);
    must(line != NULL);
    fprintf(out, "%s\n", line); /* a failed write is kept by the stream's owner */
    free(line);
    json_decref(o);
}
