"""Bayesian optimisation with an acquisition function: the paper's Algorithm 1."""

from dataclasses import dataclass
from math import erf, exp, pi, sqrt
from typing import ClassVar

import numpy as np

from ..base.checks import MOST_STEPS, brief, check_whole
from ..base.typing import Array
from ..errors import SettingsError
from ..kernels import Kernel, Matern52
from ..model.gp import GP
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import ALL_MET, NO_MORE_ALLOWED, NONE_ALLOWED, Book
from .search import DESIGN, MODEL, RANDOM, B, Search


@dataclass(frozen=True)
class GPUCB(Algorithm):
    """Settings of GP-UCB, and of the same algorithm with another acquisition function.

    Parameters
    ----------
    kernel : Kernel, default Matern52(0.25)
        As in `BaMSOO`.
    mean : float, default 0.0
        As in `BaMSOO`.
    eta : float, default 0.05
        As in `BaMSOO`.
    acquisition : {"ucb", "ei", "pi"}, default "ucb"
        Upper confidence bound, expected improvement or probability of improvement.
    random_start : bool, default True
        Whether to draw the first point uniformly, as in the paper's experiments, instead of taking
        the centre.
    direct_evaluations : int, optional
        The number of calls of the acquisition function that DIRECT may make per iteration; by
        default scipy's own limit, 1000 D.
    noise : float, default 0.0
        The variance of the noise in a value; 0 if values are exact.
    """

    takes_noise: ClassVar[bool] = True

    kernel: Kernel = Matern52(0.25)  # noqa: RUF009 (frozen)
    mean: float = 0.0
    eta: float = 0.05
    acquisition: str = "ucb"
    random_start: bool = True
    direct_evaluations: int | None = None
    noise: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.acquisition not in ("ucb", "ei", "pi"):
            raise SettingsError(
                f"GPUCB: acquisition must be 'ucb', 'ei' or 'pi', got {brief(self.acquisition)}"
            )
        if self.direct_evaluations is not None:
            check_whole("GPUCB", "direct_evaluations", self.direct_evaluations, most=MOST_STEPS)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        gp = GP(self.kernel, domain.dim, self.mean, self.noise, domain)
        return gp_ucb(self, domain, gp, book, rng)


def gp_ucb(settings: GPUCB, domain: Domain, gp: GP, book: Book, rng: np.random.Generator) -> Search:
    """GP-UCB, Algorithm 1; a point already in the GP is replaced by a random one."""
    book.begin(gp=gp)
    if gp.known == 0:
        middle = np.full(gp.dim, 0.5)
        first = domain.draw(rng) if settings.random_start else domain.near(middle)
        if first is None:
            return NONE_ALLOWED
        yield from book.evaluate_point(first, DESIGN)
    while book.noisy or not book.met_all(domain):
        x, origin = domain.draw(rng), RANDOM
        if gp.known:
            book.learn_limits(B(max(book.t, 1), settings.eta))
            argmax = maximize_acquisition(Acquisition(settings, gp, book), settings, domain, rng)
            if argmax is not None and np.abs(gp.X - argmax).max(axis=1).min() > 1e-12:
                x, origin = argmax, MODEL
        if x is None:
            return NO_MORE_ALLOWED
        yield from book.evaluate_point(x, origin)
    return ALL_MET


class Acquisition:
    """The function to maximise at one iteration: a(mu, sigma), with its gradient in x."""

    def __init__(self, settings: GPUCB, gp: GP, book: Book) -> None:
        self._gp = gp
        self._width = B(max(book.t, 1), settings.eta)
        self._f_plus, self._name = book.f_plus, settings.acquisition
        self.limits = book.limits if book.limits is not None and book.limits.ready else None
        self._of = {"ucb": self._ucb, "ei": self._ei, "pi": self._pi}[settings.acquisition]

    # Each of the next three methods returns a, d a / d mu and d a / d sigma.

    def _ucb(self, mu: float, sigma: float) -> tuple[float, float, float]:
        return mu + self._width * sigma, 1.0, self._width

    def _ei(self, mu: float, sigma: float) -> tuple[float, float, float]:
        u, density, share = self._improvement(mu, sigma)
        return sigma * (u * share + density), share, density

    def _pi(self, mu: float, sigma: float) -> tuple[float, float, float]:
        u, density, share = self._improvement(mu, sigma)
        return share, density / sigma, -density * u / sigma

    def _improvement(self, mu: float, sigma: float) -> tuple[float, float, float]:
        u = (mu - self._f_plus) / sigma
        return u, exp(-0.5 * min(u * u, 1400.0)) / sqrt(2.0 * pi), 0.5 * (1.0 + erf(u / sqrt(2.0)))

    def value(self, x: Array) -> float:
        """The acquisition a(mu, sigma) at a point.

        With measured constraints, "ei" and "pi" are multiplied by the probability that all
        constraints are met, and "ucb" is reduced by a penalty where they cannot all be met even
        optimistically. Before a feasible point is known, it is the probability alone.
        """
        if self.limits is None:
            mu, sigma = self._gp.posterior_at(x)
            return self._of(mu, sigma)[0]
        if not self.limits.known.met:
            return float(self.limits.probability(x[None])[0])
        mu, sigma = self._gp.posterior_at(x)
        a = self._of(mu, sigma)[0]
        if self._name != "ucb":
            return a * float(self.limits.probability(x[None])[0])
        low = self.limits.bounds(x[None], self._width)[0]
        missed = float(self.limits.known.violation(low)[0])
        return a - MISSED * sqrt(self._gp.kernel.variance) * missed

    def value_and_gradient(self, x: Array) -> tuple[float, Array]:
        """The acquisition and its gradient."""
        mu, sigma, d_mu, d_sigma = self._gp.gradient(x)
        value, by_mu, by_sigma = self._of(mu, sigma)
        return value, by_mu * d_mu + by_sigma * d_sigma


MISSED = 100.0
"""The penalty, in prior deviations, on the upper bound where a constraint is violated by its median
size even optimistically. It is larger than any gain that the bound can promise."""

DRAWN = 16
"""With constraints known in advance, the number of random allowed points at which the acquisition
function is also computed, because DIRECT hardly finds points of a thin allowed set."""


def maximize_acquisition(
    acquisition: Acquisition, settings: GPUCB, domain: Domain, rng: np.random.Generator
) -> Array | None:
    """The better of two points: DIRECT's best point, and what L-BFGS-B reaches from there.

    With constraints known in advance, it is the best of the allowed points nearest to those two and
    of some random ones.
    """
    tops = climbed(acquisition, settings)
    if domain.region is None:
        return domain.snap(tops[0])
    found = [x for x in (*map(domain.near, tops), *(domain.draw(rng) for _ in range(DRAWN)))
             if x is not None]  # fmt: skip
    return max(found, key=acquisition.value, default=None)


def climbed(acquisition: Acquisition, settings: GPUCB) -> list[Array]:
    """DIRECT's best point and the one that L-BFGS-B reaches from it; the better one first."""
    from scipy.optimize import Bounds, direct, minimize

    def negated(x: Array) -> tuple[float, Array]:
        value, gradient = acquisition.value_and_gradient(x)
        return -value, -gradient

    dim = acquisition._gp.dim
    box = Bounds(np.zeros(dim), np.ones(dim))
    # vol_tol = 0: by default DIRECT stops at a volume that in six dimensions is still coarse
    coarse = direct(
        lambda x: -acquisition.value(x), box, maxfun=settings.direct_evaluations, vol_tol=0.0
    )
    gradient = acquisition.limits is None  # with constraints the gradient is numerical
    fine = minimize(
        negated if gradient else lambda x: -acquisition.value(x),
        coarse.x,
        jac=gradient,
        method="L-BFGS-B",
        bounds=box,
        options={"maxfun": 200},
    )
    tops = [fine.x, coarse.x] if fine.fun < coarse.fun else [coarse.x, fine.x]
    return [np.clip(top, 0.0, 1.0) for top in tops]
