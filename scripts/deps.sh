#!/bin/sh
# deps.sh test|bench|dist: installs with apt-get, and one with pip, the programs that tests or
# benchmarks use and that are missing, where it may; says what is missing
# otherwise. A test whose program is missing skips and says so.
set -u
case "${1:-test}" in
test) want="sort:coreutils strace:strace setsid:util-linux gzip:gzip zstd:zstd lz4:lz4 time:time python3:python3 gcc:gcc clang:clang x264:x264 ffmpeg:ffmpeg
	javac:default-jdk-headless redis-server:redis-server pg_createcluster:postgresql mpicc:libmpich-dev mpiexec:mpich chromium:chromium node:nodejs npm:npm git:git sysctl:procps slurmctld:slurmctld slurmd:slurmd sbatch:slurm-client ip:iproute2 hyperfine:hyperfine" ;;
dist) want="python3:python3 debootstrap:debootstrap qemu-aarch64-static:qemu-user-static" ;;
bench) want="hyperfine:hyperfine parallel:parallel python3:python3" ;;
*) echo "usage: deps.sh test|bench|dist" >&2; exit 2 ;;
esac
missing=
for pair in $want; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
if [ "${1:-test}" = bench ]; then
	for module in sklearn xgboost; do
		python3 -c "import $module" 2>/dev/null || /usr/bin/python3 -c "import $module" 2>/dev/null || missing="$missing python3-$module"
	done
fi
if [ "${1:-test}" = test ] && ! python3 -c 'import pcse' 2>/dev/null; then # the crop model, in no package
	python3 -m pip install -q pcse >/dev/null 2>&1 || echo "missing: pcse (python3 -m pip install pcse); its tests are skipped"
fi
# What sends the server's API all that its document allows, and more, in an environment of its own.
tester="${XDG_CACHE_HOME:-$HOME/.cache}/assay/schemathesis"
if [ "${1:-test}" = test ] && ! command -v schemathesis >/dev/null 2>&1 && [ ! -x "$tester/bin/schemathesis" ]; then
	python3 -m venv "$tester" >/dev/null 2>&1 && "$tester/bin/pip" install -q 'schemathesis>=4.32,<5' >/dev/null 2>&1 ||
		echo "missing: schemathesis (of PyPI); its test is skipped"
fi
# Optuna, whose sampler the package for Python has, in an environment of its own.
optuna="${XDG_CACHE_HOME:-$HOME/.cache}/assay/optuna"
if [ "${1:-test}" = test ] && ! python3 -c 'import optuna' 2>/dev/null && [ ! -x "$optuna/bin/python" ]; then
	python3 -m venv "$optuna" >/dev/null 2>&1 && "$optuna/bin/pip" install -q 'optuna>=5,<6' pandas >/dev/null 2>&1 ||
		echo "missing: optuna (of PyPI); the tests with it are skipped"
fi
# Snakemake and Nextflow, which read the requests that are written for them. Of Nextflow the jars, by Maven:
# one of them, for files on the web, is in no public repository and is not needed.
snakemake="${XDG_CACHE_HOME:-$HOME/.cache}/assay/snakemake"
if [ "${1:-test}" = test ] && [ ! -x "$snakemake/bin/snakemake" ]; then
	python3 -m venv "$snakemake" >/dev/null 2>&1 && "$snakemake/bin/pip" install -q 'snakemake>=9,<10' >/dev/null 2>&1 ||
		echo "missing: snakemake (of PyPI); the tests with it are skipped"
fi
nextflow="${XDG_CACHE_HOME:-$HOME/.cache}/assay/nextflow"
if [ "${1:-test}" = test ] && [ ! -d "$nextflow" ]; then
	pom="$(mktemp -d)"
	cat >"$pom/pom.xml" <<-'END'
		<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
		<groupId>local</groupId><artifactId>nextflow</artifactId><version>1</version>
		<dependencies><dependency><groupId>io.nextflow</groupId><artifactId>nextflow</artifactId><version>24.10.5</version>
		<exclusions><exclusion><groupId>io.nextflow</groupId><artifactId>nf-httpfs</artifactId></exclusion></exclusions>
		</dependency></dependencies></project>
	END
	mvn -q -f "$pom/pom.xml" dependency:copy-dependencies -DoutputDirectory="$pom/jars" >/dev/null 2>&1 && mv "$pom/jars" "$nextflow" ||
		echo "missing: nextflow (of Maven Central, by mvn); the test with it is skipped"
	rm -rf "$pom"
fi
# HyperQueue, a scheduler of jobs, by its package for Python in an environment of its own.
hq="${XDG_CACHE_HOME:-$HOME/.cache}/assay/hyperqueue"
if [ "${1:-test}" = test ] && ! python3 -c 'import hyperqueue' 2>/dev/null && [ ! -x "$hq/bin/python" ]; then
	python3 -m venv "$hq" >/dev/null 2>&1 && "$hq/bin/pip" install -q 'hyperqueue==0.27.0' >/dev/null 2>&1 ||
		echo "missing: hyperqueue (of PyPI); the test on a real one is skipped"
fi
# What knows the schema of CycloneDX, against which the bill of materials is checked.
bom="${XDG_CACHE_HOME:-$HOME/.cache}/assay/cyclonedx"
if [ "${1:-test}" = test ] && [ ! -x "$bom/bin/python" ]; then
	python3 -m venv "$bom" >/dev/null 2>&1 && "$bom/bin/pip" install -q 'cyclonedx-python-lib[json-validation]>=11,<12' >/dev/null 2>&1 ||
		{ rm -rf "$bom"; echo "missing: cyclonedx-python-lib (of PyPI); the schema of the bill of materials is not checked"; }
fi
# The JSON schemas of Kubernetes, against which the manifests are checked.
schemas="${XDG_CACHE_HOME:-$HOME/.cache}/assay/kubernetes"
if [ "${1:-test}" = test ] && [ ! -d "$schemas/kubernetes_validate" ]; then
	python3 -m pip install -q --no-deps --target "$schemas" 'kubernetes-validate==1.37.0' >/dev/null 2>&1 ||
		echo "missing: kubernetes-validate (of PyPI); the test of its schemas is skipped"
fi
# OpenCL on the processor, for the example of a kernel.
if [ "${1:-test}" = test ]; then
	[ -e /usr/include/CL/cl.h ] || missing="$missing opencl-headers ocl-icd-opencl-dev"
	ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || missing="$missing pocl-opencl-icd"
fi
if [ -n "$missing" ] && command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	echo "installing:$missing"
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y --no-install-recommends $missing >/dev/null 2>&1 ||
		{ apt-get update >/dev/null 2>&1 && apt-get install -y --no-install-recommends $missing >/dev/null 2>&1; }
fi
# What checks the types of the pages' modules, by Node.js.
types="${XDG_CACHE_HOME:-$HOME/.cache}/assay/typescript"
if [ "${1:-test}" = test ] && [ ! -e "$types/node_modules/typescript/bin/tsc" ]; then
	npm install --prefix "$types" --no-save --no-package-lock --no-fund --no-audit --ignore-scripts typescript@7.0.2 >/dev/null 2>&1 ||
		echo "missing: typescript (of npm); the types of the pages' modules are not checked"
fi
# What says which pages a person without sight or without a mouse cannot use.
axe="${XDG_CACHE_HOME:-$HOME/.cache}/assay/axe"
if [ "${1:-test}" = test ] && [ ! -e "$axe/node_modules/axe-core/axe.min.js" ]; then
	npm install --prefix "$axe" --no-save --no-package-lock --no-fund --no-audit --ignore-scripts axe-core@4.14.1 >/dev/null 2>&1 ||
		echo "missing: axe-core (of npm); whether the pages can be used by all is not checked"
fi
for pair in $want; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || echo "missing: ${pair%%:*} (package ${pair##*:}); its tests are skipped"
done
exit 0
