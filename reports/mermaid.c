/* One run as the source of a Mermaid sequence diagram, as GitHub renders it.
 *
 * In: a story. Out: participants, arrows, notes. In text, whatever could end a statement or begin
 * markup is written as a numeric entity; Mermaid's own are #NN; without an ampersand.
 * (https://mermaid.js.org/syntax/sequenceDiagram.html)
 */
#include "reports/diagram.h"

#include <inttypes.h>
#include <string.h>

#include "reports/format.h"
#include "sim/words.h"

static void put_text(FILE *out, const char *s)
{
    for (size_t i = 0, len = strlen(s), used; i < len; i += used) {
        uint32_t c = 0xfffd;
        used = words_utf8(s + i, len - i, &c);
        used = used > 0 ? used : 1;
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     c >= 0xa0 || strchr(" .,:/()_+=!?'-", (int)c) != NULL;
        if (c < 0x20 || c == 0x7f) {
            putc(' ', out);
        } else if (plain) {
            fwrite(s + i, 1, used, out);
        } else {
            fprintf(out, "#%" PRIu32 ";", c);
        }
    }
}

static void put_time(FILE *out, uint64_t at)
{
    char text[SECONDS_TEXT];
    fprintf(out, " (%s s)", seconds_text(at, text));
}

static void put_participants(const struct story *s, FILE *out)
{
    for (size_t i = 0; i < s->lane_count; i++) {
        fprintf(out, "    participant P%zu as ", i);
        put_text(out, s->lanes[i].name);
        putc('\n', out);
    }
}

/* before: what a lost message and one under way have in common is that they do not arrive now. */
static void put_arrow(const struct move *m, const char *arrow, const char *before, FILE *out)
{
    fprintf(out, "    P%u%sP%u: %s", m->from, arrow, m->to, before);
    put_text(out, m->label);
    if (m->detail[0] != '\0') {
        fputs(", ", out);
        put_text(out, m->detail);
    }
    put_time(out, m->at);
    putc('\n', out);
}

static void put_note(const struct move *m, unsigned from, unsigned to, FILE *out)
{
    if (from == to) {
        fprintf(out, "    Note over P%u: ", from);
    } else {
        fprintf(out, "    Note over P%u,P%u: ", from, to);
    }
    put_text(out, m->label);
    put_time(out, m->at);
    putc('\n', out);
}

static void put_move(const struct story *s, const struct move *m, FILE *out)
{
    unsigned last = (unsigned)s->lane_count - 1;
    bool reply = m->from > m->to;
    switch (m->kind) {
    case MOVE_ARROW:
        put_arrow(m, reply ? "-->>" : "->>", "", out);
        return;
    case MOVE_ARRIVES:
        put_arrow(m, reply ? "-->>" : "->>", "arrives: ", out);
        return;
    case MOVE_LEAVES:
        fprintf(out, "    Note over P%u: sends ", m->from);
        put_text(out, m->label);
        if (m->detail[0] != '\0') {
            fputs(", ", out);
            put_text(out, m->detail);
        }
        put_time(out, m->at);
        putc('\n', out);
        return;
    case MOVE_LOST:
    case MOVE_REFUSED:
        put_arrow(m, reply ? "--x" : "-x", "", out);
        return;
    case MOVE_NOTE:
        put_note(m, m->from, m->from, out);
        return;
    case MOVE_CRASH:
        put_note(m, m->from, m->to, out);
        return;
    case MOVE_VIOLATION:
    case MOVE_WORLD:
        put_note(m, 0, last, out);
        return;
    }
    must(!"a move");
}

void mermaid_print(const struct story *s, const struct result *r, FILE *out)
{
    char text[FORMAT_SUMMARY];
    fputs("sequenceDiagram\n", out);
    put_participants(s, out);
    for (size_t i = 0; i < s->count; i++) {
        put_move(s, &s->moves[i], out);
    }
    if (s->left_out > 0) {
        fprintf(out, "    Note over P0,P%zu: ... %" PRIu64 " more\n", s->lane_count - 1,
                s->left_out);
    }
    fprintf(out, "    Note over P0,P%zu: verdict: ", s->lane_count - 1);
    put_text(out, format_summary(r, text));
    fputs(r->expected ? " (as expected)\n" : " (NOT EXPECTED)\n", out);
}
