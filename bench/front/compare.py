#!/usr/bin/python3
"""Two methods on the same tables and seeds: compare.py BENCH.json,... [OPTUNA.jsonl...]

Prints for each method beside auto: the mean share of the hypervolume that it lacks, and the geometric mean of
the ratio of the hypervolumes with its 95 % interval (bootstrap over tables and seeds). A hypervolume of less
than 1 % of the table's counts as 1 %. Tables of which not all 20 seeds are there are left out.
"""
import json, sys
import numpy as np

rng = np.random.default_rng(1)
found = {}
for f in sys.argv[1].split(","):
    for r in json.load(open(f))["rows"]:
        for s, x in enumerate(r["re_by_seed"]):
            found.setdefault((r["method"], int(r["budget"]["value"])), {})[r["study"], s + 1] = x
for f in sys.argv[2:]:
    for r in map(json.loads, open(f)):
        for kind, name in (("asks", ""), ("rows", ", repeats free")):
            for b, x in r[kind].items():
                found.setdefault((r["method"] + name, int(b)), {})[r["study"], r["seed"]] = x
for (method, budget), d in found.items():
    a = found["auto", budget]
    full = [s for s in sorted({k[0] for k in d}) if all((s, i) in d and (s, i) in a for i in range(1, 21))]
    if method == "auto" or not full:
        continue
    logs = np.array([[np.log(max(1 - a[s, i], 0.01) / max(1 - d[s, i], 0.01)) for s in full] for i in range(1, 21)])
    n = len(full)
    boot = [logs[rng.integers(0, 20, 20)][:, rng.integers(0, n, n)].mean() for _ in range(4000)]
    low, high = np.exp(np.percentile(boot, [2.5, 97.5]))
    mean = lambda of: 100 * np.mean([of[s, i] for s in full for i in range(1, 21)])
    by = np.exp(logs.mean(0))
    print(f"{budget} trials, {method}, {n} tables: lacks {mean(d):.1f} %, auto {mean(a):.1f} %; "
          f"x {np.exp(logs.mean()):.3f} [{low:.3f}, {high:.3f}]; least {by.min():.3f} ({full[int(by.argmin())]})")
