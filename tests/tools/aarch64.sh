#!/bin/sh
# The C suites for aarch64: cross-compiled, run under qemu-user. Check itself comes from Debian's
# arm64 packages, fetched with a package index of its own under build/, so that neither root nor a
# foreign architecture in the system is needed.   Usage: aarch64.sh [SUITE...]
set -eu
OUT=build/aarch64
CC64=aarch64-linux-gnu-gcc
FLAGS="-std=c11 -O2 -g -fvisibility=hidden -Icsrc/include -Icsrc/src -Itests/c -Wall -Wextra -Werror"

fetch_check() {
  [ -f "$OUT/check/usr/include/check.h" ] && return
  apt="$PWD/$OUT/apt"
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$OUT/check"
  set -- -qq -o "Dir::State=$apt/state" -o Dir::State::status=/dev/null \
    -o "Dir::Cache=$apt/cache" -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o APT::Sandbox::User= -o Acquire::Languages=none
  (cd "$apt/debs" && apt-get "$@" update && apt-get "$@" download check libsubunit-dev)
  for deb in "$apt"/debs/*.deb; do dpkg-deb -x "$deb" "$OUT/check"; done
}

mkdir -p "$OUT"
if ! fetch_check; then
  rm -rf "$OUT/check"
  echo "test-aarch64: Debian's arm64 packages check and libsubunit-dev are not to be had here" >&2
  exit 1
fi
lib="$OUT/check/usr/lib/aarch64-linux-gnu"

objects=""
for source in $(find csrc/src -name '*.c' | LC_ALL=C sort); do
  object="$OUT/$(echo "${source%.c}" | tr / _).o"
  if [ ! -f "$object" ] || [ -n "$(find csrc -newer "$object" -name '*.[ch]')" ]; then
    $CC64 $FLAGS -c "$source" -o "$object"
  fi
  objects="$objects $object"
done
rm -f "$OUT/libtickgauge.a"
aarch64-linux-gnu-ar rcs "$OUT/libtickgauge.a" $objects

[ $# -gt 0 ] || set -- $(ls tests/c/check_*.c | sed 's|.*/check_||; s|\.c$||')
for suite in "$@"; do
  $CC64 $FLAGS -isystem "$OUT/check/usr/include" "tests/c/check_$suite.c" \
    "$OUT/libtickgauge.a" "$lib/libcheck.a" "$lib/libsubunit.a" -lm -lpthread -lrt -o "$OUT/check_$suite"
  echo "-- check_$suite (aarch64)"
  CK_TIMEOUT_MULTIPLIER=20 qemu-aarch64 -L /usr/aarch64-linux-gnu "$OUT/check_$suite"
done
echo "test-aarch64: all passed"
