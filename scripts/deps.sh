#!/bin/sh
# deps.sh test|system|bench|dist: installs the missing programs that tests or benchmarks use, side by side, where it may,
# and names those that are still missing. A test whose program is missing skips and names it. test is the set for
# make test, system the further programs of make system.
set -u
for_what=${1:-test}
cache="${XDG_CACHE_HOME:-$HOME/.cache}/assay"
test="sort:coreutils strace:strace setsid:util-linux gzip:gzip zstd:zstd lz4:lz4 time:time python3:python3 gcc:gcc
	redis-server:redis-server pg_createcluster:postgresql mpicc:libmpich-dev mpiexec:mpich node:nodejs npm:npm git:git sysctl:procps
	ip:iproute2 hyperfine:hyperfine"
case "$for_what" in
test) want=$test ;;
system) want="$test clang:clang x264:x264 ffmpeg:ffmpeg javac:default-jdk-headless slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client promtool:prometheus" ;;
dist) want="python3:python3 debootstrap:debootstrap qemu-aarch64-static:qemu-user-static" ;;
bench) want="hyperfine:hyperfine parallel:parallel python3:python3" ;;
*) echo "usage: deps.sh test|system|bench|dist" >&2; exit 2 ;;
esac

packages() {
	missing=
	for pair in $want; do
		command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
	done
	if [ "$for_what" = bench ]; then
		for module in sklearn xgboost; do
			python3 -c "import $module" 2>/dev/null || /usr/bin/python3 -c "import $module" 2>/dev/null || missing="$missing python3-$module"
		done
	fi
	if [ "$for_what" = system ]; then # OpenCL on the processor, for the example of a kernel
		[ -e /usr/include/CL/cl.h ] || missing="$missing opencl-headers ocl-icd-opencl-dev"
		ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || missing="$missing pocl-opencl-icd"
	fi
	[ -n "$missing" ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || return 0
	echo "installing:$missing"
	export DEBIAN_FRONTEND=noninteractive
	# shellcheck disable=SC2086 # a list of words
	apt-get install -y --no-install-recommends $missing >/dev/null 2>&1 ||
		{ apt-get update >/dev/null 2>&1 && apt-get install -y --no-install-recommends $missing >/dev/null 2>&1; }
}

browser() { # without a window it needs two thirds of the processor time, but not every distribution packages it
	command -v chromium-headless-shell >/dev/null 2>&1 && return
	command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || return 0
	apt-get install -y --no-install-recommends chromium-headless-shell >/dev/null 2>&1 ||
		command -v chromium >/dev/null 2>&1 ||
		apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 || true
}

# venv NAME PACKAGE...: an environment of Python below the cache.
venv() {
	name=$1 dir="$cache/$1"
	shift
	[ -e "$dir/installed" ] && return
	python3 -m venv "$dir" >/dev/null 2>&1 && "$dir/bin/pip" install -q "$@" >/dev/null 2>&1 && touch "$dir/installed" ||
		{ rm -rf "$dir"; echo "missing: $name (of PyPI); its tests are skipped"; }
}

# npm_module NAME FILE PACKAGE: a module of npm below the cache.
npm_module() {
	[ -e "$cache/$1/node_modules/$2" ] ||
		npm install --prefix "$cache/$1" --no-save --no-package-lock --no-fund --no-audit --ignore-scripts "$3" >/dev/null 2>&1 ||
		echo "missing: $1 (of npm); its tests are skipped"
}

kubernetes() { # the JSON schemas of Kubernetes, against which the manifests are checked
	[ -d "$cache/kubernetes/kubernetes_validate" ] ||
		python3 -m pip install -q --no-deps --target "$cache/kubernetes" 'kubernetes-validate==1.37.0' >/dev/null 2>&1 ||
		echo "missing: kubernetes-validate (of PyPI); the test of its schemas is skipped"
}

pcse() { # the crop model, which no distribution packages
	python3 -c 'import pcse' 2>/dev/null || python3 -m pip install -q pcse >/dev/null 2>&1 ||
		echo "missing: pcse (python3 -m pip install pcse); its tests are skipped"
}

nextflow() { # its jars, by Maven: one of them, for files on the web, is in no public repository and is not needed
	[ -d "$cache/nextflow" ] && return
	pom="$(mktemp -d)"
	cat >"$pom/pom.xml" <<-'END'
		<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
		<groupId>local</groupId><artifactId>nextflow</artifactId><version>1</version>
		<dependencies><dependency><groupId>io.nextflow</groupId><artifactId>nextflow</artifactId><version>24.10.5</version>
		<exclusions><exclusion><groupId>io.nextflow</groupId><artifactId>nf-httpfs</artifactId></exclusion></exclusions>
		</dependency></dependencies></project>
	END
	mvn -q -f "$pom/pom.xml" dependency:copy-dependencies -DoutputDirectory="$pom/jars" >/dev/null 2>&1 && mv "$pom/jars" "$cache/nextflow" ||
		echo "missing: nextflow (of Maven Central, by mvn); the test with it is skipped"
	rm -rf "$pom"
}

mkdir -p "$cache"
if [ "$for_what" = test ] || [ "$for_what" = system ]; then
	venv optuna 'optuna>=5,<6' pandas &
	# Node.js and npm are packages themselves where they are missing.
	command -v npm >/dev/null 2>&1 || packages
	npm_module typescript typescript/bin/tsc typescript@7.0.2 & # checks the types of the pages' modules
	npm_module axe axe-core/axe.min.js axe-core@4.14.1 &        # finds parts that a person without sight or mouse cannot use
fi
if [ "$for_what" = system ]; then
	venv schemathesis 'schemathesis>=4.32,<5' &
	venv snakemake 'snakemake>=9,<10' &
	venv hyperqueue 'hyperqueue==0.27.0' &
	venv cyclonedx 'cyclonedx-python-lib[json-validation]>=11,<12' &
	kubernetes &
	pcse &
	nextflow &
fi
packages
[ "$for_what" = test ] || [ "$for_what" = system ] && browser
wait
for pair in $want; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || echo "missing: ${pair%%:*} (package ${pair##*:}); its tests are skipped"
done
exit 0
