/* Inbox, effect and outbox in one transaction; messages leave afterwards.
 *
 * In: a message with its key. Out: its effect, once, and one follow-on message to a receiver
 * downstream, at least once and always under one id. The inbox record, the effect and the row of
 * the outbox become durable together or not at all. What lies in the outbox is sent when it is
 * durable: by the handling itself before it answers, by a relay beside it, or both; and marked when
 * it is downstream. A crash between the sending and the mark sends it again, under the same id.
 *
 * Some settings are wrong on purpose: `mark: before-send` loses what was marked and not sent,
 * `mark: after-send` what was lost on its way, `ids: new` hides from downstream that it is told
 * twice, and `relay_reads: watermark` passes over a row that is committed after a later one was
 * read: it asks for rows made after the latest that it has seen, and a slow transaction makes its
 * row early. With `dispatch: handling` a message whose sender gives up between commit and dispatch
 * stays in the outbox for ever.
 *
 * Rows are numbered and no number is used again: who is slow to delete the row that it has sent
 * would delete another one.
 */
#include "receivers/outbox.h"

#include <stdio.h>

#define ROW_OF "SELECT seq, id, parcel, made_at, inbox FROM outbox WHERE "
#define FIRST " ORDER BY seq LIMIT 1"

static const struct statement statements[] = {
    {"INSERT INTO inbox(id) VALUES(?1)", "insert id into inbox"},
    {"INSERT OR IGNORE INTO inbox(id) VALUES(?1)", "note id as received"},
    {"SELECT 1 FROM inbox WHERE id = ?1", "look for id in inbox"},
    {"SELECT 1 FROM inbox WHERE id = ?1 AND consumed = 1", "look whether consumed"},
    {"UPDATE inbox SET consumed = 1 WHERE id = ?1", "note as consumed"},
    {"INSERT INTO outbox(inbox, id, parcel, made_at, sent) VALUES(?1, ?2, ?3, ?4, 0)",
     "put into outbox"},
    {ROW_OF "inbox = ?1 AND sent = 0 AND seq > ?2" FIRST, "read outbox of id"},
    {ROW_OF "sent = 0 AND seq > ?1" FIRST, "read outbox"},
    {ROW_OF "made_at > (SELECT made_at FROM relay) ORDER BY made_at LIMIT 1",
     "read outbox after watermark"},
    {"UPDATE outbox SET sent = 1 WHERE seq = ?1", "mark as sent"},
    {"DELETE FROM outbox WHERE seq = ?1", "delete from outbox"},
    {"UPDATE relay SET made_at = ?1", "write watermark"},
    {NULL, NULL},
};

static const struct setting settings[] = {
    RETENTION_SETTINGS("retention", 0, REMOVAL_LOOK_UP),
    {"dispatch", SETTING_CHOICE, DISPATCH_RELAY, 0, 0, "relay handling both",
     "who sends: a relay, the handling behind its commit, or both"},
    {"every", SETTING_DURATION, RETENTION_SECOND / 10, RETENTION_SECOND / 1000, RETENTION_LONGEST,
     NULL, "time between two turns of the relay"},
    {"wait", SETTING_DURATION, RETENTION_SECOND, 1, RETENTION_LONGEST, NULL,
     "how long a message that was sent waits for its answer"},
    {"mark", SETTING_CHOICE, MARK_AFTER_ACK, 0, 0, "after-ack after-send before-send",
     "when a row counts as sent"},
    {"ids", SETTING_CHOICE, IDS_STABLE, 0, 0, "stable new",
     "a follow-on's id: from the message's key, or another for each time that it is sent"},
    {"sent_rows", SETTING_CHOICE, ROWS_KEPT, 0, 0, "kept deleted", "what becomes of a sent row"},
    {"relay_reads", SETTING_CHOICE, READS_UNSENT, 0, 0, "unsent watermark",
     "rows not marked yet, or rows made after the latest that was sent"},
    {"record", SETTING_CHOICE, RECORD_FIRST, 0, 0, "first last received",
     "the inbox record: before the effect, behind it, or in a transaction of its own before"},
    {"dated", SETTING_CHOICE, DATED_HANDLED, 0, 0, "handled sent each-time",
     "when retention begins: with the effect, when all is sent (never before), and at duplicates"},
    {"key_needed", SETTING_FLAG, 0, 0, 0, NULL, "a message without an id is an error"},
    {.name = NULL},
};

static void answer(struct handling *h, enum outcome o, enum reply_status status, int64_t receipt)
{
    o = o == OK ? outbox_dispatch_own(h, status == REPLY_DUPLICATE) : o;
    if (o != OK) {
        give_up(h, o);
        return;
    }
    reply(h, status, receipt);
}

/* In the open transaction: ROW, it has been handled; OK, it is to be handled. */
static enum outcome begin_once(struct handling *h, const char *key, bool found)
{
    enum outcome o = OK;
    switch (handling_setting(h, OUTBOX_RECORD)) {
    case RECORD_FIRST:
        o = sql(h, STEP_RECORD, OUTBOX_INSERT_ID, "t", key);
        return o == CONSTRAINT ? ROW : o;
    case RECORD_LAST: /* who found it expired may have removed it since */
        return found ? sql(h, STEP_LOOK_UP, OUTBOX_FIND, "t", key) : OK;
    default: /* not our enum */
        o = sql(h, STEP_RECORD, OUTBOX_RECEIVE, "t", key);
        o = o == OK ? commit(h) : o;
        o = o == OK ? begin_immediate(h) : o;
        return o == OK ? sql(h, STEP_LOOK_UP, OUTBOX_CONSUMED, "t", key) : o;
    }
}

static enum outcome effect_and_outbox(struct handling *h, const char *key, int64_t made_at)
{
    char id[KEY_MAX + 8];
    int64_t record = handling_setting(h, OUTBOX_RECORD);
    snprintf(id, sizeof(id), "%s/out", key);
    enum outcome o = apply_effect(h);
    if (o == OK && !handling_registers(h)) {
        o = sql(h, STEP_RECORD, OUTBOX_PUT, "ttii", key, id, handling_parcel(h), made_at);
    }
    if (o == OK && record == RECORD_LAST) {
        o = sql(h, STEP_RECORD, OUTBOX_INSERT_ID, "t", key);
        o = o == CONSTRAINT ? ROW : o; /* another copy was faster */
    }
    if (o == OK && record == RECORD_RECEIVED) {
        o = sql(h, STEP_RECORD, OUTBOX_CONSUME, "t", key);
    }
    if (o == OK && handling_setting(h, OUTBOX_DATED) == DATED_HANDLED) {
        o = retention_keep(h, key, NULL);
    }
    return o == OK ? commit(h) : o;
}

static void outbox_handle(struct handling *h)
{
    const char *key = handling_key(h);
    int64_t made_at = (int64_t)handling_now(h);
    enum outcome o = OK;
    if (key[0] == '\0' && handling_setting(h, OUTBOX_KEY_NEEDED)) {
        give_up(h, STORE_ERROR);
        return;
    }
    bool late = handling_setting(h, OUTBOX_RECORD) == RECORD_LAST;
    o = late ? sql(h, STEP_LOOK_UP, OUTBOX_FIND, "t", key) : o;
    bool found = o == ROW;
    o = o == OK || o == ROW ? begin_immediate(h) : o;
    o = o == OK ? retention_look(h, key, NULL) : o;
    if (o == OK && retention_stale(h)) {
        rollback(h);
        return;
    }
    o = o == OK ? begin_once(h, key, found) : o;
    o = o == OK ? effect_and_outbox(h, key, made_at) : o;
    if (o == ROW) {
        /* Whoever waits for the messages dates it when they are sent. */
        bool handled = handling_setting(h, OUTBOX_DATED) == DATED_HANDLED;
        o = handled ? retention_end_duplicate(h, key, NULL) : rollback(h);
        answer(h, o, REPLY_DUPLICATE, 0);
        return;
    }
    answer(h, o, REPLY_DONE, handling_receipt(h));
}

static const struct keeping keeping = {.table = "inbox", .key = "id = ?1"};

const struct receiver receiver_outbox = {
    .name = "outbox",
    .about = "inbox, effect and outbox in one transaction, sent and marked afterwards",
    .source = "Transactional outbox and inbox: NServiceBus, MassTransit, Eventuate Tram",
    .schema = "CREATE TABLE inbox(id TEXT PRIMARY KEY, consumed INTEGER) WITHOUT ROWID;"
              "CREATE TABLE outbox(seq INTEGER PRIMARY KEY AUTOINCREMENT, inbox TEXT NOT NULL, id "
              "TEXT NOT NULL,"
              " parcel INTEGER NOT NULL, made_at INTEGER NOT NULL, sent INTEGER NOT NULL);"
              "CREATE INDEX outbox_unsent ON outbox(seq) WHERE sent = 0;"
              "CREATE INDEX outbox_of ON outbox(inbox, seq);"
              "CREATE TABLE relay(made_at INTEGER NOT NULL);"
              "INSERT INTO relay VALUES(-1);",
    .statements = statements,
    .settings = settings,
    .axes =
        {
            [AXIS_KEY] = "given id",
            [AXIS_SCOPE] = "receiver",
            [AXIS_STRUCTURE] = "set, and what is still to be sent",
            [AXIS_MOMENT] = "with the effect",
            [AXIS_CONCURRENT] = "blocked",
            [AXIS_ANSWER] = "ignored; what was not sent yet is sent",
            [AXIS_MISMATCH] = "ignored",
            [AXIS_FAILURE] = "roll back",
            [AXIS_REMOVAL] = "never; see settings",
            [AXIS_RECOVERY] = "durable",
            [AXIS_ACK] = "after commit, or after the outgoing messages",
        },
    .steps = STEP_BIT(STEP_RECEIVE) | STEP_BIT(STEP_BEGIN) | STEP_BIT(STEP_LOOK_UP) |
             STEP_BIT(STEP_RECORD) | STEP_BIT(STEP_EFFECT) | STEP_BIT(STEP_COMMIT) |
             STEP_BIT(STEP_ROLLBACK) | STEP_BIT(STEP_REPLY) | STEP_BIT(STEP_EXPIRE) |
             STEP_BIT(STEP_SEND),
    .handle = outbox_handle,
    .relay = outbox_relay,
    .relay_every = outbox_relay_every,
    .waits = outbox_waits,
    .keeping = &keeping,
};
