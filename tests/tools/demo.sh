#!/bin/sh
# The real job on the logs that come with the project. Usage: demo.sh BIN
set -eu
BIN=$1
"$BIN/tickgauge" --version
