"""The search of assay as a sampler of Optuna.

    import optuna
    from assay.optuna import AssaySampler

    study = optuna.create_study(sampler=AssaySampler())
    study.optimize(objective, n_trials=100)

It needs Optuna. See docs/python.md for its limits.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Mapping, Optional, Sequence

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState

from ._desk import UsageError
from ._space import Categorical, Float, Int, Parameter, Short, _defined, space_of
from ._study import Study, Waiting, create_study, load_study

_TRIAL, _SPACE = "assay:trial", "assay:space"


def parameter_of(d: BaseDistribution, **more: Any) -> Parameter:
    """Return the parameter of a distribution of Optuna."""
    if isinstance(d, FloatDistribution):
        return Float(d.low, d.high, step=d.step, log=d.log, **more)
    if isinstance(d, IntDistribution):
        return Int(d.low, d.high, step=d.step if d.step > 1 else None, log=d.log, **more)
    if isinstance(d, CategoricalDistribution):
        return Categorical(list(d.choices), **more)
    raise UsageError(f"a distribution {type(d).__name__}: there are Float, Int and Categorical")


class AssaySampler(optuna.samplers.BaseSampler):
    """Samples the proposals of assay, and records the results of the trials there.

    `space` has the parameters, as in assay.Study. Without it, the first trial that ended defines them and becomes the
    first trial in assay. Other suggestions of a trial are sampled at random. A pruned trial is censored: its value
    would have been no better than the best. A failed trial has failed.

    `name` is the name of the study in assay; samplers of several processes that share the storage of Optuna share it.
    `options` locate it: store, or server, token_file, ca_file; and program, search.
    """

    def __init__(
        self,
        space: Optional[Mapping[str, Short]] = None,
        *,
        name: Optional[str] = None,
        seed: Optional[int] = None,
        **options: Any,
    ) -> None:
        self._space = space_of(space) if space is not None else None
        self._name, self._seed, self._options = name, seed, options
        self._independent = optuna.samplers.RandomSampler(seed=seed)
        self._study: Optional[Study] = None
        self._of: Optional[int] = None  # the study of Optuna that it is of

    def reseed_rng(self) -> None:
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> Dict[str, BaseDistribution]:
        return {}  # Optuna does not need the space in advance: assay has it

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: Dict[str, BaseDistribution]
    ) -> Dict[str, Any]:
        return {}

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        desk = self._open(study)
        if desk is None:
            return
        try:
            t = desk.ask()
        except Waiting:
            return  # it is sampled at random
        study._storage.set_trial_system_attr(trial._trial_id, _TRIAL, json.dumps([t.id, _texts(desk, t.params)]))

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        told = self._proposed(study, trial)
        if told is not None and param_name in told:
            try:
                value = parameter_of(param_distribution).value(told[param_name])
                if param_distribution._contains(param_distribution.to_internal_repr(value)):
                    return value
            except ValueError:
                pass  # the trial has other bounds or choices than the first one
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: optuna.Study, trial: FrozenTrial, state: TrialState, values: Optional[Sequence[float]]
    ) -> None:
        desk, told = self._study, self._proposed(study, trial)
        if desk is None or told is None:
            return
        id = json.loads(study._storage.get_trial_system_attrs(trial._trial_id)[_TRIAL])[0]
        ran = {k: parameter_of(d).text(trial.params[k]) for k, d in trial.distributions.items()}
        if any(k in ran and ran[k] != v for k, v in told.items()):
            desk.tell(id, state="withdrawn", reason="Optuna has run other values")
            return
        _tell(desk, id, state, values)

    def _proposed(self, study: optuna.Study, trial: FrozenTrial) -> Optional[Dict[str, Any]]:
        attr = study._storage.get_trial_system_attrs(trial._trial_id).get(_TRIAL)
        return None if attr is None else dict(json.loads(attr)[1])

    def _open(self, study: optuna.Study) -> Optional[Study]:
        """Return the study in assay, or None before a trial has defined its parameters."""
        if len(study.directions) != 1:
            raise UsageError("assay samples for one objective")
        if self._study is not None and self._of == study._study_id:
            return self._study
        storage, key = study._storage, study._study_id
        name = self._name or f"optuna-{study.study_name}"
        where = {k: v for k, v in self._options.items() if k in ("server", "token_file", "ca_file", "program")}
        if self._options.get("store"):
            where["storage"] = self._options["store"]
        begun = storage.get_study_system_attrs(key).get(_SPACE)
        if begun is not None:
            space = {k: _defined(d) for k, d in json.loads(begun).items()}
            self._study, self._of = load_study(name, **where), key
            if list(self._study.space) != list(space):
                raise UsageError(f"study {name} has other parameters than the study of Optuna: name=... names another")
            return self._study
        first: Optional[FrozenTrial] = None
        if self._space is not None:
            space = self._space
        else:
            ended = study._storage.get_all_trials(key, deepcopy=False, states=(TrialState.COMPLETE,))
            first = min((t for t in ended if t.distributions), key=lambda t: t.number, default=None)
            if first is None:
                return None
            space = {k: parameter_of(d, default=first.params[k]) for k, d in first.distributions.items()}
        desk = create_study(
            study_name=name, direction=study.direction.name.lower(), space=space, load_if_exists=True, seed=self._seed,
            search=self._options.get("search"), **where,
        )
        storage.set_study_system_attr(key, _SPACE, json.dumps({k: p.definition() for k, p in space.items()}))
        if first is not None:
            t = desk.ask()
            if t.params == first.params:
                _tell(desk, t.id, TrialState.COMPLETE, first.values)
            else:
                desk.tell(t, state="withdrawn", reason="the study goes on")
        self._study, self._of = desk, key
        return desk


def _texts(desk: Study, params: Mapping[str, Any]) -> Dict[str, Any]:
    return {k: desk.space[k].text(v) for k, v in params.items()}


def _tell(desk: Study, id: int, state: TrialState, values: Optional[Sequence[float]]) -> None:
    if state == TrialState.COMPLETE and values is not None:
        desk.tell(id, values[0])
    elif state == TrialState.PRUNED:
        desk._given_up(id, "pruned")
    else:
        desk.tell(id, state="failed", reason=state.name.lower())
