#include "sim/base.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *sim_error_text(enum sim_error e)
{
    switch (e) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        SIM_ERRORS(X)
#undef X
    }
    return "unknown error";
}

_Noreturn void must_failed(const char *file, int line, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "onlyonce: internal error at %s:%d: %s\n", file, line, what);
    fflush(stderr);
    _exit(3);
}

void *sim_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    must(p != NULL);
    return p;
}

void *sim_zalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    must(p != NULL);
    return p;
}

void *sim_realloc(void *old, size_t count, size_t size)
{
    must(size == 0 || count <= SIZE_MAX / size);
    size_t bytes = count * size;
    void *p = realloc(old, bytes ? bytes : 1);
    must(p != NULL);
    return p;
}

char *sim_strndup(const char *s, size_t n)
{
    char *copy = sim_alloc(n + 1);
    memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}

char *sim_strdup(const char *s)
{
    return sim_strndup(s, strlen(s));
}

/* Ordered from large to small: duration_text takes the first that divides. */
static const struct unit {
    const char *name;
    uint64_t ns;
} units[] = {
    {"d", 86400 * SIM_S}, {"h", 3600 * SIM_S}, {"m", 60 * SIM_S}, {"s", SIM_S},
    {"ms", SIM_MS},       {"us", SIM_US},      {"ns", 1},
};

const char *duration_text(uint64_t ns, char out[DURATION_TEXT])
{
    const struct unit *u = &units[3];
    for (size_t i = 0; ns != 0 && i < ARRAY_LEN(units); i++) {
        if (ns % units[i].ns == 0) {
            u = &units[i];
            break;
        }
    }
    snprintf(out, DURATION_TEXT, "%llu%s", (unsigned long long)(ns / u->ns), u->name);
    return out;
}

bool duration_parse(const char *s, size_t len, uint64_t *ns)
{
    uint64_t n = 0;
    size_t i = 0;
    while (i < len && s[i] >= '0' && s[i] <= '9') {
        if (n > SIM_TIME_MAX / 10) {
            return false;
        }
        n = n * 10 + (uint64_t)(s[i] - '0');
        i++;
    }
    if (i == 0) {
        return false;
    }
    for (size_t u = 0; u < ARRAY_LEN(units); u++) {
        if (strlen(units[u].name) == len - i && memcmp(units[u].name, s + i, len - i) == 0) {
            if (n > SIM_TIME_MAX / units[u].ns) {
                return false;
            }
            *ns = n * units[u].ns;
            return true;
        }
    }
    return false;
}
