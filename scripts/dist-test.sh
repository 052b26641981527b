#!/bin/sh
# dist-test.sh [DIR]: installs the files of dist.sh, in DIR (dist), on a fresh Debian without Go and without a
# network, and uses it: the program alone, the .deb, the wheel, and the program in a container's empty tree. Needs root and
# debootstrap for the fresh system; it reports their lack and ends with 77. The fresh system is kept, as a tar,
# in ~/.cache/assay.
set -eu
cd "$(dirname "$0")/.."
dist=$(cd "${1:-dist}" && pwd)
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
arch=$(dpkg --print-architecture 2>/dev/null || echo amd64)

size=$(stat -c %s "$dist/linux_amd64/assay" "$dist/linux_arm64/assay" | sort -n | tail -n 1)
[ "$size" -le 50000000 ] || { echo "dist-test.sh: a program has $size bytes; 50,000,000 is the most" >&2; exit 1; }
echo "size: at most $size bytes"

if command -v qemu-aarch64-static >/dev/null 2>&1 && [ "$arch" = amd64 ]; then
	qemu-aarch64-static "$dist/linux_arm64/assay" --version
else
	echo "skipped: the program for arm64 was not run (qemu-user-static)"
fi

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null 2>&1; then
	echo "skipped: a fresh Debian takes root and debootstrap" >&2
	exit 77
fi
cache="${XDG_CACHE_HOME:-$HOME/.cache}/assay"
mkdir -p "$cache"
work=$(mktemp -d)
root=$work/root
mkdir "$root"
end() {
	umount -l "$root/proc" "$root/dev" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap end EXIT
trap 'exit 129' HUP INT TERM
if ! tar -C "$root" -xf "$cache/debian.tar" 2>/dev/null; then
	echo "making a fresh Debian"
	debootstrap --variant=minbase --include=python3,python3-venv,python3-pip stable "$root" >"$work/log" 2>&1 || { tail -n 5 "$work/log" >&2; exit 1; }
	rm -rf "$root"/var/cache/apt/archives/*.deb
	tar -C "$root" -cf "$cache/debian.tar.part" . && mv "$cache/debian.tar.part" "$cache/debian.tar"
fi
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
mkdir "$root/dist"
cp "$dist"/*_"$arch".deb "$dist"/*_linux_"$arch".tar.gz "$root/dist/"
cp "$dist"/assay-*manylinux*"$(uname -m)".whl "$root/dist/"

# inside runs a script in the fresh system, without a network and with nothing of this environment.
inside() { unshare -n chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C sh -eu; }

echo "== the program alone"
inside <<'IN'
if command -v go; then exit 1; fi
mkdir /tmp/alone && tar -C /tmp/alone -xzf /dist/*.tar.gz
/tmp/alone/assay --version
/tmp/alone/assay tune -p n=1..4 --default n=4 --search grid --check 0 -- sleep 0.{n} | grep -x 'best  *n=1'
/tmp/alone/assay tune --study auto -p n=1..4 --trials 6 --check 2 -- sleep 0.{n} | grep '^trials .* done'
start=$(date +%s%N)
for i in 1 2 3 4 5 6 7 8 9 10; do /tmp/alone/assay version >/dev/null; done
echo "start: $((($(date +%s%N) - start) / 10000000)) ms"
IN

echo "== the .deb"
inside <<'IN'
dpkg -i /dist/*.deb >/dev/null
assay --version
test -s /usr/share/man/man1/assay-tune.1.gz
test -s /usr/share/bash-completion/completions/assay
bash -n /usr/share/bash-completion/completions/assay
assay study ls | grep sleep
dpkg -P assay >/dev/null
test ! -e /usr/bin/assay
IN

echo "== the wheel"
inside <<'IN'
python3 -m venv /tmp/env
/tmp/env/bin/pip install -q --no-index /dist/*.whl
/tmp/env/bin/assay --version
cat >/tmp/kiln.py <<'PY'
import assay

study = assay.Study({"heat": (900, 1200)}, name="kiln", minimize="cracks", trials=12)
for trial in study:
    study.tell(trial, abs(trial["heat"] - 1000))
assert len(study.trials) == 12, study.trials
print(study.best_params, study.best_value)
PY
/tmp/env/bin/python /tmp/kiln.py
IN

echo "== the program in a container's empty tree"
mkdir -p "$work/empty/data" "$work/empty/tmp"
chmod 1777 "$work/empty/tmp" "$work/empty/data"
cp "$dist/linux_$arch/assay" "$work/empty/assay"
unshare -n env -i HOME=/data "$(command -v chroot)" --userspec=65534:65534 "$work/empty" /assay --version
unshare -n env -i HOME=/data "$(command -v chroot)" --userspec=65534:65534 "$work/empty" /assay study ls
echo "PASS: the program, the .deb and the wheel work on a fresh Debian"
