/* Cases of the suite `session` that lie in files of their own. */
#ifndef TESTS_SESSION_TESTS_H
#define TESTS_SESSION_TESTS_H

#include "tests/suites.h"

TCase *registration_tests(void); /* tests/session_registration.c */

#endif
