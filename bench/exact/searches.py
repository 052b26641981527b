"""Compares searches on the studies of this folder, whose metrics are exact: what each has found after each run.

    bench/exact/fetch.sh
    python3 bench/exact/searches.py OUT.jsonl [--studies size,sat] [--methods auto,random,tpe,smac] [--seeds 5] [--runs 150] [--jobs 2]
    python3 bench/exact/searches.py OUT.jsonl --show [--figure FILE.svg]

auto and random are searches of `assay tune`, tpe is Optuna's, smac is SMAC3's facade for hyperparameters. assay makes all
runs. tpe and smac are given the default first, as auto is. OUT has a line for each search, and a search that has one is not
made again. preset is the best of what the program's authors recommend. Optuna is given by how much
a run breaks a limit. SMAC3 knows no limits: a run that breaks one, or fails, has the worst value so far.

Needs assay on the PATH, and optuna, smac, matplotlib and pyyaml of PyPI."""

import argparse
import concurrent.futures
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import warnings

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples"))
from compare import Study, suggest, text  # noqa: E402

STUDIES = ("size", "instructions", "video", "sat")
METHODS = ("preset", "auto", "random", "tpe", "smac")
SLOW = {"ref": 16, "bframes": 8, "b-adapt": 2, "direct": "auto", "me": "umh", "merange": 24, "subme": 10, "partitions": "all",
        "trellis": 2, "lookahead": 60}
PRESETS = {
    "size": [{"opt": "-Os"}, {"opt": "-Oz"}],
    "instructions": [{"opt": "-O3"}, {"opt": "-O2"}, {"opt": "-O3", "march": "x86-64-v3"}],
    "video": [SLOW | {"crf": 20 + k / 10} for k in range(60)],
    "sat": [{}, {"target": 2, "restartint": 50}, {"stabilize": 0, "walk": 0}],  # --sat and --unsat of CaDiCaL 1.5
}


class Program(Study):
    """A study in a folder of its own, so that several may run at once, and runs of single configurations of it."""

    def __init__(self, name: str, scratch: str) -> None:
        folder = os.path.join(scratch, "study")
        shutil.copytree(HERE, folder, ignore=shutil.ignore_patterns("work", "*.jsonl", "__pycache__"))
        os.symlink(os.path.join(HERE, "work"), os.path.join(folder, "work"))
        super().__init__(os.path.join(folder, name + ".yaml"), scratch)

    def search(self, name: str, seed: int, runs: int) -> list:
        """The value of each run of a search by assay, None without one that counts."""
        flags = [] if name == "auto" else ["--search", name]
        self.assay("tune", self.file, "--study", "s", "--trials", str(runs), "--seed", str(seed), "--check", "none", "--json", *flags)
        return [value(json.loads(line)) for line in self.assay("study", "trials", "s", "--json").splitlines()][:runs]

    def run(self, config: dict) -> dict:
        """One run: its state, value and metrics. A value may have commas, so it is in a file and not in a flag."""
        self.runs += 1
        one = self.spec | {"parameters": {n: {"type": "categorical", "values": [v], "default": v} for n, v in config.items()}}
        file = os.path.join(os.path.dirname(self.file), "one.yaml")
        with open(file, "w", encoding="utf-8") as f:
            yaml.safe_dump(one, f)
        study = f"one-{self.runs}"
        self.assay("tune", file, "--study", study, "--trials", "1", "--check", "none", "--json")
        return json.loads(self.assay("study", "trials", study, "--json").splitlines()[0])


def value(trial: dict):
    return trial["value"] if trial["state"] == "done" else None


def tpe(program: Program, seed: int, runs: int) -> list:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore")
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, constraints_func=lambda t: t.user_attrs["broken"]))
    study.enqueue_trial({n: p["default"] if p["type"] in ("int", "real") else text(p["default"]) for n, p in program.params.items()})
    out = []
    for _ in range(runs):
        trial = study.ask()
        got = program.run(suggest(trial, program.params))
        out.append(value(got))
        metrics = got.get("metrics") or {}
        trial.set_user_attr("broken", program.broken(metrics) or [0.0])
        if program.metric in metrics:
            study.tell(trial, metrics[program.metric])
        else:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return out


def smac(program: Program, seed: int, runs: int) -> list:
    import ConfigSpace
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialInfo, TrialValue

    def dimension(n: str, p: dict):
        if p["type"] == "int":
            return ConfigSpace.Integer(n, (p["min"], p["max"]), default=p["default"], log=p.get("log", False))
        if p["type"] == "real":
            return ConfigSpace.Float(n, (p["min"], p["max"]), default=p["default"])
        if p["type"] == "ordinal":
            return ConfigSpace.Categorical(n, p["values"], ordered=True, default=p["default"])
        return ConfigSpace.Categorical(n, p["values"], default=p["default"])

    space = ConfigSpace.ConfigurationSpace(seed=seed)
    space.add([dimension(n, p) for n, p in program.params.items()])
    out: list = []

    def measured(config) -> TrialValue:
        """A run, with the worst value so far if it has none."""
        out.append(value(program.run({n: getattr(v, "item", lambda v=v: v)() for n, v in dict(config).items()})))
        worst = max((v for v in out if v is not None), default=1e9)
        return TrialValue(cost=worst if out[-1] is None else out[-1])

    with tempfile.TemporaryDirectory() as scratch:
        scenario = Scenario(space, deterministic=True, n_trials=runs, seed=seed, output_directory=scratch)
        search = HyperparameterOptimizationFacade(scenario, lambda config, seed: 0.0, overwrite=True, logging_level=50)
        # Its initial design would have the default last.
        default = space.get_default_configuration()
        search.tell(TrialInfo(default, seed=0), measured(default), save=False)
        for _ in range(runs - 1):
            asked = search.ask()
            search.tell(asked, measured(asked.config), save=False)
    return out


def preset(program: Program, seed: int, runs: int) -> list:
    name = os.path.basename(program.file).removesuffix(".yaml")
    default = {n: p["default"] for n, p in program.params.items()}
    return [value(program.run(default | p)) for p in PRESETS[name]]


def one(study: str, method: str, seed: int, runs: int) -> dict:
    with tempfile.TemporaryDirectory() as scratch:
        program = Program(study, scratch)
        own = {"tpe": tpe, "smac": smac, "preset": preset}.get(method)
        values = own(program, seed, runs) if own else program.search(method, seed, runs)
    return {"study": study, "method": method, "seed": seed, "values": values}


def best(values: list, runs: int) -> float:
    return min((v for v in values[:runs] if v is not None), default=math.inf)


def show(lines: list, figure: str) -> None:
    """Prints the mean of the best value beside that of the preset, and its least and greatest over seeds."""
    presets = {line["study"]: line["values"] for line in lines if line["method"] == "preset"}
    sets: dict = {}
    for line in lines:
        if line["method"] == "preset":
            continue
        if line["study"] not in presets:
            sys.exit(f"the preset of {line['study']} was not run: --studies {line['study']} --methods preset")
        sets.setdefault((line["study"], line["method"]), []).append(line["values"])
    if not sets:
        sys.exit("no search was made yet")
    longest = max(len(v) for runs in sets.values() for v in runs)
    after = [n for n in (10, 50, 150) if n < longest] + [longest]
    print("| study | preset | method | seeds |", " | ".join(f"{n} runs" for n in after), "|\n|---|--:|---|--:|" + "--:|" * len(after))
    for (study, method), runs in sorted(sets.items(), key=lambda s: (STUDIES.index(s[0][0]), METHODS.index(s[0][1]))):
        base = best(presets[study], 1000)
        cells = []
        for n in after:
            found = [100 * (best(v, n) / base - 1) for v in runs]
            cells.append("none" if math.inf in found else f"{statistics.mean(found):+.1f} [{min(found):+.1f}, {max(found):+.1f}]")
        print(f"| {study} | {base:,.0f} | `{method}` | {len(runs)} | {' | '.join(cells)} |")
    if figure:
        import matplotlib

        matplotlib.use("svg")
        matplotlib.rcParams["svg.hashsalt"] = "assay"
        from matplotlib import pyplot

        studies = [s for s in STUDIES if any(k[0] == s for k in sets)]
        _, axes = pyplot.subplots(1, len(studies), figsize=(4 * len(studies), 3.2), squeeze=False)
        for ax, study in zip(axes[0], studies):
            base = best(presets[study], 1000)
            for (s, method), runs in sets.items():
                if s == study:
                    curve = [statistics.mean(100 * (best(v, n) / base - 1) for v in runs) for n in range(1, longest + 1)]
                    ax.plot(range(1, longest + 1), curve, label=method)
            ax.axhline(0, color="gray", linestyle=":", label="preset")
            ax.set(title=study, xlabel="runs", ylabel="beside the preset, %")
            ax.set_ylim(top=min(30, ax.get_ylim()[1]))
        axes[0][-1].legend()
        pyplot.tight_layout()
        pyplot.savefig(figure, metadata={"Date": None})


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("out")
    args.add_argument("--studies", default=",".join(STUDIES))
    args.add_argument("--methods", default=",".join(METHODS))
    args.add_argument("--seeds", type=int, default=5)
    args.add_argument("--runs", type=int, default=150)
    args.add_argument("--jobs", type=int, default=2)
    args.add_argument("--show", action="store_true")
    args.add_argument("--figure", default="")
    a = args.parse_args()
    lines = []
    if os.path.exists(a.out):
        with open(a.out, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
    if a.show:
        show(lines, a.figure)
        return
    known = {(line["study"], line["method"], line["seed"]) for line in lines}
    wanted = [(study, method, seed) for study in a.studies.split(",") for seed in range(1, a.seeds + 1) for method in a.methods.split(",")
              if method != "preset" or seed == 1]
    with concurrent.futures.ProcessPoolExecutor(a.jobs) as pool, open(a.out, "a", encoding="utf-8") as f:
        jobs = [pool.submit(one, *key, a.runs) for key in wanted if key not in known]
        for job in concurrent.futures.as_completed(jobs):
            line = job.result()
            f.write(json.dumps(line) + "\n")
            f.flush()
            print(line["study"], line["method"], line["seed"], best(line["values"], 1000), flush=True)


if __name__ == "__main__":
    main()
