/* The allocator under SQLite: blocks, images, and strangers' pointers. */
#include "sim/arena.h"
#include "tests/suites.h"

#include <sqlite3.h>
#include <string.h>

static struct arena one, two;

static void setup(void)
{
    must(arena_install() == SIM_OK);
    arena_init(&one, (size_t)1 << 28);
    arena_init(&two, (size_t)1 << 24);
    arena_use(&one);
}

static void teardown(void)
{
    arena_use(NULL);
    arena_fini(&one);
    arena_fini(&two);
}

START_TEST(install_twice)
{
    ck_assert_int_eq(arena_install(), SIM_OK);
    ck_assert_int_eq(sqlite3_threadsafe() != 0, 1);
}
END_TEST

START_TEST(use_returns_the_one_before)
{
    ck_assert_ptr_eq(arena_use(&two), &one);
    ck_assert_ptr_eq(arena_use(NULL), &two);
    ck_assert_ptr_null(arena_use(&one));
}
END_TEST

/* Every size: aligned, large enough, no overlap with its neighbour, reused after free. */
START_TEST(blocks_of_every_size)
{
    unsigned char *before = NULL;
    size_t before_size = 0;
    for (int n = 1; n < 9000; n += n < 2200 ? 1 : 61) {
        unsigned char *p = sqlite3_malloc(n);
        expect(p != NULL && (uintptr_t)p % 8 == 0);
        size_t size = (size_t)sqlite3_msize(p);
        expect(size >= (size_t)n && size <= (size_t)n + 24 + (size_t)n / 7);
        memset(p, n & 0xff, size);
        if (before != NULL) {
            expect(before[0] == before[before_size - 1]);
            expect(before + before_size <= p || p + size <= before);
            sqlite3_free(before);
        }
        expect(p[0] == (n & 0xff));
        before = p;
        before_size = size;
    }
    sqlite3_free(before);
    size_t used = one.used;
    for (int n = 1; n < 9000; n += n < 2200 ? 1 : 61) {
        sqlite3_free(sqlite3_malloc(n));
    }
    ck_assert_uint_eq(one.used, used);
}
END_TEST

START_TEST(realloc_keeps_the_bytes)
{
    char *p = sqlite3_malloc(10);
    memcpy(p, "123456789", 10);
    for (int n = 10; n < 5000000; n = n * 3 / 2) {
        p = sqlite3_realloc(p, n);
        ck_assert_str_eq(p, "123456789");
    }
    p = sqlite3_realloc(p, 10);
    ck_assert_str_eq(p, "123456789");
    sqlite3_free(p);
}
END_TEST

START_TEST(end_of_the_arena_is_no_memory)
{
    arena_use(&two);
    ck_assert_ptr_null(sqlite3_malloc(1 << 25));
    void *p = sqlite3_malloc(1 << 22);
    ck_assert_ptr_nonnull(p);
    int taken = 0;
    while (sqlite3_malloc(1 << 20) != NULL) {
        taken++;
    }
    ck_assert_int_ge(taken, 8);
    sqlite3_free(p);
    ck_assert_ptr_nonnull(sqlite3_malloc(1 << 22));
    arena_use(&one);
}
END_TEST

static int count_rows(sqlite3 *db)
{
    sqlite3_stmt *s = NULL;
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT count(*) FROM t", -1, &s, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    int n = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return n;
}

/* A whole in-memory database goes back with the image, and blocks follow the same addresses. */
START_TEST(images_are_put_back)
{
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    sqlite3_exec(db, "CREATE TABLE t(x); INSERT INTO t VALUES (1)", NULL, NULL, NULL);
    struct arena_image early, late;
    arena_save(&one, &early);
    sqlite3_exec(db, "INSERT INTO t VALUES (2), (3)", NULL, NULL, NULL);
    arena_save(&one, &late);
    for (int i = 0; i < 50; i++) {
        arena_restore(&one, &early);
        ck_assert_uint_eq(one.used, early.used);
        ck_assert_int_eq(count_rows(db), 1);
        sqlite3_exec(db, "DROP TABLE t; VACUUM", NULL, NULL, NULL);
        arena_restore(&one, &late);
        ck_assert_int_eq(count_rows(db), 3);
    }
    arena_restore(&one, &early);
    void *first = sqlite3_malloc(100);
    arena_restore(&one, &early);
    ck_assert_ptr_eq(sqlite3_malloc(100), first);
    arena_restore(&one, &early);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
    arena_image_fini(&early);
    arena_image_fini(&late);
}
END_TEST

/* These end the program with status 3. */
START_TEST(free_in_another_arena)
{
    test_ends_the_program();
    void *p = sqlite3_malloc(100);
    arena_use(_i == 0 ? NULL : &two);
    sqlite3_free(p);
}
END_TEST

START_TEST(realloc_in_another_arena)
{
    test_ends_the_program();
    arena_use(NULL);
    void *p = sqlite3_malloc(100);
    arena_use(&one);
    (void)sqlite3_realloc(p, 1000);
}
END_TEST

START_TEST(free_twice)
{
    test_ends_the_program();
    void *p = sqlite3_malloc(100);
    sqlite3_free(p);
    sqlite3_free(p);
}
END_TEST

Suite *arena_suite(void)
{
    Suite *s = suite_create("arena");
    TCase *t = tcase_create("arena");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, install_twice);
    tcase_add_test(t, use_returns_the_one_before);
    tcase_add_test(t, blocks_of_every_size);
    tcase_add_test(t, realloc_keeps_the_bytes);
    tcase_add_test(t, end_of_the_arena_is_no_memory);
    tcase_add_test(t, images_are_put_back);
    tcase_add_loop_exit_test(t, free_in_another_arena, 3, 0, 2);
    tcase_add_exit_test(t, realloc_in_another_arena, 3);
    tcase_add_exit_test(t, free_twice, 3);
    suite_add_tcase(s, t);
    return s;
}
