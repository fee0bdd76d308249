/* Every bad input of tests/bad is refused with exactly the errors that are kept beside it, and its
 * twin is not. ONLYONCE_BLESS=1 writes the errors anew. */
#include "tests/scenario_rig.h"

#include <dirent.h>
#include <string.h>

#define BAD "tests/bad"
#define TWIN ".ok.yaml"
#define SUFFIX ".yaml"

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static int is_bad_input(const struct dirent *entry)
{
    return ends_with(entry->d_name, SUFFIX) && !ends_with(entry->d_name, TWIN);
}

static char *file_text(const char *path)
{
    FILE *in = fopen(path, "rb");
    ck_assert_msg(in != NULL, "%s is missing; ONLYONCE_BLESS=1 writes it", path);
    char *text = calloc(1, 65536);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_lt(fread(text, 1, 65535, in), 65535);
    fclose(in);
    return text;
}

static void check_bad(const char *path, const char *errors_path)
{
    struct scenario s;
    struct caught c;
    caught_open(&c);
    enum sim_error e = scenario_read(path, c.stream, &s);
    fflush(c.stream);
    ck_assert_msg(e == SIM_ERR_SCENARIO, "%s was not refused", path);
    const char *bless = getenv("ONLYONCE_BLESS");
    if (bless != NULL && strcmp(bless, "1") == 0) {
        FILE *out = fopen(errors_path, "wb");
        ck_assert_ptr_nonnull(out);
        ck_assert_uint_eq(fwrite(c.text, 1, c.len, out), c.len);
        ck_assert_int_eq(fclose(out), 0);
    } else {
        char *want = file_text(errors_path);
        ck_assert_str_eq(c.text, want);
        free(want);
    }
    ck_assert(strncmp(c.text, path, strlen(path)) == 0);
    caught_close(&c);
}

static void check_twin(const char *path)
{
    struct scenario s;
    struct caught c;
    caught_open(&c);
    enum sim_error e = scenario_read(path, c.stream, &s);
    fflush(c.stream);
    ck_assert_msg(e == SIM_OK && c.len == 0, "%s", c.text);
    if (e == SIM_OK) {
        scenario_fini(&s);
    }
    caught_close(&c);
}

START_TEST(bad_inputs_are_refused_and_their_twins_are_not)
{
    struct dirent **entries;
    int count = scandir(BAD, &entries, is_bad_input, alphasort);
    ck_assert_int_ge(count, 40);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        int stem = (int)(strlen(name) - strlen(SUFFIX));
        char path[3][512];
        snprintf(path[0], sizeof(path[0]), BAD "/%s", name);
        snprintf(path[1], sizeof(path[1]), BAD "/%.*s.err", stem, name);
        snprintf(path[2], sizeof(path[2]), BAD "/%.*s" TWIN, stem, name);
        check_bad(path[0], path[1]);
        check_twin(path[2]);
        free(entries[i]);
    }
    free(entries);
}
END_TEST

/* A word that the program knows and editors do not would be underlined as wrong. */
START_TEST(the_schema_knows_every_word)
{
    static const char *const words[] = {
#define X(name, text, in_set, holds) text,
        CHECKS(X)
#undef X
#define X(name, text, scope, covered, help) text,
            FAULT_KINDS(X)
#undef X
#define X(name, text) text,
                BACKOFFS(X) JOURNALS(X) SYNCHRONOUS(X) EFFECTS(X) KEY_POLICIES(X)
#undef X
    };
    char *schema = file_text("scenarios/schema.json");
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        ck_assert_msg(strstr(schema, words[i]) != NULL, "%s", words[i]);
    }
    free(schema);
}
END_TEST

TCase *scenario_bad_tests(void)
{
    TCase *tests = tcase_create("bad");
    tcase_add_test(tests, bad_inputs_are_refused_and_their_twins_are_not);
    tcase_add_test(tests, the_schema_knows_every_word);
    return tests;
}
