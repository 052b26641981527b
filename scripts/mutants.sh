#!/bin/sh
# mutants.sh [PKG...]: changes the code of each package in small ways, one at a time, and
# counts the changes that its tests see. It fails if a package is below its floor in
# scripts/mutants.floors. Without PKG it takes all packages of that file. What survived is
# printed. See docs/adr/0013-mutants.md.
#
# SAMPLE, a share such as 0.1, takes only the mutants on lines that are drawn with SEED (1),
# and says between what the score of all of them is with 95 % confidence. It then fails only
# if all of that interval is below the floor.
#
# WORKERS is how many mutants are tested at once (1). LIMIT, such as 30s, is the time after
# which a mutant is taken for one that does not end, which is seen too; without it, ten
# times what the tests of the package take, and 5 s. FILES, such as "levels.go cost.go", are
# the only files of each package that are changed (from its folder); the floor is asked of them alone.
set -eu
cd "$(dirname "$0")/.."
floors=scripts/mutants.floors
[ $# -gt 0 ] || set -- $(sed 's/#.*//' $floors | awk 'NF { print $1 }')
gremlins=$(go tool -modfile=tools.mod -n gremlins)

# Gremlins asks `go test` by its exit code alone, and takes a mutant that does not compile
# for one that was caught; by code 2 it knows better. Its own limit of time counts the
# compiler, which a loaded machine makes slow, or is that of a cached result.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
real=$(command -v go)
cat >"$tmp/go" <<SHIM
#!/bin/sh
[ "\$1" = test ] || exec "$real" "\$@"
shift
case "\$*" in *-cover*) LIMIT=1h ;; esac # the one run of all tests that measures coverage
# Go measures no coverage of the conditions of a case, and gremlins would leave out what is
# not covered, or not try it: every line is to be tried, or those that are drawn.
profile=
for arg; do
	[ "\$profile" = next ] && { profile=\$arg; break; }
	case \$arg in -coverprofile) profile=next ;; esac
done
out=\$("$real" test -count=1 -vet=off -ldflags=-w "\$@" -timeout "\$LIMIT" 2>&1) && code=0 || code=\$?
printf '%s\n' "\$out"
case \$out in *'[build failed]'*|*'[setup failed]'*) exit 2 ;; esac
[ \$code -eq 0 ] || exit 1
[ -z "\$profile" ] || "$tmp/lines" "\$profile"
SHIM
# lines PROFILE: makes the profile one in which the lines that are drawn are covered.
cat >"$tmp/lines" <<LINES
#!/bin/sh
set -e
module=\$("$real" list -m)
sed -n '2,\$s/:[0-9].*//p' "\$1" | sort -u >"$tmp/files"
{
	echo 'mode: set'
	while read -r file; do
		wc -l <"\${file#"\$module"/}" | sed "s|^|\$file |"
	done <"$tmp/files" | awk -v share="\${SAMPLE:-1}" -v seed="\${SEED:-1}" 'BEGIN { srand(seed) } {
		for (n = 1; n <= \$2; n++) if (rand() < share) printf "%s:%d.1,%d.999 1 1\n", \$1, n, n
	}'
} >"$tmp/profile"
cp "$tmp/profile" "\$1"
LINES
chmod +x "$tmp/go" "$tmp/lines"

failed=0
for pkg; do
	pkg=${pkg#./}
	floor=$(sed 's/#.*//' $floors | awk -v p="$pkg" '$1 == p { print $2 }')
	[ -n "$floor" ] || { echo "mutants: $pkg has no floor in $floors" >&2; exit 2; }
	go test -count=1 "./$pkg/..." >"$tmp/log" || { cat "$tmp/log"; exit 1; }
	skip=
	for file in $([ -z "${FILES:-}" ] || find "$pkg" -name '*.go' ! -name '*_test.go'); do
		case " $FILES " in
		*" ${file#"$pkg"/} "*) ;;
		*) skip="$skip --exclude-files ^${file#"$pkg"/}\$" ;;
		esac
	done
	limit=${LIMIT:-$(awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+s$/ && $i + 0 > most) most = $i + 0 }
		END { print int(10 * most + 5) "s" }' "$tmp/log")}
	LIMIT=$limit PATH="$tmp:$PATH" "$gremlins" unleash --workers "${WORKERS:-1}" --timeout-coefficient 1000 \
		--invert-logical --invert-loopctrl --invert-assignments $skip "./$pkg" >"$tmp/log" 2>&1 ||
		{ cat "$tmp/log"; exit 1; }
	grep -E '^ *LIVED ' "$tmp/log" || true
	# count NAME: the number after it in the summary.
	count() { sed -n "s/.*$1: \([0-9][0-9]*\).*/\1/p" "$tmp/log" | tail -n 1; }
	# Of a sample, the interval is Wilson's. A mutant on a line that was not drawn is what
	# gremlins calls not covered.
	awk -v pkg="$pkg" -v floor="$floor" -v sample="${SAMPLE:-}" -v killed="$(count Killed)" -v lived="$(count Lived)" \
		-v late="$(count 'Timed out')" -v void="$(count 'Not viable')" -v rest="$(count 'Not covered')" 'BEGIN {
		all = killed + late + lived
		score = high = all ? 100 * (killed + late) / all : 0
		printf "%s: %.1f %% of %d mutants caught (%d survived; %d more do not compile)", pkg, score, all, lived, void
		if (sample && all) {
			z = 1.96; p = score / 100
			middle = (p + z * z / (2 * all)) / (1 + z * z / all)
			half = z * sqrt(p * (1 - p) / all + z * z / (4 * all * all)) / (1 + z * z / all)
			high = 100 * (middle + half)
			printf ", drawn from %d; of all, %.0f to %.0f %% (95 %%)", all + void + rest, 100 * (middle - half), high
		}
		printf ", floor %s %%\n", floor
		exit high < floor
	}' || { echo "mutants: $pkg is below its floor" >&2; failed=1; }
done
exit $failed
