/* Settings of receivers as scenario files write them.
 *
 * In: the settings that a receiver's code declares, and `{name: fifo, is: window, window: 20s}`.
 * Out: one value for each, in the code's order, the default where the file says nothing.
 */
#ifndef SIM_SCENARIO_SETTINGS_H
#define SIM_SCENARIO_SETTINGS_H

#include "receivers/receiver.h"
#include "sim/scenario_yaml.h"

#define SETTING_WORDS_MAX 16
#define SETTING_TEXT 80

/* How many settings it has: 0..SETTINGS_MAX. */
size_t settings_count(const struct receiver *code);
/* All values become defaults; those behind the last setting 0. */
void settings_default(const struct receiver *code, int64_t values[SETTINGS_MAX]);

/* The keys of a receiver's mapping: `name`, `is` and the code's settings. False: errors were noted
 * at what is unknown, stands twice or has a wrong value, and `values` hold nothing to rely on. */
bool settings_read(struct yaml *y, const struct yaml_node *mapping, const struct receiver *code,
                   int64_t values[SETTINGS_MAX]);

/* One value. False: an error was noted at the node. */
bool setting_read(struct yaml *y, const struct yaml_node *node, const struct setting *s,
                  int64_t *out);

/* The value as a file writes it: "20s", "3", "true", "group". */
const char *setting_text(const struct setting *s, int64_t value, char out[SETTING_TEXT]);
/* What it may be: "1s..7d", "1..100", "true|false", "queue|group". */
const char *setting_range_text(const struct setting *s, char out[SETTING_TEXT]);

#endif
