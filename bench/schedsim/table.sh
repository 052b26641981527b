#!/bin/sh
# table.sh [DIR]: writes table.csv.gz beside this file: the 495 configurations of
# examples/schedsim on 8 made-up logs, and if DIR has the logs of HPC2N and of
# NASA's iPSC/860, on 4 and 8 slices of them. NASA's machine was idle half of the
# time: its log is compressed by 1.8.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
logs=${1:-$here/../../../shared/data/swf}
[ -d "$logs" ] && logs=$(cd "$logs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$here/../.." && go build -o "$work/schedsim" ./examples/schedsim)
cd "$work"
made=
for seed in 1 2 3 4 5 6 7 8; do
	./schedsim -generate 2500 -load 0.7 -seed $seed -o made-up$seed.swf
	made="$made -log made-up$seed.swf"
done
./schedsim -table $made -o table.csv
add() {
	if [ -f "$logs/$1" ]; then
		file=$logs/$1
		shift
		./schedsim -table -log "$file" "$@" | tail -n +2 >>table.csv
	else
		echo "table.sh: no $logs/$1: left out" >&2
	fi
}
add HPC2N-excerpt.swf.gz -slices 4
add NASA-iPSC-1993-3.1-cln.swf.gz -slices 8 -compress 1.8
gzip -9n <table.csv >"$here/table.csv.gz.part"
mv "$here/table.csv.gz.part" "$here/table.csv.gz"
