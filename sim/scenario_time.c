/* Times, distributions, amounts and rates of a scenario file. */
#include "sim/scenario_internal.h"

#include "sim/words.h"

#include <inttypes.h>
#include <string.h>

static const char duration_what[] = "a duration such as 20ms or 1s (ns us ms s m h d)";

static bool is_text(const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && node->len > 0;
}

static bool duration_in(struct yaml *y, const struct yaml_node *node, const char *s, size_t len,
                        uint64_t min, uint64_t *out)
{
    uint64_t ns = UINT64_MAX;
    if (!duration_parse(s, len, &ns) && !words_like_duration(s, len)) {
        return false;
    }
    if (ns < min || ns > DURATION_MAX) {
        char least[DURATION_TEXT];
        yaml_error(y, node->at, "a duration here is %s..3650d", duration_text(min, least));
    } else {
        *out = ns;
    }
    return true;
}

bool read_duration(struct yaml *y, const struct yaml_node *node, uint64_t min, uint64_t *out)
{
    if (node == NULL) {
        return true;
    }
    size_t before = y->error_count;
    if (!is_text(node) || !duration_in(y, node, node->text, node->len, min, out)) {
        return expected(y, node, duration_what);
    }
    return y->error_count == before;
}

bool read_moment(struct yaml *y, const struct yaml_node *node, uint64_t *out)
{
    uint64_t at = SIM_START;
    if (node == NULL || !read_duration(y, node, 0, &at)) {
        return node == NULL;
    }
    if (at < SIM_START) {
        yaml_error(y, node->at, "the world's clock starts at 1s, so no moment lies before it");
        return false;
    }
    *out = at;
    return true;
}

bool read_offset(struct yaml *y, const struct yaml_node *node, int64_t *out)
{
    if (node == NULL) {
        return true;
    }
    size_t before = y->error_count;
    uint64_t size = 0;
    size_t sign = is_text(node) && (node->text[0] == '-' || node->text[0] == '+');
    if (!is_text(node) || !duration_in(y, node, node->text + sign, node->len - sign, 0, &size)) {
        return expected(y, node, "an offset such as +3s or -20ms");
    }
    *out = node->text[0] == '-' ? -(int64_t)size : (int64_t)size;
    return y->error_count == before;
}

bool read_drift(struct yaml *y, const struct yaml_node *node, int32_t *out)
{
    if (node == NULL) {
        return true;
    }
    static const char what[] = "a drift in -100000ppm..100000ppm, such as 50ppm";
    size_t sign = is_text(node) && (node->text[0] == '-' || node->text[0] == '+');
    int32_t n = 0;
    size_t i = sign;
    while (is_text(node) && node->text[i] >= '0' && node->text[i] <= '9' && n <= DRIFT_MAX_PPM) {
        n = n * 10 + (node->text[i++] - '0');
    }
    if (!is_text(node) || i == sign || strcmp(node->text + i, "ppm") != 0 || n > DRIFT_MAX_PPM) {
        return expected(y, node, what);
    }
    *out = node->text[0] == '-' ? -n : n;
    return true;
}

/* Where ".." stands in A..B; NULL: nowhere. */
static const char *dots(const struct yaml_node *node)
{
    return strstr(node->text, "..");
}

static bool dist_of_text(struct yaml *y, const struct yaml_node *node, struct dist *out)
{
    size_t before = y->error_count;
    const char *middle = dots(node);
    struct dist d = {.kind = middle ? DIST_UNIFORM : DIST_CONSTANT};
    size_t first = middle ? (size_t)(middle - node->text) : node->len;
    if (!duration_in(y, node, node->text, first, 0, &d.a)) {
        return expected(y, node, "a duration such as 20ms, or a span such as 20ms..80ms");
    }
    if (middle && !duration_in(y, node, middle + 2, node->len - first - 2, 0, &d.b)) {
        return expected(y, node, "a span of durations such as 20ms..80ms");
    }
    if (y->error_count == before && middle && d.a > d.b) {
        yaml_error(y, node->at, "the span ends below where it begins");
    }
    if (y->error_count == before) {
        *out = d;
    }
    return y->error_count == before;
}

static bool required(struct yaml *y, const struct yaml_node *mapping, const char *key)
{
    if (value_of(mapping, key) != NULL) {
        return true;
    }
    yaml_error(y, mapping->at, "\"%s\" is missing here", key);
    return false;
}

static bool dist_of_shape(struct yaml *y, const struct yaml_node *key, struct dist *out)
{
    const struct yaml_node *shape = key->value;
    bool log_normal = strcmp(key->text, "log_normal") == 0;
    const char *middle = log_normal ? "median" : "mean";
    if (log_normal ? !READ_MAPPING(y, shape, "log_normal", "median", "spread", "max")
                   : !READ_MAPPING(y, shape, "exponential", "mean", "max")) {
        return false;
    }
    struct dist d = {.kind = log_normal ? DIST_LOG_NORMAL : DIST_EXPONENTIAL};
    bool good = required(y, shape, middle);
    good = good && (!log_normal || required(y, shape, "spread"));
    good = good && read_duration(y, value_of(shape, middle), 1, &d.a);
    good = good && read_thousandths(y, value_of(shape, "spread"), 5000, &d.sigma);
    good = good && read_duration(y, value_of(shape, "max"), 1, &d.b);
    if (good && dist_max(&d) > DURATION_MAX) {
        yaml_error(y, shape->at, "this distribution reaches beyond 3650d; cut it with \"max\"");
        return false;
    }
    if (good) {
        *out = d;
    }
    return good;
}

bool read_dist(struct yaml *y, const struct yaml_node *node, struct dist *out)
{
    if (node == NULL) {
        return true;
    }
    if (is_text(node)) {
        return dist_of_text(y, node, out);
    }
    if (node->kind != YAML_MAPPING) {
        return expected(y, node, "a duration, a span or a distribution");
    }
    if (!READ_MAPPING(y, node, "a distribution", "exponential", "log_normal")) {
        return false;
    }
    if (node->len != 1) {
        yaml_error(y, node->at, "a distribution is either exponential or log_normal");
        return false;
    }
    return dist_of_shape(y, node->first, out);
}

static bool amount_of(const char *s, size_t len, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9' || n > (uint64_t)AMOUNT_MAX) {
            return false;
        }
        n = n * 10 + (uint64_t)(s[i] - '0');
    }
    *out = n;
    return n >= 1 && n <= (uint64_t)AMOUNT_MAX;
}

bool read_amounts(struct yaml *y, const struct yaml_node *node, struct dist *out)
{
    if (node == NULL) {
        return true;
    }
    struct dist d = {.kind = DIST_CONSTANT};
    const char *middle = is_text(node) && node->plain ? dots(node) : NULL;
    bool good = is_text(node) && node->plain;
    if (good && middle) {
        d.kind = DIST_UNIFORM;
        good = amount_of(node->text, (size_t)(middle - node->text), &d.a) &&
               amount_of(middle + 2, strlen(middle + 2), &d.b) && d.a <= d.b;
    } else if (good) {
        good = amount_of(node->text, node->len, &d.a);
    }
    if (!good) {
        return expected(y, node, "an amount or a span A..B in 1..1000000000");
    }
    *out = d;
    return true;
}

bool read_rate(struct yaml *y, const struct yaml_node *node, struct dist *out)
{
    if (node == NULL) {
        return true;
    }
    static const char what[] = "a rate such as 100/s or 5/m";
    const char *slash = is_text(node) ? strchr(node->text, '/') : NULL;
    char unit[8];
    uint64_t n, one;
    if (slash == NULL || !amount_of(node->text, (size_t)(slash - node->text), &n) ||
        slash[1] < 'a' || strlen(slash + 1) > 2 ||
        snprintf(unit, sizeof(unit), "1%s", slash + 1) < 0 ||
        !duration_parse(unit, strlen(unit), &one) || n > one) {
        return expected(y, node, what);
    }
    *out = (struct dist){.kind = DIST_CONSTANT, .a = one / n};
    return true;
}
