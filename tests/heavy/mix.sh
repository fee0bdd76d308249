#!/bin/bash
# A hundred seeds of the mixed scenario, each run twice: no difference, right receivers pass, the
# canary fails, and in every run something was delivered twice.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
make >/dev/null
out=build/mix.json
./onlyonce run --quiet --seeds 1..100 --twice --format json scenarios/random/mix.yaml >"$out"
count() { grep -c "$@" "$out" || true; }
runs=$(wc -l <"$out")
pass=$(count -E '"receiver":"(table|entity|response)".*"verdict":"pass"')
fail=$(count -E '"receiver":"naive".*"verdict":"fail".*"check":"no-double-effect"')
idle=$(count '"duplicates":0,')
echo "mix: $runs runs, $pass right ones pass, $fail canaries fail, $idle without a duplicate"
[ "$runs" -eq 400 ] && [ "$pass" -eq 300 ] && [ "$fail" -eq 100 ] && [ "$idle" -eq 0 ]

# Ten thousand seeds over a broker, an outbox and a receiver downstream.
./onlyonce run --no-shrink --seeds 1..10000 scenarios/random/relay.yaml
