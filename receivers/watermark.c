/* The watermark: the highest sequence number of each producer.
 *
 * In: a message with its number with its client. Out: its effect if the number lies above the
 * highest one accepted so far, which then is this one. At or below it the message is a repeat:
 * among the `last` ones it gets the first receipt, beyond them what `older` says.
 *
 * A number above the next one leaves a gap. `gaps: refused` waits until the missing one has come,
 * so that nothing can be overtaken. `gaps: accepted` takes it, and the missing one, when it comes,
 * is answered as a repeat although it never was processed.
 *
 * The state of a producer that has accepted nothing for `expires` is gone; from a producer without
 * state any number is accepted.
 *
 * Left out: batches, which are judged by their first and last number; epochs, by which a producer
 * that starts again fences its predecessor and numbers from the start.
 */
#include "receivers/retention.h"

enum { EXPIRE, FIND, READ, NOTE, SAVE, FORGET };

static const struct statement statements[] = {
    {"DELETE FROM producer WHERE client = ?1 AND seen <= ?2", "remove producer if idle"},
    {"SELECT highest FROM producer WHERE client = ?1", "look for highest number"},
    {"SELECT status, receipt FROM batch WHERE client = ?1 AND sequence = ?2", "look for number"},
    {"INSERT INTO producer(client, highest, seen) VALUES(?1, ?2, ?3) ON CONFLICT(client)"
     " DO UPDATE SET highest = excluded.highest, seen = excluded.seen",
     "note highest number"},
    {"INSERT INTO batch(client, sequence, status, receipt) VALUES(?1, ?2, ?3, ?4)", "save receipt"},
    {"DELETE FROM batch WHERE client = ?1 AND sequence <= (SELECT sequence FROM batch"
     " WHERE client = ?1 ORDER BY sequence DESC LIMIT 1 OFFSET ?2)",
     "forget older receipts"},
    {NULL, NULL},
};

enum { GAPS, LAST, OLDER, EXPIRES, CLOCK };
enum { GAPS_REFUSED, GAPS_ACCEPTED };
enum { OLDER_REFUSED, OLDER_DUPLICATE };

static const struct setting settings[] = {
    {"gaps", SETTING_CHOICE, GAPS_REFUSED, 0, 0, "refused accepted",
     "a number above the next one: to be sent again later, or accepted"},
    {"last", SETTING_NUMBER, 5, 0, 1000000, NULL,
     "latest numbers whose repeats get the first receipt; 0: none"},
    {"older", SETTING_CHOICE, OLDER_REFUSED, 0, 0, "refused duplicate",
     "a number below those: to be sent again later, or a repeat without a receipt"},
    {"expires", SETTING_DURATION, 86400 * RETENTION_SECOND, 0, RETENTION_LONGEST, NULL,
     "how long the state of an idle producer is kept; 0s: for ever"},
    {"clock", SETTING_CHOICE, CLOCK_RECEIVER, 0, 0, "receiver sender",
     "whose clock dates what a producer last did; its age is read off the receiver's"},
    {.name = NULL},
};

static void promise(const int64_t *values, struct promise *out)
{
    *out = (struct promise){
        .retention = (uint64_t)values[EXPIRES], .retention_name = "expires", .fenced = true};
}

static void turn_away(struct handling *h, enum reply_status status, int64_t receipt)
{
    enum outcome o = rollback(h);
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, status, receipt);
}

/* At or below the highest number. */
static void repeat(struct handling *h, int64_t n)
{
    enum outcome o = OK;
    if (handling_setting(h, LAST) > 0) {
        o = sql(h, STEP_LOOK_UP, READ, "ti", handling_client(h), n);
    }
    if (o == ROW) {
        enum reply_status status = (enum reply_status)handling_column_int(h, 0);
        int64_t receipt = handling_column_int(h, 1);
        turn_away(h, status == REPLY_DONE ? REPLY_DUPLICATE : status, receipt);
    } else if (o != OK) {
        give_up(h, o);
    } else {
        bool duplicate = handling_setting(h, OLDER) == OLDER_DUPLICATE;
        turn_away(h, duplicate ? REPLY_DUPLICATE : REPLY_RETRY_LATER, 0);
    }
}

static void accept(struct handling *h, int64_t n)
{
    const char *client = handling_client(h);
    bool by_sender = handling_setting(h, CLOCK) == CLOCK_SENDER;
    int64_t seen = by_sender ? handling_made_at(h) : (int64_t)handling_now(h);
    enum outcome o = apply_effect(h);
    /* Where gaps are refused, one that is declined uses up its number all the same. */
    bool declined = o == DECLINED && handling_setting(h, GAPS) == GAPS_REFUSED;
    enum reply_status status = declined ? REPLY_REFUSED : REPLY_DONE;
    int64_t receipt = declined ? 0 : handling_receipt(h);
    if (o == OK || declined) {
        o = sql(h, STEP_RECORD, NOTE, "tii", client, n, seen);
    }
    if (o == OK && handling_setting(h, LAST) > 0) {
        o = sql(h, STEP_RECORD, SAVE, "tiii", client, n, (int64_t)status, receipt);
        o = o == OK ? sql(h, STEP_EXPIRE, FORGET, "ti", client, handling_setting(h, LAST)) : o;
    }
    if (o == OK) {
        o = commit(h);
    }
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, status, receipt);
}

static void watermark_handle(struct handling *h)
{
    const char *client = handling_client(h);
    int64_t n = handling_number(h), expires = handling_setting(h, EXPIRES);
    enum outcome o = begin_immediate(h);
    if (o == OK && expires > 0) {
        o = sql(h, STEP_EXPIRE, EXPIRE, "ti", client, (int64_t)handling_now(h) - expires);
    }
    if (o == OK) {
        o = sql(h, STEP_LOOK_UP, FIND, "t", client);
    }
    if (o != OK && o != ROW) {
        give_up(h, o);
        return;
    }
    bool known = o == ROW;
    int64_t highest = known ? handling_column_int(h, 0) : 0;
    if (known && n <= highest) {
        repeat(h, n);
    } else if (known && n > highest + 1 && handling_setting(h, GAPS) == GAPS_REFUSED) {
        turn_away(h, REPLY_RETRY_LATER, 0);
    } else {
        accept(h, n);
    }
}

const struct receiver receiver_watermark = {
    .name = "watermark",
    .about = "the highest number of each producer; gaps refused, the last five answered again",
    .source = "Kafka, idempotent producer; Pulsar, message deduplication",
    .asks = "a client's first message comes first, none is given up, none is late by `last`",
    .schema = "CREATE TABLE producer(client TEXT PRIMARY KEY, highest INTEGER NOT NULL,"
              " seen INTEGER NOT NULL) WITHOUT ROWID;"
              "CREATE TABLE batch(client TEXT NOT NULL, sequence INTEGER NOT NULL,"
              " status INTEGER NOT NULL, receipt INTEGER NOT NULL, PRIMARY KEY(client, sequence))"
              " WITHOUT ROWID;"
              "CREATE TRIGGER producer_ends AFTER DELETE ON producer"
              " BEGIN DELETE FROM batch WHERE client = old.client; END;",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "client + number",
            [AXIS_SCOPE] = "client",
            [AXIS_STRUCTURE] = "high watermark, and the last n",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "the first receipt for the last n; see `older`",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] =
                "roll back; what is declined uses up its number, but for accepted gaps",
            [AXIS_WINDOW_CLOCK] = "last accepted message; see `clock`",
            [AXIS_REMOVAL] = "at look-up, idle producers; receipts by the next ones",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_EXPIRE),
    .handle = watermark_handle,
    .promise = promise,
};
