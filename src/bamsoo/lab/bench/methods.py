"""The optimisers that are compared, each a thin adapter with its own documented defaults.

An adapter takes a `MeasuredObjective` and calls it until its budget is spent; it may also be
stopped by `Spent`. The modules it imports are listed in its `Method`, so that importing them is
not timed. A new optimiser is an adapter and its entry in `ALL`.
"""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ... import Choice, ExhaustedError, Int, Optimizer, minimize
from ..._typing import Array
from ...space import Parameter
from .errors import BenchError
from .measure import MeasuredObjective, Point


@dataclass(frozen=True)
class Method:
    """An optimiser.

    Parameters
    ----------
    name : str
    solve : callable
    label : str
        What tables and pictures call it.
    modules : tuple of str
        Imported before the clock starts; the first part of each names a package.
    rate : float
        Rough seconds for each evaluation, for the estimate of the time left.
    ours : bool
        Whether it is an algorithm of this package, whose runs belong to one state of its source.
    mixed : bool
        Whether it handles named parameters, whole numbers, options and failed evaluations.
    settings : str
        Settings that its name does not tell, as text; runs with other settings are other runs.
    """

    name: str
    solve: Callable[[MeasuredObjective], object]
    label: str
    modules: tuple[str, ...] = ()
    rate: float = 1e-4
    ours: bool = False
    mixed: bool = False
    settings: str = ""


def auto(f: MeasuredObjective) -> None:
    """The default of this package."""
    _ours(f, "auto")


def auto_noise(f: MeasuredObjective) -> None:
    """The default of this package, told to learn how much noise there is."""
    _ours(f, "auto", "learn")


def soo(f: MeasuredObjective) -> None:
    """SOO, k = 3."""
    _ours(f, "soo")


def paper_bamsoo(f: MeasuredObjective) -> None:
    """BaMSOO as in the paper, with its usual kernel."""
    _ours(f, "bamsoo")


def _ours(f: MeasuredObjective, algorithm: Any, noise: str | None = None) -> None:
    """One of this package's searches.

    On a noisy target it is driven by hand, so that it can be asked at any time which point it
    would recommend.
    """
    if not f.target.noisy:
        minimize(f, f.space, f.budget, algorithm=algorithm, noise=noise, seed=f.seed)
        return
    search = Optimizer(f.space, algorithm=algorithm, noise=noise, seed=f.seed)

    def recommend() -> Point | None:
        found = search.result
        if found.x is None:
            return None
        return ((), found.params) if f.target.named else ((found.x,), {})

    f.recommend = recommend
    with suppress(ExhaustedError):
        while f.left:
            trial = search.ask()
            search.tell(trial, f(**trial.params) if f.target.named else f(trial.x))


def random(f: MeasuredObjective) -> None:
    """Uniform points."""
    f.sample = SAMPLE
    rng = np.random.default_rng(f.seed)
    while f.left:
        f.unit(rng.random(f.dim))


def direct(f: MeasuredObjective) -> None:
    """DIRECT of scipy, the original one, without its tolerances."""
    from scipy.optimize import direct as run

    run(
        f,
        f.bounds,
        locally_biased=False,
        maxfun=f.budget,
        maxiter=10**6,
        vol_tol=0.0,
        len_tol=0.0,
    )


def cma_es(f: MeasuredObjective) -> None:
    """CMA-ES with restarts of two population sizes, on the unit cube, sigma a quarter of it."""
    import cma

    rng = np.random.default_rng(f.seed)
    options = {
        "bounds": [0, 1],
        "maxfevals": f.budget,
        "seed": f.seed + 1,  # 0 would mean: from the clock
        "verbose": -9,
        "verb_log": 0,
    }
    while f.left:
        cma.fmin2(f.unit, lambda: rng.random(f.dim), 0.25, options, restarts=9, bipop=True)


def botorch(f: MeasuredObjective) -> None:
    """SingleTaskGP and LogEI, the way of BoTorch's first tutorial, from a Sobol design."""
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


def optuna_gp(f: MeasuredObjective) -> None:
    """Optuna's GPSampler, told whether the objective is deterministic."""
    import optuna

    exact = not f.target.noisy
    _optuna(f, optuna.samplers.GPSampler(seed=f.seed, deterministic_objective=exact))


def optuna_tpe(f: MeasuredObjective) -> None:
    """Optuna's TPESampler."""
    import optuna

    _optuna(f, optuna.samplers.TPESampler(seed=f.seed))


def _optuna(f: MeasuredObjective, sampler: object) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: optuna.Trial) -> float:
        return f.at({name: _suggested(trial, name, p) for name, p in parameters.items()})

    parameters = f.target.by_name()
    study = optuna.create_study(sampler=sampler)  # type: ignore[arg-type]
    study.optimize(objective, n_trials=f.budget)


def _suggested(trial: Any, name: str, parameter: Parameter) -> Any:
    """Optuna's value for a parameter; options are given by their number, whatever they are."""
    if isinstance(parameter, Choice):
        number = trial.suggest_categorical(name, range(len(parameter.options)))
        return parameter.options[number]
    suggest = trial.suggest_int if isinstance(parameter, Int) else trial.suggest_float
    return suggest(name, parameter.low, parameter.high, log=parameter.log)


def cma_margin(f: MeasuredObjective) -> None:
    """CMA-ES with margin: whole numbers as equal steps, and options as whole numbers.

    Every axis is scaled to [0, 1], log ranges by their logarithms; whole numbers on a log scale
    are rounded. It starts at the centre with sigma a quarter of the cube, and again at random
    points with populations of double size. A failed evaluation counts as the worst so far.
    """
    from cmaes import CMAwM

    sizes = [_size(parameter) for parameter in f.target.by_name().values()]
    steps = np.array([1.0 / (size - 1) if size else 0.0 for size in sizes])

    def value(z: Array) -> float:
        pairs = zip(z.tolist(), sizes, strict=True)
        return f.unit(np.array([(round(u * (n - 1)) + 0.5) / n if n else u for u, n in pairs]))

    rng = np.random.default_rng(f.seed)
    mean, population = np.full(f.dim, 0.5), None
    while f.left:
        search = CMAwM(
            mean=mean,
            sigma=0.25,
            bounds=np.tile([0.0, 1.0], (f.dim, 1)),
            steps=steps,
            seed=int(rng.integers(2**31)),
            population_size=population,
        )
        while not search.should_stop():
            told: list[tuple[Array, float]] = []
            for _ in range(search.population_size):
                z, tell = search.ask()
                told.append((tell, value(z)))
            search.tell([(z, f.worst if np.isnan(v) else v) for z, v in told])
        mean, population = rng.random(f.dim), 2 * search.population_size


def _size(parameter: Parameter) -> int | None:
    """How many equal steps a parameter has; None if it is continuous or on a log scale."""
    if isinstance(parameter, Choice):
        return len(parameter.options)
    if isinstance(parameter, Int) and not parameter.log:
        return parameter.high - parameter.low + 1
    return None


def smac(f: MeasuredObjective) -> None:
    """SMAC: its BlackBoxFacade on a box, its HyperparameterOptimizationFacade elsewhere.

    SMAC gives a crashed trial an infinite cost, at which its model stops ("Input y contains NaN",
    2.4.1). It is told the worst value so far instead.
    """
    from ConfigSpace import Configuration, ConfigurationSpace
    from smac import BlackBoxFacade, HyperparameterOptimizationFacade, Scenario

    parameters = f.target.by_name()
    space = ConfigurationSpace(seed=f.seed)
    space.add(*(_configured(name, p) for name, p in parameters.items()))

    def objective(config: Configuration, seed: int = 0) -> float:
        value = f.at({name: _chosen(p, config[name]) for name, p in parameters.items()})
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


def _configured(name: str, parameter: Parameter) -> Any:
    """A parameter of ConfigSpace; options are given by their number, whatever they are."""
    from ConfigSpace import Categorical, Float, Integer

    if isinstance(parameter, Choice):
        return Categorical(name, list(range(len(parameter.options))))
    kind = Integer if isinstance(parameter, Int) else Float
    return kind(name, (parameter.low, parameter.high), log=parameter.log)


def _chosen(parameter: Parameter, value: Any) -> Any:
    """A value of ConfigSpace as a plain one."""
    if isinstance(parameter, Choice):
        return parameter.options[int(value)]
    return int(value) if isinstance(parameter, Int) else float(value)


def skopt(f: MeasuredObjective) -> None:
    """gp_minimize of scikit-optimize."""
    from skopt import gp_minimize

    def objective(x: Array) -> float:
        return f(np.array(x))

    gp_minimize(objective, f.bounds, n_calls=f.budget, random_state=f.seed)


SAMPLE = 10
"""Random points whose median has score 0."""

_OURS: dict[str, Any] = {"ours": True, "mixed": True}

ALL = {
    method.name: method
    for method in (
        Method("bamsoo", auto, "bamsoo", ("scipy.optimize",), 0.01, **_OURS),
        Method("bamsoo-noise", auto_noise, 'bamsoo, noise="learn"', (), 0.02, **_OURS),
        Method("botorch", botorch, "BoTorch (LogEI)", ("torch", "botorch", "gpytorch"), 0.25),
        Method("optuna-gp", optuna_gp, "Optuna GP", ("optuna", "torch", "scipy"), 0.1, mixed=True),
        Method("smac", smac, "SMAC", ("smac", "ConfigSpace"), 0.8, mixed=True),
        Method("skopt", skopt, "scikit-optimize", ("skopt",), 0.4),
        Method("optuna-tpe", optuna_tpe, "Optuna TPE", ("optuna",), 2e-3, mixed=True),
        Method("cma", cma_es, "CMA-ES", ("cma",)),
        Method("cma-margin", cma_margin, "CMA-ES with margin", ("cmaes",), mixed=True),
        Method("direct", direct, "DIRECT", ("scipy.optimize",)),
        Method("random", random, "random", mixed=True),
        Method("paper-bamsoo", paper_bamsoo, "BaMSOO of the paper", (), 0.01, **_OURS),
        Method("soo", soo, "SOO", **_OURS),
    )
}
"""Every method by name, in the order of tables."""

OURS = tuple(name for name, method in ALL.items() if method.ours)
"""Names of this package's own methods."""

ALIASES = {"optuna": "optuna-gp", "tpe": "optuna-tpe", "scikit-optimize": "skopt", "auto": "bamsoo"}


def find(name: str) -> Method:
    """A method by its name or alias, or one of ours with settings of ``module:attribute``.

    The attribute is a settings object such as ``bamsoo.Auto(...)``, the name of an algorithm, or
    a function without arguments that returns one. It takes part under its whole name.
    """
    key = ALIASES.get(name.strip().lower(), name.strip().lower())
    if key in ALL:
        return ALL[key]
    if name in ALL:
        return ALL[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        wanted = f"one of {', '.join(ALL)}, or module:attribute for settings of your own"
        raise BenchError(f"no optimiser is called {name!r}; expected {wanted}")
    settings = getattr(import_module(module), attribute)
    if isinstance(settings, type) or (callable(settings) and not hasattr(settings, "start")):
        settings = settings()
    text = repr(settings)
    solve = partial(_ours, algorithm=settings)
    return ALL.setdefault(name, Method(name, solve, name, (), 0.01, **_OURS, settings=text))
