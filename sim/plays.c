/* Which scenarios are played on which receivers.
 *
 * In: paths and the names given by --receiver. Out: pairs of a scenario and one of its receivers. A
 * registered receiver that a scenario does not name is added to it and is judged by what the
 * scenario expects of others.
 */
#include "sim/plays.h"

#include <stdlib.h>
#include <string.h>

#include "receivers/receiver.h"
#include "sim/result.h"
#include "sim/scenario_settings.h"
#include "sim/words.h"

/* Whether the name means this receiver: its own, or the one that a sweep made it of. */
static bool is_named(const struct scenario_receiver *r, const char *name)
{
    return strcmp(r->name, name) == 0 || (r->swept != NULL && strcmp(r->swept, name) == 0);
}

static bool is_in(const struct scenario *s, const char *name)
{
    for (size_t i = 0; i < s->receiver_count; i++) {
        if (is_named(&s->receivers[i], name)) {
            return true;
        }
    }
    return false;
}

static size_t add_receiver(struct scenario *s, const char *name, const struct receiver *code)
{
    size_t n = s->receiver_count++;
    s->receivers = sim_realloc(s->receivers, n + 1, sizeof(*s->receivers));
    s->expectations = sim_realloc(s->expectations, n + 1, sizeof(*s->expectations));
    s->explore_expectations =
        sim_realloc(s->explore_expectations, n + 1, sizeof(*s->explore_expectations));
    s->receivers[n] = (struct scenario_receiver){.name = sim_strdup(name), .code = code};
    settings_default(code, s->receivers[n].settings);
    s->expectations[n] = s->expect_others;
    s->explore_expectations[n] = s->explore_others;
    return n;
}

static void unknown_receiver(const struct plays *p, const char *name, FILE *errors)
{
    char quoted[NAME_TEXT];
    struct nearest near = {.word = name, .len = strlen(name)};
    words_quote(name, strlen(name), quoted, sizeof(quoted));
    for (size_t i = 0; i < receivers_count(); i++) {
        nearest_offer(&near, receiver_at(i)->name, strlen(receiver_at(i)->name));
    }
    for (size_t s = 0; s < p->scenarios.count; s++) {
        const struct scenario *scenario = &p->scenarios.items[s];
        for (size_t i = 0; i < scenario->receiver_count; i++) {
            const struct scenario_receiver *r = &scenario->receivers[i];
            nearest_offer(&near, r->name, strlen(r->name));
            if (r->swept != NULL) {
                nearest_offer(&near, r->swept, strlen(r->swept));
            }
        }
    }
    fprintf(errors, "onlyonce: unknown receiver %s", quoted);
    if (near.best != NULL) {
        char best[NAME_TEXT];
        char *copy = sim_strndup(near.best, near.best_len);
        name_text(copy, best, sizeof(best));
        fprintf(errors, "; did you mean %s?\n", best);
        free(copy);
    } else {
        fputs("; `onlyonce list receivers` lists them\n", errors);
    }
}

/* A name must mean something: to the registry, or to one scenario at least. */
static bool check_names(const struct plays *p, const struct options *o, FILE *errors)
{
    bool right = true;
    for (size_t i = 0; i < o->receiver_count; i++) {
        bool found = receiver_find(o->receivers[i], strlen(o->receivers[i])) != NULL;
        for (size_t s = 0; !found && s < p->scenarios.count; s++) {
            found = is_in(&p->scenarios.items[s], o->receivers[i]);
        }
        if (!found) {
            unknown_receiver(p, o->receivers[i], errors);
            right = false;
        }
    }
    return right;
}

static void add_pick(struct plays *p, const struct scenario *s, size_t receiver)
{
    for (size_t i = p->count; i > 0 && p->picks[i - 1].scenario == s; i--) {
        if (p->picks[i - 1].receiver == receiver) {
            return; /* by its own name and by its sweep's */
        }
    }
    p->picks = sim_realloc(p->picks, p->count + 1, sizeof(*p->picks));
    p->picks[p->count++] = (struct pick){.scenario = s, .receiver = receiver};
}

static void pick_of(struct plays *p, struct scenario *s, const struct options *o)
{
    for (size_t i = 0; i < o->receiver_count; i++) {
        const char *name = o->receivers[i];
        const struct receiver *code = receiver_find(name, strlen(name));
        bool found = is_in(s, name);
        for (size_t n = 0; n < s->receiver_count && found; n++) {
            if (is_named(&s->receivers[n], name)) {
                add_pick(p, s, n);
            }
        }
        if (!found && code != NULL) {
            add_pick(p, s, add_receiver(s, name, code));
        } /* else it may be a name of another scenario's */
    }
    for (size_t i = 0; o->receiver_count == 0 && i < s->receiver_count; i++) {
        add_pick(p, s, i);
    }
}

enum sim_error plays_read(struct plays *p, const struct options *o, FILE *errors)
{
    *p = (struct plays){0};
    enum sim_error e = scenario_list_read(o->paths, o->path_count, errors, &p->scenarios);
    if (e != SIM_OK) {
        return e;
    }
    if (!check_names(p, o, errors)) {
        plays_fini(p);
        return SIM_ERR_USAGE;
    }
    for (size_t s = 0; s < p->scenarios.count; s++) {
        pick_of(p, &p->scenarios.items[s], o);
    }
    return SIM_OK;
}

void plays_fini(struct plays *p)
{
    free(p->picks);
    scenario_list_fini(&p->scenarios);
    *p = (struct plays){0};
}
