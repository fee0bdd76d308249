/* What the network is told. Plain data. Rates of loss and duplication are in struct fault_rates. */
#ifndef SIM_NETWORK_CONFIG_H
#define SIM_NETWORK_CONFIG_H

#include "sim/message.h"
#include "sim/rng.h"

struct network_config {
    struct dist delay[2]; /* by direction_leg: of what passes between senders and receivers */
    struct dist outside;  /* of call and answer, each */
};

static inline const struct dist *network_delay(const struct network_config *c, enum direction d)
{
    return direction_outside(d) ? &c->outside : &c->delay[direction_leg(d)];
}

#endif
