"""Algorithms 1 to 3 as the paper prints them: dense inverses, linear scans, no cleverness.

Cells are exact fractions, so nothing here shares the arithmetic of `bamsoo.algorithms.tree`;
posteriors are the formulas of Sec. 2 with an explicit inverse, so nothing shares that of
`bamsoo.model.gp`. Readings where the paper is silent are those of docs/departures.md.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, log, pi, sqrt

import numpy as np
from scipy.optimize import direct, minimize


@dataclass(eq=False)
class Cell:
    h: int
    j: int
    low: list
    high: list
    g: float = None
    evaluated: bool = False
    children: list = field(default_factory=list)

    @property
    def x(self):
        return np.array([float((a + b) / 2) for a, b in zip(self.low, self.high, strict=True)])

    def cut(self, k):
        sides = [b - a for a, b in zip(self.low, self.high, strict=True)]
        axis = sides.index(max(sides))
        for i in range(k):
            low, high = list(self.low), list(self.high)
            low[axis] = self.low[axis] + sides[axis] * Fraction(i, k)
            high[axis] = self.low[axis] + sides[axis] * Fraction(i + 1, k)
            self.children.append(Cell(self.h + 1, k * self.j + i, low, high))
        return self.children


def root(dim):
    return Cell(0, 0, [Fraction(0)] * dim, [Fraction(1)] * dim)


def argmax_leaf(leaves, h):
    best = None
    for leaf in leaves:
        if leaf.h == h and (best is None or leaf.g > best.g):
            best = leaf
    return best


def sweep(leaves, h_max):
    shallowest = min(leaf.h for leaf in leaves)
    deepest = max(leaf.h for leaf in leaves)
    return range(shallowest, max(shallowest, min(deepest, int(h_max))) + 1)


def B(N, eta):
    return sqrt(2 * log(pi**2 * N**2 / (6 * eta)))


def posterior(kernel, X, f, x):
    X = np.array(X)
    k = kernel(X, x)[:, 0]
    inverse = np.linalg.inv(kernel(X, X))
    return k @ inverse @ np.array(f), sqrt(max(kernel.variance - k @ inverse @ k, 0.0))


class Spent(Exception):
    """Raised when the budget is spent, to end the `while true` of the paper."""


class Objective:
    def __init__(self, f, budget):
        self.f, self.budget = f, budget
        self.X, self.F = [], []

    def __call__(self, x):
        if len(self.X) == self.budget:
            raise Spent
        self.X.append(x)
        self.F.append(self.f(x))
        return self.F[-1]


def soo(f, dim, k, budget, h_max=sqrt):
    f = Objective(f, budget)
    try:
        top = root(dim)
        top.g = f(top.x)
        leaves = [top]
        n = 1
        while True:
            nu_max = -inf
            for h in sweep(leaves, h_max(n)):
                leaf = argmax_leaf(leaves, h)
                if leaf is not None and leaf.g > nu_max:
                    for i, child in enumerate(leaf.cut(k)):
                        child.g = leaf.g if 2 * i + 1 == k else f(child.x)
                    leaves.remove(leaf)
                    leaves += leaf.children
                    nu_max = leaf.g
                    n = n + 1
    except Spent:
        return np.array(f.X)


def bamsoo(f, dim, k, budget, kernel, eta=0.05, h_max=sqrt, first=None, margins=None):
    """`margins` collects |U - f+| of each decision, to tell ties to rounding from the rest."""
    f = Objective(f, budget)
    try:
        if first is not None:
            f(first)
        top = root(dim)
        top.g = f(top.x)
        top.evaluated = True
        f_plus = max(f.F)
        leaves = [top]
        n = N = 1
        while True:
            nu_max = -inf
            for h in sweep(leaves, h_max(n)):
                leaf = argmax_leaf(leaves, h)
                if leaf is not None and leaf.g > nu_max:
                    for i, child in enumerate(leaf.cut(k)):
                        N = N + 1
                        if 2 * i + 1 == k:
                            child.g, child.evaluated = leaf.g, leaf.evaluated
                            continue
                        mu, sigma = posterior(kernel, f.X, f.F, child.x)
                        if margins is not None:
                            margins.append(abs(mu + B(N, eta) * sigma - f_plus))
                        if mu + B(N, eta) * sigma >= f_plus:
                            child.g = f(child.x)
                            child.evaluated = True
                        else:
                            child.g = mu - B(N, eta) * sigma
                        if child.g > f_plus:
                            f_plus = child.g
                    leaves.remove(leaf)
                    leaves += leaf.children
                    nu_max = leaf.g
                    n = n + 1
    except Spent:
        return np.array(f.X)


def gp_ucb(f, dim, budget, kernel, first, eta=0.05, direct_evaluations=None):
    f = Objective(f, budget)
    scale = kernel.lengths(dim) ** -2.0
    try:
        f(first)
        while True:
            X, inverse = np.array(f.X), np.linalg.inv(kernel(np.array(f.X), np.array(f.X)))
            weights, width = inverse @ np.array(f.F), B(len(f.X), eta)

            def ucb(x, X=X, inverse=inverse, weights=weights, width=width):
                k = kernel(X, x)[:, 0]
                sigma = sqrt(max(kernel.variance - k @ inverse @ k, 1e-12 * kernel.variance))
                slope = kernel.slope((scale * (x - X) ** 2).sum(1))[:, None]
                dk = 2.0 * scale * (x - X) * slope
                return k @ weights + width * sigma, dk.T @ (weights - width / sigma * inverse @ k)

            box = [(0, 1)] * dim
            coarse = direct(lambda x: -ucb(x)[0], box, maxfun=direct_evaluations, vol_tol=0.0)
            fine = minimize(
                lambda x: [-part for part in ucb(x)], coarse.x, jac=True, method="L-BFGS-B",
                bounds=box, options={"maxfun": 200},
            )  # fmt: skip
            f(fine.x if fine.fun < coarse.fun else coarse.x)
    except Spent:
        return np.array(f.X)
