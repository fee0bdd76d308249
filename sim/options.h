/* The command line as plain data. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "sim/base.h"

#define ONLYONCE_VERSION "0.1"

/* X(name, text, operands, about) */
#define COMMANDS(X)                                                                                \
    X(COMMAND_RUN, "run", "FILE|DIR...", "play scenarios; one verdict per scenario and receiver")  \
    X(COMMAND_EXPLORE, "explore", "FILE|DIR...",                                                   \
      "every schedule with at most --faults K faults; a certificate for each receiver")            \
    X(COMMAND_SHRINK, "shrink", "FILE", "the smallest story that fails, as a scenario")            \
    X(COMMAND_SHOW, "show", "FILE", "one run as a sequence diagram")                               \
    X(COMMAND_COMPARE, "compare", "FILE|DIR...",                                                   \
      "receivers side by side; tables and plots written to -o DIR")                                \
    X(COMMAND_CHECK, "check", "FILE|DIR...", "parse scenarios and play nothing")                   \
    X(COMMAND_NEW, "new", "[FILE]", "a commented scenario to begin with")                          \
    X(COMMAND_LIST, "list", "receivers [NAME]|checks|faults|scenarios [DIR]|sites FILE",           \
      "what there is to name in a scenario")

enum command {
    COMMAND_NONE,
#define X(name, text, operands, about) name,
    COMMANDS(X)
#undef X
        COMMAND_COUNT
};

#define LIST_TOPICS(X)                                                                             \
    X(LIST_RECEIVERS, "receivers")                                                                 \
    X(LIST_CHECKS, "checks")                                                                       \
    X(LIST_FAULTS, "faults")                                                                       \
    X(LIST_SCENARIOS, "scenarios")                                                                 \
    X(LIST_SITES, "sites")

enum list_topic {
    LIST_NONE,
#define X(name, text) name,
    LIST_TOPICS(X)
#undef X
};

#define FORMATS(X)                                                                                 \
    X(FORMAT_TEXT, "text")                                                                         \
    X(FORMAT_JSON, "json")                                                                         \
    X(FORMAT_JUNIT, "junit")                                                                       \
    X(FORMAT_TAP, "tap")                                                                           \
    X(FORMAT_MERMAID, "mermaid")

enum format_name {
#define X(name, text) name,
    FORMATS(X)
#undef X
};

/* JSON knows signed integers only. */
#define SEED_MAX ((uint64_t)INT64_MAX)
#define OPTION_NOT_GIVEN UINT64_MAX
#define SEEDS_MAX UINT64_C(1000000000000) /* of one --seeds */

struct options {
    enum command command;
    enum list_topic topic;
    char *const *paths; /* borrowed from argv, reordered; no command name, no topic */
    size_t path_count;
    char **receivers; /* names asked for, in order, each once; owned */
    size_t receiver_count;
    uint64_t seed_first, seed_last;
    bool many_seeds; /* --seeds was given */
    enum format_name format;
    const char *output;     /* -o; NULL: standard output */
    uint64_t shard, shards; /* 1 <= shard <= shards */
    uint64_t limit;         /* lines of a diagram; runs of an exploration, 0: all */
    uint64_t limit_ns;      /* wall time of an exploration; 0: any */
    uint64_t faults;        /* of an exploration; OPTION_NOT_GIVEN: the scenario's */
    uint64_t jobs;
    const char *only, *assume; /* comma-separated; NULL: not given */
    bool keep_faults, full_power;
    bool no_shrink;
    const char *keep;      /* directory for the smallest story; NULL: not kept */
    const char *operation; /* NULL: all */
    bool twice, fail_fast, quiet, help, version;
};

/* Fills *o from the arguments; argv is reordered. False: what is wrong was said to `errors`. Both
 * ways the caller calls options_fini. */
bool options_parse(int argc, char **argv, FILE *errors, struct options *o);
void options_fini(struct options *o);

/* Help on one command, or with COMMAND_NONE on all. */
void options_help(enum command c, FILE *out);
const char *command_text(enum command c);

#endif
