/* What SQLite makes of the disk: crashes at every operation, resets, full disks, copies.
 *
 * The facts about journal modes are known; they come out only if the model of unsynced state is
 * right, so these tests hold the model and not SQLite. disk_model_cases (test_disk_model.c) tests
 * the model and the locks one call at a time.
 */
#include "tests/disk_rig.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

void disk_model_cases(Suite *s);

#define POWERSAFE SQLITE_IOCAP_POWERSAFE_OVERWRITE
#define TRANSACTIONS 3

struct tally {
    size_t trials;
    size_t lost;    /* sound database without an acknowledged transaction */
    size_t corrupt; /* anything else than whole transactions in order */
    size_t differ;  /* kept and fresh connection disagree on a sound database */
};

/* One life: three transactions, death at operation `at`, restart, judgement. Returns how many
 * operations were unsynced at death. */
static size_t trial(struct rig *r, size_t at, enum crash_mode mode, size_t n, struct tally *t)
{
    rig_reset(r);
    r->crash_at = at;
    r->mode = mode;
    r->n = n;
    rig_run(r, 1, TRANSACTIONS);
    if (r->operations < at) {
        rig_crash(r);
    }
    size_t unsynced = r->unsynced;
    rig_restart(r);
    char fresh[RIG_TEXT], kept[RIG_TEXT], expected[RIG_TEXT];
    rig_read_fresh(r, fresh);
    rig_read(r->connections[0].db, kept);
    t->trials++;
    int m = 0;
    for (; m <= TRANSACTIONS; m++) {
        rig_expected(m, expected);
        if (strcmp(fresh, expected) == 0) {
            break;
        }
    }
    if (m > TRANSACTIONS || m > r->acknowledged + 1) {
        t->corrupt++;
        return unsynced;
    }
    t->lost += m < r->acknowledged;
    rig_run(r, m + 1, TRANSACTIONS + 1);
    t->differ += strcmp(kept, fresh) != 0;
    rig_read(r->connections[0].db, kept);
    rig_expected(TRANSACTIONS + 1, expected);
    t->differ += strcmp(kept, expected) != 0;
    return unsynced;
}

/* Every operation as crash point, every value of a power loss there. */
static void trials(const struct rig_setting *setting, struct tally *process, struct tally *power)
{
    struct rig r;
    rig_init(&r, setting);
    rig_run(&r, 1, TRANSACTIONS);
    ck_assert_int_eq(r.acknowledged, TRANSACTIONS);
    size_t operations = r.operations;
    *process = (struct tally){0};
    *power = (struct tally){0};
    for (size_t at = 1; at <= operations + 1; at++) {
        size_t unsynced = trial(&r, at, CRASH_PROCESS, 0, process);
        trial(&r, at, CRASH_NONE, 0, power);
        trial(&r, at, CRASH_ALL, 0, power);
        for (size_t n = 1; n <= unsynced; n++) {
            trial(&r, at, CRASH_FIRST, n, power);
            trial(&r, at, CRASH_ONLY, n, power);
            trial(&r, at, CRASH_ALL_BUT, n, power);
            trial(&r, at, CRASH_TORN, n, power);
        }
    }
    if (getenv("DISK_TALLY") != NULL) {
        printf("%-8s %-6s claims %4x lying %d connections %d: operations %zu trials %zu lost %zu "
               "corrupt %zu differ %zu\n",
               setting->journal, setting->synchronous, (unsigned)setting->claims, setting->lying,
               setting->connections, operations, power->trials, power->lost, power->corrupt,
               power->differ);
    }
    rig_fini(&r);
    /* A process crash loses nothing whatever is synced. */
    ck_assert_uint_eq(process->lost, 0);
    ck_assert_uint_eq(process->corrupt, 0);
    ck_assert_uint_eq(process->differ, 0);
}

static const struct rig_setting sound[] = {
    {"truncate", "full", POWERSAFE, false, 1}, {"persist", "full", POWERSAFE, false, 1},
    {"delete", "extra", POWERSAFE, false, 1},  {"wal", "full", POWERSAFE, false, 1},
    {"truncate", "full", POWERSAFE, false, 2}, {"wal", "full", POWERSAFE, false, 2},
};

START_TEST(sound_settings_lose_nothing)
{
    struct tally process, power;
    trials(&sound[_i], &process, &power);
    ck_assert_uint_gt(power.trials, 100);
    ck_assert_uint_eq(power.lost, 0);
    ck_assert_uint_eq(power.corrupt, 0);
    ck_assert_uint_eq(power.differ, 0);
}
END_TEST

static const struct {
    struct rig_setting setting;
    bool loses, corrupts;
} unsound[] = {
    {{"delete", "full", POWERSAFE, false, 1}, true, false},
    {{"wal", "normal", POWERSAFE, false, 1}, true, false},
    {{"truncate", "normal", POWERSAFE, false, 1}, true, true},
    {{"truncate", "full", POWERSAFE | SQLITE_IOCAP_SAFE_APPEND, false, 1}, false, true},
    {{"truncate", "full", POWERSAFE | SQLITE_IOCAP_SEQUENTIAL, false, 1}, false, true},
    {{"truncate", "full", POWERSAFE, true, 1}, true, true},
};

START_TEST(unsound_settings_are_caught)
{
    struct tally process, power;
    trials(&unsound[_i].setting, &process, &power);
    ck_assert(!unsound[_i].loses || power.lost > 0);
    ck_assert_int_eq(unsound[_i].corrupts, power.corrupt > 0);
    ck_assert_uint_eq(power.differ, 0);
}
END_TEST

/* Recovery writes too. Dies in it, at each of its operations, and starts once more. */
START_TEST(death_in_recovery_loses_nothing)
{
    struct rig r;
    rig_init(&r, &sound[_i]);
    rig_run(&r, 1, TRANSACTIONS);
    size_t operations = r.operations;
    size_t second_deaths = 0;
    for (size_t at = 1; at <= operations; at++) {
        for (size_t again = 1; again <= 12; again++) {
            rig_reset(&r);
            r.crash_at = at;
            r.mode = again % 2 ? CRASH_ALL : CRASH_PROCESS;
            rig_run(&r, 1, TRANSACTIONS);
            int acknowledged = r.acknowledged;
            rig_restart(&r);
            r.mode = again % 2 ? CRASH_NONE : CRASH_ONLY;
            r.n = 1;
            r.crash_at = r.operations + (again + 1) / 2;
            char text[RIG_TEXT], expected[RIG_TEXT];
            rig_read(r.connections[0].db, text);
            second_deaths += r.operations >= r.crash_at;
            rig_restart(&r);
            rig_read(r.connections[0].db, text);
            rig_expected(acknowledged, expected);
            if (strcmp(text, expected) != 0) {
                rig_expected(acknowledged + 1, expected);
                ck_assert_str_eq(text, expected);
            }
        }
    }
    /* The WAL is read, not written, in recovery. */
    ck_assert(second_deaths > 0 || strcmp(sound[_i].journal, "wal") == 0);
    rig_fini(&r);
}
END_TEST

struct reading {
    uint64_t bytes, sequence;
    size_t operations;
    char text[RIG_TEXT];
};

static struct reading play(struct rig *r)
{
    struct reading now;
    rig_reset(r);
    rig_run(r, 1, TRANSACTIONS);
    now.bytes = rig_bytes_hash(r);
    now.sequence = r->sequence;
    now.operations = r->operations;
    rig_read_fresh(r, now.text);
    return now;
}

static void same(const struct reading *a, const struct reading *b)
{
    ck_assert_uint_eq(a->bytes, b->bytes);
    ck_assert_uint_eq(a->sequence, b->sequence);
    ck_assert_uint_eq(a->operations, b->operations);
    ck_assert_str_eq(a->text, b->text);
}

START_TEST(reset_forgets_every_run)
{
    struct rig r;
    rig_init(&r, &sound[_i]);
    const struct reading first = play(&r);
    for (int commits = 0; commits <= 200; commits = commits * 3 + 1) {
        rig_reset(&r);
        rig_run(&r, 1000, 1000 + commits - 1);
        ck_assert_int_eq(r.acknowledged, commits);
        const struct reading again = play(&r);
        same(&first, &again);
    }
    for (size_t run = 0; run < 1000; run++) {
        rig_reset(&r);
        r.crash_at = run % (first.operations + 2);
        r.mode = run % 3 ? CRASH_FIRST : CRASH_PROCESS;
        r.n = run % 5;
        rig_run(&r, 1, TRANSACTIONS + (int)(run % 4));
    }
    const struct reading again = play(&r);
    same(&first, &again);
    /* An image that is not tracked any more must serve as well. */
    struct disk_image *other = disk_save(r.disk);
    const struct reading untracked = play(&r);
    same(&first, &untracked);
    disk_restore(r.disk, other);
    ck_assert_uint_eq(rig_bytes_hash(&r), first.bytes);
    disk_image_free(other);
    const struct reading last = play(&r);
    same(&first, &last);
    rig_fini(&r);
}
END_TEST

/* The other way of design: no arena put back, but caches dropped on the living connections. */
START_TEST(kept_connections_need_only_empty_caches)
{
    struct rig r;
    rig_init(&r, &sound[_i]);
    const struct reading first = play(&r);
    for (size_t at = 1; at <= first.operations; at++) {
        rig_reset(&r);
        r.crash_at = at;
        r.mode = CRASH_NONE;
        rig_run(&r, 1, TRANSACTIONS);
        for (int back = 0; back < 2; back++) {
            if (back) {
                disk_refuse(r.disk, true);
                for (int i = 0; i < r.setting.connections; i++) {
                    rig_sql(r.connections[i].db, "ROLLBACK");
                }
                disk_restore(r.disk, r.world);
                sqlite3_randomness(0, NULL);
            }
            disk_refuse(r.disk, false);
            for (int i = 0; i < r.setting.connections; i++) {
                sqlite3_file_control(r.connections[i].db, "main", SQLITE_FCNTL_RESET_CACHE, NULL);
            }
            char fresh[RIG_TEXT], kept[RIG_TEXT];
            rig_read_fresh(&r, fresh);
            for (int i = 0; i < r.setting.connections; i++) {
                rig_read(r.connections[i].db, kept);
                ck_assert_str_eq(kept, fresh);
            }
        }
        r.sequence = 0;
        rig_run(&r, 1, TRANSACTIONS);
        ck_assert_uint_eq(r.sequence, first.sequence);
    }
    rig_fini(&r);
}
END_TEST

START_TEST(committed_is_synced)
{
    struct rig r;
    rig_init(&r, &sound[0]);
    rig_run(&r, 1, 1);
    ck_assert_int_eq(r.acknowledged, 1);
    ck_assert_uint_eq(disk_unsynced(r.disk), 0);
    struct disk_counters counters = disk_counters(r.disk);
    ck_assert_uint_gt(counters.writes, 0);
    ck_assert_uint_gt(counters.syncs, 0);
    rig_fini(&r);
}
END_TEST

START_TEST(full_disk_is_survived)
{
    struct rig r;
    rig_init(&r, &sound[_i]);
    rig_run(&r, 1, 1);
    disk_full(r.disk, true);
    sqlite3 *db = r.connections[0].db;
    int rc = rig_sql(db, "BEGIN IMMEDIATE; INSERT INTO processed VALUES ('x');"
                         "INSERT INTO ledger VALUES ('x', 1); COMMIT");
    ck_assert_int_eq(rc, SQLITE_FULL);
    rig_sql(db, "ROLLBACK");
    disk_full(r.disk, false);
    char text[RIG_TEXT], expected[RIG_TEXT];
    rig_expected(1, expected);
    rig_read(db, text);
    ck_assert_str_eq(text, expected);
    rig_run(&r, 2, 3);
    ck_assert_int_eq(r.acknowledged, 3);
    rig_expected(3, expected);
    rig_read_fresh(&r, text);
    ck_assert_str_eq(text, expected);
    rig_fini(&r);
}
END_TEST

/* In the middle of a commit the database file holds half of it and the journal the rest. */
START_TEST(copy_reads_through_a_hot_journal)
{
    struct rig r;
    rig_init(&r, &sound[0]);
    rig_run(&r, 1, 1);
    const size_t operations = r.operations; /* as many for the second */
    size_t partial = 0;
    const uint64_t before = rig_bytes_hash(&r);
    for (size_t at = operations + 1; at <= 2 * operations; at++) {
        rig_reset(&r);
        rig_run(&r, 1, 1);
        ck_assert_uint_eq(rig_bytes_hash(&r), before);
        r.crash_at = at;
        r.mode = CRASH_PROCESS;
        rig_run(&r, 2, 2);
        disk_refuse(r.disk, false);
        const uint64_t bytes = rig_bytes_hash(&r);
        disk_refuse(r.disk, true);
        char text[RIG_TEXT], expected[RIG_TEXT];
        /* The transaction counts once the journal is cut; one sync follows. */
        rig_expected(at == 2 * operations ? 2 : 1, expected);
        rig_read_fresh(&r, text);
        ck_assert_str_eq(text, expected);
        disk_refuse(r.disk, false);
        ck_assert_uint_eq(rig_bytes_hash(&r), bytes);
        partial += bytes != before;
    }
    ck_assert_uint_gt(partial, 5);
    rig_fini(&r);
}
END_TEST

/* Nobody syncs: the log must stay bounded, and what is old counts as written back. */
START_TEST(unsynced_operations_are_bounded)
{
    struct rig_setting setting = {"truncate", "off", POWERSAFE, false, 1};
    struct rig r;
    rig_init(&r, &setting);
    rig_run(&r, 1, 4000);
    ck_assert_int_eq(r.acknowledged, 4000);
    ck_assert_uint_gt(r.operations, 40000);
    ck_assert_uint_le(disk_unsynced(r.disk), 16384);
    ck_assert_uint_lt(disk_bytes(r.disk), (size_t)256 << 20);
    r.mode = CRASH_ALL;
    rig_crash(&r);
    rig_restart(&r);
    char text[RIG_TEXT];
    rig_read_fresh(&r, text);
    ck_assert_ptr_eq(strstr(text, " ok ids 1 10"), text);
    rig_fini(&r);
}
END_TEST

Suite *disk_suite(void)
{
    const int all = (int)ARRAY_LEN(sound);
    Suite *s = suite_create("disk");
    TCase *t = tcase_create("crash");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, sound_settings_lose_nothing, 0, all);
    tcase_add_loop_test(t, unsound_settings_are_caught, 0, (int)ARRAY_LEN(unsound));
    tcase_add_loop_test(t, death_in_recovery_loses_nothing, 0, all);
    suite_add_tcase(s, t);
    t = tcase_create("reset");
    tcase_set_timeout(t, 600);
    tcase_add_loop_test(t, reset_forgets_every_run, 0, all);
    tcase_add_loop_test(t, kept_connections_need_only_empty_caches, 0, all);
    suite_add_tcase(s, t);
    t = tcase_create("whole");
    tcase_set_timeout(t, 600);
    tcase_add_test(t, committed_is_synced);
    tcase_add_loop_test(t, full_disk_is_survived, 0, all);
    tcase_add_test(t, copy_reads_through_a_hot_journal);
    tcase_add_test(t, unsynced_operations_are_bounded);
    suite_add_tcase(s, t);
    disk_model_cases(s);
    return s;
}
