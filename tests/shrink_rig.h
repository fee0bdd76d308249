/* What the tests of the scenario writer and of shrinking share. */
#ifndef TESTS_SHRINK_RIG_H
#define TESTS_SHRINK_RIG_H

#include "sim/shrink.h"
#include "tests/suites.h"

/* Fails the test that called where two scenarios are not the same plain data; lines, columns and
 * the file's name do not count. */
void assert_same_scenario(const struct scenario *a, const struct scenario *b);
/* Prints, reads, compares, prints again: the same data and the same bytes. Returns the text. */
char *round_trip(const struct scenario *s);

/* Every file reads back; so does every name. */
TCase *scenario_print_tests(void);

#endif
