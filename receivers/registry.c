/* Every receiver, one line each, in the order in which lists show them, and behind them the
 * presets.
 *
 * In: the receivers' structures, the table of presets. Out: receivers by place and by name. A
 * preset becomes a copy of the receiver that it is, with a table of settings of its own in which
 * its defaults stand; whoever reads, prints or shrinks settings needs to know nothing of presets.
 */
#include "receivers/receiver.h"

#include <string.h>

#define RECEIVERS(X)                                                                               \
    X(table)                                                                                       \
    X(entity)                                                                                      \
    X(response)                                                                                    \
    X(window)                                                                                      \
    X(idempotency_key)                                                                             \
    X(claim)                                                                                       \
    X(semantic)                                                                                    \
    X(outbox)                                                                                      \
    X(session)                                                                                     \
    X(watermark)                                                                                   \
    X(repository)                                                                                  \
    X(content_hash)                                                                                \
    X(naive)                                                                                       \
    X(check_then_act)                                                                              \
    X(record_first)                                                                                \
    X(effect_first)                                                                                \
    X(ack_first)                                                                                   \
    X(volatile_memory)                                                                             \
    X(last_id_only)                                                                                \
    X(blind_retry)                                                                                 \
    X(cached_before_durable)                                                                       \
    X(dual_write)                                                                                  \
    X(phases)                                                                                      \
    X(effect_outside)

#define X(name) extern const struct receiver receiver_##name;
RECEIVERS(X)
#undef X

static const struct receiver *const receivers[] = {
#define X(name) &receiver_##name,
    RECEIVERS(X)
#undef X
};

/* ---- presets ---- */

enum { PRESETS_MAX = 100 };
static struct receiver made[PRESETS_MAX];
static struct setting made_settings[PRESETS_MAX][SETTINGS_MAX + 1];

/* Index of a word of `choices`; -1: it is none of them. */
static int64_t choice_of(const char *choices, const char *word)
{
    size_t len = strlen(word);
    int64_t index = 0;
    for (const char *at = choices; at != NULL; index++) {
        const char *end = strchr(at, ' ');
        if ((end == NULL ? strlen(at) : (size_t)(end - at)) == len && memcmp(at, word, len) == 0) {
            return index;
        }
        at = end == NULL ? NULL : end + 1;
    }
    return -1;
}

static void make_settings(const struct preset *p, struct setting *out)
{
    size_t count = 0;
    for (; p->is->settings != NULL && p->is->settings[count].name != NULL; count++) {
        must(count < SETTINGS_MAX);
        out[count] = p->is->settings[count];
    }
    out[count] = (struct setting){.name = NULL};
    for (size_t d = 0; p->defaults[d].setting != NULL; d++) {
        size_t i = 0;
        while (i < count && strcmp(out[i].name, p->defaults[d].setting) != 0) {
            i++;
        }
        must(i < count);
        const char *word = p->defaults[d].word;
        must((word != NULL) == (out[i].kind == SETTING_CHOICE));
        out[i].value = word != NULL ? choice_of(out[i].choices, word) : p->defaults[d].value;
        must(out[i].value >= 0);
        if (p->defaults[d].most > 0) {
            out[i].least = p->defaults[d].least;
            out[i].most = p->defaults[d].most;
        }
    }
}

static const struct receiver *preset_at(size_t i)
{
    struct receiver *r = &made[i];
    if (r->name == NULL) {
        const struct preset *p = &presets[i];
        make_settings(p, made_settings[i]);
        *r = *p->is;
        r->name = p->name;
        r->about = p->about;
        r->source = p->source;
        r->breaks = p->breaks;
        r->asks = p->asks;
        r->settings = made_settings[i];
        r->preset_of = p->is;
    }
    return r;
}

/* ---- all ---- */

size_t receivers_count(void)
{
    must(presets_count <= PRESETS_MAX);
    return ARRAY_LEN(receivers) + presets_count;
}

const struct receiver *receiver_at(size_t i)
{
    must(i < receivers_count());
    return i < ARRAY_LEN(receivers) ? receivers[i] : preset_at(i - ARRAY_LEN(receivers));
}

const struct receiver *receiver_find(const char *name, size_t len)
{
    for (size_t i = 0; i < receivers_count(); i++) {
        const struct receiver *r = receiver_at(i);
        if (strlen(r->name) == len && memcmp(r->name, name, len) == 0) {
            return r;
        }
    }
    return NULL;
}
