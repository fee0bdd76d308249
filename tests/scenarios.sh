#!/bin/bash
# Every scenario file comes to what it expects: three seeds, each run twice without a difference.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
./onlyonce check scenarios >/dev/null
./onlyonce run --quiet --twice --seeds 1..3 scenarios
families=$(find scenarios -name '*.yaml' | wc -l)
echo "ok scenarios: $families files, three seeds, twice"
