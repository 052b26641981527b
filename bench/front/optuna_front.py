#!/usr/bin/python3
"""Optuna on recorded tables with several objectives: the share of the front's hypervolume that it lacks.

optuna_front.py --sampler nsga2|tpe|random --seeds 20 STUDY.yaml...     one JSON line for each table and seed

`assay bench` has the same tables and measure: the reference point is in each objective the median of the
rows, or a tenth of the front's range beyond its worst end, whichever is worse. Switches and texts are categories, numbers
an index in the list of their values; a point that is no row is moved to the nearest one (differences of categories,
and of indices in units of their range). "asks" counts every run. "rows" counts a row once: a repeat costs nothing there.
"""
import argparse, csv, gzip, json, os, warnings
import numpy as np, yaml

warnings.filterwarnings("ignore")
import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


class Table:
    def __init__(self, path):
        spec = yaml.safe_load(open(path))
        rep, self.name = spec["replay"], spec["name"]
        data = os.path.join(os.path.dirname(path), rep["file"])
        rows = csv.DictReader(gzip.open(data, "rt") if data.endswith(".gz") else open(data))
        rows = [r for r in rows if all(r[k] == str(v) for k, v in rep.get("where", {}).items())]
        self.params = rep["parameters"]
        columns = [rep["metrics"][m] for m in spec["objective"]["minimize"]]
        by = {}
        for r in rows:
            by.setdefault(tuple(r[p] for p in self.params), []).append([float(r[c]) for c in columns])
        keys = list(by)
        self.values, self.kinds = [], []
        for j in range(len(self.params)):
            vs = sorted({k[j] for k in keys})
            numbers = [number(v) for v in vs]
            ordered = None not in numbers and set(vs) != {"0", "1"}
            self.kinds.append("ord" if ordered else "cat")
            self.values.append(sorted(vs, key=float) if ordered else vs)
        self.codes = np.array([[self.values[j].index(k[j]) for j in range(len(k))] for k in keys])
        self.points = np.array([np.mean(by[k], axis=0) for k in keys])
        front = self.points[nondominated(self.points)]
        lo, hi = front.min(0), front.max(0)
        self.ref = np.maximum(np.median(self.points, axis=0), hi + (hi - lo) / 10)
        self.volume = hypervolume(front, self.ref)
        self.width = np.array([max(1, len(v) - 1) for v in self.values])
        self.cat = np.array([k == "cat" for k in self.kinds])

    def nearest(self, code):
        d = np.abs(self.codes - code)
        return int(np.where(self.cat, d > 0, d / self.width).sum(1).argmin())


def nondominated(ps):
    return [i for i, p in enumerate(ps) if not any((q <= p).all() and (q < p).any() for q in ps)]


def hypervolume(ps, ref):
    ps = np.array([p for p in ps if (p < ref).all()])
    if len(ps) == 0:
        return 0.0
    if len(ref) == 2:
        total, level = 0.0, ref[1]
        for x, y in sorted(map(tuple, ps)):
            if y < level:
                total, level = total + (ref[0] - x) * (level - y), y
        return total
    ps = ps[ps[:, 2].argsort(kind="stable")]
    tops = list(ps[1:, 2]) + [ref[2]]
    return sum(hypervolume(ps[: i + 1, :2], ref[:2]) * (tops[i] - ps[i, 2]) for i in range(len(ps)))


def run(t, sampler, seed, budgets, most):
    s = optuna.samplers
    made = {"nsga2": lambda: s.NSGAIISampler(seed=seed), "nsga2-20": lambda: s.NSGAIISampler(seed=seed, population_size=20),
            "tpe": lambda: s.TPESampler(seed=seed), "tpe-mv": lambda: s.TPESampler(seed=seed, multivariate=True),
            "random": lambda: s.RandomSampler(seed=seed)}[sampler]()
    study = optuna.create_study(directions=["minimize"] * t.points.shape[1], sampler=made)
    asked, rows, out = [], [], {"asks": {}, "rows": {}}
    lack = lambda of: 1 - hypervolume(t.points[of], t.ref) / t.volume
    while len(rows) < max(budgets) and len(asked) < most:
        trial = study.ask()
        code = np.array([trial.suggest_int(p, 0, len(v) - 1) if k == "ord" else v.index(trial.suggest_categorical(p, v))
                         for p, v, k in zip(t.params, t.values, t.kinds)])
        r = t.nearest(code)
        study.tell(trial, list(t.points[r]))
        asked.append(r)
        if r not in rows:
            rows.append(r)
            if len(rows) in budgets:
                out["rows"][len(rows)] = lack(rows)
        if len(asked) in budgets:
            out["asks"][len(asked)] = lack(asked)
    for b in budgets:
        out["rows"].setdefault(b, lack(rows))
    return dict(method="optuna-" + sampler, study=t.name, seed=seed, **out)


a = argparse.ArgumentParser()
a.add_argument("--sampler", default="nsga2")
a.add_argument("--seeds", type=int, default=20)
a.add_argument("--trials", default="20,50")
a.add_argument("--most", type=int, default=300, help="asks, where repeats cost nothing")
a.add_argument("files", nargs="+")
a = a.parse_args()
for f in a.files:
    table = Table(f)
    for seed in range(1, a.seeds + 1):
        print(json.dumps(run(table, a.sampler, seed, [int(b) for b in a.trials.split(",")], a.most)), flush=True)
