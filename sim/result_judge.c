/* From counts to a verdict: pass, fail, vacuous, unfired, error; and whether it was expected. */
#include "sim/result.h"

#include <string.h>

static bool any_violated(const struct result *r, uint32_t checks)
{
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if ((checks & CHECK_BIT(c)) && r->violated[c] > 0) {
            return true;
        }
    }
    return false;
}

static bool unfired(struct result *r)
{
    unsigned n = 0;
    for (size_t i = 0; i < r->listed_count; i++) {
        n += r->fates[i] == FATE_UNREACHED || r->fates[i] == FATE_HELD;
    }
    if (n > 0) {
        snprintf(r->reason, sizeof(r->reason), "%u listed %s never fired", n,
                 n == 1 ? "fault" : "faults");
    }
    return n > 0;
}

/* exactly-once as a whole needs a duplicate; a check that is asked for by itself must have judged.
 */
static bool vacuous(struct result *r)
{
    bool whole = (r->checks & CHECKS_EXACTLY_ONCE) == CHECKS_EXACTLY_ONCE;
    if (whole && r->deliveries == 0) {
        snprintf(r->reason, sizeof(r->reason), "nothing ever reached the receiver");
        return true;
    }
    if (whole && r->repeated == 0) {
        snprintf(r->reason, sizeof(r->reason),
                 "no operation had a second attempt or a second delivery");
        return true;
    }
    uint32_t rest = whole ? r->checks & ~CHECKS_EXACTLY_ONCE : r->checks;
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if ((rest & CHECK_BIT(c)) && r->judged[c] == 0) {
            snprintf(r->reason, sizeof(r->reason), "%s judged nothing", check_text((enum check)c));
            return true;
        }
    }
    return false;
}

void result_judge(struct result *r)
{
    if (r->error != SIM_OK) {
        r->verdict = VERDICT_ERROR;
        snprintf(r->reason, sizeof(r->reason), "%s", sim_error_text(r->error));
    } else if (any_violated(r, r->checks)) {
        r->verdict = VERDICT_FAIL;
    } else if (unfired(r)) {
        r->verdict = VERDICT_UNFIRED;
    } else if (vacuous(r)) {
        r->verdict = VERDICT_VACUOUS;
    } else {
        r->verdict = VERDICT_PASS;
    }
    const struct expectation *e = r->expectation;
    if (e->given && e->violates) {
        r->expected = r->verdict == VERDICT_FAIL && any_violated(r, e->checks);
    } else {
        r->expected = r->verdict == VERDICT_PASS;
    }
}
