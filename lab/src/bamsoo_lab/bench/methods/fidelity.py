"""Optimisers that evaluate at several budgets: SMAC's multi-fidelity facade and DEHB.

They ask for a number of steps. A configuration that was begun goes on from where it was, so its
earlier steps are not paid for again, as with a checkpoint. If there is a fidelity instead, each
evaluation is paid for.
"""

import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from bamsoo.space import Space

from ..measure import MeasuredObjective
from .bayes import _active, _chosen, _configure

ETA = 3
"""The default of both: each budget is this many times the one before."""


def _resumed(f: MeasuredObjective) -> Callable[[Any, float], float]:
    """A function of a configuration and a number of steps; returns the value after the last one."""
    parameters, fidelity = f.target.by_name(), f.target.fidelity
    begun: dict[Any, tuple[Iterator[float], list[float]]] = {}

    def value(config: Any, budget: float) -> float:
        params = _active(parameters, lambda name, p: _chosen(p, config[name]))
        if fidelity:
            return f(**params, **{fidelity: float(budget)})
        key = tuple(params.items())
        if key not in begun:
            begun[key] = f.train(**params), []
        run, values = begun[key]
        steps = max(round(float(budget)), 1)
        while len(values) < steps:
            values.append(next(run))
        return values[steps - 1]

    return value


def _ends(f: MeasuredObjective) -> tuple[float, float]:
    """The smallest and the largest budget."""
    if f.target.fidelity:
        fidelity = Space(f.space).fidelity
        assert fidelity is not None
        return fidelity.low, fidelity.high
    return 1, f.target.steps


def smac(f: MeasuredObjective) -> None:
    """SMAC's MultiFidelityFacade: Hyperband with a random forest."""
    from ConfigSpace import ConfigurationSpace
    from smac import MultiFidelityFacade, Scenario
    from smac.runhistory import TrialValue

    space = ConfigurationSpace(seed=f.seed)
    _configure(space, f.target.by_name())
    value, (low, high) = _resumed(f), _ends(f)

    def unused(config: Any, seed: int = 0, budget: float = 0.0) -> float:
        raise NotImplementedError  # it is asked and told

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            space,
            deterministic=True,
            n_trials=100 * f.budget,
            min_budget=low,
            max_budget=high,
            seed=f.seed,
            output_directory=folder,
        )
        search = MultiFidelityFacade(scenario, unused, overwrite=True, logging_level=False)
        while True:  # until the budget is spent
            info = search.ask()
            search.tell(info, TrialValue(cost=value(info.config, info.budget)), save=False)


def dehb(f: MeasuredObjective) -> None:
    """DEHB: differential evolution at the budgets of Hyperband."""
    from ConfigSpace import ConfigurationSpace
    from dehb import DEHB

    space = ConfigurationSpace(seed=f.seed)
    _configure(space, f.target.by_name())
    value, (low, high) = _resumed(f), _ends(f)
    with tempfile.TemporaryDirectory() as folder:
        search = DEHB(
            f=None,
            cs=space,
            min_fidelity=low,
            max_fidelity=high,
            eta=ETA,
            seed=f.seed,
            n_workers=1,
            output_path=folder,
            save_freq=None,
            log_level="ERROR",
        )
        while True:  # until the budget is spent
            job = search.ask()
            found = value(job["config"], job["fidelity"])
            search.tell(job, {"fitness": found, "cost": float(job["fidelity"])})
