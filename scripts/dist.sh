#!/bin/sh
# dist.sh [DIR]: builds the files of a release, in DIR (dist):
#
#	linux_amd64/assay, linux_arm64/assay   programs without libraries or symbols
#	assay_VERSION_linux_ARCH.tar.gz        each with its manual, completions and licence
#	assay_VERSION_ARCH.deb
#	assay-VERSION-py3-none-manylinux….whl  the program and the package for Python
#	assay-VERSION-py3-none-any.whl         the package alone: for other systems, which ask a server
#	sbom.json, SHA256SUMS
#
# VERSION is the first one with a number in CHANGELOG.md; a build of a commit that is not
# tagged vVERSION has the commit behind it. SOURCE_DATE_EPOCH is the commit's time: the same
# sources and tools make the same programs.
set -eu
cd "$(dirname "$0")/.."
dist=$(mkdir -p "${1:-dist}" && cd "${1:-dist}" && pwd)
: "${GO:=go}"
tool() { "$GO" tool -modfile=tools.mod "$@"; }
commit=$(git rev-parse HEAD)
VERSION=$(sed -n 's/^## \([0-9][0-9.]*[0-9]\).*/\1/p' CHANGELOG.md | head -n 1)
[ -n "$VERSION" ] || { echo "dist.sh: CHANGELOG.md has no line like: ## 1.2.3" >&2; exit 1; }
git tag --points-at HEAD | grep -qx "v$VERSION" || VERSION=$VERSION+$(git rev-parse --short=10 HEAD)
[ -z "$(git status --porcelain)" ] || VERSION=$VERSION.changed
SOURCE_DATE_EPOCH=$(git show -s --format=%ct)
LICENSE=Apache-2.0
DIST=$dist
export VERSION SOURCE_DATE_EPOCH LICENSE DIST
rm -rf "$dist"/*

# Inlined code in these packages takes room and saves no time that a user would see.
assay=github.com/assay-run/assay
small=
for p in github.com/nats-io/... github.com/jackc/... github.com/danielgtaylor/... github.com/hanwen/... github.com/spf13/... \
	github.com/klauspost/... github.com/expr-lang/expr/parser/... github.com/expr-lang/expr/checker/... \
	github.com/expr-lang/expr/compiler github.com/expr-lang/expr/optimizer github.com/expr-lang/expr/builtin \
	github.com/expr-lang/expr/types github.com/expr-lang/expr/conf github.com/expr-lang/expr/ast \
	github.com/modelcontextprotocol/... github.com/google/jsonschema-go/... github.com/segmentio/... \
	github.com/prometheus/... google.golang.org/protobuf/... go.opentelemetry.io/... \
	go.yaml.in/... golang.org/x/... html/template text/template/... encoding/xml encoding/gob encoding/asn1 mime/... database/sql \
	net/... crypto/tls crypto/x509 \
	$assay/cmd/assay $assay/spec $assay/setup $assay/run $assay/view \
	$assay/internal/abtest $assay/internal/access $assay/internal/batch $assay/internal/bench $assay/internal/exchange \
	$assay/internal/mcp $assay/internal/online $assay/internal/pages $assay/internal/planning $assay/internal/queue/... \
	$assay/internal/report $assay/internal/rest/... $assay/internal/result $assay/internal/server $assay/internal/service \
	$assay/internal/store/postgres $assay/internal/web $assay/internal/workbench $assay/internal/worker \
	$assay/internal/workflow/...; do
	case $p in "$assay"/*) # a package that has moved would be inlined again
		dir=${p#"$assay"/}
		[ -d "${dir%/...}" ] || { echo "dist.sh: no package $p" >&2; exit 1; } ;;
	esac
	small="$small -gcflags=$p=-l"
done
build() { # build ARCH
	mkdir -p "$dist/linux_$1"
	# shellcheck disable=SC2086 # several flags
	CGO_ENABLED=0 GOOS=linux GOARCH=$1 "$GO" build -trimpath -buildvcs=false $small \
		-ldflags "-s -w -X main.release=$VERSION -X main.commit=$commit" -o "$dist/linux_$1/assay" ./cmd/assay
}
build amd64
build arm64

"$GO" run -trimpath -tags manual -ldflags "-X main.release=$VERSION -X main.commit=$commit" ./cmd/assay manual "$dist/man"
mkdir "$dist/completions"
mv "$dist/man/assay.bash" "$dist/man/_assay" "$dist/man/assay.fish" "$dist/completions/"
gzip -9n "$dist"/man/*.1

for ARCH in amd64 arm64; do
	BUILT=$dist/linux_$ARCH
	export ARCH BUILT
	tool nfpm package --config deploy/packages/nfpm.yaml --packager deb --target "$dist/assay_${VERSION}_$ARCH.deb"
	tar -C "$dist" --sort=name --owner=0 --group=0 --mtime="@$SOURCE_DATE_EPOCH" -czf "$dist/assay_${VERSION}_linux_$ARCH.tar.gz" \
		--transform "s,^linux_$ARCH/,," "linux_$ARCH/assay" man completions -C "$PWD" LICENSE README.md CHANGELOG.md
done
sh scripts/wheel.sh "$dist"
[ ! -f scripts/sbom.sh ] || sh scripts/sbom.sh "$dist/sbom.json"
(cd "$dist" && sha256sum -- *.tar.gz *.deb *.whl $(ls sbom.json 2>/dev/null) >SHA256SUMS)
ls -l "$dist"
