/* One row of characters.
 *
 * In: characters and UTF-8 text at columns. Out: a line without trailing blanks. Text that does not
 * fit is cut at an ellipsis; nothing is ever drawn outside the row.
 */
#include "reports/canvas.h"

#include <string.h>

#include "sim/words.h"

void canvas_clear(struct canvas *c)
{
    canvas_fill(c, 0, CANVAS_WIDTH - 1, ' ');
}

void canvas_put(struct canvas *c, int x, uint32_t character)
{
    if (x >= 0 && x < CANVAS_WIDTH) {
        c->cells[x] = character;
    }
}

void canvas_fill(struct canvas *c, int from, int to, uint32_t character)
{
    for (int x = from; x <= to; x++) {
        canvas_put(c, x, character);
    }
}

/* Columns of a character. The blocks that terminals draw two columns wide (Unicode, East Asian
 * Width W and F) and combining marks; by block, since one column off does no harm. */
static int columns(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        int columns;
    } odd[] = {{0x300, 0x36f, 0},    {0x1100, 0x115f, 2}, {0x2e80, 0xa4cf, 2},
               {0xac00, 0xd7a3, 2},  {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
               {0xfe30, 0xfe6f, 2},  {0xff00, 0xff60, 2}, {0x1f300, 0x1faff, 2},
               {0x20000, 0x3fffd, 2}};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        if (c >= odd[i].first && c <= odd[i].last) {
            return odd[i].columns;
        }
    }
    return 1;
}

/* The next character of text, U+FFFD where it is none. */
static uint32_t next(const char **text)
{
    uint32_t c = 0xfffd;
    size_t n = words_utf8(*text, strlen(*text), &c);
    *text += n > 0 ? n : 1;
    return c;
}

int canvas_columns(const char *text)
{
    int n = 0;
    while (*text != '\0') {
        n += columns(next(&text));
    }
    return n;
}

int canvas_text(struct canvas *c, int x, int room, const char *text)
{
    if (x + room > CANVAS_WIDTH) {
        room = CANVAS_WIDTH - x;
    }
    int wanted = canvas_columns(text);
    int most = wanted > room ? room - 1 : room;
    int used = 0;
    while (*text != '\0') {
        uint32_t character = next(&text);
        int width = columns(character);
        if (width == 0) {
            continue; /* a cell holds one character; marks are left out */
        }
        if (used + width > most) {
            break;
        }
        canvas_put(c, x + used, character);
        if (width == 2) {
            canvas_put(c, x + used + 1, 0);
        }
        used += width;
    }
    if (wanted > room && room > 0) {
        canvas_put(c, x + used, 0x2026);
        used++;
    }
    return used;
}

static void put_utf8(uint32_t c, FILE *out)
{
    if (c < 0x80) {
        putc((int)c, out);
    } else if (c < 0x800) {
        fprintf(out, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        fprintf(out, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)),
                (int)(0x80 | (c & 0x3f)));
    } else {
        fprintf(out, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)),
                (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
    }
}

void canvas_print(const struct canvas *c, int from, FILE *out)
{
    int end = CANVAS_WIDTH;
    while (end > from && c->cells[end - 1] == ' ') {
        end--;
    }
    for (int x = from; x < end; x++) {
        if (c->cells[x] != 0) {
            put_utf8(c->cells[x], out);
        }
    }
}
