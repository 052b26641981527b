#!/bin/sh
# sbom.sh [FILE]: writes the bill of materials of the program, in CycloneDX, to FILE (dist/sbom.json). VERSION and
# SOURCE_DATE_EPOCH are put into it.
set -eu
cd "$(dirname "$0")/.."
file=${1:-dist/sbom.json}
mkdir -p "$(dirname "$file")"
"${GO:-go}" run ./internal/tools bill sbom "$file"
