"""The 53 smooth problems of Moré and Wild, written from their published definitions.

They are those of "Benchmarking derivative-free optimization algorithms" (SIAM J. Optim. 20, 2009).
There are 22 functions, most of them of Moré, Garbow and Hillstrom (1981), with several dimensions
and starting points. Each has a box around its starting point, which is the centre.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import eval_chebyt

from bamsoo.base.typing import Array

from .problem import FitProblem, Kind


def _numbers(text: str) -> Array:
    return np.array(text.split(), dtype=float)


BARD = _numbers(
    """
    0.14 0.18 0.22 0.25 0.29 0.32 0.35 0.39 0.37 0.58 0.73 0.96 1.34 2.1 4.39
    """
)
KOWALIK_AT = _numbers(
    """
    4 2 1 0.5 0.25 0.167 0.125 0.1 0.0833 0.0714 0.0625
    """
)
KOWALIK = _numbers(
    """
    0.1957 0.1947 0.1735 0.16 0.0844 0.0627 0.0456 0.0342 0.0323 0.0235 0.0246
    """
)
MEYER = _numbers(
    """
    34780 28610 23650 19630 16370 13720 11540 9744 8261 7030 6005 5147 4427 3820 3307 2872
    """
)
OSBORNE_1 = _numbers(
    """
    0.844 0.908 0.932 0.936 0.925 0.908 0.881 0.85 0.818 0.784 0.751 0.718 0.685 0.658 0.628
    0.603 0.58 0.558 0.538 0.522 0.506 0.49 0.478 0.467 0.457 0.448 0.438 0.431 0.424 0.42
    0.414 0.411 0.406
    """
)
OSBORNE_2 = _numbers(
    """
    1.366 1.191 1.112 1.013 0.991 0.885 0.831 0.847 0.786 0.725 0.746 0.679 0.608 0.655
    0.616 0.606 0.602 0.626 0.651 0.724 0.649 0.649 0.694 0.644 0.624 0.661 0.612 0.558
    0.533 0.495 0.5 0.423 0.395 0.375 0.372 0.391 0.396 0.405 0.428 0.429 0.523 0.562 0.607
    0.653 0.672 0.708 0.633 0.668 0.645 0.632 0.591 0.559 0.597 0.625 0.739 0.71 0.729 0.72
    0.636 0.581 0.428 0.292 0.162 0.098 0.054
    """
)


def linear(x: Array, m: int) -> Any:
    """Linear, full rank."""
    found = np.full(m, -2.0 * x.sum() / m - 1.0)
    found[: len(x)] += x
    return found


def linear_1(x: Array, m: int) -> Any:
    """Linear, rank 1."""
    return np.arange(1, m + 1) * float(np.arange(1, len(x) + 1) @ x) - 1.0


def linear_0(x: Array, m: int) -> Any:
    """Linear, rank 1, with columns and rows of zeros."""
    total = float(np.arange(2, len(x)) @ x[1:-1])
    rows = np.arange(m, dtype=float)
    rows[-1] = 0.0
    return rows * total - 1.0


def rosenbrock(x: Array, m: int) -> Any:
    """Rosenbrock."""
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


def helical(x: Array, m: int) -> Any:
    """Helical valley."""
    turn = 0.25
    if x[0] != 0.0:
        turn = np.arctan(x[1] / x[0]) / (2.0 * np.pi) + (0.5 if x[0] < 0.0 else 0.0)
    elif x[1] == 0.0:
        turn = 0.0
    return np.array([10.0 * (x[2] - 10.0 * turn), 10.0 * (np.hypot(x[0], x[1]) - 1.0), x[2]])


def powell(x: Array, m: int) -> Any:
    """Powell's singular function."""
    a, b, c, d = x
    return np.array(
        [a + 10.0 * b, 5.0**0.5 * (c - d), (b - 2.0 * c) ** 2, 10.0**0.5 * (a - d) ** 2]
    )


def freudenstein(x: Array, m: int) -> Any:
    """Freudenstein and Roth."""
    a, b = x
    return np.array([a - 13.0 + ((5.0 - b) * b - 2.0) * b, a - 29.0 + ((1.0 + b) * b - 14.0) * b])


def bard(x: Array, m: int) -> Any:
    """Bard."""
    u = np.arange(1, 16)
    v = 16 - u
    return BARD - (x[0] + u / (x[1] * v + x[2] * np.minimum(u, v)))


def kowalik(x: Array, m: int) -> Any:
    """Kowalik and Osborne."""
    v = KOWALIK_AT
    return KOWALIK - x[0] * v * (v + x[1]) / (v * (v + x[2]) + x[3])


def meyer(x: Array, m: int) -> Any:
    """Meyer."""
    return x[0] * np.exp(x[1] / (45.0 + 5.0 * np.arange(1, 17) + x[2])) - MEYER


def watson(x: Array, m: int) -> Any:
    """Watson."""
    t, n = np.arange(1, 30)[:, None] / 29.0, len(x)
    powers = t ** np.arange(n)
    slope = powers[:, :-1] @ (np.arange(1, n) * x[1:])
    return np.array([*(slope - (powers @ x) ** 2 - 1.0), x[0], x[1] - x[0] ** 2 - 1.0])


def box_3(x: Array, m: int) -> Any:
    """Box's function of three parameters."""
    i = np.arange(1, m + 1)
    t = i / 10.0
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) + (np.exp(-i) - np.exp(-t)) * x[2]


def jennrich(x: Array, m: int) -> Any:
    """Jennrich and Sampson."""
    i = np.arange(1, m + 1)
    return 2.0 + 2.0 * i - np.exp(i * x[0]) - np.exp(i * x[1])


def brown_dennis(x: Array, m: int) -> Any:
    """Brown and Dennis."""
    t = np.arange(1, m + 1) / 5.0
    first, second = x[0] + t * x[1] - np.exp(t), x[2] + np.sin(t) * x[3] - np.cos(t)
    return first**2 + second**2


def chebyquad(x: Array, m: int) -> Any:
    """Chebyquad: the means of Chebyshev polynomials, minus their integrals."""
    i = np.arange(1, m + 1)
    means = eval_chebyt(i[:, None], 2.0 * x - 1.0).mean(1)
    even = i % 2 == 0
    means[even] += 1.0 / (i[even] ** 2 - 1.0)
    return means


def brown(x: Array, m: int) -> Any:
    """Brown's almost linear function."""
    return np.append(x[:-1] + x.sum() - len(x) - 1.0, x.prod() - 1.0)


def osborne_1(x: Array, m: int) -> Any:
    """Osborne 1: the sum of two decays."""
    t = 10.0 * np.arange(33)
    return OSBORNE_1 - (x[0] + x[1] * np.exp(-x[3] * t) + x[2] * np.exp(-x[4] * t))


def osborne_2(x: Array, m: int) -> Any:
    """Osborne 2: a decay and three peaks."""
    t = np.arange(65) / 10.0
    found = x[0] * np.exp(-x[4] * t)
    for i in range(3):
        found += x[1 + i] * np.exp(-x[5 + i] * (t - x[8 + i]) ** 2)
    return OSBORNE_2 - found


def bdqrtic(x: Array, m: int) -> Any:
    """Bdqrtic."""
    n, squares = len(x), x**2
    k = n - 4
    sums = sum((j + 1) * squares[j : j + k] for j in range(4)) + 5.0 * squares[-1]
    return np.concatenate([3.0 - 4.0 * x[:k], sums])


def cube(x: Array, m: int) -> Any:
    """Cube."""
    return np.append(x[0] - 1.0, 10.0 * (x[1:] - x[:-1] ** 3))


def _waves(v: Array) -> Array:
    return np.asarray(v * (np.sin(np.log(v)) ** 5 + np.cos(np.log(v)) ** 5))


def mancino(x: Array, m: int) -> Any:
    """Mancino."""
    i = np.arange(1, len(x) + 1)
    v = np.sqrt(x[:, None] ** 2 + i[:, None] / i)
    return 1400.0 * x + (i - 50.0) ** 3 + _waves(v).sum(1)


def heart(x: Array, m: int) -> Any:
    """Heart8ls: the dipole model of the heart."""
    a, b, c, d, t, u, v, w = x
    return np.array(
        [
            a + b + 0.69,
            c + d + 0.044,
            t * a + u * b - v * c - w * d + 1.57,
            v * a + w * b + t * c + u * d + 1.31,
            a * (t**2 - v**2) - 2 * c * t * v + b * (u**2 - w**2) - 2 * d * u * w + 2.65,
            c * (t**2 - v**2) + 2 * a * t * v + d * (u**2 - w**2) + 2 * b * u * w - 2.0,
            a * t * (t**2 - 3 * v**2)
            + c * v * (v**2 - 3 * t**2)
            + b * u * (u**2 - 3 * w**2)
            + d * w * (w**2 - 3 * u**2)
            + 12.6,
            c * t * (t**2 - 3 * v**2)
            - a * v * (v**2 - 3 * t**2)
            + d * u * (u**2 - 3 * w**2)
            - b * w * (w**2 - 3 * u**2)
            - 9.48,
        ]
    )


def _mancino_start(n: int) -> Any:
    i = np.arange(1, n + 1)
    return -8.710996e-4 * ((i - 50.0) ** 3 + _waves(np.sqrt(i[:, None] / i)).sum(1))


class Family(NamedTuple):
    """A function, and its starting point in n dimensions."""

    fun: Callable[[Array, int], Any]
    start: Callable[[int], Any]
    sizes: list[tuple[int, int]]
    """Dimensions and numbers of residuals."""
    far: tuple[int, ...] = ()
    """The dimensions in which there is also a start ten times as far from 0."""
    reach: float = 2.5
    """The half width of the box, in units of the size of the starting point, or of 1."""


def _at(*x: float) -> Callable[[int], Array]:
    return lambda n: np.array(x)


FAMILIES = {
    "linear": Family(linear, np.ones, [(9, 45)], (9,)),
    "linear 1": Family(linear_1, np.ones, [(7, 35)], (7,)),
    "linear 0": Family(linear_0, np.ones, [(7, 35)], (7,)),
    "rosenbrock": Family(rosenbrock, _at(-1.2, 1.0), [(2, 2)], (2,)),
    "helical": Family(helical, _at(-1.0, 0.0, 0.0), [(3, 3)], (3,)),
    "powell": Family(powell, _at(3.0, -1.0, 0.0, 1.0), [(4, 4)], (4,)),
    "freudenstein": Family(freudenstein, _at(0.5, -2.0), [(2, 2)], (2,), 12.0),
    "bard": Family(bard, _at(1.0, 1.0, 1.0), [(3, 15)], (3,)),
    "kowalik": Family(kowalik, _at(0.25, 0.39, 0.415, 0.39), [(4, 11)]),
    "meyer": Family(meyer, _at(0.02, 4000.0, 250.0), [(3, 16)], (), 0.9),
    "watson": Family(
        watson, lambda n: np.full(n, 0.5), [(6, 31), (9, 31), (12, 31)], (6, 9, 12), 10.0
    ),
    "box": Family(box_3, _at(0.0, 10.0, 20.0), [(3, 10)]),
    "jennrich": Family(jennrich, _at(0.3, 0.4), [(2, 10)], (), 0.5),
    "brown dennis": Family(brown_dennis, _at(25.0, 5.0, -5.0, -1.0), [(4, 20)], (4,), 5.0),
    "chebyquad": Family(
        chebyquad, lambda n: np.arange(1, n + 1) / (n + 1), [(n, n) for n in range(6, 12)], (), 0.5
    ),
    "brown": Family(brown, lambda n: np.full(n, 0.5), [(10, 10)]),
    "osborne 1": Family(osborne_1, _at(0.5, 1.5, 1.0, 0.01, 0.02), [(5, 33)]),
    "osborne 2": Family(
        osborne_2, _at(1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5), [(11, 65)], (11,)
    ),
    "bdqrtic": Family(bdqrtic, np.ones, [(n, 2 * (n - 4)) for n in (8, 10, 11, 12)]),
    "cube": Family(cube, lambda n: np.full(n, 0.5), [(n, n) for n in (5, 6, 8)]),
    "mancino": Family(mancino, _mancino_start, [(n, n) for n in (5, 8, 10, 12)], (5, 12)),
    "heart": Family(heart, _at(-0.3, -0.39, 0.3, -0.344, -1.2, 2.69, 1.59, -1.5), [(8, 8)], (8,)),
}


def _build(family: Family, n: int, m: int, factor: float) -> FitProblem:
    start = factor * family.start(n)
    reach = family.reach * np.maximum(np.abs(start), 1.0) / (2.0 if factor > 1.0 else 1.0)
    box = list(zip((start - reach).tolist(), (start + reach).tolist(), strict=True))
    return FitProblem(lambda x: np.asarray(family.fun(x, m), dtype=float), box)


def _kinds() -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for name, family in FAMILIES.items():
        for n, m in family.sizes:
            for factor in (1.0, 10.0) if n in family.far else (1.0,):
                many = len(family.sizes) > 1
                label = f"{name}{f' {n}' if many else ''}{', far' if factor > 1.0 else ''}"
                found[label] = Kind(lambda _, a=(family, n, m, factor): _build(*a), n)  # type: ignore[misc]
    return found


KINDS: dict[str, Kind] = _kinds()
"""The 53 problems by name; an instance changes nothing."""

OPTIMA = {
    "linear": 36.0,
    "linear, far": 36.0,
    "linear 1": 8.38028169,
    "linear 1, far": 8.38028169,
    "linear 0": 9.880597015,
    "linear 0, far": 9.880597015,
    "rosenbrock": 0.0,
    "rosenbrock, far": 0.0,
    "helical": 0.0,
    "helical, far": 0.0,
    "powell": 0.0,
    "powell, far": 0.0,
    "freudenstein": 0.0,
    "freudenstein, far": 0.0,
    "bard": 0.008214877307,
    "bard, far": 0.008214877307,
    "kowalik": 0.0003075056038,
    "meyer": 87.94585517,
    "watson 6": 0.002287670054,
    "watson 6, far": 0.002287670054,
    "watson 9": 1.399760138e-06,
    "watson 9, far": 1.399760138e-06,
    "watson 12": 4.848212161e-10,
    "watson 12, far": 4.722381102e-10,
    "box": 0.0,
    "jennrich": 124.3621824,
    "brown dennis": 85822.20163,
    "brown dennis, far": 85822.20163,
    "chebyquad 6": 0.0,
    "chebyquad 7": 0.0,
    "chebyquad 8": 0.003516873726,
    "chebyquad 9": 0.0,
    "chebyquad 10": 0.004772713696,
    "chebyquad 11": 0.002799761552,
    "brown": 0.0,
    "osborne 1": 5.464894697e-05,
    "osborne 2": 0.04013773629,
    "osborne 2, far": 0.6170698741,
    "bdqrtic 8": 10.23897342,
    "bdqrtic 10": 18.28116175,
    "bdqrtic 11": 22.26059173,
    "bdqrtic 12": 26.2727664,
    "cube 5": 0.0,
    "cube 6": 0.0,
    "cube 8": 8.009633174e-08,
    "mancino 5": 0.0,
    "mancino 5, far": 0.0,
    "mancino 8": 0.0,
    "mancino 10": 0.0,
    "mancino 12": 0.0,
    "mancino 12, far": 0.0,
    "heart": 0.0,
    "heart, far": 0.0,
}
"""The smallest sum of squares in the box: the best of eight starts of scipy's `least_squares`."""
