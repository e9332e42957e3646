"""Uniform random search: what everything must beat."""

from dataclasses import dataclass

import numpy as np

from ..space.axes import Domain
from .book import ALL_MET, Book
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
        yield from book.evaluate_point(domain.snap(rng.random(domain.dim)))
    return ALL_MET
