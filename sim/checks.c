/* The texts of the named checks, and the set that a name stands for.
 *
 * In: an enum check, or a name as scenario files and --help write it. Out: static text, or a set.
 */
#include "sim/checks.h"

#include <string.h>

static const struct {
    const char *text;
    const char *holds;
} checks[CHECK_COUNT] = {
#define X(name, text, in_set, holds) [name] = {text, holds},
    CHECKS(X)
#undef X
};

const char *check_text(enum check c)
{
    must(c < CHECK_COUNT);
    return checks[c].text;
}

const char *check_holds(enum check c)
{
    must(c < CHECK_COUNT);
    return checks[c].holds;
}

uint32_t check_set(const char *name, size_t len)
{
    static const char set[] = "exactly-once";
    if (len == sizeof(set) - 1 && memcmp(name, set, len) == 0) {
        return CHECKS_EXACTLY_ONCE;
    }
    for (unsigned c = 0; c < CHECK_COUNT; c++) {
        if (strlen(checks[c].text) == len && memcmp(checks[c].text, name, len) == 0) {
            return CHECK_BIT(c);
        }
    }
    return 0;
}
