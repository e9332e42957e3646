"""The optimisers compared on mixed spaces, each a thin adapter with its documented defaults.

All are given the same space and told the same values. A failed evaluation is reported the way
each documents; a method that has no way is told the worst value it has seen.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from math import exp, log, nan
from pathlib import Path
from typing import Any

import numpy as np

from .... import Optimizer
from ....algorithms.search import Algorithm
from ....errors import ExhaustedError
from ....space import Choice, Int
from ....space.parameters import Parameter
from ..errors import BenchError
from .objective import Objective, Params

SAMPLE = 10
"""Random points, for each run, whose median has score 0."""

NOTHING_WORSE = 1e6
"""Told to SMAC for a failed evaluation before the first success; no task has larger values."""

OURS = ("bamsoo", "bamsoo-noise")
"""The default of this package, without and with ``noise="learn"``."""


@dataclass(frozen=True)
class Method:
    """An optimiser: its adapter, the modules it imports, and a rough overhead per evaluation."""

    name: str
    solve: Callable[[Objective], object]
    modules: tuple[str, ...] = ()
    rate: float = 1e-3


def at(parameter: Parameter, u: float) -> Any:
    """The value at `u` of [0, 1) of a parameter's own scale: all of them equally likely."""
    if isinstance(parameter, Choice):
        return parameter.options[min(int(u * len(parameter.options)), len(parameter.options) - 1)]
    low, high = float(parameter.low), float(parameter.high)
    if isinstance(parameter, Int):  # each number has the interval that is rounded to it
        low, high = low - 0.5, high + 0.5
    value = exp(log(low) + u * log(high / low)) if parameter.log else low + u * (high - low)
    if isinstance(parameter, Int):
        return int(min(max(round(value), parameter.low), parameter.high))
    return min(max(value, parameter.low), parameter.high)


def random(f: Objective) -> None:
    """Uniform points."""
    f.sample = SAMPLE
    rng = np.random.default_rng(f.seed)
    while f.left:
        f({name: at(p, float(rng.random())) for name, p in f.space.items()})


def ours(
    f: Objective, algorithm: str | Algorithm = "auto", noise: float | str | None = None
) -> None:
    """The searches of this package, one evaluation at a time."""
    optimizer = Optimizer(f.space, algorithm=algorithm, seed=f.seed, noise=noise)

    def recommend() -> Params | None:
        params: Params | None = optimizer.result.params
        return params

    f.recommend = recommend
    while f.left:
        try:
            trial = optimizer.ask()
        except ExhaustedError:
            return
        optimizer.tell(trial, f(trial.params))


def optuna_tpe(f: Objective) -> None:
    """Optuna's TPESampler."""
    import optuna

    _optuna(f, optuna.samplers.TPESampler(seed=f.seed))


def optuna_gp(f: Objective) -> None:
    """Optuna's GPSampler, told whether the values are exact."""
    import optuna

    _optuna(f, optuna.samplers.GPSampler(seed=f.seed, deterministic_objective=not f.noisy))


def _optuna(f: Objective, sampler: Any) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)

    def suggest(trial: optuna.Trial, name: str, p: Parameter) -> Any:
        if isinstance(p, Choice):
            return trial.suggest_categorical(name, p.options)
        if isinstance(p, Int):
            return trial.suggest_int(name, p.low, p.high, log=p.log)
        return trial.suggest_float(name, p.low, p.high, log=p.log)

    def objective(trial: optuna.Trial) -> float:
        value = f({name: suggest(trial, name, p) for name, p in f.space.items()})
        return nan if value is None else value  # nan: Optuna marks the trial as failed

    optuna.create_study(sampler=sampler).optimize(objective, n_trials=f.budget)


def cma_margin(f: Objective) -> None:
    """CMA-ES with margin: options as whole numbers, logarithms of log ranges.

    Every axis is scaled to [0, 1]; whole numbers are equal steps of it, but for those on a log
    scale, which are rounded. It starts at the centre with sigma a quarter of the cube, and
    again at random points with populations of double size. A failed evaluation counts as the
    worst so far.
    """
    from cmaes import CMAwM

    parameters = list(f.space.values())
    sizes = [_size(p) for p in parameters]
    steps = np.array([1.0 / (size - 1) if size else 0.0 for size in sizes])

    def point(z: np.ndarray) -> Params:
        return {
            name: at(p, (round(u * (size - 1)) + 0.5) / size if size else u)
            for (name, p), u, size in zip(f.space.items(), z.tolist(), sizes, strict=True)
        }

    rng = np.random.default_rng(f.seed)
    mean, population, worst = np.full(len(steps), 0.5), None, None
    while f.left:
        search = CMAwM(
            mean=mean,
            sigma=0.25,
            bounds=np.tile([0.0, 1.0], (len(steps), 1)),
            steps=steps,
            seed=int(rng.integers(2**31)),
            population_size=population,
        )
        while f.left and not search.should_stop():
            told: list[tuple[np.ndarray, float | None]] = []
            for _ in range(search.population_size):
                z, tell = search.ask()
                value = f(point(z))
                told.append((tell, value))
                if value is not None:
                    worst = value if worst is None else max(worst, value)
            replaced = 0.0 if worst is None else worst
            search.tell([(z, replaced if value is None else value) for z, value in told])
        mean, population = rng.random(len(steps)), 2 * search.population_size


def _size(parameter: Parameter) -> int | None:
    """How many equal steps a parameter has; None: it is continuous."""
    if isinstance(parameter, Choice):
        return len(parameter.options)
    if isinstance(parameter, Int) and not parameter.log:
        return parameter.high - parameter.low + 1
    return None


def smac(f: Objective) -> None:
    """SMAC's HyperparameterOptimizationFacade, told whether the values are exact.

    SMAC gives a crashed trial an infinite cost, with which its model of logarithms then stops
    ("Input y contains NaN", 2.4.1). It is told the worst value so far instead.
    """
    from ConfigSpace import Categorical, Configuration, ConfigurationSpace, Float, Integer
    from smac import HyperparameterOptimizationFacade, Scenario

    def axis(name: str, p: Parameter) -> Any:
        if isinstance(p, Choice):
            return Categorical(name, list(range(len(p.options))))
        if isinstance(p, Int):
            return Integer(name, (p.low, p.high), log=p.log)
        return Float(name, (p.low, p.high), log=p.log)

    def value(p: Parameter, found: Any) -> Any:
        if isinstance(p, Choice):
            return p.options[int(found)]
        return int(found) if isinstance(p, Int) else float(found)

    worst: float | None = None
    space = ConfigurationSpace(seed=f.seed)
    space.add([axis(name, p) for name, p in f.space.items()])

    def objective(config: Configuration, seed: int = 0) -> float:
        found = f({name: value(p, config[name]) for name, p in f.space.items()})
        nonlocal worst
        if found is None:
            return NOTHING_WORSE if worst is None else worst
        worst = found if worst is None else max(worst, found)
        return found

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            space,
            deterministic=not f.noisy,
            n_trials=f.budget,
            seed=f.seed,
            output_directory=Path(folder),
        )
        HyperparameterOptimizationFacade(
            scenario, objective, overwrite=True, logging_level=False
        ).optimize()


ALL = {
    method.name: method
    for method in (
        Method("bamsoo", ours, rate=0.01),
        Method("bamsoo-noise", lambda f: ours(f, noise="learn"), rate=0.02),
        Method("optuna-tpe", optuna_tpe, ("optuna",), 5e-3),
        Method("optuna-gp", optuna_gp, ("optuna", "torch", "scipy"), 0.15),
        Method("cma-margin", cma_margin, ("cmaes",)),
        Method("smac", smac, ("smac", "ConfigSpace"), 0.4),
        Method("random", random),
    )
}
"""Every method by name, in the order of tables."""


def find(name: str) -> Method:
    """A method by its name, or ours with settings imported from ``module:attribute``.

    The attribute is a settings object such as ``bamsoo.Auto(...)``, the name of an algorithm,
    or a function without arguments that returns one.
    """
    if name in ALL:
        return ALL[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        wanted = f"one of {', '.join(ALL)}, or module:attribute for settings of your own"
        raise BenchError(f"no method is called {name!r}; expected {wanted}")
    settings = getattr(import_module(module), attribute)
    if isinstance(settings, type) or (callable(settings) and not hasattr(settings, "start")):
        settings = settings()
    return Method(name, lambda f: ours(f, settings), rate=0.01)


def is_ours(name: str) -> bool:
    """Whether a method is of this package, so that its runs belong to one state of the source."""
    return name in OURS or ":" in name
