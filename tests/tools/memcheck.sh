#!/bin/sh
# Usage: memcheck.sh FOLDER SUITE : FOLDER/check_SUITE under valgrind, its loops shortened; what it
# printed is shown in one piece, since several run at once.
suite=$1/check_$2
log=$suite.valgrind
# valgrind 3.19 looks a map up again after it moved it, and may then take new pages for none: here no
# map moves, and blocks are copied.
still=$suite.still.so
echo 'void *mremap(void *p, unsigned long a, unsigned long b, int f, ...)
{ (void)p, (void)a, (void)b, (void)f; return (void *)-1; }' |
  "${CC:-cc}" -shared -fPIC -w -x c - -o "$still" || exit 255
LD_PRELOAD=$(realpath "$still") TICKGAUGE_QUICK=1 CK_FORK=no \
  timeout 1800 valgrind -q --error-exitcode=9 --leak-check=full \
  --errors-for-leak-kinds=definite,possible "$suite" >"$log" 2>&1
status=$?
echo "-- valgrind check_$2: $(tail -n 1 "$log")"
[ "$status" -eq 0 ] && exit 0
echo "check_$2 ended with status $status:"
cat "$log"
exit 255 # xargs starts no more
