#!/bin/sh
# figures.sh: how large the Go code is; see internal/tools.
set -eu
cd "$(dirname "$0")/.."
"${GO:-go}" run ./internal/tools size
