#!/bin/sh
# conditions.sh [NAME...]: runs the tests under conditions that they must not depend on, and prints a table. PACKAGES are
# the packages (./...), ARGS further arguments of go test. The conditions are the functions below; load+nohup is both.
set -u
cd "$(dirname "$0")/.."
root=$PWD
packages=${PACKAGES:-./...}
work=$(mktemp -d)
pids= # of busy loops
trap '[ -z "$pids" ] || kill $pids; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# A condition runs the command that it has.
load() { # two busy loops per core, each in a session of its own: Linux shares the processors among sessions, and some
	# kernels let a session with loops and tests starve all others, their own threads too, for a minute
	pids=
	for _ in $(seq $((2 * $(nproc)))); do
		setsid sh -c 'while :; do :; done' &
		pids="$pids $!"
	done
	"$@"
	code=$?
	# shellcheck disable=SC2086 # a list of words
	kill $pids
	pids=
	return $code
}
nohup() { sh -c 'trap "" HUP; exec "$@"' sh "$@"; }
one_cpu() { taskset -c 0 "$@"; }
two_suites() {
	"$@" >"$work/second" 2>&1 &
	"$@"
	code=$?
	wait $! || { cat "$work/second"; code=1; }
	return $code
}
tmpdir_space() { mkdir -p "$work/a b" && env "TMPDIR=$work/a b" "$@"; }
home_unset() { env -u HOME "GOCACHE=$(go env GOCACHE)" "GOMODCACHE=$(go env GOMODCACHE)" "GOPATH=$(go env GOPATH)" "$@"; }
files_256() { sh -c 'ulimit -n 256; exec "$@"' sh "$@"; }
umask_077() { sh -c 'umask 077; exec "$@"' sh "$@"; }
locale() { env LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 TZ=Asia/Kathmandu "$@"; }
no_ipv6() { # in a network of its own, without one
	unshare -n sh -c 'ip link set lo up; ip -6 addr flush dev lo 2>/dev/null; sysctl -qw net.ipv6.conf.all.disable_ipv6=1; exec "$@"' sh "$@"
}
no_data() { env ASSAY_DATA=/nonexistent "$@"; }
user() { # not root, and no apt
	[ "$(id -u)" = 0 ] || { "$@"; return; }
	home="$work/home"
	mkdir "$home" && chmod 711 "$work" && git clone -q "$root" "$home/assay" && cp -r "$(go env GOMODCACHE)" "$home/mod" &&
		chown -R 65534:65534 "$home"
	(cd "$home/assay" && setpriv --reuid 65534 --regid 65534 --clear-groups env "HOME=$home" "GOMODCACHE=$home/mod" "GOCACHE=$home/cache" "$@")
}

# under CONDITIONS COMMAND...: runs the command under the conditions, which have + between them.
under() {
	first=${1%%+*}
	rest=${1#"$first"}
	shift
	[ -z "$rest" ] || set -- sh scripts/conditions.sh --under "${rest#+}" "$@"
	"$first" "$@"
}
if [ "${1:-}" = --under ]; then
	shift
	under "$@"
	exit
fi

failed=0
[ $# -gt 0 ] || set -- load nohup one_cpu user two_suites tmpdir_space home_unset files_256 umask_077 locale no_ipv6 no_data
printf '| condition | result | s | tests |\n|---|---|--:|---|\n'
for name; do
	start=$(date +%s) result=green
	# shellcheck disable=SC2086 # lists of words
	under "$name" go run ./internal/tools suite -count=1 -p 4 -timeout 20m ${ARGS:-} $packages >"$work/log" 2>&1 || { result=RED failed=1; }
	printf '| %s | %s | %d | %s |\n' "$name" $result $(($(date +%s) - start)) "$(grep ' passed, ' "$work/log" | tail -n 1)"
	[ $result = green ] || { grep -E '^ *--- FAIL|testbed:|^fail ' "$work/log" | head -n 40 >&2; cp "$work/log" "${TMPDIR:-/tmp}/conditions-$name.log"; }
done
exit $failed
