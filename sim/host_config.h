/* What a receiving host and its database are told. Plain data. */
#ifndef SIM_HOST_CONFIG_H
#define SIM_HOST_CONFIG_H

#include "sim/rng.h"

#define JOURNALS(X)                                                                                \
    X(JOURNAL_TRUNCATE, "truncate")                                                                \
    X(JOURNAL_DELETE, "delete")                                                                    \
    X(JOURNAL_PERSIST, "persist")                                                                  \
    X(JOURNAL_WAL, "wal")
enum journal {
#define X(name, text) name,
    JOURNALS(X)
#undef X
};

#define SYNCHRONOUS(X)                                                                             \
    X(SYNC_FULL, "full")                                                                           \
    X(SYNC_OFF, "off")                                                                             \
    X(SYNC_NORMAL, "normal")                                                                       \
    X(SYNC_EXTRA, "extra")
enum synchronous {
#define X(name, text) name,
    SYNCHRONOUS(X)
#undef X
};

struct database_config {
    enum journal journal;
    enum synchronous synchronous;
    uint32_t page_size;    /* 512..65536, a power of two; default 1024 */
    uint64_t busy_timeout; /* virtual time a worker waits for a lock; default 5 s */
};

#define WORKERS_MAX 16

struct host_config {
    uint32_t workers;    /* 1..WORKERS_MAX, each with its own connection */
    struct dist step;    /* virtual duration of each step of a handler */
    struct dist restart; /* how long it stays down after a crash */
    struct dist work;    /* what the business takes before its effect; default 0 */
    int64_t clock_offset;
    int32_t clock_drift; /* ppm */
    struct database_config database;
};

const char *journal_text(enum journal j);
const char *synchronous_text(enum synchronous s);

#endif
