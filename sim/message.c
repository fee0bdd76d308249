/* Texts of what travels. In: a status, an effect. Out: the word that scenario files and results use
 * for it. */
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

const char *effect_text(enum effect e)
{
    switch (e) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        EFFECTS(X)
#undef X
    }
    must(!"an effect");
}

const char *direction_text(enum direction d)
{
    switch (d) {
#define X(name, text)                                                                              \
    case name:                                                                                     \
        return text;
        DIRECTIONS(X)
#undef X
    case DIRECTION_NONE:
    case DIRECTION_COUNT:
        break;
    }
    return "";
}
