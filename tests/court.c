#include "tests/court.h"

#include "tests/suites.h"

#include <string.h>

void court_open(struct court *c, uint32_t checks, bool no_give_up)
{
    memset(c, 0, sizeof(*c));
    history_init(&c->run.history);
    history_reset(&c->run.history, true);
    operations_init(&c->ops);
    c->run.now = 10;
    verdict_init(&c->v, &c->run, ENTITIES);
    verdict_reset(&c->v, checks, no_give_up, false);
}

void contract(struct court *c, uint64_t window, bool late_forbidden)
{
    c->ops.window = window;
    c->v.late_forbidden = late_forbidden;
}

void court_close(struct court *c)
{
    verdict_fini(&c->v);
    operations_fini(&c->ops);
    history_fini(&c->run.history);
}

struct operation *operation(struct court *c, uint64_t n, uint32_t entity, int64_t amount)
{
    struct operation *op = operations_open(&c->ops, op_make(PLACE_SENDER, n), n);
    op->entity = entity;
    op->amount = amount;
    op->attempt = 1;
    op->deliveries = 1;
    return op;
}

void effect(struct court *c, struct operation *op)
{
    must(c->row_count < ROWS);
    c->rows[c->row_count].row =
        ledger_row(op->slot, operation_effect_begun(&c->ops, op, c->run.now));
    c->rows[c->row_count].op = op->op;
    c->rows[c->row_count].entity = op->entity;
    c->rows[c->row_count++].amount = op->amount;
    c->balance[op->entity] += op->amount;
    op->wrote++;
    operation_committed(&c->ops, op, 1, op->amount, c->run.now,
                        (struct occasion){.at = c->run.now, .attempt = 1, .copy = 1});
    verdict_committed(&c->v, op);
    verdict_in_order(&c->v, op);
}

void lose(struct court *c, const struct operation *op)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->row_count; i++) {
        if (c->rows[i].op == op->op) {
            c->balance[c->rows[i].entity] -= c->rows[i].amount;
        } else {
            c->rows[kept++] = c->rows[i];
        }
    }
    c->row_count = kept;
}

void replies(struct court *c, struct operation *op, enum reply_status s, int64_t receipt)
{
    op->reply_late = operation_late(&c->ops, op, c->run.now);
    c->run.now++;
    verdict_reply(&c->v, op, s, receipt, c->saves);
}

void audit(struct court *c, bool crashed)
{
    c->run.now++;
    verdict_audit_begin(&c->v, &c->ops);
    for (size_t i = 0; i < c->row_count; i++) {
        verdict_audit_row(&c->v, &c->ops, c->rows[i].row, c->rows[i].op, c->rows[i].entity,
                          c->rows[i].amount);
    }
    for (uint32_t e = 0; e < ENTITIES; e++) {
        if (c->balance[e] != 0) {
            verdict_audit_entity(&c->v, e, c->balance[e]);
        }
    }
    verdict_audit_end(&c->v, &c->ops, crashed);
}

void closes(struct court *c, struct operation *op, enum belief b, bool gave_up)
{
    op->belief = (uint8_t)b;
    op->closed = true;
    op->gave_up = gave_up;
    c->ops.open--;
}

void records_go_wrong(struct court *c, struct operation *op)
{
    static const uint8_t moves[] = {MOVE_CLAIM, MOVE_COMPLETE, MOVE_COMPLETE};
    for (size_t i = 0; i < ARRAY_LEN(moves); i++) {
        verdict_moved(&c->v, op, &(struct moved){.move = moves[i], .by = {.token = i > 0 ? 2 : 1}});
    }
    verdict_records(&c->v, 2, 1);
    verdict_cover(&c->v, false, 0);
}

void is_not_told(struct court *c, struct operation *op)
{
    verdict_emitted(&c->v, op, NULL);
}

void run_ends(struct court *c)
{
    audit(c, false);
    for (uint32_t i = 0; i < c->ops.count; i++) {
        if (c->ops.slots[i]->op != 0) {
            verdict_operation(&c->v, c->ops.slots[i]);
        }
    }
}

void ruled(struct court *c, uint32_t checks)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < CHECK_COUNT; i++) {
        ck_assert_msg((c->v.violated[i] > 0) == !!(checks & CHECK_BIT(i)), "%s violated %u times",
                      check_text((enum check)i), (unsigned)c->v.violated[i]);
        all += c->v.violated[i];
    }
    size_t count, marked = 0;
    const struct record *records = history_records(&c->run.history, &count);
    for (size_t i = 0; i < count; i++) {
        marked += records[i].kind == RECORD_VIOLATION;
    }
    ck_assert_uint_eq(marked, all);
    ck_assert_uint_eq(c->v.kept, all < VIOLATIONS_KEPT ? all : VIOLATIONS_KEPT);
    court_close(c);
}

void is_violation(const struct violation *v, enum check check, enum reason reason,
                  const struct operation *op, int64_t a, int64_t b)
{
    ck_assert_int_eq(v->check, check);
    ck_assert_int_eq(v->reason, reason);
    ck_assert_uint_eq(v->op, op ? op->op : 0);
    ck_assert_int_eq(v->a, a);
    ck_assert_int_eq(v->b, b);
}
