/* What several formats of `run` need: summaries, details, the command that repeats a run.
 *
 * In: one result. Out: lines that are safe to print anywhere text may stand.
 */
#include "reports/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/words.h"

static void add(char *out, size_t size, const char *separator, const char *text)
{
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s%s", n > 0 ? separator : "", text);
}

static void add_checks(char out[FORMAT_SUMMARY], uint32_t set)
{
    if (set == CHECKS_EXACTLY_ONCE) {
        add(out, FORMAT_SUMMARY, ", ", "exactly-once");
        return;
    }
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if (set & CHECK_BIT(c)) {
            add(out, FORMAT_SUMMARY, ", ", check_text((enum check)c));
        }
    }
}

const char *format_violated(const struct result *r, char out[FORMAT_SUMMARY])
{
    out[0] = '\0';
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if (r->violated[c] > 0) {
            add(out, FORMAT_SUMMARY, ", ", check_text((enum check)c));
        }
    }
    return out;
}

const char *format_summary(const struct result *r, char out[FORMAT_SUMMARY])
{
    char list[FORMAT_SUMMARY];
    size_t n = (size_t)snprintf(out, FORMAT_SUMMARY, "%s", verdict_text(r->verdict));
    if (r->verdict == VERDICT_FAIL) {
        snprintf(out + n, FORMAT_SUMMARY - n, ": %s", format_violated(r, list));
    } else if (r->reason[0] != '\0') {
        snprintf(out + n, FORMAT_SUMMARY - n, ": %s", r->reason);
    }
    if (!r->expected && r->expectation != NULL && r->expectation->violates) {
        n = strlen(out);
        list[0] = '\0';
        add_checks(list, r->expectation->checks);
        snprintf(out + n, FORMAT_SUMMARY - n, "; expected: violates %s", list);
    }
    return out;
}

size_t format_listed(const struct result *r)
{
    size_t all = r->scenario->fault_count;
    return r->fates != NULL && r->listed_count == all ? all : 0;
}

void format_line(FILE *out, const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n') {
        len--; /* of a YAML block */
    }
    for (size_t i = 0, used; i < len; i += used) {
        used = words_utf8(text + i, len - i, NULL);
        char one[16];
        used = used > 0 ? used : 1;
        /* What words_quote would escape, but for quotes and backslashes, is no text to see. */
        size_t n = words_quote(text + i, used, one, sizeof(one));
        if (one[1] == '\\' && text[i] != '"' && text[i] != '\\') {
            putc(' ', out);
        } else {
            must(n > 0);
            fwrite(text + i, 1, used, out);
        }
    }
}

char *format_repeat(const struct result *r)
{
    size_t size = result_repeat(r, NULL, 0) + 1;
    char *command = sim_alloc(size);
    result_repeat(r, command, size);
    return command;
}

void format_details(FILE *out, const struct result *r, const char *indent, size_t most)
{
    char text[VIOLATION_TEXT];
    uint64_t all = 0;
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        all += r->violated[c];
    }
    size_t told = r->violation_count < most ? r->violation_count : most;
    for (size_t i = 0; i < told; i++) {
        violation_text(r->scenario, &r->violations[i], text, sizeof(text));
        fprintf(out, "%s%s: %s\n", indent, check_text(r->violations[i].check), text);
    }
    if (all > told) {
        fprintf(out, "%s... and %" PRIu64 " more\n", indent, all - told);
    }
}
