"""What Optuna's TPE finds on recorded tables, for the same runs or the same time as a method of `assay bench`.

    python3 bench/others.py bench/studies/spl-dune.yaml ... [--seeds 10]

Needs assay on the PATH, and optuna of PyPI. A configuration that is not in the table costs nothing; one that failed costs
its time; one that is proposed again is run again. A run that the time does not suffice for does not count. The error is
that of the best run, relative to the best of the table, as a mean over seeds."""

import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile

import optuna

optuna.logging.set_verbosity(optuna.logging.ERROR)
TRIALS, MEDIANS = (50, 100), (20, 50)


def table(study: str) -> list:
    with tempfile.TemporaryDirectory() as scratch:
        store = ["--store", os.path.join(scratch, "table.db")]
        subprocess.run(["assay", "study", "import", study, "--study", "t", *store], check=True, capture_output=True)
        out = subprocess.run(["assay", "study", "trials", "t", "--json", *store], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def search(rows: dict, levels: dict, seed: int, enough):
    """Yields (seconds so far, value or None) of each run until enough(runs, seconds)."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    spent, runs = 0.0, 0
    while not enough(runs, spent):
        trial = study.ask()
        key = tuple(trial.suggest_categorical(name, values) for name, values in levels.items())
        row = rows.get(key)
        if row is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        spent += row["metrics"]["elapsed"]
        runs += 1
        ok = row["state"] == "done"
        study.tell(trial, row["value"] if ok else None, state=None if ok else optuna.trial.TrialState.FAIL)
        yield spent, row["value"] if ok else None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="+")
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
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
        for seed in range(1, args.seeds + 1):
            done = list(search(rows, levels, seed, lambda runs, spent: runs >= max(TRIALS) and spent >= max(MEDIANS) * median))
            for n in TRIALS:
                seen = [v for _, v in done[:n] if v is not None]
                errors.setdefault(f"{n} trials", []).append(min(seen, default=max(good)) / optimum - 1)
            for n in MEDIANS:
                seen = [v for t, v in done if v is not None and t <= n * median]
                errors.setdefault(f"{n} x median", []).append(min(seen, default=max(good)) / optimum - 1)
        for budget, e in errors.items():
            mean = statistics.mean(e)
            means.setdefault(budget, []).append(math.log1p(mean))
            print(f"{os.path.basename(study):36} {budget:12} {100 * mean:8.1f} %", flush=True)
    for budget, logs in means.items():
        print(f"{'geometric mean':36} {budget:12} {100 * math.expm1(statistics.mean(logs)):8.1f} %")


if __name__ == "__main__":
    main()
