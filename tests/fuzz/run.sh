#!/bin/sh
# Usage: run.sh SECONDS [TARGET...] : fuzzes each target for that long with libFuzzer under ASan and
# UBSan, from generated seeds, pieces of the shipped data and the kept finds. What it learns stays in
# build/fuzz/TARGET/ for the next run. A find is left there too and the status is not 0 then. JOBS
# targets run at once.
set -eu
seconds=$1
shift
out=build/fuzz
lib="$out/obj"
mkdir -p "$lib"
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
targets=${*:-$("$out/make-seeds")}

for t in $targets; do
  # shellcheck disable=SC2086
  link "$out/fuzz_$t" $flags -fsanitize=address,undefined,fuzzer -DTG_FUZZ_TARGET="$t" tests/fuzz/fuzz_main.c
  rm -rf "$out/seeds/$t"
  mkdir -p "$out/seeds/$t" "$out/$t"
  "$out/make-seeds" "$out/seeds/$t" "$t"
  python3 tests/fuzz/shipped.py "$out/seeds/$t" "$t"
done
echo "$targets" | tr -s ' ' '\n' | xargs -P "${JOBS:-1}" -n 1 sh tests/fuzz/one.sh "$seconds"
