/* A scenario file, read into plain data; every name resolved, every number in range.
 *
 * In: YAML (design: names, units and defaults as in scenarios/README.md). Out: struct scenario, or
 * a list of errors "file:line:col: error: ..." with nothing kept.
 *
 * Owns: everything it points to.
 */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include "receivers/receiver.h"
#include "sim/broker_config.h"
#include "sim/checks.h"
#include "sim/host_config.h"
#include "sim/network_config.h"
#include "sim/schedule.h"
#include "sim/sender_config.h"
#include "sim/sentence.h"
#include "sim/service_config.h"

struct receiver;   /* receivers/receiver.h */
struct name_table; /* sim/scenario_internal.h */

/* One entry of `receivers:`. */
struct scenario_receiver {
    char *name;                     /* as the scenario calls it */
    const struct receiver *code;    /* what it is */
    int64_t settings[SETTINGS_MAX]; /* values of code->settings, in its order; defaults filled in */
    char *swept;            /* its name before a sweep made one for each value; NULL: none did */
    uint32_t swept_setting; /* with `swept`: index of the setting, whose value stands above */
    int line, column;
};

/* One entry of `expect:`, or the one for all. */
struct expectation {
    bool given;      /* false: judged by exactly-once, which must hold */
    bool violates;   /* true: at least one of `checks` is among the violations */
    uint32_t checks; /* set of enum check; of a hold: these are judged and must hold */
    int line, column;
};

struct scenario {
    char *file; /* as named by the user; "-": standard input */
    char *name;
    char *about; /* may be NULL */
    struct scenario_receiver *receivers;
    struct expectation *expectations; /* one for each receiver */
    size_t receiver_count;
    struct expectation expect_others; /* for receivers that --receiver brings in */
    struct sender_config *senders;
    size_t sender_count;
    char **entities; /* names of business entities that are listed, in order of appearance */
    size_t entity_listed;
    size_t entity_count;    /* with the generated ones, which come behind: see scenario_entity */
    struct name_table *ids; /* listed ids and their operations; private to the reader */
    struct network_config network;
    struct broker_config broker;          /* between senders and receiver, where it is on */
    struct scenario_receiver *downstream; /* gets the follow-on messages of each receiver; NULL:
                                             there is none */
    struct host_config receiver;          /* the host "receiver" */
    struct service_config service; /* what receivers may call; how long that takes: `network` */
    struct fault_rates rates;
    struct fault *faults;
    size_t fault_count;
    uint64_t faults_until;                    /* absolute; 0: the last first send plus 60 s */
    bool no_give_up;                          /* contract: giving up is a violation of progress */
    uint64_t window;                          /* contract: a duplicate's age at which it is late;
                                                 0: none is */
    bool late_forbidden;                      /* contract: a late effect is a second one, too */
    uint64_t most_records;                    /* contract: most records that a receiver may have;
                                                 0: as bounded-records computes it */
    uint32_t explore_faults;                  /* explore: {faults: K}; 0: not given */
    struct expectation *explore_expectations; /* one for each receiver, as `expectations` */
    struct expectation explore_others;        /* as `expect_others` */
};

/* Errors go to `errors` (a stream of the caller's), one a line with file, line, column, the source
 * line and a caret where there is one. SIM_OK: *out is filled and the caller calls scenario_fini.
 */
enum sim_error scenario_read(const char *path, FILE *errors, struct scenario *out);
/* The same from memory; name stands for the file in messages. */
enum sim_error scenario_parse(const char *name, const char *text, size_t len, FILE *errors,
                              struct scenario *out);
void scenario_fini(struct scenario *s);

/* All *.yaml and *.yml at or below the paths, in byte order, parsed before anything is run. Any
 * error: SIM_ERR_SCENARIO or SIM_ERR_IO, everything said to `errors`, nothing kept. */
struct scenario_list {
    struct scenario *items;
    size_t count;
};
enum sim_error scenario_list_read(char *const *paths, size_t count, FILE *errors,
                                  struct scenario_list *out);
void scenario_list_fini(struct scenario_list *l);

/* Names for sentences and diagrams: PLACE_RECEIVER is "receiver", PLACE_BROKER
 * "broker" where there is one, senders by their names. The
 * result borrows s. */
struct sentence_names scenario_names(const struct scenario *s);
/* Id, key of an operation, as strings in out[KEY_MAX]; returns the length. The key is that of the
 * first attempt; of a generated operation whose sender has a key per entity it is the id, since the
 * entity is drawn. */
size_t scenario_operation_id(const struct scenario *s, uint64_t op, char *out);
size_t scenario_operation_key(const struct scenario *s, uint64_t op, char *out);
/* Name of an entity; generated names are written into out. */
const char *scenario_entity(const struct scenario *s, uint32_t entity, char *out);

/* A commented template that parses and plays. Static text. */
const char *scenario_template(void);

#endif
