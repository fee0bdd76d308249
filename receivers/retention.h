/* Retention: how long a record is kept, and what ends it. One mechanism for every receiver that
 * keeps records in a table of its own (`keeping` of struct receiver).
 *
 * In: a handling at three moments, in its open transaction: before it looks for its record, when it
 * has met a duplicate, when it has made its record. Out: records dated, restarted and removed as
 * the settings say. With the default of `retention` and `most`, nothing is limited: each call
 * answers OK without a step and without SQL.
 *
 * A record's age counts from `since`. It is expired when its age is `retention` or more.
 *   look-up  an expired record is removed when its own key comes again; before that it stays
 *   sweep    the look-up does not ask for the age; every `sweep`, at most `batch` records go
 *   both     both
 *   never    nothing is removed, and an expired record still counts
 * `most` and `acknowledged` remove at retention_keep, whatever `removal` says.
 *
 *     o = begin_immediate(h);
 *     o = retention_look(h, key, NULL)          ... its settings begin with RETENTION_SETTINGS
 *     retention_stale(h)?                       -> rollback(h), and no answer
 *     insert, claim or look up the record       -> there? retention_end_duplicate, reply
 *     apply_effect(h)
 *     o = retention_keep(h, key, NULL)          ... last, so that completion is completion
 *     o = commit(h)
 *
 * A record that retention_keep has not dated (one in progress) never expires, is not counted by
 * `most` and is never evicted: leases are the receiver's own. A receiver names its columns when it
 * inserts, for there are more (kept_since, kept_turn, ...), and does not INSERT OR REPLACE a dated
 * record, which would be counted twice.
 */
#ifndef RECEIVERS_RETENTION_H
#define RECEIVERS_RETENTION_H

#include "receivers/receiver.h"

#define RETENTION_SECOND INT64_C(1000000000)
#define RETENTION_LONGEST (3650 * INT64_C(86400) * RETENTION_SECOND)

/* The first settings of a receiver with records. name: "retention", or what the system calls it;
 * ns: its default, 0 for ever; least: its least value but for 0. */
enum retention_setting {
    RETENTION,
    RETENTION_STARTS,
    RETENTION_CLOCK,
    RETENTION_MOST,
    RETENTION_EVICT,
    RETENTION_ACKNOWLEDGED,
    RETENTION_REMOVAL,
    RETENTION_SWEEP,
    RETENTION_BATCH,
    RETENTION_SETTINGS_COUNT
};
enum retention_starts { STARTS_RECEIPT, STARTS_COMPLETION, STARTS_LAST_SEEN };
enum retention_clock { CLOCK_RECEIVER, CLOCK_SENDER };
enum retention_evict { EVICT_OLDEST, EVICT_LEAST_RECENT };
enum retention_removal { REMOVAL_LOOK_UP, REMOVAL_SWEEP, REMOVAL_BOTH, REMOVAL_NEVER };

#define RETENTION_SETTINGS(name, ns, removal)                                                      \
    {name,                                                                                         \
     SETTING_DURATION,                                                                             \
     ns,                                                                                           \
     0,                                                                                            \
     RETENTION_LONGEST,                                                                            \
     NULL,                                                                                         \
     "how long a record is kept; 0s: for ever"},                                                   \
        {"starts",                                                                                 \
         SETTING_CHOICE,                                                                           \
         STARTS_RECEIPT,                                                                           \
         0,                                                                                        \
         0,                                                                                        \
         "receipt completion last-seen",                                                           \
         "what starts that time"},                                                                 \
        {"clock",                                                                                  \
         SETTING_CHOICE,                                                                           \
         CLOCK_RECEIVER,                                                                           \
         0,                                                                                        \
         0,                                                                                        \
         "receiver sender",                                                                        \
         "whose clock dates a record; the sender's when it made the message"},                     \
        {"most", SETTING_NUMBER, 0, 0, 1000000000, NULL, "most records kept; 0: any number"},      \
        {"evict",                                                                                  \
         SETTING_CHOICE,                                                                           \
         EVICT_OLDEST,                                                                             \
         0,                                                                                        \
         0,                                                                                        \
         "oldest least-recent",                                                                    \
         "which record goes when there are too many"},                                             \
        {"acknowledged",                                                                           \
         SETTING_FLAG,                                                                             \
         0,                                                                                        \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "a record goes when its client says that it has the answer"},                             \
        {"removal",                                                                                \
         SETTING_CHOICE,                                                                           \
         removal,                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         "look-up sweep both never",                                                               \
         "what removes an expired record"},                                                        \
        {"sweep",                                                                                  \
         SETTING_DURATION,                                                                         \
         60 * RETENTION_SECOND,                                                                    \
         RETENTION_SECOND / 100,                                                                   \
         RETENTION_LONGEST,                                                                        \
         NULL,                                                                                     \
         "time between two sweeps"},                                                               \
    {                                                                                              \
        "batch", SETTING_NUMBER, 1000, 0, 1000000000, NULL,                                        \
            "most records that a sweep removes; 0: all"                                            \
    }

/* Before the look-up, in the open transaction. a, b: what stands for ?1 and ?2 in keeping->key; b
 * may be NULL. OK, or trouble with the store. Steps: look-up with `acknowledged`, expire with
 * `retention` where the look-up removes. */
enum outcome retention_look(struct handling *h, const char *a, const char *b);
/* True: the client has acknowledged this message's answer with an operation that was kept
 * since, so this is a late copy whose record is gone; a receiver rolls back and drops it without
 * an answer. As the last retention_look of this handling found it. */
bool retention_stale(const struct handling *h);
/* A duplicate has been met: its record's time starts anew where the settings say so, and the
 * transaction is ended, by COMMIT if something changed, by ROLLBACK if not. */
enum outcome retention_end_duplicate(struct handling *h, const char *a, const char *b);
/* The same within the transaction, which stays open: the duplicate is executed, since the record
 * is of an execution that ended without a result. */
enum outcome retention_touch(struct handling *h, const char *a, const char *b);
/* The record has been made (or completed): dated, and what is too much removed. Steps: record, then
 * expire and record with `acknowledged`, expire with `most`. */
enum outcome retention_keep(struct handling *h, const char *a, const char *b);

/* For `promise` of a receiver: how long a finished record is kept, ns; 0: for ever. */
uint64_t retention_promised(const int64_t *settings);

/* For the harness. */
/* Whether records are limited at all, and whether there are sweeps. */
bool retention_limits(const struct receiver *code, const int64_t *settings);
bool retention_sweeps(const struct receiver *code, const int64_t *settings);
/* What a sweep of the host runs on a connection of its own. */
void retention_run_sweep(struct handling *h);
/* SQL that is run once behind the schema: columns and indexes of the table; NULL: none. Static
 * text or text in out[size]. */
const char *retention_schema(const struct receiver *code, const int64_t *settings, char *out,
                             size_t size);
/* Statements behind the receiver's own: index RETENTION_STATEMENTS + i, i < count. SQL into
 * out[size], brief is static text. NULL: there is none, or it is not needed with these settings. */
#define RETENTION_STATEMENTS 24
#define RETENTION_STATEMENTS_MAX 8
const char *retention_sql(const struct receiver *code, const int64_t *settings, unsigned i,
                          char *out, size_t size);
const char *retention_brief(unsigned i);

#endif
