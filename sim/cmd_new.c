/* `onlyonce new`: a commented scenario to begin with.
 *
 * In: a file name, or none for standard output. Out: the template. A file that exists is left
 * alone.
 */
#include "sim/cmd.h"

#include <string.h>

#include "sim/output.h"
#include "sim/scenario.h"

enum exit_status cmd_new(const struct options *o)
{
    const char *path = o->path_count > 0 ? o->paths[0] : o->output;
    if (o->path_count > 0 && o->output != NULL) {
        fputs("onlyonce new: FILE and -o name the same thing; give one of them\n", stderr);
        return EXIT_USAGE;
    }
    if (path != NULL && strcmp(path, "-") == 0) {
        path = NULL;
    }
    struct output out;
    enum sim_error e = output_open(&out, path, OUTPUT_NEW);
    if (e == SIM_OK) {
        fputs(scenario_template(), out.stream);
        e = output_close(&out, true);
    }
    if (e == SIM_ERR_USAGE) {
        return EXIT_USAGE;
    }
    return e == SIM_OK ? EXIT_AS_EXPECTED : EXIT_HARNESS;
}
