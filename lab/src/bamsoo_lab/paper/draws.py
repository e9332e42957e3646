"""Functions drawn from a Gaussian process."""

import numpy as np

from bamsoo.base.typing import Array
from bamsoo.kernels import Kernel, Matern52
from bamsoo.model.gp import GP


class LazyDraw:
    """An exact draw, made one value at a time, each from the posterior given all drawn before.

    Any finite set of its values has the joint distribution that the GP gives it. It does not
    matter how the points are chosen, as long as the choice depends only on values drawn already.
    """

    def __init__(self, kernel: Kernel, dim: int, rng: np.random.Generator) -> None:
        self._gp, self._rng = GP(kernel, dim), rng
        self._values: dict[bytes, float] = {}

    def __call__(self, x: Array) -> float:
        key = x.tobytes()
        if key not in self._values:
            mu, sigma = self._gp.posterior_at(x)
            self._values[key] = value = mu + sigma * float(self._rng.standard_normal())
            self._gp.expect(key, x)
            self._gp.observe(key, value)
        return self._values[key]


class FourierDraw:
    r"""A draw of a Matérn 5/2 GP as a sum of waves, cheap to evaluate anywhere.

    :math:`f(x) = \sqrt{2/M} \sum_m a_m \cos(w_m \cdot x + b_m)` with normal a, uniform b and
    w from the kernel's spectral density, a Student t with 5 degrees of freedom over the
    length-scale. Its covariance is the kernel's up to :math:`O(M^{-1/2})`.
    """

    def __init__(self, kernel: Matern52, dim: int, rng: np.random.Generator, M: int = 1000) -> None:
        self.dim = dim
        student = np.sqrt(5.0 / rng.chisquare(5.0, size=(M, 1)))
        self._w: Array = rng.standard_normal((M, dim)) * student / kernel.lengths(dim)
        self._b: Array = rng.uniform(0.0, 2.0 * np.pi, M)
        self._a: Array = rng.standard_normal(M) * np.sqrt(2.0 * kernel.variance / M)

    def __call__(self, x: Array) -> float:
        return float(self._a @ np.cos(self._w @ x + self._b))

    def gradient(self, x: Array) -> Array:
        """The gradient at x."""
        return -(self._a * np.sin(self._w @ x + self._b)) @ self._w

    def maximum(self) -> tuple[Array, float]:
        """Its maximiser and maximum in the unit cube: L-BFGS-B from the best 12 Sobol points."""
        from scipy.optimize import minimize
        from scipy.stats.qmc import Sobol

        X: Array = Sobol(self.dim, scramble=False).random(2 ** (7 + 2 * self.dim))
        values = np.concatenate(
            [np.cos(part @ self._w.T + self._b) @ self._a for part in np.array_split(X, 16)]
        )
        box = [(0.0, 1.0)] * self.dim
        best = X[values.argmax()]
        for start in X[np.argsort(-values)[:12]]:
            found = minimize(
                lambda x: -self(x),
                start,
                jac=lambda x: -self.gradient(x),
                method="L-BFGS-B",
                bounds=box,
                options={"ftol": 1e-16, "gtol": 1e-11},
            ).x
            if self(found) > self(best):
                best = found
        return best, self(best)
