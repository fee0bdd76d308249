/* Which scenarios are played on which receivers: what `run`, `show`, `compare` and `list sites`
 * do first.
 *
 * Owns: the scenarios, and what --receiver added to them.
 */
#ifndef SIM_PLAYS_H
#define SIM_PLAYS_H

#include "sim/options.h"
#include "sim/scenario.h"

/* One scenario on one receiver. */
struct pick {
    const struct scenario *scenario;
    size_t receiver; /* index into scenario->receivers */
};

struct plays {
    struct scenario_list scenarios;
    struct pick *picks; /* in order: scenarios as read, receivers as asked for or as listed */
    size_t count;
};

/* Everything is read and every name resolved before anything is played. Trouble is said to errors;
 * the caller calls plays_fini only after SIM_OK. */
enum sim_error plays_read(struct plays *p, const struct options *o, FILE *errors);
void plays_fini(struct plays *p);

#endif
