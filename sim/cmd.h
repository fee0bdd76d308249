/* The commands, one file each, and the statuses that they end with. */
#ifndef SIM_CMD_H
#define SIM_CMD_H

#include "sim/options.h"

/* Where several apply: harness before usage before unexpected before interrupted. */
enum exit_status {
    EXIT_AS_EXPECTED = 0,
    EXIT_UNEXPECTED = 1,
    EXIT_USAGE = 2,
    EXIT_HARNESS = 3,
    EXIT_INTERRUPTED = 130, /* as a shell reports death by SIGINT */
};

enum exit_status cmd_run(const struct options *o);
enum exit_status cmd_explore(const struct options *o);
enum exit_status cmd_shrink(const struct options *o);
enum exit_status cmd_show(const struct options *o);
enum exit_status cmd_check(const struct options *o);
enum exit_status cmd_new(const struct options *o);
enum exit_status cmd_list(const struct options *o);
enum exit_status cmd_compare(const struct options *o);

#endif
