/* Any bytes as a scenario file: no crash, no leak; an error is said; what is accepted has only
 * faults whose sentences come back.
 *
 * Built with clang -fsanitize=fuzzer,address,undefined and the objects of sim/ and receivers/ but
 * sim/main.c; run on tests/fuzz/corpus/scenario. */
#include "sim/scenario.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(const struct scenario *s)
{
    struct sentence_names names = scenario_names(s);
    for (size_t i = 0; i < s->fault_count; i++) {
        char text[SENTENCE_MAX];
        size_t len = sentence_print(&names, &s->faults[i], text);
        struct fault again;
        struct sentence_error error;
        must(sentence_parse(&names, text, len, &again, &error));
        must(again.site.op == s->faults[i].site.op);
    }
    char name[KEY_MAX];
    for (size_t i = 0; i < s->entity_count; i += 1 + s->entity_count / 100) {
        must(scenario_entity(s, (uint32_t)i, name) != NULL);
    }
    for (unsigned i = 0; i < s->sender_count; i++) {
        uint64_t last = s->senders[i].workload.count;
        last = last > 0 ? last : s->senders[i].message_count;
        size_t len = scenario_operation_id(s, op_make(PLACE_SENDER + i, last), name);
        must(names.operation(names.context, name, len) == op_make(PLACE_SENDER + i, last));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char errors[1 << 20];
    memset(errors, 0, 256);
    FILE *stream = fmemopen(errors, sizeof(errors), "wb");
    must(stream != NULL);
    struct scenario s;
    enum sim_error e = scenario_parse("fuzz.yaml", (const char *)data, size, stream, &s);
    fclose(stream);
    if (e == SIM_OK) {
        check_names(&s);
        scenario_fini(&s);
        must(errors[0] == '\0');
    } else {
        must(strncmp(errors, "fuzz.yaml:", 10) == 0);
    }
    return 0;
}
