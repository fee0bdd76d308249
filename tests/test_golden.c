/* Golden histories: every line of every scenario that lists its messages, on each of its receivers,
 * seed 1, byte for byte; of the random ones hash and counts. `make bless` writes them anew, and the
 * diff is reviewed. They pin what a history holds (HISTORY_EPOCH), on any compiler. */
#include "tests/suites.h"

#include "reports/record.h"
#include "sim/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void write_run(FILE *out, struct world *w, const struct result *r)
{
    const struct scenario *s = r->scenario;
    fprintf(out, "== %s on %s: %s\n", s->name, r->receiver->name, verdict_text(r->verdict));
    bool listed = s->senders[0].workload.count == 0;
    size_t count;
    const struct record *records = world_history(w, &count);
    for (size_t i = 0; listed && i < count; i++) {
        char line[RECORD_TEXT];
        fprintf(out, "%s\n", record_text(s, &records[i], line));
    }
    fprintf(out,
            "%016" PRIx64 " records %" PRIu64 " attempts %" PRIu64 " deliveries %" PRIu64
            " effects %" PRIu64 "\n",
            r->history_hash, r->history_count, r->attempts, r->deliveries, r->effects);
}

static char *play_all(const struct scenario *s, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    for (size_t i = 0; i < s->receiver_count; i++) {
        enum sim_error e;
        struct world *w = world_new(s, i, stderr, &e);
        struct result r;
        ck_assert_ptr_nonnull(w);
        world_play(w, &(struct play){.seed = 1, .keep_history = true}, &r);
        write_run(out, w, &r);
        result_fini(&r);
        world_free(w);
    }
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

static char *read_file(const char *path, size_t *size)
{
    char *text = NULL;
    char chunk[4096];
    size_t n;
    FILE *in = fopen(path, "rb");
    FILE *out = open_memstream(&text, size);
    while (in && (n = fread(chunk, 1, sizeof(chunk), in)) > 0) {
        fwrite(chunk, 1, n, out);
    }
    fclose(out);
    if (in) {
        fclose(in);
    }
    return text;
}

/* scenarios/seed/lost-reply.yaml -> tests/golden/seed-lost-reply.txt */
static void golden_path(const struct scenario *s, char *out, size_t size)
{
    const char *from = s->file + strlen("scenarios/");
    snprintf(out, size, "tests/golden/%.*s.txt", (int)(strlen(from) - strlen(".yaml")), from);
    for (char *c = out + strlen("tests/golden/"); *c; c++) {
        *c = *c == '/' ? '-' : *c;
    }
}

START_TEST(test_histories)
{
    bool bless = getenv("ONLYONCE_BLESS") != NULL;
    char *paths[] = {"scenarios"};
    struct scenario_list list;
    ck_assert_int_eq(scenario_list_read(paths, 1, stderr, &list), SIM_OK);
    ck_assert_uint_ge(list.count, 14);
    for (size_t i = 0; i < list.count; i++) {
        char path[512];
        size_t size, golden_size;
        char *text = play_all(&list.items[i], &size);
        golden_path(&list.items[i], path, sizeof(path));
        if (bless) {
            mkdir("tests/golden", 0777);
            FILE *out = fopen(path, "wb");
            ck_assert_ptr_nonnull(out);
            ck_assert_uint_eq(fwrite(text, 1, size, out), size);
            ck_assert_int_eq(fclose(out), 0);
        }
        char *golden = read_file(path, &golden_size);
        ck_assert_msg(size == golden_size && memcmp(text, golden, size) == 0,
                      "%s is not what this program plays; `make bless` and look at the diff", path);
        free(golden);
        free(text);
    }
    scenario_list_fini(&list);
}
END_TEST

Suite *golden_suite(void)
{
    Suite *s = suite_create("golden");
    TCase *t = tcase_create("golden");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_histories);
    suite_add_tcase(s, t);
    return s;
}
