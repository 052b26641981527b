"""Compares the searches on one study: see compare.sh. Every run is made by assay, so that all are measured alike."""
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import optuna
import yaml

ROUNDS = 5
optuna.logging.set_verbosity(optuna.logging.ERROR)


class Study:
    """A study file, and the runs of single configurations of it."""

    def __init__(self, file: str, scratch: str) -> None:
        self.file = file
        with open(self.file, encoding="utf-8") as f:
            self.spec = yaml.safe_load(f)
        self.store = "sqlite:" + os.path.join(scratch, "compare.db")
        self.params = self.spec["parameters"]
        goal = self.spec["objective"]
        self.maximize = "maximize" in goal
        self.metric = goal["maximize" if self.maximize else "minimize"]
        self.limits = [re.match(r"\s*(\w+)\s*(<=|>=)\s*([0-9.e]+)\s*$", text).groups() for text in self.spec.get("subject_to", [])]
        self.runs = 0

    def assay(self, *args: str) -> str:
        done = subprocess.run(["assay", *args, "--store", self.store], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(f"assay {' '.join(args)}: {done.stderr}")
        return done.stdout

    def tune(self, name: str, seconds: float, seed: int, *flags: str) -> dict:
        out = self.assay("tune", self.file, "--study", name, "--budget", f"{seconds}s", "--seed", str(seed), "--check", "0",
                         "--json", *flags)
        return json.loads(out)

    def run(self, config: dict) -> dict:
        """One run: its state, value and metrics."""
        self.runs += 1
        name = f"one-{self.runs}"
        only = [f for key, value in config.items() for f in ("-p", f"{key}={value}")]
        self.assay("tune", self.file, *only, "--study", name, "--trials", "1", "--check", "0", "--stop", "none", "--budget", "10m",
                   "--json")
        return json.loads(self.assay("study", "trials", name, "--json").splitlines()[0])

    def broken(self, metrics: dict) -> list:
        """By how much each limit is broken, as Optuna wants it: above 0 is broken."""
        out = []
        for name, sign, bound in self.limits:
            if name not in metrics:
                return [1.0] * len(self.limits)
            over = (metrics[name] - float(bound)) / float(bound)
            out.append(over if sign == "<=" else -over)
        return out


def text(value) -> str:
    """A value of YAML as assay writes it."""
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def suggest(trial, params: dict) -> dict:
    config = {}
    for name, p in params.items():
        if p["type"] in ("int", "real"):
            draw = trial.suggest_int if p["type"] == "int" else trial.suggest_float
            config[name] = draw(name, p["min"], p["max"], log=p.get("log", False))
        elif p["type"] == "bool":
            config[name] = trial.suggest_categorical(name, ["on", "off"])
        else:
            config[name] = trial.suggest_categorical(name, [text(v) for v in p["values"]])
    return config


def default(params: dict) -> dict:
    return {name: text(p["default"]) for name, p in params.items()}


def with_optuna(study: Study, seconds: float, seed: int):
    end = time.monotonic() + seconds
    sampler = optuna.samplers.TPESampler(seed=seed, constraints_func=lambda t: t.user_attrs["broken"])
    s = optuna.create_study(direction="maximize" if study.maximize else "minimize", sampler=sampler)
    s.enqueue_trial(default(study.params) | {n: p["default"] for n, p in study.params.items() if p["type"] in ("int", "real")})
    best, runs = None, 0
    while time.monotonic() < end:
        trial = s.ask()
        config = suggest(trial, study.params)
        if not related(study, config):
            trial.set_user_attr("broken", [1.0] * max(1, len(study.limits)))
            s.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        got = study.run(config)
        runs += 1
        trial.set_user_attr("broken", study.broken(got.get("metrics") or {}) or [0.0])
        value = (got.get("metrics") or {}).get(study.metric)
        if value is None or got["state"] == "failed":
            s.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        s.tell(trial, value)
        if got["state"] == "done" and (best is None or (value > best[0]) == study.maximize) and time.monotonic() <= end:
            best = value, config
    return (best[1] if best else None), runs


def related(study: Study, config: dict) -> bool:
    """Whether the relations hold; they are simple ones here, which Python reads alike."""
    values = {k: int(v) if re.fullmatch(r"-?\d+", str(v)) else v for k, v in config.items()}
    return all(eval(w.replace("||", " or ").replace("&&", " and "), {}, values) for w in study.spec.get("where", []))


def interval(ratios: list) -> str:
    """The mean of the logs with its 95 % interval, as a change in per cent."""
    logs = [math.log(r) for r in ratios]
    mean = statistics.mean(logs)
    t = {2: 12.7, 3: 4.30, 4: 3.18, 5: 2.78}.get(len(logs), 2.2)
    half = t * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
    low, high = (100 * (math.exp(x) - 1) for x in (mean - half, mean + half))
    return f"{100 * (math.exp(mean) - 1):+.1f} % [{low:+.1f}, {high:+.1f}]"


def main() -> None:
    folder, seconds, seeds = sys.argv[1], 60.0, 3
    if len(sys.argv) > 2:
        seconds = float(sys.argv[2])
    if len(sys.argv) > 3:
        seeds = int(sys.argv[3])
    with tempfile.TemporaryDirectory() as scratch:
        study = Study(os.path.join(folder, "assay.yaml"), scratch)
        first = study.run(default(study.params))
        if study.metric not in (first.get("metrics") or {}):
            sys.exit(f"the default does not run: {first}")
        changes: dict = {"assay": [], "random": [], "optuna": []}
        counts: dict = {name: [] for name in changes}
        for seed in range(1, seeds + 1):
            found = {}
            order = list(changes)
            for method in order[seed % 3:] + order[:seed % 3]:
                if method == "optuna":
                    found[method], n = with_optuna(study, seconds, seed)
                else:
                    flags = ("--search", "random", "--stop", "none") if method == "random" else ()
                    out = study.tune(f"{method}-{seed}", seconds, seed, *flags)
                    found[method] = {k: text(v) for k, v in out["best"]["config"].items()} if out.get("best") else None
                    n = out["trials"]["total"]
                counts[method].append(n)
            took: dict = {"default": []} | {name: [] for name in changes}
            for _ in range(ROUNDS):
                for name in took:
                    config = default(study.params) if name == "default" else found[name]
                    got = study.run(config) if config else first
                    if got["state"] == "done":
                        took[name].append(got["metrics"][study.metric])
            for method in changes:
                held = len(took[method]) > ROUNDS // 2
                ratio = statistics.median(took[method]) / statistics.median(took["default"]) if held and took["default"] else 1.0
                changes[method].append(ratio)
                print(f"seed {seed} {method}: {counts[method][-1]} trials, {100 * (ratio - 1):+.1f} %: "
                      f"{found[method] if held else 'nothing that holds'}", flush=True)
        print(f"\n{study.metric} beside the default, {seconds:g} s each, {seeds} seeds, load {os.getloadavg()[0]:.0f}")
        for method, ratios in changes.items():
            print(f"{method:8} {interval(ratios)}   trials {statistics.mean(counts[method]):.0f}")


if __name__ == "__main__":
    main()
