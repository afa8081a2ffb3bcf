#!/bin/sh
# Usage: run.sh SECONDS [TARGET...] : fuzzes each target for that long with libFuzzer under ASan and
# UBSan, from generated seeds, pieces of the shipped data and the kept finds. What it learns stays in
# build/fuzz/TARGET/ for the next run. A find is left there too and ends the run with status 1.
set -eu
seconds=$1
shift
out=build/fuzz
lib="$out/obj"
mkdir -p "$lib"
targets=${*:-$(sed -n '/^#define FUZZ_TARGETS/,/[^\\]$/p' tests/fuzz/fuzz.h | grep -oE 'X\([a-z]+\)' | tr -d 'X()')}
flags="-std=c11 -O1 -g -fno-omit-frame-pointer -Icsrc/include -Icsrc/src -Itests/fuzz"
san="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined"

for f in $(find csrc/src -name '*.c') tests/fuzz/fuzz_[!m]*.c tests/fuzz/seeds.c tests/fuzz/make_seeds.c; do
  o="$lib/$(echo "$f" | tr / _).o"
  if [ ! -e "$o" ] || [ -n "$(find csrc tests/fuzz "$f" -newer "$o" -name '*.[ch]' | head -1)" ]; then
    # shellcheck disable=SC2086
    clang $flags $san -c "$f" -o "$o"
  fi
done
link() { # link OUTPUT OBJECTS... : with everything but main()
  o=$1
  shift
  # shellcheck disable=SC2046
  clang "$@" $(find "$lib" -name '*.o' ! -name '*make_seeds*') -lm -lpthread -o "$o"
}
link "$out/make-seeds" -fsanitize=address,undefined "$lib"/*make_seeds.c.o

status=0
for t in $targets; do
  # shellcheck disable=SC2086
  link "$out/fuzz_$t" $flags -fsanitize=address,undefined,fuzzer -DTG_FUZZ_TARGET="$t" tests/fuzz/fuzz_main.c
  rm -rf "$out/seeds/$t"
  mkdir -p "$out/seeds/$t" "$out/$t"
  "$out/make-seeds" "$out/seeds/$t" "$t"
  python3 tests/fuzz/shipped.py "$out/seeds/$t" "$t"
  kept=
  [ -d "tests/fuzz/corpus/$t" ] && kept="tests/fuzz/corpus/$t"
  echo "-- fuzz_$t, $seconds s"
  # shellcheck disable=SC2086
  ASAN_OPTIONS=malloc_context_size=4 "$out/fuzz_$t" -max_total_time="$seconds" -max_len=6144 -timeout=20 -rss_limit_mb=2048 \
    -dict="$out/seeds/$t.dict" -artifact_prefix="$out/$t/find-" -print_final_stats=1 \
    "$out/$t" "$out/seeds/$t" $kept \
    >"$out/$t.log" 2>&1 || { echo "fuzz_$t: a find, see $out/$t.log and $out/$t/find-*"; status=1; }
  grep -E 'stat::number_of_executed_units|cov: ' "$out/$t.log" | tail -2 || true
done
exit $status
