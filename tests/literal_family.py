"""The other optimistic trees as their papers print them: linear scans, dense inverses.

Nothing here shares the arithmetic of the package: cells are exact fractions (see `literal`),
every argmax is a scan, every posterior an explicit inverse, every mean a sum over a list.
Where a paper is silent the reading is that of docs/family.md.
"""

from math import ceil, inf, log, pi, sqrt

import numpy as np

from literal import B, Objective, Spent, posterior, root

# --- Bartlett, Gabillon and Valko (2019)


def harmonic(n):
    return sum(1 / t for t in range(1, n + 1))


def sequool(f, dim, k, h_max, budget):
    """One plan; the points, in order, at most `budget` of them."""
    f = Objective(f, budget)
    levels = {}

    def open_cell(cell):
        for i, child in enumerate(cell.cut(k)):
            known = 2 * i + 1 == k and cell.g is not None
            child.g = cell.g if known else f(child.x)
            levels.setdefault(child.h, []).append(child)

    try:
        open_cell(root(dim))
        for h in range(1, h_max + 1):
            largest = sorted(levels.get(h, []), key=lambda cell: -cell.g)[: h_max // h]
            for cell in largest:
                open_cell(cell)
    except Spent:
        pass
    return np.array(f.X)


class Noisy:
    """Cells whose centres coincide share one list of values."""

    def __init__(self):
        self.values = {}

    def of(self, cell):
        return self.values.setdefault(tuple(cell.x), [])

    def mean(self, cell):
        values = self.of(cell)
        return sum(values) / len(values) if values else -inf


def stroquool(f, dim, k, h_max, budget):
    """One plan; the points, the recommended point and its mean (None if it was cut short)."""
    f, sampled, opened, levels = Objective(f, budget), Noisy(), [], {}

    def open_cell(cell, times):
        opened.append(cell)
        for child in cell.cut(k):
            levels.setdefault(child.h, []).append(child)
            while len(sampled.of(child)) < times:
                sampled.of(child).append(f(child.x))

    try:
        open_cell(root(dim), h_max)
        for h in range(1, h_max + 1):
            for m in range(1, h_max // h + 1):
                times, best = h_max // (h * m), None
                for cell in levels.get(h, []):
                    if cell in opened or len(sampled.of(cell)) < times:
                        continue
                    if best is None or sampled.mean(cell) > sampled.mean(best):
                        best = cell
                if best is not None:
                    open_cell(best, times)
        candidates = []
        p_max = int(np.floor(np.log2(h_max)))
        for p in range(p_max + 1):
            best = None
            for h in sorted(levels):
                for cell in levels[h]:
                    if len(sampled.of(cell)) < 2**p:
                        continue
                    if best is None or sampled.mean(cell) > sampled.mean(best):
                        best = cell
            candidates.append((best.x, []))
        for _ in range(h_max):
            for x, values in candidates:
                values.append(f(x))
    except Spent:
        return np.array(f.X), None, None
    x, values = max(candidates, key=lambda candidate: np.mean(candidate[1]))
    return np.array(f.X), x, np.mean(values)


# --- Valko, Carpentier and Munos (2013)


def stosoo(f, dim, K, n, k=None, h_max=None, delta=None, spread=1.0):
    """The points, the recommended point and its mean."""
    k = k or ceil(n / log(n) ** 3)
    h_max = h_max or sqrt(n / k)
    delta = delta or 1 / sqrt(n)
    f, sampled, expanded = Objective(f, n), Noisy(), []
    leaves = [root(dim)]

    def b(cell):
        values = sampled.of(cell)
        if not values:
            return inf
        return sampled.mean(cell) + spread * sqrt(log(n * k / delta) / (2 * len(values)))

    try:
        while True:
            b_max = -inf
            shallowest, depth = min(c.h for c in leaves), max(c.h for c in leaves)
            for h in range(shallowest, max(shallowest, min(depth, int(h_max))) + 1):
                best = None
                for leaf in leaves:
                    if leaf.h == h and (best is None or b(leaf) > b(best)):
                        best = leaf
                if best is not None and b(best) >= b_max:
                    if len(sampled.of(best)) < k:
                        sampled.of(best).append(f(best.x))
                        if len(f.X) == n:  # "if t <= n": then nothing is expanded either
                            raise Spent
                    else:
                        b_max = b(best)
                        leaves.remove(best)
                        leaves += best.cut(K)
                        expanded.append(best)
    except Spent:
        pass
    deepest = max(cell.h for cell in expanded)
    best = max((cell for cell in expanded if cell.h == deepest), key=sampled.mean)
    return np.array(f.X), best.x, sampled.mean(best)


# --- Kawaguchi, Maruyama and Zheng (2016), alone and with the bounds of a GP


def logo(f, dim, k, budget, W, kernel=None, eta=0.05, margins=None):
    """LOGO; with a kernel BaMLOGO, whose decisions' margins |U - f+| are collected."""
    f, j, n, N = Objective(f, budget), 0, 1, 1
    try:
        top = root(dim)
        top.g = f(top.x)
        leaves = [top]
        while True:
            val_max, w, before = -inf, W[j], max(f.F)
            h_max = w * sqrt(n) - w
            first = min(leaf.h for leaf in leaves) // w
            last = int(max(min(h_max, max(leaf.h for leaf in leaves)), 0) // w)
            for superset in range(first, max(first, last) + 1):
                best = None
                for leaf in leaves:
                    if leaf.h // w == superset and (best is None or leaf.g > best.g):
                        best = leaf
                if best is not None and best.g > val_max:
                    val_max = best.g
                    n = n + 1
                    for i, child in enumerate(best.cut(k)):
                        N = N + 1
                        if 2 * i + 1 == k:
                            child.g = best.g
                            continue
                        if kernel is not None:
                            mu, sigma = posterior(kernel, f.X, f.F, child.x)
                            margins.append(abs(mu + B(N, eta) * sigma - max(f.F)))
                            if mu + B(N, eta) * sigma < max(f.F):
                                child.g = mu - B(N, eta) * sigma
                                continue
                        child.g = f(child.x)
                    leaves.remove(best)
                    leaves += best.children
            j = min(j + 1, len(W) - 1) if max(f.F) > before else max(j - 1, 0)
    except Spent:
        return np.array(f.X)


# --- Kawaguchi, Kaelbling and Lozano-Perez (2015)


def descendants(cell, levels, k):
    """The cells this many levels below, computed on a copy."""
    cells = [type(cell)(cell.h, cell.j, cell.low, cell.high)]
    for _ in range(levels):
        cells = [child for each in cells for child in each.cut(k)]
    return cells


def imgpo(f, dim, budget, kernel, eta=0.05, Xi_max=4, k=3, margins=None):
    """IMGPO; `margins` collects the distance of each comparison from a tie."""
    f = Objective(f, budget)
    calls = 0

    def U(x):
        nonlocal calls
        calls += 1
        mu, sigma = posterior(kernel, f.X, f.F, x)
        return mu + sqrt(2 * log(pi**2 * calls**2 / (12 * eta))) * sigma

    try:
        top = root(dim)
        top.g, top.gp_based = f(top.x), False
        leaves, Xi = [top], 1
        while True:
            before, depth = max(f.F), max(leaf.h for leaf in leaves)
            upsilon_max, star = -inf, {}
            for h in range(depth + 1):
                while True:
                    best = None
                    for leaf in leaves:
                        if leaf.h == h and (best is None or leaf.g > best.g):
                            best = leaf
                    if best is None or best.g < upsilon_max:
                        break
                    if not best.gp_based:
                        star[h], upsilon_max = best, best.g
                        break
                    best.g, best.gp_based = f(best.x), False
            for h in range(depth + 1):
                if h not in star:
                    continue
                xi = 0
                for candidate in range(1, Xi_max + 1):
                    if candidate <= Xi and h + candidate in star:
                        xi = candidate
                        break
                if xi:
                    z = star[h].g
                    for cell in descendants(star[h], xi, k):
                        if not np.array_equal(cell.x, star[h].x):
                            z = max(z, U(cell.x))
                    margins.append(abs(z - star[h + xi].g))
                    if z < star[h + xi].g:
                        del star[h]
            upsilon_max = -inf
            for h in range(depth + 1):
                if h not in star or star[h].g < upsilon_max:
                    continue
                for i, child in enumerate(star[h].cut(k)):
                    child.gp_based = False
                    if 2 * i + 1 == k:
                        child.g = star[h].g
                        continue
                    bound = U(child.x)
                    margins.append(abs(bound - max(f.F)))
                    if bound >= max(f.F):
                        child.g = f(child.x)
                        upsilon_max = max(upsilon_max, child.g)
                    else:
                        child.g, child.gp_based = bound, True
                leaves.remove(star[h])
                leaves += star[h].children
            Xi = Xi + 4 if max(f.F) > before else max(Xi - 0.5, 1)
    except Spent:
        return np.array(f.X)


# --- Sen, Kandasamy and Shakkottai (2018)


def mfdoo(f, dim, k, nu, rho, zeta, costs, budget):
    """`f(x, i)` is the value at level i; the (point, level) pairs until the budget is doubled."""
    asked, cells = [], []

    def z(h):
        return next(i for i in range(len(zeta)) if zeta[i] <= nu * rho**h)

    def spent():
        return sum(costs[i] for _, i in asked)

    def query(cell):
        last = costs[-1] if z(cell.h) < len(zeta) - 1 else 0.0
        if spent() + costs[z(cell.h)] + last > budget:
            raise Spent
        asked.append((cell.x, z(cell.h)))
        cell.g = f(cell.x, z(cell.h))
        cells.append(cell)

    top = root(dim)
    leaves = [top]
    try:
        query(top)
        while True:
            b = [leaf.g + nu * rho**leaf.h + zeta[z(leaf.h)] for leaf in leaves]
            leaf = leaves.pop(b.index(max(b)))
            for i, child in enumerate(leaf.cut(k)):
                if 2 * i + 1 == k and z(child.h) == z(leaf.h):
                    child.g = leaf.g
                else:
                    query(child)
                leaves.append(child)
    except Spent:
        at_top = [tuple(x) for x, i in asked if i == len(zeta) - 1]
        below = [
            cell for cell in cells if z(cell.h) < len(zeta) - 1 and tuple(cell.x) not in at_top
        ]
        if spent() + costs[-1] > budget:
            return asked
        low = [cell.g - zeta[z(cell.h)] for cell in below]
        asked.append((below[low.index(max(low))].x, len(zeta) - 1))
    return asked
