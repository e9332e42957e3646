"""The optimisers compared, each a thin adapter with its own documented defaults.

An adapter takes an `Objective` and calls it until its budget is spent; it may also be
stopped by `Spent`. What it imports is listed beside it, so that imports are not timed.
"""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ... import minimize
from ..._typing import Array
from .errors import BenchError
from .measure import Objective


@dataclass(frozen=True)
class Method:
    """An optimiser.

    Parameters
    ----------
    name : str
    solve : callable
    label : str
        How tables and pictures call it.
    modules : tuple of str
        Imported before the clock starts; the first part of each names a package.
    rate : float
        Rough seconds an evaluation, for the estimate of the time left.
    """

    name: str
    solve: Callable[[Objective], object]
    label: str
    modules: tuple[str, ...] = ()
    rate: float = 1e-4


def auto(f: Objective) -> None:
    """The default of this package."""
    minimize(f, f.bounds, f.budget, seed=f.seed)


def soo(f: Objective) -> None:
    """SOO, k = 3."""
    minimize(f, f.bounds, f.budget, algorithm="soo", seed=f.seed)


def paper_bamsoo(f: Objective) -> None:
    """BaMSOO as in the paper, with its usual kernel."""
    minimize(f, f.bounds, f.budget, algorithm="bamsoo", seed=f.seed)


def random(f: Objective) -> None:
    """Uniform points."""
    rng = np.random.default_rng(f.seed)
    while f.left:
        f.unit(rng.random(f.dim))


def direct(f: Objective) -> None:
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


def cma_es(f: Objective) -> None:
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


def botorch(f: Objective) -> None:
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


def optuna_gp(f: Objective) -> None:
    """Optuna's GPSampler, told that the objective is deterministic."""
    import optuna

    _optuna(f, optuna.samplers.GPSampler(seed=f.seed, deterministic_objective=True))


def optuna_tpe(f: Objective) -> None:
    """Optuna's TPESampler."""
    import optuna

    _optuna(f, optuna.samplers.TPESampler(seed=f.seed))


def _optuna(f: Objective, sampler: object) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial: optuna.Trial) -> float:
        return f(np.array([trial.suggest_float(f"x{i}", *b) for i, b in enumerate(f.bounds)]))

    study = optuna.create_study(sampler=sampler)  # type: ignore[arg-type]
    study.optimize(objective, n_trials=f.budget)


def smac(f: Objective) -> None:
    """SMAC's BlackBoxFacade."""
    from ConfigSpace import Configuration, ConfigurationSpace
    from smac import BlackBoxFacade, Scenario

    names = [f"x{i}" for i in range(f.dim)]
    space = ConfigurationSpace(dict(zip(names, f.bounds, strict=True)), seed=f.seed)

    def objective(config: Configuration, seed: int = 0) -> float:
        return f(np.array([config[name] for name in names]))

    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            space,
            deterministic=True,
            n_trials=f.budget,
            seed=f.seed,
            output_directory=folder,
        )
        BlackBoxFacade(scenario, objective, overwrite=True, logging_level=False).optimize()


def skopt(f: Objective) -> None:
    """gp_minimize of scikit-optimize."""
    from skopt import gp_minimize

    def objective(x: Array) -> float:
        return f(np.array(x))

    gp_minimize(objective, f.bounds, n_calls=f.budget, random_state=f.seed)


ALL = {
    method.name: method
    for method in (
        Method("bamsoo", auto, "bamsoo", ("scipy.optimize",), 0.01),
        Method("botorch", botorch, "BoTorch (LogEI)", ("torch", "botorch", "gpytorch"), 0.25),
        Method("optuna-gp", optuna_gp, "Optuna GP", ("optuna", "torch", "scipy"), 0.1),
        Method("smac", smac, "SMAC", ("smac", "ConfigSpace"), 0.8),
        Method("skopt", skopt, "scikit-optimize", ("skopt",), 0.4),
        Method("optuna-tpe", optuna_tpe, "Optuna TPE", ("optuna",), 2e-3),
        Method("cma", cma_es, "CMA-ES", ("cma",)),
        Method("direct", direct, "DIRECT", ("scipy.optimize",)),
        Method("random", random, "random"),
        Method("paper-bamsoo", paper_bamsoo, "BaMSOO of the paper", (), 0.01),
        Method("soo", soo, "SOO"),
    )
}
"""Every method by name, in the order of tables."""

OURS = ("bamsoo", "soo", "paper-bamsoo")
"""Methods of this package, whose runs belong to one state of its source."""

ALIASES = {"optuna": "optuna-gp", "tpe": "optuna-tpe", "scikit-optimize": "skopt", "auto": "bamsoo"}


def find(name: str) -> Method:
    """A method by its name or alias."""
    key = ALIASES.get(name.strip().lower(), name.strip().lower())
    if key not in ALL:
        raise BenchError(f"no optimiser is called {name!r}; expected one of {', '.join(ALL)}")
    return ALL[key]
