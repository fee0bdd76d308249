/* What the network is told. Plain data. Rates of loss and duplication are in struct fault_rates. */
#ifndef SIM_NETWORK_CONFIG_H
#define SIM_NETWORK_CONFIG_H

#include "sim/rng.h"

struct network_config {
    struct dist delay[2]; /* by direction_leg */
};

#endif
