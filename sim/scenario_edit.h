/* Changes of a scenario that keep it whole: every name is found, every number fits.
 *
 * In: a scenario. Out: the same with less in it. Fields that nothing else refers to (delays,
 * limits, settings) are changed by their users directly; what is here moves operations, senders and
 * entities to other numbers, and the faults with them, which are carried over as sentences.
 */
#ifndef SIM_SCENARIO_EDIT_H
#define SIM_SCENARIO_EDIT_H

#include "sim/scenario.h"

/* scenario_fini by the caller. */
void scenario_copy(const struct scenario *from, struct scenario *to);

/* One receiver is left, of which nothing is expected; `explore:` goes. */
void scenario_keep_receiver(struct scenario *s, size_t receiver);

/* Listed messages of all senders, in order: what `keep` below counts. */
size_t scenario_listed(const struct scenario *s);
/* Most messages of one workload; 0: there is none. */
uint64_t scenario_generated(const struct scenario *s);
/* Workloads with more than `count` messages lose the last ones. */
void scenario_cut_workloads(struct scenario *s, uint64_t count);
/* Workloads become the messages that this seed makes of them, in the same loop. */
void scenario_list_workloads(struct scenario *s, uint64_t seed);
/* Listed messages whose flag is not set go, with senders that have none left and with the faults
 * that name them. */
void scenario_keep_messages(struct scenario *s, const bool *keep);

/* Replaces `faults:`. */
void scenario_set_faults(struct scenario *s, const struct fault *faults, size_t count);
/* Numbers that tell apart several faults of one clock or one pair of hosts, as a file's reader
 * gives them. */
void scenario_number_faults(struct fault *faults, size_t count);

#endif
