#!/bin/bash
# The fuzzers for two minutes each.
cd "$(dirname "$0")/../.." && FUZZ_SECONDS=120 exec tests/fuzz.sh
