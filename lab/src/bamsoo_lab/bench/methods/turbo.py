"""TuRBO-1: a Gaussian process and Thompson sampling inside one trust region that restarts.

Eriksson, Pearce, Gardner, Turner and Poloczek, "Scalable global optimization via local Bayesian
optimization", NeurIPS 2019, with the constants of BoTorch's tutorial on it: batches of four, a
Matérn 5/2 kernel with one length scale per axis.
"""

from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from typing import Any

from ..measure import MeasuredObjective

BATCH = 4
"""Points chosen with one model."""

FIRST, LEAST, MOST = 0.8, 0.5**7, 1.6
"""Side of the trust region in the unit cube: initial, smallest before a restart, and largest."""

SUCCESSES = 10
"""Successful batches in a row before the region doubles; the paper has 3."""

IMPROVED = 1e-3
"""Smallest gain that counts as an improvement, relative to the best value."""

LENGTHS, NOISE = (0.005, 4.0), (1e-8, 1e-3)
"""Limits of the length scales, and of the noise variance of standardised values."""


@dataclass
class TurboRegion:
    """The size of the trust region, and what determines it; values are to be maximised."""

    dim: int
    best: float
    length: float = FIRST
    successes: int = 0
    failures: int = 0

    def learn(self, value: float) -> None:
        """Take the best value of a batch into account."""
        if value > self.best + IMPROVED * abs(self.best):
            self.successes, self.failures = self.successes + 1, 0
        else:
            self.successes, self.failures = 0, self.failures + 1
        if self.successes == SUCCESSES:
            self.length, self.successes = min(2.0 * self.length, MOST), 0
        elif self.failures == ceil(max(4.0, self.dim) / BATCH):
            self.length, self.failures = self.length / 2.0, 0
        self.best = max(self.best, value)

    @property
    def collapsed(self) -> bool:
        """Whether it is time to restart."""
        return self.length < LEAST


def turbo(f: MeasuredObjective) -> None:
    """TuRBO-1 on the unit cube, each start from 2 D points of a scrambled Sobol sequence."""
    import torch

    torch.manual_seed(f.seed)
    starts = 0
    while f.left:
        seed = f.seed + 1000 * starts
        sobol = torch.quasirandom.SobolEngine(f.dim, scramble=True, seed=seed)
        X = sobol.draw(2 * f.dim).double()
        Y = _values(f, X)
        region = TurboRegion(f.dim, float(Y.max()))
        while not region.collapsed:
            new = _batch(X, Y, region.length)
            found = _values(f, new)
            region.learn(float(found.max()))
            X, Y = torch.cat([X, new]), torch.cat([Y, found])
        starts += 1


def _values(f: MeasuredObjective, X: Any) -> Any:
    import torch

    return torch.tensor([[-f.unit(x.numpy())] for x in X], dtype=torch.double)


def _batch(X: Any, Y: Any, length: float) -> Any:
    """Thompson samples of the model inside the trust region around the best point."""
    import gpytorch
    import torch
    from botorch.generation import MaxPosteriorSampling

    Y = (Y - Y.mean()) / Y.std().clamp_min(1e-12)
    with gpytorch.settings.max_cholesky_size(float("inf")):
        model = _model(X, Y)
        candidates = _candidates(X, Y, model, length)
        with torch.no_grad():
            return MaxPosteriorSampling(model=model, replacement=False)(candidates, BATCH)


def _model(X: Any, Y: Any) -> Any:
    from botorch.exceptions import ModelFittingError
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.constraints import Interval
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.likelihoods import GaussianLikelihood
    from gpytorch.mlls import ExactMarginalLogLikelihood

    kernel = MaternKernel(
        nu=2.5, ard_num_dims=X.shape[1], lengthscale_constraint=Interval(*LENGTHS)
    )
    likelihood = GaussianLikelihood(noise_constraint=Interval(*NOISE))
    model = SingleTaskGP(
        X, Y, likelihood=likelihood, covar_module=ScaleKernel(kernel), outcome_transform=None
    )
    with suppress(ModelFittingError):  # the model can be used as it is
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _candidates(X: Any, Y: Any, model: Any, length: float) -> Any:
    """Copies of the best point in which some coordinates are those of Sobol points of the region.

    The region is longer along axes on which the function varies less according to the model. About
    20 coordinates are replaced, and at least one.
    """
    import torch

    dim = X.shape[1]
    centre = X[Y.argmax()]
    weights = model.covar_module.base_kernel.lengthscale.detach().flatten()
    weights = weights / weights.mean()
    weights = weights / weights.prod().pow(1.0 / dim)
    low = (centre - weights * length / 2.0).clamp(0.0, 1.0)
    high = (centre + weights * length / 2.0).clamp(0.0, 1.0)
    count = min(5000, max(2000, 200 * dim))
    seed = int(torch.randint(2**31, (1,)))
    sobol = torch.quasirandom.SobolEngine(dim, scramble=True, seed=seed)
    points = low + (high - low) * sobol.draw(count).double()
    moved = torch.rand(count, dim, dtype=torch.double) <= min(20.0 / dim, 1.0)
    still = torch.where(~moved.any(dim=1))[0]
    moved[still, torch.randint(dim, (len(still),))] = True
    return torch.where(moved, points, centre)
