/* What `onlyonce new` writes: a scenario that parses, plays, and explains itself. */
#include "sim/scenario.h"

static const char template[] =
    "# One scenario: who sends what, what goes wrong, what must hold.\n"
    "#   onlyonce check FILE    is it right?\n"
    "#   onlyonce run FILE      play it\n"
    "#   onlyonce show FILE     see it\n"
    "# Every key, its default and its unit: scenarios/README.md\n"
    "name: my-scenario\n"
    "about: The reply to the first attempt is lost, so the shop sends its order again.\n"
    "\n"
    "# Who is under test; `onlyonce list receivers` names them.\n"
    "receivers: [table, naive]\n"
    "\n"
    "senders:\n"
    "  - name: shop\n"
    "    messages:\n"
    "      - {id: m-1, entity: order-1, charge: 100}\n"
    "    # Or many, generated as shop-1, shop-2, ...:\n"
    "    # workload: {count: 1000, entities: 50, charge: 1..100}\n"
    "    retry: {after: 1s, backoff: exponential, limit: 5}\n"
    "\n"
    "# The network: a span is uniform. Rates are odds per message and direction.\n"
    "network:\n"
    "  delay: 20ms..80ms\n"
    "  # lose: {request: 1/20, reply: 1/20}\n"
    "  # duplicate: 1/50\n"
    "\n"
    "# A queue between them that delivers at least once; `broker: {}` has all defaults.\n"
    "# broker: {visibility: 30s, redeliver: 10, after: 1s, dead_letters: replayed}\n"
    "\n"
    "# The receiving host.\n"
    "# hosts:\n"
    "#   receiver: {workers: 2, restart: 100ms, crash: 1/1000}\n"
    "\n"
    "# What goes wrong; `onlyonce list sites FILE` prints sentences to choose from.\n"
    "faults:\n"
    "  - lose reply m-1/1\n"
    "\n"
    "# Who is not named here must keep exactly-once.\n"
    "expect: {naive: violates no-double-effect}\n";

const char *scenario_template(void)
{
    return template;
}
