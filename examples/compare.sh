#!/bin/sh
# compare.sh DIR [SECONDS [SEEDS]]: what assay, random search and Optuna find of the study in DIR in equal
# time, beside what the program does now. The searches take turns, with SEEDS seeds each; at the end what
# each of them found and the default are run again in turn, 5 times. Optuna is taken from PyPI.
#
#   examples/compare.sh examples/gogc 60 3
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v assay >/dev/null || { echo "compare.sh: no assay on the PATH: go install ./cmd/assay" >&2; exit 2; }
python3 -c 'import optuna, yaml' 2>/dev/null || { echo "compare.sh: pip install optuna pyyaml" >&2; exit 2; }
exec python3 "$here/compare.py" "$@"
