/* Faults as sentences, the way in: one line of text to a fault, or what is wrong and where.
 *
 * Each function takes the words of one part of a sentence and leaves the scan behind it. The first
 * error wins: later ones only follow from it.
 */
#include "sim/sentence.h"

#include "sim/crash.h"
#include "sim/sentence_scan.h"
#include "sim/words.h"

#include <inttypes.h>
#include <string.h>

enum { COPIES_MAX = 100 };

/* What stands in parentheses may be several words: the one of count texts that comes next, with its
 * number where it has one. */
static int in_parentheses(struct scan *s, const char *what, const char *const *texts, size_t count)
{
    if (!scan_expect(s, "(")) {
        return -1;
    }
    scan_blanks(s);
    size_t start = s->at;
    char given[64] = "";
    size_t n = 0;
    for (size_t at = s->at;; at = s->at) {
        struct word w = scan_word(s);
        bool digit = w.len > 0 && w.text[0] >= '0' && w.text[0] <= '9';
        if (w.len == 0 || w.text[0] == ')' || digit || n + w.len + 2 > sizeof(given)) {
            s->at = at;
            break;
        }
        n += (size_t)snprintf(given + n, sizeof(given) - n, "%s%.*s", n > 0 ? " " : "", (int)w.len,
                              w.text);
    }
    return scan_one_of(s, (struct word){given, n, start}, what, texts, count);
}

static bool crash_mode(struct scan *s)
{
    static const char *const modes[] = {
#define X(name, text, counted) text,
        CRASH_MODES(X)
#undef X
    };
    static const bool counted[] = {
#define X(name, text, counted) counted,
        CRASH_MODES(X)
#undef X
    };
    int mode = in_parentheses(s, "way to crash", modes, ARRAY_LEN(modes));
    if (mode < 0 || (counted[mode] &&
                     !scan_number(s, "the disk operation", SCAN_COUNT_MAX, &s->fault->value.n))) {
        return false;
    }
    s->fault->value.choice = (uint8_t)mode;
    return scan_expect(s, ")");
}

/* Where a crash may fall: at a boundary, or in a step at a disk operation. */
static bool crash_point(struct scan *s)
{
    static const char *const words[] = {"before", "after", "in"};
    static const uint8_t moments[] = {BEFORE, AFTER, INSIDE};
    int moment = scan_choose(s, "moment", words, ARRAY_LEN(words));
    if (moment < 0 || !scan_step(s)) {
        return false;
    }
    s->fault->site.key.moment = moments[moment];
    uint32_t disk = 0;
    if (moments[moment] == INSIDE &&
        (!scan_expect(s, "disk") || !scan_number(s, "the disk operation", SCAN_COUNT_MAX, &disk))) {
        return false;
    }
    s->fault->site.key.disk = (uint16_t)disk;
    return true;
}

static bool restart(struct scan *s)
{
    return !scan_take(s, "restart") ||
           (scan_expect(s, "after") && scan_positive_time(s, &s->fault->value.time));
}

static bool crash(struct scan *s)
{
    if (!crash_point(s)) {
        return false;
    }
    size_t at = s->at;
    if (scan_take(s, "(")) {
        s->at = at;
        if (!crash_mode(s)) {
            return false;
        }
    }
    return restart(s);
}

static bool stop(struct scan *s)
{
    struct fault_value *v = &s->fault->value;
    s->fault->site.key.moment = BEFORE;
    if (!scan_expect(s, "before") || !scan_step(s)) {
        return false;
    }
    if (scan_take(s, "killed") && (!scan_expect(s, "after") || !scan_positive_time(s, &v->until))) {
        return false;
    }
    return restart(s);
}

static bool amnesia(struct scan *s)
{
    static const char *const amnesias[] = {
#define X(name, text) text,
        AMNESIAS(X)
#undef X
    };
    if (!scan_sending(s)) {
        return false;
    }
    int choice = in_parentheses(s, "loss of memory", amnesias, ARRAY_LEN(amnesias));
    s->fault->value.choice = (uint8_t)choice;
    return choice >= 0 && scan_expect(s, ")") && restart(s);
}

static bool pause_(struct scan *s)
{
    s->fault->site.key.moment = BEFORE;
    return scan_expect(s, "before") && scan_step(s) && scan_expect(s, "for") &&
           scan_positive_time(s, &s->fault->value.time);
}

static bool store(struct scan *s)
{
    static const char *const faults[] = {
#define X(name, text) text,
        STORE_FAULTS(X)
#undef X
    };
    if (!scan_step(s)) {
        return false;
    }
    int choice = in_parentheses(s, "answer of the store", faults, ARRAY_LEN(faults));
    s->fault->value.choice = (uint8_t)choice;
    return choice >= 0 && scan_expect(s, ")");
}

static bool handler(struct scan *s)
{
    s->fault->site.key.moment = AFTER;
    return scan_expect(s, "after") && scan_step(s) && scan_expect(s, "fails");
}

/* Deliveries and acks exist where there is a broker. */
static bool direction(struct scan *s)
{
    const char *words[DIRECTION_COUNT];
    uint8_t directions[DIRECTION_COUNT];
    size_t count = 0, before = s->at;
    bool brokered = scan_brokered(s);
    struct word w = scan_word(s);
    for (unsigned d = DIRECTION_NONE + 1; d < DIRECTION_COUNT; d++) {
        const char *text = direction_text((enum direction)d);
        if (!direction_brokered((enum direction)d) || brokered) {
            words[count] = text;
            directions[count++] = (uint8_t)d;
        } else if (w.len == strlen(text) && memcmp(w.text, text, w.len) == 0) {
            return scan_fail(s, w.offset, "there is no %s where the scenario has no \"broker\"",
                             text);
        }
    }
    s->at = before;
    int found = scan_choose(s, "direction", words, count);
    if (found >= 0) {
        s->fault->site.key.direction = directions[found];
    }
    return found >= 0;
}

static bool network(struct scan *s, enum fault_kind kind)
{
    struct fault *f = s->fault;
    if (!direction(s) || !scan_message(s)) {
        return false;
    }
    if (kind == FAULT_DELAY) {
        return scan_expect(s, "by") && scan_positive_time(s, &f->value.time);
    }
    if (kind == FAULT_LOSE) {
        return true;
    }
    f->value.n = 0;
    if (!scan_optional_number(s, "the number of copies", COPIES_MAX, &f->value.n) ||
        (f->value.n > 0 && !scan_expect(s, "times"))) {
        return false;
    }
    f->value.n = f->value.n > 0 ? f->value.n : 1;
    if (!scan_take(s, "after")) {
        return true;
    }
    struct word w = scan_word(s);
    return scan_time_of(s, w.text, w.len, w.offset, &f->value.time) &&
           (f->value.time <= (uint64_t)CLOCK_OFFSET_MAX / f->value.n ||
            scan_fail(s, w.offset, "the last copy would come after more than 3650d"));
}

/* +3s, -50ppm after "drift" */
static bool clock_size(struct scan *s, bool drift)
{
    struct word w = scan_word(s);
    if (w.len < 2 || (w.text[0] != '+' && w.text[0] != '-')) {
        return scan_fail(s, w.offset,
                         drift ? "expected a drift such as +50ppm or -50ppm"
                               : "expected an offset such as +3s or -3s, or \"drift\"");
    }
    uint64_t size;
    if (drift) {
        uint32_t ppm;
        if (w.len < 5 || memcmp(w.text + w.len - 3, "ppm", 3) != 0) {
            return scan_fail(s, w.offset, "expected a drift such as +50ppm or -50ppm");
        }
        if (!scan_number_of(s, "the drift in ppm", w.text + 1, w.len - 4, w.offset + 1,
                            DRIFT_MAX_PPM, &ppm)) {
            return false;
        }
        size = ppm;
    } else if (!scan_time_of(s, w.text + 1, w.len - 1, w.offset + 1, &size)) {
        return false;
    } else if (size == 0) {
        return scan_fail(s, w.offset + 1, "the offset must be above 0s");
    }
    s->fault->value.offset = w.text[0] == '-' ? -(int64_t)size : (int64_t)size;
    return true;
}

static bool clock_(struct scan *s)
{
    struct fault *f = s->fault;
    f->site.key.nth = 1;
    scan_blanks(s);
    size_t start = s->at;
    if (!scan_place(s, &f->site.key.host)) {
        return false;
    }
    if (f->site.key.host == PLACE_BROKER) {
        return scan_fail(s, start, "the broker has no clock that could be wrong");
    }
    if (f->site.key.host == PLACE_SERVICE) {
        return scan_fail(s, start, "the service's clock is always right");
    }
    bool drift = scan_take(s, "drift");
    f->value.choice = drift ? CLOCK_DRIFT : CLOCK_OFFSET;
    if (!clock_size(s, drift)) {
        return false;
    }
    if (!scan_take(s, "at")) {
        return true;
    }
    struct word w = scan_word(s);
    return scan_moment_of(s, w.text, w.len, w.offset, &f->value.time);
}

/* Between these two places; false: none ever does, and said so. */
static bool message_passes(struct scan *s, size_t start, unsigned a, unsigned b)
{
    if (a == PLACE_SERVICE || b == PLACE_SERVICE) {
        return a == PLACE_RECEIVER || b == PLACE_RECEIVER ||
               scan_fail(s, start, "the service is called by the receiver only");
    }
    if (a == PLACE_DOWNSTREAM || b == PLACE_DOWNSTREAM) {
        return a == PLACE_RECEIVER || b == PLACE_RECEIVER ||
               scan_fail(s, start, "only the receiver sends downstream");
    }
    if (scan_brokered(s)) {
        return (a == PLACE_BROKER) != (b == PLACE_BROKER) ||
               scan_fail(s, start, "all messages pass through the broker: name it and one other");
    }
    return (a >= PLACE_SENDER) != (b >= PLACE_SENDER) ||
           scan_fail(s, start, "messages pass between a sender and a receiver only");
}

static bool partition(struct scan *s)
{
    struct fault *f = s->fault;
    f->site.key.nth = 1;
    scan_blanks(s);
    size_t start = s->at;
    if (!scan_place(s, &f->site.key.host)) {
        return false;
    }
    f->value.choice = scan_take(s, "to");
    if (!scan_place(s, &f->site.key.value)) {
        return false;
    }
    if (!message_passes(s, start, f->site.key.host, f->site.key.value)) {
        return false;
    }
    struct word w = scan_word(s);
    size_t dots = 0;
    while (dots + 1 < w.len && (w.text[dots] != '.' || w.text[dots + 1] != '.')) {
        dots++;
    }
    if (dots + 1 >= w.len) {
        return scan_fail(s, w.offset, "expected a span of time such as 5s..20s");
    }
    if (!scan_moment_of(s, w.text, dots, w.offset, &f->value.time) ||
        !scan_moment_of(s, w.text + dots + 2, w.len - dots - 2, w.offset + dots + 2,
                        &f->value.until)) {
        return false;
    }
    return f->value.time < f->value.until ||
           scan_fail(s, w.offset, "the span ends before it begins");
}

static bool sentence(struct scan *s)
{
    static const char *const kinds[] = {
#define X(name, text, scope, covered, help) text,
        FAULT_KINDS(X)
#undef X
    };
    enum fault_kind kind = (enum fault_kind)(scan_choose(s, "fault", kinds, ARRAY_LEN(kinds)) + 1);
    if (kind == FAULT_NONE) {
        return false;
    }
    s->fault->site.key.draw = (uint8_t)kind;
    if (fault_kind_scope(kind) == SCOPE_STEP &&
        (!scan_receiving_place(s) || !scan_expect(s, "at") || !scan_message(s))) {
        return false;
    }
    switch (kind) {
    case FAULT_LOSE:
    case FAULT_DUPLICATE:
    case FAULT_DELAY:
        return network(s, kind);
    case FAULT_CRASH:
        return crash(s);
    case FAULT_PAUSE:
        return pause_(s);
    case FAULT_STORE:
        return store(s);
    case FAULT_HANDLER:
        return handler(s);
    case FAULT_CLOCK:
        return clock_(s);
    case FAULT_PARTITION:
        return partition(s);
    case FAULT_LYING_DISK:
        return scan_receiving_place(s);
    case FAULT_STOP:
        return stop(s);
    case FAULT_SENDER_CRASH:
        return scan_sending(s) && restart(s);
    case FAULT_SENDER_AMNESIA:
        return amnesia(s);
    case FAULT_NONE:
    case FAULT_KIND_COUNT:
        break;
    }
    must(!"a fault kind");
}

bool sentence_parse(const struct sentence_names *names, const char *text, size_t len,
                    struct fault *f, struct sentence_error *error)
{
    struct scan s = {names, text, len, 0, f, error};
    memset(f, 0, sizeof(*f));
    if (!sentence(&s)) {
        return false;
    }
    struct word rest = scan_word(&s);
    char found[64];
    words_quote(rest.text, rest.len, found, sizeof(found));
    return rest.len == 0 || scan_fail(&s, rest.offset, "the sentence should end before %s", found);
}
