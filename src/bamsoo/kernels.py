r"""Covariance functions.

All have the form of the paper's anisotropic kernel (Sec. 2): a function of the scaled squared
distance :math:`r^2 = (x-y)^T D (x-y)` with :math:`D = \mathrm{diag}(\ell_1^{-2}, \dots)`.
Length-scales are in units of the unit cube's side.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from .base.checks import brief, check_between
from .base.typing import Array
from .errors import SettingsError

__all__ = ["Kernel", "Matern32", "Matern52", "Matern72", "SquaredExponential"]


@dataclass(frozen=True)
class Kernel:
    r"""The base class of all kernels: length-scales and a variance.

    Parameters
    ----------
    length : float or sequence of float, default 0.25
        The length-scale :math:`\ell`, in units of the unit cube's side: one for all dimensions, or
        one per dimension.
    variance : float, default 1.0
        The prior variance of the values, :math:`\kappa(x, x)`.
    """

    length: float | tuple[float, ...] = 0.25
    variance: float = 1.0

    def __init__(
        self, length: float | Sequence[float] | Array = 0.25, variance: float = 1.0
    ) -> None:
        name = type(self).__name__
        given: Any = length.tolist() if isinstance(length, np.ndarray) else length
        many = isinstance(given, (list, tuple))
        lengths = list(given) if many else [given]
        if not lengths:
            raise SettingsError(f"{name}: expected at least one length-scale, got {brief(length)}")
        for each in lengths:
            check_between(name, "a length-scale", each, 0.0)
        check_between(name, "variance", variance, 0.0)
        frozen = tuple(float(each) for each in lengths) if many else float(lengths[0])
        object.__setattr__(self, "length", frozen)
        object.__setattr__(self, "variance", float(variance))

    def lengths(self, dim: int) -> Array:
        """The length-scales, one per dimension."""
        lengths = np.atleast_1d(np.asarray(self.length, dtype=float))
        if lengths.size not in (1, dim):
            raise SettingsError(
                f"{type(self).__name__}: got {lengths.size} length-scales for a space of "
                f"{dim} dimensions, expected 1 or {dim}"
            )
        return np.broadcast_to(lengths, (dim,)).copy()

    def of(self, r2: Array) -> Array:
        r""":math:`\kappa` at the scaled squared distances `r2`."""
        raise NotImplementedError

    def slope(self, r2: Array) -> Array:
        r""":math:`d\kappa / d r^2`, from which all gradients are computed."""
        raise NotImplementedError

    def of_and_slope(self, r2: Array) -> tuple[Array, Array]:
        """Both at once; kernels that are fitted often share what the two have in common."""
        return self.of(r2), self.slope(r2)

    def __call__(self, X: Array, Y: Array) -> Array:
        r""":math:`\kappa(x_i, y_j)` for the rows of `X` and `Y`, shape (len(X), len(Y))."""
        X, Y = np.atleast_2d(X), np.atleast_2d(Y)
        scale = self.lengths(X.shape[1])
        return self.of((((X[:, None] - Y[None]) / scale) ** 2).sum(-1))

    def lipschitz(self, dim: int) -> float:
        r"""The constant L of Lemma 3.

        It is the smallest L with :math:`\sigma(y) \le L \|x - y\|` for all y if the value at x is
        known: :math:`L^2 = \max_i \partial_i \partial'_i \kappa = -2 \kappa'(0) / \min \ell^2`.
        """
        return sqrt(-2.0 * float(self.slope(np.zeros(1))[0])) / float(self.lengths(dim).min())


class SquaredExponential(Kernel):
    r"""The squared-exponential kernel, :math:`\kappa = s^2 e^{-r^2/2}`.

    `length` and `variance` are those of `Kernel`.
    """

    def of(self, r2: Array) -> Array:
        return self.variance * np.exp(-0.5 * r2)

    def slope(self, r2: Array) -> Array:
        return (-0.5 * self.variance) * np.exp(-0.5 * r2)

    def of_and_slope(self, r2: Array) -> tuple[Array, Array]:
        falling = np.exp(-0.5 * r2)
        return self.variance * falling, (-0.5 * self.variance) * falling


class Matern32(Kernel):
    r"""The Matérn kernel with :math:`\nu = 3/2`, for functions that are differentiable once.

    :math:`\kappa = s^2 (1 + a) e^{-a}` with :math:`a = \sqrt{3}\,r`. The paper's theory needs
    :math:`\nu \ge 2` and does not cover it.
    """

    def of(self, r2: Array) -> Array:
        a = np.sqrt(3.0 * r2)
        return self.variance * ((1.0 + a) * np.exp(-a))

    def slope(self, r2: Array) -> Array:
        return (-1.5 * self.variance) * np.exp(-np.sqrt(3.0 * r2))


class Matern52(Kernel):
    r"""The Matérn kernel with :math:`\nu = 5/2`, for functions that are differentiable twice.

    :math:`\kappa = s^2 (1 + a + a^2/3) e^{-a}` with :math:`a = \sqrt{5}\,r`.
    """

    def of(self, r2: Array) -> Array:
        a = np.sqrt(5.0 * r2)
        return self.variance * ((1.0 + a + (5.0 / 3.0) * r2) * np.exp(-a))

    def slope(self, r2: Array) -> Array:
        a = np.sqrt(5.0 * r2)
        return (-5.0 / 6.0 * self.variance) * ((1.0 + a) * np.exp(-a))

    def of_and_slope(self, r2: Array) -> tuple[Array, Array]:
        a = np.sqrt(5.0 * r2)
        falling = np.exp(-a)
        of = self.variance * ((1.0 + a + (5.0 / 3.0) * r2) * falling)
        return of, (-5.0 / 6.0 * self.variance) * ((1.0 + a) * falling)


class Matern72(Kernel):
    r"""The Matérn kernel with :math:`\nu = 7/2`, for functions that are differentiable three times.

    :math:`\kappa = s^2 (1 + a + 2a^2/5 + a^3/15) e^{-a}` with :math:`a = \sqrt{7}\,r`.
    """

    def of(self, r2: Array) -> Array:
        a = np.sqrt(7.0 * r2)
        return self.variance * ((1.0 + a * (1.0 + a * (0.4 + a / 15.0))) * np.exp(-a))

    def slope(self, r2: Array) -> Array:
        a = np.sqrt(7.0 * r2)
        return (-7.0 / 30.0 * self.variance) * ((3.0 + a * (3.0 + a)) * np.exp(-a))
