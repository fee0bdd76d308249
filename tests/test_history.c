/* The history's hash: what it depends on, and what not. */
#include "sim/history.h"
#include "sim/rng.h"
#include "tests/suites.h"

#include <stdlib.h>
#include <string.h>

/* Around the borders of a block. */
static const uint32_t lengths[] = {
    0,
    1,
    2,
    100,
    HISTORY_BLOCK - 1,
    HISTORY_BLOCK,
    HISTORY_BLOCK + 1,
    2 * HISTORY_BLOCK,
    3 * HISTORY_BLOCK + 5,
};

static struct record *records_of(uint32_t n, uint64_t seed)
{
    struct record *r = sim_zalloc(n, sizeof(*r));
    for (uint32_t i = 0; i < n; i++) {
        uint64_t words[4] = {i, rng_next(&seed), rng_next(&seed), rng_next(&seed)};
        memcpy(&r[i], words, sizeof(r[i]));
    }
    return r;
}

static uint64_t hash_of(struct history *h, bool keep, const struct record *r, uint32_t n)
{
    history_reset(h, keep);
    for (uint32_t i = 0; i < n; i++) {
        history_add(h, &r[i]);
    }
    ck_assert_uint_eq(h->count, n);
    return history_hash(h);
}

START_TEST(the_hash_is_pinned)
{
    static const uint64_t pinned[ARRAY_LEN(lengths)] = {
        0x4dc5b0cc826f6703, 0x483f7b5e94ca9efa, 0x2ad12b9bc452bc11,
        0xd9da1f9faaafa4e3, 0x3d0329d453b7ac28, 0xff568172487a09bf,
        0xf3bfe787e4a358b7, 0x9e34d1bc0b8a9067, 0x48a4235253aa76a7};
    struct history h;
    history_init(&h);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct record *r = records_of(lengths[i], 9);
        uint64_t hash = hash_of(&h, false, r, lengths[i]);
        ck_assert_msg(hash == pinned[i], "length %zu: 0x%llx", i, (unsigned long long)hash);
        free(r);
    }
    history_fini(&h);
}
END_TEST

START_TEST(keeping_changes_nothing_and_keeps_all)
{
    struct history h;
    history_init(&h);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct record *r = records_of(lengths[i], i);
        uint64_t hash = hash_of(&h, false, r, lengths[i]);
        expect(hash_of(&h, true, r, lengths[i]) == hash);
        size_t count;
        const struct record *kept = history_records(&h, &count);
        expect(count == lengths[i]);
        expect(memcmp(kept, r, count * sizeof(*r)) == 0);
        expect(history_hash(&h) == hash);
        free(r);
    }
    history_fini(&h);
}
END_TEST

START_TEST(asking_on_the_way_changes_nothing)
{
    struct history h;
    history_init(&h);
    uint32_t n = 2 * HISTORY_BLOCK + 7;
    struct record *r = records_of(n, 1);
    uint64_t hash = hash_of(&h, false, r, n);
    uint64_t before = 0;
    history_reset(&h, true);
    for (uint32_t i = 0; i < n; i++) {
        history_add(&h, &r[i]);
        if (i % 97 == 0 || i % HISTORY_BLOCK < 3 || i % HISTORY_BLOCK > HISTORY_BLOCK - 3) {
            size_t count;
            expect(history_hash(&h) != before);
            before = history_hash(&h);
            expect(memcmp(&history_records(&h, &count)[i], &r[i], sizeof(*r)) == 0);
            expect(count == i + 1);
        }
    }
    ck_assert_uint_eq(history_hash(&h), hash);
    free(r);
    history_fini(&h);
}
END_TEST

START_TEST(every_byte_matters)
{
    struct history h;
    history_init(&h);
    for (size_t i = 1; i < ARRAY_LEN(lengths); i++) {
        uint32_t n = lengths[i];
        struct record *r = records_of(n, i);
        uint64_t hash = hash_of(&h, false, r, n);
        uint32_t where[] = {0, n / 2, n - 1, n > HISTORY_BLOCK ? HISTORY_BLOCK - 1 : 0};
        for (size_t w = 0; w < ARRAY_LEN(where); w++) {
            unsigned char *bytes = (unsigned char *)&r[where[w]];
            for (size_t b = 0; b < sizeof(*r); b++) {
                bytes[b] ^= 1;
                expect(hash_of(&h, false, r, n) != hash);
                bytes[b] ^= 1;
            }
        }
        expect(hash_of(&h, false, r, n - 1) != hash);
        expect(hash_of(&h, false, r, n) == hash);
        free(r);
    }
    history_fini(&h);
}
END_TEST

START_TEST(order_and_blank_records_matter)
{
    struct history h;
    history_init(&h);
    struct record pair[2] = {{.at = 1}, {.at = 2}};
    struct record swapped[2] = {{.at = 2}, {.at = 1}};
    ck_assert_uint_ne(hash_of(&h, false, pair, 2), hash_of(&h, false, swapped, 2));
    struct record *blank = sim_zalloc(HISTORY_BLOCK + 2, sizeof(*blank));
    uint64_t before = hash_of(&h, false, blank, 0);
    for (uint32_t n = 1; n < HISTORY_BLOCK + 2; n += n < 20 || n > HISTORY_BLOCK - 3 ? 1 : 50) {
        uint64_t hash = hash_of(&h, false, blank, n);
        expect(hash != before);
        before = hash;
    }
    free(blank);
    history_fini(&h);
}
END_TEST

START_TEST(records_that_were_not_kept_cannot_be_asked_for)
{
    test_ends_the_program();
    struct history h;
    history_init(&h);
    history_reset(&h, false);
    size_t count;
    history_records(&h, &count);
}
END_TEST

START_TEST(kinds_have_texts)
{
    static const enum record_kind kinds[] = {
#define X(name, text) name,
        RECORD_KINDS(X)
#undef X
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        for (size_t j = 0; j < i; j++) {
            ck_assert_str_ne(record_kind_text(kinds[i]), record_kind_text(kinds[j]));
        }
    }
    ck_assert_str_eq(record_kind_text(RECORD_SEND), "send");
    ck_assert_str_eq(record_kind_text((enum record_kind)200), "unknown");
}
END_TEST

Suite *history_suite(void)
{
    Suite *s = suite_create("history");
    TCase *t = tcase_create("history");
    tcase_add_test(t, the_hash_is_pinned);
    tcase_add_test(t, keeping_changes_nothing_and_keeps_all);
    tcase_add_test(t, asking_on_the_way_changes_nothing);
    tcase_add_test(t, every_byte_matters);
    tcase_add_test(t, order_and_blank_records_matter);
    tcase_add_exit_test(t, records_that_were_not_kept_cannot_be_asked_for, 3);
    tcase_add_test(t, kinds_have_texts);
    suite_add_tcase(s, t);
    return s;
}
