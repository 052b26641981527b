#!/bin/sh
# generate.sh FILE: makes 1,200,000 lines of numbers in random order, unless
# FILE is there already. The same file every time.
set -eu
[ -s "$1" ] && exit 0
awk 'BEGIN {
	srand(7)
	for (i = 1; i <= 1200000; i++) printf "%d-%d\n", int(rand() * 1e9), i
}' >"$1.part"
mv "$1.part" "$1"
