/* The values of options, checked.
 *
 * In: an option and its value as text. Out: the field of struct options, or what was wanted
 * instead.
 */
#include "sim/options_internal.h"

#include <string.h>

#include "sim/message.h"

static const char *const formats[] = {
#define X(name, text) [name] = text,
    FORMATS(X)
#undef X
};

/* A decimal number that ends at *end; false where there is none or it is above most. */
static bool number(const char *s, const char **end, uint64_t most, uint64_t *out)
{
    uint64_t n = 0;
    const char *p = s;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (digit > most || n > (most - digit) / 10) {
            return false;
        }
        n = n * 10 + digit;
    }
    *end = p;
    *out = n;
    return p != s;
}

static bool parse_number(const char *s, uint64_t most, uint64_t *out)
{
    const char *end;
    return number(s, &end, most, out) && *end == '\0';
}

/* "A<separator>B" */
static bool parse_pair(const char *s, const char *separator, uint64_t *a, uint64_t *b)
{
    const char *end;
    size_t n = strlen(separator);
    return number(s, &end, SEED_MAX, a) && strncmp(end, separator, n) == 0 &&
           parse_number(end + n, SEED_MAX, b);
}

static void add_receiver(struct options *o, const char *name, size_t len)
{
    for (size_t i = 0; i < o->receiver_count; i++) {
        if (strlen(o->receivers[i]) == len && memcmp(o->receivers[i], name, len) == 0) {
            return;
        }
    }
    o->receivers = sim_realloc(o->receivers, o->receiver_count + 1, sizeof(*o->receivers));
    o->receivers[o->receiver_count++] = sim_strndup(name, len);
}

static bool parse_receivers(struct options *o, const char *list)
{
    for (const char *s = list;; s++) {
        char name[4 * KEY_MAX];
        size_t len;
        if (*s == '"') {
            size_t used = words_unquote(s, strlen(s), name, sizeof(name), &len);
            if (used == 0) {
                return false;
            }
            s += used;
            add_receiver(o, name, len);
        } else {
            len = strcspn(s, ",");
            if (len == 0) {
                return false;
            }
            add_receiver(o, s, len);
            s += len;
        }
        if (*s == '\0') {
            return true;
        }
        if (*s != ',') {
            return false;
        }
    }
}

/* The formats that a command has. */
static const char *formats_of(enum command c)
{
    switch (c) {
    case COMMAND_SHOW:
        return "text, mermaid";
    case COMMAND_EXPLORE:
        return "text, json";
    case COMMAND_NONE:
    case COMMAND_SHRINK:
    case COMMAND_RUN:
    case COMMAND_COMPARE:
    case COMMAND_CHECK:
    case COMMAND_NEW:
    case COMMAND_LIST:
    case COMMAND_COUNT:
        break;
    }
    return "text, json, junit, tap";
}

static bool parse_format(struct options *o, const char *value, FILE *errors)
{
    const char *known = formats_of(o->command);
    struct nearest n = {.word = value, .len = strlen(value)};
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        if (strstr(known, formats[i]) == NULL) {
            continue;
        }
        if (strcmp(formats[i], value) == 0) {
            o->format = (enum format_name)i;
            return true;
        }
        nearest_offer(&n, formats[i], strlen(formats[i]));
    }
    options_complain(errors, o, "unknown format", value);
    if (n.best != NULL) {
        options_suggest(errors, &n, "");
    } else {
        fprintf(errors, "; known are %s\n", known);
    }
    return false;
}

static bool refuse(FILE *errors, const struct options *o, enum option option, const char *value,
                   const char *wanted)
{
    char what[128];
    snprintf(what, sizeof(what), "--%s wants %s, not", known_options[option].text, wanted);
    options_complain(errors, o, what, value);
    fputc('\n', errors);
    return false;
}

static bool parse_seeds(struct options *o, const char *value)
{
    o->many_seeds = parse_pair(value, "..", &o->seed_first, &o->seed_last) &&
                    o->seed_first <= o->seed_last && o->seed_last - o->seed_first < SEEDS_MAX;
    return o->many_seeds;
}

/* Where a switch is kept; NULL: the option takes a value. */
static bool *switch_of(struct options *o, enum option option)
{
    switch (option) {
    case OPTION_KEEP_FAULTS:
        return &o->keep_faults;
    case OPTION_FULL_POWER:
        return &o->full_power;
    case OPTION_NO_SHRINK:
        return &o->no_shrink;
    case OPTION_TWICE:
        return &o->twice;
    case OPTION_FAIL_FAST:
        return &o->fail_fast;
    case OPTION_QUIET:
        return &o->quiet;
    case OPTION_HELP:
        return &o->help;
    case OPTION_VERSION:
        return &o->version;
    case OPTION_RECEIVER:
    case OPTION_SEED:
    case OPTION_SEEDS:
    case OPTION_FORMAT:
    case OPTION_OUTPUT:
    case OPTION_SHARD:
    case OPTION_FAULTS:
    case OPTION_JOBS:
    case OPTION_ONLY:
    case OPTION_ASSUME:
    case OPTION_LIMIT:
    case OPTION_KEEP:
    case OPTION_OPERATION:
        return NULL;
    }
    must(!"an option");
}

bool options_apply(struct options *o, enum option option, const char *value, FILE *errors)
{
    bool *flag = switch_of(o, option);
    if (flag != NULL) {
        return *flag = true;
    }
    switch (option) {
    case OPTION_RECEIVER:
        return parse_receivers(o, value) ||
               refuse(errors, o, option, value, "names separated by commas");
    case OPTION_SEED:
        if (!parse_number(value, SEED_MAX, &o->seed_first)) {
            return refuse(errors, o, option, value, "a number from 0 to 2^63 - 1");
        }
        o->seed_last = o->seed_first;
        o->many_seeds = false;
        return true;
    case OPTION_SEEDS:
        return parse_seeds(o, value) ||
               refuse(errors, o, option, value, "a range like 1..100, the smaller first");
    case OPTION_FORMAT:
        return parse_format(o, value, errors);
    case OPTION_OUTPUT:
        if (value[0] == '\0') {
            return refuse(errors, o, option, value, "a path");
        }
        o->output = strcmp(value, "-") == 0 && o->command != COMMAND_COMPARE ? NULL : value;
        return true;
    case OPTION_SHARD:
        if (!parse_pair(value, "/", &o->shard, &o->shards) || o->shard == 0 ||
            o->shard > o->shards) {
            return refuse(errors, o, option, value, "K/N with 1 <= K <= N");
        }
        return true;
    case OPTION_FAULTS:
        return parse_number(value, 5, &o->faults) ||
               refuse(errors, o, option, value, "a number from 0 to 5");
    case OPTION_JOBS:
        return (parse_number(value, 64, &o->jobs) && o->jobs > 0) ||
               refuse(errors, o, option, value, "a number from 1 to 64");
    case OPTION_ONLY:
        o->only = value;
        return true;
    case OPTION_ASSUME:
        o->assume = value;
        return true;
    case OPTION_LIMIT:
        if (o->command == COMMAND_EXPLORE && duration_parse(value, strlen(value), &o->limit_ns)) {
            return o->limit_ns > 0 || refuse(errors, o, option, value, "a time above 0");
        }
        return (parse_number(value, SEED_MAX, &o->limit) && o->limit > 0) ||
               refuse(errors, o, option, value, "a number from 1 on");
    case OPTION_KEEP:
        o->keep = value;
        return value[0] != '\0' || refuse(errors, o, option, value, "a directory");
    case OPTION_OPERATION:
        o->operation = value;
        return true;
    case OPTION_KEEP_FAULTS:
    case OPTION_FULL_POWER:
    case OPTION_NO_SHRINK:
    case OPTION_TWICE:
    case OPTION_FAIL_FAST:
    case OPTION_QUIET:
    case OPTION_HELP:
    case OPTION_VERSION:
        break;
    }
    must(!"an option");
}
