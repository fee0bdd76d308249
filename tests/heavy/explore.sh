#!/bin/bash
# Two workers under all schedules with at most two covered faults, without a broker and with one,
# with and without a service; the seed's story with three.
set -euo pipefail
cd "$(dirname "$0")/../.."
make all test-program >/dev/null
ONLYONCE_HEAVY=1 build/test right broker service
./onlyonce explore --faults 3 --jobs 2 scenarios/seed/lost-reply.yaml
