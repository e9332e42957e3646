"""How much time a BaMSOO run takes compared with its unavoidable matrix operations alone.

A run on Hartmann6 is recorded: for each request to the GP, its number of rows and the number of
points. Then only those operations are repeated on arrays of the same shapes: the covariances, the
triangular solves, and the products that give mu and sigma. The ratio of the two times shows what
the tree, the heaps, the bookkeeping and the interface add.

    OPENBLAS_NUM_THREADS=1 python lab/benchmarks/limit.py [evaluations]
"""

import sys
from time import perf_counter

import numpy as np
from scipy.linalg.lapack import dtrtrs

import bamsoo
from bamsoo import problems
from bamsoo.model.gp import GP

from common import Array, fitted_prior, solve, versions


def recorded(
    algorithm: bamsoo.algorithms.BaMSOO, budget: int
) -> tuple[float, list[tuple[int, int]]]:
    """The seconds of a run, and (t, m) of every request to the GP in a second, identical run."""
    problem, shapes = problems.hartmann6, []
    began = perf_counter()
    solve(problem, budget, algorithm)
    elapsed = perf_counter() - began

    original = GP.correlations

    def spy(gp: GP, X: Array) -> Array:
        shapes.append((gp.t, len(np.atleast_2d(X))))
        return original(gp, X)

    GP.correlations = spy  # type: ignore[method-assign, assignment]
    try:
        solve(problem, budget, algorithm)
    finally:
        GP.correlations = original  # type: ignore[method-assign]
    return elapsed, shapes


def replay(kernel: bamsoo.kernels.Kernel, dim: int, shapes: list[tuple[int, int]]) -> float:
    """The seconds of the same operations on well-conditioned arrays of the same shapes."""
    rng = np.random.default_rng(0)
    most = max(t for t, _ in shapes)
    Z, points = rng.random((dim, most)), rng.random((dim, 8))
    upper = np.asfortranarray(np.triu(rng.random((most, most)) * 0.01) + np.eye(most))
    z = rng.random(most)
    began = perf_counter()
    for t, m in shapes:
        if t == 0:
            continue
        difference = Z[:, None, :t] - points[:, :m, None]
        difference *= difference
        K = kernel.of(np.add.reduce(difference, axis=0))
        factor, columns = upper[:, :t], K.T
        for i in range(m):
            dtrtrs(factor, columns[:, i : i + 1], trans=1, overwrite_b=1)
            float(K[i] @ z[:t]), float(K[i] @ K[i])
    return perf_counter() - began


def main(budget: int = 1000) -> tuple[float, float]:
    """Print and return the seconds of the run and of its matrix operations alone."""
    kernel, mean = fitted_prior(problems.hartmann6)
    algorithm = bamsoo.algorithms.BaMSOO(kernel, mean)
    whole, shapes = recorded(algorithm, budget)
    bare = min(replay(kernel, 6, shapes) for _ in range(2))
    print(
        f"Hartmann6, {budget} evaluations, {sum(m for _, m in shapes)} nodes bounded: "
        f"run {whole:.2f} s, matrix operations alone {bare:.2f} s, ratio {whole / bare:.2f}"
    )
    return whole, bare


if __name__ == "__main__":
    print(versions())
    main(*map(int, sys.argv[1:]))
