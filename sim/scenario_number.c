/* Typed values of a scenario file: numbers, truth values, odds. */
#include "sim/scenario_internal.h"

#include <inttypes.h>
#include <string.h>

bool read_number(struct yaml *y, const struct yaml_node *node, uint64_t min, uint64_t max,
                 uint64_t *out)
{
    if (node == NULL) {
        return true;
    }
    if (node->kind != YAML_SCALAR || !node->plain) {
        return expected(y, node, "a number");
    }
    bool negative = node->text[0] == '-';
    uint64_t n = 0;
    bool huge = false;
    for (size_t i = negative; i < node->len; i++) {
        if (node->text[i] < '0' || node->text[i] > '9') {
            return expected(y, node, "a whole number");
        }
        huge = huge || n > UINT64_MAX / 10 - 1;
        n = huge ? n : n * 10 + (uint64_t)(node->text[i] - '0');
    }
    if (negative && node->len == 1) {
        return expected(y, node, "a whole number");
    }
    if (huge || negative || n < min || n > max) {
        char range[80];
        snprintf(range, sizeof(range), "a number in %" PRIu64 "..%" PRIu64, min, max);
        return expected(y, node, range);
    }
    *out = n;
    return true;
}

bool read_u32(struct yaml *y, const struct yaml_node *node, uint32_t min, uint32_t max,
              uint32_t *out)
{
    uint64_t n = *out;
    bool good = read_number(y, node, min, max, &n);
    *out = (uint32_t)n;
    return good;
}

bool read_thousandths(struct yaml *y, const struct yaml_node *node, uint32_t max, uint32_t *out)
{
    if (node == NULL) {
        return true;
    }
    char what[80];
    snprintf(what, sizeof(what), "a decimal in 0..%u with at most three places, such as 0.9",
             max / 1000);
    if (node->kind != YAML_SCALAR || !node->plain) {
        return expected(y, node, what);
    }
    uint32_t n = 0;
    size_t places = 0;
    bool point = false;
    bool good = node->text[0] != '.';
    for (size_t i = 0; i < node->len && good; i++) {
        char c = node->text[i];
        if (c == '.' && !point && i + 1 < node->len) {
            point = true;
            continue;
        }
        good = c >= '0' && c <= '9' && n <= max && places < 3;
        n = n * 10 + (uint32_t)(c - '0');
        places += point;
    }
    for (; good && places < 3; places++) {
        good = n <= max;
        n *= 10;
    }
    if (!good || n > max) {
        return expected(y, node, what);
    }
    *out = n;
    return true;
}

bool read_bool(struct yaml *y, const struct yaml_node *node, bool *out)
{
    if (node == NULL) {
        return true;
    }
    bool yes = node->kind == YAML_SCALAR && node->plain && strcmp(node->text, "true") == 0;
    bool no = node->kind == YAML_SCALAR && node->plain && strcmp(node->text, "false") == 0;
    if (!yes && !no) {
        return expected(y, node, "true or false");
    }
    *out = yes;
    return true;
}

bool read_ratio(struct yaml *y, const struct yaml_node *node, struct ratio *out)
{
    static const char what[] = "odds such as 1/20, at most 1/1, or 0";
    if (node == NULL) {
        return true;
    }
    if (node->kind != YAML_SCALAR) {
        return expected(y, node, what);
    }
    if (strcmp(node->text, "0") == 0) {
        *out = (struct ratio){0, 1};
        return true;
    }
    uint64_t part[2] = {0, 0};
    size_t i = 0;
    for (size_t p = 0; p < 2; p++) {
        size_t start = i;
        while (i < node->len && node->text[i] >= '0' && node->text[i] <= '9' &&
               part[p] <= COUNT_MAX) {
            part[p] = part[p] * 10 + (uint64_t)(node->text[i++] - '0');
        }
        bool ended = p == 0 ? node->text[i] == '/' : i == node->len;
        if (i == start || !ended) {
            return expected(y, node, what);
        }
        i++;
    }
    if (part[1] == 0 || part[0] > part[1] || part[1] > COUNT_MAX) {
        return expected(y, node, what);
    }
    *out = (struct ratio){(uint32_t)part[0], (uint32_t)part[1]};
    return true;
}
