"""The constants of the default algorithm, each with its meaning and its reason.

The values were chosen by measurements on development instances, which the comparisons in
docs/benchmarks.md do not use. `lab/benchmarks/ablation.py` shows what each part of the algorithm
contributes. Experiments pass other instances of these classes to `Auto`; nothing changes a module's
constants in place.
"""

from dataclasses import dataclass, field

from ...model.learning import LEARNING, Learning
from ...model.prior import PriorConstants


@dataclass(frozen=True)
class LoopConstants:
    """Constants of the main loop, and of the schedule by which the prior is refitted."""

    first_fit: int = 4
    """The number of values before the first fit. Fewer say nothing about length-scales."""

    growth: int = 4
    """The prior is refitted when the number of values has grown by a factor of 1 + 1/growth. The
    total cost of all fits is then a constant multiple of the cost of the last one."""

    shortest_gap: int = 2
    """The smallest number of evaluations between two fits, which matters early in a run."""

    longest_gap: int = 250
    """The largest number of evaluations between two fits. Each fit reduces the GP to at most `rows`
    points, so this limits how far the GP can grow, and with it the time of a suggestion."""

    rows: int = 1000
    """The largest number of points in the GP right after a fit. Bounds far from the best point need
    few of them, and the time of a suggestion grows with the square of this number."""

    work: int = 10_000
    """At most work / t nodes are rejected in a row, where t is the number of evaluations so far.
    The bounds of a node cost more as t grows, and a run of rejections must not cost more than an
    evaluation is worth."""

    explorations: int = 3
    """After a run of rejections, the next evaluation goes to the most promising candidate from all
    leaves. After this many of them, it goes to the next node of the tree, whatever its bound. Only
    spaces with whole numbers or options and without constraints have such candidates; elsewhere
    every run of rejections ends in the tree."""

    most_options: int = 12
    """The first design tries every option of a parameter that has up to this many. With a larger
    limit, a parameter with hundreds of options would use up the budget."""

    mixed_width: float = 0.5
    """In spaces with whole numbers or options, the width of the bounds is multiplied by this. There
    the points of cells are drawn at random and steps go far, so the search explores even if the
    tree does less of it."""

    same: float = 4.0
    """A local step counts as a known point if it differs from that point by no more than this many
    of the axis's smallest steps on every axis. Rounding could make the two equal."""


@dataclass(frozen=True)
class LocalConstants:
    """Constants of the local model."""

    close: int = 4
    """The number of points of the close view, per dimension. This is enough for a linear model and
    its curvature along the axes; more points would reach beyond the next bend of a valley. With 0
    the view is not used."""

    wide: float = 1.6
    """The number of points of the wide view, as a multiple of what a full quadratic needs. With 1 a
    quadratic could be fitted to any values, including their noise and errors. With 0 the view is
    not used."""

    widest: int = 100
    """The largest number of points of the wide view. The cost of a fit grows with the cube of this
    number, and in twenty dimensions a full quadratic would need more points than a run has."""

    typical: float = 2.0
    """The length-scale that is expected a priori, in a frame in which the points fill [-1, 1]^D. It
    is long because a trust region is a place where the function is expected to be smooth."""

    trends: tuple[float, ...] = (0.0, 1.0)
    """The weights of the quadratic trend that are tried; the most likely one is used. 0 means no
    trend."""

    steps: int = 4
    """The number of steps by which the length-scales are improved at each proposal, starting from
    where they were left at the last one."""

    bend: float | None = 0.2
    """The logarithm of heights turns linear below the height that this share of the values do not
    reach. None means that logarithms are never taken."""

    thin: float = 1e-3
    """No side of a frame is shorter than this share of its longest side. Below that, rounding
    errors would decide."""

    curved: float = 1e-2
    """The smallest curvature that the next frame takes into account, as a share of the largest. As
    the frame is scaled by the square root, it stretches by at most a factor of 10 from one step to
    the next."""

    tries: int = 4
    """After this number times D + 1 steps in a row without an improvement, local steps become
    rarer, by a factor of 2 for each further one."""

    rarest: int = 5
    """Local steps become rarer by a factor of at most 2 to the power of this number."""

    skewed: float = 1e8
    """A frame with a larger condition number than this no longer describes the curvature. It is
    dropped, and the next one starts from the coordinate axes."""

    same: float = 0.25
    """If a step ends within this share of its own length of a pending step, the two count as the
    same step, and the new one has to go elsewhere."""

    optimism: float = 1.0
    """If a step to the top of the model is pending already, the next one goes to the largest mean +
    this * sigma, where sigma counts pending points as known. With 0.5 or 2, runs with eight workers
    need about as many evaluations."""

    closest: float = 0.01
    """The smallest distance of such a step from known and pending points, as a share of the
    distance between the best point and the top. Closer points would tell next to nothing, so a cell
    of the tree is evaluated instead. With 0.1 or 0.25, runs with eight workers need about as many
    evaluations."""

    probe: float = 0.25
    """The length of a step along an axis on which all points agree, as a share of its range. From
    the centre of the cube it leads half-way to the boundary. With 0 there are no such steps."""

    few: int = 4
    """With at most this many axes, the tree soon splits along each of them, and the local model
    waits for it. With more, axes on which all points agree are probed first."""

    widen: float = 2.0
    """The radius of the trust region is multiplied by this after a step that improved. Two such
    steps make up for four without an improvement."""

    narrow: float = 0.7
    """The radius is multiplied by this after a step that did not improve."""

    narrowest: float = 0.03
    """The smallest radius, where 1 is the box around the points of the view. Within a smaller one
    the model could hardly tell the value of a step from the best value."""

    calm: tuple[float, float, float] = (1.5, 0.85, 0.2)
    """`widen`, `narrow` and `narrowest` under noise, where luck often decides whether a step seems
    better. A region that shrank as fast as without noise would soon be too small to tell the slope
    from the noise."""

    after_better: int = 3
    """The number of local steps for each evaluation in the tree if the last step improved."""

    otherwise: tuple[int, int] = (1, 3)
    """The number of local steps for each evaluation in the tree otherwise: first for up to `few`
    real axes, then for more axes and for mixed spaces. In many dimensions the tree needs thousands
    of cells to come as close as a model does."""

    climb: int = 50
    """The largest number of iterations of the climb to the top of the model."""

    failing: int = 2
    """The edge of a failing region is a plane between this number times D + 1 successes and as many
    failures. Only the nearest are used, because a curved edge looks straight only from close by."""

    heavy: float = 100.0
    """The edge is found by least squares over convex combinations of points. This is the weight of
    the condition that the coefficients of each combination sum to 1; it has to outweigh the
    distances, which are about 1."""

    apart: float = 1e-4
    """A plane is drawn only if the square of the gap between successes and failures is larger than
    this, in units in which the nearest failure is at distance 1. With a smaller gap the two sides
    count as overlapping."""

    nuggets: tuple[float, ...] = (1e-12, 1e-10, 1e-8)
    """The shares of the diagonal that are added to it, one after the other, until the covariance
    matrix can be factored."""


@dataclass(frozen=True)
class NearConstants:
    """Constants of the candidates near the best points and in the leaves."""

    work: float = 30_000.0
    """The number of candidates of each of the three kinds is this over the number of points in the
    GP, so that ranking them does not cost more as the GP grows."""

    counts: tuple[int, int] = (32, 256)
    """The smallest and the largest number of candidates of each kind, whatever `work` says."""

    parents: int = 5
    """Neighbours are drawn around this many of the best points. Around the best point alone, the
    search would stay in one basin."""

    falling: float = 0.6
    """The probability that a neighbour is drawn around one of these points, relative to that of the
    next better point."""

    axes: float = 2.0
    """The number of axes along which a neighbour is moved, on average. A better point usually
    differs in a few parameters only."""

    sizes: tuple[float, float] = (0.01, 0.5)
    """The standard deviation of a neighbour's step is drawn between these, evenly on a log scale,
    as a share of each axis. Small steps refine a good point, and large ones leave its basin."""

    crossed: float = 0.3
    """Mixtures take each parameter from a random point among this share of the best ones. What is
    good in one of these points is often good in the others too."""

    memory: float = 0.7
    """The estimated worth of a kind of step is an exponential average of its successes, and this is
    the weight of the past in it. About the last three steps count."""

    worth: float = 0.3
    """The worth of steps near the best at the start of a run, as a probability that one improves.
    The local model starts at 1, so it goes first and may fail four times in a row before the first
    step near the best."""

    least: float = 0.05
    """The worth of a kind of step never falls below this, so that it is tried again once the other
    kind fails too."""


@dataclass(frozen=True)
class StallConstants:
    """Constants of what a point must be able to gain while the best value does not improve."""

    real: float = 1e-3
    """A gain counts as real if it is larger than this share of the values' standard deviation. On a
    plateau with rounding errors, or along an axis with next to no influence, every few steps gain
    less than that."""

    free: int = 5
    """The number of evaluations without a real gain before a gain is required. That is about one
    evaluation in the tree and the steps that follow it."""

    doubling: float = 4.0
    """The number of further evaluations without a real gain after which the upper limit of the
    required share doubles."""

    shares: tuple[float, float] = (0.01, 1.0)
    """The smallest and the largest gain that can be required, as shares of the standard deviation.
    The best value is rarely more than two standard deviations above the mean, so if a gain of a
    whole one is required, hardly anything but unknown regions is left."""


@dataclass(frozen=True)
class BranchConstants:
    """Constants of the steps in options that have parameters of their own."""

    falling: float = 0.5
    """The options of a choice are ranked by their best values, and each receives this share of the
    evaluations of the next better one. With 0 all steps would go to the best option; with 1 all
    options would receive equally many."""


@dataclass(frozen=True)
class FailureConstants:
    """Constants of the model of failures."""

    length: float = 0.25
    """The length-scale of every axis until it can be learned. A failure then tells something about
    the points within a quarter of each axis, and little about the rest."""

    variance: float = 0.25
    """The variance of the indicator of success until it can be learned. An indicator that is 0 or 1
    with equal probability has this variance."""

    noise: float = 0.1
    """The noise in the indicator until it can be learned, as a share of `variance`. It stands for
    failures that have nothing to do with the point."""

    fewest: int = 3
    """The numbers of failures and of successes that are both needed before the three values above
    are learned."""

    growth: float = 1.2
    """They are learned again when the number of evaluations has grown by this factor."""

    most: int = 100
    """The largest number of failures in the model, and of successes. Of the failures, the latest
    are used; of the successes, the latest half and an even spread of the earlier ones."""

    steps: int = 10
    """The number of iterations of a fit."""

    least: float = 0.01
    """The smallest probability of success. Where a failure is expected, the probability is
    multiplied by this as well, which ranks such points behind all others."""

    threshold: float = 0.5
    """A failure is expected where success is less probable than this."""

    sure: float = 0.8
    """If the nearest evaluation failed, a failure is expected where success is less probable than
    this. At a sharp edge, the nearest evaluation says more than a smooth model can."""

    optimism: float = 0.5
    """For cells of the tree, this many standard deviations are added to the probability of success,
    because the tree is there to explore what is unknown."""

    patience: int = 500
    """After this many cells in a row were left out because a failure is expected, one is evaluated
    all the same, so that no region is closed for ever."""

    blind: int = 2
    """Takes the place of `patience` as long as every evaluation has failed, when the model has
    nothing to tell failures from."""


@dataclass(frozen=True)
class ConstrainedConstants:
    """Constants of the steps near the best point in problems with constraints."""

    close: float = 3.0
    """The number of points of the close view is this times D + 1, three times what a linear model
    needs."""

    wide: float = 1.5
    """The number of points of the wide view is this times (D + 1)(D + 2), three times the number of
    coefficients of a full quadratic."""

    radius: float = 0.25
    """The first radius of the trust region, as a share of each axis."""

    widen: float = 2.0
    """The radius is multiplied by this after a step that improved."""

    narrow: float = 0.5
    """The radius is multiplied by this after a step that did not improve."""

    narrowest: tuple[float, float] = (1e-7, 0.05)
    """The smallest radius of the close and of the wide view. A view that falls below it starts
    again from the first radius. So the close view can find an optimum to many digits, and the wide
    view keeps looking around, for other whole numbers too."""

    flattest: float = 0.01
    """The smallest ratio of the shortest side of the trust region to its longest. The sides follow
    the learned length-scales, which may be very long along an axis without influence."""

    margins: tuple[float, float] = (1e-9, 0.3)
    """The smallest and the largest margin that a step keeps from a constraint, in units of the
    constraint's typical size. Without a smallest one, a prediction that is right to the last digit
    ends on the wrong side of the boundary by rounding. Without a largest one, a single poor
    prediction could push the search far away from the boundary."""

    penalty: float = 30.0
    """The cost of violating a constraint by its typical size, in units of the objective's typical
    size. It is large, so that a violation is almost never worth its gain."""

    starts: int = 3
    """The number of known points from which the small problem is solved; one more start is drawn at
    random. The problem may have several local solutions."""

    steps: int = 60
    """The largest number of iterations of the solver."""

    slack: float = 1e-9
    """A solution counts as feasible for the models if it violates no constraint by more than this,
    which allows for the solver's rounding errors."""

    rounded: int = 3
    """The number of whole-number parameters that are rounded both up and down; any further ones are
    rounded to the nearest value. Each one doubles the number of problems to solve."""

    same: float = 1e-3
    """A solution counts as a known point if it is within this share of the trust region's radius of
    that point on every axis."""

    spread: int = 50
    """If every solution is a known point, this many points are drawn from the trust region, and the
    one farthest from all known points is evaluated."""

    reach: float = 0.01
    """How far a solution may be moved to satisfy the constraints that are known in advance, as a
    share of each axis."""

    tries: int = 8
    """The number of points that are tried within `reach`."""

    per_tree: float = 4.0
    """The number of these steps for each evaluation in the tree."""

    patience: int = 3
    """After this number times D + 1 steps in a row without an improvement, these steps become
    rarer, by a factor of 2 for each further one."""

    design: int = 2
    """If constraints are measured, the first design has at least this many points more than there
    are axes. The models of constraints need points that differ along every axis."""


@dataclass(frozen=True)
class Constants:
    """All constants of the default algorithm."""

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
