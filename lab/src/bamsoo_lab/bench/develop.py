"""Problems for development alone: no table shows them, so that settings may be chosen on them.

`BRANCHES` are spaces in which one option has the optimum, 0, although its typical values are poor,
and another option is easy to polish. `DESIGNS` are engineering designs under other loads than those
of the suite `designs`, and problems with 16 and 18 parameters and five constraints.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.space import Choice, Real

from .case import Target
from .designs import formulas

UNIT = Real(0.0, 1.0)


def _places(kind: int, instance: int, *shape: int) -> Array:
    """Places of optima, away from the ends of [0, 1]."""
    return np.random.default_rng([kind, instance]).uniform(0.15, 0.85, shape)


def _bowl(x: Any, at: Array) -> float:
    return float(((np.array(list(x)) - at[: len(x)]) ** 2).sum())


def steep_option(instance: int) -> Target:
    """Three options, of which the steepest is the best."""
    at = _places(21, instance, 3, 3)
    own = {"flat": "pq", "bowl": "rs", "steep": "tuv"}
    rows = {"flat": (0.5, 0.5, at[0]), "bowl": (0.3, 1.0, at[1]), "steep": (0.0, 12.0, at[2])}

    def fun(option: str, **p: float) -> float:
        least, weight, place = rows[option]
        return least + weight * _bowl(p.values(), place)

    names = np.random.default_rng([25, instance]).permutation(list(own)).tolist()
    space: dict[str, Any] = {"option": Choice({o: dict.fromkeys(own[o], UNIT) for o in names})}
    return Target(fun, space, 0.0)


def narrow_option(instance: int) -> Target:
    """Five options, of which the narrowest is the best."""
    at = _places(22, instance, 5, 2)
    least, weight = (0.2, 0.3, 0.4, 0.5, 0.0), (1.0, 1.0, 2.0, 1.0, 20.0)

    def fun(option: int, **p: float) -> float:
        return least[option] + weight[option] * _bowl(p.values(), at[option])

    order = np.random.default_rng([26, instance]).permutation(5).tolist()
    space: dict[str, Any] = {
        "option": Choice({o: {f"x{o}": UNIT, f"y{o}": UNIT} for o in order}),
    }
    return Target(fun, space, 0.0)


def shared_scaler(instance: int) -> Target:
    """A pipeline: each of three models needs another one of the four scalers that they share."""
    rng = np.random.default_rng([23, instance])
    loss = rng.uniform(0.0, 0.5, (3, 4))
    loss -= loss.min(1, keepdims=True)
    loss += 0.1 * rng.permutation(3)[:, None]
    at, rate_at = _places(27, instance, 3, 2), rng.uniform(0.15, 0.85)

    def fun(model: int, scaler: int, rate: float, **p: float) -> float:
        value = loss[model, scaler] + (rate - rate_at) ** 2
        return float(value + 2.0 * _bowl(p.values(), at[model]))

    space: dict[str, Any] = {
        "model": Choice({o: {f"x{o}": UNIT, f"y{o}": UNIT} for o in range(3)}),
        "scaler": Choice(list(range(4))),
        "rate": UNIT,
    }
    return Target(fun, space, 0.0)


def nested_option(instance: int) -> Target:
    """The best option is inside another one, and needs another value of a shared choice."""
    at = _places(24, instance, 3, 3)

    def fun(top: str, shared: str, inner: str | None = None, **p: float) -> float:
        if top == "easy":
            return 0.4 + {"u": 0.0, "v": 0.2, "w": 0.1}[shared] + _bowl(p.values(), at[0])
        value = {"u": 0.1, "v": 0.0, "w": 0.2}[shared]
        if inner == "plain":
            return 0.5 + value + 2.0 * _bowl(p.values(), at[1])
        return value + 10.0 * _bowl(p.values(), at[2])

    inner = Choice({"plain": {"p": UNIT, "q": UNIT}, "steep": {"r": UNIT, "s": UNIT, "t": UNIT}})
    space: dict[str, Any] = {
        "top": Choice({"easy": {"e": UNIT, "f": UNIT}, "hard": {"inner": inner}}),
        "shared": Choice(["u", "v", "w"]),
    }
    return Target(fun, space, 0.0)


BRANCHES: dict[str, Callable[[int], Target]] = {
    "steep option": steep_option,
    "narrow option": narrow_option,
    "shared scaler": shared_scaler,
    "nested option": nested_option,
}
"""By the number of an instance."""


def spring(load: float, optimum: float) -> Target:
    """A wire spring under a load, in the units of the suite `designs`."""

    def fun(d: float, D: float, coils: float) -> tuple[float, dict[str, float]]:
        return formulas.tension_spring(d, D, coils, D * d**3 - d**4 or 1e-12, load)

    space = {"d": Real(0.05, 2.0), "D": Real(0.25, 1.3), "coils": Real(2.0, 15.0)}
    return Target(fun, space, optimum, constraints=("deflection", "shear", "frequency", "width"))


def cantilever(moments: tuple[float, ...], limit: float, high: float, optimum: float) -> Target:
    """A beam of five hollow blocks."""

    def fun(**sizes: float) -> tuple[float, dict[str, float]]:
        bend = sum(m / x**3 for m, x in zip(moments, sizes.values(), strict=True))
        return 0.0624 * sum(sizes.values()), {"bending": bend - limit}

    space = {f"x{i}": Real(0.01, high) for i in range(1, 6)}
    return Target(fun, space, optimum, constraints=("bending",))


def _measured(fun: Callable[[Array], tuple[float, Array]], dim: int, optimum: float) -> Target:
    """A function of the unit cube with five constraints."""
    names = tuple(f"c{j}" for j in range(5))

    def evaluate(x: Array) -> tuple[float, dict[str, float]]:
        value, numbers = fun(x)
        return value, dict(zip(names, numbers.tolist(), strict=True))

    return Target(evaluate, [(0.0, 1.0)] * dim, optimum, constraints=names)


def pipes(instance: int, optimum: float) -> Target:
    """The diameters of 16 pipes, so that the pressure at five of nine places is high enough."""
    rng = np.random.default_rng([5, instance])
    across = [(i, i + 1) for i in range(9) if i % 3 < 2]
    edges = sorted([*across, *((i, i + 3) for i in range(6))])
    edges += [(0, 4), (1, 5), (3, 7), (4, 8)]
    lengths, demand = rng.uniform(1.0, 3.0, 16), rng.uniform(0.3, 1.2, 9)

    def fun(x: Array) -> tuple[float, Array]:
        wide = 0.2 * 10.0**x
        K = np.zeros((9, 9))
        for (a, b), flow in zip(edges, (20.0 * wide**4 / lengths).tolist(), strict=True):
            K[[a, b], [a, b]] += flow
            K[[a, b], [b, a]] -= flow
        drop: Array = np.linalg.solve(K[1:, 1:], demand[1:]).astype(float)
        cost = float((lengths * (8.0 + 30.0 * wide**1.3)).sum())
        return cost, drop[[1, 3, 5, 6, 7]] - 1.0

    return _measured(fun, 16, optimum)


def slanted(instance: int, optimum: float) -> Target:
    """A slanted bowl of 18 parameters, cut off by five curved constraints."""
    rng, dim = np.random.default_rng([4, instance]), 18
    Q = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    H = Q * (10.0 ** np.linspace(0.0, 2.5, dim)) @ Q.T
    centre, A = rng.uniform(0.2, 0.8, dim), rng.standard_normal((5, dim))

    def fun(x: Array) -> tuple[float, Array]:
        d = x - centre
        bent = 0.15 * np.sin(3.0 * d).sum() + 0.7 * d @ d - 0.15
        return float(0.5 * d @ H @ d + 20.0 * d @ A[0]), A @ d + bent

    return _measured(fun, dim, optimum)


DESIGNS: dict[str, Target] = {
    "spring, load 0.9": spring(0.9, 0.00951108),
    "spring, load 1.05": spring(1.05, 0.0145025),
    "cantilever, steep": cantilever((125.0, 64.0, 27.0, 8.0, 1.0), 1.0, 100.0, 1.551279),
    "cantilever, stiff": cantilever((30.0, 20.0, 12.0, 6.0, 3.0), 0.5, 100.0, 1.51502),
    "cantilever, wide range": cantilever((200.0, 50.0, 20.0, 5.0, 2.0), 1.0, 200.0, 1.567206),
    "pipes": pipes(1, 588.0129),
    "slanted": slanted(1, -57.445369),
}
"""By name. Their optima were found with many starts of SLSQP."""
