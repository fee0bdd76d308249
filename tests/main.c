/* Runs the unit tests.
 *
 * In: names of suites, or nothing for all of them. Out: libcheck's report; status 0 when all
 * passed, 1 when one did not, 2 when there is no such suite. Each test runs in a process of its
 * own; CK_FORK=no and CK_RUN_CASE=name are libcheck's, for a debugger.
 */
#include "tests/suites.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct entry {
    const char *name;
    Suite *(*make)(void);
} entries[] = {
#define X(name) {#name, name##_suite},
    SUITES(X)
#undef X
};

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static bool known(const char *name)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        if (strcmp(entries[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return true;
        }
    }
    return argc == 1;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (!known(argv[i])) {
            fprintf(stderr, "no suite %s; there are:", argv[i]);
            for (size_t j = 0; j < ENTRIES; j++) {
                fprintf(stderr, " %s", entries[j].name);
            }
            fputc('\n', stderr);
            return 2;
        }
    }
    /* Seconds for a test; read when a suite is made. */
    setenv("CK_DEFAULT_TIMEOUT", "60", 0);
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < ENTRIES; i++) {
        if (wanted(entries[i].name, argc, argv)) {
            srunner_add_suite(runner, entries[i].make());
        }
    }
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
