#!/bin/sh
# Usage: memcheck.sh FOLDER SUITE : FOLDER/check_SUITE under valgrind, its loops shortened; what it
# printed is shown in one piece, since several run at once.
suite=$1/check_$2
log=$suite.valgrind
TICKGAUGE_QUICK=1 CK_FORK=no timeout 1800 valgrind -q --error-exitcode=9 --leak-check=full \
  --errors-for-leak-kinds=definite,possible "$suite" >"$log" 2>&1
status=$?
echo "-- valgrind check_$2: $(tail -n 1 "$log")"
[ "$status" -eq 0 ] && exit 0
echo "check_$2 ended with status $status:"
cat "$log"
exit 255 # xargs starts no more
