"""The base class of algorithms: settings that can start a search and say what it can do."""

from typing import ClassVar

import numpy as np

from ..kernels import Kernel
from ..space.axes import Domain
from .book import Book
from .search import Search


class Algorithm:
    """The settings of an algorithm: frozen, checked when made, and able to start its search.

    A subclass is a frozen dataclass. It declares what the rest of the package has to know about it
    by the class variables below, and sets the attributes below them by fields of the same name.
    """

    repeats: ClassVar[bool] = False
    """Whether it evaluates points repeatedly, to average the noise in their values."""
    takes_noise: ClassVar[bool] = False
    """Whether it has a field `noise`."""
    learns_noise: ClassVar[bool] = False
    """Whether `noise` may be "learn"."""
    learns_prior: ClassVar[bool] = False
    """Whether its model says nothing until a prior has been learned from the first values."""
    several: ClassVar[bool] = False
    """Whether it can search with several objectives."""
    takes_fidelity: ClassVar[bool] = False
    """Whether a space may have a `Fidelity`."""
    cheap: ClassVar[bool] = False
    """Whether it makes use of evaluations below the top of a `Fidelity`."""
    plans: ClassVar[bool] = False
    """Whether it has a field `budget`, which `minimize` fills in if it is None."""

    noise: float | str = 0.0
    eta: float = 0.05
    """Its bounds hold together with probability 1 - eta."""
    kernel: Kernel | None = None
    """The prior, if it is given and not learned."""
    budget: int | None = None

    def start(self, domain: Domain, rng: np.random.Generator, book: Book, sign: float) -> Search:
        """Begin a search.

        `sign` is -1 if the caller minimises and 1 otherwise; settings that are in the caller's
        sense, such as a prior mean, are multiplied by it.
        """
        raise NotImplementedError
