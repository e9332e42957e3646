"""Uniform random search: what everything must beat."""

from dataclasses import dataclass

import numpy as np

from ..space.axes import Domain
from .book import ALL_MET, NO_MORE_ALLOWED, NONE_ALLOWED, Book
from .search import Search


@dataclass(frozen=True)
class Random:
    """Settings of random search; there are none."""

    def start(self, domain: Domain, rng: np.random.Generator, book: Book, sign: float) -> Search:
        """Begin a search."""
        return random_search(domain, book, rng)


def random_search(domain: Domain, book: Book, rng: np.random.Generator) -> Search:
    """Independent uniform points, as long as there are any."""
    book.begin()
    while not book.met_all(domain):
        x = domain.draw(rng)
        if x is None:
            return NO_MORE_ALLOWED if book.asked else NONE_ALLOWED
        yield from book.evaluate_point(x)
    return ALL_MET
