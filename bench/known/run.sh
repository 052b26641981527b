#!/bin/sh
# run.sh FILE SEEDS TRIALS: tunes the study FILE with and without the studies that ship, SEEDS times each in turn, and
# prints one line of JSON for each study: workload, seed, arm, whether values are maximized, and the values of its trials.
# FIRST is the first seed (1). It needs the program, an assay on PATH and python3. PostgreSQL runs as any user but root.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
for seed in $(seq "${FIRST:-1}" $((${FIRST:-1} + $2 - 1))); do
	for arm in $([ $((seed % 2)) = 0 ] && echo known none || echo none known); do
		prior=none
		[ "$arm" = none ] || prior=auto
		assay tune "$1" --study known --store "$dir/$seed-$arm.db" --seed "$seed" --trials "$3" --stop none --check 0 --prior "$prior" \
			>/dev/null 2>"$dir/log" || { cat "$dir/log" >&2; exit 1; }
		assay study show known --store "$dir/$seed-$arm.db" --json >"$dir/study"
		assay study export known --store "$dir/$seed-$arm.db" --format jsonl | python3 -c '
import json, sys
trials = [json.loads(line) for line in sys.stdin]
study = json.load(open(sys.argv[4]))
print(json.dumps({"workload": sys.argv[1], "seed": int(sys.argv[2]), "arm": sys.argv[3],
                  "maximize": study["spec"]["objective"].get("maximize", False),
                  "values": [t["value"] if t["state"] == "done" else None for t in trials]}))' "$(sed -n 's/^name: //p' "$1")" "$seed" "$arm" "$dir/study"
	done
done
