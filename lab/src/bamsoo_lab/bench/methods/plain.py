"""Optimisers without a model: uniform points, and DIRECT."""

import numpy as np

from ..measure import MeasuredObjective

SAMPLE = 10
"""Number of random points whose median has score 0."""


def random(f: MeasuredObjective) -> None:
    """Uniform points; those that break a constraint known in advance are drawn again."""
    f.sample = SAMPLE
    rng = np.random.default_rng(f.seed)
    while f.left:
        u = rng.random(f.dim)
        if f.target.known is None or max(f.known(**f.params(u))) <= 0.0:
            f.unit(u)


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
