/* What the tests of the service share. */
#ifndef TESTS_SERVICE_RIG_H
#define TESTS_SERVICE_RIG_H

#include "tests/probe.h"

/* As probed, but the handler may call the service. */
struct world *calling(struct scenario *s, struct receiver *code,
                      void (*handle)(struct handling *h));

TCase *alone_tests(void);  /* tests/service_alone.c */
TCase *phases_tests(void); /* tests/service_phases.c */
TCase *beside_tests(void); /* tests/service_beside.c */

#endif
