#!/bin/sh
# Usage: symbols.sh LIBRARY.a CC : the core is free of Python, every global symbol begins with tg_,
# and a shared library exports exactly what the public headers mark with TG_API.
set -eu
lib=$1
cc=${2:-cc}
if nm -u "$lib" | grep -E ' (_?Py|PyArray)'; then
  echo "the core refers to Python" >&2
  exit 1
fi
if nm --defined-only -g "$lib" | awk 'NF == 3 { print $3 }' | grep -v '^tg_'; then
  echo "global symbols without the tg_ prefix" >&2
  exit 1
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$cc" -shared -o "$dir/libtickgauge.so" -Wl,--whole-archive "$lib" -Wl,--no-whole-archive -lm -lpthread
nm -D --defined-only "$dir/libtickgauge.so" | awk 'NF == 3 && $3 ~ /^tg_/ { print $3 }' |
  LC_ALL=C sort -u >"$dir/exported"
cat csrc/include/tickgauge/*.h | tr '\n' ' ' | sed 's/TG_API/\nTG_API/g' |
  sed -nE 's/^TG_API[^(;\[]*[ *](tg_[a-z0-9_]+)(\(|\[|;).*/\1/p' | LC_ALL=C sort -u >"$dir/declared"
if ! diff -u "$dir/declared" "$dir/exported"; then
  echo "exported symbols differ from what the headers declare (-: header only, +: library only)" >&2
  exit 1
fi
echo "symbols: $(wc -l <"$dir/exported") exported, as declared"
