#!/bin/sh
# conditions.sh [NAME...]: runs the tests under conditions that they must not depend on, and prints a table. PACKAGES are
# the packages (./...), ARGS what go test gets besides. The conditions are the functions below.
set -u
cd "$(dirname "$0")/.."
root=$PWD
packages=${PACKAGES:-./...}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
suite() { # LOG COMMAND...: runs the command before the suite's
	log=$1
	shift
	# shellcheck disable=SC2086 # lists of words
	"$@" go run ./internal/tools suite -count=1 -p 4 -timeout 20m ${ARGS:-} $packages >"$log" 2>&1
}

load() { # two busy loops per core
	pids=
	for _ in $(seq $((2 * $(nproc)))); do
		sh -c 'while :; do :; done' &
		pids="$pids $!"
	done
	suite "$1" env
	code=$?
	# shellcheck disable=SC2086
	kill $pids
	return $code
}
nohup() { suite "$1" sh -c 'trap "" HUP; exec "$@"' sh; }
one_cpu() { suite "$1" taskset -c 0; }
two_suites() {
	suite "$work/second" env &
	suite "$1" env
	code=$?
	wait $! || { tail -n 40 "$work/second" >>"$1"; code=1; }
	return $code
}
tmpdir_space() { mkdir -p "$work/a b" && suite "$1" env "TMPDIR=$work/a b"; }
home_unset() { suite "$1" env -u HOME "GOCACHE=$(go env GOCACHE)" "GOMODCACHE=$(go env GOMODCACHE)" "GOPATH=$(go env GOPATH)"; }
files_256() { suite "$1" sh -c 'ulimit -n 256; exec "$@"' sh; }
umask_077() { suite "$1" sh -c 'umask 077; exec "$@"' sh; }
locale() { suite "$1" env LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 TZ=Asia/Kathmandu; }
no_ipv6() { # in a network of its own, without one
	suite "$1" unshare -n sh -c 'ip link set lo up; ip -6 addr flush dev lo 2>/dev/null; sysctl -qw net.ipv6.conf.all.disable_ipv6=1; exec "$@"' sh
}
no_data() { suite "$1" env ASSAY_DATA=/nonexistent; }
user() { # not root, and no apt
	[ "$(id -u)" = 0 ] || { suite "$1" env; return; }
	home="$work/home"
	mkdir "$home" && chmod 711 "$work" && git clone -q "$root" "$home/assay" && cp -r "$(go env GOMODCACHE)" "$home/mod" &&
		chown -R 65534:65534 "$home"
	( cd "$home/assay" && setpriv --reuid 65534 --regid 65534 --clear-groups env "HOME=$home" "GOMODCACHE=$home/mod" "GOCACHE=$home/cache" \
		go run ./internal/tools suite -count=1 -p 4 -timeout 20m $packages ) >"$1" 2>&1
}

failed=0
[ $# -gt 0 ] || set -- load nohup one_cpu user two_suites tmpdir_space home_unset files_256 umask_077 locale no_ipv6 no_data
printf '| condition | result | s | tests |\n|---|---|--:|---|\n'
for name; do
	start=$(date +%s) result=green
	"$name" "$work/log" || { result=RED failed=1; }
	printf '| %s | %s | %d | %s |\n' "$name" $result $(($(date +%s) - start)) "$(tail -n 1 "$work/log")"
	[ $result = green ] || { grep -E '^ *--- FAIL|testbed:|^fail ' "$work/log" | head -n 40 >&2; cp "$work/log" "${TMPDIR:-/tmp}/conditions-$name.log"; }
done
exit $failed
