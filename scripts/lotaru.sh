#!/bin/sh
# lotaru.sh DATA.csv OUT: makes of the table of the Lotaru traces a folder for each workflow with a plain
# table for each execution: its name is the input's size and the number of the machine.
set -eu
[ $# = 2 ] || { echo "usage: lotaru.sh DATA.csv OUT" >&2; exit 2; }
awk -F, -v out="$2" '
NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
{
	m = $col["machine"]
	if (!(m in number)) number[m] = ++machines
	dir = out "/" $col["workflow"]
	if (!(dir in made)) { system("mkdir -p \"" dir "\""); made[dir] = 1 }
	file = dir "/" $col["workflow_input_B"] "-" number[m] ".csv"
	if (!(file in ids)) { print "# system: Nextflow" > file; print "id,kind,run_s,machine,in_B,memory_B" > file }
	print $col["task"] "#" (++ids[file]) "," $col["task"] "," $col["realtime_s"] "," m "," $col["task_input_B"] "," $col["peak_rss_B"] > file
}' "$1"
