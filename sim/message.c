/* Texts of what travels. In: a status. Out: the word that scenario files and results use for it. */
#include "sim/message.h"

const char *reply_status_text(enum reply_status s)
{
    switch (s) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        REPLY_STATUSES(X)
#undef X
    }
    return "unknown";
}
