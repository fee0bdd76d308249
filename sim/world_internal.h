/* What the files of a world share. */
#ifndef SIM_WORLD_INTERNAL_H
#define SIM_WORLD_INTERNAL_H

#include "sim/auditor.h"
#include "sim/broker.h"
#include "sim/host.h"
#include "sim/network.h"
#include "sim/sender.h"
#include "sim/service.h"
#include "sim/world.h"

/* How long after the last first send, or after the end of faults, everything must have ended. */
uint64_t world_span(const struct scenario *s, size_t receiver, const struct schedule *schedule);

/* Counting the receiver's records; sim/world_records.c. */
struct world_records {
    bool counted;          /* for the result */
    bool limited;          /* for bounded-records: there is a bound */
    bool single;           /* an operation has one record at most */
    uint64_t most_allowed; /* 0: only the window limits */
    uint64_t window;       /* 0: only most_allowed limits; ns, as are the following */
    uint64_t sweep, down;  /* period; time lost by deaths so far */
    uint64_t died_at;      /* 0: the receiver is up */
    uint64_t next, gap;    /* when to count */
    unsigned samples;
    uint64_t most; /* records ever counted */
    struct record_counts at_end;
    uint64_t *touches; /* ends of deliveries in order; 0: the operation has a later one */
    size_t count, capacity;
};

/* The second stage: sim/world_downstream.c. */
struct downstream {
    bool on, opened;
    bool emits; /* the first receiver tells this one: operations keep their slots to the end */
    struct operations operations; /* follow-ons; they stay to the end of the run */
    struct network network;
    struct host host;
    struct auditor auditor;
    struct verdict verdict;
    struct host_outlet outlet;
};

struct world {
    const struct scenario *scenario;
    size_t receiver;
    struct run run;
    struct operations operations;
    struct sender *senders;
    struct network network;
    struct service service;
    struct broker broker; /* idle where the scenario has none */
    struct host host;
    struct auditor auditor;
    struct verdict verdict;
    struct world_records records;
    struct downstream downstream;
    uint32_t *retiring; /* slots of closed operations that wait for their effect to be durable */
    uint32_t retiring_count, retiring_capacity;
    uint64_t span;  /* how long after the last send or fault everything must have ended, ns */
    uint64_t limit; /* when all must have ended; SIM_TIME_MAX until the last first send */
    uint64_t events;
    bool opened;
};

/* Whether the receiver's handlings call the service. */
static inline bool world_calls(const struct world *w)
{
    return w->host.code->steps & STEP_BIT(STEP_EXTERNAL);
}

struct sender *world_sender(struct world *w, unsigned place);
static inline struct host *world_host(struct world *w, unsigned place)
{
    return place == PLACE_DOWNSTREAM ? &w->downstream.host : &w->host;
}

/* sim/world_faults.c: faults of the whole world. */
/* Their sites, in the order of the list of kinds and then of places, before the first event; behind
 * them what a file lists beyond the first of its site. */
void world_start_faults(struct world *w);
/* EVENT_CLOCK, EVENT_PARTITION. */
void world_change_clock(struct world *w, const struct fault *f);
void world_show_partition(struct world *w, const struct fault *f);
/* Those that met nothing have not fired, and are no part of the schedule that is told. */
void world_settle_faults(struct world *w);

/* sim/world_records.c, in the order of a run. */
void world_records_start(struct world *w, bool counted);
void world_touch(struct world *w, struct operation *op);
void world_records_died(struct world *w);
void world_records_restarted(struct world *w);
void world_sample(struct world *w, uint64_t before);
void world_records_end(struct world *w, bool quiet);
void world_records_fini(struct world *w);

/* sim/world_downstream.c. Each does nothing where there is no stage downstream. */
enum sim_error downstream_init(struct world *w, unsigned made, FILE *errors);
void downstream_fini(struct world *w);
enum sim_error downstream_start(struct world *w, bool reopen);
void downstream_arrive(struct world *w, const struct event *e);
/* Something is under way there, or may still be sent there. */
bool downstream_busy(const struct world *w);
void downstream_end(struct world *w);

/* sim/world_result.c: counters, verdict and schedule of the run that has ended, but for the disk's
 * counters. */
void world_fill_result(struct world *w, struct result *r);

#endif
