"""A pruner for Optuna, which stops trials that cannot win by bamsoo's model of curves."""

from math import log
from typing import Any

import numpy as np
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.pruners import BasePruner
from optuna.search_space import intersection_search_space
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from .._typing import Array
from ..checks import check_whole
from ..errors import SettingsError
from ..space.axes import cube
from ..stopping import Stopping


class BaMSOOPruner(BasePruner):
    """Prune a trial when the upper bound of its final value is worse than the best value.

    It works with any sampler. The bound is that of a Gaussian process over parameters and steps;
    see docs/steps.md. A small share of all steps goes to trials that would have been pruned, so
    that curves which cross late are seen.

    Parameters
    ----------
    steps : int, optional
        The number of steps of a full trial, from the first report to the last. By default it is
        that of the longest complete trial, and nothing is pruned before one is complete.
    """

    def __init__(self, steps: int | None = None) -> None:
        if steps is not None:
            check_whole("BaMSOOPruner", "steps", steps)
        self._steps = steps
        self._key: Any = None
        self._stopping: Stopping | None = None
        self._seen: set[int] = set()

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Whether the trial is to be stopped after its latest report."""
        if len(study.directions) > 1:
            raise SettingsError(
                "BaMSOOPruner needs a study with one objective; leave out the pruner"
            )
        trials = study.get_trials(deepcopy=False)
        ended = [t for t in trials if t.state in (TrialState.COMPLETE, TrialState.PRUNED)]
        done = [t for t in ended if t.state == TrialState.COMPLETE and t.value is not None]
        curves = [t for t in ended if t.intermediate_values]
        if not trial.intermediate_values or not done or not curves:
            return False
        first = min(min(t.intermediate_values) for t in (*curves, trial))
        steps = self._steps or max((max(t.intermediate_values) - first + 1 for t in done
                                    if t.intermediate_values), default=1)  # fmt: skip
        sign = 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0
        space = intersection_search_space([*curves, trial], include_pruned=True)
        space = {name: each for name, each in space.items() if name in trial.params}
        axes = sum(_width(each) for each in space.values())
        if (key := (study.study_name, steps, first, tuple(space))) != self._key:
            self._key, self._stopping, self._seen = key, Stopping(steps, cube(axes)), set()
        assert self._stopping is not None
        for each in curves:
            if each.number not in self._seen:
                self._seen.add(each.number)
                at, values = _curve(each, first, sign, steps)
                if each.state == TrialState.COMPLETE:
                    kept = [i for i, step in enumerate(at) if step < steps]
                    at = [*(at[i] for i in kept), steps]
                    values = [*(values[i] for i in kept), sign * float(each.value or 0.0)]
                self._stopping.add(_unit(each, space), at[-1], at, values)
        best = max(sign * float(t.value) for t in done if t.value is not None)
        at, values = _curve(trial, first, sign, steps)
        verdict = self._stopping.verdict(trial.number, _unit(trial, space), at, values, best)
        if verdict.spared:
            self._stopping.spare(trial.number, at[-1])
        return verdict.stop


def _curve(trial: FrozenTrial, first: int, sign: float, most: int) -> tuple[list[int], list[float]]:
    """The steps of a trial, counted from 1, and its values, to be maximised."""
    steps = sorted(step for step in trial.intermediate_values if step - first < most)
    return [s - first + 1 for s in steps], [sign * trial.intermediate_values[s] for s in steps]


def _width(distribution: Any) -> int:
    is_choice = isinstance(distribution, CategoricalDistribution)
    return len(distribution.choices) if is_choice else 1


def _unit(trial: FrozenTrial, space: dict[str, Any]) -> Array:
    """The parameters of a trial as a point of a cube, with one axis per option of a choice."""
    found: list[float] = []
    for name, each in space.items():
        value = trial.params[name]
        if isinstance(each, CategoricalDistribution):
            index = each.to_internal_repr(value)
            found += [0.7 * (i == index) for i in range(len(each.choices))]  # 1 apart, about
        else:
            assert isinstance(each, (FloatDistribution, IntDistribution))
            low, high = float(each.low), float(each.high)
            low, high, at = (log(v) if each.log else v for v in (low, high, float(value)))
            found.append((at - low) / max(high - low, 1e-300))
    return np.array(found)
