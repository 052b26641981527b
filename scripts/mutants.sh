#!/bin/sh
# mutants.sh [ROW...]: changes the code of packages in small ways, one at a time, and counts the changes that
# their tests see. A ROW is one of scripts/mutants.floors: a package with its subpackages, or some files of one.
# It fails if a row is below its floor. Without ROW it takes all. It prints each survivor as it is found, then
# the score as that file has it. See docs/adr/0013-mutants.md.
#
# mutants.sh --check: reports whether the file is in order and its figures reach their floors; runs no mutant.
#
# SAMPLE, a share such as 0.1, takes only the mutants on lines that are drawn with SEED (1), and prints the
# interval of the score of all of them with 95 % confidence. It then fails only if the whole interval is below
# the floor.
# FILES, such as "levels.go cost.go", are the only files that are changed (from the folder of the package).
# WORKERS is how many mutants are tested at once (1), NICE how nice they are to the rest of the machine (19).
#
# A run that was ended goes on where it was: STATE (a folder in the user's cache) keeps the fate of each
# mutant. One that was caught is known by the code of its package, one that survived by its tests too. FRESH=1
# forgets the kept fates of the packages; it is needed after a change of another package that they use.
set -eu
cd "$(dirname "$0")/.."
floors=scripts/mutants.floors
state=${STATE:-${XDG_CACHE_HOME:-$HOME/.cache}/assay/mutants}
module=$(go list -m)

# rows FIELD...: the rows of the floors, without comments and without the mutants that change nothing.
rows() { sed 's/#.*//' $floors | awk 'NF && $1 != "="'; }
# row NAME, and files NAME: its row, and the files that it has for itself, or that other rows took from it.
row() { rows | awk -v n="$1" '$1 == n'; }
others() { rows | awk -v p="$1:" 'index($1, p) == 1 { for (i = 6; i <= NF; i++) print $i }'; }

if [ "${1:-}" = --check ]; then
	bad=0
	say() { echo "$floors: $*" >&2; bad=1; }
	while read -r name floor score sample seed files; do
		[ -d "${name%%:*}" ] || say "$name: no such package"
		[ "$(row "$name" | wc -l)" = 1 ] || say "$name: more than one row"
		for file in $files; do
			[ -f "${name%%:*}/$file" ] || say "$name: no file $file"
		done
		[ "$score" != - ] || continue
		awk -v score="$score" -v sample="$sample" -v floor="$floor" 'BEGIN {
			n = split(score, s, "/")
			exit !(n == 2 && s[2] >= (sample + 0 < 1 ? 60 : 1) && 100 * s[1] >= floor * s[2] && sample > 0 && sample <= 1)
		}' || say "$name: $score of share $sample is below $floor %, or of fewer than 60 mutants"
		case $seed in *[!0-9]* | '') say "$name: seed $seed" ;; esac
	done <<ROWS
$(rows)
ROWS
	# An entry for code that is no more would hide a survivor that comes later.
	while read -r _ file _ rest; do
		[ -n "$file" ] || continue
		text=${rest#* | }
		[ -f "$file" ] || { say "= $file: no such file"; continue; }
		sed 's/^[[:space:]]*//' "$file" | grep -qxF -- "${rest%% | *}" || say "= $file: no line: ${rest%% | *}"
		[ "$text" != "$rest" ] && [ -n "$text" ] || say "= $file: no reason: $rest"
	done <<SAME
$(grep '^= ' $floors || true)
SAME
	exit $bad
fi

[ $# -gt 0 ] || set -- $(rows | awk '{ print $1 }')
gremlins=$(go tool -modfile=tools.mod -n gremlins)
# Short, as the path of a socket has at most 107 bytes.
tmp=$(mktemp -d "${TMPDIR:-/tmp}/XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# Gremlins takes this for the go command. It asks twice for `go test`. First with a profile of coverage: Go has
# none of the conditions of a case, and gremlins tries only covered lines, so the profile has all lines, or
# the drawn ones. Then for each mutant, by the exit code alone, which for a failed test and for code that
# does not compile is 1; by code 2 it knows better.
real=$(command -v go)
cat >"$tmp/go" <<SHIM
#!/bin/sh
[ "\$1" = test ] || exec "$real" "\$@"
case " \$* " in *' -coverprofile '*)
	while [ "\$1" != -coverprofile ]; do shift; done
	cp "$tmp/drawn" "\$2"
	exit ;;
esac
for pkg; do :; done # the last word; for a program it is the module
[ "\$pkg" != "$module" ] || pkg=$module/\$CALLING
base=$tmp/base/\$(echo "\$pkg" | tr / _)
dir=\${PWD%"/\$CALLING"}/\${pkg#"$module"/}
code=\$(find "\$dir" -maxdepth 1 -name '*.go' ! -name '*_test.go' | sort | xargs cat | sha256sum | cut -c1-32)
kept=$state/\$(echo "\$pkg" | tr / _)/\$code
# The same mutant of the same code, or of the same code and tests.
case \$(cat "\$kept" 2>/dev/null) in
caught) exit 1 ;;
void) exit 2 ;;
"survived \$(cat "\$base/tests")") exit 0 ;;
esac
own=\$(mktemp -d "$tmp/run.XXXXXX")
# The tests that stand beside the file that differs.
for file in "\$dir"/*.go; do
	beside=$PWD/\${pkg#"$module"/}/\${file##*/}
	cmp -s "\$file" "\$beside" || sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' "\${beside%.go}_test.go" 2>/dev/null
done | paste -sd '|' - >"\$own/beside"
"$tmp/try" "\$dir" "\$base" "\$own" && code=0 || code=\$?
# Rapid would try its record of a failure on the next mutants.
rm -rf "\$own" "\$(cat "\$own/tmp")" "\$dir/testdata/rapid"
case \$code in
0) verdict="survived \$(cat "\$base/tests")" ;;
1) verdict=caught ;;
2) verdict=void ;;
*) exit \$code ;;
esac
echo "\$verdict" >"\$own.kept" && mv "\$own.kept" "\$kept"
exit \$code
SHIM

# try DIR BASE OWN: the tests of the package in DIR, those beside the changed file first, then the quick ones.
# BASE/stages has the slow tests, and the limits of processor time and time for each stage; the time on a busy
# machine does not show a loop without end.
cat >"$tmp/try" <<TRY
#!/bin/sh
cd "\$1" && TMPDIR=\$(mktemp -d "$tmp/XXX") && echo "\$TMPDIR" >"\$3/tmp" || exit 3
export TMPDIR
"$real" test -c -vet=off -ldflags=-w -o "\$3/test" . >"\$3/out" 2>&1 || exit 2
[ -e "\$3/test" ] || exit 0 # no test at all
names=\$(cat "\$3/beside")
{
	[ -z "\$names" ] || sed -n "\\\$s/-test.*/-test.run ^(\$names)\\\$/p" "\$2/stages" # with the limits of all
	cat "\$2/stages"
} >"\$3/stages"
while read -r cpu wall flag names; do
	(
		ulimit -t "\$cpu"
		exec "\$3/test" \$(cat "\$2/short") -test.failfast -test.timeout "\$wall" "\$flag" "\$names"
	) </dev/null >"\$3/out" 2>&1 || exit 1
done <"\$3/stages"
exit 0
TRY
chmod +x "$tmp/go" "$tmp/try"

# baseline PKG DIR: sees the tests of the package pass, and how long they take. Tests of a second and more
# run if the others have seen nothing.
baseline() {
	base=$tmp/base/$(echo "$1" | tr / _)
	mkdir -p "$base" "$state/$(echo "$1" | tr / _)"
	[ -z "${FRESH:-}" ] || rm -f "$state/$(echo "$1" | tr / _)"/*
	find "$2" -type f ! -name '*.go' -o -type f -name '*_test.go' | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-32 >"$base/tests"
	go test -c -vet=off -ldflags=-w -o "$base/test" "./$2"
	[ -e "$base/test" ] || return 0
	# A package whose tests start programs has few or none with -test.short.
	short=-test.short
	! grep -qs 'MainOutside\|testscript\.Main' "$2"/*_test.go || short=-test.short=false
	echo "$short" >"$base/short"
	(cd "$2" && "$base/test" $short -test.v >"$base/log" 2>&1 </dev/null && times >"$base/all") ||
		{ cat "$base/log"; echo "mutants: the tests of $2 fail as they are" >&2; exit 1; }
	slow=$(sed -n 's/^--- PASS: \([^ /]*\) (\([0-9.]*\)s)$/\2 \1/p' "$base/log" | awk '$1 >= 1 { printf "%s%s", sep, $2; sep = "|" }')
	if [ -n "$slow" ]; then
		(cd "$2" && "$base/test" $short -test.skip "^($slow)\$" >"$base/log" 2>&1 </dev/null && times >"$base/quick")
		stage "$base/quick" -test.skip
		stage "$base/all" -test.run
	else
		slow=none
		stage "$base/all" -test.skip
	fi
}
# stage TIMES FLAG: the tests that FLAG takes by $slow may have four times the processor time that they took, and 10 s;
# those that wait are ended too. The second line of TIMES is of the tests.
stage() {
	tail -n 1 "$1" | tr 'ms' '  ' | awk -v words="$2 ^($slow)$" '{
		cpu = 60 * $1 + $2 + 60 * $3 + $4
		printf "%d %ds %s\n", 4 * cpu + 10, 40 * cpu + 300, words
	}' >>"$base/stages"
}

failed=0
for name; do
	name=${name#./}
	pkg=${name%%:*}
	floor=$(row "$name" | awk '{ print $2 }')
	[ -n "$floor" ] || { echo "mutants: $name has no floor in $floors" >&2; exit 2; }
	go list -f '{{$d := .ImportPath}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}' "./$pkg/..." | sed '/^$/d' | LC_ALL=C sort >"$tmp/files"
	go list "./$pkg/..." >"$tmp/packages"
	while read -r p; do
		dir=${p#"$module"/}
		baseline "$p" "$dir"
	done <"$tmp/packages"
	# The lines that are drawn, each file with a generator of its own so that the others do not move them.
	{
		echo 'mode: set'
		while read -r file; do
			echo "$file $(wc -l <"${file#"$module"/}") $(printf %s "$file" | cksum)"
		done <"$tmp/files" | awk -v share="${SAMPLE:-1}" -v seed="${SEED:-1}" '{
			x = ($3 + 7919 * seed) % 2147483646 + 1
			for (i = 0; i < 8; i++) x = x * 16807 % 2147483647
			for (n = 1; n <= $2; n++) {
				x = x * 16807 % 2147483647
				if (x / 2147483647 < share) printf "%s:%d.1,%d.999 1 1\n", $1, n, n
			}
		}'
	} >"$tmp/drawn"
	only=${FILES:-$(row "$name" | awk '{ for (i = 6; i <= NF; i++) print $i }' | tr '\n' ' ')}
	not=
	[ -n "$only" ] || not=$(others "$pkg" | tr '\n' ' ')
	skip=
	for file in $(sed "s|^$module/$pkg/||" "$tmp/files"); do
		case " $only" in
		' ') case " $not" in *" $file "*) skip="$skip --exclude-files ^$file\$" ;; esac ;;
		*) case " $only " in *" $file "*) ;; *) skip="$skip --exclude-files ^$file\$" ;; esac ;;
		esac
	done
	{
		CALLING=$pkg PATH="$tmp:$PATH" nice -n "${NICE:-19}" "$gremlins" unleash --workers "${WORKERS:-1}" --timeout-coefficient 1000000 \
			--invert-logical --invert-loopctrl --invert-assignments $skip "./$pkg" 2>&1 || echo ENDED
	} | tee "$tmp/log" | sed -un '/^ *LIVED /p; /ENDED/p'
	! grep -q '^ENDED' "$tmp/log" || { cat "$tmp/log"; exit 1; }
	# A survivor does not count if the floors have it among the changes that change nothing.
	same=0
	grep -E '^ *LIVED ' "$tmp/log" >"$tmp/lived" || true
	while read -r _ kind _ place; do
		file=$pkg/${place%%:*}
		at=${place#*:}
		line=$(sed -n "${at%%:*}p" "$file")
		text=$(printf '%s\n' "$line" | sed 's/^[[:space:]]*//')
		col=$((${at#*:} - ${#line} + ${#text}))
		! grep -qF -- "= $file $kind:$col $text | " $floors || same=$((same + 1))
	done <"$tmp/lived"
	count() { grep -cE "^ *$1 [A-Z]" "$tmp/log" || true; }
	# A sample's interval is Wilson's. Gremlins calls a mutant on a line that was not drawn not covered.
	awk -v name="$name" -v floor="$floor" -v sample="${SAMPLE:-1}" -v seed="${SEED:-1}" -v killed="$(count KILLED)" -v lived="$(count LIVED)" \
		-v same="$same" -v late="$(count 'TIMED OUT')" -v void="$(count 'NOT VIABLE')" -v rest="$(count 'NOT COVERED')" 'BEGIN {
		all = killed + late + lived - same
		score = high = all ? 100 * (killed + late) / all : 0
		printf "%s: %.1f %% of %d mutants caught (%d survived; %d more change nothing, %d do not compile)", \
			name, score, all, lived - same, same, void
		if (sample < 1 && all) {
			z = 1.96; p = score / 100
			middle = (p + z * z / (2 * all)) / (1 + z * z / all)
			half = z * sqrt(p * (1 - p) / all + z * z / (4 * all * all)) / (1 + z * z / all)
			high = 100 * (middle + half)
			printf ", drawn from %d; of all, %.0f to %.0f %% (95 %%)", all + same + void + rest, 100 * (middle - half), high
		}
		printf ", floor %s %%\n%s %s %d/%d %s %d\n", floor, name, floor, killed + late, all, sample, seed
		exit high < floor
	}' || { echo "mutants: $name is below its floor" >&2; failed=1; }
done
exit $failed
