/* What the files that write a scenario share: scalars in YAML's quotes, and mappings that are
 * written in one line where they fit.
 */
#ifndef SIM_SCENARIO_PRINT_INTERNAL_H
#define SIM_SCENARIO_PRINT_INTERNAL_H

#include "sim/scenario.h"

#define PRINT_WIDTH 100

/* --- sim/scenario_print_text.c */

/* A name as a YAML scalar that stands anywhere, in a mapping in one line too. The caller frees. */
char *print_name(const char *name);
/* Text as a YAML scalar that stands behind "key: " or "- " in a line of its own. */
char *print_line(const char *text);
/* "about: TEXT", folded where it is long. */
void print_about(FILE *out, const char *text);
/* Characters of UTF-8. */
size_t print_columns(const char *text);

/* A mapping under construction. Zeroed: empty. Owns its texts. */
struct print_map {
    struct print_item {
        char *key;
        char *text;              /* NULL: a mapping */
        struct print_map *inner; /* owned */
    } * items;
    size_t count;
};
void print_put(struct print_map *m, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* text: malloc'd, taken over. */
void print_take(struct print_map *m, const char *key, char *text);
/* An empty inner mapping is left out. Takes over what is in *inner. */
void print_nest(struct print_map *m, const char *key, struct print_map *inner);
/* "{a: 1, b: 2}"; empties m. The caller frees. */
char *print_flow(struct print_map *m);
/* Its items, each on a line of its own or more; empties m. */
void print_items(FILE *out, int indent, struct print_map *m);
/* "key: {a: 1}" or key by key where that is longer than a line; nothing where m is empty. Empties
 * m. */
void print_map(FILE *out, int indent, const char *key, struct print_map *m);

/* --- sim/scenario_print_value.c */

void print_duration(struct print_map *m, const char *key, uint64_t ns, uint64_t usual);
void print_number(struct print_map *m, const char *key, uint64_t n, uint64_t usual);
void print_dist(struct print_map *m, const char *key, const struct dist *d,
                const struct dist *usual);
bool print_same_dist(const struct dist *a, const struct dist *b);
void print_amounts(struct print_map *m, const char *key, const struct dist *d);
/* Thousandths; nothing for 0. */
void print_decimal(struct print_map *m, const char *key, uint32_t thousandths);
/* Nothing for odds that are never. */
void print_odds(struct print_map *m, const char *key, struct ratio r);
/* By direction: one value for both where they are equal. */
void print_odds_pair(struct print_map *m, const char *key, const struct ratio r[2]);
void print_clock(struct print_map *m, int64_t offset, int32_t drift);

/* --- sim/scenario_print_senders.c */

void print_senders(const struct scenario *s, FILE *out);

/* --- sim/scenario_print_broker.c */

void print_broker(const struct broker_config *b, FILE *out);

#endif
