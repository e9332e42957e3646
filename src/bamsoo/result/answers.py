"""What limits the best point, what other limits would bring, and a point that tolerates errors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ..base.checks import brief, is_finite
from ..base.typing import Array
from ..errors import ModelError, SettingsError
from ..space import Space
from ..space.limit import Limit, Side, sides_of
from .measured import Numbers
from .predictor import Predictor
from .ranges import SURE
from .scene import Scene

SAME_WAY = 0.999
"""Limits whose slopes have a larger cosine hold a point in the same direction: neither has a price
of its own."""

TOUCHES = 1e-3
"""Of limits in one direction, those count whose distance is larger by at most this share of an
axis. Searches usually end closer."""

CLEAR = 3.0
"""The slope of the value is clear if it is longer than this many of its deviations. Inside all
limits, it is not."""

UNEXPLAINED = 0.1
"""The largest share of a clear slope that the limits named may leave unexplained if others explain
it."""

DRAWS = 200
"""Number of draws from the models behind an interval or a probability. With these, a probability of
90 % is known to 2 %."""

NEAR = 0.02
"""A constraint may hold the best point if a move of this share of an axis could reach its limit.
Most searches end closer; with much more, constraints count that a longer search would leave."""

SLOPE = 0.001
"""Half the distance between two points from which a slope is measured, as a share of an axis: far
above the errors of predictions among crowded points, and below the size of most features."""

CAUTION = 1.2816
"""A normal variable exceeds its mean by this many deviations with a probability of 1 - `SURE`."""

WITHIN = 1.6449
"""A normal variable is within this many deviations of its mean with the probability `SURE`."""

MISSES = 1e-3
"""A limit counts as missed beyond this many deviations of the prior of its number, which is far
above the errors of a climb."""

HILLS = 3
"""Number of the best hills of the models that an interval considers."""

CORNERS = 6
"""With more tolerances, not all corners of the box are looked at, but `SOME` at random, and those
to which the slopes of the models point."""

SOME = 16

DRAWN = 1000
"""Number of corners drawn to find forbidden ones. Hardly any of those of 8 tolerances is missed."""

ROUNDS = 5
"""How often the worst points within the tolerances are added to those that were looked at. Often
three are enough; each takes as long as a `what_if`."""

CHECKS = 4
"""The largest number of points in `Robust.checks`."""


@dataclass(frozen=True)
class Active:
    """A constraint, or a bound of a parameter, that holds the best point."""

    name: str
    """That of the measured number, of the parameter, or of the constraint known in advance."""
    limit: str
    """What has to hold, such as "Tpeak <= 520"."""
    slack: float
    """How far the best point is from the limit, in units of the number."""
    price: float
    """How much the value would gain per unit by which the limit were relaxed."""
    uncertainty: float
    """The standard deviation of the price, by the models."""

    def __str__(self) -> str:
        return f"{self.limit} (price {self.price:.3g} per unit, ± {self.uncertainty:.1g})"


class Forecast(NamedTuple):
    """The best point that the models expect under other limits."""

    params: dict[str, Any]
    fun: float
    """The value that is expected there."""
    low: float
    high: float
    """In between, the best value lies with a probability of 90 %, by the models."""


class Robust(NamedTuple):
    """The point whose worst value within some tolerances is best."""

    params: dict[str, Any]
    fun: float
    """The worst value within the tolerances; it is exceeded with a probability of 10 %."""
    sure: float
    """The probability that no point within the tolerances is worse than that, or infeasible."""
    checks: list[dict[str, Any]]
    """The points within the tolerances whose evaluation would tell most; none if all is clear."""


def scene_of(value: Predictor, numbers: Numbers) -> Scene:
    """The models with the limits and bounds of the study."""
    dim, constraints = value.space.domain.dim, numbers.constraints
    return Scene(value, numbers, constraints.limits, constraints, np.zeros(dim), np.ones(dim))


# --- what holds the best point


class Hold(NamedTuple):
    """Something that may hold a point: where its limit is, and its slopes in the cube."""

    name: str
    limit: str
    slack: float
    slopes: Array
    """Of what is missed, one row per draw; the first row is the mean."""
    unit: float
    """The length of a unit of the limit, in units of the slopes."""

    @property
    def size(self) -> float:
        """The length of the mean slope."""
        return max(float(np.linalg.norm(self.slopes[0])), 1e-300)


@np.errstate(over="ignore", invalid="ignore")  # prices of numbers near the largest floats
def active(scene: Scene, best: Array) -> list[Active]:
    """What holds the best point, most expensive first: by its share of the slope in the cube.

    At an optimum, the slope of the value is a sum of the slopes of what holds it, with factors that
    are not negative: the prices (Karush, Kuhn and Tucker). They are found by least squares, for the
    mean slopes and for draws from the models.
    """
    u = scene.space.encode(best)
    free = [i for i in scene.space.domain.continuous if best[i] == best[i]]
    if not free:
        return []
    gain = scene.value.sense.turn(_slopes(scene.value, u, free, 0))
    top = float(np.abs(gain).max()) or 1.0  # the squares of huge slopes would overflow
    if not np.isfinite(top):
        return []
    gain = gain / top
    holds = [each for each in _holds(scene, u, best, free) if _within_reach(each)]
    holds = [each for each in holds if not any(_comes_before(other, each) for other in holds)]
    if not holds:
        return []
    prices = _prices(gain, holds)
    sure = (prices[0] > 0.0) & ((prices[1:] > 0.0).mean(axis=0) >= SURE)
    chosen = _completed(gain, holds, prices, sure)
    if not np.array_equal(chosen, sure):
        prices[:] = 0.0
        prices[:, chosen] = _prices(gain, list(compress(holds, chosen)))
    found = []
    for j in np.flatnonzero(chosen).tolist():
        worth, doubt = prices[0, j] * holds[j].size, prices[1:, j].std() * holds[j].size
        for each in holds:
            if each is holds[j] or _parallel(each, holds[j]):
                alone = not any(_parallel(each, other) for other in holds if other is not each)
                unit = each.unit * top / each.size
                found.append(
                    (worth, Active(each.name, each.limit, each.slack, float(worth * unit),
                                   float((doubt if alone else max(doubt, worth)) * unit)))
                )  # fmt: skip
    return [each for _, each in sorted(found, key=lambda pair: -pair[0])]


def _prices(gain: Array, holds: Sequence[Hold]) -> Array:
    """The price of each of some limits, in units of the slopes: one row per row of `gain`."""
    prices = np.empty((len(gain), len(holds)))
    for row, slope in enumerate(gain):
        A = np.array([each.slopes[row % len(each.slopes)] for each in holds]).T
        sizes = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        size = max(float(np.linalg.norm(slope)), 1e-300)
        prices[row] = nnls(A / sizes, slope / size)[0] * size / sizes
    return prices


def _completed(
    gain: Array, holds: Sequence[Hold], prices: Array, sure: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """The limits that are sure to hold the point, and others if these do not explain the slope.

    If more limits meet at a point than there are slopes, the draws differ in which of them hold it,
    so that none may be sure.
    """
    doubt = np.sqrt(((gain[1:] - gain[0]) ** 2).sum(axis=1).mean())
    if np.linalg.norm(gain[0]) <= CLEAR * doubt:  # perhaps nothing holds it
        return sure
    slopes = np.array([each.slopes[0] for each in holds]).T

    def left(some: NDArray[np.bool_]) -> float:
        """The share of the slope that some limits leave unexplained."""
        kept = list(compress(holds, some))
        total = slopes[:, some] @ _prices(gain[:1], kept)[0] if kept else np.zeros(len(slopes))
        return float(np.linalg.norm(gain[0] - total) / np.linalg.norm(gain[0]))

    chosen, share = sure.copy(), (prices[1:] > 0.0).mean(axis=0)
    least = left(np.ones(len(holds), dtype=bool))
    while not chosen.all() and left(chosen) > least + UNEXPLAINED:
        chosen[np.argmax(np.where(chosen, -1.0, share))] = True
    return chosen


def _parallel(one: Hold, other: Hold) -> bool:
    """Whether two limits hold a point in the same direction."""
    return float(one.slopes[0] @ other.slopes[0]) >= SAME_WAY * one.size * other.size


def _comes_before(one: Hold, other: Hold) -> bool:
    """Whether a limit in the same direction is clearly nearer, so that the other is not reached."""
    nearer = one.slack * one.unit / one.size < other.slack * other.unit / other.size - TOUCHES
    return nearer and _parallel(one, other)


def _within_reach(hold: Hold) -> bool:
    return hold.slack * hold.unit <= NEAR * float(np.abs(hold.slopes[0]).sum())


def _ends(u: Array, free: Sequence[int]) -> tuple[Array, Array]:
    """Two points along each free axis, first the higher ones, and how far they are apart.

    They may lie just outside the cube, where models can tell: from one side of a bound, a curve
    would look like a slope.
    """
    high, low = (np.repeat(u[None], len(free), axis=0) for _ in range(2))
    rows = np.arange(len(free))
    high[rows, free] += SLOPE
    low[rows, free] -= SLOPE
    return np.vstack([high, low]), high[rows, free] - low[rows, free]


def _slopes(model: Predictor, u: Array, free: Sequence[int], seed: int) -> Array:
    """The slopes of a number along the free axes: those of the mean, then of draws."""
    U, apart = _ends(u, free)
    mean = model.in_callers_units(model.posterior(U)[0])
    drawn = np.vstack([mean, model.draws(U, DRAWS, seed)])
    n = len(free)
    return np.asarray((drawn[:, :n] - drawn[:, n:]) / apart)


def _holds(scene: Scene, u: Array, best: Array, free: Sequence[int]) -> Iterator[Hold]:
    space, constraints = scene.space, scene.constraints
    for j, (limit, model) in enumerate(zip(scene.limits, scene.models, strict=True)):
        slack = -limit.excess(float(model.predict([best])[0][0]))
        slopes = limit.side * _slopes(model, u, free, j + 1)
        yield Hold(limit.name, limit.text or f"{limit.name} <= 0", max(0.0, slack), slopes, 1.0)
    excess = constraints.known_excess(best)
    if len(excess):
        U, n = np.clip(_ends(u, free)[0], 0.0, 1.0), len(free)
        apart = U[np.arange(n), free] - U[np.arange(n, 2 * n), free]
        at = np.array([constraints.known_excess(space.decode(each)) for each in U])
        with np.errstate(invalid="ignore"):  # a bound that is infinite
            change = (at[:n] - at[n:]) / apart[:, None]
        for k, (name, words) in enumerate(constraints.known_limits):
            slopes = change[:, k]
            if np.isfinite(slopes).all() and np.isfinite(excess[k]):
                yield Hold(name, words, max(0.0, -float(excess[k])), slopes[None], 1.0)
    for row, i in enumerate(free):
        name = space.slots[i].label
        for side, end in ((-1.0, float(space.low[i])), (1.0, float(space.high[i]))):
            slopes = np.zeros((1, len(free)))
            slopes[0, row] = side
            unit = space.per_unit(i, end)
            sign = "<=" if side > 0.0 else ">="
            slack = side * (end - float(best[i]))
            yield Hold(name, f"{name} {sign} {end:.15g}", max(0.0, slack), slopes, unit)


def failed_nearby(scene: Scene, best: Array) -> int | None:
    """The index of a failed evaluation close to the best point, where a better value is expected.

    Failures then hold the point, and no limit that could be moved.
    """
    space, u = scene.space, scene.space.encode(best)
    rows = [i for i, each in enumerate(scene.numbers.told) if each.state == "failed"]
    if not rows:
        return None
    U = np.array([space.encode(space.point(scene.numbers.told[i].params)) for i in rows])
    apart = np.abs(U - u).max(axis=1)
    better = (apart <= NEAR) & (scene.values(U) > scene.values(u[None])[0])
    return rows[int(np.where(better, apart, np.inf).argmin())] if better.any() else None


# --- what other limits would bring


def what_if(scene: Scene, changes: Any) -> Forecast:
    """What the models expect under other limits or bounds."""
    other = _changed(scene, changes)
    ends = other.best()[:HILLS]
    hopeful = replace(other, caution=-WITHIN)
    if not any(_possible(hopeful, hopeful.climb(u)) for u in ends):
        limits = f"{brief(changes)} together with all else that" if changes else "everything that"
        raise ModelError(f"the models expect no point that meets {limits} has to be met")
    return _forecast(other, ends)


def _possible(scene: Scene, u: Array) -> bool:
    """Whether a point meets everything, up to the errors of a climb."""
    met = bool(scene.slacks(u[None]).min(initial=0.0) >= -MISSES)
    return met and (not scene.forbids or bool(scene.allowed(u[None])[0]))


def what_if_steps(scene: Scene, limits: Sequence[Side], u: Array) -> list[Forecast]:
    """What is expected under other bounds of one limit, each found from the one before.

    The first climb begins at `u`. Unlike in `what_if`, distant points are not looked at.
    """
    found = []
    for limit in limits:
        other = _with_side(scene, limit)
        u = other.climb(u)
        found.append(_forecast(other, u[None]))
    return found


def _forecast(scene: Scene, ends: Array) -> Forecast:
    """What is expected at the first of some points, with an interval for the best value.

    The ends of the interval are the best values of two other problems, in which all predictions are
    better or worse than their means, by as many deviations as a normal variable is within with the
    probability `SURE`.
    """
    model = scene.value

    def best_with(caution: float) -> float:
        shifted = replace(scene, caution=caution)
        climbed = [*(shifted.climb(u) for u in ends), shifted.best_known()]
        kept = climbed[int(np.argmax([shifted.worst(u, shifted.exactly) for u in climbed]))]
        return float(model.in_callers_units(shifted.values(kept[None]))[0])

    u = ends[0]
    fun = float(model.in_callers_units(model.posterior(u[None])[0])[0])
    both = [best_with(-WITHIN), best_with(WITHIN)]
    known = scene.best_known()
    if scene.numbers.any_failed and _possible(scene, known):
        # between a success and a failure, nobody knows where evaluations begin to fail
        both.append(float(model.in_callers_units(scene.values(known[None]))[0]))
    params = scene.space.params(scene.decode(u))
    return Forecast(params, fun, min(*both, fun), max(*both, fun))


def _changed(scene: Scene, changes: Any) -> Scene:
    """A scene with other limits or bounds, which are given as text."""
    texts = [changes] if isinstance(changes, str) else changes
    if not isinstance(texts, Sequence) or not all(isinstance(each, str) for each in texts):
        raise SettingsError(
            f"what_if takes limits as text, such as 'Tpeak <= 530', got {brief(changes)}"
        )
    for text in texts:
        sides = sides_of(text)
        if text.strip() in scene.numbers.names:  # a name alone has to be at most 0
            sides = [Side(text.strip(), 1.0, 0.0)]
        if not sides:
            raise SettingsError(
                f"{brief(text)} is not a limit; write it as 'NAME <= NUMBER' or 'NAME >= NUMBER'"
            )
        for side in sides:
            scene = _with_side(scene, side)
    return scene


def _with_side(scene: Scene, new: Side) -> Scene:
    """A scene with another bound of a measured number, parameter, formula or function."""
    space, name = scene.space, new.what
    if name not in scene.numbers.constraints.measured:
        if name in (*space.names, *space.own_names):
            return _with_bound(scene, new)
        known = None if name in scene.numbers.names else scene.constraints.with_bound(new)
        if known is not None:
            return replace(scene, constraints=known)
    scene.numbers.predictor(name)  # raises an error if there is no such number
    kept = [each for each in scene.limits if each[:2] != new[:2]]
    return replace(scene, limits=[*kept, Limit(*new, _in_words(new))])


def _with_bound(scene: Scene, new: Side) -> Scene:
    """A scene with another bound of a parameter."""
    space, i = scene.space, _axis_of(scene.space, new.what)
    upper, low, high = new.side > 0.0, scene.low.copy(), scene.high.copy()
    nothing = f"{_in_words(new)!r} leaves nothing of the range of {new.what}"
    if i in space.domain.continuous:
        if space.parameters[space.names[i]].log and new.bound <= 0.0:
            raise SettingsError(f"{_in_words(new)!r} is no bound on a log scale, which is above 0")
        place: float | None = space.place(i, new.bound)
    else:
        if not dict(space.domain.discrete)[i].ordered:
            raise SettingsError(f"{new.what} has options, so it has no bounds")
        if new.side * (new.bound - float((space.high if upper else space.low)[i])) > 0.0:
            raise SettingsError(
                f"{_in_words(new)!r} is wider than the space, and only real parameters can be "
                "moved beyond their ranges"
            )
        place = space.last_within(i, new.bound, upper)
    if place is None:
        raise SettingsError(nothing)
    (high if upper else low)[i] = place
    if low[i] > high[i] or (low[i] == high[i] and i in space.domain.continuous):
        raise SettingsError(nothing)
    return replace(scene, low=low, high=high)


def _in_words(new: Side) -> str:
    return f"{new.what} {'<=' if new.side > 0.0 else '>='} {new.bound:.15g}"


def _axis_of(space: Space, name: str) -> int:
    """The axis of a parameter that is searched, by its name or label."""
    axes = [i for i, slot in enumerate(space.slots) if name in (slot.label, slot.name)]
    if len(axes) > 1:
        labels = ", ".join(repr(space.slots[i].label) for i in axes)
        raise SettingsError(f"several parameters are called {name!r}; use one of {labels}")
    if axes[0] in space.fixed:
        value = brief(space.fixed[axes[0]].value)
        raise SettingsError(
            f"{name} is fixed at {value}; to vary it, begin a new study in which it has a range, "
            "with known= of this one"
        )
    if axes[0] >= space.domain.dim:
        raise SettingsError(f"{name} is a Fidelity, so it has no bounds or tolerances")
    return axes[0]


# --- tolerances


def robust(scene: Scene, tolerances: Any) -> Robust:
    """The point whose worst predicted value within tolerances is best, and that is feasible there.

    What lies within the tolerances stays within the bounds of the space. Each prediction is taken
    to be `CAUTION` deviations worse than its mean. The worst points are looked for at the corners
    of the box of tolerances and its centre, and then inside it and at the corners to which slopes
    point.
    """
    from scipy.stats import qmc  # takes long to load

    space, widths = scene.space, _widths(scene.space, tolerances)
    low, high = scene.low.copy(), scene.high.copy()
    for i, width in widths.items():
        low[i] = space.place(i, float(space.low[i]) + width)
        high[i] = space.place(i, float(space.high[i]) - width)
    scene = replace(scene, low=low, high=high, tolerances=widths, caution=CAUTION)
    if len(widths) > CORNERS:
        pattern = np.random.default_rng(0).choice([-1.0, 1.0], (SOME, len(widths)))
    else:
        pattern = np.array(list(product((-1.0, 1.0), repeat=len(widths))))
    inside = 2.0 * qmc.Sobol(len(widths), seed=0).random(64) - 1.0
    scenarios = np.vstack([scene.exactly, pattern])
    everywhere = np.vstack([scenarios, inside])
    u = scene.best(scenarios)[0]
    for _ in range(ROUNDS):
        everywhere = _joined(everywhere, _worst_corners(scene, u))
        U = scene.spread(u[None], everywhere)
        marks = scene.merit(scene.values(U), scene.slacks(U))
        worst = everywhere[[int(marks.argmin())]]
        if len(_joined(scenarios, worst)) == len(scenarios):
            break
        scenarios = _joined(scenarios, np.vstack([worst, _worst_corners(scene, u)]))
        u = scene.best(scenarios)[0]
    return _judged(scene, u, _joined(everywhere, _worst_corners(scene, u)))


def _joined(some: Array, others: Array) -> Array:
    """Scenarios, and others that are not among them."""
    for each in others:
        if (np.abs(some - each).max(axis=1) > 1e-12).all():
            some = np.vstack([some, each])
    return some


def _worst_corners(scene: Scene, u: Array) -> Array:
    """The corners of the tolerances to which the slopes of the value and of each limit point.

    What is only allowed or not has no slope, so corners are drawn of which some may be forbidden.
    """
    count = len(scene.tolerances)
    ends = np.vstack([np.eye(count), -np.eye(count)])
    U = scene.spread(u[None], ends)
    numbers = np.hstack([scene.values(U)[:, None], scene.slacks(U)])
    corners = np.where(numbers[:count] < numbers[count:], 1.0, -1.0).T
    if not scene.forbids:
        return corners
    drawn = np.random.default_rng(0).choice([-1.0, 1.0], (DRAWN, count))
    forbidden = np.flatnonzero(~scene.allowed(scene.spread(u[None], drawn)))
    return np.vstack([corners, drawn[forbidden[:CHECKS]]])


def _widths(space: Space, tolerances: Any) -> dict[int, float]:
    """The tolerance of each axis, in the caller's units."""
    if not isinstance(tolerances, Mapping) or not tolerances:
        raise SettingsError(
            "robust takes a dict of parameter and tolerance, such as {'d': 0.002}, got "
            f"{brief(tolerances)}"
        )
    widths = {}
    for name, width in tolerances.items():
        known = name in (*space.names, *space.own_names)
        if not known or (i := _axis_of(space, name)) not in space.domain.continuous:
            raise SettingsError(
                f"{brief(name)} is not a real parameter of the space, so it has no tolerance"
            )
        if not is_finite(width) or not 0.0 < width < 0.5 * float(space.high[i] - space.low[i]):
            raise SettingsError(
                f"the tolerance of {name} must be above 0 and less than half of its range, got "
                f"{brief(width)}"
            )
        widths[i] = float(width)
    return dict(sorted(widths.items()))


def _judged(scene: Scene, u: Array, everywhere: Array) -> Robust:
    """How good a point is within its tolerances, and which evaluations would tell more."""
    U = scene.spread(u[None], everywhere)
    sense = scene.value.sense
    good = sense.turn(scene.value.draws(U, DRAWS, 0))
    met, chance = np.ones(DRAWS, dtype=bool), np.ones(len(U))
    for j, (limit, model) in enumerate(zip(scene.limits, scene.models, strict=True)):
        missed = limit.excess(model.draws(U, DRAWS, j + 1))
        size = 1e-6 * model.calibration * np.sqrt(model.gp.kernel.variance)
        bound = float(model.values(np.array([model.transform(limit.bound) + size]))[0])
        resolved = abs(bound - limit.bound)  # smaller differences are not known
        met &= (missed <= resolved).all(axis=1)
        chance *= (missed <= resolved).mean(axis=0)
    allowed = scene.allowed(U)
    worst = np.quantile(good.min(axis=1), 1.0 - SURE)
    sure = float((met & (good.min(axis=1) >= worst)).mean()) * float(allowed.all())
    spread = good.std(axis=0)
    doubt = (1.0 - chance) + spread / max(float(np.ptp(good.mean(axis=0))), 1e-300) * 0.1
    checks: list[int] = []
    for i in np.argsort(-doubt, kind="stable").tolist():
        apart = all(np.abs(everywhere[i] - everywhere[j]).max() > 0 for j in checks)
        if len(checks) < CHECKS and doubt[i] > 0.01 and allowed[i] and apart:
            checks.append(i)
    points = [scene.space.params(scene.decode(U[i])) for i in checks]
    return Robust(scene.space.params(scene.decode(u)), float(sense.turn(worst)), sure, points)


# --- the least violation


class Violation(NamedTuple):
    """The evaluation that misses the limits by the least."""

    number: int | None
    params: dict[str, Any]
    value: Any
    by: dict[str, float]
    """By how much each limit that is not met is missed, such as {"Tpeak <= 520": 3.2}."""
    row: int
    """Its index among the evaluations."""

    def __str__(self) -> str:
        which = "a given point" if self.number is None else f"trial {self.number}"
        missed = ", ".join(f"{limit} by {by:.3g}" for limit, by in self.by.items())
        return f"{which} violates least: {missed}"


def least_violating(numbers: Numbers) -> Violation | None:
    """The evaluation that misses the limits by the least; each has its median size as its scale."""
    limits = numbers.constraints.limits
    if not limits:
        return None
    excess = np.array([each.excess(numbers.column(each.name)) for each in limits]).T
    sizes = np.array([_typical(column) for column in excess.T])
    over = np.where(np.isnan(excess), np.inf, np.maximum(excess, 0.0)) / sizes
    missed = over.sum(axis=1)
    if not np.isfinite(missed).any():
        return None
    best = int(missed.argmin())
    row = numbers.told[best]
    by = {
        limit.text or limit.name: float(amount)
        for limit, amount in zip(limits, excess[best], strict=True)
        if not amount <= 0.0
    }
    value = row.values if row.values is not None and len(row.values) > 1 else row.value
    return Violation(row.number, dict(row.params), value, by, best)


def _typical(column: Array) -> float:
    sizes = np.abs(column[np.isfinite(column) & (column != 0.0)])
    return max(float(np.median(sizes)), 1e-300) if len(sizes) else 1.0
