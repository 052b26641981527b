# Makes optuna-journal.log, with Optuna 5: python3 make_optuna.py optuna-journal.log. The name of the writer was replaced by w.
# A file whose name ends in .db is a database with the same studies.
import sys

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend


def forest(t):
    kind = t.suggest_categorical("kind", ["tree", "flat"])
    n = t.suggest_int("threads", 1, 8)
    r = t.suggest_float("rate", 0.001, 1.0, log=True)
    d = t.suggest_int("depth", 2, 10, step=2) if kind == "tree" else 0
    for i in range(3):
        t.report(10.0 / (i + 1) + n, i)
        if n == 3 and i == 1:
            raise optuna.TrialPruned()
    if n == 5:
        raise ValueError("no memory")
    return n + r + d * 0.1


def two(t):
    a = t.suggest_categorical("simd", [True, False])
    b = t.suggest_int("level", 1, 9)
    return b * 1.5, 10.0 - b + a


file = sys.argv[1]
storage = "sqlite:///" + file if file.endswith(".db") else JournalStorage(JournalFileBackend(file))
random = optuna.samplers.RandomSampler(seed=1)
study = optuna.create_study(study_name="forest", storage=storage, sampler=random)
study.optimize(forest, n_trials=24, catch=(ValueError,))
random = optuna.samplers.RandomSampler(seed=1)
study = optuna.create_study(study_name="two", storage=storage, directions=["minimize", "maximize"], sampler=random)
study.set_metric_names(["time", "quality"])
study.optimize(two, n_trials=10)
