#!/bin/sh
# The real job on the logs that come with the project. Usage: demo.sh BIN
set -eu
PATH=$(cd "$1" && pwd):$PATH
OUT=out/demo
mkdir -p "$OUT"

say() { printf '\n== %s\n\n' "$*"; }
show() {
  printf '$'
  printf ' %s' "$@"
  printf '\n'
  "$@"
}

say "OP-TEE: every hop of a TEE call, from the consoles of both worlds of one boot"
show tickgauge calls --together tests/data/optee/ree.log.gz tests/data/optee/tee.log.gz \
  tests/data/optee/loop200.txt.gz

say "TF-A: the release tables of N1SDP, v2.10 against v2.9, as the pages print them"
show tickgauge table notebooks/data/n1sdp/v2.9.rst notebooks/data/n1sdp/v2.10.rst \
  --threshold 0.25 --style md
tickgauge table notebooks/data/n1sdp/v2.9.rst notebooks/data/n1sdp/v2.10.rst \
  --threshold 0.25 --style rst -o "$OUT/n1sdp-v2.10.rst"

say "TF-A: 15 boots of v2.12 against 15 of v2.14 on an emulated board: a real regression"
show tickgauge compare notebooks/data/emulated/v2.12.log.gz notebooks/data/emulated/v2.14.log.gz

say "Zynq: why reads take 3531 clocks instead of 546"
show tickgauge axi tests/data/zynq/A.csv.xz tests/data/zynq/B.csv.xz

say "one file to send to a colleague"
show tickgauge report notebooks/data/emulated/v2.12.log.gz notebooks/data/emulated/v2.14.log.gz \
  -o "$OUT/regression.html"

say "the results are in $(cd "$OUT" && pwd)"
ls "$OUT"
echo
echo "regression.html opens in any browser; the command is $1/tickgauge (tickgauge --help)"
