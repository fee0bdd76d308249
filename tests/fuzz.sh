#!/bin/bash
# A short run of the fuzzers on the kept corpus: tests/fuzz/fuzz_NAME.c, tests/fuzz/corpus/NAME.
# FUZZ_SECONDS (default 15) says how long each searches beyond the corpus.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."
if ! command -v clang >/dev/null; then
    echo "skipped: package clang"
    exit 0
fi
seconds=${FUZZ_SECONDS:-15}
out=build/fuzz
mkdir -p "$out"
packages="sqlite3 libfyaml jansson libxxhash libxml-2.0"
sources=$(ls sim/*.c receivers/*.c | grep -v '^sim/main\.c$\|^sim/cmd_')
# shellcheck disable=SC2046,SC2086 # lists of flags and files
objects() {
    for source in $sources; do
        object=$out/$(echo "$source" | tr / _).o
        if [ ! -e "$object" ] || [ -n "$(find "$source" sim receivers -name '*.[ch]' -newer "$object" -print -quit)" ]; then
            echo "$source $object"
        fi
    done
}
flags="-std=c11 -D_GNU_SOURCE -I. -O1 -g -fsanitize=fuzzer-no-link,address,undefined"
# shellcheck disable=SC2046,SC2086
objects | xargs -r -P "$(nproc)" -L 1 sh -c \
    "clang $flags $(pkg-config --cflags $packages) -c \$0 -o \$1"
status=0
for fuzzer in tests/fuzz/fuzz_*.c; do
    name=$(basename "$fuzzer" .c)
    name=${name#fuzz_}
    # shellcheck disable=SC2046,SC2086
    clang $flags -fsanitize=fuzzer,address,undefined $(pkg-config --cflags $packages) "$fuzzer" \
        "$out"/*.o $(pkg-config --libs $packages) -o "$out/$name"
    mkdir -p "$out/found-$name"
    if "$out/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -artifact_prefix="$out/" "$out/found-$name" "tests/fuzz/corpus/$name" >"$out/$name.log" 2>&1; then
        echo "ok fuzz: $name, $(grep -oE 'Done [0-9]+ runs' "$out/$name.log" || echo 'corpus only')"
    else
        tail -n 30 "$out/$name.log"
        echo "not ok fuzz: $name"
        status=1
    fi
done
exit "$status"
