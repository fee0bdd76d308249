#include "reports/record.h"

#include "receivers/receiver.h"
#include "sim/crash.h"
#include "sim/service.h"

#include <inttypes.h>

/* The word for a record's code; "" where it carries none. */
static const char *code_text(const struct record *r)
{
    switch ((enum record_kind)r->kind) {
    case RECORD_COPY:
    case RECORD_LOST:
    case RECORD_DELAYED:
        return direction_text((enum direction)r->code);
    case RECORD_STEP:
        return outcome_text((enum outcome)r->code);
    case RECORD_REPLY:
    case RECORD_ANSWER:
    case RECORD_LATE:
    case RECORD_ACKED:
        return reply_status_text((enum reply_status)r->code);
    case RECORD_CLOSE:
        return belief_text((enum belief)r->code);
    case RECORD_CRASH:
        return crash_mode_text((enum crash_mode)r->code);
    case RECORD_FAULT:
        return fault_kind_text((enum fault_kind)r->code);
    case RECORD_VIOLATION:
        return check_text((enum check)r->code);
    case RECORD_PARTITION:
        return r->code ? "begins" : "ends";
    case RECORD_CLOCK:
        return r->code == CLOCK_DRIFT ? "drift" : "offset";
    case RECORD_STOP:
        return r->code ? "ended" : "asked";
    case RECORD_SENDER_CRASH:
        return r->code ? amnesia_text((enum amnesia)(r->code - 1)) : "";
    case RECORD_DOWN:
        return r->code ? reply_status_text((enum reply_status)r->code) : "";
    case RECORD_HTTP:
        return r->code ? "replayed" : "";
    case RECORD_ENQUEUE:
        return r->code ? "kept out" : "";
    case RECORD_VISIBLE_AGAIN:
        return r->code ? "negative" : "lapsed";
    case RECORD_SERVICE:
    case RECORD_SERVICE_ANSWER:
        return service_did_text((enum service_did)r->code);
    case RECORD_ANSWERED:
        return r->code ? "too late" : "";
    case RECORD_CALL:
    case RECORD_SEND:
    case RECORD_DELIVER:
    case RECORD_HANDLE:
    case RECORD_EFFECT:
    case RECORD_COMMITTED:
    case RECORD_ROLLED_BACK:
    case RECORD_WAIT:
    case RECORD_PAUSE:
    case RECORD_TIMEOUT:
    case RECORD_SURVIVED:
    case RECORD_RESTART:
    case RECORD_END:
    case RECORD_SENDER_RESTART:
    case RECORD_SWEEP:
    case RECORD_RELAY:
    case RECORD_WORK:
    case RECORD_DELIVER_ATTEMPT:
    case RECORD_DEAD_LETTER:
    case RECORD_REPLAYED:
        return "";
    }
    return "";
}

const char *record_text(const struct scenario *s, const struct record *r, char out[RECORD_TEXT])
{
    struct sentence_names names = scenario_names(s);
    char message[SENTENCE_MAX] = "-";
    char place[KEY_MAX] = "-";
    char worker[8] = "";
    if (r->op != 0) {
        sentence_message(&names, r->op, r->attempt, r->copy, message);
    }
    if (r->place != PLACE_NONE) {
        names.place_name(names.context, r->place, place);
    }
    if (s->receiver.workers > 1 && r->place == PLACE_RECEIVER) {
        snprintf(worker, sizeof(worker), ".%u", r->worker + 1u);
    }
    const char *code = code_text(r);
    const char *step = r->step ? step_text((enum step)r->step) : "";
    int n = snprintf(out, RECORD_TEXT, "%" PRIu64 " %s %.300s %.300s%s", r->at,
                     record_kind_text((enum record_kind)r->kind), message, place, worker);
    const char *const parts[] = {step, code};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (parts[i][0] != '\0' && n < RECORD_TEXT) {
            n += snprintf(out + n, (size_t)(RECORD_TEXT - n), " %s", parts[i]);
        }
    }
    if (r->value != 0 && n < RECORD_TEXT) {
        snprintf(out + n, (size_t)(RECORD_TEXT - n), " %" PRId64, r->value);
    }
    return out;
}
