/* `onlyonce check`: reads scenarios and plays nothing.
 *
 * In: files and directories. Out: one line for each scenario that is right; errors with their
 * positions on standard error.
 */
#include "sim/cmd.h"

#include "sim/cover.h"
#include "sim/output.h"
#include "sim/result.h"

static uint64_t count_operations(const struct scenario *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->sender_count; i++) {
        n += s->senders[i].message_count + s->senders[i].workload.count;
    }
    return n;
}

static void print_count(FILE *out, const char *separator, uint64_t n, const char *what)
{
    fprintf(out, "%s%llu %s%s", separator, (unsigned long long)n, what, n == 1 ? "" : "s");
}

static void print(const struct scenario *s, FILE *out)
{
    char file[NAME_TEXT], name[NAME_TEXT];
    shell_word(s->file, file, sizeof(file));
    name_text(s->name, name, sizeof(name));
    fprintf(out, "%s: ok: %s", file, name);
    print_count(out, ", ", s->receiver_count, "receiver");
    print_count(out, ", ", count_operations(s), "operation");
    print_count(out, ", ", s->fault_count, "fault");
    fputc('\n', out);
    for (size_t i = 0; i < s->receiver_count; i++) {
        struct cover c;
        cover_compute(s, &s->receivers[i], &c);
        if (c.judged && !c.holds) {
            name_text(s->receivers[i].name, name, sizeof(name));
            fprintf(out, "note: %s: receiver %s: %s\n", file, name, c.text);
        }
    }
}

enum exit_status cmd_check(const struct options *o)
{
    struct scenario_list list;
    if (scenario_list_read(o->paths, o->path_count, stderr, &list) != SIM_OK) {
        return EXIT_USAGE;
    }
    struct output out;
    enum sim_error e = output_open(&out, o->output, OUTPUT_REPLACE);
    if (e == SIM_OK) {
        for (size_t i = 0; i < list.count && !o->quiet; i++) {
            print(&list.items[i], out.stream);
        }
        e = output_close(&out, true);
    }
    scenario_list_fini(&list);
    return e == SIM_OK ? EXIT_AS_EXPECTED : EXIT_HARNESS;
}
