"""Tests of the package assay.

They go over the command, and over a server where ASSAY_TEST_UNIX or ASSAY_TEST_HTTPS names one.
"""

import math
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from typing import Any, Dict

import assay
from assay._space import space_of

FAST: Dict[str, Any] = {"search": "random", "seed": 1}
SPACE = {"x": (-10.0, 10.0), "n": assay.Int(1, 64, log=True, default=8), "c": ["a", "b"]}


def loss(params):
    return (params["x"] - 3) ** 2 + params["n"] + (params["c"] == "b")


class Space(unittest.TestCase):
    def test_short_forms(self):
        space = space_of({"a": (1, 9), "b": (0, 0.5), "c": range(2, 11, 4), "d": ["u", 1, 2.5, None, True]})
        self.assertEqual(
            [p.definition() for p in space.values()],
            [
                {"type": "int", "min": 1, "max": 9},
                {"type": "real", "min": 0.0, "max": 0.5},
                {"type": "int", "min": 2, "max": 10, "step": 4},
                {"type": "categorical", "values": ["u", "1", "2.5", "none", "true"]},
            ],
        )
        told = [space["d"].value(v) for v in ("u", 1, 2.5, "none", True)]
        self.assertEqual(told, ["u", 1, 2.5, None, True])
        self.assertIs(type(space["d"].value(1.0)), int)

    def test_what_is_none(self):
        for bad in ((1,), (1, "b"), (True, 2), 7, range(0), [1, "1"], [object()], (0.0, math.inf)):
            with self.assertRaisesRegex((TypeError, ValueError), "^parameter p: "):
                space_of({"p": bad})


class Desk:
    """The tests that a study passes wherever it is."""

    n = 0

    def where(self) -> Dict[str, Any]:
        raise NotImplementedError

    def study(self, space=SPACE, **options):
        Desk.n += 1
        name = options.pop("name", f"{type(self).__name__}-{os.getpid()}-{Desk.n}")
        return assay.Study(space, name=name, **{**FAST, **self.where(), **options})

    def test_a_loop(self):
        s = self.study(minimize="loss", trials=4)
        seen = []
        for trial in s:
            seen.append(trial.params)
            s.tell(trial, loss(trial.params))
        self.assertEqual(seen[0], {"x": 0.0, "n": 8, "c": "a"})  # the default
        self.assertEqual(len(seen), 4)
        best = min(seen, key=loss)
        self.assertEqual(s.best_params, best)
        self.assertAlmostEqual(s.best_value, loss(best))
        self.assertEqual([t.params for t in s.trials], seen)
        with self.assertRaises(assay.Over):
            s.ask()
        self.assertEqual(s.ask(3), [])
        again = assay.load_study(s.name, **self.loading())
        self.assertEqual([t.params for t in again.trials], seen)
        self.assertEqual((again.metric, again.direction), ("loss", "minimize"))
        page = s._repr_html_()
        self.assertTrue(page.startswith("<iframe srcdoc=") and "&lt;!doctype html" in page.lower(), page[:200])

    def loading(self):
        where = dict(self.where())
        if "store" in where:
            where["storage"] = where.pop("store")
        return where

    def test_a_batch_and_its_states(self):
        s = self.study(maximize="acc", limits=["size <= 5"], trials=6, space={"x": (1, 99)})
        a, b, c, d, e, f = s.ask(6)
        with self.assertRaises(assay.Waiting):
            s.ask()
        s.tell(a, 0.5, metrics={"size": 5})
        s.tell(b, 0.9, metrics={"size": 6})
        s.tell(c, float("nan"))
        s.tell(d, state="failed", reason="no memory")
        s.tell(e, 0.25, state="censored")
        s.tell(f.id, 0.25, metrics={"size": 1})
        s.tell(f.id, 0.25, metrics={"size": 1})  # again: no error
        self.assertEqual([t.state for t in s.trials], ["done", "infeasible", "failed", "failed", "censored", "done"])
        self.assertEqual(s.trials[3].reason, "no memory")
        self.assertEqual((s.best_trial.id, s.best_trial.number), (a.id, a.id - 1))

    def test_mistakes(self):
        s = self.study(limits=["size <= 5"])
        t = s.ask()
        for bad in (lambda: s.tell(t, 1.0), lambda: s.tell(99, 1.0, metrics={"size": 1}),
                    lambda: s.tell(t, 1, state="good"),
                    lambda: s.tell_all([{"id": t.id, "value": 1, "metrics": {"size": 1}}, {"id": 77, "value": 1}])):
            with self.assertRaises(assay.UsageError):
                bad()
        self.assertEqual([u.id for u in s.in_flight()], [t.id])  # no result was recorded
        with self.assertRaises(assay.UsageError):
            self.study(space={"y": (1, 2)}, name=s.name)
        with self.assertRaises(assay.NotFound):
            assay.load_study("nothing", **self.loading())
        with self.assertRaises(assay.NotFound):
            s.best_trial
        with self.assertRaises(assay.UsageError):
            self.study(space={"x": (2, 1)})
        with self.assertRaisesRegex(KeyError, "no parameter z"):
            t["z"]

    def test_what_is_never_told(self):
        s = self.study()
        t = s.ask()
        other = assay.load_study(s.name, **self.loading())
        again = other.ask(again=0)
        self.assertEqual((again.id, again.attempt, again.params), (t.id, 2, t.params))
        self.assertEqual([u.id for u in other.withdraw()], [t.id])
        self.assertEqual(s.in_flight(), [])

    def test_conditions_and_orders(self):
        s = self.study(space={
            "solver": ["svm", "forest"], "trees": assay.Int(10, 500, when="solver == 'forest'"),
            "order": assay.Permutation(["x", "y", "z"]), "fast": assay.Bool(default=True),
        }, trials=8)
        kinds = set()
        for t in s.ask(8):
            kinds.add(t["solver"])
            self.assertEqual(sorted(t["order"]), ["x", "y", "z"])
            self.assertIs(type(t["fast"]), bool)
            self.assertEqual("trees" in t.params, t["solver"] == "forest")
            if t["solver"] == "svm":
                with self.assertRaisesRegex(KeyError, "not in force"):
                    t["trees"]
        self.assertEqual(kinds, {"svm", "forest"})


class OfACommand(Desk, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def where(self):
        return {"store": os.path.join(self.dir.name, "s.db")}

    def create(self, **options):
        Desk.n += 1
        options.setdefault("study_name", f"o-{Desk.n}")
        return assay.create_study(storage=self.where()["store"], **{**FAST, **options})

    def test_optimize_finds_the_parameters(self):
        def f(trial):
            x = trial.suggest_float("x", -10, 10)
            n = trial.suggest_int("n", 1, 64, log=True)
            return (x - 3) ** 2 + n + (trial.suggest_categorical("c", ["a", None]) is None)

        s = self.create()
        with self.assertRaises(assay.UsageError):
            s.ask()
        s.optimize(f, n_trials=5)
        self.assertEqual(len(s.trials), 5)
        self.assertEqual(s.trials[0].params, {"x": 0.0, "n": 8, "c": "a"})
        self.assertEqual(s.trials[0].value, 17)
        with self.assertRaises(assay.UsageError):
            self.create(study_name=s.name)  # it is there
        again = self.create(study_name=s.name, load_if_exists=True)
        again.optimize(f, n_trials=2)
        self.assertEqual([t.state for t in again.trials], ["done"] * 7)

    def test_optimize_says_what_it_cannot(self):
        def f(trial):
            if trial.suggest_categorical("c", ["a", "b"]) == "b":
                trial.suggest_float("only", 0, 1)
            return 1.0

        s = self.create()
        with self.assertRaisesRegex(KeyError, "no parameter only"):
            s.optimize(f, n_trials=20)
        self.assertEqual(s.trials[-1].state, "failed")
        with self.assertRaisesRegex(assay.UsageError, "max is 9 in study .*, and 8 here"):
            self.create(space={"n": (1, 9)}).optimize(lambda t: t.suggest_int("n", 1, 8), n_trials=1)

    def test_optimize_prunes_fails_and_is_interrupted(self):
        def f(trial):
            x = trial.suggest_int("x", 0, 1000)
            for step in range(3):
                trial.report(x, step)
                if trial.should_prune():
                    raise assay.TrialPruned
            if trial.id == 3:
                raise OSError("cold")
            if trial.id == 30:
                raise KeyboardInterrupt
            return x

        s = self.create(space={"x": (0, 1000)}, pruner=assay.MedianPruner(n_startup_trials=3))
        seen = []
        with self.assertRaises(KeyboardInterrupt):
            s.optimize(f, catch=OSError, callbacks=[lambda _, t: seen.append(t.id)])
        states = [t.state for t in s.trials]
        self.assertEqual(states[2], "failed")
        self.assertIn("OSError: cold", s.trials[2].reason)
        # Which trials are given up follows from the values; that some are, and the best is not, does not.
        self.assertIn("censored", states)
        self.assertEqual(seen, list(range(1, len(seen) + 1)))
        finished = [t.value for t in s.trials if t.state == "done"]
        for t in s.trials:
            if t.state == "censored":
                self.assertLessEqual(min(finished), t.value)
                self.assertRegex(t.reason, "^pruned at step 0: ")
        self.assertEqual(states[29:], ["withdrawn"])

    def test_a_data_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("MISSING: pandas")
        s = self.study(trials=2)
        for t in s:
            s.tell(t, 1.5, metrics={"size": t.id})
        d = s.trials_dataframe()
        self.assertEqual(list(d["params_x"]), [t.params["x"] for t in s.trials])
        self.assertEqual((list(d["number"]), list(d["metrics_size"])), ([0, 1], [1, 2]))
        self.assertTrue((d["datetime_complete"] >= d["datetime_start"]).all())

    def test_a_script_that_is_killed(self):
        script = (
            "import sys, os, signal, assay\n"
            "s = assay.Study({'x': (0.0, 1.0)}, name='killed', store=sys.argv[1], search='random', trials=3)\n"
            "s.tell(s.ask(), 1.0)\n"
            "s.ask()\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        p = subprocess.run([sys.executable, "-c", script, self.where()["store"]])
        self.assertEqual(p.returncode, -signal.SIGKILL)
        s = assay.load_study("killed", storage=self.where()["store"])
        self.assertEqual([t.state for t in s.trials], ["done", "running"])
        self.assertEqual(s.ask(again=0).id, 2)

    def test_no_command(self):
        with self.assertRaisesRegex(FileNotFoundError, "nowhere"):
            assay.Study({"x": (0, 1)}, program="/nowhere/assay")


class OfAServer(Desk, unittest.TestCase):
    def where(self):
        at = os.environ.get("ASSAY_TEST_UNIX")
        if not at:
            self.skipTest("ASSAY_TEST_UNIX names no server")
        return {"server": at}


class OfAServerByTLS(Desk, unittest.TestCase):
    def where(self):
        at = os.environ.get("ASSAY_TEST_HTTPS")
        if not at:
            self.skipTest("ASSAY_TEST_HTTPS names no server")
        where = {"server": at, "token_file": os.environ["ASSAY_TEST_TOKEN"]}
        if sys.version_info < (3, 10):
            where["ca_file"] = os.environ["ASSAY_TEST_CA"]
        return where

    def test_another_authority(self):
        where = self.where()
        if "ca_file" in where:
            self.skipTest("the authority is in a file here")
        with open(where["token_file"], encoding="ascii") as f:
            text = f.read().strip()
        with tempfile.TemporaryDirectory() as d:
            where["token_file"] = os.path.join(d, "other.token")
            with open(os.open(where["token_file"], os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as f:
                f.write(text[:-4] + "0000")
            with self.assertRaisesRegex(assay.UsageError, "the authorities differ"):
                assay.load_study("x", **where)
            os.chmod(where["token_file"], 0o644)
            with self.assertRaisesRegex(assay.UsageError, "others can read"):
                assay.load_study("x", **where)


if __name__ == "__main__":
    unittest.main()
