#!/bin/sh
# site.sh: builds the documentation as a site, in dist/site, with mkdocs in an environment of its own. A link to a
# page or heading that does not exist is an error.
set -eu
cd "$(dirname "$0")/.."
env="${XDG_CACHE_HOME:-$HOME/.cache}/assay/mkdocs"
if [ ! -x "$env/bin/mkdocs" ]; then
	rm -rf "$env"
	python3 -m venv "$env"
	"$env/bin/pip" install -q 'mkdocs-material>=9.7,<10'
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r docs site examples clients deploy bench lab ./*.md "$work/"
mkdir -p dist
(cd "$work/site" && NO_MKDOCS_2_WARNING=1 "$env/bin/mkdocs" build --strict --config-file mkdocs.yml --site-dir "$work/built")
rm -rf dist/site
mv "$work/built" dist/site
# Nothing of the site is fetched from elsewhere, but links that a reader follows.
if grep -rhoE '<(script|link|img|iframe)[^>]+(src|href)="?https?://[^" >]+' dist/site --include='*.html' | grep -v 'rel="\?canonical\|rel="\?edit'; then
	echo "site.sh: the site loads something from elsewhere" >&2
	exit 1
fi
# Its search works in a browser without a network.
"${GO:-go}" test -count=1 ./internal/browser
echo "dist/site: $(find dist/site -name '*.html' | wc -l) pages"
