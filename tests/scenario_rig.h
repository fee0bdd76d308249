/* What the tests of scenario files share. */
#ifndef TESTS_SCENARIO_RIG_H
#define TESTS_SCENARIO_RIG_H

#include "receivers/receiver.h"
#include "sim/scenario.h"
#include "tests/suites.h"

#include <stdlib.h>

/* The smallest scenario. */
#define LEAST                                                                                      \
    "receivers: [table]\n"                                                                         \
    "senders: [{name: shop, messages: [{id: m-1, entity: e, charge: 7}]}]\n"

/* Errors of one reading, caught. fflush(stream) before text is read. */
struct caught {
    FILE *stream;
    char *text;
    size_t len;
};

static inline void caught_open(struct caught *c)
{
    c->stream = open_memstream(&c->text, &c->len);
    ck_assert_ptr_nonnull(c->stream);
}

static inline void caught_close(struct caught *c)
{
    fclose(c->stream);
    free(c->text);
}

/* Every bad input of tests/bad; files and directories. */
TCase *scenario_bad_tests(void);
TCase *scenario_file_tests(void);

#endif
