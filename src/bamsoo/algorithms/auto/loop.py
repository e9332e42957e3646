"""The main loop of the default algorithm, and its settings.

The loop is the paper's Algorithm 3, except that its prior is learned from the values and that some
evaluations go to points that models propose instead of to cells of the tree. docs/auto.md explains
what is added to the paper's algorithm, and why.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf
from typing import ClassVar, Protocol

import numpy as np

from ...base.checks import check_between, check_kind
from ...base.typing import Array
from ...model.gp import Posterior
from ...model.learning import LEARNING, Learning
from ...model.prior import PriorConstants
from ...space.axes import Domain
from ..algorithm import Algorithm
from ..book import Book, leftovers
from ..search import DESIGN, Search, Waiting, sqrt_h_max
from ..tree import Tree
from .axes import Axes, AxesConstants
from .candidates import CandidateConstants, Candidates
from .climb import Climb, ClimbConstants, Shared
from .demand import Demand, DemandConstants
from .design import untried
from .failures import FailureConstants, Failures
from .fit import FitConstants, Fits
from .front import Front, FrontConstants
from .local import LocalConstants
from .newton import Newton, NewtonConstants
from .one import LoopConstants, One
from .prior import Prior
from .regime import Regime
from .schedule import Proposer, Schedule, ScheduleConstants
from .worth import Width


@dataclass(frozen=True)
class Constants:
    """All constants of the default; each class has its own, with their reasons, beside it.

    The values were chosen by measurements on development instances, which the comparisons in
    docs/benchmarks do not use. `lab/benchmarks/ablation.py` shows what each part contributes.
    Experiments pass another instance to `Auto`; nothing changes constants in place.
    """

    loop: LoopConstants = field(default_factory=LoopConstants)
    prior: PriorConstants = field(default_factory=PriorConstants)
    schedule: ScheduleConstants = field(default_factory=ScheduleConstants)
    axes: AxesConstants = field(default_factory=AxesConstants)
    climb: ClimbConstants = field(default_factory=ClimbConstants)
    local: LocalConstants = field(default_factory=LocalConstants)
    candidates: CandidateConstants = field(default_factory=CandidateConstants)
    demand: DemandConstants = field(default_factory=DemandConstants)
    failures: FailureConstants = field(default_factory=FailureConstants)
    newton: NewtonConstants = field(default_factory=NewtonConstants)
    fit: FitConstants = field(default_factory=FitConstants)
    front: FrontConstants = field(default_factory=FrontConstants)
    learning: Learning = LEARNING


CONSTANTS = Constants()


@dataclass(frozen=True)
class Auto(Algorithm):
    """Settings of the default algorithm; none of them has to be changed.

    Parameters
    ----------
    eta, k, h_max
        As in `BaMSOO`.
    patience : int
        As in `BaMSOO`, but at most 10,000 divided by the number of evaluations so far.
    width : float
        The share of B_N by which sigma is multiplied. The union bound behind B_N is loose, so a
        share below 1 is enough.
    warp : bool
        Whether the GP may see the values on a logarithmic scale, where that is more likely. A given
        variance of the noise switches this off, since it is a variance of the values and not of
        their logarithms.
    local : bool
        Whether some evaluations go to points that models propose, outside the tree.
    noise : float or "learn"
        The variance of the noise in a value, in squared units of the values; 0 if values are exact,
        "learn" if it is unknown and to be learned with the prior.
    constants : Constants
        The constants of all parts, for experiments.
    """

    takes_noise: ClassVar[bool] = True
    learns_noise: ClassVar[bool] = True
    learns_prior: ClassVar[bool] = True
    several: ClassVar[bool] = True
    takes_fidelity: ClassVar[bool] = True
    cheap: ClassVar[bool] = True

    eta: float = 0.05
    k: int = 2
    h_max: Callable[[int], float] = sqrt_h_max
    width: float = 0.5
    patience: int = 100
    warp: bool = True
    local: bool = True
    noise: float | str = 0.0
    constants: Constants = CONSTANTS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("Auto", "width", self.width, 0.0)
        check_kind("Auto", "constants", self.constants, Constants)

    def start(self, domain: Domain, rng: np.random.Generator, book: Book) -> Search:
        """Begin a search."""
        for_cells, for_steps = rng.spawn(2)
        tree = Tree(domain, self.k, for_cells if Regime.of(domain, book).draws else None)
        return auto(self, domain, tree, book, for_steps)


class Mode(Protocol):
    """What differs between the search for one best value and that for a front."""

    @property
    def posterior(self) -> Posterior | None:
        """What is known about the cells that were split last, where it can be used again."""

    @property
    def width(self) -> Width:
        """The width of the bounds, which counts the nodes."""

    def design(self) -> Iterable[Array]:
        """The points of a first design, whose place values from before the search take."""

    def begin(self) -> None:
        """Learn from the values that have arrived, before a sweep over the tree."""

    def split(self, children: range) -> None:
        """Look at the children of a leaf."""

    def judge(self, i: int, child: int) -> tuple[bool, float]:
        """Whether the next of these is worth an evaluation, and its grade without one."""

    def evaluated(self) -> None:
        """Note that a node is evaluated."""

    def rejected(self) -> None:
        """Note that a node is rejected."""

    def steps(self) -> Waiting:
        """Take the steps outside the tree that are due."""


def auto(
    settings: Auto, domain: Domain, tree: Tree, book: Book, rng: np.random.Generator
) -> Search:
    """BaMSOO (Algorithm 3) with a learned prior, and with steps that models propose."""
    constants, learning = settings.constants, settings.constants.learning
    prior = Prior(tree, book, settings.warp, settings.noise, constants.prior, learning)
    failures = Failures(domain, book, constants.failures, learning)
    demand = Demand(domain, book, rng, constants.demand)
    candidates = Candidates(domain, tree, book, failures, demand, rng, constants.candidates)
    book.begin(tree, prior.gps, noisy=bool(settings.noise))
    share = settings.width * (constants.loop.drawn_width if Regime.of(domain, book).draws else 1.0)
    limits = Width(share, settings.eta), settings.patience, settings.local
    parts = domain, tree, book, rng, prior
    mode: Mode
    if book.several:
        mode = Front(*parts, failures, candidates, *limits, constants.front)
    else:
        shared = Shared(book, constants.climb)
        place, how = (domain, book, failures, rng, shared), (constants.climb, constants.local)
        climbs: list[Proposer] = [
            Climb(*place, wide, *how, learning)
            for wide in (False, True)
            if (constants.climb.wide if wide else constants.climb.close)
        ]
        newton = Newton(*place, False, *how, learning, newton=constants.newton)
        fit = Fits(domain, book, failures, rng, newton, constants.fit)
        axes = Axes(domain, book, constants.schedule.tries, constants.axes)
        schedule = Schedule(
            domain, book, axes, climbs, candidates, candidates.promise, fit, demand,
            constants.schedule,
        )  # fmt: skip
        mode = One(*parts, demand, schedule, shared, *limits, constants.loop)
    yield from book.evaluate(0)
    if book.t <= 1:
        for x in mode.design():
            yield from book.evaluate_point(x, DESIGN)
    if book.known.R.shape[1]:
        yield from mode.steps()
    while True:
        mode.begin()
        nu_max, expanded = -inf, False
        for h in tree.sweep(settings.h_max(book.n)):
            leaf = tree.best_leaf(h)
            if leaf is None or (expanded and tree.g[leaf] <= nu_max):
                continue
            nu_max, expanded = tree.g[leaf], True
            children = tree.split(leaf)
            mode.split(children)
            for i, child in enumerate(children):
                mode.width.N += 1
                if not tree.is_new(child):
                    continue
                worth, g = mode.judge(i, child)
                worth = worth or untried(tree, leaf, child, book)
                if worth and not failures.avoids(tree.centre(child)):
                    mode.evaluated()
                    yield from book.evaluate(child, g, mode.posterior, i)
                else:
                    mode.rejected()
                    book.reject(child, g)
            book.n += 1
            yield from mode.steps()
        if not expanded:
            return (yield from leftovers(tree, book))
