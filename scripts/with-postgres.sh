#!/bin/sh
# with-postgres.sh COMMAND...: run a command with a private PostgreSQL, whose address is in
# $ASSAY_POSTGRES. It has the settings of a new one, so that it is as durable; it is in $TMPDIR,
# on a disk, and gone when the command has ended.
set -eu
bin=$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -1)" 2>/dev/null || true)
[ -x "$bin/initdb" ] || { echo "there is no initdb: PostgreSQL is missing" >&2; exit 3; }
dir=$(mktemp -d "${TMPDIR:-/tmp}/assay-pg-XXXXXX")
as=
if [ "$(id -u)" = 0 ]; then # it does not run as root
	as="setpriv --reuid postgres --regid postgres --init-groups"
	chown postgres "$dir"
	chmod 711 "$dir"
fi
cd "$dir"
$as "$bin/initdb" -D "$dir/data" -N -A trust -U postgres -E UTF8 --locale=C >/dev/null
$as "$bin/postgres" -D "$dir/data" -c listen_addresses= -c max_connections=200 -c unix_socket_directories="$dir" \
	2>"$dir/log" &
pid=$!
trap 'kill -INT $pid 2>/dev/null; wait $pid 2>/dev/null || true; rm -rf "$dir"' EXIT
trap 'exit 143' INT TERM
for i in $(seq 600); do
	"$bin/pg_isready" -q -h "$dir" -U postgres && break
	kill -0 $pid 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
	sleep 0.1
done
cd "$OLDPWD"
ASSAY_POSTGRES="postgres:///postgres?host=$dir&user=postgres" "$@"
