#!/bin/sh
# knowledge.sh NAME [TRIALS]: runs the study scripts/knowledge/NAME.yaml on this machine with drawn configurations (80
# unless TRIALS says otherwise), and writes its finished trials into setup/shipped/NAME-N.json, N its number in the
# file. assay carries these files: see setup/shipped.go. A file that exists is not written over, because the studies
# that it has helped could not be resumed.
#
# It needs the program, an assay on PATH and python3, and a machine with nothing else to do.
set -eu
cd "$(dirname "$0")/.."
study=scripts/knowledge/$1.yaml
name=$(sed -n 's/^name: //p' "$study")
out=setup/shipped/$name.json
[ ! -e "$out" ] || { echo "knowledge: $out is there: give the study the next number" >&2; exit 1; }
store=${STORE:-$(mktemp -d)/knowledge.db}
assay tune "$study" --store "$store" --trials "${2:-80}" --search random --stop none --check 0 --prior none >&2
assay study show "$name" --store "$store" --json >"$store.study"
assay study export "$name" --store "$store" --format jsonl >"$store.trials"
python3 - "$study" "$store" >"$out" <<'PY'
import json, sys
head = dict(line[2:].split(": ", 1) for line in open(sys.argv[1]).read().splitlines() if line.startswith("# ") and ": " in line)
whole = json.load(open(sys.argv[2] + ".study"))["spec"]
about = {k: [w.strip() for w in head[k].split(",") if w.strip()] for k in ("programs", "builders", "minimize", "maximize") if k in head}
definition = {k: whole[k] for k in ("version", "command", "parameters", "objective", "metrics") if k in whole}
names = [p["name"] for p in whole["parameters"]]
rows = []
for line in open(sys.argv[2] + ".trials"):
    t = json.loads(line)
    if t["state"] == "done":
        rows.append([str(t["config"][n]) for n in names] + [float("%.6g" % t["value"])])
print(json.dumps({"workload": head["workload"], **about, "definition": definition}, indent=1)[:-2] + ',\n "trials": [')
print(",\n".join("  " + json.dumps(r) for r in rows) + "\n ]\n}")
PY
echo "$out: $(grep -c '^  \[' "$out") trials" >&2
