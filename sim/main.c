/* The program: reads its command line and hands over to one command.
 *
 * In: argv. Out: the exit status. Results go to standard output, everything else to standard error.
 */
#include <signal.h>
#include <string.h>

#include "sim/cmd.h"
#include "sim/output.h"

/* Help and version are results too. */
static enum exit_status tell(const struct options *o)
{
    struct output out;
    if (output_open(&out, NULL, OUTPUT_REPLACE) != SIM_OK) {
        return EXIT_HARNESS;
    }
    if (o->version) {
        fputs("onlyonce " ONLYONCE_VERSION "\n", out.stream);
    } else {
        options_help(o->command, out.stream);
    }
    return output_close(&out, true) == SIM_OK ? EXIT_AS_EXPECTED : EXIT_HARNESS;
}

static enum exit_status dispatch(const struct options *o)
{
    if (o->help || o->version) {
        return tell(o);
    }
    switch (o->command) {
    case COMMAND_RUN:
        return cmd_run(o);
    case COMMAND_EXPLORE:
        return cmd_explore(o);
    case COMMAND_SHRINK:
        return cmd_shrink(o);
    case COMMAND_SHOW:
        return cmd_show(o);
    case COMMAND_COMPARE:
        return cmd_compare(o);
    case COMMAND_CHECK:
        return cmd_check(o);
    case COMMAND_NEW:
        return cmd_new(o);
    case COMMAND_LIST:
        return cmd_list(o);
    case COMMAND_NONE:
    case COMMAND_COUNT:
        break;
    }
    must(!"a command");
}

int main(int argc, char **argv)
{
    /* A reader that goes away is a failed write, which is checked; not a silent death. */
    signal(SIGPIPE, SIG_IGN);
    struct options o;
    enum exit_status status = options_parse(argc, argv, stderr, &o) ? dispatch(&o) : EXIT_USAGE;
    options_fini(&o);
    return (int)status;
}
