/* The outbox's second half: rows of the outbox become messages, and are marked.
 *
 * In: a turn of the relay, or a handling behind its commit. Out: messages downstream, each row
 * marked as sent or deleted in a transaction of its own, its inbox record dated where that is to
 * begin now.
 */
#include "receivers/outbox.h"

#include <stdio.h>

struct row {
    int64_t seq, parcel, made_at;
    char id[KEY_MAX], inbox[KEY_MAX];
};

/* The row that the last sql() stands on. */
static void take_row(const struct handling *h, struct row *row)
{
    row->seq = handling_column_int(h, 0);
    snprintf(row->id, sizeof(row->id), "%s", handling_column_text(h, 1));
    row->parcel = handling_column_int(h, 2);
    row->made_at = handling_column_int(h, 3);
    snprintf(row->inbox, sizeof(row->inbox), "%s", handling_column_text(h, 4));
}

static enum outcome mark(struct handling *h, const struct row *row)
{
    enum outcome o = begin_immediate(h);
    if (o == OK && handling_setting(h, OUTBOX_READS) == READS_WATERMARK) {
        o = sql(h, STEP_RECORD, OUTBOX_SAW, "i", row->made_at);
    }
    if (o == OK) {
        bool drop = handling_setting(h, OUTBOX_SENT_ROWS) == ROWS_DELETED;
        o = sql(h, STEP_RECORD, drop ? OUTBOX_DROP : OUTBOX_MARK, "i", row->seq);
    }
    if (o == OK && handling_setting(h, OUTBOX_DATED) != DATED_HANDLED) {
        o = retention_keep(h, row->inbox, NULL);
    }
    return o == OK ? commit(h) : o;
}

static enum outcome send_row(struct handling *h, const struct row *row)
{
    char id[KEY_MAX];
    if (handling_setting(h, OUTBOX_IDS) == IDS_NEW) {
        snprintf(id, sizeof(id), "%lld~%.*s", (long long)handling_now(h), KEY_MAX - 24, row->id);
    } else {
        snprintf(id, sizeof(id), "%s", row->id);
    }
    bool waits = handling_setting(h, OUTBOX_MARKED) == MARK_AFTER_ACK;
    return transmit(h, row->parcel, id, waits ? (uint64_t)handling_setting(h, OUTBOX_WAIT) : 0);
}

/* One row of the outbox goes. BUSY: not now. */
static enum outcome dispatch(struct handling *h, const struct row *row)
{
    enum outcome o = OK;
    if (handling_setting(h, OUTBOX_MARKED) == MARK_BEFORE_SEND) {
        o = mark(h, row);
        return o == OK ? send_row(h, row) : o;
    }
    o = send_row(h, row);
    return o == OK || o == DECLINED ? mark(h, row) : o;
}

/* In turn, each once; a row that cannot go stays, and so do those behind it. */
void outbox_relay(struct handling *h)
{
    bool watermark = handling_setting(h, OUTBOX_READS) == READS_WATERMARK;
    struct row row = {0};
    for (;;) {
        enum outcome o = watermark ? sql(h, STEP_LOOK_UP, OUTBOX_NEXT_AFTER, "")
                                   : sql(h, STEP_LOOK_UP, OUTBOX_NEXT, "i", row.seq);
        if (o != ROW) {
            if (o != OK && o != DEAD) {
                relay_again(h);
            }
            return;
        }
        take_row(h, &row);
        o = dispatch(h, &row);
        if (o != OK) {
            if (o != DEAD) {
                rollback(h);
                relay_again(h);
            }
            return;
        }
    }
}

uint64_t outbox_relay_every(const int64_t *values)
{
    bool none = values[OUTBOX_DISPATCH] == DISPATCH_HANDLING;
    return none ? 0 : (uint64_t)values[OUTBOX_EVERY];
}

uint64_t outbox_waits(const int64_t *values)
{
    return values[OUTBOX_MARKED] == MARK_AFTER_ACK ? (uint64_t)values[OUTBOX_WAIT] : 0;
}

/* NServiceBus marks whenever it has dispatched, though there was nothing to dispatch. */
static enum outcome date_anew(struct handling *h)
{
    enum outcome o = begin_immediate(h);
    o = o == OK ? retention_keep(h, handling_key(h), NULL) : o;
    return o == OK ? commit(h) : o;
}

enum outcome outbox_dispatch_own(struct handling *h, bool again)
{
    struct row row = {0};
    if (handling_setting(h, OUTBOX_DISPATCH) == DISPATCH_RELAY) {
        return OK;
    }
    for (;;) {
        enum outcome o = sql(h, STEP_LOOK_UP, OUTBOX_NEXT_OF, "ti", handling_key(h), row.seq);
        if (o != ROW) {
            bool anew = again && row.seq == 0;
            bool dated = handling_setting(h, OUTBOX_DATED) == DATED_EACH_TIME;
            return o == OK && anew && dated ? date_anew(h) : o;
        }
        take_row(h, &row);
        o = dispatch(h, &row);
        if (o != OK) {
            return o;
        }
    }
}
