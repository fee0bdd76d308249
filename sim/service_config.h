/* What the service outside the receiver's database is told. Plain data; how long a call and its
 * answer take is in struct network_config. */
#ifndef SIM_SERVICE_CONFIG_H
#define SIM_SERVICE_CONFIG_H

#include "sim/base.h"

#define SERVICE_NAME "service"

struct service_config {
    char *name;        /* owned by the scenario; NULL: not in the file, its defaults are played */
    bool keys;         /* it recognises a repeat by the key of the call */
    uint64_t window;   /* how long it keeps a key, from its first receipt, ns; 0: for ever */
    uint64_t time_out; /* how long a caller waits for the answer, ns */
};

static inline const char *service_name(const struct service_config *c)
{
    return c->name != NULL ? c->name : SERVICE_NAME;
}

#endif
