#!/bin/sh
# figures.sh: how large the Go code is; see internal/size.
set -eu
cd "$(dirname "$0")/.."
"${GO:-go}" run ./internal/size
