"""An external study, with names that users of Optuna know."""

from __future__ import annotations

import datetime
import html
import math
import secrets
import statistics
import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union, overload

from ._desk import AssayError, Command, NotFound, Server, UsageError
from ._space import Categorical, Float, Int, Parameter, Short, _defined, space_of


class TrialPruned(Exception):
    """An objective raises it to end a trial early."""


class Over(AssayError):
    """The study is over and has no more trials."""


class Waiting(AssayError):
    """No trial can start before a trial in flight has a result."""


class MedianPruner:
    """The median rule ends a trial whose best report so far is worse than the median at that step.

    It compares with the reports of trials that ended in this process. Reports are not recorded.
    """

    def __init__(self, n_startup_trials: int = 5, n_warmup_steps: int = 0) -> None:
        self.n_startup_trials, self.n_warmup_steps = n_startup_trials, n_warmup_steps

    def prune(self, mine: Mapping[int, float], others: Sequence[Mapping[int, float]], sign: float) -> bool:
        if not mine or len(others) < self.n_startup_trials:
            return False
        step = max(mine)
        if step < self.n_warmup_steps:
            return False
        there = [sign * o[step] for o in others if step in o]
        return len(there) >= self.n_startup_trials and min(sign * v for v in mine.values()) > statistics.median(there)


@dataclass(frozen=True)
class FrozenTrial:
    """A trial as it is on record."""

    id: int
    params: Dict[str, Any]
    state: str
    value: Optional[float]
    metrics: Dict[str, float]
    reason: str
    started: Optional[str]
    ended: Optional[str]

    @property
    def number(self) -> int:
        return self.id - 1


class Trial:
    """A trial to run. trial["x"] and trial.params are its values."""

    def __init__(self, study: "Study", id: int, params: Dict[str, Any], attempt: int = 1) -> None:
        self.study, self.id, self.params, self.attempt = study, id, params, attempt
        self.metrics: Dict[str, float] = {}
        self.reports: Dict[int, float] = {}

    @property
    def number(self) -> int:
        """The number as Optuna counts: from 0."""
        return self.id - 1

    def __getitem__(self, name: str) -> Any:
        if name in self.params:
            return self.params[name]
        if name in self.study.space:
            raise KeyError(f"{name} is not in force in trial {self.id}: its condition does not hold")
        raise KeyError(f"study {self.study.name} has no parameter {name}: there are {', '.join(self.study.space)}")

    def __repr__(self) -> str:
        return f"Trial({self.id}, {self.params!r})"

    def suggest_float(
        self, name: str, low: float, high: float, *, step: Optional[float] = None, log: bool = False
    ) -> float:
        value: float = self._suggest(name, Float(float(low), float(high), step=step, log=log))
        return value

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        value: int = self._suggest(name, Int(low, high, step=step if step > 1 else None, log=log))
        return value

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        return self._suggest(name, Categorical(list(choices)))

    def _suggest(self, name: str, asked: Parameter) -> Any:
        value = self[name]
        have, want = self.study.space[name].definition(), asked.definition()
        for key in ("type", "min", "max", "step", "log", "values"):
            if have.get(key) != want.get(key):
                raise UsageError(f"parameter {name}: {key} is {have.get(key)!r} in study {self.study.name}, and "
                                 f"{want.get(key)!r} here")
        return asked.value(self.study.space[name].text(value))

    def report(self, value: float, step: int) -> None:
        """Report the value of the objective so far."""
        self.reports[step] = float(value)

    def should_prune(self) -> bool:
        return self.study._hopeless(self)


class _Finding(Trial):
    """The first trial of an objective without a space: the parameters that it suggests become the space."""

    def __init__(self) -> None:
        self.id, self.attempt, self.params = 1, 1, {}
        self.metrics, self.reports = {}, {}
        self.found: Dict[str, Parameter] = {}

    def __getitem__(self, name: str) -> Any:
        return self.params[name]

    def _suggest(self, name: str, asked: Parameter) -> Any:
        if name not in self.found:
            self.params[name] = asked.default = _middle(asked)
            self.found[name] = asked
        return self.params[name]

    def should_prune(self) -> bool:
        return False


def _middle(p: Parameter) -> Any:
    """Return a value in the middle of a domain."""
    if isinstance(p, Categorical):
        return p.values[0]
    assert isinstance(p, (Float, Int))
    x = math.sqrt(p.low * p.high) if p.log else (p.low + p.high) / 2
    if p.step is not None:
        x = p.low + math.floor((x - p.low) / p.step) * p.step
    return min(max(math.floor(x), p.low), p.high) if isinstance(p, Int) else float(x)


@dataclass
class _Options:
    where: Sequence[str] = ()
    limits: Sequence[str] = ()
    metrics: Sequence[str] = ()
    trials: Optional[int] = None
    target: Optional[float] = None
    seed: Optional[int] = None
    search: Optional[str] = None


Objective = Callable[[Trial], float]


class Study:
    """A study whose runs you make.

    space has the parameters by their names: (low, high), a range, a list of values, or assay.Float, Int,
    Categorical, Bool, Permutation with `when` and `default`. `minimize` or `maximize` names the objective.
    `limits` such as "energy <= 80" need their metrics. A study of the same name is resumed;
    its definition has to be the same. It is kept in the default store of the command assay,
    in `store`, or on a `server`.
    """

    def __init__(
        self,
        space: Mapping[str, Short],
        *,
        name: Optional[str] = None,
        minimize: Optional[str] = None,
        maximize: Optional[str] = None,
        where: Sequence[str] = (),
        limits: Sequence[str] = (),
        metrics: Sequence[str] = (),
        trials: Optional[int] = None,
        target: Optional[float] = None,
        seed: Optional[int] = None,
        search: Optional[str] = None,
        store: Optional[str] = None,
        server: Optional[str] = None,
        token_file: Optional[str] = None,
        ca_file: Optional[str] = None,
        program: Optional[str] = None,
        pruner: Optional[MedianPruner] = None,
    ) -> None:
        if minimize is not None and maximize is not None:
            raise UsageError("a study has one objective: minimize, or maximize")
        self._begin(name, maximize or minimize or "value", maximize is not None, pruner,
                    _desk(store, server, token_file, ca_file, program))
        self._options = _Options(where, limits, metrics, trials, target, seed, search)
        self._make(space_of(space))

    def _begin(self, name: Optional[str], metric: str, maximize: bool, pruner: Optional[MedianPruner],
               desk: Union[Command, Server]) -> None:
        self.name = name or time.strftime("study-%Y%m%d-%H%M%S-") + secrets.token_hex(3)
        self.metric, self.maximize, self._desk = metric, maximize, desk
        self.pruner = pruner or MedianPruner()
        self.space: Dict[str, Parameter] = {}
        self._curves: List[Dict[int, float]] = []
        self._told: Dict[str, Any] = {}

    def _make(self, space: Dict[str, Parameter]) -> None:
        o = self._options
        d: Dict[str, Any] = {
            "parameters": {name: p.definition() for name, p in space.items()},
            "objective": {"maximize" if self.maximize else "minimize": self.metric},
        }
        budget = {k: v for k, v in (("trials", o.trials), ("target", o.target)) if v is not None}
        search = {k: v for k, v in (("name", o.search), ("seed", o.seed)) if v is not None}
        for key, value in (("where", list(o.where)), ("subject_to", list(o.limits)), ("metrics", list(o.metrics)),
                           ("budget", budget), ("search", search)):
            if value:
                d[key] = value
        self._desk.open(self.name, d)
        self.space = space

    # Requests for trials.

    @overload
    def ask(self, n: None = None, *, again: Optional[float] = None) -> Trial: ...

    @overload
    def ask(self, n: int, *, again: Optional[float] = None) -> List[Trial]: ...

    def ask(self, n: Optional[int] = None, *, again: Optional[float] = None) -> Union[Trial, List[Trial]]:
        """Return a trial, or a list of at most n trials.

        With again, trials that were asked that many seconds ago and have no result come first. Without n an
        error gives the reason for the lack of a trial: Over or Waiting. With n the list is shorter; it is
        empty if the study is over.
        """
        rows, over = self._ask(1 if n is None else n, again)
        trials = [self._trial(r) for r in rows]
        if n is not None:
            if not trials and not over:
                raise Waiting(f"study {self.name}: the results of trials in flight are needed first")
            return trials
        if trials:
            return trials[0]
        if over:
            raise Over(f"study {self.name} is over")
        raise Waiting(f"study {self.name}: the results of trials in flight are needed first")

    def _ask(self, n: int, again: Optional[float]) -> Tuple[List[Dict[str, Any]], bool]:
        if not self.space:
            raise UsageError("the parameters are not known yet: give create_study a space, or call optimize first")
        if n < 1:
            raise UsageError(f"{n} trials: at least 1")
        return self._desk.ask(self.name, n, again)

    def _params(self, config: Mapping[str, Any]) -> Dict[str, Any]:
        return {k: p.value(config[k]) for k, p in self.space.items() if k in config}

    def _trial(self, row: Mapping[str, Any]) -> Trial:
        return Trial(self, row["id"], self._params(row["config"]), row.get("attempt", 1))

    def in_flight(self) -> List[Trial]:
        """Return the open trials of all clients."""
        return [self._trial(r) for r in self._desk.in_flight(self.name)]

    def withdraw(self, older_than: float = 0) -> List[Trial]:
        """Withdraw open trials that are older than this many seconds."""
        return [self._trial(r) for r in self._desk.withdraw(self.name, older_than)]

    def __iter__(self) -> Iterator[Trial]:
        """Yield trials until the study is over. Each trial needs a result before the next one."""
        while True:
            try:
                yield self.ask()
            except Over:
                return

    # Results.

    def tell(
        self,
        trial: Union[Trial, int],
        value: Optional[float] = None,
        *,
        metrics: Optional[Mapping[str, float]] = None,
        state: Optional[str] = None,
        reason: str = "",
    ) -> None:
        """Record the result of a trial: a value, or the state failed, censored, infeasible or withdrawn.

        A value that is not finite is a failure. Recording the same result again is not an error.
        """
        self.tell_all([self._result(trial, value, metrics, state, reason)])

    def _result(self, trial: Union[Trial, int], value: Optional[float], metrics: Optional[Mapping[str, float]],
                state: Optional[str], reason: str) -> Dict[str, Any]:
        r: Dict[str, Any] = {"id": trial if isinstance(trial, int) else trial.id}
        numbers = dict(trial.metrics) if isinstance(trial, Trial) else {}
        numbers.update(metrics or {})
        if value is not None and not math.isfinite(value) and state is None:
            state, reason, value = "failed", reason or f"the value is {value}", None
        if value is not None:
            r["value"] = float(value)
        finite = {k: float(v) for k, v in numbers.items() if math.isfinite(v)}
        if finite:
            r["metrics"] = finite
        if state is not None:
            r["state"] = state.lower()
        if reason:
            r["reason"] = reason
        return r

    def tell_all(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Record results in the form of `assay tell`, {"id": 1, "value": 2.5}: all are taken, or none."""
        self._told = self._desk.tell(self.name, [dict(r) for r in results])

    # The loop.

    def optimize(
        self,
        func: Objective,
        n_trials: Optional[int] = None,
        timeout: Optional[float] = None,
        catch: Union[Type[Exception], Tuple[Type[Exception], ...]] = (),
        callbacks: Sequence[Callable[["Study", FrozenTrial], None]] = (),
        again: Optional[float] = None,
    ) -> None:
        """Run func on trials until the study is over, n_trials were run, or timeout seconds have passed.

        If func raises TrialPruned, the trial is censored; after any other exception it has failed, and an exception
        that is not in catch is raised again. Ctrl-C withdraws the trial.
        """
        began, n = time.monotonic(), 0
        while (n_trials is None or n < n_trials) and (timeout is None or time.monotonic() - began < timeout):
            n += 1
            if not self.space:
                self._find(func, catch)
                continue
            try:
                trial = self.ask(again=again)
            except Over:
                return
            self._run(func, trial, catch)
            if callbacks:
                frozen = self._frozen(next(r for r in self._desk.trials(self.name) if r["id"] == trial.id))
                for call in callbacks:
                    call(self, frozen)

    def _run(self, func: Objective, trial: Trial, catch: Union[Type[Exception], Tuple[Type[Exception], ...]]) -> None:
        catch = catch if isinstance(catch, tuple) else (catch,)
        try:
            value = float(func(trial))
        except TrialPruned:
            self._pruned(trial)
            return
        except Exception as e:
            self.tell(trial, state="failed", reason=f"{type(e).__name__}: {e}"[:1000])
            if isinstance(e, catch):
                return
            raise
        except BaseException:
            self.tell(trial, state="withdrawn", reason="interrupted")
            raise
        self.tell(trial, value)
        if trial.reports and math.isfinite(value):
            self._curves.append(trial.reports)

    def _pruned(self, trial: Trial) -> None:
        """Record that a trial was ended early: its value would have been no better than the best.

        The rule claims this. The last report is not a bound, because later reports could have been better.
        """
        last = "pruned"
        if trial.reports:
            step = max(trial.reports)
            last = f"pruned at step {step}: {trial.reports[step]:g}"
        self._given_up(trial.id, last)

    def _given_up(self, id: int, reason: str) -> None:
        best = self._told.get("best")
        if best is None:
            self.tell(id, state="failed", reason=reason)
        else:
            self.tell(id, best["value"], state="censored", reason=reason)

    def _hopeless(self, trial: Trial) -> bool:
        sign = -1.0 if self.maximize else 1.0
        return bool(self._told.get("best")) and self.pruner.prune(trial.reports, self._curves, sign)

    def _find(self, func: Objective, catch: Union[Type[Exception], Tuple[Type[Exception], ...]]) -> None:
        """Run func once in the middle of its ranges, and create a study with this as its first trial."""
        catch = catch if isinstance(catch, tuple) else (catch,)
        first = _Finding()
        value, state, reason = None, None, ""
        raised: Optional[Exception] = None
        try:
            value = float(func(first))
        except TrialPruned:
            state, reason = "failed", "pruned"
        except Exception as e:
            state, reason, raised = "failed", f"{type(e).__name__}: {e}"[:1000], e
        if raised is not None and (not first.found or not isinstance(raised, catch)):
            raise raised
        if not first.found:
            raise UsageError("the objective has suggested no parameter")
        self._make(first.found)
        trial = self.ask()
        if trial.params == first.params:
            self.tell(trial, value, metrics=first.metrics, state=state, reason=reason)
        else:  # the study was there before
            self.tell(trial, state="withdrawn", reason="the study goes on")

    # The answer.

    @property
    def trials(self) -> List[FrozenTrial]:
        return [self._frozen(r) for r in self._desk.trials(self.name)]

    def _frozen(self, r: Mapping[str, Any]) -> FrozenTrial:
        return FrozenTrial(r["id"], self._params(r["config"]), r["state"], r["value"], r.get("metrics") or {},
                           r.get("reason", ""), r.get("started"), r.get("ended"))

    @property
    def best_trial(self) -> FrozenTrial:
        """The best trial within the limits. Raises NotFound without such a trial."""
        best = self.answer["trial"]
        return next(self._frozen(r) for r in self._desk.trials(self.name) if r["id"] == best)

    @property
    def answer(self) -> Dict[str, Any]:
        """The recommendation, as `assay study show` prints it: trial, config, value (the median of `runs`), gain with
        its interval in words, limits, and keep if no gain over the default is shown.
        Raises NotFound without a trial that ended well.
        """
        answer = self._desk.answer(self.name)
        if answer is None:
            raise NotFound(f"study {self.name}: no trial has ended well")
        return answer

    @property
    def best_params(self) -> Dict[str, Any]:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        """The value of the recommended trial: the median of the runs of its configuration."""
        value: float = self.answer["value"]
        return value

    @property
    def direction(self) -> str:
        return "maximize" if self.maximize else "minimize"

    def trials_dataframe(self) -> Any:
        """Return the trials as a pandas DataFrame; it needs pandas."""
        import pandas

        rows = []
        for t in self.trials:
            row: Dict[str, Any] = {"number": t.number, "id": t.id, "value": t.value, "state": t.state}
            row.update({"params_" + k: t.params.get(k) for k in self.space})
            row.update({"metrics_" + k: v for k, v in t.metrics.items()})
            row.update(reason=t.reason, datetime_start=_when(t.started), datetime_complete=_when(t.ended))
            rows.append(row)
        return pandas.DataFrame(rows)

    def report(self) -> str:
        """Return the page of `assay report`: one text in HTML that loads nothing."""
        return self._desk.report(self.name)

    def _repr_html_(self) -> str:
        if not self.space:
            return f"<p>{html.escape(self.name)}: no trial yet</p>"
        page = html.escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" width="100%" height="800" style="border:0"></iframe>'

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.direction} {self.metric})"


def _when(text: Optional[str]) -> Optional[datetime.datetime]:
    if not text or text.startswith("0001"):
        return None
    text, _, part = text.rstrip("Z").partition(".")
    at = datetime.datetime.fromisoformat(text[:19])
    return at.replace(microsecond=int((part + "000000")[:6]) if part.isdigit() else 0, tzinfo=datetime.timezone.utc)


def _desk(store: Optional[str], server: Optional[str], token_file: Optional[str], ca_file: Optional[str],
          program: Optional[str]) -> Union[Command, Server]:
    if server is None:
        return Command(store, program)
    if store is not None:
        raise UsageError("store and server: a study is in one of them")
    return Server(server, token_file, ca_file)


def create_study(
    *,
    study_name: Optional[str] = None,
    direction: str = "minimize",
    space: Optional[Mapping[str, Short]] = None,
    load_if_exists: bool = False,
    storage: Optional[str] = None,
    pruner: Optional[MedianPruner] = None,
    server: Optional[str] = None,
    token_file: Optional[str] = None,
    ca_file: Optional[str] = None,
    program: Optional[str] = None,
    **options: Any,
) -> Study:
    """Create a study with the arguments of Optuna.

    Without a space, the first trial of optimize finds it: each parameter that the objective suggests, with its
    bounds; an existing study keeps its own. A parameter that only some trials suggest needs an entry in a space,
    with its `when`.
    storage is the path of a store of assay. Study has the same options: where, limits, metrics, trials, ...
    """
    if direction not in ("minimize", "maximize"):
        raise UsageError(f"direction {direction!r}: minimize, or maximize")
    desk = _desk(storage, server, token_file, ca_file, program)
    if study_name is not None:
        try:
            desk.spec(study_name)
        except NotFound:
            pass
        else:
            if not load_if_exists:
                raise UsageError(f"study {study_name} exists already (load_if_exists=True resumes it)")
            if space is None:
                return _loaded(study_name, desk, pruner)
    s = Study.__new__(Study)
    s._begin(study_name, "value", direction == "maximize", pruner, desk)
    s._options = _Options(**options)
    if space is not None:
        s._make(space_of(space))
    return s


def load_study(
    study_name: str,
    *,
    storage: Optional[str] = None,
    pruner: Optional[MedianPruner] = None,
    server: Optional[str] = None,
    token_file: Optional[str] = None,
    ca_file: Optional[str] = None,
    program: Optional[str] = None,
) -> Study:
    """Return a recorded study, to resume it. A server allows it to operators."""
    return _loaded(study_name, _desk(storage, server, token_file, ca_file, program), pruner)


def _loaded(study_name: str, desk: Union[Command, Server], pruner: Optional[MedianPruner]) -> Study:
    spec = desk.spec(study_name)
    if not spec.get("asked"):
        raise UsageError(f"study {study_name}: assay makes its runs itself")
    s = Study.__new__(Study)
    goal = spec["objective"]
    s._begin(study_name, goal["metric"], bool(goal.get("maximize")), pruner, desk)
    s._options = _Options()
    for p in spec["parameters"]:
        s.space[p["name"]] = _defined(p)
    return s
