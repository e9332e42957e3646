"""The base class of algorithms: settings that can start a search and say what it can do."""

from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..base.checks import (
    MOST_CHILDREN,
    MOST_STEPS,
    check_between,
    check_callable,
    check_kind,
    check_noise,
    check_whole,
)
from ..base.sense import Sense
from ..errors import SettingsError
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
    """Whether it makes use of evaluations below the top of a `Fidelity`, and of what is believed
    about stopped evaluations when that changes."""
    plans: ClassVar[bool] = False
    """Whether it has a field `budget`, which `minimize` fills in if it is None."""

    noise: float | str = 0.0
    eta: float = 0.05
    """Its bounds hold together with probability 1 - eta."""
    kernel: Kernel | None = None
    """The prior, if it is given and not learned."""
    budget: int | None = None

    def __post_init__(self) -> None:
        """Check the settings that several algorithms have; a subclass checks its own as well."""
        checks = {**CHECKS, "h_max": check_whole if self.plans else check_callable}
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            if each.name in checks and (value is not None or each.default is not None):
                checks[each.name](type(self).__name__, each.name, value)
        if self.takes_noise:
            check_noise(type(self).__name__, self.noise, self.learns_noise)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        """Begin a search, which maximises."""
        raise NotImplementedError

    def to_maximise(self, sense: Sense) -> "Algorithm":
        """The same settings as a search takes them, which maximises: a prior mean is turned."""
        mean = getattr(self, "mean", None)
        if mean is None:
            return self
        turned: Algorithm = replace(self, mean=sense.turn(mean))  # type: ignore[type-var]
        return turned

    def own_budget(self) -> int:
        """The budget to plan for; raises an error that says how to set it if there is none."""
        if self.budget is None:
            name = type(self).__name__
            raise SettingsError(
                f"{name} plans for a budget of evaluations, but none was given; set it, as in "
                f"{name}(budget=200), or call minimize, which fills in its own"
            )
        return self.budget


CHECKS: dict[str, Callable[[str, str, Any], None]] = {
    "k": partial(check_whole, least=2, most=MOST_CHILDREN),
    "eta": partial(check_between, low=0.0, high=1.0),
    "mean": check_between,
    "kernel": partial(check_kind, kind=Kernel),
    "patience": partial(check_whole, most=MOST_STEPS),
    "budget": check_whole,
}
"""The checks of settings that several algorithms have, by name. A setting may be None if that is
its default."""


def planned(algorithm: Algorithm, budget: int | None) -> Algorithm:
    """The algorithm with this budget, if it plans for one and has none of its own."""
    if budget is None or not algorithm.plans or algorithm.budget is not None:
        return algorithm
    filled: Algorithm = replace(algorithm, budget=budget)  # type: ignore[type-var]
    return filled
