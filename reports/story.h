/* A history as a story: who tells whom what, in order, in words. What diagrams are drawn from.
 *
 * Owns: its moves.
 */
#ifndef REPORTS_STORY_H
#define REPORTS_STORY_H

#include "sim/result.h"

#define SENDER_LANES 4 /* the last one is shared where there are more */
#define WORKER_LANES 4
#define LANES_MAX (SENDER_LANES + 1 + WORKER_LANES + 2)

/* One vertical line of a diagram: senders from the left, the broker if there is one, workers, the
 * database, and, where it is called, the service. */
struct lane {
    char name[NAME_TEXT];
    uint8_t place;
};

enum move_kind {
    MOVE_ARROW,   /* leaves `from` and reaches `to` before anything else happens */
    MOVE_LEAVES,  /* leaves `from`; arrives later */
    MOVE_ARRIVES, /* reaches `to`, having left earlier */
    MOVE_LOST,    /* leaves `from` and is lost */
    MOVE_REFUSED, /* reaches `to` and does not get in, or is answered with trouble */
    MOVE_NOTE,    /* something at `from` */
    MOVE_CRASH,   /* the receiver dies */
    MOVE_VIOLATION,
    MOVE_WORLD, /* of no lane */
};

struct move {
    uint64_t at;
    enum move_kind kind;
    uint8_t from, to; /* lanes */
    uint16_t busy;    /* lanes that handle a message, after it: bit 1 << lane */
    bool down;        /* the receiver is down, after it */
    char label[240];
    char detail[120]; /* delay of an arrow, why something was lost, how a step ended; or "" */
};

struct story {
    struct lane lanes[LANES_MAX];
    size_t lane_count, senders, brokers, workers; /* behind them the database */
    bool calls;                                   /* and the service */
    struct move *moves;
    size_t count;
    uint64_t left_out; /* moves beyond the limit */
};

/* op: only what touches this operation or all of them; 0: everything. */
void story_make(struct story *s, const struct result *r, const struct record *records, size_t count,
                uint64_t op, uint64_t limit);
void story_fini(struct story *s);

#endif
