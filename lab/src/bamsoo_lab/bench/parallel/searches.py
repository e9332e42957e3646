"""Searches that allow several pending points, with one interface of ask and tell.

As in `methods`, each has its documented defaults and its own way to treat pending points; nothing
here is tuned.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

import bamsoo
from bamsoo.algorithms import Name
from bamsoo.base.typing import Array

from ..case import Box
from .clock import Handed, ParallelSearch


class Ours:
    """`bamsoo.Optimizer`, or that of what stands in for the package."""

    def __init__(
        self, bounds: Box, seed: int, algorithm: Name = "auto", package: Any = bamsoo
    ) -> None:
        self._optimizer = package.Optimizer(bounds, algorithm=algorithm, seed=seed)

    def ask(self) -> Handed:
        trial = self._optimizer.ask()
        return Handed(trial, trial.x)

    def tell(self, token: Any, value: float) -> None:
        self._optimizer.tell(token, value)


class OptunaGP:
    """Optuna's GPSampler, which takes account of the study's running trials."""

    def __init__(self, bounds: Box, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._study = optuna.create_study(
            sampler=optuna.samplers.GPSampler(seed=seed, deterministic_objective=True)
        )
        self._space = {
            f"x{i}": optuna.distributions.FloatDistribution(*b) for i, b in enumerate(bounds)
        }

    def ask(self) -> Handed:
        trial = self._study.ask(self._space)  # type: ignore[arg-type]
        return Handed(trial, np.array([trial.params[name] for name in self._space]))

    def tell(self, token: Any, value: float) -> None:
        self._study.tell(token, value)


class BoTorch:
    """SingleTaskGP and qLogEI with `X_pending`, one point at a time, after a Sobol design."""

    def __init__(self, bounds: Box, seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        self._torch = torch
        self._low, self._high = np.array(bounds).T
        self._dim = len(bounds)
        self._sobol = torch.quasirandom.SobolEngine(self._dim, scramble=True, seed=seed)
        self._design = max(5, 2 * self._dim)
        self._asked = 0
        self._out: dict[int, Any] = {}
        self._X: list[Any] = []
        self._Y: list[float] = []

    def ask(self) -> Handed:
        if self._asked < self._design or len(self._Y) < 2:
            x = self._sobol.draw(1).double()
        else:
            x = self._best()
        number, self._asked = self._asked, self._asked + 1
        self._out[number] = x
        u: Array = np.clip(x[0].numpy(), 0.0, 1.0)
        return Handed(number, self._low + (self._high - self._low) * u)

    def _best(self) -> Any:
        from botorch.acquisition import qLogExpectedImprovement
        from botorch.exceptions import ModelFittingError
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Standardize
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        torch = self._torch
        X, Y = torch.cat(self._X), torch.tensor(self._Y, dtype=torch.double)[:, None]
        model = SingleTaskGP(X, Y, torch.full_like(Y, 1e-8), outcome_transform=Standardize(1))
        with suppress(ModelFittingError):  # the model can be used as it is
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        pending = torch.cat(list(self._out.values())) if self._out else None
        gain = qLogExpectedImprovement(model, best_f=Y.max(), X_pending=pending)
        cube = torch.stack([torch.zeros(self._dim), torch.ones(self._dim)]).double()
        x, _ = optimize_acqf(gain, bounds=cube, q=1, num_restarts=8, raw_samples=256)
        return x.detach()

    def tell(self, token: Any, value: float) -> None:
        self._X.append(self._out.pop(token))
        self._Y.append(-value)


SEARCHES: dict[str, Callable[[Box, int], ParallelSearch]] = {
    "bamsoo": Ours,
    "botorch": BoTorch,
    "optuna-gp": OptunaGP,
}
"""Searches by their names in `methods.ALL`."""
