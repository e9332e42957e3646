"""The main loop of the default algorithm, and its settings.

The loop is the paper's Algorithm 3, except that its prior is learned from the values and that some
evaluations go to points that models propose instead of to cells of the tree. docs/auto.md explains
what is added to the paper's algorithm, and why.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import ClassVar

import numpy as np

from ...base.checks import check_between, check_kind
from ...model.learning import LEARNING, Learning
from ...model.prior import PriorConstants
from ...space.axes import Domain
from ..algorithm import Algorithm
from ..book import Book, leftovers
from ..search import DESIGN, B, Search, sqrt_h_max
from ..tree import Tree
from .axes import Axes, AxesConstants
from .candidates import CandidateConstants, Candidates
from .climb import Climb, ClimbConstants, Shared
from .demand import Demand, DemandConstants
from .design import design, untried
from .failures import FailureConstants, Failures
from .fit import FitConstants, Fits
from .front import Front, FrontConstants
from .local import LocalConstants
from .newton import Newton, NewtonConstants
from .prior import Prior
from .schedule import Proposer, Schedule, ScheduleConstants


@dataclass(frozen=True)
class LoopConstants:
    """Constants of the main loop."""

    work: int = 10_000
    """At most work / (t (1 + m)) nodes are rejected in a row, where t is the number of evaluations
    so far and m that of measured constraints, each of which has a model of its own. The bounds of a
    node cost more as both grow, and a run of rejections must not cost more than an evaluation is
    worth."""

    mixed_width: float = 0.5
    """In spaces with whole numbers or options, the width of the bounds is multiplied by this. There
    the points of cells are drawn at random and steps go far, so the search explores even if the
    tree does less of it."""

    design: int = 2
    """If constraints are measured, the first design has at least this many points more than there
    are axes. The models of constraints need points that differ along every axis."""


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
        tree = Tree(domain, self.k, for_cells if domain.mixed else None)
        return auto(self, domain, tree, book, for_steps)


def auto(
    settings: Auto, domain: Domain, tree: Tree, book: Book, rng: np.random.Generator
) -> Search:
    """BaMSOO (Algorithm 3) with a learned prior, and with steps that models propose."""
    constants, learning = settings.constants, settings.constants.learning
    share = settings.width * (constants.loop.mixed_width if domain.mixed else 1.0)
    prior = Prior(tree, book, settings.warp, settings.noise, constants.prior, learning)
    failures = Failures(domain, book, constants.failures, learning)
    demand = Demand(domain, book, rng, constants.demand)
    candidates = Candidates(domain, tree, book, failures, demand, rng, constants.candidates)
    book.begin(tree, prior.gps, noisy=bool(settings.noise))
    if book.several:
        front = Front(
            domain, tree, book, rng, prior, failures, candidates, share, settings.eta,
            constants.front,
        )  # fmt: skip
        return (yield from front.search(settings.h_max, settings.patience, settings.local))
    shared = Shared(book, constants.climb)
    climbs: list[Proposer] = [
        Climb(domain, book, failures, rng, shared, wide, constants.climb, constants.local, learning)
        for wide in (False, True)
        if (constants.climb.wide if wide else constants.climb.close)
    ]
    newton = Newton(
        domain, book, failures, rng, shared, False, constants.climb, constants.local, learning,
        newton=constants.newton,
    )  # fmt: skip
    fit = Fits(domain, book, failures, rng, newton, constants.fit)
    axes = Axes(domain, book, constants.schedule.tries, constants.axes)
    schedule = Schedule(
        domain, book, axes, climbs, candidates, candidates.promise, fit, demand,
        constants.schedule,
    )  # fmt: skip
    yield from book.evaluate(0)
    # if values are known from before, they take the place of a first design
    if (domain.mixed or book.limits is not None) and book.t <= 1:
        least = 0 if book.limits is None else domain.dim + constants.loop.design
        for x in design(domain, rng, least):
            yield from book.evaluate_point(x, DESIGN)
    if settings.local and book.known.R.shape[1]:
        yield from schedule.steps(settings.patience)
    N = 1
    while True:
        width = share * B(N, settings.eta)
        book.learn_limits(width * float(prior.calibrations[0]))
        if prior.update():
            book.width = width * float(prior.calibrations[0])
            book.rebound()
        shared.rough = prior.rough
        rows = max(book.t, 1) * (1 + book.known.count)
        patience = min(settings.patience, max(constants.loop.work // rows, 1))
        nu_max, expanded = -inf, False
        # centres of cells lie apart, so they need no demand to leave a plateau; drawn points do
        goal = demand.goal() if domain.mixed and settings.local and prior.ready else demand.least
        for h in tree.sweep(settings.h_max(book.n)):
            leaf = tree.best_leaf(h)
            if leaf is None or (expanded and tree.g[leaf] <= nu_max):
                continue
            nu_max, expanded = tree.g[leaf], True
            children = tree.split(leaf)
            posterior = book.gps[0].at(tree.centres(children))
            ahead = book.ahead(tree.centres(children))
            dull = demand.is_dull(tree.centres(children))
            for i, child in enumerate(children):
                N += 1
                if not tree.is_new(child):
                    continue
                width = share * float(prior.calibrations[0]) * B(N, settings.eta)
                lcb, ucb = posterior.bounds(i, width)
                worth = ucb >= max(goal, book.f_plus) and ahead.can_meet(i) and not dull[i]
                worth = worth or not prior.ready or schedule.forces(patience)
                worth = worth or untried(tree, leaf, child, book)
                g = ahead.grade(i, lcb)
                if worth and not failures.avoids(tree.centre(child)):
                    schedule.evaluated()
                    yield from book.evaluate(child, g, posterior, i)
                else:
                    schedule.rejected()
                    book.reject(child, g)
            book.n += 1
            if settings.local and (prior.ready or book.known.R.shape[1]):
                yield from schedule.steps(patience)
        if not expanded:
            return (yield from leftovers(tree, book))
