"""Uniform random search: the baseline that every other algorithm must beat."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..space.axes import Domain
from .algorithm import Algorithm
from .book import ALL_MET, NO_MORE_ALLOWED, NONE_ALLOWED, Book
from .search import RANDOM, Search


@dataclass(frozen=True)
class Random(Algorithm):
    """Random search, which has no settings."""

    several: ClassVar[bool] = True
    takes_fidelity: ClassVar[bool] = True

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        return random_search(domain, book, rng)


def random_search(domain: Domain, book: Book, rng: np.random.Generator) -> Search:
    """Ask for independent uniform points until every point of the domain is known."""
    book.begin()
    while not book.met_all(domain):
        x = domain.draw(rng)
        if x is None:
            return NO_MORE_ALLOWED if book.asked else NONE_ALLOWED
        yield from book.evaluate_point(x, RANDOM)
    return ALL_MET
