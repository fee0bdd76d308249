/* Typed values of a scenario file that is written: the counterpart of sim/scenario_number.c and
 * sim/scenario_time.c. What equals its default is left out.
 */
#include "sim/scenario_print_internal.h"

#include <inttypes.h>

void print_duration(struct print_map *m, const char *key, uint64_t ns, uint64_t usual)
{
    char text[DURATION_TEXT];
    if (ns != usual) {
        print_put(m, key, "%s", duration_text(ns, text));
    }
}

void print_number(struct print_map *m, const char *key, uint64_t n, uint64_t usual)
{
    if (n != usual) {
        print_put(m, key, "%" PRIu64, n);
    }
}

void print_decimal(struct print_map *m, const char *key, uint32_t thousandths)
{
    char text[32];
    if (thousandths == 0) {
        return;
    }
    int n = snprintf(text, sizeof(text), "%" PRIu32 ".%03" PRIu32, thousandths / 1000,
                     thousandths % 1000);
    while (text[n - 1] == '0') {
        text[--n] = '\0';
    }
    if (text[n - 1] == '.') {
        text[--n] = '\0';
    }
    print_put(m, key, "%s", text);
}

bool print_same_dist(const struct dist *a, const struct dist *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->sigma == b->sigma;
}

void print_dist(struct print_map *m, const char *key, const struct dist *d,
                const struct dist *usual)
{
    char a[DURATION_TEXT], b[DURATION_TEXT];
    struct print_map shape = {0}, inner = {0};
    if (usual != NULL && print_same_dist(d, usual)) {
        return;
    }
    duration_text(d->a, a);
    duration_text(d->b, b);
    switch (d->kind) {
    case DIST_CONSTANT:
        print_put(m, key, "%s", a);
        break;
    case DIST_UNIFORM:
        print_put(m, key, "%s..%s", a, b);
        break;
    case DIST_EXPONENTIAL:
        print_put(&inner, "mean", "%s", a);
        print_duration(&inner, "max", d->b, 0);
        print_nest(&shape, "exponential", &inner);
        break;
    case DIST_LOG_NORMAL:
        print_put(&inner, "median", "%s", a);
        if (d->sigma == 0) {
            print_put(&inner, "spread", "0");
        }
        print_decimal(&inner, "spread", d->sigma);
        print_duration(&inner, "max", d->b, 0);
        print_nest(&shape, "log_normal", &inner);
        break;
    }
    print_nest(m, key, &shape);
}

void print_amounts(struct print_map *m, const char *key, const struct dist *d)
{
    if (d->kind == DIST_UNIFORM) {
        print_put(m, key, "%" PRIu64 "..%" PRIu64, d->a, d->b);
    } else {
        print_number(m, key, d->a, 1);
    }
}

void print_odds(struct print_map *m, const char *key, struct ratio r)
{
    if (r.num > 0) {
        print_put(m, key, "%" PRIu32 "/%" PRIu32, r.num, r.den);
    }
}

void print_odds_pair(struct print_map *m, const char *key, const struct ratio r[2])
{
    if (r[0].num == r[1].num && (r[0].den == r[1].den || r[0].num == 0)) {
        print_odds(m, key, r[0]);
        return;
    }
    struct print_map inner = {0};
    print_odds(&inner, "request", r[REQUEST - 1]);
    print_odds(&inner, "reply", r[REPLY - 1]);
    print_nest(m, key, &inner);
}

void print_clock(struct print_map *m, int64_t offset, int32_t drift)
{
    char text[DURATION_TEXT];
    struct print_map clock = {0};
    if (offset != 0) {
        print_put(&clock, "offset", "%c%s", offset < 0 ? '-' : '+',
                  duration_text((uint64_t)(offset < 0 ? -offset : offset), text));
    }
    if (drift != 0) {
        print_put(&clock, "drift", "%" PRId32 "ppm", drift);
    }
    print_nest(m, "clock", &clock);
}
