/* Any bytes as a sentence: no crash; what is accepted prints, and the print comes back as the same
 * fault and the same print; what is refused says why, at a place inside the sentence.
 *
 * Built with clang -fsanitize=fuzzer,address,undefined and the objects of sim/ and receivers/ but
 * sim/main.c; run on tests/fuzz/corpus/sentence. */
#include "sim/sentence.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned place(const void *context, const char *name, size_t len)
{
    (void)context;
    return len == 1 && name[0] == 'r'           ? PLACE_RECEIVER
           : len == 2 && !memcmp(name, "to", 2) ? PLACE_SENDER
                                                : PLACE_NONE;
}

static void place_name(const void *context, unsigned p, char *out)
{
    (void)context;
    strcpy(out, p == PLACE_RECEIVER ? "r" : "to");
}

/* Every name is an operation: the last one asked for. */
static char last[KEY_MAX];

static uint64_t operation(const void *context, const char *id, size_t len)
{
    (void)context;
    must(len < KEY_MAX && memchr(id, '\0', len) == NULL);
    memcpy(last, id, len);
    last[len] = '\0';
    return 1;
}

static void operation_name(const void *context, uint64_t op, char *out)
{
    (void)context;
    must(op == 1);
    strcpy(out, last);
}

static unsigned attempts(const void *context, uint64_t op)
{
    (void)context;
    (void)op;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct sentence_names names = {
        .place = place,
        .operation = operation,
        .attempts = attempts,
        .place_name = place_name,
        .operation_name = operation_name,
    };
    struct fault f, again;
    struct sentence_error error = {.offset = SIZE_MAX};
    if (!sentence_parse(&names, (const char *)data, size, &f, &error)) {
        must(error.offset <= size && error.text[0] != '\0');
        must(memchr(error.text, '\0', sizeof(error.text)) != NULL);
        return 0;
    }
    char text[SENTENCE_MAX], text_again[SENTENCE_MAX];
    size_t len = sentence_print(&names, &f, text);
    must(len == strlen(text));
    must(sentence_parse(&names, text, len, &again, &error));
    must(memcmp(&f.site.key, &again.site.key, sizeof(f.site.key)) == 0);
    sentence_print(&names, &again, text_again);
    must(strcmp(text, text_again) == 0);
    return 0;
}
