/* What one run came to: plain data that outlives its world, for printing and storing. */
#ifndef SIM_RESULT_H
#define SIM_RESULT_H

#include "sim/history.h"
#include "sim/scenario.h"
#include "sim/verdict.h"

#define VERDICTS(X)                                                                                \
    X(VERDICT_PASS, "pass")                                                                        \
    X(VERDICT_FAIL, "fail")                                                                        \
    X(VERDICT_VACUOUS, "vacuous")                                                                  \
    X(VERDICT_UNFIRED, "unfired")                                                                  \
    X(VERDICT_ERROR, "error")
enum verdict_kind {
#define X(name, text) name,
    VERDICTS(X)
#undef X
};
const char *verdict_text(enum verdict_kind v);

/* Costs of a run; virtual times in ns. */
struct costs {
    uint64_t sql_fresh, sql_duplicate; /* statements, summed over handlings of each sort */
    uint64_t handlings_fresh, handlings_duplicate;
    uint64_t latency_sum, latency_max; /* first send to close, of operations done */
    uint64_t latency_count;
    uint64_t disk_writes, disk_syncs, disk_bytes; /* since the run began */
    uint64_t database_bytes;                      /* size of the files at the end */
};

struct result {
    const struct scenario *scenario;          /* borrowed */
    const struct scenario_receiver *receiver; /* borrowed */
    const struct expectation *expectation;    /* borrowed */
    uint64_t seed;
    enum verdict_kind verdict;    /* absolute: says nothing of what was expected */
    bool expected;                /* the expectation holds */
    enum sim_error error;         /* with VERDICT_ERROR */
    char reason[160];             /* why vacuous, unfired or error; else "" */
    struct violation *violations; /* at most VIOLATIONS_KEPT; owned */
    size_t violation_count;
    uint64_t violated[CHECK_COUNT];
    uint64_t judged[CHECK_COUNT];
    uint32_t checks;     /* set that was judged */
    struct fault *fired; /* scripted and random, in order; owned */
    size_t fired_count;
    uint8_t *fates; /* enum fault_fate of each listed fault; owned */
    size_t listed_count;
    uint64_t operations, attempts, deliveries, duplicates, handlings, effects;
    uint64_t repeated; /* operations with a second attempt, delivery, downstream too, or call to
                          the service */
    uint64_t copies, lost, crashes, restarts, gave_up, doubled, with_effect;
    bool calls;            /* the receiver calls the service */
    uint64_t external;     /* effects at the service */
    uint64_t unfinishable; /* operations of which faults left no attempt alone */
    uint64_t beyond;       /* effects beyond the first of their operation */
    uint64_t late;         /* those of them that came when the contract's window was over */
    uint64_t slots;        /* most operations alive at once */
    /* Of a broker; 0 where there is none: entries that became dead letters (again), replays, and
     * requests that its duplicate window kept out. */
    uint64_t dead_letters, replayed, kept_out;
    bool has_records;               /* the receiver's records were counted at the end */
    uint64_t records, records_most; /* at the end, and most of all times that they were counted */
    /* Of a receiver downstream; 0 where there is none: follow-on messages, their deliveries and
     * effects there. */
    uint64_t follow_ons, follow_deliveries, follow_effects;
    uint64_t events; /* of the queue */
    uint64_t ended;  /* virtual time */
    uint64_t history_hash, history_count;
    struct costs costs;
    /* Claims that were taken over while the handling that owned them still ran: its lease was too
     * short. Of receivers that say how they move records. */
    uint64_t premature;
};

void result_fini(struct result *r);

/* Sets verdict, expected and reason from everything else. */
void result_judge(struct result *r);

/* One sentence on a violation, which says what contradicts what, with names from the scenario:
 * "order-1042 charged 2 times: m-77/1 at 1.064 s, m-77/2 at 2.043 s; shop believes m-77 done once".
 * Returns the length; always ends with NUL. VIOLATION_TEXT bytes are always enough. */
#define VIOLATION_TEXT (4 * SENTENCE_MAX)
size_t violation_text(const struct scenario *s, const struct violation *v, char *out, size_t size);
/* The command that repeats the run, with shell quoting; the program as it was called itself,
 * --twice where two runs differed. Returns the length that it has uncut, as snprintf does. */
size_t result_repeat(const struct result *r, char *out, size_t size);

/* A name as sentences write it, plain or as a JSON string, but with an @ it is plain still. Returns
 * the length written. */
#define NAME_TEXT (6 * KEY_MAX + 3)
size_t name_text(const char *name, char *out, size_t size);
/* One word of a shell command: plain, or quoted so that no control character is left. Returns what
 * snprintf would. */
size_t shell_word(const char *word, char *out, size_t size);
/* A receiver's name as --receiver takes it: JSON-quoted where it is not plain, and for the shell.
 */
void receiver_word(const char *name, char *out, size_t size);
/* Seconds on the world's clock, which starts at 1 s, with 3 decimals: "1.250". Returns out. */
#define SECONDS_TEXT 32
const char *seconds_text(uint64_t at, char out[SECONDS_TEXT]);

#endif
