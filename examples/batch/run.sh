#!/bin/sh
# run.sh [DIR]: a HyperQueue server with a worker of two processors on this machine, and a study of 24 jobs on it, while its server
# is killed with its worker, and then assay itself. Prints what was counted, and fails if a trial was lost or counted twice.
# HyperQueue's package for Python is needed (pip install hyperqueue==0.27.0; PYTHON names the python3 that has it), and assay on PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d "${1:-/tmp}/assay-hq-XXXXXX")
hq= tune=
trap 'kill -9 $hq $tune 2>/dev/null || true; [ -n "${KEEP:-}" ] || rm -rf "$dir" || true' EXIT
trap "exit 1" INT TERM
mkdir "$dir/bin" "$dir/hq"
ln -s "$(command -v "${PYTHON:-python3}")" "$dir/bin/python3" 2>/dev/null
[ -z "${PYTHON:-}" ] || printf '#!/bin/sh\nexec "%s" "$@"\n' "$PYTHON" >"$dir/bin/python3.new"
[ -z "${PYTHON:-}" ] || { chmod 755 "$dir/bin/python3.new"; mv "$dir/bin/python3.new" "$dir/bin/python3"; }
PATH="$dir/bin:$PATH"
export PATH XDG_STATE_HOME="$dir/state"
cp "$here/hq.py" "$here/hq-python.yaml" "$dir"
cd "$dir"
serve() {
	python3 hq.py server hq 2 >>server.log 2>&1 &
	hq=$!
	for _ in $(seq 60); do
		if python3 hq.py list hq >/dev/null 2>&1; then return 0; fi
		sleep 0.5
	done
	cat server.log
	exit 1
}
cat >study.yaml <<S
command: [sh, -c, 'echo \$1 >>ran; sleep 1.\$1', sh, '{n}']
parameters: {n: 10..33}
search: grid
stop: none
place: {on: batch, system: hq-python.yaml, parallel: 4, cpus: 1, poll: 1s}
S
study() {
	assay tune study.yaml --spool spool --check 0 >result 2>>log &
	tune=$!
}
after() { # N: once N trials have ended
	while kill -0 "$tune" 2>/dev/null && [ "$(grep -c ' done ' log)" -lt "$1" ]; do sleep 0.2; done
}
: >log
serve
study
after 6
echo "after $(grep -c ' done ' log) trials the server and its worker are killed"
kill -9 "$hq"
sleep 2
serve
after 12
echo "after $(grep -c ' done ' log) trials assay is killed"
kill -9 "$tune" || { cat log; exit 1; }
sleep 1
study
status=0
wait "$tune" || status=$?
cat result
[ "$status" = 0 ] || tail -5 log
results=$(find spool/study-* -name result.json | wc -l)
lost=$(find spool/study-* -name lost | wc -l)
trials=$(assay study trials study --json | wc -l)
different=$(assay study trials study --json | grep -o '"config":{[^}]*}' | sort -u | wc -l)
echo "exit $status, $trials trials of $different configurations, $(wc -l <ran) runs begun, $results results, $lost attempts lost"
[ "$status" = 0 ]
[ "$trials" = 24 ]
[ "$different" = 24 ]
