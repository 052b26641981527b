"""Tests of the sampler for Optuna. They are skipped where there is no Optuna."""

import os
import tempfile
import unittest

try:
    import optuna
except ImportError:
    raise unittest.SkipTest("MISSING: optuna (pip install optuna)")

import assay
from assay.optuna import AssaySampler

optuna.logging.set_verbosity(optuna.logging.ERROR)


def objective(trial):
    x = trial.suggest_float("x", -10, 10)
    n = trial.suggest_int("n", 1, 64, log=True)
    c = trial.suggest_categorical("c", ["a", None, 2.5])
    if c == "a":
        trial.suggest_float("only", 0, 1)
    return (x - 3) ** 2 + n + (c != "a")


class Sampler(unittest.TestCase):
    def setUp(self):
        dir = tempfile.TemporaryDirectory()
        self.addCleanup(dir.cleanup)
        self.dir = dir.name
        self.at = {"store": os.path.join(self.dir, "s.db")}

    def loaded(self, name):
        return assay.load_study(name, storage=self.at["store"])

    def test_its_trials_are_told(self):
        storage = f"sqlite:///{self.dir}/optuna.db"
        sampler = AssaySampler(seed=1, search="random", **self.at)
        s = optuna.create_study(study_name="k", storage=storage, sampler=sampler)
        s.enqueue_trial({"x": 5.0})
        s.optimize(objective, n_trials=6)
        # Another process goes on with both.
        s = optuna.load_study(study_name="k", storage=storage, sampler=AssaySampler(**self.at))
        s.optimize(objective, n_trials=4)
        mine = self.loaded("optuna-k")
        self.assertEqual(len(s.trials), 10)
        self.assertEqual([t.state for t in mine.trials], ["done"] * 10)
        for theirs, ours in zip(s.trials, mine.trials):
            self.assertEqual(theirs.value, ours.value)
            for name in ("x", "n", "c"):
                self.assertEqual(theirs.params[name], {"none": None}.get(ours.params[name], ours.params[name]))
        self.assertEqual(s.best_value, mine.best_value)

    def test_a_space_that_is_said(self):
        space = {"x": (-10.0, 10.0), "n": assay.Int(1, 64, log=True), "c": ["a", None, 2.5],
                 "only": assay.Float(0, 1, when="c == 'a'")}
        s = optuna.create_study(study_name="said", direction="maximize",
                                sampler=AssaySampler(space, name="mine", search="random", seed=1, **self.at))
        s.optimize(objective, n_trials=6)
        for theirs, ours in zip(s.trials, self.loaded("mine").trials):
            self.assertEqual({k: "none" if v is None else v for k, v in theirs.params.items()}, ours.params)
        self.assertEqual(self.loaded("mine").direction, "maximize")

    def test_states(self):
        def f(trial):
            x = trial.suggest_float("x", 0, 1)
            if trial.number == 2:
                raise optuna.TrialPruned
            if trial.number == 3:
                raise OSError("cold")
            return float("nan") if trial.number == 4 else x

        s = optuna.create_study(study_name="states", sampler=AssaySampler(search="random", seed=1, **self.at))
        s.enqueue_trial({"x": 0.5}, skip_if_exists=True)
        s.optimize(f, n_trials=2)
        s.enqueue_trial({"x": 0.25})
        s.optimize(f, n_trials=4, catch=OSError)
        self.assertEqual([t.state for t in self.loaded("optuna-states").trials],
                         ["done", "done", "withdrawn", "failed", "failed", "done"])

    def test_pruned(self):
        def f(trial):
            x = trial.suggest_float("x", 0, 1)
            if trial.number == 2:
                raise optuna.TrialPruned
            return x

        s = optuna.create_study(study_name="p", sampler=AssaySampler(search="random", seed=1, **self.at))
        s.optimize(f, n_trials=3)
        last = self.loaded("optuna-p").trials[2]
        self.assertEqual((last.state, last.value), ("censored", min(t.value for t in s.trials[:2])))

    def test_two_objectives(self):
        s = optuna.create_study(directions=["minimize", "minimize"], sampler=AssaySampler(**self.at))
        with self.assertRaisesRegex(assay.UsageError, "one objective"):
            s.optimize(lambda t: (1, 2), n_trials=1)


if __name__ == "__main__":
    unittest.main()
