#!/bin/sh
# wheel.sh DIR: makes the wheels of dist.sh, whose variables it needs, with pip and wheel in an
# environment of their own. A wheel for a platform has the program among its scripts.
set -eu
cd "$(dirname "$0")/.."
dist=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install -q 'setuptools>=77' 'wheel>=0.45'
cp -r clients/python "$work/src"
sed -i "s/^version = .*/version = \"$VERSION\"/" "$work/src/pyproject.toml"
"$work/env/bin/pip" wheel -q --no-deps --no-build-isolation -w "$dist" "$work/src"
pure=$(ls "$dist"/assay-*-py3-none-any.whl)
for pair in amd64:x86_64 arm64:aarch64; do
	"$work/env/bin/wheel" unpack -d "$work/${pair%%:*}" "$pure" >/dev/null
	tree=$(ls -d "$work/${pair%%:*}"/assay-*)
	mkdir -p "$tree/$(basename "$tree").data/scripts"
	install -m 755 "$dist/linux_${pair%%:*}/assay" "$tree/$(basename "$tree").data/scripts/assay"
	sed -i 's/^Root-Is-Purelib: .*/Root-Is-Purelib: false/' "$tree"/*.dist-info/WHEEL
	"$work/env/bin/wheel" pack -d "$work" "$tree" >/dev/null
	"$work/env/bin/wheel" tags --remove --platform-tag "manylinux2014_${pair##*:}" "$work"/assay-*-any.whl >/dev/null
	mv "$work"/assay-*-manylinux*.whl "$dist/"
done
