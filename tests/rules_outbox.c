/* Published rules of outboxes, one test each: Eventuate Tram, NServiceBus, MassTransit, Wolverine,
 * and the staged jobs of rocket-rides-atomic.
 *
 * Pinned: each preset handles, sends, sends again, keeps and forgets as the rule says, where the
 * rule lets something be lost too.
 *
 * Left open, since nothing here can show it:
 *   NServiceBus 3  effects outside the database; what runs twice is seen by its executions alone
 *   NServiceBus 5  the error queue, from which somebody may send again: a sender that gives up
 *                  stands for it
 *   NServiceBus 7, Wolverine 5  two endpoints over one table: a world has one receiver at each
 *                  stage
 *   MassTransit 3  the limit of 100 for one transaction: a message has one follow-on
 *   MassTransit 6  isolation levels; SQLite's is serializable. The in-memory outbox
 *   Wolverine 2    an ack before the handling, and its recovery from the inbox: a handling answers
 *                  where it ends
 *   Wolverine 3    handled outside the effect's transaction: that is `effect_first`
 *   Wolverine 4    rows that a stale node has let go; there is one node
 *   Wolverine 6    a mark that is tried again in the background, for handlers without transaction
 *   Eventuate 5    times of creation in other tables than the outbox
 */
#include "tests/outbox_rig.h"

#include "tests/probe.h"

#define ONE SENT_BY("", CHARGED("m"))
/* Its sender would not try again for ten days. */
#define PATIENT SENT_BY("retry: {after: 10d, limit: 2},", CHARGED("m"))
#define DOUBLE CHECK_BIT(CHECK_NO_DOUBLE_EFFECT)

static uint64_t executions(const char *it, const char *lines)
{
    struct scenario s;
    struct world *w;
    struct result r = tale_play(&s, &w, it, lines);
    uint64_t wrote = r.costs.sql_fresh + r.costs.sql_duplicate;
    ck_assert_uint_eq(r.effects, 1);
    tale_fini(&s, w, &r);
    return wrote;
}

/* The rows of the receiver's tables at the end. */
static void holds(const char *it, const char *lines, const char *sql, const char *rows)
{
    struct scenario s;
    struct world *w;
    struct result r = tale_play(&s, &w, it, lines);
    rig_holds(w, sql, rows);
    tale_fini(&s, w, &r);
}

#define INBOX "SELECT count(*) FROM inbox"
#define OUTBOX "SELECT count(*) FROM outbox"

/* ---- Eventuate Tram ---- */

/* Rule 4: the answer follows the commit; a redelivery is ignored, and nothing is sent anew. */
START_TEST(eventuate_rule_4_ack_behind_commit)
{
    tale_check(&(struct tale){"eventuate_tram",
                              ONE LISTED("crash receiver at m/1 after commit (process)"),
                              "duplicate", 1, 1, 1, 0});
    tale_check(&(struct tale){"eventuate_tram",
                              ONE LISTED("crash receiver at m/1 before commit (process)"), "done",
                              1, 1, 1, 0});
}
END_TEST

/* Rule 5: published rows and received ids stay. */
START_TEST(eventuate_rule_5_nothing_is_deleted)
{
    const char *lines = PATIENT LISTED("duplicate request m/1 after 9d");
    tale_check(&(struct tale){"eventuate_tram", lines, "done duplicate", 1, 1, 1, 0});
    holds("eventuate_tram", lines, "SELECT sent FROM outbox", "1 ");
    holds("eventuate_tram", lines, INBOX, "1 ");
}
END_TEST

/* ---- NServiceBus ---- */

/* Rules 1, 2: one transaction, then dispatch, then the answer; a copy skips the handlers. */
START_TEST(nservicebus_rules_1_and_2_in_turn)
{
    tale_check(&(struct tale){"nservicebus_outbox", ONE LISTED("lose reply m/1"), "done duplicate",
                              1, 1, 1, 0});
    holds("nservicebus_outbox", ONE, OUTBOX, "0 ");
    holds("nservicebus_outbox", ONE, INBOX, "1 ");
}
END_TEST

/* Rule 1: a copy that comes before the dispatch dispatches what is stored. */
START_TEST(nservicebus_rule_1_a_copy_dispatches)
{
    tale_check(&(struct tale){"nservicebus_outbox",
                              ONE LISTED("crash receiver at m/1 after commit (process)"),
                              "duplicate", 1, 1, 1, 0});
}
END_TEST

/* Rule 3: two copies run the handlers, and one transaction loses; in the other way the second
 * waits. */
START_TEST(nservicebus_rule_3_optimistic)
{
#define TWO                                                                                        \
    ONE "hosts: {receiver: {workers: 2, step: 0s}}\n" LISTED(                                      \
        "pause receiver at m/1 before begin for 200ms, "                                           \
        "duplicate request m/1 after 0s")
    tale_check(&(struct tale){"nservicebus_optimistic", TWO, "done duplicate", 1, 1, 1, 0});
    tale_check(&(struct tale){"nservicebus_outbox", TWO, "done duplicate", 1, 1, 1, 0});
    /* The effect and its row of the outbox once more, and the look-up before; but for the insert
     * that both make. */
    ck_assert_uint_gt(executions("nservicebus_optimistic", TWO),
                      executions("nservicebus_outbox", TWO) + 2);
#undef TWO
}
END_TEST

/* Rule 4: dispatched and not marked: again, under the same id. */
START_TEST(nservicebus_rule_4_sent_again)
{
    const char *lines = ONE LISTED("crash receiver at m/1 after send (process)");
    tale_check(&(struct tale){"nservicebus_outbox", lines, "duplicate", 1, 2, 1, 0});
    tale_check(&(struct tale){"nservicebus_outbox, ids: new", lines, "duplicate", 1, 2, 2,
                              EMITTED | DOUBLE});
}
END_TEST

/* Rule 5: when nobody tries again after the commit, data are there without messages. */
START_TEST(nservicebus_rule_5_zombie)
{
    tale_check(&(struct tale){"nservicebus_outbox",
                              SENT_BY("retry: {limit: 1},", CHARGED("m"))
                                  LISTED("crash receiver at m/1 after commit (process)"),
                              "", 1, 0, 0, EMITTED});
}
END_TEST

/* Rule 6: kept for 7 days from the mark, which each copy makes anew; what was never dispatched
 * stays. */
START_TEST(nservicebus_rule_6_clean_up)
{
    tale_check(&(struct tale){"nservicebus_outbox",
                              PATIENT LISTED("duplicate request m/1 after 6d"), "done duplicate", 1,
                              1, 1, 0});
    tale_check(&(struct tale){"nservicebus_outbox",
                              PATIENT LISTED("duplicate request m/1 after 8d"), "done done", 2, 2,
                              1, DOUBLE});
    tale_check(&(struct tale){"nservicebus_outbox",
                              PATIENT LISTED("duplicate request m/1 2 times after 4d"),
                              "done duplicate duplicate", 1, 1, 1, 0});
    tale_check(&(struct tale){"nservicebus_outbox, dated: sent",
                              PATIENT LISTED("duplicate request m/1 2 times after 4d"),
                              "done duplicate done", 2, 2, 1, DOUBLE});
    tale_check(&(struct tale){"nservicebus_outbox",
                              PATIENT LISTED("crash receiver at m/1 after commit (process), "
                                             "duplicate request m/1 after 9d"),
                              "duplicate", 1, 1, 1, 0});
}
END_TEST

/* ---- MassTransit ---- */

/* Rule 1: the inbox row is there before any handling, by itself. */
START_TEST(masstransit_rule_1_received_first)
{
    holds("masstransit_outbox",
          SENT_BY("retry: {limit: 1},", CHARGED("m"))
              LISTED("crash receiver at m/1 before effect (process)"),
          "SELECT consumed IS NULL FROM inbox", "1 ");
}
END_TEST

/* Rule 2: consumed goes with the effect; a row that is not consumed is handled. */
START_TEST(masstransit_rule_2_consumed)
{
    tale_check(&(struct tale){"masstransit_outbox",
                              ONE LISTED("crash receiver at m/1 before effect (process)"), "done",
                              1, 1, 1, 0});
    holds("masstransit_outbox", ONE, "SELECT consumed FROM inbox", "1 ");
}
END_TEST

/* Rules 3, 4: any crash goes on at the right step; a message may go twice, under one id. */
START_TEST(masstransit_rules_3_and_4_resumes)
{
    static const struct {
        const char *fault;
        uint64_t sent;
    } crashes[] = {
        {"crash receiver at m/1 after commit (process)", 1},
        {"crash receiver at m/1 after commit 2 (process)", 1},
        {"crash receiver at m/1 before send (process)", 1},
        {"crash receiver at m/1 after send (process)", 2},
        {"crash receiver at m/1 before commit 3 (process)", 2},
        {"crash receiver at m/1 after commit 3 (process)", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(crashes); i++) {
        char lines[300];
        snprintf(lines, sizeof(lines), "%s" LISTED("%s"), ONE, crashes[i].fault);
        tale_check(&(struct tale){"masstransit_outbox", lines, i == 0 ? "done" : "duplicate", 1,
                                  crashes[i].sent, 1, 0});
    }
}
END_TEST

/* Rule 5: gone 30 minutes after delivery, not after a copy of it; never before delivery. */
START_TEST(masstransit_rule_5_clean_up)
{
    tale_check(&(struct tale){"masstransit_outbox",
                              PATIENT LISTED("duplicate request m/1 2 times after 14m"),
                              "done duplicate duplicate", 1, 1, 1, 0});
    tale_check(&(struct tale){"masstransit_outbox",
                              PATIENT LISTED("duplicate request m/1 2 times after 16m"),
                              "done duplicate done", 2, 2, 1, DOUBLE});
    tale_check(&(struct tale){"masstransit_outbox",
                              PATIENT LISTED("crash receiver at m/1 after commit 2 (process), "
                                             "duplicate request m/1 after 9d"),
                              "duplicate", 1, 1, 1, 0});
}
END_TEST

/* Rule 6: no id is an error; a redelivery has the id of the message. */
START_TEST(masstransit_rule_6_ids)
{
    tale_check(&(struct tale){"masstransit_outbox",
                              SENT_BY("keys: none, retry: {limit: 2},", CHARGED("m")),
                              "error error", 0, 0, 0, 0});
    tale_check(&(struct tale){"masstransit_outbox",
                              "broker: {visibility: 1s}\n" ONE LISTED("lose ack m/1"),
                              "done duplicate", 1, 1, 1, 0});
}
END_TEST

/* ---- Wolverine ---- */

/* Rule 1: a copy is discarded by its id alone. */
START_TEST(wolverine_rule_1_duplicate_key)
{
    tale_check(&(struct tale){"wolverine_inbox", ONE LISTED("lose reply m/1"), "done duplicate", 1,
                              1, 1, 0});
}
END_TEST

/* Rule 3: handled in the transaction of the effect: both are there, or neither. */
START_TEST(wolverine_rule_3_with_the_effect)
{
    tale_check(&(struct tale){"wolverine_inbox",
                              ONE LISTED("crash receiver at m/1 before commit (process)"), "done",
                              1, 1, 1, 0});
    tale_check(&(struct tale){"wolverine_inbox",
                              ONE LISTED("crash receiver at m/1 after commit (process)"),
                              "duplicate", 1, 1, 1, 0});
}
END_TEST

/* Rule 4: kept for 5 minutes from handling. */
START_TEST(wolverine_rule_4_five_minutes)
{
    tale_check(&(struct tale){"wolverine_inbox", PATIENT LISTED("duplicate request m/1 after 4m"),
                              "done duplicate", 1, 1, 1, 0});
    tale_check(&(struct tale){"wolverine_inbox", PATIENT LISTED("duplicate request m/1 after 7m"),
                              "done done", 2, 2, 1, DOUBLE});
}
END_TEST

/* ---- rocket-rides-atomic, staged jobs ---- */

/* Rule 5: enqueued, then deleted; a crash between them enqueues the job again. */
START_TEST(rocket_rule_5_staged_jobs)
{
    tale_check(&(struct tale){"staged_jobs", ONE, "done", 1, 1, 1, 0});
    tale_check(&(struct tale){"staged_jobs",
                              ONE LISTED("crash receiver at relay/1 before commit (process)"),
                              "done", 1, 2, 1, 0});
    holds("staged_jobs", ONE, OUTBOX, "0 ");
}
END_TEST

TCase *rules_outbox_tests(void)
{
    TCase *t = tcase_create("rules");
    tcase_add_test(t, eventuate_rule_4_ack_behind_commit);
    tcase_add_test(t, eventuate_rule_5_nothing_is_deleted);
    tcase_add_test(t, nservicebus_rules_1_and_2_in_turn);
    tcase_add_test(t, nservicebus_rule_1_a_copy_dispatches);
    tcase_add_test(t, nservicebus_rule_3_optimistic);
    tcase_add_test(t, nservicebus_rule_4_sent_again);
    tcase_add_test(t, nservicebus_rule_5_zombie);
    tcase_add_test(t, nservicebus_rule_6_clean_up);
    tcase_add_test(t, masstransit_rule_1_received_first);
    tcase_add_test(t, masstransit_rule_2_consumed);
    tcase_add_test(t, masstransit_rules_3_and_4_resumes);
    tcase_add_test(t, masstransit_rule_5_clean_up);
    tcase_add_test(t, masstransit_rule_6_ids);
    tcase_add_test(t, wolverine_rule_1_duplicate_key);
    tcase_add_test(t, wolverine_rule_3_with_the_effect);
    tcase_add_test(t, wolverine_rule_4_five_minutes);
    tcase_add_test(t, rocket_rule_5_staged_jobs);
    return t;
}
