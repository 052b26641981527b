#!/bin/sh
# run.sh [DIR]: a Slurm of three nodes on this machine, a study of 40 jobs on it, and what goes wrong: the controller is
# killed twice, and a node goes down. Prints what was counted, and fails if a trial was lost or counted twice.
# Root, Debian's slurmctld, slurmd, slurm-client and zstd are needed, and assay on PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rig="$here/../../scripts/slurm.sh"
dir=$(mktemp -d "${1:-/tmp}/assay-slurm-XXXXXX")
at="$dir/slurm"
tune=
trap 'kill -9 $tune 2>/dev/null || true; sh "$rig" down "$at" || true; [ -n "${KEEP:-}" ] || rm -rf "$dir" || true' EXIT
trap "exit 1" INT TERM
sh "$rig" up "$at" 3
PATH="$at/bin:$PATH"
export PATH XDG_STATE_HOME="$dir/state"
cp "$here/assay.yaml" "$dir"
cd "$dir"
awk 'BEGIN { srand(1); for (i = 0; i < 700000; i++) printf "%d %d\n", i, rand() * 100000 }' >data
for _ in $(seq 60); do
	[ "$(sinfo -h -o %T 2>/dev/null)" = idle ] && break
	sleep 1
done
: >"$at/calls"
began=$(date +%s)
assay tune assay.yaml --spool "$dir/spool" --check 0 >result 2>log &
tune=$!
after() { # N COMMAND...: once N trials have ended
	n=$1; shift
	while kill -0 "$tune" 2>/dev/null && [ "$(grep -c '  done \|infeasible' log)" -lt "$n" ]; do sleep 0.2; done
	echo "after $(grep -c '  done \|infeasible' log) trials: $*"
	"$@"
}
# A controller that has lost its latest jobs gives their numbers again, and drains the nodes that know them: the
# administrator has them resume.
ctld() {
	sh "$rig" kill "$at" ctld
	sleep 6
	sh "$rig" start "$at" ctld
	sleep 4
	for n in n1 n2 n3; do scontrol update "nodename=$n" state=resume 2>/dev/null || true; done
}
after 6 ctld
after 14 scontrol update nodename=n3 state=down reason=test
after 20 ctld
status=0
wait "$tune" || status=$?
[ "$status" = 0 ] || tail -5 log
cat result
took=$(($(date +%s) - began))
trials=$(assay study show zstd-slurm --json | sed 's/.*"trials":{[^}]*"total":\([0-9]*\).*/\1/')
ran=$(wc -l <ran)
results=$(find spool/zstd-slurm-* -name result.json | wc -l)
lost=$(find spool/zstd-slurm-* -name lost | wc -l)
queries=$(grep -c ' squeue\| sacct\| scontrol show' "$at/calls" || true)
submits=$(grep -c ' sbatch' "$at/calls" || true)
jobs=$(squeue -h -t pending,running -n "" 2>/dev/null | wc -l)
echo "exit $status, $took s, $ran runs begun, $results results, $lost attempts lost, $submits sbatch, $queries queries, $jobs jobs left"
[ "$status" = 0 ]
[ "$jobs" = 0 ]
