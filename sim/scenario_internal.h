/* What the files that read a scenario share: typed values, names, and the reader itself.
 *
 * Each read_ function takes a node that may be NULL (the key is not there: the value keeps its
 * default, which the caller has set) and notes an error where the node does not hold what it
 * should; it returns false then and leaves the value alone.
 */
#ifndef SIM_SCENARIO_INTERNAL_H
#define SIM_SCENARIO_INTERNAL_H

#include "sim/scenario.h"
#include "sim/scenario_yaml.h"

#define AMOUNT_MAX INT64_C(1000000000)
#define COUNT_MAX UINT64_C(1000000000)
#define VERSION_MAX UINT64_C(1000000000)
#define DECLINED_MAX 1000
/* Ten years. Sums of a few of them stay far below SIM_TIME_MAX. */
#define DURATION_MAX ((uint64_t)CLOCK_OFFSET_MAX)
#define FAULTS_MAX 10000
#define RECEIVERS_MAX 100
#define SWEEP_MAX 32 /* values of a sweep */

/* --- sim/scenario_value.c */

/* False: not a mapping, unknown or repeated keys; all said. what: "a sender". */
bool read_mapping(struct yaml *y, const struct yaml_node *node, const char *what,
                  const char *const *keys, size_t count);
#define READ_MAPPING(y, node, what, ...)                                                           \
    read_mapping(y, node, what, (const char *const[]){__VA_ARGS__},                                \
                 ARRAY_LEN(((const char *const[]){__VA_ARGS__})))
/* The value of a key; NULL: not there, or mapping is NULL or none. */
const struct yaml_node *value_of(const struct yaml_node *mapping, const char *key);
/* A sequence with at least one item; what: "a list of receivers". */
bool read_sequence(struct yaml *y, const struct yaml_node *node, const char *what);

/* "expected WHAT, found ..." */
bool expected(struct yaml *y, const struct yaml_node *node, const char *what);
/* Text that names something: 1..max - 1 bytes without control characters. *out is malloc'd. */
bool read_name(struct yaml *y, const struct yaml_node *node, const char *what, size_t max,
               char **out);
bool read_text(struct yaml *y, const struct yaml_node *node, const char *what, char **out);
bool read_choice(struct yaml *y, const struct yaml_node *node, const char *what,
                 const char *const *words, size_t count, unsigned *out);

/* --- sim/scenario_number.c */

bool read_number(struct yaml *y, const struct yaml_node *node, uint64_t min, uint64_t max,
                 uint64_t *out);
bool read_u32(struct yaml *y, const struct yaml_node *node, uint32_t min, uint32_t max,
              uint32_t *out);
/* A decimal of up to three places, in thousandths. */
bool read_thousandths(struct yaml *y, const struct yaml_node *node, uint32_t max, uint32_t *out);
bool read_bool(struct yaml *y, const struct yaml_node *node, bool *out);
bool read_ratio(struct yaml *y, const struct yaml_node *node, struct ratio *out);

/* --- sim/scenario_time.c */

/* min..DURATION_MAX */
bool read_duration(struct yaml *y, const struct yaml_node *node, uint64_t min, uint64_t *out);
/* A moment on the world's clock. */
bool read_moment(struct yaml *y, const struct yaml_node *node, uint64_t *out);
/* +3s, -3s, 3s */
bool read_offset(struct yaml *y, const struct yaml_node *node, int64_t *out);
/* 50ppm, +50ppm, -50ppm */
bool read_drift(struct yaml *y, const struct yaml_node *node, int32_t *out);
bool read_dist(struct yaml *y, const struct yaml_node *node, struct dist *out);
/* N or A..B in 1..AMOUNT_MAX */
bool read_amounts(struct yaml *y, const struct yaml_node *node, struct dist *out);
/* 100/s, as the gap between two */
bool read_rate(struct yaml *y, const struct yaml_node *node, struct dist *out);

/* --- sim/scenario_names.c */

/* --- sim/name_table.c */

/* Names in order of appearance, each with a number, found again by hash. Owns copies. Zeroed:
 * empty. */
struct name_table {
    struct name_entry {
        char *name;
        size_t len;
        uint64_t value;
    } * entries;
    size_t count, capacity;
    uint32_t *slots; /* open addressing; place + 1 */
    size_t slot_count;
};
/* The entry of a name, added with value where it is new. Valid until the next put. */
struct name_entry *name_table_put(struct name_table *t, const char *name, size_t len,
                                  uint64_t value, bool *is_new);
/* NULL: unknown */
const struct name_entry *name_table_find(const struct name_table *t, const char *name, size_t len);
void name_table_fini(struct name_table *t);

/* --- sim/scenario_names.c */

/* Place in s->receivers; SIZE_MAX: unknown. */
size_t scenario_receiver_place(const struct scenario *s, const char *name, size_t len);
/* Operation of a generated id; 0: no workload makes it. */
uint64_t scenario_generated_operation(const struct scenario *s, const char *id, size_t len);
/* The operation by which a sender opens its session; 0: no such id. */
uint64_t scenario_registration(const struct scenario *s, const char *id, size_t len);
/* Number of a generated entity; UINT32_MAX: no workload makes it. */
uint32_t scenario_generated_entity(const struct scenario *s, const char *name, size_t len);

/* One file being read. */
struct reader {
    struct yaml yaml;
    struct scenario *s;
};

/* The parts of a file, each in its own file; mapping is the whole scenario. In this order: later
 * ones look up what earlier ones have read. */
void read_receivers(struct reader *r, const struct yaml_node *mapping); /* scenario_receivers.c */
void read_downstream(struct reader *r, const struct yaml_node *mapping);
/* The value of `sweep` (may be NULL): receivers become one for each value. scenario_sweep.c */
void read_sweep(struct reader *r, const struct yaml_node *node);
void read_expectations(struct reader *r, const struct yaml_node *mapping);
void read_senders(struct reader *r, const struct yaml_node *mapping);  /* scenario_senders.c */
void read_messages(struct reader *r, const struct yaml_node *mapping); /* scenario_messages.c */
void read_network(struct reader *r, const struct yaml_node *mapping);  /* scenario_hosts.c */
void read_broker(struct reader *r, const struct yaml_node *mapping);   /* scenario_broker.c */
void read_hosts(struct reader *r, const struct yaml_node *mapping);
void read_service(struct reader *r, const struct yaml_node *mapping); /* scenario_service.c */
void read_faults(struct reader *r, const struct yaml_node *mapping);  /* scenario_faults.c */

#endif
