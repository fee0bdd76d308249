/* What the files of a host share. */
#ifndef SIM_HOST_INTERNAL_H
#define SIM_HOST_INTERNAL_H

#include "sim/host.h"

/* Starts w's handling at entry, or lets it go on where that is NULL, until it sleeps or ends. */
void host_run_worker(struct host *h, struct worker *w, void (*entry)(void *worker));
/* After a worker ran: deals with the end of the process, then hands out what waits. */
void host_pump(struct host *h);

/* Connections that sweeps need: 1 or 0. Before anything is opened. */
uint32_t host_sweeper_init(struct host *h);
/* The same for the relay; it comes behind the sweeper. */
uint32_t host_relay_init(struct host *h);
/* A turn of the relay is over. */
void host_relay_ended(struct host *h);
/* The next sweep of this process. */
void host_sweep_later(struct host *h);

#endif
