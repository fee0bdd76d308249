/* Inside a handling: a step's two ends, the store between them. For sim/step.c, sim/store.c and
 * sim/handling.c, which together are what a handler's calls do. */
#ifndef SIM_HANDLING_H
#define SIM_HANDLING_H

#include "sim/host.h"

/* Every call of a handler passes here first. True: its host is dead and the call must answer DEAD.
 * A handler that keeps calling ends the program with exit status 3. */
bool step_refused(struct handling *h);
/* Before the thing itself: sites, a pause, the step's time. OK, or DEAD. */
enum outcome step_enter(struct handling *h, enum step step);
/* After the thing itself, which came to o: the record, sites. statement as in RECORD_STEP. */
enum outcome step_leave(struct handling *h, enum outcome o, int64_t statement);
/* The site of a fault kind at the present step. */
struct site step_site(const struct handling *h, enum fault_kind kind, enum moment moment);

bool handling_site_ask(struct handling *h, enum fault_kind kind, enum moment moment,
                       struct fault_value *value);
/* Asks the schedule at a site of the present step. Inline, since some forty sites lie in the way of
 * each delivery and nearly all are quiet. */
static inline bool handling_site_fires(struct handling *h, enum fault_kind kind, enum moment moment,
                                       struct fault_value *value)
{
    struct schedule *s = &h->host->run->schedule;
    if (schedule_quiet(s, kind)) {
        schedule_skip(s, 1);
        return false;
    }
    return handling_site_ask(h, kind, moment, value);
}

/* Runs a bound statement and follows the transaction that it may begin or end. */
enum outcome store_run(struct handling *h, sqlite3_stmt *stmt);
/* One unit of work under the store faults; stmt is what `run` is called with. A COMMIT that is not
 * applied is rolled back. */
enum outcome store_under_faults(struct handling *h, sqlite3_stmt *stmt,
                                enum outcome (*run)(struct handling *h, sqlite3_stmt *stmt));
/* Runs a bound statement under the store faults. */
enum outcome store_execute(struct handling *h, sqlite3_stmt *stmt);
/* Writes ledger row and balance, under the store faults as if they were one statement. */
enum outcome store_effect(struct handling *h);
/* Rolls back what is open, without a step of its own. */
void store_undo(struct handling *h);

/* Now, for the message that is handled. */
static inline struct occasion handling_occasion(const struct handling *h)
{
    return (struct occasion){h->host->run->now, h->message.attempt, h->message.copy};
}

void handling_record(const struct handling *h, enum record_kind kind, uint8_t code, int64_t value);

#endif
