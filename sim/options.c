/* The command line: options with their values, checked, and help.
 *
 * In: argv. Out: struct options, or one or two lines that say what is wrong and what comes close.
 *
 *     onlyonce run --seeds 1..100 --receiver table,naive scenarios
 *     onlyonce run --seed=7 -o result.json --format json -
 *
 * Options may stand before or after files; `--` ends them; the last of a repeated one counts, and
 * --receiver adds up. A receiver whose name is not plain is written as a JSON string.
 */
#include "sim/options_internal.h"

#include <stdlib.h>
#include <string.h>

static const char *const topics[] = {[LIST_NONE] = "",
#define X(name, text) [name] = text,
                                     LIST_TOPICS(X)
#undef X
};

/* The beginning of every complaint. */
void options_complain(FILE *errors, const struct options *o, const char *what, const char *word)
{
    char quoted[512];
    words_quote(word, strlen(word), quoted, sizeof(quoted));
    fprintf(errors, "onlyonce%s%s: %s %s", o->command != COMMAND_NONE ? " " : "",
            o->command != COMMAND_NONE ? known_commands[o->command].text : "", what, quoted);
}

void options_suggest(FILE *errors, const struct nearest *n, const char *before)
{
    if (n->best != NULL) {
        fprintf(errors, "; did you mean %s%.*s?", before, (int)n->best_len, n->best);
    }
    fputc('\n', errors);
}

/* Finds the option of argument arg, "--name" or "--name=value". -1: there is none. */
static int lookup(const char *arg)
{
    if (strcmp(arg, "-o") == 0) {
        return OPTION_OUTPUT;
    }
    if (strcmp(arg, "-h") == 0) {
        return OPTION_HELP;
    }
    size_t len = strcspn(arg, "=");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *text = known_options[i].text;
        if (len > 2 && arg[1] == '-' && strlen(text) == len - 2 &&
            memcmp(text, arg + 2, len - 2) == 0) {
            return i;
        }
    }
    return -1;
}

/* The same, of those that the command has. -1: said to errors. */
static int find_option(const struct options *o, const char *arg, FILE *errors)
{
    int option = lookup(arg);
    unsigned command = o->command == COMMAND_NONE ? EVERY : ON(o->command);
    if (option >= 0 && (known_options[option].commands & command)) {
        return option;
    }
    if (option >= 0) {
        fprintf(errors, "onlyonce %s: --%s is not an option of this command\n",
                known_commands[o->command].text, known_options[option].text);
        return -1;
    }
    size_t len = strcspn(arg, "=");
    struct nearest n = {.word = arg + 2, .len = len > 2 ? len - 2 : 0};
    for (int i = 0; i < OPTION_COUNT && len > 2; i++) {
        if (known_options[i].commands & command) {
            nearest_offer(&n, known_options[i].text, strlen(known_options[i].text));
        }
    }
    options_complain(errors, o, "unknown option", arg);
    options_suggest(errors, &n, "--");
    return -1;
}

static bool find_command(struct options *o, const char *word, FILE *errors)
{
    struct nearest n = {.word = word, .len = strlen(word)};
    for (unsigned c = COMMAND_NONE + 1; c < COMMAND_COUNT; c++) {
        if (strcmp(known_commands[c].text, word) == 0) {
            o->command = (enum command)c;
            return true;
        }
        nearest_offer(&n, known_commands[c].text, strlen(known_commands[c].text));
    }
    options_complain(errors, o, "unknown command", word);
    if (n.best != NULL) {
        options_suggest(errors, &n, "");
    } else {
        fputs("; `onlyonce --help` lists them\n", errors);
    }
    return false;
}

static bool find_topic(struct options *o, FILE *errors)
{
    if (o->path_count == 0) {
        fputs(
            "onlyonce list: list what? receivers [NAME], checks, faults, scenarios [DIR] or sites "
            "FILE\n",
            errors);
        return false;
    }
    const char *word = o->paths[0];
    struct nearest n = {.word = word, .len = strlen(word)};
    for (unsigned t = LIST_NONE + 1; t < ARRAY_LEN(topics); t++) {
        if (strcmp(topics[t], word) == 0) {
            o->topic = (enum list_topic)t;
            o->paths++;
            o->path_count--;
            return true;
        }
        nearest_offer(&n, topics[t], strlen(topics[t]));
    }
    options_complain(errors, o, "cannot list", word);
    options_suggest(errors, &n, "");
    return false;
}

/* As many operands as the command takes. */
static bool check_operands(const struct options *o, FILE *errors)
{
    size_t least = 0, most = 0;
    switch (o->command) {
    case COMMAND_NONE:
    case COMMAND_COUNT:
        return true;
    case COMMAND_RUN:
    case COMMAND_EXPLORE:
    case COMMAND_CHECK:
    case COMMAND_COMPARE:
        least = 1;
        most = SIZE_MAX;
        break;
    case COMMAND_SHOW:
    case COMMAND_SHRINK:
        least = most = 1;
        break;
    case COMMAND_NEW:
        most = 1;
        break;
    case COMMAND_LIST:
        least = o->topic == LIST_SITES;
        most = o->topic == LIST_SITES || o->topic == LIST_SCENARIOS || o->topic == LIST_RECEIVERS;
        break;
    }
    if (o->path_count < least) {
        fprintf(errors, "onlyonce %s: which scenario file?\nusage: onlyonce %s %s [OPTION...]\n",
                known_commands[o->command].text, known_commands[o->command].text,
                known_commands[o->command].operands);
        return false;
    }
    if (o->path_count > most) {
        options_complain(errors, o, "one thing too many:", o->paths[most]);
        fputc('\n', errors);
        return false;
    }
    size_t inputs = 0;
    for (size_t i = 0; i < o->path_count; i++) {
        inputs += strcmp(o->paths[i], "-") == 0;
    }
    if (inputs > 1) {
        fputs("onlyonce: standard input (-) can be read only once\n", errors);
        return false;
    }
    return true;
}

/* Where the command word stands: the first argument that is no option and no option's value. */
static const char *command_word(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || argv[i][1] == '\0') {
            return argv[i];
        }
        int option = lookup(argv[i]);
        if (option >= 0 && known_options[option].value != NULL && strchr(argv[i], '=') == NULL) {
            i++;
        }
    }
    return NULL;
}

/* Options are applied, what is left moves to the front of argv. Returns how much; -1: an error. */
static int apply_options(int argc, char **argv, const char *word, FILE *errors, struct options *o)
{
    int left = 0;
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        char *arg = argv[i];
        if (arg == word) {
            word = NULL; /* the same text may come again as a file name */
            continue;
        }
        if (ended || arg[0] != '-' || arg[1] == '\0') {
            argv[left++] = arg;
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            ended = true;
            continue;
        }
        int option = find_option(o, arg, errors);
        if (option < 0) {
            return -1;
        }
        const char *value = strchr(arg, '=');
        if (known_options[option].value == NULL && value != NULL) {
            fprintf(errors, "onlyonce: --%s takes no value\n", known_options[option].text);
            return -1;
        }
        if (known_options[option].value != NULL && value == NULL && i + 1 == argc) {
            fprintf(errors, "onlyonce: %s wants a value: %s\n", arg, known_options[option].value);
            return -1;
        }
        if (known_options[option].value != NULL) {
            value = value != NULL ? value + 1 : argv[++i];
        }
        if (!options_apply(o, (enum option)option, value, errors)) {
            return -1;
        }
    }
    return left;
}

bool options_parse(int argc, char **argv, FILE *errors, struct options *o)
{
    *o = (struct options){.seed_first = 1,
                          .seed_last = 1,
                          .shard = 1,
                          .shards = 1,
                          .faults = OPTION_NOT_GIVEN,
                          .jobs = 1,
                          .paths = argv};
    const char *word = command_word(argc, argv);
    if (word != NULL && !find_command(o, word, errors)) {
        return false;
    }
    o->limit = o->command == COMMAND_SHOW ? 200 : 0;
    int left = apply_options(argc, argv, word, errors, o);
    if (left < 0) {
        return false;
    }
    o->path_count = (size_t)left;
    if (o->help || o->version) {
        return true;
    }
    if (o->command == COMMAND_NONE) {
        options_help(COMMAND_NONE, errors);
        return false;
    }
    if (o->command == COMMAND_LIST && !find_topic(o, errors)) {
        return false;
    }
    if (o->command == COMMAND_COMPARE && o->output == NULL) {
        fputs("onlyonce compare: -o DIR says where the report goes\n", errors);
        return false;
    }
    return check_operands(o, errors);
}

void options_fini(struct options *o)
{
    for (size_t i = 0; i < o->receiver_count; i++) {
        free(o->receivers[i]);
    }
    free(o->receivers);
}
