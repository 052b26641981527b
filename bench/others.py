"""Runs other optimizers on recorded tables, for the same runs or the same time as a method of `assay bench`.

    python3 bench/others.py bench/studies/spl-dune.yaml ... [--by tpe|smac|botorch] [--seeds 10] [--first-seed 1] [--json]
    assay bench answer STUDY.yaml ... --peer tpe='python3 bench/others.py --serve tpe' [--peer smac=...]

tpe is Optuna's. A configuration that is not in the table costs it nothing, and one that is proposed again is run again.
smac is SMAC3's facade for hyperparameters. For a configuration that is not in the table it runs the nearest that is; one that fails has the value of the worst row.
botorch is a process with BoTorch's defaults on the logarithm of the value: after ten rows by chance, it takes the row
with the greatest expected improvement of all that were not run, so it knows, as assay does, which rows there are.

As a peer of `assay bench answer`, where runs differ, each is given the nearest row that has not run for a configuration
that is not in the table. gp is Optuna's process. smac repeats runs as its intensifier does by default, and recommends its
incumbent; its initial design is a quarter of the budget. botorch proposes by the noisy expected improvement, and
recommends the row of the best expected value among those that ran. tpe and gp recommend the best run.

Needs assay on the PATH, and optuna, smac or botorch of PyPI. A run that failed costs its time. One that the time does not suffice
for does not count. The error is the best run's, relative to the best of the table, as a mean over seeds; --json
prints it of each seed."""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import warnings

TRIALS, MEDIANS = (20, 50, 100), (20, 50)


def table(study: str) -> list:
    with tempfile.TemporaryDirectory() as scratch:
        store = ["--store", os.path.join(scratch, "table.db")]
        subprocess.run(["assay", "study", "import", study, "--study", "t", *store], check=True, capture_output=True)
        out = subprocess.run(["assay", "study", "trials", "t", "--json", *store], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def nearest(rows: dict, levels: dict, at: tuple, but: set) -> tuple:
    """Returns the key of the row of least distance that is not among some: 1 for another category and for a number the
    difference of places as a share of all; of equals the first."""
    if at in rows:
        return at
    number = {n: ordered(v) for n, v in levels.items()}
    place = {n: {x: i for i, x in enumerate(v)} for n, v in levels.items()}

    def distance(key: tuple) -> float:
        return sum(abs(place[n][x] - place[n][y]) / (len(v) - 1) if number[n] else float(x != y)
                   for (n, v), x, y in zip(levels.items(), key, at))

    return min((key for key in rows if key not in but), key=distance, default=None) or min(rows, key=distance)


def ordered(values: list) -> bool:
    return len(values) > 1 and not any(isinstance(x, str) for x in values)


def tpe(rows: dict, levels: dict, seed: int, budget: int = 0, by: str = "tpe"):
    """Yields each row that Optuna runs and is sent its run, without end. With a budget numbers are the places among their
    levels, and the nearest row is run for a configuration that is not in the table."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore")
    sampler = optuna.samplers.TPESampler(seed=seed) if by == "tpe" else optuna.samplers.GPSampler(seed=seed)
    study = optuna.create_study(sampler=sampler)
    ran: set = set()
    while True:
        trial = study.ask()
        if budget:
            asked = tuple(v[trial.suggest_int(n, 0, len(v) - 1)] if ordered(v) else trial.suggest_categorical(n, v)
                          for n, v in levels.items())
            key = nearest(rows, levels, asked, ran)
            ran.add(key)
        else:
            key = tuple(trial.suggest_categorical(name, values) for name, values in levels.items())
        row = rows.get(key)
        if row is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        run = yield row, None
        ok = run["state"] == "done"
        study.tell(trial, run["value"] if ok else None, state=None if ok else optuna.trial.TrialState.FAIL)


def gp(rows: dict, levels: dict, seed: int, budget: int):
    """Yields each row that Optuna's process runs."""
    return tpe(rows, levels, seed, budget, "gp")


def smac(rows: dict, levels: dict, seed: int, budget: int = 0):
    """Yields each row that SMAC3 runs with its incumbent, and is sent its run, until its space is exhausted. Numbers
    are the places among their levels."""
    import ConfigSpace
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.main.exceptions import ConfigurationSpaceExhaustedException
    from smac.runhistory.dataclasses import TrialValue
    from smac.runhistory.enumerations import StatusType

    space = ConfigSpace.ConfigurationSpace(seed=seed)
    space.add([ConfigSpace.Integer(n, (0, len(v) - 1)) if ordered(v) else ConfigSpace.Categorical(n, list(range(len(v))))
               for n, v in levels.items()])
    worst = max((row["value"] for row in rows.values() if row.get("state") == "done"), default=None)
    key_of: dict = {}

    def row_of(config) -> dict:
        at = tuple(v[int(config[n])] for n, v in levels.items())
        if at not in key_of:
            key_of[at] = nearest(rows, levels, at, set(key_of.values()) if budget else set())
        return rows[key_of[at]]

    with tempfile.TemporaryDirectory() as scratch:
        scenario = Scenario(space, deterministic=not budget, n_trials=10000, seed=seed, output_directory=scratch)
        design = HyperparameterOptimizationFacade.get_initial_design(
            Scenario(space, deterministic=not budget, n_trials=budget or max(TRIALS), seed=seed, output_directory=scratch))
        search = HyperparameterOptimizationFacade(
            scenario, lambda config, seed: 0.0, initial_design=design, overwrite=True, logging_level=50)
        while True:
            try:
                asked = search.ask()
            except ConfigurationSpaceExhaustedException:
                return
            leaders = search.intensifier.get_incumbents()
            run = yield row_of(asked.config), row_of(leaders[0]) if leaders else None
            ok = run["state"] == "done"
            if ok and budget:
                worst = run["value"] if worst is None else max(worst, run["value"])
            search.tell(asked, TrialValue(cost=run["value"] if ok else 1e9 if worst is None else worst,
                                          time=run["metrics"]["elapsed"],
                                          status=StatusType.SUCCESS if ok else StatusType.CRASHED), save=False)


def botorch(rows: dict, levels: dict, seed: int, budget: int = 0):
    """Yields each row that BoTorch's process runs and is sent its run, until all rows were run. A number is its place among
    the levels, a category as many features as it has levels; a run that failed has the greatest value that is known. With
    a budget the improvement is the noisy one, after a quarter of the budget by chance, at most ten; and the row of the
    best expected value is recommended."""
    import torch
    from botorch.acquisition import LogExpectedImprovement, qLogNoisyExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.sampling import SobolQMCNormalSampler
    from gpytorch.mlls import ExactMarginalLogLikelihood

    warnings.filterwarnings("ignore")
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
    first = min(10, max(3, budget // 4)) if budget else 10
    while open_rows:
        left, leader = sorted(open_rows), None
        known = [v for v in values if v is not None]
        if len(seen) < first or len(known) < 2:
            at = chance.choice(left)
        else:
            y = torch.tensor([max(known) if v is None else v for v in values]).unsqueeze(-1)
            y = y.log() if min(known) > 0 else (y - y.mean()) / y.std()
            model = SingleTaskGP(features[seen], y)
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            if budget:
                good = [i for i, v in enumerate(values) if v is not None]
                with torch.no_grad():
                    means = model.posterior(features[[seen[i] for i in good]]).mean.squeeze(-1)
                leader = listed[seen[good[int(means.argmin())]]]
                gain = qLogNoisyExpectedImprovement(
                    model, X_baseline=features[seen], sampler=SobolQMCNormalSampler(torch.Size([64]), seed=seed),
                    objective=lower(), prune_baseline=True)
            else:
                gain = LogExpectedImprovement(model, best_f=y.min(), maximize=False)
            with torch.no_grad():
                at = left[int(torch.cat([gain(part) for part in features[left].unsqueeze(1).split(1024)]).argmax())]
        row = listed[at]
        run = yield row, leader
        open_rows.remove(at)
        seen.append(at)
        values.append(run["value"] if run["state"] == "done" else None)


def lower():
    """Returns the objective of BoTorch that prefers low values."""
    from botorch.acquisition.objective import GenericMCObjective

    return GenericMCObjective(lambda samples, X=None: -samples[..., 0])


def serve(by) -> None:
    """Searches as `assay bench answer --peer` asks for it, line by line on the standard input and output."""
    out, choices, row = os.fdopen(os.dup(1), "w"), None, None
    os.dup2(2, 1)  # a library may print
    for line in sys.stdin:
        said = json.loads(line)
        try:
            if "rows" in said:
                counts = [max(places) + 1 for places in zip(*said["rows"])]
                levels = {f"p{i}": list(range(n)) if is_ordered else [str(x) for x in range(n)]
                          for i, (n, is_ordered) in enumerate(zip(counts, said["ordered"]))}
                rows = {tuple(v[x] for v, x in zip(levels.values(), places)): {"at": at}
                        for at, places in enumerate(said["rows"])}
                least, best = math.inf, None
                choices = by(rows, levels, said["seed"], max(1, said["runs"]))
                row, leader = next(choices)
            else:
                if said["ok"] and said["value"] < least:
                    least, best = said["value"], row["at"]
                row, leader = choices.send({"state": "done" if said["ok"] else "failed", "value": said["value"],
                                            "metrics": {"elapsed": said["seconds"]}})
        except StopIteration:
            row, leader = None, None
        print(json.dumps({"run": row and row["at"], "best": leader["at"] if leader else best}), file=out, flush=True)


def next_of(runs, row: dict) -> tuple:
    """Sends a run to a search and returns its next choice, (None, None) at its end."""
    try:
        return runs.send(row)
    except StopIteration:
        return None, None


def search(by, rows: dict, levels: dict, seed: int, enough) -> list:
    """Returns (seconds so far, value or None) of each run until enough(runs, seconds)."""
    done, spent = [], 0.0
    runs = by(rows, levels, seed)
    row, _ = next(runs)
    while row is not None:
        spent += row["metrics"]["elapsed"]
        done.append((spent, row["value"] if row["state"] == "done" else None))
        if enough(len(done), spent):
            break
        row, _ = next_of(runs, row)
    return done


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="*")
    parser.add_argument("--serve", choices=["tpe", "gp", "smac", "botorch"], help="as a peer of assay bench answer")
    parser.add_argument("--by", choices=["tpe", "smac", "botorch"], default="tpe")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print the error of each seed")
    args = parser.parse_args()
    if args.serve:
        return serve({"tpe": tpe, "gp": gp, "smac": smac, "botorch": botorch}[args.serve])
    if not args.studies:
        parser.error("a study is needed")
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
