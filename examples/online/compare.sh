#!/bin/sh
# compare.sh [ROUNDS]: the times of the two examples in seconds
#   default   untuned, with the default configuration
#   on-line   the same run, tuned while it runs, from the start of the server
#   off-line  tuned first by short runs, then run with the best; both together
# Rounds are interleaved, so that a slow drift of the machine hits all alike. The
# median of each is printed. Needs go, cc and python3.
set -eu
cd "$(dirname "$0")/../.."
rounds=${1:-5}
tmp=$(mktemp -d)
mkdir -m 700 "$tmp/run"
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/assay" ./cmd/assay
make -s -C examples/online/heat
export XDG_STATE_HOME="$tmp/state" XDG_RUNTIME_DIR="$tmp/run"
heat=examples/online/heat/heat
primes=examples/online/python/primes.py

clock() { # NAME COMMAND...: appends the seconds of a command to a file
	name=$1
	shift
	start=$(date +%s.%N)
	"$@" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/out" "$tmp/err"; exit 1; }
	echo "$(date +%s.%N) - $start" | bc >>"$tmp/$name"
}

online() { "$tmp/assay" serve --online "$@"; }

offline_heat() {
	best=$("$tmp/assay" tune examples/online/heat/assay.yaml --trials 20 --check 0 --store memory --json -- \
		"$heat" -n 512 -k 60 -x '{tile_x}' -y '{tile_y}' -u '{unroll}' | tr -d ' \n' |
		sed 's/.*"tile_x":"*\([0-9]*\).*"tile_y":"*\([0-9]*\).*"unroll":"*\([0-9]*\).*/-x \1 -y \2 -u \3/')
	"$heat" -n 512 -k "$1" $best
}

offline_primes() {
	best=$("$tmp/assay" tune examples/online/python/assay.yaml --trials 12 --check 0 --store memory --json -- \
		python3 "$primes" --windows 4 --segment '{segment}' '--odd={odd?on}{odd?}' | tr -d ' \n' |
		sed 's/.*"odd":"*\([a-z]*\).*"segment":"*\([0-9]*\).*/--segment \2 --odd \1/; s/true/on/; s/false/off/')
	python3 "$primes" --windows "$1" $best
}

for round in $(seq "$rounds"); do
	for k in 1000 4000; do
		clock "heat-$k.default" "$heat" -n 512 -k $k
		clock "heat-$k.on-line" online examples/online/heat/assay.yaml --mode steps --store memory -- "$heat" -n 512 -k $k
		clock "heat-$k.off-line" offline_heat $k
	done
	for w in 30; do
		clock "primes-$w.default" python3 "$primes" --windows $w
		clock "primes-$w.on-line" online examples/online/python/assay.yaml --store memory -- python3 "$primes" --windows $w
		clock "primes-$w.off-line" offline_primes $w
	done
done
for f in "$tmp"/*.default "$tmp"/*.on-line "$tmp"/*.off-line; do
	printf '%-20s %s\n' "$(basename "$f")" "$(sort -n "$f" | sed -n "$(((rounds + 1) / 2))p")"
done | sort
