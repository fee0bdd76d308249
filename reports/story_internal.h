/* What the files of a story share: the teller, who goes through the records. */
#ifndef REPORTS_STORY_INTERNAL_H
#define REPORTS_STORY_INTERNAL_H

#include "reports/story.h"

struct teller {
    struct story *story;
    const struct result *result;
    const struct record *records;
    size_t count;
    uint64_t op; /* 0: all */
    uint64_t limit;
    struct sentence_names names;
    bool handlers_fail; /* a handler fault fired somewhere: else no step need look for one */
    uint16_t busy;
    bool down;
    /* by worker: since its last step */
    int64_t amount[WORKER_LANES];
    bool wrote[WORKER_LANES], committed[WORKER_LANES], rolled_back[WORKER_LANES];
};

/* Lanes. */
uint8_t story_broker(const struct story *s);
uint8_t story_worker(const struct story *s, unsigned worker);
uint8_t story_sender(const struct story *s, unsigned place);
uint8_t story_database(const struct story *s);
uint8_t story_service(const struct story *s); /* only where there is a call */

/* A move at the time of r; its texts are empty. Beyond the limit it is counted only. */
struct move *story_move(struct teller *t, const struct record *r, enum move_kind kind, uint8_t from,
                        uint8_t to);
/* "m-77/1.2" */
void story_message(const struct teller *t, const struct record *r, char out[SENTENCE_MAX]);
/* As snprintf; what does not fit ends in an ellipsis, not in half a character. */
__attribute__((format(printf, 3, 4))) void story_say(char *out, size_t size, const char *format,
                                                     ...);
#define SAY(field, ...) story_say(field, sizeof(field), __VA_ARGS__)

/* reports/story_downstream.c: whether the record is told as a note on the stage downstream; whether
 * that note is empty; the note. */
bool story_of_downstream(const struct record *r);
bool story_downstream_silent(const struct record *r);
void story_downstream(struct teller *t, const struct record *r);
/* Record i has no move of its own. */
bool story_silent(const struct teller *t, size_t i);
/* The next record after i with a move of its own; count where there is none. */
size_t story_next(const struct teller *t, size_t i);

/* A message leaves, is copied, lost or delayed. Returns the last record that is told by it: i, or
 * the arrival, or the loss. */
size_t story_departure(struct teller *t, size_t i);
/* A request reaches the receiver or a reply its sender, or finds nobody there. */
void story_arrival(struct teller *t, size_t i);
bool story_same_message(const struct record *a, const struct record *b);
/* A message that goes this way arrives, be it at a host that is down. */
bool story_arrives(const struct teller *t, const struct record *r, enum direction direction);
/* The way that the answer goes which leaves or arrives with this record: REPLY or ACK. */
enum direction story_way_back(const struct teller *t, const struct record *r);
/* The record of the reply, or of its copy, that arrives with record i; one of no reply where there
 * is none. */
size_t story_reply_of(const struct teller *t, size_t i);
/* "409 retry-later m-77/2" or "200 done m-77/2, replayed": the reply that departed with this record
 * (as story_reply_of has it), under the name of the message. status: enum reply_status. */
void story_reply_label(const struct teller *t, size_t departure, unsigned status, const char *name,
                       char *out, size_t size);
/* "m-77/1", of a copy "m-77/1.1.2". */
void story_reply_name(const struct teller *t, size_t departure, char out[SENTENCE_MAX]);
/* The lane that a reply or ack came from: the broker, or the last worker that answered this. */
uint8_t story_replier(const struct teller *t, size_t i);
/* A message leaves that way; returns the last record that the move tells. */
size_t story_leave(struct teller *t, size_t i, enum direction direction, uint8_t from, uint8_t to,
                   const char *label);
/* A record of a call to the service or of its answer, and its move. */
bool story_outside(const struct record *r);
size_t story_call(struct teller *t, size_t i);
void story_step(struct teller *t, const struct record *r);
/* What the broker does: waits lapse, entries die and come back. sim/broker.h */
void story_broker_note(struct teller *t, const struct record *r);
/* Tells record i, whatever it is. Returns the last record that is told by it. */
size_t story_tell(struct teller *t, size_t i);

#endif
