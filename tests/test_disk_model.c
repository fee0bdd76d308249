/* The disk one call at a time: what a power loss leaves of given operations, and locks.
 *
 * Everything goes through the VFS, as SQLite would call it. Contents are read back as text, one
 * letter for each run of equal letters with its length: "A512 B1024"; "-" is no file.
 */
#include "tests/disk_rig.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

void disk_model_cases(Suite *s);

struct handle {
    sqlite3_file *file;
    _Alignas(8) unsigned char space[128];
};

static struct disk *disk;
static sqlite3_vfs *vfs;

static void setup(void)
{
    must(arena_install() == SIM_OK);
    disk = disk_new("model", NULL);
    vfs = sqlite3_vfs_find("model");
}

static void teardown(void)
{
    disk_free(disk);
}

static sqlite3_file *open_at(struct handle *h, const char *name)
{
    h->file = (sqlite3_file *)(void *)h->space;
    ck_assert_uint_le((size_t)vfs->szOsFile, sizeof(h->space));
    int rc = vfs->xOpen(vfs, name, h->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    ck_assert_int_eq(rc, SQLITE_OK);
    return h->file;
}

static void put(sqlite3_file *f, char letter, int len, sqlite3_int64 offset)
{
    char bytes[8192];
    must((size_t)len <= sizeof(bytes));
    memset(bytes, letter, (size_t)len);
    expect(f->pMethods->xWrite(f, bytes, len, offset) == SQLITE_OK);
}

static void sync_file(sqlite3_file *f)
{
    ck_assert_int_eq(f->pMethods->xSync(f, SQLITE_SYNC_NORMAL), SQLITE_OK);
}

static const char *content(const char *name)
{
    static char text[256];
    struct handle h = {.file = (sqlite3_file *)(void *)h.space};
    if (vfs->xOpen(vfs, name, h.file, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        return "-";
    }
    sqlite3_int64 size = 0;
    ck_assert_int_eq(h.file->pMethods->xFileSize(h.file, &size), SQLITE_OK);
    text[0] = '\0';
    char last = 0;
    sqlite3_int64 run = 0;
    for (sqlite3_int64 i = 0; i <= size; i++) {
        char c = 0;
        int rc = h.file->pMethods->xRead(h.file, &c, 1, i);
        expect(rc == (i < size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ));
        if (i == size || (i > 0 && c != last)) {
            size_t used = strlen(text);
            if (run > 0) {
                snprintf(text + used, sizeof(text) - used, "%s%c%d", used ? " " : "",
                         last ? last : '0', (int)run);
            }
            run = 0;
        }
        last = c;
        run++;
    }
    return text;
}

static void power_loss(enum crash_mode mode, size_t n)
{
    disk_crash(disk, mode, n);
    struct handle h = {.file = (sqlite3_file *)(void *)h.space};
    ck_assert_int_eq(vfs->xOpen(vfs, "db", h.file, SQLITE_OPEN_READWRITE, NULL), SQLITE_CANTOPEN);
    ck_assert_uint_eq(disk_unsynced(disk), 0);
    disk_refuse(disk, false);
}

struct outcome {
    enum crash_mode mode;
    size_t n;
    const char *db, *journal;
};

/* Plays the operations anew for each outcome. */
static void check_outcomes(void (*play)(void), size_t unsynced, const struct outcome *o, size_t n)
{
    struct disk_image *empty = disk_save(disk);
    for (size_t i = 0; i < n; i++) {
        disk_restore(disk, empty);
        play();
        ck_assert_uint_eq(disk_unsynced(disk), unsynced);
        power_loss(o[i].mode, o[i].n);
        ck_assert_msg(strcmp(content("db"), o[i].db) == 0, "%s %zu: db %s",
                      crash_mode_text(o[i].mode), o[i].n, content("db"));
        ck_assert_msg(strcmp(content("db-journal"), o[i].journal) == 0, "%s %zu: journal %s",
                      crash_mode_text(o[i].mode), o[i].n, content("db-journal"));
    }
    disk_image_free(empty);
}

static void play_writes(void)
{
    struct handle h;
    sqlite3_file *f = open_at(&h, "db");
    put(f, 'A', 2048, 0);
    sync_file(f);
    put(f, 'B', 1536, 256); /* spans four sectors */
    put(f, 'C', 1024, 4096);
    put(f, 'D', 4, 0);
}

START_TEST(writes_survive_one_by_one)
{
    static const struct outcome outcomes[] = {
        {CRASH_PROCESS, 0, "D4 A252 B1536 A256 02048 C1024", "-"},
        {CRASH_ALL, 0, "D4 A252 B1536 A256 02048 C1024", "-"},
        {CRASH_NONE, 0, "A2048", "-"},
        {CRASH_FIRST, 0, "A2048", "-"},
        {CRASH_FIRST, 1, "A256 B1536 A256", "-"},
        {CRASH_FIRST, 2, "A256 B1536 A256 02048 C1024", "-"},
        {CRASH_FIRST, 9, "D4 A252 B1536 A256 02048 C1024", "-"},
        {CRASH_ONLY, 2, "A2048 02048 C1024", "-"},
        {CRASH_ONLY, 3, "D4 A2044", "-"},
        {CRASH_ALL_BUT, 1, "D4 A2044 02048 C1024", "-"},
        {CRASH_ALL_BUT, 2, "D4 A252 B1536 A256", "-"},
        {CRASH_TORN, 1, "A256 B768 A1024", "-"},
        {CRASH_TORN, 2, "A256 B1536 A256 02048 C512", "-"},
        {CRASH_TORN, 3, "A256 B1536 A256 02048 C1024", "-"},
    };
    check_outcomes(play_writes, 3, outcomes, ARRAY_LEN(outcomes));
}
END_TEST

static void play_truncations(void)
{
    struct handle h;
    sqlite3_file *f = open_at(&h, "db");
    put(f, 'A', 2048, 0);
    sync_file(f);
    ck_assert_int_eq(f->pMethods->xTruncate(f, 512), SQLITE_OK);
    put(f, 'B', 512, 1024);
    ck_assert_int_eq(f->pMethods->xTruncate(f, 0), SQLITE_OK);
    put(f, 'C', 512, 0);
}

START_TEST(truncated_bytes_come_back)
{
    static const struct outcome outcomes[] = {
        {CRASH_ALL, 0, "C512", "-"},
        {CRASH_NONE, 0, "A2048", "-"},
        {CRASH_FIRST, 1, "A512", "-"},
        {CRASH_FIRST, 2, "A512 0512 B512", "-"},
        {CRASH_FIRST, 3, "", "-"},
        {CRASH_ONLY, 1, "A512", "-"},
        {CRASH_ONLY, 2, "A1024 B512 A512", "-"},
        {CRASH_ONLY, 4, "C512 A1536", "-"},
        {CRASH_ALL_BUT, 1, "C512", "-"},
        {CRASH_ALL_BUT, 3, "C512 0512 B512", "-"},
        {CRASH_TORN, 3, "A512 0512 B512", "-"},
    };
    check_outcomes(play_truncations, 4, outcomes, ARRAY_LEN(outcomes));
}
END_TEST

static void play_unlink(void)
{
    struct handle h, other;
    sqlite3_file *db = open_at(&other, "db");
    sqlite3_file *f = open_at(&h, "db-journal");
    sync_file(db);
    put(f, 'X', 1024, 0);
    sync_file(f);
    put(f, 'W', 512, 0);
    ck_assert_int_eq(vfs->xDelete(vfs, "db-journal", 0), SQLITE_OK);
    f = open_at(&h, "db-journal");
    put(f, 'Y', 512, 0);
}

START_TEST(lost_unlink_brings_the_old_file_back)
{
    static const struct outcome outcomes[] = {
        {CRASH_ALL, 0, "", "Y512"},
        {CRASH_NONE, 0, "", "X1024"},
        {CRASH_FIRST, 1, "", "W512 X512"},
        {CRASH_FIRST, 2, "", "-"},
        {CRASH_FIRST, 3, "", ""},
        {CRASH_FIRST, 4, "", "Y512"},
        {CRASH_ONLY, 2, "", "-"},
        /* Directory operations survive as a prefix: not without the unlink before. */
        {CRASH_ONLY, 3, "", "X1024"},
        {CRASH_ONLY, 4, "", "X1024"},
        {CRASH_ALL_BUT, 1, "", "Y512"},
        {CRASH_ALL_BUT, 2, "", "W512 X512"},
        {CRASH_ALL_BUT, 3, "", "-"},
        {CRASH_TORN, 2, "", "W512 X512"},
        {CRASH_TORN, 3, "", "-"},
        {CRASH_TORN, 4, "", ""},
    };
    check_outcomes(play_unlink, 4, outcomes, ARRAY_LEN(outcomes));
}
END_TEST

START_TEST(sync_hardens_the_names_before_its_own)
{
    struct handle h, wal;
    play_unlink();
    sync_file(open_at(&h, "db-journal"));
    ck_assert_uint_eq(disk_unsynced(disk), 0);
    ck_assert_int_eq(vfs->xDelete(vfs, "db-journal", 0), SQLITE_OK);
    sync_file(open_at(&wal, "db-wal"));
    ck_assert_uint_eq(disk_unsynced(disk), 0);
    power_loss(CRASH_NONE, 0);
    ck_assert_str_eq(content("db-journal"), "-");
    ck_assert_str_eq(content("db-wal"), "");
    /* A file that has its name already hardens no other's. */
    open_at(&h, "db-journal");
    sync_file(open_at(&wal, "db-wal"));
    ck_assert_uint_eq(disk_unsynced(disk), 1);
    ck_assert_int_eq(vfs->xDelete(vfs, "db-wal", 1), SQLITE_OK);
    ck_assert_uint_eq(disk_unsynced(disk), 0);
    power_loss(CRASH_NONE, 0);
    ck_assert_str_eq(content("db-journal"), "");
    ck_assert_str_eq(content("db-wal"), "-");
    ck_assert_int_eq(vfs->xDelete(vfs, "db-wal", 0), SQLITE_IOERR_DELETE_NOENT);
}
END_TEST

/* An unlinked file's late writes must not touch the one that has its name now. */
START_TEST(an_older_generation_is_dead)
{
    struct handle h, wal;
    sqlite3_file *f = open_at(&h, "db-journal");
    sync_file(f);
    put(f, 'X', 1024, 0);
    ck_assert_int_eq(vfs->xDelete(vfs, "db-journal", 0), SQLITE_OK);
    f = open_at(&h, "db-journal");
    put(f, 'Y', 512, 0);
    sync_file(open_at(&wal, "db-wal"));
    put(f, 'Z', 512, 512);
    ck_assert_uint_eq(disk_unsynced(disk), 3);
    power_loss(CRASH_ALL_BUT, 2);
    ck_assert_str_eq(content("db-journal"), "0512 Z512");
}
END_TEST

START_TEST(lying_disk_hardens_nothing)
{
    struct handle h;
    disk_lie(disk, true);
    sqlite3_file *f = open_at(&h, "db");
    put(f, 'A', 512, 0);
    sync_file(f);
    ck_assert_uint_eq(disk_unsynced(disk), 2);
    power_loss(CRASH_NONE, 0);
    ck_assert_str_eq(content("db"), "-");
}
END_TEST

START_TEST(unknown_names_and_refusal)
{
    struct handle h = {.file = (sqlite3_file *)(void *)h.space};
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    ck_assert_int_eq(vfs->xOpen(vfs, "db2", h.file, flags, NULL), SQLITE_CANTOPEN);
    ck_assert_int_eq(vfs->xOpen(vfs, NULL, h.file, flags, NULL), SQLITE_CANTOPEN);
    sqlite3_file *f = open_at(&h, "db");
    put(f, 'A', 512, 0);
    disk_refuse(disk, true);
    char byte = 0;
    sqlite3_int64 size;
    int there;
    ck_assert_int_eq(f->pMethods->xRead(f, &byte, 1, 0) & 0xff, SQLITE_IOERR);
    ck_assert_int_eq(f->pMethods->xWrite(f, &byte, 1, 0) & 0xff, SQLITE_IOERR);
    ck_assert_int_eq(f->pMethods->xTruncate(f, 0) & 0xff, SQLITE_IOERR);
    ck_assert_int_eq(f->pMethods->xSync(f, 0) & 0xff, SQLITE_IOERR);
    ck_assert_int_eq(f->pMethods->xFileSize(f, &size) & 0xff, SQLITE_IOERR);
    ck_assert_int_eq(f->pMethods->xLock(f, SQLITE_LOCK_SHARED) & 0xff, SQLITE_IOERR);
    ck_assert_int_eq(vfs->xAccess(vfs, "db", 0, &there) & 0xff, SQLITE_IOERR);
    ck_assert_int_eq(vfs->xDelete(vfs, "db", 0) & 0xff, SQLITE_IOERR);
    disk_refuse(disk, false);
    ck_assert_str_eq(content("db"), "A512");
    disk_full(disk, true);
    ck_assert_int_eq(f->pMethods->xWrite(f, &byte, 1, 0), SQLITE_FULL);
    ck_assert_int_eq(f->pMethods->xTruncate(f, 1024), SQLITE_FULL);
    ck_assert_int_eq(f->pMethods->xTruncate(f, 256), SQLITE_OK);
}
END_TEST

/* Far beyond the first capacity, past the image, and back. */
START_TEST(large_files_grow_and_come_back)
{
    struct handle h;
    sqlite3_file *f = open_at(&h, "db");
    put(f, 'A', 3000, 0);
    sync_file(f);
    struct disk_image *image = disk_save(disk);
    for (int i = 0; i < 20000; i++) {
        put(f, 'B', 4096, (sqlite3_int64)i * 4096 + 1000);
        if (i % 16 == 0) {
            sync_file(f);
        }
    }
    ck_assert_uint_gt(disk_bytes(disk), (size_t)80000000);
    disk_restore(disk, image);
    ck_assert_str_eq(content("db"), "A3000");
    ck_assert_int_eq(f->pMethods->xTruncate(f, 2000), SQLITE_OK);
    put(f, 'C', 10, 2990);
    disk_restore(disk, image);
    ck_assert_str_eq(content("db"), "A3000");
    disk_image_free(image);
}
END_TEST

#define LOCK(f, level) (f)->pMethods->xLock((f), SQLITE_LOCK_##level)
#define UNLOCK(f, level) (f)->pMethods->xUnlock((f), SQLITE_LOCK_##level)

START_TEST(file_locks)
{
    struct handle ha, hb, hc;
    sqlite3_file *a = open_at(&ha, "db");
    sqlite3_file *b = open_at(&hb, "db");
    sqlite3_file *c = open_at(&hc, "db");
    int reserved = -1;
    ck_assert_int_eq(LOCK(a, SHARED), SQLITE_OK);
    ck_assert_int_eq(LOCK(b, SHARED), SQLITE_OK);
    ck_assert_int_eq(LOCK(a, RESERVED), SQLITE_OK);
    ck_assert_int_eq(LOCK(b, RESERVED), SQLITE_BUSY);
    ck_assert_int_eq(LOCK(b, EXCLUSIVE), SQLITE_BUSY);
    ck_assert_int_eq(b->pMethods->xCheckReservedLock(b, &reserved), SQLITE_OK);
    ck_assert_int_eq(reserved, 1);
    ck_assert_int_eq(LOCK(c, SHARED), SQLITE_OK);
    UNLOCK(c, NONE);
    ck_assert_int_eq(LOCK(a, EXCLUSIVE), SQLITE_BUSY); /* and holds PENDING now */
    ck_assert_int_eq(LOCK(c, SHARED), SQLITE_BUSY);
    UNLOCK(b, NONE);
    ck_assert_int_eq(LOCK(a, EXCLUSIVE), SQLITE_OK);
    ck_assert_int_eq(LOCK(b, SHARED), SQLITE_BUSY);
    UNLOCK(a, SHARED);
    ck_assert_int_eq(LOCK(b, SHARED), SQLITE_OK);
    ck_assert_int_eq(LOCK(b, RESERVED), SQLITE_OK);
    b->pMethods->xClose(b);
    ck_assert_int_eq(a->pMethods->xCheckReservedLock(a, &reserved), SQLITE_OK);
    ck_assert_int_eq(reserved, 0);
    ck_assert_int_eq(LOCK(a, EXCLUSIVE), SQLITE_OK); /* a hot journal: straight from SHARED */
    power_loss(CRASH_PROCESS, 0);
    ck_assert_int_eq(LOCK(c, SHARED), SQLITE_OK);
    ck_assert_int_eq(LOCK(c, EXCLUSIVE), SQLITE_OK);
    UNLOCK(a, NONE); /* the dead process's lock is void */
    ck_assert_int_eq(LOCK(a, SHARED), SQLITE_BUSY);
}
END_TEST

#define SHM(f, slot, n, what, mode)                                                                \
    (f)->pMethods->xShmLock((f), (slot), (n), SQLITE_SHM_##what | SQLITE_SHM_##mode)

START_TEST(wal_index_locks)
{
    struct handle ha, hb;
    sqlite3_file *a = open_at(&ha, "db");
    sqlite3_file *b = open_at(&hb, "db");
    void volatile *map_a, *map_b;
    ck_assert_int_eq(a->pMethods->xShmMap(a, 0, 32768, 0, &map_a), SQLITE_OK);
    ck_assert(map_a == NULL);
    ck_assert_int_eq(a->pMethods->xShmMap(a, 0, 32768, 1, &map_a), SQLITE_OK);
    ck_assert_int_eq(b->pMethods->xShmMap(b, 0, 32768, 0, &map_b), SQLITE_OK);
    ck_assert_ptr_eq((void *)map_a, (void *)map_b);
    ck_assert_int_eq(SHM(a, 3, 1, LOCK, SHARED), SQLITE_OK);
    ck_assert_int_eq(SHM(b, 3, 1, LOCK, SHARED), SQLITE_OK);
    ck_assert_int_eq(SHM(a, 2, 3, LOCK, EXCLUSIVE), SQLITE_BUSY);
    ck_assert_int_eq(SHM(b, 3, 1, UNLOCK, SHARED), SQLITE_OK);
    ck_assert_int_eq(SHM(b, 0, 1, LOCK, EXCLUSIVE), SQLITE_OK);
    ck_assert_int_eq(SHM(a, 0, 1, LOCK, SHARED), SQLITE_BUSY);
    ck_assert_int_eq(SHM(a, 0, 1, LOCK, EXCLUSIVE), SQLITE_BUSY);
    *(volatile unsigned char *)map_b = 7;
    void volatile *again;
    ck_assert_int_eq(a->pMethods->xShmMap(a, 40, 32768, 1, &again), SQLITE_OK);
    ck_assert_int_eq(*(volatile unsigned char *)map_a, 7);
    ck_assert_int_eq(b->pMethods->xShmUnmap(b, 0), SQLITE_OK);
    ck_assert_int_eq(*(volatile unsigned char *)map_a, 7);
    ck_assert_int_eq(SHM(a, 0, 1, LOCK, EXCLUSIVE), SQLITE_OK);
    ck_assert_int_eq(a->pMethods->xShmUnmap(a, 0), SQLITE_OK);
    ck_assert_int_eq(*(volatile unsigned char *)map_a, 0); /* died with its last user */
    ck_assert_int_eq(SHM(b, 0, 1, LOCK, EXCLUSIVE), SQLITE_OK);
    *(volatile unsigned char *)map_b = 7;
    power_loss(CRASH_PROCESS, 0);
    ck_assert_int_eq(*(volatile unsigned char *)map_a, 0);
    ck_assert_int_eq(SHM(a, 0, 8, LOCK, EXCLUSIVE), SQLITE_OK);
}
END_TEST

static int count_busy(void *context, int times)
{
    (void)times;
    ++*(int *)context;
    return 0;
}

/* Two connections as SQLite locks them, rollback journal (0) and WAL (1). */
START_TEST(connections_lock_each_other_out)
{
    const bool wal = _i == 1;
    struct rig_setting setting = {wal ? "wal" : "truncate", "full",
                                  SQLITE_IOCAP_POWERSAFE_OVERWRITE, false, 2};
    struct rig r;
    rig_init(&r, &setting);
    sqlite3 *a = r.connections[0].db;
    sqlite3 *b = r.connections[1].db;
    int calls = 0;
    sqlite3_busy_handler(a, count_busy, &calls);
    sqlite3_busy_handler(b, count_busy, &calls);
    ck_assert_int_eq(rig_sql(a, "BEGIN IMMEDIATE; INSERT INTO processed VALUES ('a')"), SQLITE_OK);
    ck_assert_int_eq(rig_sql(b, "BEGIN IMMEDIATE"), SQLITE_BUSY);
    ck_assert_int_eq(calls, 1);
    ck_assert_int_eq(rig_sql(b, "SELECT * FROM processed"), SQLITE_OK);
    ck_assert_int_eq(rig_sql(a, "COMMIT"), SQLITE_OK);
    ck_assert_int_eq(rig_sql(b, "BEGIN IMMEDIATE; ROLLBACK"), SQLITE_OK);
    /* Both read, then both want to write: the second is told at once, waiting would be in vain. */
    calls = 0;
    ck_assert_int_eq(rig_sql(a, "BEGIN; SELECT * FROM processed"), SQLITE_OK);
    ck_assert_int_eq(rig_sql(b, "BEGIN; SELECT * FROM processed"), SQLITE_OK);
    ck_assert_int_eq(rig_sql(a, "INSERT INTO processed VALUES ('a2')"), SQLITE_OK);
    ck_assert_int_eq(rig_sql(b, "INSERT INTO processed VALUES ('b')"), SQLITE_BUSY);
    ck_assert_int_eq(calls, 0);
    if (wal) {
        ck_assert_int_eq(rig_sql(a, "COMMIT"), SQLITE_OK);
        ck_assert_int_eq(rig_sql(b, "INSERT INTO processed VALUES ('b')"), SQLITE_BUSY);
        ck_assert_int_eq(sqlite3_extended_errcode(b), SQLITE_BUSY_SNAPSHOT);
        ck_assert_int_eq(calls, 0);
    } else {
        ck_assert_int_eq(rig_sql(a, "COMMIT"), SQLITE_BUSY);
        ck_assert_int_eq(calls, 1);
    }
    ck_assert_int_eq(rig_sql(b, "ROLLBACK"), SQLITE_OK);
    if (!wal) {
        ck_assert_int_eq(rig_sql(a, "COMMIT"), SQLITE_OK);
    }
    ck_assert_int_eq(rig_sql(b, "INSERT INTO processed VALUES ('b')"), SQLITE_OK);
    char one[RIG_TEXT], two[RIG_TEXT];
    rig_read(a, one);
    rig_read(b, two);
    ck_assert_str_eq(one, " ok ids a a2 b account 0 ledger");
    ck_assert_str_eq(two, one);
    rig_fini(&r);
}
END_TEST

static uint64_t thousand_seconds(void *context)
{
    (void)context;
    return 1000 * SIM_S + 5 * SIM_MS;
}

START_TEST(clock_and_randomness_are_the_hosts)
{
    struct disk_hooks hooks = {.now = thousand_seconds};
    struct disk *d = disk_new("clock", &hooks);
    disk_make_default(d);
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    sqlite3_stmt *s = NULL;
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')", -1, &s, NULL),
        SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
    ck_assert_str_eq((const char *)sqlite3_column_text(s, 0), "1970-01-01 00:16:40.005");
    sqlite3_finalize(s);
    sqlite3_close(db);
    unsigned char first[64], again[64];
    sqlite3_randomness(0, NULL);
    sqlite3_randomness(sizeof(first), first);
    sqlite3_randomness(7, again);
    sqlite3_randomness(0, NULL);
    sqlite3_randomness(sizeof(again), again);
    ck_assert_mem_eq(first, again, sizeof(first));
    disk_free(d);
}
END_TEST

void disk_model_cases(Suite *s)
{
    TCase *t = tcase_create("model");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, writes_survive_one_by_one);
    tcase_add_test(t, truncated_bytes_come_back);
    tcase_add_test(t, lost_unlink_brings_the_old_file_back);
    tcase_add_test(t, sync_hardens_the_names_before_its_own);
    tcase_add_test(t, an_older_generation_is_dead);
    tcase_add_test(t, lying_disk_hardens_nothing);
    tcase_add_test(t, unknown_names_and_refusal);
    tcase_add_test(t, large_files_grow_and_come_back);
    tcase_add_test(t, file_locks);
    tcase_add_test(t, wal_index_locks);
    tcase_add_test(t, clock_and_randomness_are_the_hosts);
    suite_add_tcase(s, t);
    t = tcase_create("locks");
    tcase_add_loop_test(t, connections_lock_each_other_out, 0, 2);
    suite_add_tcase(s, t);
}
