#!/bin/bash
# One history on every build: gcc -O0, gcc -O3, clang -O2, and gcc with AddressSanitizer and UBSan.
#
# In: nothing. Out: one line a build; status 1 and the first differing run if a history hash
# differs, or if a sanitizer has something to say.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
out=build/builds
mkdir -p "$out"
seeds=1..3

# name, then what make is told
builds=(
    "gcc-O0 CC=gcc CFLAGS=-O0"
    "gcc-O3 CC=gcc CFLAGS=-O3"
    "clang-O2 CC=clang CFLAGS=-O2"
    "sanitizers CC=gcc CFLAGS=-O1 SAN=1"
)
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1

hashes() { # one line a run: scenario, receiver, seed, verdict, hash
    "$1" run --quiet --format json --seeds "$seeds" scenarios |
        sed -E 's/^\{"scenario":"([^"]*)","file":"[^"]*","receiver":"([^"]*)",(.*,)?"seed":([0-9]+),"schedule".*"verdict":"([a-z]*)".*"history":"([0-9a-f]*)".*/\1 \2 \4 \5 \6/'
}

status=0
reference=
for build in "${builds[@]}"; do
    read -r name settings <<<"$build"
    if [ "${settings#CC=clang}" != "$settings" ] && ! command -v clang >/dev/null; then
        echo "skipped: package clang"
        continue
    fi
    # shellcheck disable=SC2086 # several settings
    make PROGRAM="$out/$name" $settings >"$out/$name.log" 2>&1 || {
        tail -n 20 "$out/$name.log"
        echo "not ok builds: $name does not build"
        exit 1
    }
    hashes "$out/$name" >"$out/$name.txt" || status=1
    runs=$(wc -l <"$out/$name.txt")
    if [ "$runs" -eq 0 ]; then
        echo "not ok builds: $name played nothing"
        status=1
    elif [ -z "$reference" ]; then
        reference=$name
        echo "ok builds: $name plays $runs runs"
    elif cmp -s "$out/$reference.txt" "$out/$name.txt"; then
        echo "ok builds: $name agrees with $reference on $runs runs"
    else
        echo "not ok builds: $name differs from $reference:"
        diff "$out/$reference.txt" "$out/$name.txt" | head -n 4
        status=1
    fi
done

# Every bad input and its twin under the sanitizers: refused with 2, or parsed with 0, and no leak.
if [ -x "$out/sanitizers" ]; then
    count=0
    for file in tests/bad/*.yaml; do
        want=2
        if [ "${file%.ok.yaml}" != "$file" ]; then
            want=0
        fi
        got=0
        "$out/sanitizers" check "$file" >/dev/null 2>"$out/stderr" || got=$?
        count=$((count + 1))
        if [ "$got" -ne "$want" ]; then
            tail -n 5 "$out/stderr"
            echo "not ok builds: sanitizers exit $got, not $want, on $file"
            status=1
        fi
    done
    echo "ok builds: sanitizers read $count bad inputs and twins"
fi
exit "$status"
