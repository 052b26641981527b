#!/bin/sh
# audit.sh: licences of the program's parts, patterns that are often weaknesses, known vulnerabilities, and
# the bill of materials. The database of vulnerabilities is GOVULNDB's (https://vuln.go.dev, or file:///DIR). Without it
# the script skips that part with a message, and fails if AUDIT_VULNERABILITIES=required.
set -u
cd "$(dirname "$0")/.."
: "${GO:=go}"
failed=0
echo "== licences"
"$GO" run ./internal/tools bill licences || failed=1
echo "== gosec"
"$GO" tool -modfile=tools.mod golangci-lint run --config .gosec.yml ./... || failed=1
lint=$("$GO" tool -modfile=tools.mod -n golangci-lint)
(cd lab && "$lint" run --config ../.gosec.yml ./...) || failed=1
echo "== known vulnerabilities"
out=$("$GO" tool -modfile=tools.mod govulncheck ${GOVULNDB:+-db "$GOVULNDB"} ./... 2>&1)
code=$?
echo "$out"
case $code in
0) ;;
3) failed=1 ;; # some are reachable
*)
	if echo "$out" | grep -qE 'fetching vulnerabilities|no such host|dial tcp|connection refused|HTTP GET|no such file'; then
		echo "NOT CHECKED: the database of vulnerabilities cannot be read. GOVULNDB names another one."
		[ "${AUDIT_VULNERABILITIES:-}" != required ] || failed=1
	else
		failed=1
	fi
	;;
esac
echo "== bill of materials"
sh scripts/sbom.sh dist/sbom.json && echo "dist/sbom.json" || failed=1
exit $failed
