#!/bin/bash
# A day of payments at 20 a second, keys kept for 24 hours: the static check says beforehand that the
# keys do not cover the retries, the run counts what was charged again, and memory follows the keys
# that are kept: three days take what one does.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
make >/dev/null
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
scenario=scenarios/traffic/payment-day.yaml

# count, mean gap, longest gap, file
traffic() {
    sed -e "s/count: 17280/count: $1/" -e "s/mean: 5s, max: 5m/mean: $2, max: $3/" \
        -e 's/faults_until: 30h/faults_until: 80h/' "$scenario" >"$4"
}
# Plays a file; its JSON to standard output, its peak of memory in KiB to $tmp/peak.
play() {
    python3 - "$1" "$tmp/peak" <<'PY'
import resource, subprocess, sys
out = subprocess.run(["./onlyonce", "run", "--format", "json", "--no-shrink", sys.argv[1]],
                     capture_output=True, text=True, check=True).stdout
with open(sys.argv[2], "w") as peak:
    peak.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.stdout.write(out)
PY
}
# The number of a key in a line of JSON.
number() { grep -o "\"$1\":[0-9]*" "$2" | head -n 1 | cut -d : -f 2; }

./onlyonce check "$scenario" | grep "^note: .*stripe_v1: a retry may come .*raise retention"
traffic 1728000 50ms 5s "$tmp/day.yaml"
play "$tmp/day.yaml" >"$tmp/day.json"
late=$(number late "$tmp/day.json")
effects=$(number effects "$tmp/day.json")
full=$(cat "$tmp/peak")
traffic 86400 1s 1m "$tmp/one.yaml"
play "$tmp/one.yaml" >"$tmp/one.json"
one=$(cat "$tmp/peak")
traffic 259200 1s 1m "$tmp/three.yaml"
play "$tmp/three.yaml" >"$tmp/three.json"
three=$(cat "$tmp/peak")
echo "day: $effects effects, $late of them late, $full KiB; a twentieth of it for one day $one KiB," \
    "for three days $three KiB"
grep -q '"verdict":"pass"' "$tmp/day.json"
[ "$late" -eq 40 ] && [ "$effects" -eq 1728080 ]
[ $((three * 10)) -lt $((one * 13)) ]
[ "$full" -lt 1000000 ]
