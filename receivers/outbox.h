/* What the two halves of the outbox share: handling a message, and sending what it left behind. */
#ifndef RECEIVERS_OUTBOX_H
#define RECEIVERS_OUTBOX_H

#include "receivers/retention.h"

/* Statements, by their index. */
enum {
    OUTBOX_INSERT_ID,
    OUTBOX_RECEIVE,
    OUTBOX_FIND,
    OUTBOX_CONSUMED,
    OUTBOX_CONSUME,
    OUTBOX_PUT,
    OUTBOX_NEXT_OF,
    OUTBOX_NEXT,
    OUTBOX_NEXT_AFTER,
    OUTBOX_MARK,
    OUTBOX_DROP,
    OUTBOX_SAW,
};

/* Settings, by their index, and their words. */
enum {
    OUTBOX_DISPATCH = RETENTION_SETTINGS_COUNT,
    OUTBOX_EVERY,
    OUTBOX_WAIT,
    OUTBOX_MARKED,
    OUTBOX_IDS,
    OUTBOX_SENT_ROWS,
    OUTBOX_READS,
    OUTBOX_RECORD,
    OUTBOX_DATED,
    OUTBOX_KEY_NEEDED,
};
enum { DISPATCH_RELAY, DISPATCH_HANDLING, DISPATCH_BOTH };
enum { MARK_AFTER_ACK, MARK_AFTER_SEND, MARK_BEFORE_SEND };
enum { IDS_STABLE, IDS_NEW };
enum { ROWS_KEPT, ROWS_DELETED };
enum { READS_UNSENT, READS_WATERMARK };
enum { RECORD_FIRST, RECORD_LAST, RECORD_RECEIVED };
enum { DATED_HANDLED, DATED_SENT, DATED_EACH_TIME };

/* receivers/outbox_dispatch.c: a turn of the relay, its period (0: there is none), and how long it
 * waits for an answer; ns. */
void outbox_relay(struct handling *h);
uint64_t outbox_relay_every(const int64_t *values);
uint64_t outbox_waits(const int64_t *values);
/* Sends what this message has put into the outbox and is still there, where that is the handling's
 * business; again: it has been handled before. */
enum outcome outbox_dispatch_own(struct handling *h, bool again);

#endif
