"""What every algorithm is: a settings object that can start a search."""

from typing import Protocol

import numpy as np

from ..space.axes import Domain
from .book import Book
from .search import Search


class Algorithm(Protocol):
    """A settings object: frozen, checked when made, and able to start its search."""

    def start(self, domain: Domain, rng: np.random.Generator, book: Book, sign: float) -> Search:
        """Begin; `sign` is -1 where the caller minimises, for settings in the caller's sense."""
        ...
