#!/bin/sh
# Usage: run.sh SECONDS [TARGET...] : fuzzes each target for that long with libFuzzer under ASan and
# UBSan, from the generated seeds and the kept finds. A find is left in build/fuzz/TARGET/ and ends
# the run with status 1.
set -eu
seconds=$1
shift
out=build/fuzz
mkdir -p "$out"
targets=${*:-$(sed -nE 's/^#define FUZZ_TARGETS\(X\) (.*)/\1/p' tests/fuzz/fuzz.h | tr -d 'X()')}
flags="-std=c11 -O1 -g -fno-omit-frame-pointer -Icsrc/include -Icsrc/src -Itests/fuzz"
san="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined"
lib="$out/obj"
mkdir -p "$lib"
for f in $(find csrc/src -name '*.c'); do
  o="$lib/$(echo "$f" | tr / _).o"
  if [ ! -e "$o" ] || [ -n "$(find csrc "$f" -newer "$o" -name '*.[ch]' | head -1)" ]; then
    # shellcheck disable=SC2086
    clang $flags $san -c "$f" -o "$o"
  fi
done
mkdir -p "$out/seeds"
for t in $targets; do mkdir -p "$out/seeds/$t" "$out/$t"; done
cc -std=c11 -DTG_SEEDS_MAIN -Icsrc/include tests/fuzz/seeds.c -o "$out/make-seeds"
for t in $(sed -nE 's/^#define FUZZ_TARGETS\(X\) (.*)/\1/p' tests/fuzz/fuzz.h | tr -d 'X()'); do
  mkdir -p "$out/seeds/$t"
done
"$out/make-seeds" "$out/seeds"
status=0
for t in $targets; do
  # shellcheck disable=SC2086
  clang $flags -fsanitize=address,undefined,fuzzer -fno-sanitize-recover=undefined -DTG_LIBFUZZER \
    "tests/fuzz/fuzz_$t.c" "$lib"/*.o -lm -lpthread -o "$out/fuzz_$t"
  kept=
  [ -d "tests/fuzz/corpus/$t" ] && kept="tests/fuzz/corpus/$t"
  echo "-- fuzz_$t, $seconds s"
  # shellcheck disable=SC2086
  "$out/fuzz_$t" -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=1024 \
    -artifact_prefix="$out/$t/find-" -print_final_stats=1 "$out/$t" "$out/seeds/$t" $kept \
    >"$out/$t.log" 2>&1 || { echo "fuzz_$t: a find, see $out/$t.log and $out/$t/find-*"; status=1; }
  grep -E 'stat::number_of_executed_units|cov: ' "$out/$t.log" | tail -2 || true
done
exit $status
