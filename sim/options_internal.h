/* What the files of the command line share: the table of options. */
#ifndef SIM_OPTIONS_INTERNAL_H
#define SIM_OPTIONS_INTERNAL_H

#include "sim/options.h"
#include "sim/words.h"

#define ON(command) (1u << (command))
#define PLAYING (ON(COMMAND_RUN) | ON(COMMAND_COMPARE))
#define ONE_SEED (ON(COMMAND_SHOW) | ON(COMMAND_LIST) | ON(COMMAND_EXPLORE) | ON(COMMAND_SHRINK))
#define EVERY (~0u)

/* X(name, long name, value, commands, about) */
#define OPTIONS(X)                                                                                 \
    X(OPTION_RECEIVER, "receiver", "NAME[,NAME]", PLAYING | ONE_SEED,                              \
      "these receivers; of the scenario, or any of `list receivers`")                              \
    X(OPTION_FAULTS, "faults", "K", ON(COMMAND_EXPLORE),                                           \
      "at most K faults, 0 to 5 (default: the scenario's `explore:`, or 2)")                       \
    X(OPTION_ONLY, "only", "KIND[:WHERE],...", ON(COMMAND_EXPLORE),                                \
      "only these faults, as crash,lose:reply,store:commit")                                       \
    X(OPTION_ASSUME, "assume", "KIND,...", ON(COMMAND_EXPLORE),                                    \
      "also faults that no receiver need survive, as lying-disk; acquits nobody")                  \
    X(OPTION_KEEP_FAULTS, "keep-faults", NULL, ON(COMMAND_EXPLORE),                                \
      "hold the scenario's own faults in every schedule, uncounted")                               \
    X(OPTION_FULL_POWER, "full-power", NULL, ON(COMMAND_EXPLORE),                                  \
      "a power loss loses, keeps and tears each unsynced operation in turn")                       \
    X(OPTION_JOBS, "jobs", "N", ON(COMMAND_EXPLORE), "processes (default 1)")                      \
    X(OPTION_SEED, "seed", "N", PLAYING | ONE_SEED, "seed of the random numbers (default 1)")      \
    X(OPTION_SEEDS, "seeds", "A..B", PLAYING, "one run for each of these seeds")                   \
    X(OPTION_FORMAT, "format", "FORMAT", ON(COMMAND_RUN) | ON(COMMAND_SHOW) | ON(COMMAND_EXPLORE), \
      "run: text, json, junit, tap; show: text, mermaid; explore: text, json")                     \
    X(OPTION_OUTPUT, "output", "PATH", EVERY,                                                      \
      "-o PATH: write there, not to standard output (compare: a directory)")                       \
    X(OPTION_SHARD, "shard", "K/N", ON(COMMAND_RUN), "play only every N-th run, from the K-th on") \
    X(OPTION_TWICE, "twice", NULL, ON(COMMAND_RUN),                                                \
      "play each run twice and name the first event that differs")                                 \
    X(OPTION_FAIL_FAST, "fail-fast", NULL, ON(COMMAND_RUN), "stop after the first unexpected run") \
    X(OPTION_LIMIT, "limit", "N", ON(COMMAND_SHOW) | ON(COMMAND_EXPLORE),                          \
      "show: most lines (default 200); explore: most runs, or a time as 10s")                      \
    X(OPTION_NO_SHRINK, "no-shrink", NULL, ON(COMMAND_RUN) | ON(COMMAND_EXPLORE),                  \
      "do not look for the smallest story behind the first unexpected failure")                    \
    X(OPTION_KEEP, "keep", "DIR", ON(COMMAND_RUN) | ON(COMMAND_EXPLORE),                           \
      "write the smallest story there as a scenario")                                              \
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
