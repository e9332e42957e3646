"""Shrinking feasible regions (de Freitas, Smola and Zoghi, 2012): Sec. 2.1 of the paper."""

from dataclasses import dataclass
from itertools import product
from math import inf

import numpy as np
from numpy.typing import NDArray

from ..base.checks import check_whole
from ..base.typing import Array
from ..errors import SettingsError
from ..kernels import Kernel, Matern52
from ..model.gp import GP
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import ALL_MET, NONE_ALLOWED, Book
from .search import B, Search


@dataclass(frozen=True)
class Shrinking(Algorithm):
    """Settings of the shrinking algorithm.

    Parameters
    ----------
    kernel : Kernel, default Matern52(0.25)
        As in `BaMSOO`.
    mean : float, default 0.0
        As in `BaMSOO`.
    eta : float, default 0.05
        As in `BaMSOO`.
    max_lattice : int, default 100_000
        The largest number of lattice points held at once. A space is refused if its second
        lattice, which has 5^D points, is larger.
    """

    kernel: Kernel = Matern52(0.25)  # noqa: RUF009 (frozen)
    mean: float = 0.0
    eta: float = 0.05
    max_lattice: int = 100_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("Shrinking", "max_lattice", self.max_lattice)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        if 5**domain.dim > self.max_lattice:
            raise SettingsError(
                f"Shrinking: a lattice of 5 points per side has {5**domain.dim} points in "
                f"{domain.dim} dimensions, more than max_lattice={self.max_lattice}; "
                "use 'bamsoo' instead"
            )
        gp = GP(self.kernel, domain.dim, self.mean, domain=domain)
        return shrinking(self, domain, gp, book)


Lattice = NDArray[np.int64]


def shrinking(settings: Shrinking, domain: Domain, gp: GP, book: Book) -> Search:
    """Sample the lattice inside the feasible region, shrink the region, double the density.

    The region is R_t = {x : mu + B_t sigma > best lower bound so far}. The points of lattice r are
    i / 2^r for whole i. A finer lattice is laid only around points that were in the region, so the
    regions are nested. The argument of `B` counts the bounds computed, like N in BaMSOO.
    """
    book.begin(gp=gp)
    if domain.near(np.full(domain.dim, 0.5)) is None:
        return NONE_ALLOWED
    side, N, best_lower = 2, 0, -inf
    lattice: Lattice = np.array(list(product(range(3), repeat=domain.dim)), dtype=np.int64)
    inside = lattice
    while True:
        kept = []
        for point in inside:
            if book.met_all(domain):
                return ALL_MET
            x = represented(domain, point, side)
            if x is None:  # no allowed point was found there
                continue
            kept.append(point)
            # Points that differ only along axes that do not exist there are the same point.
            if domain.conditional and book.has_met(x):
                continue
            if side == 2 or (point % 2).any():  # even points were on the coarser lattice
                yield from book.evaluate_point(x)
        if domain.region is not None:
            inside = np.array(kept, dtype=np.int64).reshape(-1, domain.dim)
        # If no lattice point is feasible, the region lies between them: refine without shrinking.
        region = inside if len(inside) else lattice
        side *= 2
        too_fine = 1.0 / side < max(domain.finest.min(), 2.0**-52)
        if too_fine or len(region) * 3**domain.dim > 20 * settings.max_lattice:
            break
        lattice = refine(region, side)
        if len(lattice) > settings.max_lattice:
            break
        N += len(lattice)
        mu, sigma = gp.posterior(lattice / side)
        width = B(N, settings.eta)
        lower = mu - width * sigma
        if book.limits is None:
            best_lower = max(best_lower, float(lower.max()), book.f_plus)
            inside = lattice[mu + width * sigma > best_lower]
        else:  # a lower bound counts only where it is known that the constraints are met
            book.learn_limits(width)
            ahead = book.grades.ahead(lattice / side)
            possible = [ahead.can_meet(i) for i in range(len(lattice))]
            inside = lattice[(mu + width * sigma > book.f_plus) & np.array(possible)]
    return f"a lattice of {side + 1} points per side is too large"


def represented(domain: Domain, point: Lattice, side: int) -> Array | None:
    """The point of the domain at a lattice point, or an allowed one in its cell, or None."""
    u: Array = point / side
    if domain.region is None:
        return domain.snap(u)
    low, high = np.maximum(u - 0.5 / side, 0.0), np.minimum(u + 0.5 / side, 1.0)
    # no random tries, because there are many cells and the next lattice is finer anyway
    return domain.region.find(low, high, domain.snap(u), tries=0).x


def refine(inside: Lattice, side: int) -> Lattice:
    """The points of the lattice with `side` steps that are at most one step from `inside`."""
    offsets = np.array(list(product((-1, 0, 1), repeat=inside.shape[1])), dtype=np.int64)
    points = (2 * inside[:, None] + offsets[None]).reshape(-1, inside.shape[1])
    return np.unique(points[((points >= 0) & (points <= side)).all(1)], axis=0)
