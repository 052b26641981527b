#!/bin/sh
# queries.sh: makes queries.fa, a sequence of the database. Needs the packages
# ncbi-blast+ and ncbi-rrna-data.
set -eu
cd "$(dirname "$0")"
[ -s queries.fa ] && exit 0
blastdbcmd -db /usr/share/ncbi/data/SSURef_93.fasta -entry all -outfmt '%f' | awk '
	/^>/ { n++ }
	n == 40001 { print }
	n > 40001 { exit }' >queries.tmp
mv queries.tmp queries.fa
