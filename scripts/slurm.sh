#!/bin/sh
# slurm.sh up DIR [NODES] | ctld DIR | down DIR: a Slurm of its own on this machine, in a network namespace: a controller and
# several slurmd of two processors each, without authentication; $EXTRA is more lines of slurm.conf. Root, and Debian's packages
# slurmctld, slurmd and slurm-client, are needed.
set -eu
what=$1 dir=$2 nodes=${3:-3}
ns="assay-slurm-$(printf %s "$dir" | cksum | cut -d' ' -f1)"
export SLURM_CONF="$dir/slurm.conf"
start() { # NAME COMMAND...
	name=$1; shift
	( nsenter --net="/run/netns/$ns" setsid "$@" >>"$dir/log/$name.out" 2>&1 & echo $! >"$dir/run/$name.mypid" )
}
case $what in
up)
	mkdir -p "$dir/state" "$dir/spool" "$dir/log" "$dir/run" "$dir/bin"
	ip netns add "$ns"
	# Slurm resolves no address in a namespace that has loopback alone.
	ip -n "$ns" link add v0 type veth peer name v1
	ip -n "$ns" addr add 10.250.0.1/24 dev v0
	for link in lo v0 v1; do ip -n "$ns" link set "$link" up; done
	host=$(hostname -s)
	cat >"$SLURM_CONF" <<C
ClusterName=assay
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=17002
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/ctld.pid
SlurmdPidFile=$dir/run/%n.pid
SlurmctldLogFile=$dir/log/ctld.log
SlurmdLogFile=$dir/log/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=30
SlurmctldTimeout=30
KillWait=3
MinJobAge=${MINAGE:-300}
MessageTimeout=10
SchedulerParameters=sched_min_interval=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/linux
SlurmdParameters=config_overrides
${EXTRA:-}
C
	i=1
	while [ "$i" -le "$nodes" ]; do
		mkdir -p "$dir/spool/n$i"
		echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((17010 + i)) CPUs=2 RealMemory=2000 State=UNKNOWN" >>"$SLURM_CONF"
		i=$((i + 1))
	done
	echo "PartitionName=short Nodes=n[1-$nodes] Default=YES MaxTime=60 State=UP" >>"$SLURM_CONF"
	start ctld slurmctld -D -c
	i=1
	while [ "$i" -le "$nodes" ]; do start "n$i" slurmd -D -N "n$i"; i=$((i + 1)); done
	# The commands, each of which is counted.
	for c in sbatch squeue scancel scontrol sacct sinfo srun; do
		printf '#!/bin/sh\necho "$(date +%%s) %s $*" >>"%s/calls"\nexport SLURM_CONF="%s"\nexec nsenter --net=/run/netns/%s /usr/bin/%s "$@"\n' \
			"$c" "$dir" "$SLURM_CONF" "$ns" "$c" >"$dir/bin/$c"
		chmod 755 "$dir/bin/$c"
	done
	;;
start) # NAME
	case $3 in
	ctld) start ctld slurmctld -D ;;
	*) start "$3" slurmd -D -N "$3" ;;
	esac ;;
kill) # NAME
	kill -9 "$(cat "$dir/run/$3.mypid")" ;;
down)
	for p in "$dir"/run/*.mypid; do
		[ -e "$p" ] && kill -9 "$(cat "$p")" 2>/dev/null || true
	done
	for pid in $(ip netns pids "$ns" 2>/dev/null); do kill -9 "$pid" 2>/dev/null || true; done
	ip netns del "$ns" 2>/dev/null || true
	sleep 1 # the killed processes write nothing more
	;;
*) echo "usage: slurm.sh up DIR [NODES] | start DIR NAME | kill DIR NAME | down DIR" >&2; exit 2 ;;
esac
