#!/bin/sh
# mutants.sh [PKG...]: changes the code of each package in small ways, one at a time, and
# counts the changes that its tests see. It fails if a package is below its floor in
# scripts/mutants.floors. Without PKG it takes all packages of that file. What survived is
# printed. See docs/adr/0013-mutants.md.
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
out=\$("$real" test -count=1 -vet=off -ldflags=-w "\$@" -timeout "\$LIMIT" 2>&1) && code=0 || code=\$?
printf '%s\n' "\$out"
case \$out in *'[build failed]'*|*'[setup failed]'*) exit 2 ;; esac
[ \$code -eq 0 ] || exit 1
SHIM
chmod +x "$tmp/go"

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
	grep -E '^ *(LIVED|NOT COVERED) ' "$tmp/log" || true
	# count NAME: the number after it in the summary.
	count() { sed -n "s/.*$1: \([0-9][0-9]*\).*/\1/p" "$tmp/log" | tail -n 1; }
	awk -v pkg="$pkg" -v floor="$floor" -v killed="$(count Killed)" -v lived="$(count Lived)" \
		-v bare="$(count 'Not covered')" -v late="$(count 'Timed out')" -v void="$(count 'Not viable')" 'BEGIN {
		all = killed + late + lived + bare
		score = all ? 100 * (killed + late) / all : 0
		printf "%s: %.1f %% of %d mutants caught (%d survived, %d not covered; %d more do not compile), floor %s %%\n",
			pkg, score, all, lived, bare, void, floor
		exit score < floor
	}' || { echo "mutants: $pkg is below its floor" >&2; failed=1; }
done
exit $failed
