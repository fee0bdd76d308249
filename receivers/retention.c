/* How long a record is kept: SQL that is made once for each receiver, and when it runs.
 *
 * In: the receiver's table and the condition on its key, its settings, a handling in its open
 * transaction. Out: rows dated, started anew and removed.
 *
 * Columns, behind the receiver's own: kept_since dates the record, kept_turn orders records (the
 * highest is the newest), kept_client and kept_number say whose operation it is. They are NULL
 * until retention_keep: a record in progress has no age, is not counted and is never removed. The
 * number of dated records is kept by triggers, so that nothing counts rows.
 */
#include "receivers/retention.h"

#include <stdarg.h>
#include <string.h>

enum { LOOK, DATE, ANEW, EVICT, ANSWERED, LOW_WATER, STALE, SWEEP };
_Static_assert(SWEEP + 1 == RETENTION_STATEMENTS_MAX, "a statement each");

/* What the settings ask for. */
struct limits {
    bool age, most, acknowledged;
    bool last_seen, least_recent;
    bool look, sweep;
};

static struct limits limits_of(const int64_t *settings)
{
    int64_t removal = settings[RETENTION_REMOVAL];
    struct limits l = {
        .age = settings[RETENTION] > 0 && removal != REMOVAL_NEVER,
        .most = settings[RETENTION_MOST] > 0,
        .acknowledged = settings[RETENTION_ACKNOWLEDGED] != 0,
    };
    l.last_seen = l.age && settings[RETENTION_STARTS] == STARTS_LAST_SEEN;
    l.least_recent = l.most && settings[RETENTION_EVICT] == EVICT_LEAST_RECENT;
    l.look = l.age && removal != REMOVAL_SWEEP;
    l.sweep = l.age && removal != REMOVAL_LOOK_UP;
    return l;
}

static struct limits limits_here(const struct handling *h)
{
    int64_t settings[RETENTION_SETTINGS_COUNT];
    if (handling_setting(h, RETENTION) == 0 && handling_setting(h, RETENTION_MOST) == 0 &&
        handling_setting(h, RETENTION_ACKNOWLEDGED) == 0) {
        return (struct limits){0};
    }
    for (unsigned i = 0; i < RETENTION_SETTINGS_COUNT; i++) {
        settings[i] = handling_setting(h, i);
    }
    return limits_of(settings);
}

bool retention_limits(const struct receiver *code, const int64_t *settings)
{
    if (code->keeping == NULL) {
        return false;
    }
    struct limits l = limits_of(settings);
    return l.age || l.most || l.acknowledged;
}

uint64_t retention_promised(const int64_t *settings)
{
    return settings[RETENTION_REMOVAL] == REMOVAL_NEVER ? 0 : (uint64_t)settings[RETENTION];
}

bool retention_sweeps(const struct receiver *code, const int64_t *settings)
{
    return code->keeping != NULL && limits_of(settings).sweep;
}

/* ---- SQL ---- */

__attribute__((format(printf, 3, 4))) static const char *say(char *out, size_t size,
                                                             const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int n = vsnprintf(out, size, format, values);
    va_end(values);
    must(n >= 0 && (size_t)n < size);
    return out;
}

const char *retention_schema(const struct receiver *code, const int64_t *settings, char *out,
                             size_t size)
{
    if (!retention_limits(code, settings)) {
        return NULL;
    }
    const char *t = code->keeping->table;
    struct limits l = limits_of(settings);
    int n = snprintf(out, size,
                     "ALTER TABLE %s ADD COLUMN kept_since INTEGER;"
                     "ALTER TABLE %s ADD COLUMN kept_turn INTEGER;"
                     "CREATE INDEX kept_by_turn ON %s(kept_turn);",
                     t, t, t);
    must(n >= 0 && (size_t)n < size);
    size_t at = (size_t)n;
    if (l.sweep) {
        say(out + at, size - at, "CREATE INDEX kept_by_age ON %s(kept_since, kept_turn);", t);
        at += strlen(out + at);
    }
    if (l.most) {
        say(out + at, size - at,
            "CREATE TABLE kept_count(records INTEGER NOT NULL);"
            "INSERT INTO kept_count VALUES(0);"
            "CREATE TRIGGER kept_one_more AFTER UPDATE OF kept_turn ON %s"
            " WHEN old.kept_turn IS NULL"
            " BEGIN UPDATE kept_count SET records = records + 1; END;"
            "CREATE TRIGGER kept_one_less AFTER DELETE ON %s WHEN old.kept_turn IS NOT NULL"
            " BEGIN UPDATE kept_count SET records = records - 1; END;",
            t, t);
        at += strlen(out + at);
    }
    if (l.acknowledged) {
        say(out + at, size - at,
            "ALTER TABLE %s ADD COLUMN kept_client TEXT;"
            "ALTER TABLE %s ADD COLUMN kept_number INTEGER;"
            "CREATE INDEX kept_by_client ON %s(kept_client, kept_number);"
            "CREATE TABLE kept_acknowledged(client TEXT PRIMARY KEY, number INTEGER NOT NULL)"
            " WITHOUT ROWID;",
            t, t, t);
    }
    return out;
}

#define NEXT_TURN "kept_turn = (SELECT coalesce(max(kept_turn), 0) + 1 FROM %s)"

/* A delivery may have waited for longer than the one that dated the record: never backwards. */
static const char *anew(const struct keeping *k, struct limits l, char *out, size_t size)
{
    if (l.last_seen && l.least_recent) {
        return say(out, size,
                   "UPDATE %s SET kept_since = max(kept_since, ?3), " NEXT_TURN
                   " WHERE (%s) AND kept_turn IS NOT NULL",
                   k->table, k->table, k->key);
    }
    if (l.last_seen) {
        return say(
            out, size,
            "UPDATE %s SET kept_since = max(kept_since, ?3) WHERE (%s) AND kept_turn IS NOT NULL",
            k->table, k->key);
    }
    return say(out, size, "UPDATE %s SET " NEXT_TURN " WHERE (%s) AND kept_turn IS NOT NULL",
               k->table, k->table, k->key);
}

const char *retention_sql(const struct receiver *code, const int64_t *settings, unsigned i,
                          char *out, size_t size)
{
    if (!retention_limits(code, settings)) {
        return NULL;
    }
    const struct keeping *k = code->keeping;
    struct limits l = limits_of(settings);
    switch (i) {
    case LOOK:
        return l.look ? say(out, size, "DELETE FROM %s WHERE (%s) AND kept_since <= ?3", k->table,
                            k->key)
                      : NULL;
    case DATE:
        return say(out, size, "UPDATE %s SET kept_since = ?3, " NEXT_TURN "%s WHERE (%s)", k->table,
                   k->table, l.acknowledged ? ", kept_client = ?4, kept_number = ?5" : "", k->key);
    case ANEW:
        return l.last_seen || l.least_recent ? anew(k, l, out, size) : NULL;
    case EVICT:
        return l.most ? say(out, size,
                            "DELETE FROM %s WHERE kept_turn IN (SELECT kept_turn FROM %s"
                            " WHERE kept_turn IS NOT NULL ORDER BY kept_turn"
                            " LIMIT (SELECT max(records - ?1, 0) FROM kept_count))",
                            k->table, k->table)
                      : NULL;
    case ANSWERED:
        return l.acknowledged
                   ? say(out, size, "DELETE FROM %s WHERE kept_client = ?1 AND kept_number <= ?2",
                         k->table)
                   : NULL;
    case LOW_WATER:
        return l.acknowledged ? "INSERT INTO kept_acknowledged(client, number) VALUES(?1, ?2)"
                                " ON CONFLICT(client) DO UPDATE SET number = excluded.number"
                                " WHERE excluded.number > number"
                              : NULL;
    case STALE:
        return l.acknowledged ? "SELECT 1 FROM kept_acknowledged WHERE client = ?1 AND number >= ?2"
                              : NULL;
    case SWEEP:
        return l.sweep ? say(out, size,
                             "DELETE FROM %s WHERE kept_turn IN (SELECT kept_turn FROM %s"
                             " WHERE kept_since <= ?1 ORDER BY kept_since, kept_turn LIMIT ?2)",
                             k->table, k->table)
                       : NULL;
    default: /* not our enum */
        return NULL;
    }
}

const char *retention_brief(unsigned i)
{
    static const char *const briefs[RETENTION_STATEMENTS_MAX] = {
        [LOOK] = "remove record if expired",
        [DATE] = "date record",
        [ANEW] = "touch record",
        [EVICT] = "remove what is too much",
        [ANSWERED] = "remove acknowledged records",
        [LOW_WATER] = "note what is acknowledged",
        [STALE] = "look whether acknowledged",
        [SWEEP] = "remove expired records",
    };
    return i < ARRAY_LEN(briefs) ? briefs[i] : NULL;
}

/* ---- in a handling ---- */

#define STATEMENT(i) (RETENTION_STATEMENTS + (i))

/* Records dated then, or before, have expired. */
static int64_t expired_until(const struct handling *h)
{
    return (int64_t)handling_now(h) - handling_setting(h, RETENTION);
}

static int64_t date(const struct handling *h)
{
    if (handling_setting(h, RETENTION_CLOCK) == CLOCK_SENDER) {
        return handling_made_at(h);
    }
    return handling_setting(h, RETENTION_STARTS) == STARTS_COMPLETION
               ? (int64_t)handling_now(h)
               : (int64_t)handling_arrived(h);
}

/* No message says that its own answer has come. */
static int64_t acknowledged(const struct handling *h)
{
    int64_t before = handling_number(h) - 1, said = handling_acknowledged(h);
    return said < before ? said : before;
}

enum outcome retention_look(struct handling *h, const char *a, const char *b)
{
    struct limits l = limits_here(h);
    enum outcome o = OK;
    if (l.acknowledged) {
        o = sql(h, STEP_LOOK_UP, STATEMENT(STALE), "ti", handling_client(h), handling_number(h));
        handling_note(h, o == ROW);
        if (o == ROW) {
            return OK;
        }
    }
    if (o == OK && l.look) {
        o = sql(h, STEP_EXPIRE, STATEMENT(LOOK), "tti", a, b, expired_until(h));
    }
    return o;
}

bool retention_stale(const struct handling *h)
{
    return handling_noted(h) != 0;
}

static bool touches(const struct handling *h)
{
    struct limits l = limits_here(h);
    return l.last_seen || l.least_recent;
}

enum outcome retention_touch(struct handling *h, const char *a, const char *b)
{
    return touches(h) ? sql(h, STEP_RECORD, STATEMENT(ANEW), "tti", a, b, date(h)) : OK;
}

enum outcome retention_end_duplicate(struct handling *h, const char *a, const char *b)
{
    if (!touches(h)) {
        return rollback(h);
    }
    enum outcome o = retention_touch(h, a, b);
    return o == OK ? commit(h) : o;
}

enum outcome retention_keep(struct handling *h, const char *a, const char *b)
{
    struct limits l = limits_here(h);
    if (!l.age && !l.most && !l.acknowledged) {
        return OK;
    }
    const char *client = handling_client(h);
    enum outcome o = sql(h, STEP_RECORD, STATEMENT(DATE), l.acknowledged ? "ttiti" : "tti", a, b,
                         date(h), client, handling_number(h));
    int64_t until = acknowledged(h);
    if (o == OK && l.acknowledged && until > 0) {
        o = sql(h, STEP_EXPIRE, STATEMENT(ANSWERED), "ti", client, until);
        o = o == OK ? sql(h, STEP_RECORD, STATEMENT(LOW_WATER), "ti", client, until) : o;
    }
    if (o == OK && l.most) {
        o = sql(h, STEP_EXPIRE, STATEMENT(EVICT), "i", handling_setting(h, RETENTION_MOST));
    }
    return o;
}

void retention_run_sweep(struct handling *h)
{
    int64_t batch = handling_setting(h, RETENTION_BATCH);
    enum outcome o = begin_immediate(h);
    if (o == OK) {
        o = sql(h, STEP_EXPIRE, STATEMENT(SWEEP), "ii", expired_until(h), batch > 0 ? batch : -1);
    }
    if (o == OK) {
        o = commit(h);
    }
    if (o != OK && o != DEAD) {
        rollback(h);
    }
}
