/* Does a receiver remember for as long as its senders may retry? Computed, without a run.
 *
 * In: senders, network, listed faults and clocks of a scenario; what one receiver promises with its
 * settings. Out: whether that covers the latest retry, and a sentence that says what to change.
 *
 * Needed is the longest time from the first delivery of an operation to a later one being looked
 * up: the longest retry horizon by the slowest clock of its sender, the longest way of a request
 * with its listed delays and late copies, sender restarts, one handling and its pauses, and what
 * the receiver's clock may run ahead meanwhile. What waits in the receiver's queue behind other
 * messages is not counted. A partition cuts what it meets and makes nothing late. A record is
 * expired at the age of its retention, so it must be kept for longer than that.
 */
#ifndef SIM_COVER_H
#define SIM_COVER_H

#include "sim/scenario.h"

enum cover_what {
    COVER_ALL,         /* everything is covered */
    COVER_RETENTION,   /* needed, given: ns */
    COVER_RECORDS,     /* needed, given: numbers of records */
    COVER_LEASE_LONG,  /* needed: lease, given: shortest retry horizon, ns */
    COVER_LEASE_SHORT, /* needed: longest handling, given: lease, ns */
};

#define COVER_TEXT 4096

struct cover {
    bool judged; /* false: the receiver does not say how it keeps records; the rest means nothing */
    bool holds;
    uint8_t what;           /* enum cover_what: the first that does not hold */
    uint64_t needed, given; /* where all holds: ns of the retention; given 0: for ever */
    char text[COVER_TEXT];  /* one sentence; "" where all holds */
};

/* r: an entry of s->receivers. */
void cover_compute(const struct scenario *s, const struct scenario_receiver *r, struct cover *out);

/* What a receiver promises with its settings: by its own function, or by RETENTION_SETTINGS. */
void cover_promise(const struct scenario_receiver *r, struct promise *out);
/* How far the receiver's clock may be from the time since any moment after that long, ns; early:
 * how much more it may show, else how much less. Constant offsets do not count. */
uint64_t cover_clock_error(const struct scenario *s, uint64_t over, bool early);

#endif
