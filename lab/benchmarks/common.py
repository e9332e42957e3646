"""Functions shared by the benchmarks: a prior for each problem, timing, and shares."""

import os
import platform
import sys
from collections.abc import Callable
from math import sqrt
from time import perf_counter

import numpy as np
import scipy
from scipy.optimize import OptimizeResult
from scipy.stats.qmc import Sobol

import bamsoo
from bamsoo import problems
from bamsoo.algorithms import Algorithm
from bamsoo.base.typing import Array
from bamsoo.model.learning import fit
from bamsoo.space import Space


def fitted_prior(problem: problems.Problem) -> tuple[bamsoo.kernels.Kernel, float]:
    """A Matérn 5/2 kernel and a mean, fitted to 128 Sobol points by maximum likelihood."""
    U = Sobol(problem.dim, scramble=False).random(128)
    space = Space(problem.bounds)
    f = np.array([problem(space.decode(u)) for u in U])
    shift, scale = float(f.mean()), float(f.std())
    found = fit(bamsoo.kernels.Matern52, U, (f - shift) / scale, [np.full(problem.dim, 0.5)])
    kernel = bamsoo.kernels.Matern52(
        found.kernel.lengths(problem.dim), found.kernel.variance * scale**2
    )
    return kernel, shift + scale * found.mean


def seconds(run: Callable[[], object], repeats: int = 1) -> float:
    """The time of the fastest of a few runs, which is the least disturbed one."""
    best = float("inf")
    for _ in range(repeats):
        began = perf_counter()
        run()
        best = min(best, perf_counter() - began)
    return best


def solve(problem: problems.Problem, budget: int, algorithm: Algorithm) -> OptimizeResult:
    """Minimise a problem."""
    return bamsoo.minimize(problem, problem.bounds, budget, algorithm=algorithm)


def interval(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95 % interval for a share."""
    share, spread = hits / of, z * z / of
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def share_of(hits: int, of: int) -> str:
    """A share with its 95 % interval."""
    if not of:
        return "none"
    low, high = interval(hits, of)
    return f"{hits / of:.1%} ({low:.1%} to {high:.1%})"


def versions() -> str:
    """One line with the versions of everything that affects the measurements."""
    return (
        f"bamsoo {bamsoo.__version__}, Python {platform.python_version()}, "
        f"numpy {np.__version__}, scipy {scipy.__version__}, {sys.platform}, BLAS threads: "
        f"{os.environ.get('OPENBLAS_NUM_THREADS', 'not limited')}"
    )


__all__ = ["Array", "fitted_prior", "seconds", "share_of", "solve", "versions"]
