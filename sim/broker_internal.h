/* What the files of a broker share: its entries and lists, and the keys that it has accepted. */
#ifndef SIM_BROKER_INTERNAL_H
#define SIM_BROKER_INTERNAL_H

#include "sim/broker.h"

/* --- sim/broker_entry.c */

void entries_reset(struct broker *b);
/* A zeroed entry of its own generation, in no list. Others may move. */
uint32_t entry_new(struct broker *b);
void entry_free(struct broker *b, uint32_t e);
void entry_insert(struct broker *b, struct entry_list *l, uint32_t e); /* by position */
void entry_remove(struct broker *b, struct entry_list *l, uint32_t e);
/* The entry that an ack names; NULL: it is gone. */
struct entry *entry_named(const struct broker *b, int64_t ticket);
/* One of them is in the queue and no dead letter. */
bool entry_has_key(const struct broker *b, uint64_t key);
/* The first one that may be delivered now; BROKER_NO_ENTRY: none. */
uint32_t entry_deliverable(const struct broker *b);

/* --- sim/broker_window.c */

void window_reset(struct broker *b);
/* True: the key (a hash; 0: none) was accepted less than the window ago, or is in the queue. False:
 * it is accepted now. */
bool window_keeps_out(struct broker *b, uint64_t key);

#endif
