"""The numbers that decide what the default does, each with its reason.

They were chosen by measuring on problems that no table reports (`benchmarks/ablation.py` shows what
each part is worth). An ablation passes other instances; nothing patches a module.
"""

from dataclasses import dataclass, field

from ...model.learning import LEARNING, Learning
from ...model.prior import PriorConstants


@dataclass(frozen=True)
class LoopConstants:
    """Of the loop and of the schedule by which the prior is learned anew."""

    first_fit: int = 4
    """Values before the first fit: fewer say nothing about lengths."""

    growth: int = 4
    """The prior is fitted again when the values have grown by one part in this many, so that all
    fits together cost a constant factor more than the last one."""

    shortest_gap: int = 2
    """Evaluations between two fits, at least."""

    longest_gap: int = 250
    """Evaluations between two fits, at most: the GP's factor grows by no more rows than this
    before it is thinned out again, so a suggestion never gets slower."""

    rows: int = 1000
    """Points the GP starts from after a fit. Bounds far from the best need few of them; the time of
    a suggestion grows with the square of this."""

    work: int = 10_000
    """Rejections in a row, times evaluations so far, before one must be evaluated: bounds late in a
    run are dear, and a run of rejections must not cost more than an evaluation is worth."""

    explorations: int = 3
    """After a run of rejections, as many evaluations go to the most promising candidate of all
    leaves, where steps explore, before the next one goes to a cell whatever its bound."""

    most_options: int = 12
    """Options of one parameter that are all tried at the start; of more, so many."""

    mixed_width: float = 0.5
    """Share of the bounds' width where some axes are whole numbers or options: there points are
    drawn and steps go far, so the tree may leave more of the exploring to them."""

    same: float = 4.0
    """A local step nearer than this many finest steps of an axis to a known point is that point:
    rounding would make the two equal."""


@dataclass(frozen=True)
class LocalConstants:
    """Of the local model."""

    close: int = 4
    """Points of the close view, per dimension: enough for a linear model and its curvature along
    the axes. More would look past the valley's next bend."""

    wide: float = 1.6
    """Points of the wide view, as a multiple of what a full quadratic needs: with 1 a quadratic
    would fit any values, noise and error included. A view of no points is left out."""

    widest: int = 100
    """Points of the wide view, at most: a fit costs the cube of this, and in twenty dimensions a
    full quadratic would need more points than a run has."""

    typical: float = 2.0
    """Length-scale expected of a model whose points fill [-1, 1]^D: smoother than that is what a
    trust region is for."""

    trends: tuple[float, ...] = (0.0, 1.0)
    """Weights of the quadratic trend that are tried; the likelier is used."""

    steps: int = 4
    """Steps of a fit, from where the last one of its kind ended."""

    bend: float | None = 0.2
    """Heights are linear below what this share of the values does not reach, logarithmic above;
    None: values are never taken as logarithms."""

    thin: float = 1e-3
    """No side of a frame is thinner than this share of its longest: beyond, rounding decides."""

    curved: float = 1e-2
    """The smallest curvature that the next frame takes into account, as a share of the largest. A
    frame may thus stretch by a factor of 10 from one step to the next, no more."""

    tries: int = 4
    """Steps in vain, times D + 1, before local steps become rarer."""

    rarest: int = 5
    """Local steps become rarer by up to 2 to this power."""

    skewed: float = 1e8
    """A frame with a larger condition number has lost its way: begin again along the axes."""

    same: float = 0.25
    """A step that ends nearer than this share of its length to one that is out is that one."""

    scales: tuple[float, ...] = (2.0, 0.5, 4.0, 0.25)
    """With several evaluations out and a step to the top among them, others go to the top within
    trust regions of these sizes: a line search whose trials do not wait for each other,"""

    around: float = 1.0
    """and then beside the top, at this share of the step to it."""

    probe: float = 0.25
    """Length of a step along an axis on which nothing is known: from the centre of the cube, half
    way to its wall. 0: no probes."""

    few: int = 4
    """Up to this many axes the tree has soon cut each; above, the local model probes them."""

    widen: float = 2.0
    narrow: float = 0.7
    narrowest: float = 0.03
    """The trust region's factor after a better step and after a worse one, and its least radius.
    Two better steps make up for four worse ones; 0.03 still lets a step be seen by the model."""

    calm: tuple[float, float, float] = (1.5, 0.85, 0.2)
    """The same three under noise, where luck decides often whether a step is better: a region that
    shrank as fast would be too small to tell the slope from the noise."""

    after_better: int = 3
    """Local steps per evaluation in the tree while the last one was better."""

    otherwise: tuple[int, int] = (1, 3)
    """Local steps per evaluation in the tree otherwise: with few axes, with many. In many
    dimensions the tree needs thousands of cells to come as near as a model does."""

    climb: int = 50
    """Iterations of the climb to the model's top, at most."""

    failing: int = 2
    """Points of each side, times D + 1, that the edge of failures is drawn between: the nearest,
    since an edge is straight only from near."""

    heavy: float = 100.0
    """Weight of the condition that shares sum to 1, where the edge is found by least squares."""

    apart: float = 1e-4
    """The two sides count as parted if the square of the gap between them, in units of the distance
    to the nearest failure, is larger."""

    nuggets: tuple[float, ...] = (1e-12, 1e-10, 1e-8)
    """Tried in turn on the diagonal until the covariance can be factored."""


@dataclass(frozen=True)
class NearConstants:
    """Of the candidates near the best points and in the leaves."""

    work: float = 30_000.0
    counts: tuple[int, int] = (32, 256)
    """Candidates of each of the two kinds: `work` over the rows of the GP, between these, so that
    ranking them costs no more as the GP grows."""

    parents: int = 5
    falling: float = 0.6
    """Neighbours are drawn around so many of the best points; the next one has this share of the
    chance of the one before it. One parent alone would search one basin alone."""

    axes: float = 2.0
    """Axes along which a neighbour is moved, on average: a better point usually differs in a few
    parameters."""

    sizes: tuple[float, float] = (0.01, 0.5)
    """Steps along an axis have sizes between these, evenly on a log scale."""

    crossed: float = 0.3
    """Some candidates take each parameter from another point among this share of the best: what is
    good in one of them often is good in the others too."""

    memory: float = 0.7
    """Weight of the past in what a kind of step is worth: about three steps are remembered."""

    worth: float = 0.3
    """What a step near the best is taken to be worth at first, as its chance of being better. The
    local model goes first, and may fail four times in a row before these steps have a turn."""

    least: float = 0.05
    """No kind of step is worth less than this, so that it has its turn again."""


@dataclass(frozen=True)
class StallConstants:
    """Of what a point must be able to gain while the best value stands still."""

    real: float = 1e-3
    """A gain of less than this share of the values' deviation is none: on a plateau with rounding
    errors, or along an axis with next to no influence, every few steps gain that much."""

    free: int = 5
    """Evaluations without a gain before anything is asked for: about as many as one turn of the
    tree and the steps that go with it."""

    doubling: float = 4.0
    """Evaluations without a gain in which the largest share doubles."""

    shares: tuple[float, float] = (0.01, 1.0)
    """The least share of the deviation that is asked for, and the largest. The best is rarely more
    than two deviations above the mean, so with 1 little but the unknown is left."""


@dataclass(frozen=True)
class BranchConstants:
    """Of the steps in options that bring along parameters of their own."""

    falling: float = 0.5
    """Of the options of a choice, ranked by their best values, each has this share of the
    evaluations of the one before it. With 0 only the best option has steps; with 1 all have
    equally many."""


@dataclass(frozen=True)
class FailureConstants:
    """Of the model of failures."""

    length: float = 0.25
    variance: float = 0.25
    noise: float = 0.1
    """The prior while there are few failures or few successes: length-scales, variance of the
    indicator, and its noise as a share of that, for failures that have nothing to do with the
    point."""

    fewest: int = 3
    """Failures, and successes, before the prior is learned from them."""

    growth: float = 1.2
    """It is learned anew when there are this many times as many."""

    most: int = 100
    """Points of each side that the model is made of: the failures are the latest ones."""

    steps: int = 10
    """Steps of a fit."""

    least: float = 0.01
    """No probability of success is below this, and this multiplies one where a failure is
    expected."""

    threshold: float = 0.5
    """A failure is expected where success is less probable than this,"""

    sure: float = 0.8
    """and beside a failure, where it is less probable than this: the nearest evaluation says more
    about a sharp edge than a smooth model can."""

    optimism: float = 0.5
    """Deviations that are added to the probability for cells of the tree: what is unknown there
    is to be found out."""

    patience: int = 500
    """Cells left out in a row because a failure is expected, before one is evaluated all the same:
    no region is closed for ever."""

    blind: int = 2
    """The same while every evaluation has failed."""


@dataclass(frozen=True)
class ConstrainedConstants:
    """Of the steps near the best point where there are constraints."""

    close: float = 3.0
    """Points of the close view, times D + 1: a few more than a linear model needs."""

    wide: float = 1.5
    """Points of the wide view, times (D + 1)(D + 2): more than a quadratic model has
    coefficients."""

    radius: float = 0.25
    widen: float = 2.0
    narrow: float = 0.5
    narrowest: tuple[float, float] = (1e-7, 0.05)
    """The trust region's radius at first, as a share of each axis, its factors after a step that
    was better and after one that was not, and its least in the close and in the wide view: from
    there it begins anew. So the wide view always looks around, for another whole number too."""

    flattest: float = 0.01
    """The trust region's shortest side, as a share of its longest."""

    widest: float = 0.3
    """A margin is never wider than this, in units of a constraint's usual size."""

    penalty: float = 30.0
    """What missing a constraint by its usual size costs, in units of the objective's usual size."""

    starts: int = 3
    """Points that the small problem is solved from, besides one that is drawn."""

    steps: int = 60
    """Steps of its solver."""

    slack: float = 1e-9
    """A constraint is met by the models where it is missed by no more than this."""

    rounded: int = 3
    """Whole numbers that are rounded either way; further ones are rounded to the nearest."""

    same: float = 1e-3
    """A solution nearer than this share of the trust region to a known point is that point."""

    spread: int = 50
    """Points drawn to find one far from all others, where the solution is known already."""

    reach: float = 0.01
    tries: int = 8
    """How far a solution may be moved to meet the constraints known in advance, as a share of each
    axis; and how many points are tried there."""

    per_tree: float = 4.0
    """Steps per evaluation in the tree."""

    patience: int = 3
    """Steps in vain, times D + 1, before they become rarer."""

    design: int = 2
    """Points of the first design beyond one for each axis, where constraints are measured: models
    of constraints need points that differ along every axis."""


@dataclass(frozen=True)
class Constants:
    """All of them."""

    loop: LoopConstants = field(default_factory=LoopConstants)
    prior: PriorConstants = field(default_factory=PriorConstants)
    local: LocalConstants = field(default_factory=LocalConstants)
    near: NearConstants = field(default_factory=NearConstants)
    stall: StallConstants = field(default_factory=StallConstants)
    branches: BranchConstants = field(default_factory=BranchConstants)
    constrained: ConstrainedConstants = field(default_factory=ConstrainedConstants)
    failures: FailureConstants = field(default_factory=FailureConstants)
    learning: Learning = LEARNING


CONSTANTS = Constants()
