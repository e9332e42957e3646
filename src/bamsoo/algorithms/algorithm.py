"""The interface of an algorithm: a settings object that can start a search."""

from typing import Protocol

import numpy as np

from ..space.axes import Domain
from .book import Book
from .search import Search


class Algorithm(Protocol):
    """A settings object: frozen, checked when it is made, and able to start its search."""

    def start(self, domain: Domain, rng: np.random.Generator, book: Book, sign: float) -> Search:
        """Begin a search.

        `sign` is -1 if the caller minimises and 1 otherwise; settings that are in the caller's
        sense, such as a prior mean, are multiplied by it.
        """
        ...
