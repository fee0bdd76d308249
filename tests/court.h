/* A court: what a host, a sender and a copy of the disk would tell the judge, by hand. */
#ifndef TESTS_COURT_H
#define TESTS_COURT_H

#include "sim/verdict.h"

enum { ENTITIES = 3, ROWS = 64 };

struct court {
    struct run run;
    struct operations ops;
    struct verdict v;
    struct {
        int64_t row, amount;
        uint64_t op;
        uint32_t entity;
    } rows[ROWS]; /* the ledger on the disk */
    size_t row_count;
    int64_t balance[ENTITIES];
    bool saves; /* whether the receiver saves responses */
};

void court_open(struct court *c, uint32_t checks, bool no_give_up);
void court_close(struct court *c);
/* Operation n of the first sender is sent and arrives. */
struct operation *operation(struct court *c, uint64_t n, uint32_t entity, int64_t amount);
/* One effect is committed, by a delivery of now. */
void effect(struct court *c, struct operation *op);
/* The disk loses the effects of op. */
void lose(struct court *c, const struct operation *op);
/* To a delivery that arrived just before. */
void replies(struct court *c, struct operation *op, enum reply_status s, int64_t receipt);
/* From now on; no effect may be there yet. */
void contract(struct court *c, uint64_t window, bool late_forbidden);
/* Somebody reads the disk: after a crash, or at the end. */
void audit(struct court *c, bool crashed);
void closes(struct court *c, struct operation *op, enum belief b, bool gave_up);
/* The record of op is completed by another than its owner, and again; there is one too many, and
 * it goes too early. */
void records_go_wrong(struct court *c, struct operation *op);
/* Downstream never hears of op, which has an effect. */
void is_not_told(struct court *c, struct operation *op);
/* The run ends: an audit, then each operation that is left. */
void run_ends(struct court *c);
/* Exactly these checks are violated, and each violation stands in the history. Closes the court. */
void ruled(struct court *c, uint32_t checks);
/* op: NULL for none */
void is_violation(const struct violation *v, enum check check, enum reason reason,
                  const struct operation *op, int64_t a, int64_t b);

#endif
