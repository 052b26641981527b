#!/bin/sh
# Writes a store of studies that are under way, and the proposals that they would have made next:
#
#   scripts/old-store.sh ASSAY STORE TRIALS
#
# ASSAY is the program of the release whose format is to be kept, STORE a new file. The stores in setup/testdata/stores were
# written so, by the last commits with formats 1 and 2, the first with format 3, one with the definition of package
# config (4), and one with version 2 of the searchers (5), with 8 trials each. Only the fifth has a study that
# others help, one of which ranks the configurations the other way:
#
#   for f in 1:f4f10b6 2:cb7a651 3:64ef6d1 4:abf2341 5:704fbf7; do
#     git worktree add --detach old-$f ${f#*:} && (cd old-$f && go build -o ../assay-${f%%:*} ./cmd/assay)
#     scripts/old-store.sh ./assay-${f%%:*} $PWD/v${f%%:*}.db 8 && gzip -9n v${f%%:*}.db
#   done
#
# proposals.txt has the proposals of the first three after 14 trials, which are the same; proposals4.txt and
# proposals5.txt have the proposals of the fourth and of the fifth: the study, then the columns of
# `assay study export SEARCHER --format csv` up to the parameters. TestOldStores goes on with them.
set -eu
assay=$1 store=$2 trials=$3
for study in random lhs grid nm bayes auto contrary helped; do
	search=$study prior=none sign=1
	case $study in
	contrary) search=lhs sign=-1 ;;
	helped) search=auto prior=lhs,contrary ;;
	esac
	"$assay" tune --store "$store" --study $study --seed 7 --search $search --prior $prior --trials "$trials" --check 0 --stop none \
		-p x=1..20 -p y=10..400:log -p z=a,b,c --minimize cost --metric 'cost=stdout:/cost (.*)/' -- \
		sh -c '[ $1 -gt 17 ] && exit 3; z=3; [ $3 = b ] && z=0; echo cost $(($4*(($1-7)*($1-7)+($2-90)*($2-90)/100+z)))' \
		sh '{x}' '{y}' '{z}' $sign >/dev/null
done
