"""Optimisers with a model of the objective: BoTorch, HEBO, Optuna, SMAC and scikit-optimize."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from bamsoo import Choice, Int
from bamsoo._typing import Array
from bamsoo.space import Parameter

from ..measure import MeasuredObjective

_MEASURED = "constraints"
"""The attribute in which a trial of Optuna stores the values of its constraints."""


def botorch(f: MeasuredObjective) -> None:
    """SingleTaskGP and LogEI as in BoTorch's first tutorial, starting with a Sobol design."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.exceptions import ModelFittingError
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(f.seed)
    cube = torch.stack([torch.zeros(f.dim), torch.ones(f.dim)]).double()
    start = min(f.budget, max(5, 2 * f.dim))
    X = torch.quasirandom.SobolEngine(f.dim, scramble=True, seed=f.seed).draw(start).double()
    Y = torch.tensor([[-f.unit(x.numpy())] for x in X], dtype=torch.double)
    while f.left:
        noise = torch.full_like(Y, 1e-8)
        model = SingleTaskGP(X, Y, noise, outcome_transform=Standardize(1))
        with suppress(ModelFittingError):  # the model as it stands is still a model
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        gain = LogExpectedImprovement(model, best_f=Y.max())
        x, _ = optimize_acqf(gain, bounds=cube, q=1, num_restarts=8, raw_samples=256)
        X = torch.cat([X, x.detach()])
        Y = torch.cat([Y, torch.tensor([[-f.unit(x[0].detach().numpy())]], dtype=torch.double)])


def hebo(f: MeasuredObjective) -> None:
    """HEBO, one suggestion at a time, starting with its own Sobol design."""
    import torch
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    # the genetic algorithm of pymoo that HEBO calls draws from numpy's global generator
    np.random.seed(f.seed)  # noqa: NPY002
    torch.manual_seed(f.seed)
    sides = [{"name": f"x{i}", "type": "num", "lb": 0.0, "ub": 1.0} for i in range(f.dim)]
    optimiser = HEBO(DesignSpace().parse(sides), scramble_seed=f.seed)
    while f.left:
        suggested = optimiser.suggest(n_suggestions=1)
        u = suggested[[f"x{i}" for i in range(f.dim)]].to_numpy(dtype=float)[0]
        optimiser.observe(suggested, np.array([[f.unit(u)]]))


def optuna_gp(f: MeasuredObjective) -> None:
    """Optuna's GPSampler, told whether the objective is deterministic."""
    import optuna

    exact, limits = not f.target.noisy, _limits(f)
    _optuna(
        f,
        optuna.samplers.GPSampler(
            seed=f.seed, deterministic_objective=exact, constraints_func=limits
        ),
    )


def optuna_tpe(f: MeasuredObjective) -> None:
    """Optuna's TPESampler."""
    import optuna

    _optuna(f, optuna.samplers.TPESampler(seed=f.seed, constraints_func=_limits(f)))


def optuna_nsga2(f: MeasuredObjective) -> None:
    """Optuna's NSGAIISampler."""
    import optuna

    _optuna(f, optuna.samplers.NSGAIISampler(seed=f.seed, constraints_func=_limits(f)))


def optuna_tpe_group(f: MeasuredObjective) -> None:
    """Optuna's TPESampler with its options for conditional spaces: one model per group."""
    import optuna

    _optuna(f, optuna.samplers.TPESampler(seed=f.seed, multivariate=True, group=True))


def optuna_pruned(f: MeasuredObjective, sampler: str, pruner: str) -> None:
    """One of Optuna's samplers with one of its pruners, told how many steps there are."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    samplers, pruners = optuna.samplers, optuna.pruners
    chosen: Any = {"tpe": samplers.TPESampler, "random": samplers.RandomSampler}[sampler]
    rules: dict[str, Callable[[], Any]] = {
        "asha": pruners.SuccessiveHalvingPruner,
        "hyperband": lambda: pruners.HyperbandPruner(max_resource=f.target.steps),
        "median": pruners.MedianPruner,
    }
    parameters = f.target.by_name()

    def objective(trial: optuna.Trial) -> float:
        params = _active(parameters, lambda name, p: _suggested(trial, name, p))
        value = np.nan
        for step, value in enumerate(f.train(**params), 1):
            trial.report(value, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study = optuna.create_study(sampler=chosen(seed=f.seed), pruner=rules[pruner]())
    study.optimize(objective)  # until the budget is spent


def _limits(f: MeasuredObjective) -> Callable[[Any], list[float]] | None:
    """Optuna's `constraints_func` if the target has constraints, otherwise None."""
    return (lambda trial: trial.user_attrs[_MEASURED]) if f.target.constraints else None


def _optuna(f: MeasuredObjective, sampler: object) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: optuna.Trial) -> float | list[float]:
        values, measured = f.observe_at(
            _active(parameters, lambda name, p: _suggested(trial, name, p))
        )
        trial.set_user_attr(_MEASURED, [*measured.values()])
        return values if f.target.objectives else values[0]

    parameters = f.target.by_name()
    study = optuna.create_study(
        sampler=sampler,  # type: ignore[arg-type]
        directions=["minimize"] * (len(f.target.objectives) or 1),
    )
    study.optimize(objective, n_trials=f.budget)


def _active(
    parameters: Mapping[str, Parameter], choose: Callable[[str, Parameter], Any]
) -> dict[str, Any]:
    """A value for every parameter that exists, given the options chosen so far."""
    found: dict[str, Any] = {}
    for name, parameter in parameters.items():
        found[name] = value = choose(name, parameter)
        if isinstance(parameter, Choice) and parameter.opens:
            opened = parameter.opens[parameter.options.index(value)]
            found |= _active(opened, choose)
    return found


def _suggested(trial: Any, name: str, parameter: Parameter) -> Any:
    """Optuna's value for a parameter; options are passed by index, whatever their type."""
    if isinstance(parameter, Choice):
        number = trial.suggest_categorical(name, range(len(parameter.options)))
        return parameter.options[number]
    suggest = trial.suggest_int if isinstance(parameter, Int) else trial.suggest_float
    return suggest(name, parameter.low, parameter.high, log=parameter.log)


def smac(f: MeasuredObjective) -> None:
    """SMAC: its BlackBoxFacade on a box, its HyperparameterOptimizationFacade elsewhere.

    SMAC gives a crashed trial an infinite cost, which makes its model fail ("Input y contains NaN",
    version 2.4.1). It is therefore told the worst value so far instead.
    """
    from ConfigSpace import Configuration, ConfigurationSpace
    from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario

    parameters = f.target.by_name()
    space = ConfigurationSpace(seed=f.seed)
    _configure(space, parameters)

    def objective(config: Configuration, seed: int = 0) -> float:
        value = f.at(_active(parameters, lambda name, p: _chosen(p, config[name])))
        return f.worst if np.isnan(value) else value

    facade = HyperparameterOptimizationFacade if f.target.named else BlackBoxFacade
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            space,
            deterministic=not f.target.noisy,
            n_trials=f.budget,
            seed=f.seed,
            output_directory=folder,
        )
        facade(scenario, objective, overwrite=True, logging_level=False).optimize()


def _configure(
    space: Any, parameters: Mapping[str, Parameter], parent: Any = None, option: int = 0
) -> None:
    """Add parameters to a space of ConfigSpace, with the option that they exist for."""
    from ConfigSpace import EqualsCondition

    for name, parameter in parameters.items():
        added = _configured(name, parameter)
        space.add(added)
        if parent is not None:
            space.add(EqualsCondition(added, parent, option))
        if isinstance(parameter, Choice):
            for i, opened in enumerate(parameter.opens):
                _configure(space, opened, added, i)


def _configured(name: str, parameter: Parameter) -> Any:
    """A parameter of ConfigSpace; options are passed by index, whatever their type."""
    from ConfigSpace import Categorical, Float, Integer

    if isinstance(parameter, Choice):
        return Categorical(name, list(range(len(parameter.options))))
    kind = Integer if isinstance(parameter, Int) else Float
    return kind(name, (parameter.low, parameter.high), log=parameter.log)


def _chosen(parameter: Parameter, value: Any) -> Any:
    """A value of ConfigSpace as a plain Python value."""
    if isinstance(parameter, Choice):
        return parameter.options[int(value)]
    return int(value) if isinstance(parameter, Int) else float(value)


def skopt(f: MeasuredObjective) -> None:
    """gp_minimize of scikit-optimize."""
    from skopt import gp_minimize

    def objective(x: Array) -> float:
        return f(np.array(x))

    gp_minimize(objective, f.bounds, n_calls=f.budget, random_state=f.seed)
