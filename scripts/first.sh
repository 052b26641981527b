#!/bin/sh
# first.sh [QUIET [LOADED]]: runs the first command of the README QUIET times (20), then LOADED times (20) under one busy
# loop for each processor. It prints a line for each run, and fails if one quiet run, or more than one in twenty of the
# others, does not show that the program is at least twice as fast.
set -eu
cd "$(dirname "$0")/.."
quiet=${1:-20} loaded=${2:-20}
study=examples/matmul/assay.yaml
dir=$(mktemp -d) loops=
trap 'kill $loops 2>/dev/null || :; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP
grep -q "go run ./cmd/assay tune $study" README.md || {
	echo "first.sh: the README runs another study" >&2
	exit 1
}
go build -o "$dir/assay" ./cmd/assay

# runs NAME N MISSES: N runs, of which at most MISSES may show less than a factor of two.
runs() {
	good=0
	for n in $(seq "$2"); do
		export XDG_STATE_HOME="$dir/state"
		rm -rf "$XDG_STATE_HOME"
		began=$(date +%s)
		"$dir/assay" tune "$study" >"$dir/out" 2>&1 || {
			cat "$dir/out" >&2
			exit 1
		}
		took=$(($(date +%s) - began))
		"$dir/assay" study show matmul --json >"$dir/json"
		if python3 -c 'import json, sys; g = json.load(sys.stdin)["gain"]; sys.exit(not g["shown"] or g["change"] > -0.5)' <"$dir/json"; then
			good=$((good + 1)) word=yes
		else
			word=NO
		fi
		echo "$1 $n  $took s  load $(cut -d' ' -f1 /proc/loadavg)  2x shown: $word  $(grep '^gain' "$dir/out")"
	done
	echo "$1: $good of $2"
	[ $((good + $3)) -ge "$2" ]
}

failed=0
runs quiet "$quiet" 0 || failed=1
for _ in $(seq "$(nproc)"); do
	# In a session of its own, as Linux shares processors among sessions.
	setsid sh -c 'while :; do :; done' &
	loops="$loops $!"
done
runs loaded "$loaded" $((loaded / 20)) || failed=1
exit $failed
