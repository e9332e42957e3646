r"""A Gaussian process over parameters and steps: what a curve will have become at its last step.

The value of point x after step t, of T in all, is

.. math:: y(x, t) = c + F(x) + I_x + m(t) + T_x(t) + W_x(t) + \varepsilon

F is a function of the parameters, and I_x what is particular to the point. The other terms vanish
as a curve flattens: m is the transient that all curves share, T_x one of its own with the same
decay, and W_x a Brownian motion in log t that ends at 0 with the last step. So the first two terms
are the final value, and the variances of the others say how much of it early steps leave open. All
variances are learned from the curves.

=====  ============================================================================
term   covariance
=====  ============================================================================
F      :math:`\kappa(|x - x'| / \ell)`, a Matérn kernel
I      1 within a curve
m      :math:`d(t, t') = \frac{1 + b}{t + t' - 1 + b}`, a mixture of exponential decays (Swersky,
       Snoek and Adams, 2014, "Freeze-thaw Bayesian optimization", with alpha = 1)
T      :math:`d(t, t')` within a curve
W      :math:`\min(\log T/t, \log T/t') / \log T` within a curve
eps    1 for the same step of a curve
B      :math:`\kappa` times the covariance of W, only for fidelities (`FIDELITY`)
=====  ============================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..base.typing import Array
from ..kernels import Matern52
from ..space.axes import Domain
from .arcs import squared
from .conditioned import Conditioned, Factor

FURTHEST = 1e12
"""The largest distance from the best value, as a multiple of that of close values."""

JITTER = 1e-6
"""Added to the diagonal, so that close steps of a curve do not make the matrix singular."""


@dataclass(frozen=True)
class CurveConstants:
    """Constants of the model of curves."""

    lengths: tuple[float, ...] = (0.3, 1.0)
    """The length-scales of F that are tried, in units of the unit cube's side."""

    typical: tuple[float, ...] = (0.5, 0.3, 0.5, 0.3, 0.3, 1e-3)
    """The medians of the priors of the variances, in the order of the terms, for values that are
    scaled to a spread of 1. Early on they say that half of what differs between two curves after
    the first step is there to stay."""

    spread: float = 1.0
    """The standard deviation of the priors of the logarithms of the variances."""

    half: float = 2.0
    """b in d(t, t'): the number of steps after which a transient has lost half of its variance."""

    near: float = 0.2
    """The share of all values that are so close to the best one that their distances from it count
    as they are; of larger distances, logarithms are taken. A smaller share resolves the best values
    better, and takes more of the early steps for noise."""

    per_curve: int = 8
    """The largest number of steps of a curve that the model sees, evenly spaced in log t."""

    rows: int = 160
    """The largest number of rows from which the variances are learned."""

    most: int = 600
    """The largest number of rows in the model, those of the latest curves. A prediction takes
    milliseconds."""

    growth: float = 1.25
    """The variances are learned again when the number of curves has grown by this factor."""

    rounds: int = 25
    """The largest number of steps of the optimiser that learns the variances."""


CONSTANTS = CurveConstants()

FRONT = CurveConstants(near=0.5)
"""The constants for several objectives. A front extends over values that are far from the best one
of each objective, which must not be drawn in. On a loss and a cost in two dimensions with four
seeds, 9 of the 118 evaluations that were stopped belonged on the front with 0.2, and none with 0.5
and with 0.8."""

FIDELITY = CurveConstants(typical=(*CONSTANTS.typical, 0.3))
"""The constants for a fidelity, where points close together differ from the top by similar amounts,
as the seventh term B says. Models without it took such points for worse than the best one."""


class Observations(NamedTuple):
    """Observations: the curve that each belongs to, its features, its step and its value."""

    curve: NDArray[np.intp]
    X: Array
    t: Array
    y: Array


class CurveModel:
    """The model of the curves of one search.

    Parameters
    ----------
    steps : int
        The number of steps of a full curve.
    domain : Domain
    constants : CurveConstants
    """

    def __init__(self, steps: int, domain: Domain, constants: CurveConstants = CONSTANTS) -> None:
        self._steps, self._domain, self._constants = steps, domain, constants
        self._X: list[Array] = []
        self._curves: list[tuple[NDArray[np.intp], Array]] = []
        self._theta = np.log(np.array(constants.typical))
        self._length = constants.lengths[-1]
        self._next = 2
        self._stale = True
        self._top, self._bend, self._unit = 0.0, 1.0, 1.0
        self._rows: Observations
        self._factor: Factor
        self._c = 0.0
        self._white: Array

    def __len__(self) -> int:
        return len(self._curves)

    def add(
        self, x: Array, t: NDArray[np.intp], values: Array, instead_of: int | None = None
    ) -> int:
        """Enter a curve that has ended, at a point of the unit cube; return its index.

        It may take the place of an earlier curve of the same point, which was shorter.
        """
        kept = self._thinned(t)
        self._stale = True
        if instead_of is not None:
            self._curves[instead_of] = (t[kept], values[kept])
            return instead_of
        self._X.append(self._domain.features(x[None])[0])
        self._curves.append((t[kept], values[kept]))
        return len(self._curves) - 1

    def _thinned(self, t: NDArray[np.intp]) -> NDArray[np.intp]:
        """Indices of steps of a curve, evenly spaced in log t, with the first and the last."""
        count = self._constants.per_curve
        if len(t) <= count:
            return np.arange(len(t))
        grid = np.geomspace(t[0], t[-1], count)
        return np.unique(np.searchsorted(t, np.round(grid)))

    # --- the model

    def _all_rows(self) -> Observations:
        number, T, Y = [], [], []
        total = 0
        for i in range(len(self._curves) - 1, -1, -1):
            t, values = self._curves[i]
            total += len(t)
            if total > self._constants.most:
                break
            number.append(np.full(len(t), i))
            T.append(t)
            Y.append(values)
        curve = np.concatenate(number)
        values = np.concatenate(Y)
        self._top = float(values.max())
        heights = self._top - values
        size = max(abs(self._top), 1e-300)
        near = float(np.quantile(heights, self._constants.near))
        self._bend = near if near > 1e-9 * size else max(float(heights.max()), 1e-9 * size)
        with np.errstate(over="ignore"):
            far = np.minimum(heights / self._bend, FURTHEST)
        self._unit = max(float(np.arcsinh(far).std()), 1e-3)
        X = np.array(self._X)[curve]
        return Observations(curve, X, np.concatenate(T).astype(float), self._scaled(values))

    def _scaled(self, values: Array) -> Array:
        """Values in the model's units: the logarithm of their distance from the best of all.

        Close to the best value they are linear, and far values, which say little, are drawn in.
        """
        with np.errstate(over="ignore"):
            heights = np.clip((self._top - values) / self._bend, -FURTHEST, FURTHEST)
        return np.asarray(-np.arcsinh(heights) / self._unit)

    def value(self, z: float) -> float:
        """A value from the model's units: the inverse of `seen`."""
        return self._top + self._bend * float(np.sinh(min(max(z * self._unit, -30.0), 30.0)))

    def slope(self, z: float) -> float:
        """How much a value changes per unit of the model at z."""
        at = min(max(z * self._unit, -30.0), 30.0)
        return self._bend * self._unit * float(np.cosh(at))

    def _terms(self, a: Observations, b: Observations, length: float) -> Array:
        """The covariance matrix of each term, for a variance of 1."""
        domain = self._domain
        r2 = squared(a.X[:, None], b.X, domain.unordered, domain.arcs).sum(0) / length**2
        same = (a.curve[:, None] == b.curve).astype(float)
        half = self._constants.half
        d = (1.0 + half) / (a.t[:, None] + b.t - 1.0 + half)
        whole = max(log(self._steps), 1e-9)
        left = np.minimum(np.log(self._steps / a.t)[:, None], np.log(self._steps / b.t)) / whole
        noise = same * (a.t[:, None] == b.t)
        near = Matern52(1.0).of(r2)
        terms = [near, same, d, same * d, same * left, noise]
        if len(self._constants.typical) > len(terms):
            terms.append(near * left)
        return np.array(terms)

    def _learn(self, rows: Observations) -> None:
        from scipy.optimize import minimize

        constants = self._constants
        count = len(rows.y)
        some = np.unique(np.linspace(0, count - 1, min(count, constants.rows)).astype(int))
        part = Observations(*(column[some] for column in rows))
        prior = np.log(np.array(constants.typical))
        best = np.inf
        for length in constants.lengths:
            terms = self._terms(part, part, length)

            def loss(theta: Array, terms: Array = terms) -> tuple[float, Array]:
                K = np.tensordot(np.exp(theta), terms, 1)
                K.flat[:: len(K) + 1] += JITTER
                factor = Factor.of(K)
                off = (theta - prior) / constants.spread
                if factor is None:
                    return 1e10, off
                one = np.ones(len(K))
                c = float(one @ factor.inverse @ part.y) / float(one @ factor.inverse @ one)
                known = Conditioned(factor, part.y - c)
                slope = np.exp(theta) * known.slopes(terms)
                return 0.5 * float(off @ off) - known.evidence, off / constants.spread - slope

            found = minimize(
                loss, self._theta, jac=True, method="L-BFGS-B",
                bounds=[(p - 6.0, p + 6.0) for p in prior],
                options={"maxiter": constants.rounds},
            )  # fmt: skip
            if found.fun < best:
                best, theta, self._length = found.fun, found.x, length
        self._theta = theta

    def _update(self) -> None:
        """Factor the matrix of the curves that have ended, and learn the variances if it is due."""
        if not self._stale:
            return
        self._stale = False
        rows = self._rows = self._all_rows()
        if len(self._curves) >= self._next:
            self._next = max(len(self._curves) + 1, int(self._constants.growth * len(self._curves)))
            self._learn(rows)
        K, jitter, factor = self._covariance(rows, rows), JITTER, None
        while factor is None:  # a larger nugget if rounding makes the matrix singular
            K.flat[:: len(K) + 1] += jitter
            factor = Factor.of(K)
            jitter *= 10.0
        self._factor = factor
        one, white = factor.whiten(np.ones(len(K))), factor.whiten(rows.y)
        self._c = float(one @ white) / float(one @ one)
        self._white = white - self._c * one

    def _covariance(self, a: Observations, b: Observations) -> Array:
        terms = self._terms(a, b, self._length)
        return np.asarray(np.tensordot(np.exp(self._theta), terms, 1))

    def ends(self, curves: Sequence[int]) -> tuple[Array, Array]:
        """Means and deviations of the final values of curves that were entered, in these units."""
        self._update()
        some = np.array(curves, dtype=np.intp)
        last = np.full(len(some), float(self._steps))
        own = Observations(some, np.array(self._X)[some], last, np.zeros(len(some)))
        cross = self._covariance(own, self._rows)
        V = self._factor.whiten(cross.T)
        before = self._covariance(own, own).diagonal()
        after = np.maximum(before - (V * V).sum(0), JITTER)
        return np.asarray(self._c + V.T @ self._white), np.sqrt(after)

    def predict(self, x: Array, t: NDArray[np.intp], values: Array) -> tuple[float, float, float]:
        """Mean and deviation of the final value of a curve that has not ended, in these units.

        The third number is the share of the variance of the final value that the curve's own values
        leave open. Some curve must have ended.
        """
        self._update()
        kept = self._thinned(t)
        count = len(kept)
        own = Observations(
            np.full(count + 1, -1),
            np.repeat(self._domain.features(x[None]), count + 1, 0),
            np.append(t[kept], self._steps).astype(float),
            np.append(self._scaled(values[kept]), 0.0),
        )
        cross = self._covariance(own, self._rows)
        V = self._factor.whiten(cross.T)
        mean = self._c + V.T @ self._white
        rest = self._covariance(own, own) - V.T @ V
        K = rest[:count, :count] + JITTER * np.eye(count)
        gain = np.linalg.solve(K, rest[:count, count])
        before = max(float(rest[count, count]), JITTER)
        after = min(max(before - float(gain @ rest[:count, count]), JITTER), before)
        mu = float(mean[count]) + float(gain @ (own.y[:count] - mean[:count]))
        return mu, sqrt(after), after / before

    def seen(self, value: float) -> float:
        """A value in the model's units."""
        self._update()
        return float(self._scaled(np.array(value)))
