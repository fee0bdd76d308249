#!/bin/sh
# Rules of the source that a compiler does not check.
#
# In: nothing. Out: `file:line: what` for each place that breaks a rule, and status 1 if there is
# one; a warning does not count.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/.."
found=$(mktemp)
trap 'rm -f "$found"' EXIT

sources() {
    for directory in "$@"; do
        if [ -d "$directory" ]; then
            find "$directory" -name '*.[ch]'
        fi
    done | sort
}

# What a single file must hold to: shape everywhere; in sim and receivers no floating point, no
# time or chance but the world's, no address in a text, no default that hides a new enumerator.
# shellcheck disable=SC2016,SC2046 # awk's dollars; file names without blanks
awk '
function report(line, what) { print FILENAME ":" line ": " what }
# The line without comments and without what stands between quotes.
function code_of(text,    out, c, two, i, quote) {
    out = ""
    quote = ""
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        two = substr(text, i, 2)
        if (in_comment) {
            if (two == "*/") { in_comment = 0; i++ }
        } else if (quote != "") {
            if (c == "\\") { i++ } else if (c == quote) { quote = ""; out = out c }
        } else if (two == "/*") { in_comment = 1; i++; out = out " "
        } else if (two == "//") { break
        } else {
            if (c == "\"" || c == "\047") { quote = c }
            out = out c
        }
    }
    return out
}
function called(code, name) { return code ~ ("(^|[^A-Za-z0-9_.>])" name " *\\(") }
FNR == 1 { in_comment = 0; start = 0; strict = FILENAME ~ /^(sim|receivers)\// }
{
    width = $0
    gsub(/[\200-\277]/, "", width) # what follows the first byte of a UTF-8 character
    if (length(width) > 100) { report(FNR, "longer than 100 columns") }
    if ($0 ~ /[ \t]$/) { report(FNR, "blank at the end of the line") }
    if ($0 ~ /\t/) { report(FNR, "tab") }
    if (FNR == 601) { report(FNR, "file longer than 600 lines") }
    if ($0 == "{") { start = FNR }
    if ($0 == "}" && start) {
        lines = FNR - start + 1
        if (lines > 100) { report(start, "function of " lines " lines") }
        else if (lines > 70) { report(start, "warning: function of " lines " lines") }
        start = 0
    }
    code = code_of($0)
    if (!strict) { next }
    if (code ~ /(^|[^A-Za-z0-9_])(float|double)([^A-Za-z0-9_]|$)/ || code ~ /[0-9]\.[0-9]/ ||
        code ~ /<math\.h>/) { report(FNR, "floating point") }
    if (called(code, "rand") || called(code, "random") || called(code, "srand")) {
        report(FNR, "random numbers that are not keyed: use rng_keyed")
    }
    if (called(code, "time") || called(code, "clock") || code ~ /gettimeofday/) {
        report(FNR, "wall clock")
    }
    if (code ~ /clock_gettime/ && FILENAME !~ /^sim\/(progress|cmd_[a-z_]*)\.c$/) {
        report(FNR, "wall clock outside sim/progress.c and sim/cmd_*.c")
    }
    if ($0 ~ /%p/) { report(FNR, "address in a text") }
    if (code ~ /(^|[^A-Za-z0-9_])default *:/ && $0 !~ /\/\* not our enum \*\//) {
        report(FNR, "default: in a switch; name all, or say /* not our enum */")
    }
}' $(sources sim receivers reports tests) /dev/null >>"$found"

# The road of a message: a file includes headers of its own stage and of those above, never below.
# A module stands for all files of its name, and for those that go on with an underscore.
# shellcheck disable=SC2016,SC2046
awk '
BEGIN {
    stages = split("base|words|output|arena coro clock|rng dist|message|crash checks|event|queue|site|" \
        "sentence|schedule|history|run|sender_config network_config host_config config_text|" \
        "operation|sender|network|broker|disk|receivers/receiver|receivers|" \
        "host connection handling step store service|verdict|scenario name_table|cover|result|auditor|world|" \
        "grid|explore|shrink|reports|options progress|plays|cmd|main", stage, "|")
    for (i = 1; i <= stages; i++) {
        n = split(stage[i], name, " ")
        for (j = 1; j <= n; j++) { place[name[j]] = i }
    }
}
function place_of(file,    module) {
    module = file
    sub(/\.[ch]$/, "", module)
    sub(/^sim\//, "", module)
    if (module ~ /^receivers\// && !(module in place)) { return place["receivers"] }
    if (module ~ /^reports\//) { return place["reports"] }
    while (!(module in place) && sub(/_[^_]*$/, "", module)) { }
    return module in place ? place[module] : 0
}
FNR == 1 {
    here = place_of(FILENAME)
    if (FILENAME != "/dev/null" && !here) {
        print FILENAME ":1: has no place on the road; give it one in tests/tidy.sh"
    }
}
/^ *# *include "/ {
    split($0, part, "\"")
    there = place_of(part[2])
    if (part[2] !~ /^(sim|receivers|reports)\//) {
        print FILENAME ":" FNR ": include by path from the top, not " part[2]
    } else if (here && there > here) {
        print FILENAME ":" FNR ": points back: " part[2] " comes later on the road"
    }
}' $(sources sim receivers reports) /dev/null >>"$found"

# A suite that nobody runs is worse than none.
# shellcheck disable=SC2013,SC2046
for name in $(sed -n 's/^Suite \*\([a-z_0-9]*\)_suite(void)$/\1/p' $(sources tests)); do
    if ! grep -q "X($name)" tests/suites.h; then
        echo "tests/suites.h:1: suite $name is not in the list" >>"$found"
    fi
done

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files | grep -Ev '^(sim|receivers|scenarios|reports|tests|\.ci)/' |
        grep -Ev '^(Makefile|README\.md|\.gitignore|\.clang-format)$' |
        sed 's/$/:1: stray file/' >>"$found" || true
fi

cat "$found"
! grep -qv ': warning: ' "$found"
