/* Every canary is convicted by exploration of its own scenario, with that scenario's K, by the
 * check that it expects; the story is then shrunk, and none of its faults can be left out: without
 * any one of them the check holds. The shrunk stories that are kept in scenarios/shrunk are what
 * shrinking gives today, byte for byte (`make bless` writes them anew). */
#include "tests/suites.h"

#include "sim/explore.h"
#include "sim/scenario_print.h"
#include "sim/shrink.h"
#include "sim/shrink_report.h"

#include <stdlib.h>
#include <string.h>

static bool violates(const struct scenario *s, uint64_t seed, const struct fault *faults,
                     size_t count, enum check check)
{
    static const struct fault none[1];
    enum sim_error e;
    struct result r;
    struct world *w = world_new(s, 0, stderr, &e);
    ck_assert_ptr_nonnull(w);
    world_play(
        w, &(struct play){.seed = seed, .faults = count ? faults : none, .fault_count = count}, &r);
    bool violated = r.violated[check] > 0;
    result_fini(&r);
    world_free(w);
    return violated;
}

static void none_can_be_left_out(const struct shrink_result *story, enum check check)
{
    const struct scenario *s = &story->scenario;
    ck_assert(violates(s, story->seed, s->faults, s->fault_count, check));
    for (size_t i = 0; i < s->fault_count; i++) {
        struct fault rest[16];
        ck_assert_uint_le(s->fault_count, ARRAY_LEN(rest));
        memcpy(rest, s->faults, i * sizeof(rest[0]));
        memcpy(rest + i, s->faults + i + 1, (s->fault_count - i - 1) * sizeof(rest[0]));
        ck_assert_msg(!violates(s, story->seed, rest, s->fault_count - 1, check),
                      "%s: fault %zu is not needed", s->name, i + 1);
    }
}

static void is_kept(const struct shrink_result *story, const char *receiver)
{
    char path[256], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    shrink_print(story, out);
    fclose(out);
    snprintf(path, sizeof(path), "scenarios/shrunk/%s.yaml", receiver);
    FILE *file;
    if (getenv("ONLYONCE_BLESS")) {
        file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        fwrite(text, 1, size, file);
        ck_assert_int_eq(fclose(file), 0);
    }
    char *kept = sim_zalloc(size + 2, 1);
    file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s is missing; `make bless`", path);
    size_t n = fread(kept, 1, size + 1, file);
    fclose(file);
    ck_assert_msg(n == size && memcmp(kept, text, size) == 0, "%s is not what shrinking gives",
                  path);
    free(kept);
    free(text);
}

/* Returns 1 where this receiver is one that exploration is to convict. */
static unsigned convict(const struct scenario *s, size_t receiver)
{
    const struct expectation *x = &s->explore_expectations[receiver];
    struct certificate c;
    struct explore_task task = {.scenario = s,
                                .receiver = receiver,
                                .seed = 1,
                                .faults = s->explore_faults,
                                .kinds = explore_covered_kinds(),
                                .jobs = 1,
                                .expectation = x};
    explore(&task, stderr, &c);
    ck_assert_msg(c.expected, "%s on %s: %s", s->file, s->receivers[receiver].name,
                  verdict_text(c.verdict));
    if (!x->violates) {
        return 0;
    }
    enum check check = 0;
    while (!(x->checks & CHECK_BIT(check))) {
        check++;
    }
    ck_assert_uint_gt(c.violated[check], 0);
    ck_assert(c.found && c.answers);
    struct shrink_task shrinking = {.scenario = s,
                                    .receiver = receiver,
                                    .seed = 1,
                                    .faults = c.counterexample,
                                    .fault_count = c.counterexample_faults,
                                    .fired = c.counterexample_faults,
                                    .check = check};
    struct shrink_result story;
    ck_assert_int_eq(shrink(&shrinking, stderr, &story), SIM_OK);
    ck_assert_uint_le(story.scenario.fault_count, c.counterexample_faults);
    ck_assert_uint_gt(story.scenario.fault_count, 0);
    none_can_be_left_out(&story, check);
    is_kept(&story, s->receivers[receiver].name);
    scenario_fini(&story.scenario);
    return 1;
}

START_TEST(canaries)
{
    char *paths[] = {"scenarios/canaries"};
    struct scenario_list list;
    unsigned convicted = 0;
    ck_assert_int_eq(scenario_list_read(paths, 1, stderr, &list), SIM_OK);
    for (size_t i = 0; i < list.count; i++) {
        const struct scenario *s = &list.items[i];
        ck_assert_uint_gt(s->explore_faults, 0);
        for (size_t r = 0; r < s->receiver_count; r++) {
            convicted += convict(s, r);
        }
    }
    ck_assert_uint_ge(convicted, 9);
    ck_assert_uint_eq(convicted, list.count);
    scenario_list_fini(&list);
}
END_TEST

Suite *convictions_suite(void)
{
    Suite *s = suite_create("convictions");
    TCase *t = tcase_create("convictions");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, canaries);
    suite_add_tcase(s, t);
    return s;
}
