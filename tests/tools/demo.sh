#!/bin/sh
# The real job on the logs that come with the project. Usage: demo.sh BIN
set -eu
PATH=$(cd "$1" && pwd):$PATH
DATA=notebooks/data
OUT=out/demo
mkdir -p "$OUT"

say() { printf '\n== %s\n' "$*"; }
show() {
  printf '$ %s\n' "$*"
  "$@"
}

say "OP-TEE: every hop of a TEE call, from the consoles of both worlds of one boot"
show tickgauge calls --together "$DATA/optee/ree.log.gz" "$DATA/optee/tee.log.gz"

say "TF-A: what a release changed (N1SDP, v2.9 to v2.10, the published tables)"
show tickgauge table "$DATA/n1sdp/v2.9.rst" "$DATA/n1sdp/v2.10.rst" --threshold 0.25 --style md -o "$OUT/n1sdp.md"
show tickgauge compare "$DATA/n1sdp/v2.9.rst" "$DATA/n1sdp/v2.10.rst"

say "One file to send: a report of the same comparison"
show tickgauge report "$DATA/n1sdp/v2.9.rst" "$DATA/n1sdp/v2.10.rst" -o "$OUT/n1sdp.html"

say "results: $(cd "$OUT" && pwd)"
ls -l "$OUT"
