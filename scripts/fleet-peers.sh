#!/bin/sh
# fleet-peers.sh [TASKS [ROUNDS]]: small tasks through assay, HyperQueue and Dask, in one run. It installs
# the two peers from PyPI into a directory of its own, which it removes.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d "${TMPDIR:-/tmp}/assay-peers-XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 143' INT TERM
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q "distributed==${DASK:-2026.8.0}" "hyperqueue==${HYPERQUEUE:-0.27.0}"
go build -o "$dir/assay" ./cmd/assay
"$dir/venv/bin/python" scripts/fleet_peers.py "$dir/assay" "${1:-300}" "${2:-3}"
