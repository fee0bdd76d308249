/* The texts of configuration enums, and what follows from a retry policy alone.
 *
 * In: a value of sim/sender_config.h or sim/host_config.h. Out: its text as scenario files write
 * it, or a time.
 */
#include "sim/host_config.h"
#include "sim/sender_config.h"

const char *backoff_text(enum backoff b)
{
    switch (b) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        BACKOFFS(X)
#undef X
    }
    must(!"a backoff");
}

const char *journal_text(enum journal j)
{
    switch (j) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        JOURNALS(X)
#undef X
    }
    must(!"a journal mode");
}

const char *synchronous_text(enum synchronous s)
{
    switch (s) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        SYNCHRONOUS(X)
#undef X
    }
    must(!"a synchronous mode");
}

const char *key_policy_text(enum key_policy p)
{
    switch (p) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        KEY_POLICIES(X)
#undef X
    }
    must(!"a key policy");
}

/* The longest wait between attempts n and n + 1, given the longest before it. */
static uint64_t longest_wait(const struct retry_policy *r, uint32_t n, uint64_t last)
{
    uint64_t wait = r->after;
    switch (r->backoff) {
    case BACKOFF_FIXED:
        return wait;
    case BACKOFF_EXPONENTIAL:
    case BACKOFF_FULL_JITTER:
        wait = n > 1 ? last * 2 : wait;
        break;
    case BACKOFF_DECORRELATED_JITTER:
        wait = (n > 1 ? last : wait) * 3;
        break;
    }
    return wait < r->max ? wait : r->max;
}

uint64_t retry_horizon(const struct retry_policy *r)
{
    uint64_t horizon = 0;
    uint64_t wait = 0;
    for (uint32_t n = 1; n < r->limit; n++) {
        /* A wait never exceeds a quarter of SIM_TIME_MAX here, so that no product wraps. */
        wait = longest_wait(r, n, wait < SIM_TIME_MAX / 4 ? wait : SIM_TIME_MAX / 4);
        uint64_t gap = wait + r->timeout;
        if (gap >= SIM_TIME_MAX - horizon) {
            horizon = SIM_TIME_MAX;
            break;
        }
        horizon += gap;
    }
    return r->deadline != 0 && r->deadline < horizon ? r->deadline : horizon;
}
