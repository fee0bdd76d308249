/* One run as a sequence diagram in text.
 *
 * In: a story. Out: one line for each move, at most 100 columns wide:
 *
 *       time  shop                    receiver                database
 *      0.000  ├─ m-77/1 ────── 51 ms ─▶┃                       │
 *                                      ┃─ insert id ──────────▶│
 *
 * A line is heavy while its worker handles a message and dotted while its host is down. Times are
 * seconds on the world's clock, which starts at 1, with as many decimals as tell two moves apart; a
 * move at the same moment as the one above has none.
 */
#include "reports/diagram.h"

#include <inttypes.h>
#include <string.h>

#include "reports/canvas.h"

#define LIGHT 0x2502  /* │ */
#define HEAVY 0x2503  /* ┃ */
#define DOTTED 0x250a /* ┊ */
#define LINE 0x2500   /* ─ */
#define DASHED 0x2504 /* ┄ */
#define CROSS 0x253c  /* ┼ */
#define RIGHT 0x25b6  /* ▶ */
#define LEFT 0x25c0   /* ◀ */
#define LOST 0x2717   /* ✗ */
#define DOT 0x25cf    /* ● */
#define MARGIN 2
#define LABEL_LEAST 8 /* columns of a label that a detail leaves it, blanks included */

struct diagram {
    const struct story *story;
    FILE *out;
    bool colour;
    int decimals;
    int time_width;
    int x[LANES_MAX];
    struct canvas row;
};

/* ---- layout ---- */

static int least_decimals(const struct story *s)
{
    static const struct {
        uint64_t unit;
        int decimals;
    } steps[] = {{SIM_MS, 3}, {SIM_US, 6}};
    for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
        bool apart = true;
        for (size_t i = 1; i < s->count && apart; i++) {
            uint64_t a = s->moves[i - 1].at, b = s->moves[i].at;
            apart = a == b || a / steps[k].unit != b / steps[k].unit;
        }
        if (apart) {
            return steps[k].decimals;
        }
    }
    return 9;
}

static const char *time_text(const struct diagram *d, uint64_t at, char out[SECONDS_TEXT])
{
    uint64_t part = at % SIM_S;
    for (int i = d->decimals; i < 9; i++) {
        part /= 10;
    }
    snprintf(out, SECONDS_TEXT, "%" PRIu64 ".%0*" PRIu64, at / SIM_S, d->decimals, part);
    return out;
}

/* Lanes of one kind stand close together; the gaps that messages and SQL cross get the rest. */
static void lay_out(struct diagram *d)
{
    const struct story *s = d->story;
    char last[SECONDS_TEXT];
    d->decimals = least_decimals(s);
    time_text(d, s->count > 0 ? s->moves[s->count - 1].at : 0, last);
    d->time_width = (int)strlen(last);
    if (d->time_width < 8) {
        d->time_width = 8;
    }
    int close = s->lane_count > 5 ? 9 : 12;
    int narrow = (int)(s->senders - 1 + s->workers - 1 + s->calls) * close;
    int wide = (CANVAS_WIDTH - d->time_width - MARGIN - narrow - 12) / (2 + (int)s->brokers);
    if (wide > 34) {
        wide = 34;
    }
    int x = d->time_width + MARGIN;
    for (size_t i = 0; i < s->lane_count; i++) {
        d->x[i] = x;
        bool last_of_kind = i + 1 == s->senders || i + 1 == s->senders + s->brokers ||
                            i + 1 == s->senders + s->brokers + s->workers;
        x += last_of_kind ? wide : close;
    }
}

/* ---- rows ---- */

static void draw_lanes(struct diagram *d, const struct move *m)
{
    const struct story *s = d->story;
    canvas_clear(&d->row);
    for (size_t i = 0; i < s->lane_count; i++) {
        size_t first = s->senders + s->brokers;
        bool hosted = i >= first && i <= first + s->workers;
        uint32_t line = m != NULL && m->down && hosted         ? DOTTED
                        : m != NULL && (m->busy >> i & 1) != 0 ? HEAVY
                                                               : LIGHT;
        canvas_put(&d->row, d->x[i], line);
    }
}

static void draw_shaft(struct diagram *d, int from, int to, uint32_t line)
{
    for (int x = from; x <= to; x++) {
        uint32_t old = d->row.cells[x];
        bool lane = old == LIGHT || old == HEAVY || old == DOTTED;
        canvas_put(&d->row, x, lane ? CROSS : line);
    }
}

/* Text on a shaft, with a blank on both sides. Returns the columns used. */
static int on_shaft(struct diagram *d, int x, int room, const char *text)
{
    if (text[0] == '\0' || room < 5) {
        return 0;
    }
    canvas_put(&d->row, x, ' ');
    int used = canvas_text(&d->row, x + 1, room - 2, text);
    canvas_put(&d->row, x + 1 + used, ' ');
    return used + 2;
}

/* Label at the origin, detail at the head; where there is no room for both, the label is cut down
 * to a few columns, then the detail, and that is left out when little of it is left. */
static void label_shaft(struct diagram *d, int a, int b, const char *label, const char *detail)
{
    bool right = a < b;
    int left_end = (right ? a : b) + 2;
    int room = (right ? b - a : a - b) - 3;
    int label_width = canvas_columns(label) + 2;
    int detail_width = detail[0] != '\0' ? canvas_columns(detail) + 2 : 0;
    int least = label_width < LABEL_LEAST ? label_width : LABEL_LEAST;
    if (detail_width > room - least - 1) {
        detail_width = room - least - 1;
        detail = detail_width < 8 ? "" : detail;
    }
    int left = detail[0] != '\0' ? room - detail_width - 1 : room;
    label_width = label_width > left ? left : label_width;
    on_shaft(d, right ? left_end : left_end + room - label_width, label_width, label);
    if (detail[0] != '\0') {
        on_shaft(d, right ? left_end + room - detail_width - 1 : left_end + 1, detail_width,
                 detail);
    }
}

/* Where something leaves a lane. */
static void draw_origin(struct diagram *d, int x, bool right)
{
    uint32_t lane = d->row.cells[x];
    if (lane == LIGHT) {
        canvas_put(&d->row, x, right ? 0x251c : 0x2524);
    } else if (lane == HEAVY) {
        canvas_put(&d->row, x, right ? 0x2520 : 0x2528);
    }
}

static void draw_arrow(struct diagram *d, const struct move *m, uint32_t line, uint32_t head)
{
    int a = d->x[m->from], b = d->x[m->to];
    bool right = a < b;
    draw_shaft(d, (right ? a : b) + 1, (right ? b : a) - 1, line);
    draw_origin(d, a, right);
    canvas_put(&d->row, right ? b - 1 : b + 1, head != 0 ? head : right ? RIGHT : LEFT);
    label_shaft(d, a, b, m->label, m->detail);
}

/* An arrow that ends on its way: at a cross, or open, for what arrives later. */
static void draw_part(struct diagram *d, const struct move *m, bool lost)
{
    int a = d->x[m->from], b = d->x[m->to];
    int step = a < b ? 1 : -1;
    int length = canvas_columns(m->label) + 6;
    int width = canvas_columns(m->detail);
    int most = (b - a) * step - 2;
    if (width > 0 && most - width - 2 >= LABEL_LEAST + 4) {
        most -= width + 2;
    }
    if (length > most) {
        length = most;
    }
    int end = a + step * length;
    draw_shaft(d, step > 0 ? a + 1 : end, step > 0 ? end : a - 1, lost ? LINE : DASHED);
    draw_origin(d, a, step > 0);
    canvas_put(&d->row, end, lost ? LOST : step > 0 ? 0x25b7 : 0x25c1);
    label_shaft(d, a, end, m->label, "");
    int room = (b - end) * step - 3;
    if (width <= room && width > 0) {
        canvas_text(&d->row, step > 0 ? end + 2 : end - 1 - width, width, m->detail);
    }
}

static void draw_arrival(struct diagram *d, const struct move *m)
{
    struct move turned = *m;
    int a = d->x[m->from], b = d->x[m->to];
    bool right = a < b;
    draw_shaft(d, (right ? a : b) + 1, (right ? b : a) - 1, DASHED);
    canvas_put(&d->row, right ? b - 1 : b + 1, right ? RIGHT : LEFT);
    /* The label stands at the head: that is where it happens. */
    label_shaft(d, b, a, turned.label, turned.detail);
}

static void draw_note(struct diagram *d, const struct move *m)
{
    int x = d->x[m->from];
    canvas_put(&d->row, x, DOT);
    int width = canvas_columns(m->label);
    bool last = m->from + 1u == d->story->lane_count;
    if (last && x + 2 + width > CANVAS_WIDTH) {
        int start = x - 1 - width;
        canvas_text(&d->row, start < d->time_width + MARGIN ? d->time_width + MARGIN : start, width,
                    m->label);
        return;
    }
    canvas_put(&d->row, x + 1, ' ');
    int used = canvas_text(&d->row, x + 2, CANVAS_WIDTH - x - 2, m->label);
    canvas_put(&d->row, x + 2 + used, ' ');
}

static void draw_crash(struct diagram *d, const struct move *m)
{
    canvas_fill(&d->row, d->x[m->from], d->x[m->to], 0x2550);
    for (int i = m->from; i <= m->to; i++) {
        canvas_put(&d->row, d->x[i], 0x256a);
    }
    on_shaft(d, d->x[m->from] + 2, CANVAS_WIDTH - d->x[m->from] - 2, m->label);
}

static void draw_world(struct diagram *d, const struct move *m, uint32_t mark)
{
    int x = d->x[0];
    canvas_put(&d->row, x, mark);
    canvas_put(&d->row, x + 1, ' ');
    int used = canvas_text(&d->row, x + 2, CANVAS_WIDTH - x - 2, m->label);
    canvas_put(&d->row, x + 2 + used, ' ');
}

static const char *colour_of(enum move_kind kind)
{
    switch (kind) {
    case MOVE_LOST:
        return "\033[33m";
    case MOVE_CRASH:
    case MOVE_VIOLATION:
        return "\033[31m";
    case MOVE_WORLD:
        return "\033[36m";
    case MOVE_ARROW:
    case MOVE_LEAVES:
    case MOVE_ARRIVES:
    case MOVE_REFUSED:
    case MOVE_NOTE:
        return "";
    }
    must(!"a move");
}

static void draw(struct diagram *d, const struct move *m)
{
    switch (m->kind) {
    case MOVE_ARROW:
        draw_arrow(d, m, LINE, 0);
        return;
    case MOVE_LEAVES:
        draw_part(d, m, false);
        return;
    case MOVE_ARRIVES:
        draw_arrival(d, m);
        return;
    case MOVE_LOST:
        draw_part(d, m, true);
        return;
    case MOVE_REFUSED:
        draw_arrow(d, m, LINE, LOST);
        return;
    case MOVE_NOTE:
        draw_note(d, m);
        return;
    case MOVE_CRASH:
        draw_crash(d, m);
        return;
    case MOVE_VIOLATION:
        draw_world(d, m, 0x2716);
        return;
    case MOVE_WORLD:
        draw_world(d, m, 0x25c6);
        return;
    }
    must(!"a move");
}

static void print_row(struct diagram *d, const char *time, const char *colour)
{
    bool coloured = d->colour && colour[0] != '\0';
    fprintf(d->out, "%*s%*s%s", d->time_width, time, MARGIN, "", coloured ? colour : "");
    canvas_print(&d->row, d->time_width + MARGIN, d->out);
    fprintf(d->out, "%s\n", coloured ? "\033[0m" : "");
}

static void print_names(struct diagram *d)
{
    const struct story *s = d->story;
    canvas_clear(&d->row);
    for (size_t i = 0; i < s->lane_count; i++) {
        int end = i + 1 < s->lane_count ? d->x[i + 1] - 1 : CANVAS_WIDTH;
        canvas_text(&d->row, d->x[i], end - d->x[i], s->lanes[i].name);
    }
    print_row(d, "seconds", "");
    draw_lanes(d, NULL);
    print_row(d, "", "");
}

/* 12,345 */
static void print_number(FILE *out, uint64_t n)
{
    if (n >= 1000) {
        print_number(out, n / 1000);
        fprintf(out, ",%03" PRIu64, n % 1000);
    } else {
        fprintf(out, "%" PRIu64, n);
    }
}

void diagram_print(const struct story *s, bool colour, FILE *out)
{
    struct diagram d = {.story = s, .out = out, .colour = colour};
    lay_out(&d);
    print_names(&d);
    for (size_t i = 0; i < s->count; i++) {
        const struct move *m = &s->moves[i];
        char time[SECONDS_TEXT] = "";
        if (i == 0 || s->moves[i - 1].at != m->at) {
            time_text(&d, m->at, time);
        }
        draw_lanes(&d, m);
        draw(&d, m);
        print_row(&d, time, colour_of(m->kind));
    }
    if (s->left_out > 0) {
        fprintf(out, "%*s%*s... ", d.time_width, "", MARGIN, "");
        print_number(out, s->left_out);
        fputs(" more; use --limit\n", out);
    }
}
