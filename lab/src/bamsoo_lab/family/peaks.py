r"""Functions with one maximum whose near-optimality dimension is known.

Let u be the largest distance from the maximiser along any axis. f swings between :math:`-u^a` and
:math:`-u^b`, a <= b <= 2, once whenever u falls by a factor of nine. A cell of side s around the
maximiser has values down to :math:`-s^a`. The cells whose values are as close to the maximum fill
the ball where :math:`u^b \le s^a`, and there are :math:`s^{D(a/b - 1)}` of them. So in the sense of
Bartlett, Gabillon and Valko (2019), with :math:`\rho = 3^{-a/D}` for a tree of three children, the
near-optimality dimension is d = D (1/a - 1/b), which is 0 if a = b.
"""

from dataclasses import dataclass
from math import log, pi, sin

import numpy as np

from bamsoo.base.typing import Array


@dataclass(frozen=True)
class Peak:
    """A function of the unit cube, to be maximised; its maximum is 0.

    Parameters
    ----------
    dim : int
    a, b : float
        Exponents of the envelopes below and above.
    """

    dim: int
    a: float
    b: float

    @property
    def d(self) -> float:
        """The near-optimality dimension."""
        return self.dim * (1.0 / self.a - 1.0 / self.b)

    @property
    def label(self) -> str:
        """The name in tables and pictures."""
        powers = {1: "u", 2: "u²"}
        low, high = (powers.get(int(e), f"u^{e:g}") for e in (self.a, self.b))
        return f"D = {self.dim}, {low}" + ("" if self.a == self.b else f" to {high}")

    def at(self, run: int) -> "PeakAt":
        """The function of a run: its maximiser is drawn from the middle of the cube."""
        rng = np.random.default_rng([run, self.dim])
        return PeakAt(self, rng.uniform(0.2, 0.8, self.dim))


@dataclass(frozen=True)
class PeakAt:
    """A peak with its maximiser at a given point."""

    peak: Peak
    where: Array

    def __call__(self, x: Array) -> float:
        u = float(np.abs(x - self.where).max())
        if u == 0.0:
            return 0.0
        high, low = float(u**self.peak.b), float(u**self.peak.a)
        return -(high + (low - high) * 0.5 * (1.0 + sin(2.0 * pi * log(u, 9.0))))
