/* The failure classes: scenarios/classes, and the table of them in scenarios/README.md.
 *
 * Pinned: each file is named by its number and its scenario's name, its story begins with the
 * class, it convicts one receiver at least and acquits another, and runs as it expects; the table
 * has each class from 1 to 40 once, in order, and of each file who is convicted by what and who is
 * acquitted; a row without a file says why.
 *
 * Exploration finds the convictions that a file says it finds, and nothing in who is acquitted.
 *
 * Left open: exploration of the acquitted with more than one fault; that stories are the smallest.
 */
#include "sim/explore.h"
#include "tests/world_rig.h"

#include <stdlib.h>

enum { CLASSES = 40, FILES_LEAST = 26, CELLS = 5, ROW_MAX = 1000 };
enum { CELL_CLASS, CELL_WHAT, CELL_FILE, CELL_CONVICTED, CELL_ACQUITTED };

struct row {
    char line[ROW_MAX];
    char *cells[CELLS];
    bool met; /* its file has been seen */
};
static struct row rows[CLASSES + 1]; /* by class; 0 is not used */

/* Splits "| a | b |" in place. False: not a row of that many cells. */
static bool split(struct row *row)
{
    static const char bar[] = " | ";
    char *at = row->line + strlen("| ");
    for (int i = 0; i < CELLS; i++) {
        char *end = strstr(at, i + 1 < CELLS ? bar : " |\n");
        if (end == NULL) {
            return false;
        }
        *end = '\0';
        row->cells[i] = at;
        at = end + strlen(bar);
    }
    return true;
}

/* The rows behind the heading, in the order 1, 2, ..., CLASSES. */
static void read_table(void)
{
    FILE *in = fopen("scenarios/README.md", "r");
    ck_assert_ptr_nonnull(in);
    char line[ROW_MAX];
    bool found = false;
    int next = 1;
    while (fgets(line, sizeof(line), in) != NULL) {
        ck_assert_msg(strchr(line, '\n') != NULL, "a line is too long: %s", line);
        if (strncmp(line, "## ", 3) == 0) {
            found = strcmp(line, "## Failure classes\n") == 0;
        }
        if (found && line[0] == '|' && strchr("0123456789", line[2]) != NULL) {
            ck_assert_msg(next <= CLASSES, "one row too many: %s", line);
            struct row *row = &rows[next];
            strcpy(row->line, line);
            ck_assert_msg(split(row), "not five cells: %s", line);
            ck_assert_msg(strtol(row->cells[CELL_CLASS], NULL, 10) == next,
                          "class %d is expected: %s", next, line);
            next++;
        }
    }
    fclose(in);
    ck_assert_int_eq(next, CLASSES + 1);
}

static bool names(const char *cell, const char *receiver)
{
    char quoted[300];
    snprintf(quoted, sizeof(quoted), "`%s`", receiver);
    return strstr(cell, quoted) != NULL;
}

/* "scenarios/classes/08-stuck-in-progress.yaml": its row, by its number. */
static struct row *row_of(const struct scenario *s)
{
    const char *file = strrchr(s->file, '/') + 1;
    char story[20], name[300];
    char *end;
    long class = strtol(file, &end, 10);
    ck_assert_msg(end == file + 2 && *end == '-' && class >= 1 && class <= CLASSES,
                  "%s: the name does not begin with two digits of a class", s->file);
    snprintf(name, sizeof(name), "%s.yaml", s->name);
    ck_assert_msg(strcmp(end + 1, name) == 0, "%s: its scenario is called %s", s->file, s->name);
    snprintf(story, sizeof(story), "Class %ld. ", class);
    ck_assert_msg(s->about != NULL && strncmp(s->about, story, strlen(story)) == 0,
                  "%s: its story does not begin with \"%s\"", s->file, story);
    struct row *row = &rows[class];
    snprintf(name, sizeof(name), "`%.*s`", (int)(strlen(file) - strlen(".yaml")), file);
    ck_assert_msg(strcmp(row->cells[CELL_FILE], name) == 0, "%s: the table names %s", s->file,
                  row->cells[CELL_FILE]);
    ck_assert_msg(!row->met, "%s: a second file", s->file);
    row->met = true;
    return row;
}

/* One receiver of a class, as the file and the table say. */
static void judge(const struct scenario *s, size_t i, const struct row *row)
{
    const struct expectation *x = &s->expectations[i];
    const char *name = s->receivers[i].name;
    ck_assert_msg(x->violates || !x->given, "%s: %s is held to less", s->file, name);
    ck_assert_msg(names(row->cells[CELL_CONVICTED], name) == x->violates, "%s: %s in the table",
                  s->file, name);
    ck_assert_msg(names(row->cells[CELL_ACQUITTED], name) == !x->violates, "%s: %s in the table",
                  s->file, name);
    for (unsigned c = 0; x->violates && c < CHECK_COUNT; c++) {
        ck_assert_msg(!(x->checks & CHECK_BIT(c)) ||
                          strstr(row->cells[CELL_CONVICTED], check_text(c)) != NULL,
                      "%s: %s is not in the table", s->file, check_text(c));
    }
    struct result r = rig_once(s, name, 1);
    ck_assert_msg(r.expected, "%s on %s: %s", s->file, name, rig_say(&r, NULL));
    result_fini(&r);
}

START_TEST(each_class)
{
    char *paths[] = {"scenarios/classes"};
    struct scenario_list list;
    read_table();
    ck_assert_int_eq(scenario_list_read(paths, 1, stderr, &list), SIM_OK);
    ck_assert_uint_ge(list.count, FILES_LEAST);
    for (size_t i = 0; i < list.count; i++) {
        const struct scenario *s = &list.items[i];
        const struct row *row = row_of(s);
        size_t convicted = 0;
        for (size_t r = 0; r < s->receiver_count; r++) {
            judge(s, r, row);
            convicted += s->expectations[r].violates;
        }
        ck_assert_msg(convicted > 0, "%s convicts nobody", s->file);
        ck_assert_msg(convicted < s->receiver_count, "%s acquits nobody", s->file);
    }
    scenario_list_fini(&list);
    for (int class = 1; class <= CLASSES; class ++) {
        const struct row *row = &rows[class];
        bool without = strcmp(row->cells[CELL_FILE], "–") == 0;
        ck_assert_msg(row->met != without, "class %d: %s", class, row->cells[CELL_FILE]);
        ck_assert_msg(!without || strlen(row->cells[CELL_CONVICTED]) > 10,
                      "class %d does not say why", class);
    }
}
END_TEST

START_TEST(each_is_found)
{
    char *paths[] = {"scenarios/classes"};
    struct scenario_list list;
    unsigned found = 0;
    ck_assert_int_eq(scenario_list_read(paths, 1, stderr, &list), SIM_OK);
    for (size_t i = 0; i < list.count; i++) {
        const struct scenario *s = &list.items[i];
        for (size_t r = 0; s->explore_faults > 0 && r < s->receiver_count; r++) {
            const struct expectation *x = &s->explore_expectations[r];
            struct certificate c;
            struct explore_task task = {.scenario = s,
                                        .receiver = r,
                                        .seed = 1,
                                        .faults = x->violates ? s->explore_faults : 1,
                                        .kinds = explore_covered_kinds(),
                                        .jobs = 1,
                                        .expectation = x};
            explore(&task, stderr, &c);
            ck_assert_msg(c.expected, "%s on %s: %s", s->file, s->receivers[r].name,
                          verdict_text(c.verdict));
            ck_assert_msg(x->violates == s->expectations[r].violates, "%s: %s is not the same",
                          s->file, s->receivers[r].name);
            found += x->violates;
        }
    }
    ck_assert_uint_gt(found, FILES_LEAST);
    scenario_list_fini(&list);
}
END_TEST

Suite *classes_suite(void)
{
    Suite *s = suite_create("classes");
    TCase *t = tcase_create("classes");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, each_class);
    tcase_add_test(t, each_is_found);
    suite_add_tcase(s, t);
    return s;
}
