"""Optimisers without a model: uniform points, and DIRECT."""

import numpy as np

from ..measure import MeasuredObjective

SAMPLE = 10
"""Number of random points whose median has score 0."""


def random(f: MeasuredObjective) -> None:
    """Uniform points."""
    f.sample = SAMPLE
    rng = np.random.default_rng(f.seed)
    while f.left:
        f.unit(rng.random(f.dim))


def direct(f: MeasuredObjective) -> None:
    """DIRECT of scipy, in its original form, without tolerances."""
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
