#!/bin/sh
# bench.sh: the performance goals, each as a ratio against a peer or a limit,
# measured in one run. The script names a missing peer and skips it. Timings of a
# busy machine mean little: the load is printed first and last.
set -eu
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
echo "load: $(cat /proc/loadavg 2>/dev/null || true)"
say() { printf '%-58s %10s  %s\n' "$1" "$2" "$3"; }
# bench PACKAGE REGEXP TIME METRIC: the value of a metric of a Go benchmark.
bench() {
	go test -run '^$' -bench "$2" -benchtime "$3" "$1" 2>/dev/null | awk -v m="$4" '/^Benchmark/ { for (i = 2; i < NF; i++) if ($(i + 1) == m) print $i }' | head -1
}
go vet ./study ./model ./search >/dev/null

# The loop: rounds alternate with hyperfine, the least of each counts.
loop= peer=
for round in 1 2 3 4 5; do
	t=$(bench ./study 'BenchmarkTrue$' 1000x ns/op)
	loop=$(echo "$loop $t" | awk '{ m = $1; for (i = 2; i <= NF; i++) if ($i < m) m = $i; print m }')
	if command -v hyperfine >/dev/null; then
		start=$(date +%s%N)
		hyperfine -N --runs 1000 /bin/true >/dev/null 2>&1
		t=$((($(date +%s%N) - start) / 1000))
		peer=$(echo "$peer $t" | awk '{ m = $1; for (i = 2; i <= NF; i++) if ($i < m) m = $i; print m }')
	fi
done
say "a run of /bin/true through the loop, memory store" "$(awk "BEGIN{printf \"%.2f ms\", $loop/1e6}")" ""
if [ -n "$peer" ]; then
	say "  hyperfine -N, whole command / 1000 runs" "$(awk "BEGIN{printf \"%.2f ms\", $peer/1e6}")" "ratio $(awk "BEGIN{printf \"%.2f\", $loop/$peer}"), goal 1.3"
else
	echo "  hyperfine is missing"
fi
direct=$(bench ./study 'BenchmarkTrueDirect$' 1000x ns/op)
say "  started without the launcher for max_rss (ADR 0003)" "$(awk "BEGIN{printf \"%.2f ms\", $direct/1e6}")" "${peer:+ratio $(awk "BEGIN{printf \"%.2f\", $direct/${peer:-1}}"), goal 1.3}"
sqlite=$(bench ./study 'BenchmarkTrueSQLite$' 1000x ns/op)
say "  with SQLite" "$(awk "BEGIN{printf \"%.2f ms\", $sqlite/1e6}")" "$(awk "BEGIN{printf \"%.2f\", ($sqlite-$loop)/1e6}") ms more, goal 2.5"
rate=$(bench ./study 'BenchmarkTrueParallel2$' 2000x trials/s)
say "launches at 2 in parallel" "$rate /s" ""
if command -v parallel >/dev/null; then
	start=$(date +%s%N)
	seq 500 | parallel -j2 true '{}' >/dev/null 2>&1
	peer=$(awk "BEGIN{printf \"%.0f\", 500e9/($(date +%s%N)-$start)}")
	say "  GNU parallel -j2" "$peer /s" "ratio $(awk "BEGIN{printf \"%.1f\", $rate/$peer}"), goal 4"
else
	echo "  GNU parallel is missing"
fi
for n in 0 1000 10000; do
	t=$(bench ./study "BenchmarkOverhead/sqlite/$n\$" 1000x ns/op)
	say "own cost of a random trial with SQLite after $n" "$(awk "BEGIN{printf \"%.2f ms\", $t/1e6}")" "goal 3 ms at 1000, flat"
done
say "replay of simulated trials with SQLite" "$(bench ./study 'BenchmarkReplayed$' 1000x trials/s) /s" "goal 200"
gain=$(bench ./internal/store/sqlite 'BenchmarkStudies$' 10x gain)
say "appends of 32 studies at once, in shared transactions" "$gain x" "as many as each in its own, goal 3"
echo "PostgreSQL on the same disk, 32 studies at once and one; of-file is against SQLite in the same run"
ASSAY_PG_DIR=${TMPDIR:-/tmp} go test -run '^$' -bench 'BenchmarkStudies$' -benchtime 10x ./internal/store/postgres | grep -E '^Bench|SKIP' || true

# The fleet: 1,000 workers, 10,000 slots taken, 100,000 runs open in 1,000 studies, without
# a carrier and a store.
go test -run '^$' -bench 'BenchmarkClaim$' -benchtime 5000x ./internal/queue | grep ^Bench
rate=$(bench ./internal/queue 'BenchmarkBeat$' 200000x beats/s)
say "beats of a fleet of 10,000 slots" "$rate /s" "2,000/s take $(awk "BEGIN{printf \"%.1f\", 2000/$rate*100}") % of a core, goal 20"

# A server after kill -9: 10 studies of the default search that go on, of 1,000 trials each.
echo "a server that was killed, until it answers and until all 10,000 trials are resumed; goal 5 s"
go test -run '^$' -bench 'BenchmarkReady$' -benchtime 3x ./internal/server | grep ^Bench

# The fleet: empty runs through queue and workers, the spools of workers in memory (machines of their own) and on one disk.
# cpu_ms, the processor time of a run, is better than the clock if the machine is busy.
echo "empty runs by 1, 8 and 64 workers in one process"
go test -run '^$' -bench 'BenchmarkFleet' -benchtime 1000x ./internal/queue/jetstream | grep ^Bench
echo "from the end of a run to the beginning of the next in its slot, 64 workers; goals p50 15 ms, p99 100 ms, and of-goal at most 1"
go test -run '^$' -bench 'BenchmarkDispatch' -benchtime 1280x ./internal/queue/jetstream | grep ^Bench
echo "empty trials through server, store, queue and 64 workers; goals 300/s on SQLite, 500/s on PostgreSQL, and of-goal at least 1"
sh scripts/with-postgres.sh go test -run '^$' -bench 'BenchmarkTrials' -benchtime 3200x ./internal/server | grep ^Bench || true
echo "a server and one local worker against one process; goal 3 times as long at most"
go test -run '^$' -bench 'BenchmarkOneWorker' -benchtime 5x ./internal/server | grep ^Bench
echo "40 runs of a second by two workers against one; goal 0.55"
go test -run '^$' -bench 'BenchmarkTwoWorkers' -benchtime 1x ./internal/server | grep ^Bench
echo "memory of a server with 100 studies of 1,000 trials that go on, and 64 workers; goal 150 MB, and of-goal at most 1"
go test -run '^$' -bench 'BenchmarkMemory' -benchtime 1x ./internal/server | grep ^Bench

# Models: see model/*_test.go for the peers, which are compared in one run.
go test -run '^$' -bench 'ForestFit|ForestPredict|AFTFit|AFTPredict|TunedAFT' -benchtime 20x ./model | grep ^Bench
echo "Bayes: ask+tell on 25 mixed parameters; goals 15 ms at 100 trials, 60 ms at 1000"
go test -run '^$' -bench 'BenchmarkBayes' -benchtime 20x ./search | grep ^Bench
echo "the default search: ask+tell on 25 mixed parameters; goals 25 ms at 100 trials, 40 ms at 1000, 60 ms and 200 MB at 10000"
go test -run '^$' -bench 'BenchmarkAuto$' -benchtime 40x ./search | grep ^Bench
# with MODULE: the Python that has it, or nothing.
with() { for p in python3 /usr/bin/python3; do $p -c "import $1" 2>/dev/null && command -v $p && break; done; }
if [ -n "$(with sklearn)" ]; then
	ASSAY_PYTHON=$(with sklearn) ASSAY_SOAK=1 go test -run TestForestSpeed -v ./model | grep -v '^=== '
else
	echo "scikit-learn is missing: the forest is not compared"
fi
if [ -n "$(with xgboost)" ]; then
	ASSAY_PYTHON=$(with xgboost) go test -run '^$' -bench Against -benchtime 3x ./model | grep ^Bench
else
	echo "xgboost is missing: boosting is not compared"
fi
echo "load: $(cat /proc/loadavg 2>/dev/null || true)"
