/* The scenario writer: what is read back is the same plain data, and printing it again gives the
 * same bytes. Over every scenario that is here, and over names that YAML takes for something else.
 */
#include "tests/shrink_rig.h"

#include "receivers/receiver.h"
#include "sim/scenario_edit.h"
#include "sim/scenario_print.h"
#include "sim/words.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

static void same_text(const char *a, const char *b)
{
    ck_assert((a == NULL) == (b == NULL));
    if (a != NULL) {
        ck_assert_str_eq(a, b);
    }
}

static void same_dist(const struct dist *a, const struct dist *b)
{
    ck_assert(a->kind == b->kind && a->a == b->a && a->b == b->b && a->sigma == b->sigma);
}

static void same_odds(struct ratio a, struct ratio b)
{
    ck_assert(a.num == b.num && (a.num == 0 || a.den == b.den));
}

static void same_expectation(const struct expectation *a, const struct expectation *b)
{
    ck_assert(a->given == b->given && a->violates == b->violates && a->checks == b->checks);
}

static void same_message(const struct scenario *a, const struct listed_message *m,
                         const struct scenario *b, const struct listed_message *n)
{
    char x[KEY_MAX], y[KEY_MAX];
    same_text(m->id, n->id);
    same_text(m->key, n->key);
    same_text(scenario_entity(a, m->entity, x), scenario_entity(b, n->entity, y));
    same_text(m->group, n->group);
    ck_assert(m->entity == n->entity && m->amount == n->amount && m->at == n->at);
    ck_assert(m->effect == n->effect && m->version == n->version);
    ck_assert(m->invalid == n->invalid && m->declined == n->declined);
    ck_assert(m->registers == n->registers);
}

static void same_sender(const struct scenario *a, const struct scenario *b, size_t i)
{
    const struct sender_config *s = &a->senders[i], *t = &b->senders[i];
    same_text(s->name, t->name);
    ck_assert_uint_eq(s->message_count, t->message_count);
    for (size_t n = 0; n < s->message_count; n++) {
        same_message(a, &s->messages[n], b, &t->messages[n]);
    }
    const struct workload *v = &s->workload, *w = &t->workload;
    ck_assert_uint_eq(v->count, w->count);
    if (v->count > 0) {
        ck_assert(v->entities == w->entities && v->first_entity == w->first_entity);
        ck_assert_uint_eq(v->skew, w->skew);
        same_dist(&v->amount, &w->amount);
        ck_assert_int_eq(v->effect, w->effect);
    }
    ck_assert(s->open_loop == t->open_loop && s->in_flight == t->in_flight);
    if (s->open_loop) {
        same_dist(&s->gap, &t->gap);
    }
    const struct retry_policy *r = &s->retry, *q = &t->retry;
    ck_assert(r->timeout == q->timeout && r->after == q->after && r->max == q->max);
    ck_assert(r->backoff == q->backoff && r->limit == q->limit && r->deadline == q->deadline);
    ck_assert(s->give_up_is_failed == t->give_up_is_failed);
    ck_assert(s->keys == t->keys && s->stamped == t->stamped);
    ck_assert(s->group_changes == t->group_changes && s->opens_session == t->opens_session);
    ck_assert(s->clock_offset == t->clock_offset && s->clock_drift == t->clock_drift);
}

static void same_hosts(const struct scenario *a, const struct scenario *b)
{
    const struct host_config *h = &a->receiver, *i = &b->receiver;
    const struct fault_rates *r = &a->rates, *q = &b->rates;
    ck_assert_uint_eq(h->workers, i->workers);
    same_dist(&h->step, &i->step);
    same_dist(&h->work, &i->work);
    same_dist(&h->restart, &i->restart);
    ck_assert(h->clock_offset == i->clock_offset && h->clock_drift == i->clock_drift);
    const struct broker_config *x = &a->broker, *y = &b->broker;
    ck_assert(x->on == y->on && x->visibility == y->visibility && x->redeliver == y->redeliver);
    ck_assert(x->after == y->after && x->order == y->order && x->prefetch == y->prefetch);
    ck_assert(x->replay == y->replay && x->replay_after == y->replay_after);
    ck_assert_uint_eq(x->duplicate_window, y->duplicate_window);
    ck_assert(x->late_ack_fails == y->late_ack_fails && x->while_queued == y->while_queued);
    const struct database_config *d = &h->database, *e = &i->database;
    ck_assert(d->journal == e->journal && d->synchronous == e->synchronous);
    ck_assert(d->page_size == e->page_size && d->busy_timeout == e->busy_timeout);
    for (int k = 0; k < 2; k++) {
        same_dist(&a->network.delay[k], &b->network.delay[k]);
        same_odds(r->lose[k], q->lose[k]);
        same_odds(r->duplicate[k], q->duplicate[k]);
    }
    same_odds(r->crash, q->crash);
    same_odds(r->power, q->power);
    same_odds(r->pause, q->pause);
    same_odds(r->store, q->store);
    same_odds(r->handler, q->handler);
    same_dist(&r->copy_after, &q->copy_after);
    same_dist(&r->pause_for, &q->pause_for);
}

static void same_downstream(const struct scenario_receiver *a, const struct scenario_receiver *b)
{
    ck_assert((a == NULL) == (b == NULL));
    if (a != NULL) {
        same_text(a->name, b->name);
        ck_assert_ptr_eq(a->code, b->code);
        ck_assert_mem_eq(a->settings, b->settings, sizeof(a->settings));
    }
}

void assert_same_scenario(const struct scenario *a, const struct scenario *b)
{
    same_text(a->name, b->name);
    same_text(a->about, b->about);
    ck_assert_uint_eq(a->receiver_count, b->receiver_count);
    for (size_t i = 0; i < a->receiver_count; i++) {
        same_text(a->receivers[i].name, b->receivers[i].name);
        ck_assert_ptr_eq(a->receivers[i].code, b->receivers[i].code);
        same_expectation(&a->expectations[i], &b->expectations[i]);
        same_expectation(&a->explore_expectations[i], &b->explore_expectations[i]);
    }
    same_expectation(&a->expect_others, &b->expect_others);
    same_expectation(&a->explore_others, &b->explore_others);
    ck_assert_uint_eq(a->sender_count, b->sender_count);
    for (size_t i = 0; i < a->sender_count; i++) {
        same_sender(a, b, i);
    }
    ck_assert_uint_eq(a->entity_count, b->entity_count);
    same_hosts(a, b);
    same_downstream(a->downstream, b->downstream);
    ck_assert_uint_eq(a->fault_count, b->fault_count);
    for (size_t i = 0; i < a->fault_count; i++) {
        const struct fault *f = &a->faults[i], *g = &b->faults[i];
        ck_assert_mem_eq(&f->site.key, &g->site.key, sizeof(f->site.key));
        ck_assert(f->site.op == g->site.op && f->value.choice == g->value.choice);
        ck_assert(f->value.n == g->value.n && f->value.time == g->value.time);
        ck_assert(f->value.until == g->value.until && f->value.offset == g->value.offset);
    }
    ck_assert_uint_eq(a->faults_until, b->faults_until);
    ck_assert(a->no_give_up == b->no_give_up && a->explore_faults == b->explore_faults);
    ck_assert_uint_eq(a->most_records, b->most_records);
}

char *round_trip(const struct scenario *s)
{
    struct scenario again;
    char *text = scenario_print_text(s);
    ck_assert_msg(scenario_parse(s->file, text, strlen(text), stderr, &again) == SIM_OK,
                  "cannot be read back:\n%s", text);
    assert_same_scenario(s, &again);
    char *second = scenario_print_text(&again);
    ck_assert_str_eq(text, second);
    free(second);
    scenario_fini(&again);
    return text;
}

START_TEST(every_scenario_reads_back)
{
    glob_t found;
    ck_assert_int_eq(glob("scenarios/*/*.yaml", 0, NULL, &found), 0);
    ck_assert_int_eq(glob("tests/bad/*.ok.yaml", GLOB_APPEND, NULL, &found), 0);
    ck_assert_uint_gt(found.gl_pathc, 100);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct scenario s, copy;
        ck_assert_int_eq(scenario_read(found.gl_pathv[i], stderr, &s), SIM_OK);
        char *text = round_trip(&s);
        scenario_copy(&s, &copy);
        assert_same_scenario(&s, &copy);
        char *of_copy = scenario_print_text(&copy);
        ck_assert_str_eq(text, of_copy);
        free(text);
        free(of_copy);
        scenario_fini(&copy);
        scenario_fini(&s);
    }
    globfree(&found);
}
END_TEST

/* The template too, which holds most keys. */
START_TEST(the_template_reads_back)
{
    struct scenario s;
    const char *text = scenario_template();
    ck_assert_int_eq(scenario_parse("new.yaml", text, strlen(text), stderr, &s), SIM_OK);
    free(round_trip(&s));
    scenario_fini(&s);
}
END_TEST

static const char *const hostile[] = {
    "yes",
    "No",
    "null",
    "~",
    "true",
    "42",
    "0x1f",
    "1e3",
    "-",
    "-x",
    "--- a",
    "...",
    "?",
    "? a",
    ": a",
    "a: b",
    "a:b",
    "a:",
    "a #b",
    "#a",
    "'",
    "''",
    "it's",
    "\"",
    "\\",
    "'\"",
    "{a}",
    "[b]",
    "a, b",
    "&a",
    "*a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a",
    " a",
    "a ",
    "  ",
    "é",
    "漢字",
    "😀",
    "\xef\xbb\xbf"
    "a",
    "a\xe2\x80\xa8"
    "b",
    "a\xe2\x80\xae"
    "b",
    "\xef\xbf\xbf",
    "to",
    "2024-01-01",
    "1:30",
    "a/1",
    "m 77\"/1",
    "<<",
    "=",
};

START_TEST(every_name_reads_back)
{
    char quoted[1024], text[16384];
    words_quote(hostile[_i], strlen(hostile[_i]), quoted, sizeof(quoted));
    const char *q = quoted;
    int n = snprintf(text, sizeof(text),
                     "name: %s\nabout: %s\nreceivers: [{name: %s, is: naive}]\n"
                     "senders:\n  - {name: %s, messages: [{id: %s, key: %s, entity: %s, charge: "
                     "7}]}\nhosts: {%s: {clock: {offset: +1s}}}\n"
                     "expect: {%s: progress}\n",
                     q, q, q, q, q, q, q, q, q);
    ck_assert_int_lt(n, (int)sizeof(text));
    struct scenario s;
    ck_assert_msg(scenario_parse("x.yaml", text, (size_t)n, stderr, &s) == SIM_OK, "%s", text);
    struct fault f = {.site = {.key = {.draw = FAULT_LOSE,
                                       .direction = REPLY,
                                       .attempt = 1,
                                       .copy = 1,
                                       .operation = rng_name(hostile[_i], strlen(hostile[_i]))},
                               .op = op_make(PLACE_SENDER, 1)}};
    scenario_set_faults(&s, &f, 1);
    free(round_trip(&s));
    scenario_fini(&s);
}
END_TEST

static const char *const abouts[] = {
    "",
    " ",
    "a\n",
    "a\n\n",
    "\na",
    "a\nb",
    "  a",
    "a  b",
    "a: b # c",
    "- a\n",
    "# a\n",
    "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x "
    "x x x x x x x x x",
    "y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y y "
    "# y y y y y y: y\n",
};

START_TEST(every_about_reads_back)
{
    struct scenario s;
    const char *text = scenario_template();
    ck_assert_int_eq(scenario_parse("new.yaml", text, strlen(text), stderr, &s), SIM_OK);
    free(s.about);
    s.about = sim_strdup(abouts[_i]);
    free(round_trip(&s));
    scenario_fini(&s);
}
END_TEST

TCase *scenario_print_tests(void)
{
    TCase *t = tcase_create("print");
    tcase_add_test(t, every_scenario_reads_back);
    tcase_add_test(t, the_template_reads_back);
    tcase_add_loop_test(t, every_name_reads_back, 0, (int)ARRAY_LEN(hostile));
    tcase_add_loop_test(t, every_about_reads_back, 0, (int)ARRAY_LEN(abouts));
    return t;
}
