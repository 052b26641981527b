#!/bin/sh
# demo.sh [N [BUDGET]]: which rule of a performance gate cries wolf, on this machine as it is now?
#
# gzip compresses a file of 150 kB. "Before" and "after" are the same program on a file of the
# same size N times (4), and on a file that is 10 % longer N times. A rule that calls the first
# slower cries wolf; one that does not call the second slower misses it. Each comparison takes at
# most BUDGET (5s): two minutes in all. "demo.sh 20 15s" says more, and takes 20 minutes at most.
# Needs gzip, awk and assay; hyperfine's rules are left out where there is none.
set -eu
n=${1:-4} budget=${2:-5s}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT INT TERM
cd "$dir"
# Text that compresses as text does, made without randomness.
awk 'BEGIN { x = 1; for (i = 0; i < 40000; i++) { x = (x * 16807) % 2147483647; printf "%d%s", x % 5000, i % 12 ? " " : "\n" } }' >text
head -c 150000 text >before
head -c 150000 text >same
head -c 165000 text >longer

# hyperfine's mean and standard deviation of both commands, as "mean_a sd_a mean_b sd_b".
measure() {
	hyperfine -N --style none --runs 12 --export-json h.json "gzip -6 -kfc before" "gzip -6 -kfc $1" >/dev/null 2>&1
	awk -F'[:,]' '/"mean"/ { printf "%s ", $2 } /"stddev"/ { printf "%s ", $2 } END { print "" }' h.json
}
# The gate of assay: prints "slower" for exit code 4, "cannot tell" for 5.
gate() {
	code=0
	assay compare "$@" >out 2>&1 || code=$?
	case $code in
	0) echo "not slower" ;;
	4) echo slower ;;
	5) echo "cannot tell" ;;
	*) cat out >&2; exit 1 ;;
	esac
}

: >verdicts
for i in $(seq "$n"); do
	for after in same longer; do
		if command -v hyperfine >/dev/null; then
			measure "$after" | awk -v kind="$after" '{
				ratio = $3 / $1; error = ratio * sqrt(($2 / $1) ^ 2 + ($4 / $3) ^ 2)
				print kind "|hyperfine, ratio of means > 1.05|" (ratio > 1.05 ? "slower" : "")
				print kind "|hyperfine, ratio less its error > 1.05|" (ratio - error > 1.05 ? "slower" : "")
			}' >>verdicts
		fi
		for metric in elapsed cpu; do
			verdict=$(gate --metric "$metric" --fail-if 'slower > 3%' --budget "$budget" \
				-- gzip -6 -kfc before -- gzip -6 -kfc "$after")
			echo "$after|assay compare --metric $metric, slower > 3%|$verdict" >>verdicts
		done
	done
done
echo "load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors, $n comparisons of each kind, $budget each"
awk -F'|' '
	{ if (!seen[$2]++) rule[++rules] = $2; count[$1 "|" $2 "|" $3]++ }
	function n(kind, what) { return count[kind "|" rule[i] "|" what] + 0 }
	END {
		printf "%-42s %12s %15s %12s\n", "rule", "false alarms", "slowdowns found", "cannot tell"
		for (i = 1; i <= rules; i++)
			printf "%-42s %12d %15d %12d\n", rule[i], n("same", "slower"), n("longer", "slower"),
				n("same", "cannot tell") + n("longer", "cannot tell")
	}' verdicts
