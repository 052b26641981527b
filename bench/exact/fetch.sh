#!/bin/sh
# fetch.sh: writes what the studies here run to work/: SQLite's amalgamation (as better-sqlite3 of npm has it), LZ4 (as lz4
# of PyPI has it), a text, a film of a second, and the formulas of sat.py.
set -eu
cd "$(dirname "$0")"
for program in gcc valgrind x264 ffmpeg cadical npm python3; do
	command -v $program >/dev/null || { echo "fetch.sh: no $program: apt-get install gcc valgrind x264 ffmpeg cadical npm python3" >&2; exit 2; }
done
mkdir -p work
npm pack --silent --pack-destination work better-sqlite3@12.11.1 >/dev/null
tar xzf work/better-sqlite3-12.11.1.tgz -C work --strip-components 3 package/deps/sqlite3
python3 -m pip download -q --no-deps --no-binary :all: -d work lz4==4.4.4
mkdir -p work/lz4
tar xzf work/lz4-4.4.4.tar.gz -C work/lz4 --strip-components 2 --wildcards '*/lz4libs/*'
head -c 300000 work/sqlite3.c >work/text
ffmpeg -y -loglevel error -f lavfi -i 'mandelbrot=size=352x288:rate=25,noise=all_seed=1:all_strength=6:all_flags=t' -t 1 -pix_fmt yuv420p work/in.y4m
python3 sat.py --make work
