"""Uniform random search: what everything must beat."""

from dataclasses import dataclass

import numpy as np

from .base import Book, Domain, Search


@dataclass(frozen=True)
class Random:
    """Settings of random search; there are none."""

    def start(self, domain: Domain, rng: np.random.Generator, book: Book, sign: float) -> Search:
        """Begin a search."""
        return random_search(domain.dim, book, rng)


def random_search(dim: int, book: Book, rng: np.random.Generator) -> Search:
    """Independent uniform points, for ever."""
    book.begin()
    while True:
        yield from book.evaluate_point(rng.random(dim))
