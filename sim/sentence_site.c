/* The parts of a sentence that say where: host, message, step. Words in, the fault's site out. */
#include "sim/sentence_scan.h"

#include "sim/words.h"

#include <inttypes.h>
#include <string.h>

static bool unknown_name(struct scan *s, size_t offset, bool operation, const char *text,
                         size_t len)
{
    char found[64];
    char near[KEY_MAX] = "";
    char hint[64];
    words_quote(text, len, found, sizeof(found));
    if (s->names->suggest != NULL) {
        s->names->suggest(s->names->context, operation, text, len, near);
    }
    words_quote(near, strlen(near), hint, sizeof(hint));
    return scan_fail(s, offset, "unknown %s %s%s%s%s", operation ? "message" : "host", found,
                     near[0] ? "; did you mean " : "", near[0] ? hint : "", near[0] ? "?" : "");
}

bool scan_place(struct scan *s, uint8_t *out)
{
    char text[KEY_MAX];
    size_t len;
    scan_blanks(s);
    size_t offset = s->at;
    if (!scan_name(s, "host", text, &len)) {
        return false;
    }
    unsigned found = s->names->place(s->names->context, text, len);
    if (found == PLACE_NONE || found > UINT8_MAX) {
        return unknown_name(s, offset, false, text, len);
    }
    *out = (uint8_t)found;
    return true;
}

bool scan_brokered(const struct scan *s)
{
    return s->names->place(s->names->context, "broker", strlen("broker")) == PLACE_BROKER;
}

/* The message is numbered by its deliveries and not by its sender's attempts. */
static bool of_delivery(const struct scan *s)
{
    const struct rng_key *k = &s->fault->site.key;
    bool handled = fault_kind_scope((enum fault_kind)k->draw) == SCOPE_STEP ||
                   direction_outside((enum direction)k->direction);
    return direction_brokered((enum direction)k->direction) || (handled && scan_brokered(s));
}

/* A host that handles messages. */
bool scan_receiving_place(struct scan *s)
{
    scan_blanks(s);
    size_t offset = s->at;
    struct rng_key *k = &s->fault->site.key;
    if (!scan_place(s, &k->host)) {
        return false;
    }
    if (k->host == PLACE_BROKER) {
        return scan_fail(s, offset, "the broker never fails; this fault needs the receiver");
    }
    if (k->host == PLACE_SERVICE) {
        return scan_fail(s, offset,
                         "the service never fails by itself; what passes there may: lose, "
                         "duplicate or delay a call or an answer");
    }
    return k->host < PLACE_SENDER ||
           scan_fail(s, offset, "this fault needs a host that receives, not a sender");
}

/* m-77/1, m-77/1.2, m-77/1.2.3, m-77/1.2.3.4 */
bool scan_message(struct scan *s)
{
    struct site *site = &s->fault->site;
    char id[KEY_MAX];
    size_t len;
    scan_blanks(s);
    size_t start = s->at;
    if (!scan_name(s, "message such as m-77/1", id, &len)) {
        return false;
    }
    size_t after_name = s->at;
    struct word w = scan_word(s);
    if (w.len == 0 || w.offset != after_name || w.text[0] != '/') {
        return scan_fail(s, start, "expected a message with its attempt, such as m-77/1");
    }
    site->op = s->names->operation(s->names->context, id, len);
    if (site->op == 0) {
        return unknown_name(s, start, true, id, len);
    }
    site->key.operation = rng_name(id, len);
    static const char *const whats[DIRECTION_COUNT][4] = {
        [DIRECTION_NONE] = {"the attempt", "the copy"},
        [REQUEST] = {"the attempt", "the copy"},
        [REPLY] = {"the attempt", "the copy", "the copy of the reply"},
        [DELIVERY] = {"the attempt", "the copy"},
        [ACK] = {"the attempt", "the copy", "the copy of the reply"},
        [CALL] = {"the attempt", "the call", "the copy of the call"},
        [ANSWER] = {"the attempt", "the call", "the copy of the call", "the copy of the answer"},
    };
    must(site->key.direction < ARRAY_LEN(whats));
    const char *const *what = whats[site->key.direction];
    uint32_t numbers[] = {0, 1, 1, 1};
    size_t count = 0;
    while (count < ARRAY_LEN(numbers) && what[count] != NULL) {
        count++;
    }
    size_t from = 1;
    for (size_t i = 0; i < count; i++) {
        const char *dot = memchr(w.text + from, '.', w.len - from);
        size_t end = dot != NULL && i + 1 < count ? (size_t)(dot - w.text) : w.len;
        if (!scan_number_of(s, what[i], w.text + from, end - from, w.offset + from, SCAN_COUNT_MAX,
                            &numbers[i])) {
            return false;
        }
        if (end == w.len) {
            break;
        }
        from = end + 1;
    }
    unsigned most = of_delivery(s) ? 0 : s->names->attempts(s->names->context, site->op);
    if (most != 0 && numbers[0] > most) {
        return scan_fail(s, w.offset + 1, "attempt %" PRIu32 " cannot exist: the limit is %u",
                         numbers[0], most);
    }
    site->key.attempt = (uint16_t)numbers[0];
    site->key.copy = (uint16_t)numbers[1];
    if (op_is_job(site->op)) {
        if (fault_kind_scope(fault_kind(s->fault)) != SCOPE_STEP) {
            return scan_fail(s, start, "a sweep is no message: it is neither sent nor answered");
        }
        if (numbers[1] > 1) {
            return scan_fail(s, start, "a sweep has no copies");
        }
        site->key.copy = 0;
    }
    bool answer = site->key.direction == ANSWER;
    site->key.redelivery = (uint16_t)(answer && numbers[2] > 1 ? numbers[2] : 0);
    uint32_t echo = numbers[answer ? 3 : 2];
    site->key.nth = (uint16_t)(echo > 1 ? echo : 0);
    return true;
}

static bool step_name(struct scan *s)
{
    static const char *const steps[] = {
#define X(name, text) text,
        STEPS(X)
#undef X
    };
    int step = scan_choose(s, "step", steps, ARRAY_LEN(steps));
    s->fault->site.key.step = (uint8_t)(step + 1);
    return step >= 0;
}

bool scan_sending(struct scan *s)
{
    struct site *site = &s->fault->site;
    scan_blanks(s);
    size_t offset = s->at;
    if (!scan_place(s, &site->key.host)) {
        return false;
    }
    if (site->key.host < PLACE_SENDER) {
        return scan_fail(s, offset, "this fault needs a sender");
    }
    if (!scan_expect(s, "at")) {
        return false;
    }
    scan_blanks(s);
    offset = s->at;
    if (!scan_message(s)) {
        return false;
    }
    if (site->key.copy > 1) {
        return scan_fail(s, offset, "a sender sends an attempt once; the network makes its copies");
    }
    site->key.copy = 0;
    if (op_sender(site->op) != site->key.host) {
        return scan_fail(s, offset, "this message is another sender's");
    }
    return scan_expect(s, "after") && scan_expect(s, "send");
}

/* commit, commit 2 */
bool scan_step(struct scan *s)
{
    uint32_t nth = 1;
    if (!step_name(s) || !scan_optional_number(s, "the time of the step", SCAN_COUNT_MAX, &nth)) {
        return false;
    }
    s->fault->site.key.nth = (uint16_t)nth;
    return true;
}
