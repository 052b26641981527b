package planning

import (
	"fmt"
	"strings"

	"github.com/assay-run/assay/internal/workflow/request"
)

// writeSbatch writes a script of the POSIX shell that computes the requests to Slurm, and submits with
// them.
//
// Numbers are MiB and minutes, the units of --mem=M and --time.
func writeSbatch(b *strings.Builder, p *RequestPlan) {
	b.WriteString("#!/bin/sh\n")
	comments(b, "#", p, "ask KIND ATTEMPT [INPUT...]       prints --mem and --time: sbatch $(sh FILE ask KIND 1 INPUT) "+
		"JOB",
		"submit KIND [INPUT...] -- JOB...  runs sbatch --wait, again with twice as much where the job had too little")
	b.WriteString(sbatchHead)
	for _, k := range p.Kinds {
		fmt.Fprintf(b, "\t%s) set -- %s %s ;;\n", shellQuoted(k.Name), shellRule(k.Memory.Rule, 1<<20),
			shellRule(k.Time.Rule, 60))
	}
	fmt.Fprintf(b, sbatchTail, retries+1)
}

const sbatchHead = `set -eu
usage() { echo "usage: ask KIND ATTEMPT [INPUT...] | submit KIND [INPUT...] -- JOB..." >&2; exit 2; }
# options KIND ATTEMPT SIZE prints the request.
options() {
	kind=$1 attempt=$2 size=$3
	# For each of memory and time: base, slope, least and most.
	case $kind in
`

const sbatchTail = `	*) echo "no tasks of kind $kind were recorded" >&2; return 2 ;;
	esac
	awk -v size="$size" -v attempt="$attempt" -v rules="$*" 'BEGIN {
		n = split(rules, r, " ")
		for (i = 1; i + 3 <= n; i += 4) {
			x = r[i] + r[i + 1] * size
			if (x > r[i + 3]) x = r[i + 3]
			if (x < r[i + 2]) x = r[i + 2]
			x *= 2 ^ (attempt - 1)
			if (x > int(x)) x = int(x) + 1
			if (x > 0) printf(i == 1 ? "--mem=%%dM\n" : "--time=%%d\n", x)
		}
	}'
}
mode=${1-}
[ $# -ge 3 ] || usage
kind=$2 attempt=1 bytes=0
shift 2
case $mode in
ask)
	attempt=$1
	shift
	case $attempt in '' | *[!0-9]*) usage ;; esac
	;;
submit) ;;
*) usage ;;
esac
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	bytes=$((bytes + $(wc -c <"$1")))
	shift
done
if [ "$mode" = ask ]; then
	options "$kind" "$attempt" "$bytes"
	exit
fi
[ $# -ge 2 ] || usage
shift
while :; do
	asked=$(options "$kind" "$attempt" "$bytes")
	code=0
	job=$(sbatch --parsable --wait $asked "$@") || code=$?
	[ "$code" != 0 ] || exit 0
	shown=$(scontrol show job -o "${job%%%%;*}")
	state=$(echo "$shown" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p')
	# Where Slurm itself watches the memory, and where the kernel does, a job that took too much ` +
	`was ended by signal 9.
	case $state:$(echo "$shown" | sed -n 's/.* ExitCode=\([0-9:]*\).*/\1/p') in
	OUT_OF_MEMORY:* | TIMEOUT:* | FAILED:0:9 | FAILED:137:0) [ "$attempt" -lt %d ] || exit "$code" ;;
	*) exit "$code" ;;
	esac
	attempt=$((attempt + 1))
done
`

// shellQuoted returns a word in single quotes, as a pattern that matches it and nothing else.
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// shellRule returns the four numbers of a rule in a unit; zeros for none.
func shellRule(r request.Rule, unit float64) string {
	return fmt.Sprintf("%v %s %v %v", r.Base/unit, slope(r.PerByte/unit), r.Low/unit, r.High/unit)
}
