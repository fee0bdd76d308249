/* What the files of the verdict share. */
#ifndef SIM_VERDICT_INTERNAL_H
#define SIM_VERDICT_INTERNAL_H

#include "sim/verdict.h"

/* So many items were judged, where the check is. */
void verdict_count(struct verdict *v, enum check check, uint64_t items);
/* op may be NULL. An operation is reported once for each check. Returns the violation that was
 * kept, valid until the next; NULL: none was. */
struct violation *verdict_violate(struct verdict *v, struct operation *op, enum check check,
                                  enum reason reason, int64_t a, int64_t b);

#endif
