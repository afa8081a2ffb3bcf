#!/bin/sh
# step.sh TEXT COMMAND...: run a long command quietly, but show that it runs: the text, then the
# seconds every ten of them. Its output is shown where it fails, and its status is the command's.
text=$1
shift
log=$(mktemp) || exit 1
trap 'rm -f "$log" "$log.status"' EXIT
trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
printf '%s' "$text"
{
  "$@" >"$log" 2>&1 </dev/null
  echo $? >"$log.status"
} &
pid=$!
fifths=0
until [ -s "$log.status" ]; do
  sleep 0.2
  fifths=$((fifths + 1))
  [ $((fifths % 50)) -eq 0 ] && printf ' %s s' $((fifths / 5))
done
echo
read -r status <"$log.status"
[ "$status" -eq 0 ] || cat "$log" >&2
exit "$status"
