/* Every receiver, one line each, in the order in which lists show them. */
#include "receivers/receiver.h"

#include <string.h>

#define RECEIVERS(X)                                                                               \
    X(table)                                                                                       \
    X(entity)                                                                                      \
    X(response)                                                                                    \
    X(window)                                                                                      \
    X(content_hash)                                                                                \
    X(naive)                                                                                       \
    X(check_then_act)                                                                              \
    X(record_first)                                                                                \
    X(effect_first)                                                                                \
    X(ack_first)                                                                                   \
    X(volatile_memory)                                                                             \
    X(last_id_only)                                                                                \
    X(blind_retry)

#define X(name) extern const struct receiver receiver_##name;
RECEIVERS(X)
#undef X

const struct receiver *const receivers[] = {
#define X(name) &receiver_##name,
    RECEIVERS(X)
#undef X
};
const size_t receivers_count = ARRAY_LEN(receivers);

const struct receiver *receiver_find(const char *name, size_t len)
{
    for (size_t i = 0; i < receivers_count; i++) {
        if (strlen(receivers[i]->name) == len && memcmp(receivers[i]->name, name, len) == 0) {
            return receivers[i];
        }
    }
    return NULL;
}
