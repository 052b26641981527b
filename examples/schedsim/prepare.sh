#!/bin/sh
# prepare.sh: builds the simulator if its sources are newer, and makes up a log
# of 5,000 jobs unless it is there. The same log every time.
set -eu
if [ ! -x schedsim ] || [ -n "$(find . -name '*.go' -newer schedsim)" ]; then
	go build -o schedsim.part .
	mv schedsim.part schedsim
fi
[ -s jobs.swf ] || ./schedsim -generate 5000 -load 0.7 -o jobs.swf
