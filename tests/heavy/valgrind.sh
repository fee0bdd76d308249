#!/bin/bash
# No error and no leak under valgrind: every scenario, every bad input and twin, every command.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/../.."
if ! command -v valgrind >/dev/null; then
    echo "skipped: package valgrind"
    exit 0
fi
make PROGRAM=build/valgrind/onlyonce CFLAGS='-O1 -g' >/dev/null
out=build/valgrind
status=0

try() { # expected exit status, then arguments
    local want=$1 got=0
    shift
    valgrind -q --leak-check=full --errors-for-leak-kinds=all --error-exitcode=99 \
        --log-file="$out/log" "$out/onlyonce" "$@" >/dev/null 2>"$out/stderr" || got=$?
    if [ "$got" -ne "$want" ]; then
        head -n 20 "$out/log"
        echo "not ok valgrind: exit $got, not $want: $*"
        status=1
    fi
}

scenarios=$(find scenarios -name '*.yaml' | sort | grep -v /random/mix)
for file in $scenarios; do
    try 0 run "$file"
done
echo "valgrind: $(echo "$scenarios" | wc -l) scenarios played"
# Four times 10,000 messages take minutes here; the same at a tenth of the size.
sed -E 's/count: ([0-9]+)00,/count: \10,/' scenarios/random/mix.yaml >"$out/mix.yaml"
try 0 run "$out/mix.yaml"
for file in tests/bad/*.yaml; do
    case $file in
    *.ok.yaml) try 0 check "$file" ;;
    *) try 2 check "$file" ;;
    esac
done
echo "valgrind: $(ls tests/bad/*.yaml | wc -l) bad inputs and twins read"
seed=scenarios/seed/lost-reply.yaml
try 0 show "$seed"
try 0 show --format mermaid "$seed"
try 0 run --format json "$seed"
try 0 run --format junit "$seed"
try 0 run --format tap "$seed"
try 0 run --twice --seeds 1..3 "$seed"
try 0 list sites "$seed"
try 0 list receivers
try 0 compare "$seed" -o "$out/report"
try 2 run --reciever naive "$seed"
if [ "$status" -eq 0 ]; then
    echo "ok valgrind: no error, no leak"
fi
exit "$status"
