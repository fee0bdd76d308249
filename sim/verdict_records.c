/* Records: how they move, who moves them, how many there are.
 *
 * In: moves that were committed, counts from the auditor, the word of the static check. Out:
 * violations of record-states, owner-only, bounded-records, retention-covers-retries.
 *
 * Worked example, an owner that was paused beyond its lease of 2 s: m-77/1 claims at 1.05 s by
 * handling 1, m-77/2 claims at 4.0 s by handling 2, which is allowed since the lease is over. At
 * 9.1 s handling 1 completes: the record is in progress, so record-states holds, but handling 2
 * claimed last, so owner-only is violated.
 */
#include "sim/verdict_internal.h"

static bool is_over(uint64_t length, uint64_t now, uint64_t since)
{
    return length > 0 && now >= since && now - since >= length;
}

static bool lease_over(const struct verdict *v, const struct operation *op, const struct moved *m)
{
    const struct standing_record *r = &op->record;
    return is_over(v->promise.lease, v->run->now, r->leased) ||
           is_over(v->promise.lease, m->clock, r->leased_clock);
}

/* A record may be gone by now, or count as gone. */
static bool retention_over(const struct verdict *v, const struct operation *op,
                           const struct moved *m)
{
    const struct standing_record *r = &op->record;
    return v->evicts || is_over(v->promise.retention, v->run->now, r->kept) ||
           is_over(v->promise.retention, m->clock, r->kept_clock);
}

static bool allowed(const struct verdict *v, const struct operation *op, const struct moved *m)
{
    enum standing standing = (enum standing)op->record.standing;
    switch ((enum record_move)m->move) {
    case MOVE_NONE:
        break;
    case MOVE_CLAIM:
    case MOVE_EXPIRE:
        return standing == STANDING_ABSENT || retention_over(v, op, m) ||
               (standing == STANDING_IN_PROGRESS && lease_over(v, op, m));
    case MOVE_RENEW:
    case MOVE_COMPLETE:
    case MOVE_RELEASE:
        return standing == STANDING_IN_PROGRESS;
    }
    return true;
}

static bool by_owner(const struct operation *op, const struct moved *m)
{
    return op->record.claimed.token == 0 || op->record.claimed.token == m->by.token;
}

static void violate(struct verdict *v, struct operation *op, enum check check, enum reason reason,
                    const struct moved *m)
{
    struct violation *what = verdict_violate(v, op, check, reason, m->move, op->record.standing);
    if (what != NULL) {
        what->testimony.moved = m->by;
        what->testimony.claimed = op->record.claimed;
        what->testimony.completed = op->record.completed;
    }
}

static void earlier(uint64_t *moment, uint64_t other)
{
    *moment = other > 0 && other < *moment ? other : *moment;
}

/* Who takes over a record, or claims again what was set free, may leave its date as it is. */
static void follow_claim(const struct verdict *v, struct operation *op, const struct moved *m)
{
    struct standing_record *r = &op->record, before = *r;
    *r = (struct standing_record){.standing = STANDING_IN_PROGRESS,
                                  .claimed = m->by,
                                  .leased = m->since,
                                  .leased_clock = m->since_clock,
                                  .kept = m->since,
                                  .kept_clock = m->since_clock};
    earlier(&r->kept, m->arrived);
    earlier(&r->kept_clock, m->arrived_clock);
    if (v->dated_by_sender && op->made_at >= 0) {
        earlier(&r->kept_clock, (uint64_t)op->made_at);
    }
    if (before.standing != STANDING_COMPLETED) {
        earlier(&r->kept, before.kept);
        earlier(&r->kept_clock, before.kept_clock);
    }
    earlier(&r->kept, before.cut_kept);
    earlier(&r->kept_clock, before.cut_kept_clock);
}

static void follow(struct verdict *v, struct operation *op, const struct moved *m)
{
    struct standing_record *r = &op->record;
    switch ((enum record_move)m->move) {
    case MOVE_NONE:
        break;
    case MOVE_CLAIM:
        follow_claim(v, op, m);
        break;
    case MOVE_RENEW:
        r->leased = m->since;
        r->leased_clock = m->since_clock;
        break;
    case MOVE_COMPLETE:
        r->standing = STANDING_COMPLETED;
        r->completed = m->by;
        break;
    case MOVE_RELEASE:
    case MOVE_EXPIRE:
        r->standing = STANDING_ABSENT;
        break;
    }
}

void verdict_moved(struct verdict *v, struct operation *op, const struct moved *m)
{
    bool known = op->record.standing != STANDING_UNKNOWN;
    bool owners = m->move == MOVE_RENEW || m->move == MOVE_COMPLETE || m->move == MOVE_RELEASE;
    if (known) {
        verdict_count(v, CHECK_RECORD_STATES, 1);
        if (!allowed(v, op, m)) {
            violate(v, op, CHECK_RECORD_STATES, WHY_TRANSITION, m);
        }
    }
    if (known && owners) {
        verdict_count(v, CHECK_OWNER_ONLY, 1);
        if (!by_owner(op, m)) {
            violate(v, op, CHECK_OWNER_ONLY, WHY_NOT_OWNER, m);
        }
    }
    if (known || m->move == MOVE_CLAIM) {
        follow(v, op, m);
    }
}

void verdict_unsettled(struct operations *ops, bool unpowered)
{
    for (uint32_t i = 0; i < ops->count; i++) {
        struct standing_record *r = &ops->slots[i]->record;
        if (unpowered || r->cut) {
            r->standing = STANDING_UNKNOWN;
            r->cut = false;
        }
    }
}

/* The first time says it; later ones are the same trouble. */
void verdict_records(struct verdict *v, uint64_t records, uint64_t most)
{
    verdict_count(v, CHECK_BOUNDED_RECORDS, 1);
    if (records > most && v->violated[CHECK_BOUNDED_RECORDS] == 0) {
        verdict_violate(v, NULL, CHECK_BOUNDED_RECORDS, WHY_RECORDS, (int64_t)records,
                        (int64_t)most);
    }
}

void verdict_unowned(struct verdict *v, uint64_t records)
{
    if (records > 0) {
        verdict_violate(v, NULL, CHECK_BOUNDED_RECORDS, WHY_UNOWNED, (int64_t)records, 0);
    }
}

void verdict_cover(struct verdict *v, bool holds, size_t receiver)
{
    verdict_count(v, CHECK_RETENTION, 1);
    if (!holds) {
        verdict_violate(v, NULL, CHECK_RETENTION, WHY_NOT_COVERED, 0, (int64_t)receiver);
    }
}
