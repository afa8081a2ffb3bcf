#!/bin/sh
# Usage: one.sh SECONDS TARGET : the fuzzer that run.sh has built, for that long; two lines of figures.
seconds=$1
t=$2
out=build/fuzz
kept=
[ -d "tests/fuzz/corpus/$t" ] && kept="tests/fuzz/corpus/$t"
status=0
# shellcheck disable=SC2086
ASAN_OPTIONS=malloc_context_size=4 "$out/fuzz_$t" -max_total_time="$seconds" -max_len=6144 -timeout=20 \
  -rss_limit_mb=2048 -dict="$out/seeds/$t.dict" -artifact_prefix="$out/$t/find-" -print_final_stats=1 \
  "$out/$t" "$out/seeds/$t" $kept >"$out/$t.log" 2>&1 || status=1
{
  echo "-- fuzz_$t, $seconds s"
  grep -E 'stat::number_of_executed_units|cov: ' "$out/$t.log" | tail -2
  [ "$status" -eq 0 ] || echo "fuzz_$t: a find, see $out/$t.log and $out/$t/find-*"
} >"$out/$t.said"
cat "$out/$t.said"
exit "$status"
