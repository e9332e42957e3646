"""The paper's five functions as the searches see them, and a run through ask and tell."""

import numpy as np

import bamsoo
from bamsoo import problems
from bamsoo.space import Space

CUBE = {p.name: Space(p.bounds) for p in problems.PAPER}

# Short enough that the kernel matrix stays well conditioned over 150 evaluations, with
# variances near each function's own.
KERNEL = {
    "branin": bamsoo.kernels.Matern52(0.12, variance=60.0**2),
    "rosenbrock": bamsoo.kernels.Matern32(0.06, variance=1e5**2),
    "hartmann3": bamsoo.kernels.Matern52(0.15),
    "hartmann6": bamsoo.kernels.Matern52(0.2),
    "shekel": bamsoo.kernels.Matern52(0.1),
}


def on_the_cube(problem):
    """The problem as the searches see it: maximised, on [0,1]^D."""
    space = CUBE[problem.name]
    return lambda u: -problem(space.decode(u))


def points(problem, budget, algorithm, seed=0):
    opt = bamsoo.Optimizer([(0, 1)] * problem.dim, "maximize", algorithm, seed)
    f, X = on_the_cube(problem), []
    for _ in range(budget):
        trial = opt.ask()
        X.append(trial.x)
        opt.tell(trial, f(trial.x))
    return np.array(X)
