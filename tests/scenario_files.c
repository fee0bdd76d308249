/* Scenario files on disk: directories, what cannot be read, standard input. */
#include "tests/scenario_rig.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static char directory[] = "/tmp/onlyonce-test-XXXXXX";

static void in_directory(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    char command[64];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    fputs(text, out);
    ck_assert_int_eq(fclose(out), 0);
}

static void make_directory(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    ck_assert_int_eq(mkdir(path, 0777), 0);
}

/* Reads the directory itself; the errors are left in c, which the caller closes. */
static enum sim_error list(struct caught *c, struct scenario_list *out)
{
    char *paths[] = {directory};
    caught_open(c);
    enum sim_error e = scenario_list_read(paths, 1, c->stream, out);
    fflush(c->stream);
    return e;
}

START_TEST(a_directory_is_read_in_byte_order)
{
    make_directory("b");
    make_directory("dir.yaml");
    write_file("b/x.yml", LEAST);
    write_file("b-a.yaml", LEAST);
    write_file("B.yaml", LEAST);
    write_file("dir.yaml/y.yaml", LEAST);
    write_file("notes.txt", "no scenario");
    write_file(".yaml", "no name");
    struct caught c;
    struct scenario_list l;
    ck_assert_int_eq(list(&c, &l), SIM_OK);
    static const char *const order[] = {"B.yaml", "b-a.yaml", "b/x.yml", "dir.yaml/y.yaml"};
    ck_assert_uint_eq(l.count, ARRAY_LEN(order));
    for (size_t i = 0; i < l.count; i++) {
        ck_assert_msg(ends_with(l.items[i].file, order[i]), "%s", l.items[i].file);
    }
    scenario_list_fini(&l);
    caught_close(&c);
}
END_TEST

START_TEST(a_directory_without_scenarios_is_an_error)
{
    write_file("notes.txt", "no scenario");
    struct caught c;
    struct scenario_list l;
    ck_assert_int_eq(list(&c, &l), SIM_ERR_SCENARIO);
    ck_assert_ptr_nonnull(strstr(c.text, ":1:1: error: no scenario"));
    ck_assert(l.count == 0 && l.items == NULL);
    caught_close(&c);
}
END_TEST

START_TEST(all_errors_of_all_files_are_said)
{
    write_file("a.yaml", "nmae: x\n");
    write_file("b.yaml", LEAST);
    write_file("c.yaml", "");
    char gone[64], link_path[64];
    snprintf(gone, sizeof(gone), "%s/gone", directory);
    snprintf(link_path, sizeof(link_path), "%s/d.yaml", directory);
    ck_assert_int_eq(symlink(gone, link_path), 0);
    struct caught c;
    struct scenario_list l;
    ck_assert_int_ne(list(&c, &l), SIM_OK);
    ck_assert_ptr_nonnull(strstr(c.text, "/a.yaml:1:1: error: unknown key \"nmae\""));
    ck_assert_ptr_nonnull(strstr(c.text, "/c.yaml:1:1: error: the file is empty"));
    ck_assert_ptr_nonnull(strstr(c.text, "/d.yaml:1:1: error: a link that leads nowhere"));
    ck_assert(l.count == 0 && l.items == NULL);
    caught_close(&c);
}
END_TEST

START_TEST(what_cannot_be_read_is_an_error)
{
    struct scenario s;
    struct caught c;
    caught_open(&c);
    ck_assert_int_eq(scenario_read("/nonexistent/\x1b[31m.yaml", c.stream, &s), SIM_ERR_IO);
    ck_assert_int_eq(scenario_read(directory, c.stream, &s), SIM_ERR_IO);
    write_file("secret.yaml", LEAST);
    char path[64];
    snprintf(path, sizeof(path), "%s/secret.yaml", directory);
    ck_assert_int_eq(chmod(path, 0), 0);
    if (geteuid() != 0) {
        ck_assert_int_eq(scenario_read(path, c.stream, &s), SIM_ERR_IO);
    }
    fflush(c.stream);
    ck_assert_ptr_nonnull(
        strstr(c.text, "\"/nonexistent/\\u001b[31m.yaml\":1:1: error: cannot be"));
    ck_assert_ptr_nonnull(strstr(c.text, ":1:1: error: cannot be read: Is a directory"));
    caught_close(&c);
}
END_TEST

START_TEST(a_dash_is_standard_input)
{
    write_file("in", LEAST);
    char path[64];
    snprintf(path, sizeof(path), "%s/in", directory);
    ck_assert_ptr_nonnull(freopen(path, "rb", stdin));
    char dash[] = "-";
    char *paths[] = {dash};
    struct scenario_list l;
    ck_assert_int_eq(scenario_list_read(paths, 1, stderr, &l), SIM_OK);
    ck_assert_str_eq(l.items[0].file, "-");
    ck_assert_str_eq(l.items[0].name, "stdin");
    scenario_list_fini(&l);
}
END_TEST

TCase *scenario_file_tests(void)
{
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, in_directory, remove_directory);
    tcase_add_test(files, a_directory_is_read_in_byte_order);
    tcase_add_test(files, a_directory_without_scenarios_is_an_error);
    tcase_add_test(files, all_errors_of_all_files_are_said);
    tcase_add_test(files, what_cannot_be_read_is_an_error);
    tcase_add_test(files, a_dash_is_standard_input);
    return files;
}
