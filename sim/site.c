/* The texts of fault kinds, steps and store faults.
 *
 * In: a value of an enum of sim/site.h. Out: its static text, as sentences write it.
 */
#include "sim/site.h"

static const struct kind {
    const char *text;
    enum fault_scope scope;
    bool covered;
    const char *help;
} kinds[FAULT_KIND_COUNT] = {
#define X(name, text, scope, covered, help) [name] = {text, scope, covered, help},
    FAULT_KINDS(X)
#undef X
};

static const char *const steps[STEP_COUNT] = {[STEP_NONE] = "none",
#define X(name, text) [name] = text,
                                              STEPS(X)
#undef X
};

static const struct kind *kind_of(enum fault_kind k)
{
    must(k > FAULT_NONE && k < FAULT_KIND_COUNT);
    return &kinds[k];
}

const char *fault_kind_text(enum fault_kind k)
{
    return kind_of(k)->text;
}

const char *fault_kind_help(enum fault_kind k)
{
    return kind_of(k)->help;
}

enum fault_scope fault_kind_scope(enum fault_kind k)
{
    return kind_of(k)->scope;
}

bool fault_kind_covered(enum fault_kind k)
{
    return kind_of(k)->covered;
}

const char *step_text(enum step s)
{
    must(s < STEP_COUNT);
    return steps[s];
}

const char *store_fault_text(enum store_fault s)
{
    switch (s) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        STORE_FAULTS(X)
#undef X
    }
    must(!"a store fault");
}

const char *amnesia_text(enum amnesia a)
{
    switch (a) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        AMNESIAS(X)
#undef X
    }
    must(!"an amnesia");
}
