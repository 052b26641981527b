#!/bin/sh
# fuzz.sh TIME: runs every fuzz target of the module for TIME each.
set -eu
for pkg in $(go list ./...); do
	for f in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "== $pkg $f"
		go test -run '^$' -fuzz "^$f\$" -fuzztime "${1:-60s}" "$pkg"
	done
done
