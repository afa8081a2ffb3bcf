#!/bin/sh
# The programs that read our exports, as their makers ship them, below build/consumers: SQUAD (PyPI),
# LAVA's dispatcher (Debian), benchstat (Go), dask-kubernetes (PyPI). The tests run with those that are
# to be had here.
# Usage: consumers.sh PYTHON
set -eu
OUT=$PWD/build/consumers
mkdir -p "$OUT/bin"

if [ ! -x "$OUT/venv/bin/python" ]; then
  "$1" -m venv "$OUT/venv"
  "$OUT/venv/bin/python" -m pip install -q --disable-pip-version-check squad requests pexpect
fi
TICKGAUGE_SQUAD=$OUT/venv/bin/python
export TICKGAUGE_SQUAD

lava=$OUT/lava/usr/lib/python3/dist-packages
[ -d "$lava" ] || (cd "$OUT" && apt-get download -qq lava-common lava-dispatcher &&
  for deb in lava-*.deb; do dpkg-deb -x "$deb" lava; done) || echo "consumers: no LAVA here" >&2
if [ -d "$lava" ]; then
  echo "$lava" > "$("$TICKGAUGE_SQUAD" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/lava.pth"
  TICKGAUGE_LAVA=$TICKGAUGE_SQUAD
  export TICKGAUGE_LAVA
fi

[ -x "$OUT/kubernetes/bin/python" ] || {
  "$1" -m venv "$OUT/kubernetes"
  "$OUT/kubernetes/bin/python" -m pip install -q --disable-pip-version-check dask-kubernetes
}
TICKGAUGE_KUBERNETES=$OUT/kubernetes/bin/python
export TICKGAUGE_KUBERNETES

# The viewer of Chrome's traces stands in Go's sources.
viewer() { find "$@" -name trace_viewer_full.html -path '*trace*/static/*' 2> /dev/null | head -n 1; }
found=$(viewer "$(go env GOROOT 2> /dev/null || echo "$OUT/go")" "$OUT/go" || true)
[ -n "$found" ] || {
  (cd "$OUT" && apt-get download -qq golang-1.19-src && dpkg-deb -x golang-1.19-src_*.deb go) ||
    echo "consumers: no trace viewer here" >&2
  found=$(viewer "$OUT/go" || true)
}
TICKGAUGE_TRACE_VIEWER=${found%/*}
export TICKGAUGE_TRACE_VIEWER

PATH=$OUT/bin:$PATH
command -v benchstat > /dev/null ||
  GOBIN=$OUT/bin go install golang.org/x/perf/cmd/benchstat@latest 2> /dev/null ||
  echo "consumers: no benchstat here" >&2
"$1" -m pytest -q -rs tests/py/test_consumers.py tests/py/test_batch_cluster.py
