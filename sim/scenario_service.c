/* `service:` of a scenario file: the system outside the receiver's database that its handlers call.
 *
 * In: the scenario's mapping, with the senders read. Out: what the service is told; without the key
 * its defaults, under no name that the file could use.
 */
#include "sim/scenario_internal.h"

#include "sim/words.h"

#include <stdlib.h>
#include <string.h>

static const struct dist delay_default = {.kind = DIST_UNIFORM, .a = 20 * SIM_MS, .b = 80 * SIM_MS};

/* Each place of the world has a name of its own. */
static void check_name(struct reader *r, const struct yaml_node *node, char *name)
{
    struct sentence_names names = scenario_names(r->s);
    if (names.place(names.context, name, strlen(name)) != PLACE_NONE) {
        char quoted[60];
        words_quote(name, strlen(name), quoted, sizeof(quoted));
        yaml_error(&r->yaml, node->at,
                   "%s is taken by another place of the world; name the service otherwise, such as "
                   "\"card\"",
                   quoted);
    }
}

void read_service(struct reader *r, const struct yaml_node *mapping)
{
    struct yaml *y = &r->yaml;
    struct service_config *c = &r->s->service;
    *c = (struct service_config){.keys = true, .time_out = 5 * SIM_S};
    r->s->network.outside = delay_default;
    const struct yaml_node *node = value_of(mapping, "service");
    if (node == NULL ||
        !READ_MAPPING(y, node, "service", "name", "keys", "window", "delay", "time_out")) {
        return;
    }
    char *name = NULL;
    const struct yaml_node *named = value_of(node, "name");
    read_name(y, named, "the name of the service", PLACE_NAME_MAX, &name);
    name = name != NULL ? name : sim_strdup(SERVICE_NAME);
    check_name(r, named != NULL ? named : node, name);
    c->name = name;
    read_bool(y, value_of(node, "keys"), &c->keys);
    const struct yaml_node *window = value_of(node, "window");
    if (read_duration(y, window, 0, &c->window) && window != NULL && c->window > 0 && !c->keys) {
        yaml_error(y, window->at, "\"window\" is how long keys are kept, and \"keys\" is false");
    }
    read_dist(y, value_of(node, "delay"), &r->s->network.outside);
    read_duration(y, value_of(node, "time_out"), 1, &c->time_out);
}
