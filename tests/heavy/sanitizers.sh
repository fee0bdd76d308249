#!/bin/bash
# The unit tests under AddressSanitizer and UBSan.
set -euo pipefail
cd "$(dirname "$0")/../.."
make SAN=1 CFLAGS=-O1 test-program >/dev/null
log=build-san/test.log
if build-san/test >"$log" 2>&1 </dev/null && ! grep -E 'runtime error|ERROR: .*Sanitizer' "$log"; then
    grep -E '^[0-9]+%: Checks: ' "$log"
else
    tail -n 40 "$log"
    echo "not ok sanitizers"
    exit 1
fi
