"""What others find on recorded tables, for the same runs or the same time as a method of `assay bench`.

    python3 bench/others.py bench/studies/spl-dune.yaml ... [--by tpe|smac|botorch] [--seeds 10] [--first-seed 1] [--json]

tpe is Optuna's. A configuration that is not in the table costs it nothing, and one that is proposed again is run again.
smac is SMAC3's facade for hyperparameters. For a configuration that is not in the table it runs the nearest that is; one that fails has the value of the worst row.
botorch is a process with BoTorch's defaults on the logarithm of the value: after ten rows by chance, that with the greatest
expected improvement of all rows that were not run, so it knows, as assay does, which rows there are.

Needs assay on the PATH, and optuna, smac or botorch of PyPI. A run that failed costs its time. One that the time does not suffice
for does not count. The error is that of the best run, relative to the best of the table, as a mean over seeds; --json
prints it of each seed."""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import tempfile

TRIALS, MEDIANS = (20, 50, 100), (20, 50)


def table(study: str) -> list:
    with tempfile.TemporaryDirectory() as scratch:
        store = ["--store", os.path.join(scratch, "table.db")]
        subprocess.run(["assay", "study", "import", study, "--study", "t", *store], check=True, capture_output=True)
        out = subprocess.run(["assay", "study", "trials", "t", "--json", *store], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def tpe(rows: dict, levels: dict, seed: int):
    """Yields each run of Optuna's TPE, without end."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    while True:
        trial = study.ask()
        key = tuple(trial.suggest_categorical(name, values) for name, values in levels.items())
        row = rows.get(key)
        if row is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        ok = row["state"] == "done"
        study.tell(trial, row["value"] if ok else None, state=None if ok else optuna.trial.TrialState.FAIL)
        yield row


def smac(rows: dict, levels: dict, seed: int):
    """Yields each run of SMAC3, without end. Numbers are the places among their levels. The nearest row is that of least
    distance, 1 for another category and for a number the difference of places as a share of all; of equals the first."""
    import ConfigSpace
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialValue
    from smac.runhistory.enumerations import StatusType

    number = {n: len(v) > 1 and not any(isinstance(x, str) for x in v) for n, v in levels.items()}
    space = ConfigSpace.ConfigurationSpace(seed=seed)
    space.add([ConfigSpace.Integer(n, (0, len(v) - 1)) if number[n] else ConfigSpace.Categorical(n, list(range(len(v))))
               for n, v in levels.items()])
    worst = max(row["value"] for row in rows.values() if row["state"] == "done")
    places = {tuple(v.index(x) for v, x in zip(levels.values(), key)): row for key, row in rows.items()}

    def distance(a: tuple, b: tuple) -> float:
        return sum(abs(x - y) / (len(v) - 1) if number[n] else float(x != y) for (n, v), x, y in zip(levels.items(), a, b))

    with tempfile.TemporaryDirectory() as scratch:
        scenario = Scenario(space, deterministic=True, n_trials=10000, seed=seed, output_directory=scratch)
        design = HyperparameterOptimizationFacade.get_initial_design(
            Scenario(space, deterministic=True, n_trials=max(TRIALS), seed=seed, output_directory=scratch))
        search = HyperparameterOptimizationFacade(
            scenario, lambda config, seed: 0.0, initial_design=design, overwrite=True, logging_level=50)
        while True:
            asked = search.ask()
            at = tuple(int(asked.config[n]) for n in levels)
            row = places.get(at) or places[min(places, key=lambda p: distance(p, at))]
            ok = row["state"] == "done"
            search.tell(asked, TrialValue(cost=row["value"] if ok else worst, time=row["metrics"]["elapsed"],
                                          status=StatusType.SUCCESS if ok else StatusType.CRASHED), save=False)
            yield row


def botorch(rows: dict, levels: dict, seed: int):
    """Yields each run of BoTorch's process until all rows were run. A number is its place among the levels, a category as
    many features as it has levels; a run that failed has the greatest value that is known."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    chance = random.Random(seed)
    torch.manual_seed(seed)
    columns = []
    for i, values in enumerate(levels.values()):
        at = [values.index(key[i]) for key in rows]
        if any(isinstance(v, str) for v in values) and len(values) > 2:
            columns += [[float(a == v) for a in at] for v in range(len(values))]
        elif len(values) > 1:
            columns.append([a / (len(values) - 1) for a in at])
    features, listed = torch.tensor(columns).T.contiguous(), list(rows.values())
    open_rows = set(range(len(listed)))
    seen, values = [], []
    while open_rows:
        left = sorted(open_rows)
        known = [v for v in values if v is not None]
        if len(seen) < 10 or len(known) < 2:
            at = chance.choice(left)
        else:
            y = torch.tensor([max(known) if v is None else v for v in values]).log().unsqueeze(-1)
            model = SingleTaskGP(features[seen], y)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            gain = LogExpectedImprovement(model, best_f=y.min(), maximize=False)
            with torch.no_grad():
                at = left[int(torch.cat([gain(part) for part in features[left].unsqueeze(1).split(4096)]).argmax())]
        row = listed[at]
        open_rows.remove(at)
        seen.append(at)
        values.append(row["value"] if row["state"] == "done" else None)
        yield row


def search(by, rows: dict, levels: dict, seed: int, enough) -> list:
    """Returns (seconds so far, value or None) of each run until enough(runs, seconds)."""
    done, spent = [], 0.0
    for row in by(rows, levels, seed):
        spent += row["metrics"]["elapsed"]
        done.append((spent, row["value"] if row["state"] == "done" else None))
        if enough(len(done), spent):
            break
    return done


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--by", choices=["tpe", "smac", "botorch"], default="tpe")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print the error of each seed")
    args = parser.parse_args()
    by = {"tpe": tpe, "smac": smac, "botorch": botorch}[args.by]
    means: dict = {}
    for study in args.studies:
        listed = table(study)
        names = list(listed[0]["config"])
        levels = {n: sorted({r["config"][n] for r in listed}, key=lambda v: (isinstance(v, str), v)) for n in names}
        rows = {tuple(r["config"][n] for n in names): r for r in listed}
        good = [r["value"] for r in listed if r["state"] == "done"]
        optimum = min(good)
        median = statistics.median(r["metrics"]["elapsed"] for r in listed)
        errors: dict = {}
        for seed in range(args.first_seed, args.first_seed + args.seeds):
            done = search(by, rows, levels, seed, lambda runs, spent: runs >= max(TRIALS) and spent >= max(MEDIANS) * median)
            for n in TRIALS:
                seen = [v for _, v in done[:n] if v is not None]
                errors.setdefault(f"{n} trials", []).append(min(seen, default=max(good)) / optimum - 1)
            for n in MEDIANS:
                seen = [v for t, v in done if v is not None and t <= n * median]
                errors.setdefault(f"{n} x median", []).append(min(seen, default=max(good)) / optimum - 1)
            if args.json:
                print(json.dumps({"table": os.path.basename(study), "seed": seed, "by": args.by,
                                  "errors": {budget: e[-1] for budget, e in errors.items()}}), flush=True)
        for budget, e in errors.items():
            mean = statistics.mean(e)
            means.setdefault(budget, []).append(math.log1p(mean))
            print(f"{os.path.basename(study):36} {budget:12} {100 * mean:8.1f} %", flush=True)
    for budget, logs in means.items():
        print(f"{'geometric mean':36} {budget:12} {100 * math.expm1(statistics.mean(logs)):8.1f} %")


if __name__ == "__main__":
    main()
