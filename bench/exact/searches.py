"""Compares searches on the studies of this folder, whose metrics are exact: what each has found after each run.

    bench/exact/fetch.sh
    python3 bench/exact/compare.py OUT.jsonl [--studies size,sat] [--methods auto,random,tpe,smac] [--seeds 5] [--runs 150] [--jobs 2]
    python3 bench/exact/compare.py OUT.jsonl --show [--figure FILE.svg]

auto and random are searches of `assay tune`, tpe is Optuna's, smac is SMAC3's facade for hyperparameters. assay makes all
runs. tpe and smac are given the default first, as auto is. OUT has a line for each search, and a search that has one is not
made again. preset is the best of what the program's authors recommend. A run that breaks a limit or fails counts for
Optuna as such, and for SMAC3, which knows no limits, as the worst run so far.

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
STUDIES = ("size", "instructions", "video", "sat")
SLOW = {"ref": 16, "bframes": 8, "b-adapt": 2, "direct": "auto", "me": "umh", "merange": 24, "subme": 10, "partitions": "all",
        "trellis": 2, "lookahead": 60}
PRESETS = {
    "size": [{"opt": "-Os"}, {"opt": "-Oz"}],
    "instructions": [{"opt": "-O3"}, {"opt": "-O2"}, {"opt": "-O3", "march": "x86-64-v3"}],
    "video": [SLOW | {"crf": 20 + k / 10} for k in range(60)],
    "sat": [{}, {"target": 2, "restartint": 50}, {"stabilize": 0, "walk": 0}],  # --sat and --unsat of CaDiCaL 1.5
}


class Program:
    """A study in a folder of its own, and runs of single configurations of it."""

    def __init__(self, name: str, scratch: str) -> None:
        self.folder = os.path.join(scratch, "study")
        shutil.copytree(HERE, self.folder, ignore=shutil.ignore_patterns("work", "*.jsonl", "__pycache__"))
        os.symlink(os.path.join(HERE, "work"), os.path.join(self.folder, "work"))
        self.file = os.path.join(self.folder, name + ".yaml")
        with open(self.file, encoding="utf-8") as f:
            self.spec = yaml.safe_load(f)
        self.store = os.path.join(scratch, "runs.db")
        self.parameters = self.spec["parameters"]
        self.default = {n: p["default"] for n, p in self.parameters.items()}
        self.made = 0

    def assay(self, *args: str) -> str:
        done = subprocess.run(["assay", *args, "--store", self.store], capture_output=True, text=True, check=False, cwd=self.folder)
        if done.returncode not in (0, 3):
            sys.exit(f"assay {' '.join(args)}: {done.stderr}")
        return done.stdout

    def search(self, name: str, seed: int, runs: int) -> list:
        """The value of each run of a search by assay, None without one that counts."""
        flags = [] if name == "auto" else ["--search", name]
        self.assay("tune", self.file, "--study", "s", "--trials", str(runs), "--seed", str(seed), "--check", "none", "--json", *flags)
        return [value(json.loads(line)) for line in self.assay("study", "trials", "s", "--json").splitlines()][:runs]

    def run(self, config: dict):
        self.made += 1
        one = self.spec | {"parameters": {n: {"type": "categorical", "values": [v], "default": v} for n, v in config.items()}}
        file = os.path.join(self.folder, "one.yaml")
        with open(file, "w", encoding="utf-8") as f:
            yaml.safe_dump(one, f)
        study = f"one-{self.made}"
        self.assay("tune", file, "--study", study, "--trials", "1", "--check", "none", "--json")
        return value(json.loads(self.assay("study", "trials", study, "--json").splitlines()[0]))


def value(trial: dict):
    return trial["value"] if trial["state"] == "done" else None


def tpe(program: Program, seed: int, runs: int) -> list:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore")
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, constraints_func=lambda t: t.user_attrs["broken"]))
    study.enqueue_trial(program.default)
    out = []
    for _ in range(runs):
        trial = study.ask()
        config = {}
        for n, p in program.parameters.items():
            if p["type"] == "int":
                config[n] = trial.suggest_int(n, p["min"], p["max"], log=p.get("log", False))
            elif p["type"] == "real":
                config[n] = trial.suggest_float(n, p["min"], p["max"])
            else:
                config[n] = trial.suggest_categorical(n, p["values"])
        out.append(program.run(config))
        trial.set_user_attr("broken", [1.0 if out[-1] is None else -1.0])
        worst = max((v for v in out if v is not None), default=1.0)
        study.tell(trial, worst if out[-1] is None else out[-1])
    return out


def smac(program: Program, seed: int, runs: int) -> list:
    import ConfigSpace
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialValue

    def dimension(n: str, p: dict):
        if p["type"] == "int":
            return ConfigSpace.Integer(n, (p["min"], p["max"]), default=p["default"], log=p.get("log", False))
        if p["type"] == "real":
            return ConfigSpace.Float(n, (p["min"], p["max"]), default=p["default"])
        if p["type"] == "ordinal":
            return ConfigSpace.Categorical(n, p["values"], ordered=True, default=p["default"])
        return ConfigSpace.Categorical(n, p["values"], default=p["default"])

    space = ConfigSpace.ConfigurationSpace(seed=seed)
    space.add([dimension(n, p) for n, p in program.parameters.items()])
    out: list = []
    with tempfile.TemporaryDirectory() as scratch:
        scenario = Scenario(space, deterministic=True, n_trials=runs, seed=seed, output_directory=scratch)
        design = HyperparameterOptimizationFacade.get_initial_design(scenario, additional_configs=[space.get_default_configuration()])
        search = HyperparameterOptimizationFacade(scenario, lambda config, seed: 0.0, initial_design=design, overwrite=True,
                                                  logging_level=50)
        for _ in range(runs):
            asked = search.ask()
            out.append(program.run({n: getattr(v, "item", lambda v=v: v)() for n, v in dict(asked.config).items()}))
            worst = max((v for v in out if v is not None), default=1e9)
            search.tell(asked, TrialValue(cost=worst if out[-1] is None else out[-1]), save=False)
    return out


def preset(program: Program, seed: int, runs: int) -> list:
    name = os.path.basename(program.file).removesuffix(".yaml")
    return [program.run(program.default | p) for p in PRESETS[name]]


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
    sets: dict = {}
    for line in lines:
        sets.setdefault((line["study"], line["method"]), []).append(line["values"])
    longest = max(len(v) for (_, m), runs in sets.items() if m != "preset" for v in runs)
    print("| study | preset | method | seeds | 10 runs | 50 runs | 150 runs |\n|---|--:|---|--:|--:|--:|--:|")
    for (study, method), runs in sets.items():
        if method == "preset":
            continue
        base = best(sets[study, "preset"][0], 1000)
        cells = []
        for n in (10, 50, 150):
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
            base = best(sets[study, "preset"][0], 1000)
            for (s, method), runs in sets.items():
                if s == study and method != "preset":
                    curve = [statistics.mean(100 * (best(v, n) / base - 1) for v in runs) for n in range(1, longest + 1)]
                    ax.plot(range(1, longest + 1), curve, label=method)
            ax.axhline(0, color="gray", linestyle=":", label="preset")
            ax.set(title=study, xlabel="runs", ylabel="beside the preset, %")
            ax.set_ylim(top=30)
        axes[0][0].legend()
        pyplot.tight_layout()
        pyplot.savefig(figure, metadata={"Date": None})


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("out")
    args.add_argument("--studies", default=",".join(STUDIES))
    args.add_argument("--methods", default="preset,auto,random,tpe,smac")
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
