#!/bin/sh
# Usage: need.sh build|test|lint ... : makes sure the system offers what that step needs.
# Asks for abilities, not packages; where one is missing the Debian package is installed when we
# are root (or have password-less sudo), otherwise named in one line to copy.
set -u
PYTHON=${PYTHON:-python3}
missing=""
need() { missing="$missing $1"; }

for step in "$@"; do
  case $step in
    build)
      command -v "${CC:-cc}" >/dev/null 2>&1 || need gcc
      printf '#include <stdint.h>\n#include <string.h>\n' |
        "${CC:-cc}" -fsyntax-only -x c - >/dev/null 2>&1 || need libc6-dev
      command -v "$PYTHON" >/dev/null 2>&1 || need python3
      "$PYTHON" -c 'import venv, ensurepip' >/dev/null 2>&1 || need python3-venv
      "$PYTHON" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' \
        >/dev/null 2>&1 || need python3-dev
      ;;
    test)
      command -v pkg-config >/dev/null 2>&1 || need pkg-config
      pkg-config --exists check >/dev/null 2>&1 || need check
      ;;
    lint) command -v clang-tidy >/dev/null 2>&1 || need clang-tidy ;;
    valgrind) command -v valgrind >/dev/null 2>&1 || need valgrind ;;
    fuzz)
      command -v clang >/dev/null 2>&1 || need clang
      printf 'int main(void){return 0;}\n' | clang -fsanitize=address -x c - -o /dev/null \
        >/dev/null 2>&1 || need libclang-rt-14-dev
      ;;
    browser) command -v chromium >/dev/null 2>&1 || need "chromium chromium-driver" ;;
    aarch64)
      command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || need "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
      command -v qemu-aarch64 >/dev/null 2>&1 || need qemu-user
      ;;
  esac
done
[ -z "$missing" ] && exit 0

if command -v apt-get >/dev/null 2>&1; then
  if [ "$(id -u)" = 0 ]; then as=""; elif sudo -n true 2>/dev/null; then as="sudo"; else as="no"; fi
  if [ "$as" != no ]; then
    echo "installing missing system packages:$missing"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    { $as apt-get update -qq && $as apt-get install -y -qq --no-install-recommends $missing; } \
      >/dev/null && exit 0
    echo "could not install:$missing" >&2
    exit 1
  fi
  echo "missing system packages; run:  sudo apt-get install -y$missing" >&2
else
  echo "missing (Debian package names; use your system's own):$missing" >&2
fi
exit 1
