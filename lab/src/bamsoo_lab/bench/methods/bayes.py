"""Optimisers with a model of the objective: BoTorch, HEBO, Optuna, SMAC and scikit-optimize."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from bamsoo.base.typing import Array
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
    """HEBO, one suggestion at a time, starting with its own Sobol design; boxes are unit cubes.

    For a failed evaluation it is told the worst value so far.
    """
    import torch
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    # the genetic algorithm of pymoo that HEBO calls draws from numpy's global generator
    np.random.seed(f.seed)  # noqa: NPY002
    torch.manual_seed(f.seed)
    parameters = f.target.by_name()
    sides = [{"name": name, "type": "num", "lb": 0.0, "ub": 1.0} for name in parameters]
    if f.target.named:
        sides = [_side(name, parameter) for name, parameter in parameters.items()]
    optimiser = HEBO(DesignSpace().parse(sides), scramble_seed=f.seed)
    while f.left:
        suggested = optimiser.suggest(n_suggestions=1)
        row = [suggested[name].iloc[0] for name in parameters]
        if f.target.named:
            pairs = zip(parameters.items(), row, strict=True)
            value = f(**{name: _chosen(parameter, x) for (name, parameter), x in pairs})
        else:
            value = f.unit(np.array(row, dtype=float))
        optimiser.observe(suggested, np.array([[f.worst if np.isnan(value) else value]]))


def _side(name: str, parameter: Parameter) -> dict[str, Any]:
    """A parameter of HEBO; options are passed by index, whatever their type."""
    if parameter.options is not None:
        return {"name": name, "type": "cat", "categories": [*range(len(parameter.options))]}
    kind = ("pow" if parameter.log else "num", "pow_int" if parameter.log else "int")
    ends = dict(zip(("lb", "ub"), map(parameter.value_of, parameter.ends), strict=True))
    return {"name": name, "type": kind[parameter.whole], **ends}


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
    return (lambda trial: trial.user_attrs[_MEASURED]) if f.target.limited else None


TRIALS = 20
"""Trials of Optuna per evaluation, at most, if constraints known in advance forbid some points."""


def _optuna(f: MeasuredObjective, sampler: object) -> None:
    """Run a sampler.

    A trial that breaks a constraint known in advance is not evaluated. Optuna is told by how much
    the constraint is broken, and the worst value so far.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: optuna.Trial) -> float | list[float]:
        params = _active(parameters, lambda name, p: _suggested(trial, name, p))
        known = f.known(**params) if f.target.known is not None else []
        if max(known, default=0.0) > 0.0:
            trial.set_user_attr(_MEASURED, [*[0.0] * len(f.target.constraints), *known])
            return f.worst
        values, measured = f.observe_at(params)
        trial.set_user_attr(_MEASURED, [*measured.values(), *known])
        return values if f.target.objectives else values[0]

    parameters = f.target.by_name()
    study = optuna.create_study(
        sampler=sampler,  # type: ignore[arg-type]
        directions=["minimize"] * (len(f.target.objectives) or 1),
    )
    study.optimize(objective, n_trials=f.budget * (1 if f.target.known is None else TRIALS))


def _active(
    parameters: Mapping[str, Parameter], choose: Callable[[str, Parameter], Any]
) -> dict[str, Any]:
    """A value for every parameter that exists, given the options chosen so far."""
    found: dict[str, Any] = {}
    for name, parameter in parameters.items():
        found[name] = value = choose(name, parameter)
        if parameter.opens:
            opened = parameter.opens[int(parameter.number_of(name, value))]
            found |= _active(opened, choose)
    return found


def _suggested(trial: Any, name: str, parameter: Parameter) -> Any:
    """Optuna's value for a parameter; options are passed by index, whatever their type."""
    if parameter.options is not None:
        number = trial.suggest_categorical(name, range(len(parameter.options)))
        return parameter.options[number]
    suggest = trial.suggest_int if parameter.whole else trial.suggest_float
    return suggest(name, *map(parameter.value_of, parameter.ends), log=parameter.log)


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
    space: Any, parameters: Mapping[str, Parameter], parent: Any = None, options: Any = ()
) -> None:
    """Add parameters to a space of ConfigSpace, with the options of `parent` that they exist for.

    A parameter that several options have is one parameter of ConfigSpace.
    """
    from ConfigSpace import InCondition

    for name, parameter in parameters.items():
        added = _configured(name, parameter)
        space.add(added)
        if parent is not None:
            space.add(InCondition(added, parent, options))
        if parameter.options is not None:
            opened: dict[str, tuple[Parameter, list[int]]] = {}
            for i, some in enumerate(parameter.opens):
                for child, below in some.items():
                    opened.setdefault(child, (below, []))[1].append(i)
            for child, (below, numbers) in opened.items():
                _configure(space, {child: below}, added, numbers)


def _configured(name: str, parameter: Parameter) -> Any:
    """A parameter of ConfigSpace; options are passed by index, whatever their type."""
    from ConfigSpace import Categorical, Float, Integer

    if parameter.options is not None:
        return Categorical(name, list(range(len(parameter.options))))
    kind = Integer if parameter.whole else Float
    return kind(name, tuple(map(parameter.value_of, parameter.ends)), log=parameter.log)


def _chosen(parameter: Parameter, value: Any) -> Any:
    """A value of ConfigSpace as a plain Python value."""
    if parameter.options is not None:
        return parameter.options[int(value)]
    return int(value) if parameter.whole else float(value)


def skopt(f: MeasuredObjective) -> None:
    """gp_minimize of scikit-optimize."""
    from skopt import gp_minimize

    def objective(x: Array) -> float:
        return f(np.array(x))

    gp_minimize(objective, f.bounds, n_calls=f.budget, random_state=f.seed)
