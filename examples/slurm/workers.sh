#!/bin/sh
# workers.sh [DIR]: a Slurm of two nodes on this machine, and workers of a server in its jobs: short runs in one job, a run
# that is longer than its job, and a job that is cancelled. Fails if a run was lost.
# Root, Debian's slurmctld, slurmd and slurm-client are needed, and assay on PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rig="$here/../../scripts/slurm.sh"
dir=$(mktemp -d "${1:-/tmp}/assay-pilots-XXXXXX")
at="$dir/slurm"
server=
trap 'kill -9 $server 2>/dev/null || true; sh "$rig" down "$at" || true; [ -n "${KEEP:-}" ] || rm -rf "$dir" || true' EXIT
trap "exit 1" INT TERM
sh "$rig" up "$at" 2
PATH="$at/bin:$PATH"
export PATH XDG_STATE_HOME="$dir/state"
unset SLURM_JOB_ID SLURMD_NODENAME || true
cd "$dir"
until_() { # WHAT SECONDS
	for _ in $(seq "$2"); do
		if eval "$1"; then return 0; fi
		sleep 1
	done
	echo "never: $1"
	cat spool/workers/*.out
	exit 1
}
gone() { ! squeue -h -o %j | grep -q assay-workers; }
ready() { assay workers ls --json 2>/dev/null | grep -o '"state":"ready"' | wc -l; }
until_ '[ "$(sinfo -h -o %T 2>/dev/null)" = idle ]' 90
assay server --local-slots 0 --lease 10s >log 2>&1 &
server=$!
until_ 'assay workers ls >/dev/null 2>&1' 60
: >"$at/calls"

# Twenty-four short runs and their repetitions, in one job of two nodes.
assay slurm workers --nodes 2 --time 10m --accept-commands --idle 20s --spool spool -- --partition=short 2>/dev/null
cat >short.yaml <<S
command: [sh, -c, 'echo \$SLURMD_NODENAME >>where; sleep 0.0\$1', sh, '{n}']
parameters: {n: 1..24}
search: grid
parallel: 2
S
assay tune short.yaml --on fleet 2>/dev/null
echo "short runs on $(sort -u where | tr '\n' ' ')in $(grep -c ' sbatch' "$at/calls") job"
until_ gone 120
grep -h 'nothing to run' spool/workers/*.out | sort | uniq -c
mv spool/workers first

# A run that is longer than its job of one minute is ended with it, and made in the next one.
cat >long.yaml <<S
command: [sh, -c, 'echo \$\$ >>began; while ! test -e let; do sleep 0.2; done; echo \$\$ >>ended', sh, '{n}']
parameters: {n: 1..9}
budget: {trials: 1}
S
assay tune long.yaml --on fleet --detach >/dev/null
assay slurm workers --time 1m --accept-commands --idle 0s --spool spool 2>/dev/null
until_ '[ -s began ]' 60
until_ gone 150
cat spool/workers/*.out
[ ! -e ended ]
mv spool/workers second
touch let
assay slurm workers --time 10m --accept-commands --idle 20s --spool spool 2>/dev/null
until_ gone 150
cat spool/workers/*.out
grep -q 'long/1.2 .*done' spool/workers/*.out
mv spool/workers third

# scancel ends the worker and its run; the server knows at once.
rm let began
cat >stuck.yaml <<S
command: [sh, -c, 'echo \$\$ >>began; exec sleep 1000', sh, '{n}']
parameters: {n: 1..9}
budget: {trials: 1}
S
assay tune stuck.yaml --on fleet --detach >/dev/null
assay slurm workers --time 10m --accept-commands --spool spool 2>/dev/null
until_ '[ -s began ]' 60
scancel --name=assay-workers
until_ gone 60
until_ '[ "$(ready)" = 0 ]' 30
cat spool/workers/*.out
if grep -q 'stuck/1.1 *failed' spool/workers/*.out; then echo "what was cancelled counts as failed"; exit 1; fi
if kill -0 "$(tail -1 began)" 2>/dev/null; then echo "the run goes on"; exit 1; fi
echo "all as it should be: $(grep -c ' sbatch' "$at/calls") jobs, $(grep -c ' squeue.*%L' "$at/calls") questions for the end of a job"
