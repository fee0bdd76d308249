/* Scenario files on disk: one, or all below a directory, in byte order.
 *
 * In: paths as the user wrote them; "-" is standard input. Out: scenarios, or every error of every
 * file. What cannot be read is said as an error at line 1 of its path.
 */
#include "sim/scenario_internal.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX (UINT64_C(16) << 20)

static enum sim_error failed(FILE *errors, const char *path, const char *what, int reason)
{
    char text[200];
    snprintf(text, sizeof(text), "%s%s%s", what, reason ? ": " : "",
             reason ? strerror(reason) : "");
    yaml_print_bare(errors, path, 1, 1, text);
    return SIM_ERR_IO;
}

/* Everything in a stream, at most FILE_MAX bytes and one; NULL: errno says why. */
static char *read_stream(FILE *in, size_t *len)
{
    size_t capacity = 16384;
    char *text = sim_alloc(capacity);
    *len = 0;
    size_t n;
    while ((n = fread(text + *len, 1, capacity - *len, in)) > 0) {
        *len += n;
        if (*len > FILE_MAX) {
            break;
        }
        if (*len == capacity) {
            capacity *= 2;
            text = sim_realloc(text, capacity, 1);
        }
    }
    if (ferror(in)) {
        int reason = errno;
        free(text);
        errno = reason;
        return NULL;
    }
    return text;
}

enum sim_error scenario_read(const char *path, FILE *errors, struct scenario *out)
{
    bool standard = strcmp(path, "-") == 0;
    *out = (struct scenario){0};
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (in == NULL) {
        return failed(errors, path, "cannot be read", errno);
    }
    size_t len = 0;
    char *text = read_stream(in, &len);
    int reason = errno;
    if (!standard) {
        fclose(in);
    }
    if (text == NULL) {
        return failed(errors, path, "cannot be read", reason);
    }
    enum sim_error result;
    if (len > FILE_MAX) {
        failed(errors, path, "larger than 16 MiB, which no scenario is", 0);
        result = SIM_ERR_SCENARIO;
    } else {
        result = scenario_parse(path, text, len, errors, out);
    }
    free(text);
    return result;
}

struct paths {
    char **items;
    size_t count, capacity;
};

static void add_path(struct paths *p, const char *path)
{
    if (p->count == p->capacity) {
        p->capacity = p->capacity > 0 ? 2 * p->capacity : 16;
        p->items = sim_realloc(p->items, p->capacity, sizeof(*p->items));
    }
    p->items[p->count++] = sim_strdup(path);
}

static bool is_scenario_name(const char *name, size_t len)
{
    return (len > 5 && memcmp(name + len - 5, ".yaml", 5) == 0) ||
           (len > 4 && memcmp(name + len - 4, ".yml", 4) == 0);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum sim_error take_entry(struct paths *p, const FTSENT *entry, FILE *errors)
{
    bool named = is_scenario_name(entry->fts_name, entry->fts_namelen);
    switch (entry->fts_info) {
    case FTS_F:
        if (named) {
            add_path(p, entry->fts_path);
        }
        return SIM_OK;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return failed(errors, entry->fts_path, "cannot be read", entry->fts_errno);
    case FTS_SLNONE:
        return named ? failed(errors, entry->fts_path, "a link that leads nowhere", 0) : SIM_OK;
    default: /* not our enum */
        /* Directories come and go; a cycle is left where it closes. */
        return SIM_OK;
    }
}

/* All scenario files below a directory. */
static enum sim_error walk(struct paths *p, const char *directory, FILE *errors)
{
    /* fts keeps trailing slashes. */
    char *root = sim_strdup(directory);
    for (size_t len = strlen(root); len > 1 && root[len - 1] == '/'; len--) {
        root[len - 1] = '\0';
    }
    char *roots[] = {root, NULL};
    size_t first = p->count;
    enum sim_error result = SIM_OK;
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    if (tree == NULL) {
        result = failed(errors, directory, "cannot be read", errno);
    }
    for (FTSENT *entry; tree != NULL && (entry = fts_read(tree)) != NULL;) {
        enum sim_error e = take_entry(p, entry, errors);
        result = result != SIM_OK ? result : e;
    }
    if (tree != NULL) {
        fts_close(tree);
    }
    free(root);
    if (result == SIM_OK && p->count == first) {
        failed(errors, directory, "no scenario (*.yaml, *.yml) in this directory", 0);
        result = SIM_ERR_SCENARIO;
    }
    if (p->count > first) {
        qsort(p->items + first, p->count - first, sizeof(*p->items), by_bytes);
    }
    return result;
}

enum sim_error scenario_list_read(char *const *paths, size_t count, FILE *errors,
                                  struct scenario_list *out)
{
    struct paths files = {0};
    enum sim_error result = SIM_OK;
    for (size_t i = 0; i < count; i++) {
        struct stat status;
        enum sim_error e = SIM_OK;
        if (strcmp(paths[i], "-") != 0 && stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode)) {
            e = walk(&files, paths[i], errors);
        } else {
            add_path(&files, paths[i]);
        }
        result = result != SIM_OK ? result : e;
    }
    *out = (struct scenario_list){.items = sim_zalloc(files.count, sizeof(*out->items))};
    for (size_t i = 0; i < files.count; i++) {
        enum sim_error e = scenario_read(files.items[i], errors, &out->items[out->count]);
        out->count += e == SIM_OK;
        result = result != SIM_OK ? result : e;
        free(files.items[i]);
    }
    free(files.items);
    if (result != SIM_OK) {
        scenario_list_fini(out);
    }
    return result;
}

void scenario_list_fini(struct scenario_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        scenario_fini(&l->items[i]);
    }
    free(l->items);
    *l = (struct scenario_list){0};
}
