#!/bin/sh
# How often do two files of results of one and the same program show a difference? Measures three functions of Python
# with pytest-benchmark, SESSIONS times (default 120), and compares the files two by two, and then five by five.
# Needs pytest-benchmark (PYTEST, default pytest).
set -eu
sessions=${1:-120}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/test_it.py" <<'END'
def test_sort(benchmark):
    benchmark(sorted, list(range(2000, 0, -1)))


def test_sum(benchmark):
    benchmark(sum, range(5000))


def test_join(benchmark):
    benchmark("".join, ["x"] * 2000)
END
i=0
while [ $i -lt "$sessions" ]; do
	(cd "$dir" && PYTHONDONTWRITEBYTECODE=1 "${PYTEST:-pytest}" -q -p no:cacheprovider test_it.py --benchmark-json="$i.json" \
		--benchmark-max-time=0.05 --benchmark-min-rounds=20 >/dev/null 2>&1)
	i=$((i + 1))
done
cd "$dir"
# Prints how many comparisons of sides of $1 files, made in turn, showed a difference, and of how many.
compared() {
	files=$1 drift=$2 i=0
	while [ $((i + 2 * files)) -le "$sessions" ]; do
		a='' b='' k=0
		while [ $k -lt "$files" ]; do
			a="$a,$((i + 2 * k)).json" b="$b,$((i + 2 * k + 1)).json" k=$((k + 1))
		done
		assay compare --drift "$drift" --json "${a#,}" "${b#,}"
		i=$((i + 2 * files))
	done | tr '{' '\n' | awk -v n="$files" -v drift="$drift" '/"verdict"/ { all++ } /"verdict":"(more|less)"/ { shown++ }
		END { printf "sides of %d files, --drift %s: %d of %d benchmarks show a difference\n", n, drift, shown, all }'
}
echo "load $(cut -d' ' -f1-3 /proc/loadavg), $(nproc) processors, $sessions sessions of one program"
compared 1 0
compared 1 10%
compared 1 30%
compared 5 0
