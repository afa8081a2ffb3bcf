#!/bin/sh
# step.sh TEXT COMMAND...: run a long command quietly, but show that it runs: the text, then the
# seconds every ten of them. Its output is shown where it fails, and its status is the command's.
text=$1
shift
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
printf '%s' "$text"
"$@" >"$log" 2>&1 &
pid=$!
(
  passed=0
  while sleep 10; do
    passed=$((passed + 10))
    printf ' %s s' "$passed"
  done
) &
ticker=$!
wait "$pid"
status=$?
kill "$ticker" 2>/dev/null
wait "$ticker" 2>/dev/null
echo
[ "$status" -eq 0 ] || cat "$log" >&2
exit "$status"
