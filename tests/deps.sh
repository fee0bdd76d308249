#!/bin/sh
# Installs the Debian packages that are missing.
#
# In: what they are for: `demo` (build and run) or `test` (also the tests; the default).
# Out: nothing, and nothing is done, when all are there. Otherwise says what it will install, and
# installs it with apt-get, as root or through sudo. Without apt-get it prints the names and stops
# with status 1.
set -eu
for_what=${1:-test}
missing=

need() { # package, then the command that succeeds where it is installed
    package=$1
    shift
    if ! "$@" >/dev/null 2>&1; then
        missing="$missing $package"
    fi
}

have() {
    command -v "$1"
}

module() {
    pkg-config --exists "$1"
}

# From Debian 12 on, clang's sanitizers are a package of their own that clang does not depend on.
clang_sanitizers() {
    test -e "$(clang -print-file-name="libclang_rt.asan-$(uname -m).a")"
}

need gcc have gcc
need libc6-dev test -e /usr/include/stdlib.h
need make have make
need pkg-config have pkg-config
need libsqlite3-dev module sqlite3
need libfyaml-dev module libfyaml
need libjansson-dev module jansson
need libxxhash-dev module libxxhash
need libxml2-dev module libxml-2.0
need gnuplot-nox have gnuplot
if [ "$for_what" = test ]; then
    need check module check
    need clang have clang
    need libclang-rt-dev clang_sanitizers
    need valgrind have valgrind
fi

if [ -z "$missing" ]; then
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "deps: these packages (Debian's names) are missing, and there is no apt-get:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "deps: missing:$missing" >&2
        echo "deps: installing them needs root or sudo: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

echo "deps: installing with apt-get:$missing"
$as_root apt-get -q update </dev/null
# Where clang comes with its sanitizers there is no such package.
case $missing in
*libclang-rt-dev*)
    if ! apt-cache show libclang-rt-dev >/dev/null 2>&1; then
        missing=$(echo "$missing" | sed 's/ libclang-rt-dev//')
    fi
    ;;
esac
if [ -n "$missing" ]; then
    # shellcheck disable=SC2086 # a list of names
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -q install -y --no-install-recommends $missing </dev/null
fi
