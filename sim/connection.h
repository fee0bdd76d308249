/* Opening a host's connections: settings, schema, prepared statements. */
#ifndef SIM_CONNECTION_H
#define SIM_CONNECTION_H

#include "sim/host.h"

/* Opens w's connection on the host's disk, with the host's arena in use. create: also make the
 * tables. SIM_ERR_STORE with SQLite's text on `errors`. */
enum sim_error connection_open(struct worker *w, bool create, FILE *errors);
void connection_close(struct worker *w);

#endif
