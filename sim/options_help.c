/* The table of commands and options, and the help that is printed from it. */
#include "sim/options_internal.h"

const struct known_option known_options[OPTION_COUNT] = {
#define X(name, text, value, commands, about) {text, value, about, commands},
    OPTIONS(X)
#undef X
};

const struct known_command known_commands[COMMAND_COUNT] = {
#define X(name, text, operands, about) [name] = {text, operands, about},
    COMMANDS(X)
#undef X
};

const char *command_text(enum command c)
{
    must(c > COMMAND_NONE && c < COMMAND_COUNT);
    return known_commands[c].text;
}

void options_help(enum command c, FILE *out)
{
    if (c == COMMAND_NONE) {
        fputs(
            "onlyonce plays scenarios of lost replies, duplicates and crashes against idempotent\n"
            "receivers and judges whether each message took effect exactly once.\n\n",
            out);
        for (unsigned i = COMMAND_NONE + 1; i < COMMAND_COUNT; i++) {
            char line[128];
            snprintf(line, sizeof(line), "onlyonce %s %s", known_commands[i].text,
                     i == COMMAND_LIST ? "TOPIC" : known_commands[i].operands);
            fprintf(out, "  %-31s %s\n", line, known_commands[i].about);
        }
        fputs("\n`onlyonce COMMAND --help` tells the options of a command. FILE may be - for\n"
              "standard input; DIR means every *.yaml and *.yml below it.\n",
              out);
    } else {
        fprintf(out, "usage: onlyonce %s %s [OPTION...]\n%s\n\n", known_commands[c].text,
                known_commands[c].operands, known_commands[c].about);
        for (size_t i = 0; i < OPTION_COUNT; i++) {
            if (known_options[i].commands & ON(c)) {
                char option[64];
                snprintf(option, sizeof(option), "--%s%s%s", known_options[i].text,
                         known_options[i].value != NULL ? " " : "",
                         known_options[i].value != NULL ? known_options[i].value : "");
                fprintf(out, "  %-25s %s\n", option, known_options[i].about);
            }
        }
    }
    fputs("\nExit status: 0 all as expected, 1 something was not, 2 usage or scenario error,\n"
          "3 the harness failed or was not deterministic, 130 interrupted.\n",
          out);
}
