/* What the files of the command line share: the table of options. */
#ifndef SIM_OPTIONS_INTERNAL_H
#define SIM_OPTIONS_INTERNAL_H

#include "sim/options.h"
#include "sim/words.h"

#define ON(command) (1u << (command))
#define PLAYING (ON(COMMAND_RUN) | ON(COMMAND_COMPARE))
#define EVERY (~0u)

/* X(name, long name, value, commands, about) */
#define OPTIONS(X)                                                                                 \
    X(OPTION_RECEIVER, "receiver", "NAME[,NAME]", PLAYING | ON(COMMAND_SHOW) | ON(COMMAND_LIST),   \
      "these receivers; of the scenario, or any of `list receivers`")                              \
    X(OPTION_SEED, "seed", "N", PLAYING | ON(COMMAND_SHOW) | ON(COMMAND_LIST),                     \
      "seed of the random numbers (default 1)")                                                    \
    X(OPTION_SEEDS, "seeds", "A..B", PLAYING, "one run for each of these seeds")                   \
    X(OPTION_FORMAT, "format", "FORMAT", ON(COMMAND_RUN) | ON(COMMAND_SHOW),                       \
      "run: text, json, junit, tap; show: text, mermaid")                                          \
    X(OPTION_OUTPUT, "output", "PATH", EVERY,                                                      \
      "-o PATH: write there, not to standard output (compare: a directory)")                       \
    X(OPTION_SHARD, "shard", "K/N", ON(COMMAND_RUN), "play only every N-th run, from the K-th on") \
    X(OPTION_TWICE, "twice", NULL, ON(COMMAND_RUN),                                                \
      "play each run twice and name the first event that differs")                                 \
    X(OPTION_FAIL_FAST, "fail-fast", NULL, ON(COMMAND_RUN), "stop after the first unexpected run") \
    X(OPTION_LIMIT, "limit", "N", ON(COMMAND_SHOW), "most lines of a diagram (default 200)")       \
    X(OPTION_OPERATION, "operation", "ID", ON(COMMAND_SHOW), "only what touches this operation")   \
    X(OPTION_QUIET, "quiet", NULL, EVERY, "no progress, no notes; run: only what was unexpected")  \
    X(OPTION_HELP, "help", NULL, EVERY, "this text")                                               \
    X(OPTION_VERSION, "version", NULL, EVERY, "version of this program")

enum option {
#define X(name, text, value, commands, about) name,
    OPTIONS(X)
#undef X
};

struct known_option {
    const char *text, *value, *about; /* value NULL: a flag */
    unsigned commands;
};
#define OPTION_COUNT (OPTION_VERSION + 1)
extern const struct known_option known_options[OPTION_COUNT];

struct known_command {
    const char *text, *operands, *about;
};
extern const struct known_command known_commands[COMMAND_COUNT];

/* "onlyonce run: WHAT "WORD"" without a line end, and what follows it. */
void options_complain(FILE *errors, const struct options *o, const char *what, const char *word);
void options_suggest(FILE *errors, const struct nearest *n, const char *before);

/* Takes one option with its value (NULL for a flag). False: said to errors. */
bool options_apply(struct options *o, enum option option, const char *value, FILE *errors);

#endif
