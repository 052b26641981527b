#!/bin/sh
# dev.sh: a newcomer's first step. Reports a missing Go, builds the program, and runs the tests that take a
# second or two each, of the packages in which searches, stops, models and spaces are. `make test` runs all of them.
set -eu
cd "$(dirname "$0")/.."
need=1.26
have=$("${GO:-go}" env GOVERSION 2>/dev/null | sed 's/^go//') || { echo "dev.sh: no Go: install $need or later" >&2; exit 1; }
[ "$(printf '%s\n' "$need" "$have" | sort -V | head -n 1)" = "$need" ] || { echo "dev.sh: Go $have is too old: $need or later" >&2; exit 1; }
# Go fetches all parts of the program and its tests. make deps installs the programs of the other tests.
"${GO:-go}" build -o bin/assay ./cmd/assay
bin/assay --version
"${GO:-go}" test -short . ./internal/workereffect ./internal/stats ./stop ./internal/stats ./internal/arch ./spec ./internal/expr ./internal/report ./workflow/... ./internal/workflow/...
echo
echo "The program is bin/assay. The rooms of the house: ARCHITECTURE.md. The first thing to add: CONTRIBUTING.md."
echo "Before a change is offered: .ci/run (15 minutes), or make lint and go test ./PACKAGE while you work."
