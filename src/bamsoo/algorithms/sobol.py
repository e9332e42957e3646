"""A Sobol sequence: points that fill the space evenly, without a search."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np

from ..base.typing import Array
from ..space.axes import Domain
from .algorithm import Algorithm
from .book import ALL_MET, NO_MORE_ALLOWED, NONE_ALLOWED, Book
from .search import DESIGN, Search

BITS = 30
"""Binary digits of a coordinate, as many as scipy's sequence has by default."""

BLOCK = 64
"""Points that are computed at once; a power of two, as scipy expects at the beginning."""

MISSES = 1000
"""After this many points in a row that known constraints forbid, the next one is drawn at random
from what they allow. With more, a search of a very small region would take long to begin."""


@dataclass(frozen=True)
class Sobol(Algorithm):
    """A Sobol sequence with a random digital shift, which has no settings.

    The first 2^m points are the most even ones for each m. Another seed shifts all of them.
    """

    several: ClassVar[bool] = True
    takes_fidelity: ClassVar[bool] = True

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        return sobol(domain, book, rng)


def sobol(domain: Domain, book: Book, rng: np.random.Generator) -> Search:
    """Ask for the points of the sequence until every point of the domain is known."""
    book.begin()
    points = sequence(domain.dim, rng)
    while not book.met_all(domain):
        some = map(domain.snap, islice(points, MISSES))
        x = next(filter(domain.allowed, some), None)
        x = domain.draw(rng) if x is None else x
        if x is None:
            return NO_MORE_ALLOWED if book.asked else NONE_ALLOWED
        yield from book.evaluate_point(x, DESIGN)
    return ALL_MET


def sequence(dim: int, rng: np.random.Generator) -> Iterator[Array]:
    """The points of a Sobol sequence, with the binary digits that a shift says turned over.

    Without a shift, the first point would be a corner of the space. scipy's own scrambling differs
    between versions, and a study has to ask for the same points with all of them.
    """
    from scipy.stats import qmc  # takes long to load

    source = qmc.Sobol(dim, scramble=False, bits=BITS)
    shift = rng.integers(0, 2**BITS, dim)
    while True:
        whole = (source.random(BLOCK) * 2**BITS).astype(np.int64)
        yield from ((whole ^ shift) + 0.5) / 2**BITS
