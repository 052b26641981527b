#!/bin/sh
# Writes a store of studies that are under way, and the proposals that they would have made next:
#
#   scripts/old-store.sh ASSAY STORE TRIALS
#
# ASSAY is the program of the release whose format is to be kept, STORE a new file. The stores in setup/testdata/stores were
# written so, by the last commits with formats 1 and 2, the first with format 3, and one with the definition of package
# config (4), with 8 trials each:
#
#   for f in 1:f4f10b6 2:cb7a651 3:64ef6d1 4:abf2341; do
#     git worktree add --detach old-$f ${f#*:} && (cd old-$f && go build -o ../assay-${f%%:*} ./cmd/assay)
#     scripts/old-store.sh ./assay-${f%%:*} $PWD/v${f%%:*}.db 8 && gzip -9n v${f%%:*}.db
#   done
#
# proposals.txt has the proposals of the first three after 14 trials, which are the same, and proposals4.txt the
# fourth's: the searcher, then the columns of
# `assay study export SEARCHER --format csv` up to the parameters. TestOldStores goes on with them.
set -eu
assay=$1 store=$2 trials=$3
for search in random lhs grid nm bayes auto; do
	"$assay" tune --store "$store" --study $search --seed 7 --search $search --trials "$trials" --check 0 --stop none \
		-p x=1..20 -p y=10..400:log -p z=a,b,c --minimize cost --metric 'cost=stdout:/cost (.*)/' -- \
		sh -c '[ $1 -gt 17 ] && exit 3; z=3; [ $3 = b ] && z=0; echo cost $((($1-7)*($1-7)+($2-90)*($2-90)/100+z))' \
		sh '{x}' '{y}' '{z}' >/dev/null
done
