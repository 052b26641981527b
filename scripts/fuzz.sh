#!/bin/sh
# fuzz.sh TIME [N]: runs every fuzz target of the module for TIME each. With N, those N whose turn it is today: after
# as many days as it takes, every target has had one.
set -eu
cd "$(dirname "$0")/.."
time=${1:-60s}
list=$(grep -rn --include='*_test.go' -o '^func Fuzz[A-Za-z0-9]*' . | grep -v testdata/ | sed 's,/[^/]*_test.go:[0-9]*:func , ,' | sort)
if [ -n "${2:-}" ]; then
	list=$(echo "$list" | awk -v n="$2" -v day="$(($(date +%s) / 86400))" '
		{ all[NR - 1] = $0 } END { for (i = 0; i < n && i < NR; i++) print all[(day * n + i) % NR] }')
fi
echo "$list" | while read -r pkg target; do
	echo "== $pkg $target"
	"${GO:-go}" test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$pkg"
done
