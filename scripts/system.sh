#!/bin/sh
# system.sh [all]: the tests of make system, package by package, and the parts that no package has.
# system.sh ci SECONDS: those that depend on a package which changed since the last landed commit (CI_BASE, or the one
# that .ci/run kept in the user's cache), then a share of the others that changes from day to day, until the seconds
# are used up. It prints the parts that it left out.
set -u
cd "$(dirname "$0")/.."
mode=${1:-all} seconds=${2:-0}
export ASSAY_TEST=system
kept="${XDG_CACHE_HOME:-$HOME/.cache}/assay/landed"
began=$(date +%s)

# A package is a part if one of its tests has a longer form, by the functions of internal/testbed.
packages() {
	grep -rlE 'testbed\.(System|IsSystem|Times|Slurm)\(|\[!system\]' --include='*_test.go' --include='*.txtar' . |
		sed 's|/testdata/.*||; s|/[^/]*_test.go$||' | sort -u | grep -v internal/testbed
}

# run PART: a part; its output is shown only if it fails.
run() {
	log=$(mktemp) start=$(date +%s) code=0
	case $1 in
	./lab/*) go test -C lab -timeout 60m ".${1#./lab}" >"$log" 2>&1 || code=$? ;;
	./*) go test -timeout 60m "$1" >"$log" 2>&1 || code=$? ;;
	conditions) sh scripts/conditions.sh >"$log" 2>&1 || code=$? ;;
	first) sh scripts/first.sh >"$log" 2>&1 || code=$? ;;
	histories) # of two minutes each; the part ./internal/server has five of 40 s
		ASSAY_HISTORIES=${HISTORIES:-100} ASSAY_HISTORY=2m \
			go test -timeout 5h -parallel "${PARALLEL:-8}" -run 'TestHistories$' -v ./internal/server >"$log" 2>&1 || code=$?
		;;
	fuzz) timeout 120 sh scripts/fuzz.sh 20s 3 >"$log" 2>&1 || { code=$?; [ $code != 124 ] || code=0; } ;;
	dist-test | site) make "$1" >"$log" 2>&1 || code=$? ;;
	esac
	echo "system: $1 $([ $code = 0 ] && echo ok || echo FAILED) $(($(date +%s) - start)) s"
	[ $code = 0 ] || tail -n 200 "$log"
	rm -f "$log"
	return $code
}

if [ "$mode" = part ]; then # one, for itself
	run "$2"
	exit
fi
all="$(packages) fuzz dist-test site"
failed=0
if [ "$mode" = all ]; then
	for part in $all conditions first histories; do run "$part" || failed=1; done
	exit $failed
fi

base=${CI_BASE:-$(cat "$kept" 2>/dev/null)}
git cat-file -e "$base^{commit}" 2>/dev/null || base=$(git rev-list --first-parent --max-count=20 HEAD | tail -n 1)
changed=$(git diff --name-only "$base" HEAD -- '*.go' '*.js' '*.txtar' | sed 's|/testdata/.*||; s|/[^/]*$||' | sort -u | sed 's|^|./|')
module=$(go list -m)
first='' rest=''
for part in $all; do
	case $part in
	./*)
		at=.
		case $part in ./lab/*) at=lab ;; esac
		deps=$(go list -C $at -deps -test "$module${part#.}" 2>/dev/null | sed -n "s|^$module|.|p" | sed 's| .*||')
		if printf '%s\n' "$deps" "$part" | grep -qxF "$changed"; then first="$first $part"; else rest="$rest $part"; fi
		;;
	*) rest="$rest $part" ;;
	esac
done
# rotate N WORD...: the words, from the N-th on and then from the first.
rotate() {
	n=$1
	shift
	[ $# -gt 0 ] || return 0
	n=$((n % $#))
	while [ $n -gt 0 ]; do
		word=$1
		shift
		set -- "$@" "$word"
		n=$((n - 1))
	done
	echo "$@"
}
day=$(($(date +%s) / 86400))
left=''
# shellcheck disable=SC2046,SC2086 # lists of words
for part in $(rotate $day $first) $(rotate $day $rest); do
	spent=$(($(date +%s) - began))
	if [ $spent -ge "$seconds" ]; then
		left="$left $part"
		continue
	fi
	# A part that does not end in time is left out; it is no failure.
	timeout -k 10 $((seconds - spent + 60)) sh "$0" part "$part" || {
		code=$?
		if [ $code = 124 ]; then left="$left $part (out of time)"; else failed=1; fi
	}
done
echo "system: changed packages since $(git rev-parse --short "$base"): $(echo $changed | wc -w)"
echo "system: left out:${left:- nothing}"
exit $failed
