/* Results of `run` as JUnit XML.
 *
 * In: results, grouped by scenario and receiver. Out: one test suite for each scenario on a
 * receiver, one test case for each run, written as they come; no totals, which would stand at the
 * beginning. Characters that XML 1.0 forbids are replaced by U+FFFD.
 */
#include "reports/format.h"

#include <inttypes.h>
#include <libxml/parser.h>
#include <libxml/xmlwriter.h>
#include <stdlib.h>
#include <string.h>

#include "sim/words.h"

struct junit {
    FILE *out;
    xmlTextWriterPtr writer;
    const struct scenario *suite; /* the open one; NULL: none */
    bool many_seeds;
};

/* A failed write is kept by the stream's owner, so libxml2 hears of none. */
static int write_bytes(void *context, const char *bytes, int count)
{
    fwrite(bytes, 1, (size_t)count, context);
    return count;
}

static int close_nothing(void *context)
{
    (void)context;
    return 0;
}

/* libxml2 can fail only where memory is out. */
static void need(int rc)
{
    must(rc >= 0);
}

static bool allowed(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' ||
           (c >= 0x20 && c != 0x7f && c != 0xfffe && c != 0xffff);
}

static xmlChar *clean(const char *s)
{
    size_t len = strlen(s), n = 0;
    char *text = sim_alloc(3 * len + 1);
    for (size_t i = 0, used; i < len; i += used) {
        uint32_t c = 0;
        used = words_utf8(s + i, len - i, &c);
        bool good = used > 0 && allowed(c);
        used = used > 0 ? used : 1;
        memcpy(text + n, good ? s + i : "\xef\xbf\xbd", good ? used : 3);
        n += good ? used : 3;
    }
    text[n] = '\0';
    return (xmlChar *)text;
}

static void attribute(struct junit *j, const char *name, const char *value)
{
    xmlChar *text = clean(value);
    need(xmlTextWriterWriteAttribute(j->writer, BAD_CAST name, text));
    free(text);
}

static void content(struct junit *j, const char *value)
{
    xmlChar *text = clean(value);
    need(xmlTextWriterWriteString(j->writer, text));
    free(text);
}

static void *junit_begin(FILE *out, const struct format_plan *plan)
{
    struct junit *j = sim_zalloc(1, sizeof(*j));
    j->out = out;
    j->many_seeds = plan->many_seeds;
    xmlInitParser(); /* or xmlCleanupParser would do nothing */
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateIO(write_bytes, close_nothing, out, NULL);
    must(buffer != NULL);
    j->writer = xmlNewTextWriter(buffer);
    must(j->writer != NULL);
    need(xmlTextWriterSetIndent(j->writer, 1));
    need(xmlTextWriterStartDocument(j->writer, NULL, "UTF-8", NULL));
    need(xmlTextWriterStartElement(j->writer, BAD_CAST "testsuites"));
    attribute(j, "name", "onlyonce");
    return j;
}

static void put_failure(struct junit *j, const struct result *r)
{
    char summary[FORMAT_SUMMARY];
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    must(stream != NULL);
    format_details(stream, r, "", VIOLATIONS_KEPT);
    struct sentence_names names = scenario_names(r->scenario);
    for (size_t i = 0; i < r->fired_count && i < 100; i++) {
        char sentence[SENTENCE_MAX];
        sentence_print(&names, &r->fired[i], sentence);
        fprintf(stream, "fault: %s\n", sentence);
    }
    char *repeat = format_repeat(r);
    fprintf(stream, "%s\n", repeat);
    free(repeat);
    fclose(stream);
    bool error = r->verdict == VERDICT_ERROR;
    need(xmlTextWriterStartElement(j->writer, BAD_CAST(error ? "error" : "failure")));
    attribute(j, "type", verdict_text(r->verdict));
    attribute(j, "message", format_summary(r, summary));
    content(j, text);
    need(xmlTextWriterEndElement(j->writer));
    free(text);
}

static void close_suite(struct junit *j)
{
    if (j->suite != NULL) {
        need(xmlTextWriterEndElement(j->writer));
        j->suite = NULL;
    }
}

static void junit_result(void *state, const struct result *r)
{
    struct junit *j = state;
    char name[NAME_TEXT + 32];
    if (j->suite != r->scenario) {
        close_suite(j);
        need(xmlTextWriterStartElement(j->writer, BAD_CAST "testsuite"));
        attribute(j, "name", r->scenario->name);
        j->suite = r->scenario;
    }
    if (j->many_seeds) {
        snprintf(name, sizeof(name), "%s, seed %" PRIu64, r->receiver->name, r->seed);
    } else {
        snprintf(name, sizeof(name), "%s", r->receiver->name);
    }
    need(xmlTextWriterStartElement(j->writer, BAD_CAST "testcase"));
    attribute(j, "classname", r->scenario->name);
    attribute(j, "name", name);
    attribute(j, "file", r->scenario->file);
    if (!r->expected) {
        put_failure(j, r);
    }
    need(xmlTextWriterEndElement(j->writer));
    need(xmlTextWriterFlush(j->writer));
}

static void junit_group_end(void *state)
{
    (void)state; /* the next receiver may belong to the same suite */
}

static void junit_end(void *state, const struct tally *t)
{
    struct junit *j = state;
    (void)t;
    close_suite(j);
    need(xmlTextWriterEndElement(j->writer));
    need(xmlTextWriterEndDocument(j->writer));
    xmlFreeTextWriter(j->writer);
    xmlCleanupParser(); /* the tables of encodings */
    free(j);
}

const struct format format_junit = {junit_begin, junit_result, junit_group_end, junit_end};
