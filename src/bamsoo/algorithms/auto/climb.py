"""Steps to the top of a model of the points around the best one.

The objective has a local GP (`local`). Its mean is climbed from the best point, within a trust
region. This is not a global search of an acquisition function: it is the climb of a function whose
gradient is known, close to the best point.

Limits of the climb are fences: the models of measured constraints (`cubic`), constraints that are
known in advance, which enter exactly, and a plane in front of points whose evaluations failed. An
optimum under constraints usually lies on the boundary of one of them, so with fences the climb is a
small problem of sequential quadratic programming. Most problems have none. As in COBYQA and
SACOBRA, no evaluations are spent on differences along single axes.

Models have small errors, and a point that violates a constraint by a small amount is infeasible. So
a step keeps a margin from each measured constraint, as large as the error of the last prediction,
but within limits. Whole numbers are treated as real ones at first, unless values jump along them.
The solution is then rounded; with constraints one axis after the other, and the real parameters
are adjusted to it. Options stay as they are at the best point.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...base.typing import Array
from ...model.learning import Learning
from ...space.axes import Discrete, Domain
from ..book import Book
from ..search import LOCAL
from .cubic import ValueScale, fitted
from .design import design
from .failures import Failures
from .local import Local, LocalConstants, LocalModel, Measured, blind
from .regime import FEW, Regime
from .residuals import ResidualModel
from .schedule import Focus, Proposal
from .small import Derivatives, solved

AnyModel: TypeAlias = LocalModel | ResidualModel
"""What a climb can climb: heights with their derivatives, in a frame."""

HALVINGS = 4  # of a step that is expected to fail; even shorter steps would bring nothing


@dataclass(frozen=True)
class Fence:
    """A limit of the climb."""

    count: int
    """How many numbers `room` returns."""
    room: Callable[[Array], Array]
    """Numbers that must be >= 0 at a point."""
    derivatives: Callable[[Array, Array], tuple[Array, Array, Array | float]]
    """The same numbers, their gradients, one row each, and the sum of their Hessians, each times
    one of the given weights."""


@dataclass(frozen=True)
class ClimbConstants:
    """Constants of the climb."""

    close: int = 4
    """The number of points of the close model, per dimension. This is enough for a linear model and
    its curvature along the axes; more points would reach beyond the next bend of a valley. With 0
    there is no such model."""

    wide: float = 1.6
    """The number of points of the wide model, as a multiple of what a full quadratic needs. With 1
    a quadratic could be fitted to any values, including their noise and errors. With 0 there is no
    such model."""

    widest: int = 100
    """The largest number of points of the wide model. The cost of a fit grows with the cube of this
    number, and in twenty dimensions a full quadratic would need more points than a run has."""

    widen: float = 2.0
    """The radius of the trust region is multiplied by this after a step that improved. Two such
    steps make up for four without an improvement. A careful climb (`Regime.careful`) divides the
    radius by `narrow` instead."""

    narrow: float = 0.7
    """The radius is multiplied by this after a step that did not improve. In a box of many real
    parameters (`Regime.strays`) it becomes this share of the length of the step, if the step was
    shorter than the radius. On BBOB this gains .04 of the area of COCO's virtual best in twenty
    dimensions and .02 in ten. In two and five dimensions it would cost .1 and .09."""

    few: float = 4.0
    """With more axes than this, `narrow` is raised to the power of this number over that of the
    axes, unless the length of steps counts. With many axes the model has more to learn before it is
    right, and each new point shrinks the box of the nearest ones as well. If constraints are
    measured, it is not: two of three cantilevers came out worse."""

    narrowest: float = 0.03
    """The smallest radius, where 1 is the box around the points of the model. Within a smaller one
    the model could hardly tell the value of a step from the best value."""

    calm: tuple[float, float, float] = (1.5, 0.85, 0.2)
    """`widen`, `narrow` and `narrowest` under noise, where luck often decides whether a step seems
    better. A region that shrank as fast as without noise would soon be too small to tell the slope
    from the noise."""

    probe: float = 0.25
    """The length of a step along an axis on which all points agree, as a share of its range. From
    the centre of the cube it leads half-way to the boundary. With 0 there are no such steps."""

    same: float = 0.25
    """If a step ends within this share of its own length of a pending point, the two count as the
    same step, and the new one is not taken. Steps to the largest mean + sigma in its place were
    worth less than .01 of the score of 8 and of 64 workers, and took more time than all else."""

    failing: int = 2
    """The plane in front of failures lies between this number times D + 1 successes and as many
    failures. Only the nearest are used, because a curved edge looks straight only from close by."""

    margins: tuple[float, float] = (1e-9, 0.3)
    """The smallest and the largest margin that a step keeps from a measured constraint, in units of
    its typical size. Without a smallest one, a prediction that is right to the last digit ends on
    the wrong side of the boundary by rounding. Without a largest one, a single poor prediction
    could push the search far away from the boundary."""

    penalty: float = 30.0
    """The cost of violating a constraint by its typical size, in units of the objective's typical
    size. It is large, so that a violation is almost never worth its gain."""

    known: float = 1e-3
    """With fences, a solution counts as a known point if it is within this share of the trust
    region of that point on every axis: the constraints' models are not more exact than that."""

    reach: float = 0.01
    """How far a solution may be moved to satisfy the constraints that are known in advance, as a
    share of each axis."""


class TrustRegion:
    """How far the steps of a model may go; a radius of 1 is the box around its points.

    A `careful` region grows after a success by as much as it shrinks after a failure. One that is
    `strict` is narrowed to less than the length of the step that failed.
    """

    def __init__(
        self,
        constants: ClimbConstants,
        dim: int,
        noisy: bool,
        careful: bool = False,
        strict: bool = False,
    ) -> None:
        narrow, widen = constants.narrow, constants.widen
        if careful:
            widen = 1.0 / narrow
        elif not strict:
            narrow **= min(1.0, constants.few / dim)
        regular: tuple[float, float, float] = widen, narrow, constants.narrowest
        self._widen, self._narrow, self._narrowest = constants.calm if noisy else regular
        self._strict = strict and not noisy
        self.radius = 1.0

    def judge(self, better: bool, radius: float, length: float) -> None:
        """Widen the region after a step that improved, and narrow it otherwise.

        `radius` was that of the region when the step of this length was taken. Steps that were
        taken before the value of another was known count once: they say the same about the same
        region.
        """
        if better:
            self.radius = max(self.radius, min(radius * self._widen, 1.0))
        elif self.radius <= radius:
            wrong = min(radius, length) if self._strict else radius
            self.radius = min(self.radius, max(wrong * self._narrow, self._narrowest))


class Place(NamedTuple):
    """Where a climb takes place: around which point, along which axes, from which points."""

    here: Array
    axes: list[int]
    near: NDArray[np.intp]
    """The rows that the model is made of; they agree with `here` on all other axes."""

    def put(self, z: Array) -> Array:
        """The point with these coordinates along the axes, or rows of points."""
        x = np.broadcast_to(self.here, (*z.shape[:-1], len(self.here))).copy()
        x[..., self.axes] = z
        return x


class Predicted(NamedTuple):
    """What was expected of a step: the region to judge, and each constraint, on its scale."""

    region: TrustRegion
    radius: float
    length: float
    constraints: Array
    scales: list[ValueScale]


class Shared:
    """What the close and the wide climb share.

    `locals` holds the local models by axes and options, and `margins` how far steps stay away from
    each measured constraint. `rough` says whether values jump from point to point; climbs then do
    not move along whole numbers, because a smooth model along them would be wrong. `drawn` holds
    the points that are evaluated before the first climb.
    """

    def __init__(self, book: Book, constants: ClimbConstants) -> None:
        self.locals: dict[tuple[float, ...], Local] = {}
        self.margins: Array = np.full(book.known.count, constants.margins[0])
        self.rough = False
        self.drawn: list[Array] = []


class Climb:
    """Proposes the top of a local model, and then of another one that knows its value.

    Parameters
    ----------
    domain : Domain
    book : Book
    failures : Failures
    rng : Generator
    shared : Shared
    wide : bool
        Whether the model is made of many points, which show the valley, or of few, which show the
        slope at the best point.
    constants : ClimbConstants
    local : LocalConstants
    learning : Learning
    """

    origin = LOCAL

    def __init__(
        self,
        domain: Domain,
        book: Book,
        failures: Failures,
        rng: np.random.Generator,
        shared: Shared,
        wide: bool,
        constants: ClimbConstants,
        local: LocalConstants,
        learning: Learning,
    ) -> None:
        self._domain, self._book, self._failures, self._rng = domain, book, failures, rng
        self._shared, self._wide = shared, wide
        self._constants, self._learning = constants, learning
        self._regions: dict[tuple[float, ...], TrustRegion] = {}
        self._regime = regime = Regime.of(domain, book)
        if not regime.plain:
            local = replace(local, heavy=0.0)
        if _terms(domain.dim) <= constants.widest:  # then the frames learn valleys well enough
            local = replace(local, products=False)
        self._local_constants = local
        self._ordered = [i for i in range(domain.dim) if domain.axes[i].ordered]

    def _count(self, dim: int) -> int:
        """The number of points of the model."""
        if not self._wide:
            return self._constants.close * dim
        return min(wished(dim, self._constants), self._constants.widest)

    def judge(self, step: Proposal, better: bool, row: int | None) -> None:
        """Adapt the trust region and the margins."""
        if not isinstance(step.note, Predicted):
            return
        region, radius, length, predicted, scales = step.note
        if self._regime.strays and row is not None:  # equal values: too short a step
            better = better or bool(self._book.known.values[row] == self._book.known.values.max())
        region.judge(better, radius, length)
        measured = [] if row is None else self._book.known.C[row].tolist()
        if len(measured) and np.isfinite(measured).all():
            seen = [scale(c) for scale, c in zip(scales, measured, strict=True)]
            error = np.abs(np.array(seen) - predicted)
            self._shared.margins = np.clip(error, *self._constants.margins)

    def _state_for(self, here: Array, axes: list[int]) -> tuple[Local, TrustRegion]:
        """The model and the trust region that climbs along these axes go on with."""
        book, shared = self._book, self._shared
        key = (book.noisy, *axes, *here[self._domain.opening].tolist())
        if key not in shared.locals:
            settings = self._local_constants, self._learning
            shared.locals[key] = Local(len(axes), *settings, book.noisy)
        if key not in self._regions:
            careful = self._regime.careful(len(axes))
            how = self._constants, len(axes), book.noisy, careful, self._regime.strays
            self._regions[key] = TrustRegion(*how)
        return shared.locals[key], self._regions[key]

    def _toward_success(self, x: Array, here: Array) -> Array:
        """A point from which evaluations are expected to succeed, on the way back to `here`."""
        for _ in range(HALVINGS):
            if not self._failures.expects(x[None])[0]:
                break
            x = self._domain.snap(0.5 * (x + here))
        return x

    def propose(self, focus: Focus) -> Proposal | None:
        """The top of the model.

        None if there are too few points, or if all points agree on some axis, or if the top is
        pending: the model knows no better place before that value arrives.
        """
        book, known, domain, constants = self._book, self._book.known, self._domain, self._constants
        here = known.X[focus.best]
        ordered = self._regime.constrained or not self._shared.rough
        axes = self._ordered if ordered else domain.continuous
        axes = [i for i in axes if domain.exists(here)[i]]
        if not axes:
            return None
        if (probe := self._probe(focus, axes)) is not None:
            return Proposal(probe, top=False)
        rest = [i for i in range(domain.dim) if i not in axes]

        def alike(X: Array) -> NDArray[np.bool_]:
            return np.asarray((X[:, rest] == here[rest]).all(axis=1))

        rows, centre = focus.rows[alike(known.X[focus.rows])], here[axes]
        X, pending = known.X[rows][:, axes], book.pending
        if len(rows) < len(axes) + 2 or len(blind(X)):
            return None
        local, region = self._state_for(here, axes)
        count = self._count(len(axes))
        near = rows[local.nearest(X, centre, count)]
        failed = np.array(known.failed).reshape(-1, domain.dim)
        place = Place(here, axes, near)
        offsets = known.X[near][:, axes] - centre
        measured = self._measured(near) if book.noisy else None
        model = local.fit(count, offsets, book.beliefs.values()[near], measured)
        fences, note = self._fences(model, place, failed[alike(failed)][:, axes], region)
        radius = region.radius
        if model.everywhere and radius == 1.0:  # nothing speaks against it, so it may reach far
            radius = 1.0 / float(model.S.max())
        x, z, new = self._top(model, place, radius, fences)
        local.turn(model, z)
        x = self._toward_success(x, here)
        length = float(np.linalg.norm(x[axes] - centre))
        apart = np.linalg.norm(pending[alike(pending)][:, axes] - x[axes], axis=1)
        if (apart < constants.same * length).any():
            return None
        return Proposal(x, new=new, note=note(x, float(np.abs(z).max())))

    def _probe(self, focus: Focus, axes: list[int]) -> Array | None:
        """A step along the first axis on which all points agree that have these axes; or None.

        The tree splits along one axis after another, and reaches the last of them only after about
        (D - 1)^2 cells. With few axes the climb waits for that; with many it needs these steps.

        If another point has the very value of the first or of the best one, there are plateaus,
        from which a step along one axis hardly ever leads away. Points of a Latin hypercube then
        take the place of these steps. Values of other points may be equal by symmetry.
        """
        constants, domain = self._constants, self._domain
        if len(axes) <= FEW or not constants.probe:
            return None
        known, drawn = self._book.known, self._shared.drawn
        if drawn:
            return drawn.pop()
        X = np.vstack([known.X[focus.rows], self._book.pending])
        agree = blind(X[domain.exists(X)[:, axes].all(axis=1)][:, axes])
        if not len(agree):
            return None
        twice = (known.values == known.values[[[0], [focus.best]]]).sum(axis=1) > 1
        if twice.any() and not self._regime.mixed:
            drawn.extend(design(domain, self._rng))
            return drawn.pop() if drawn else None
        x, axis = domain.pin(known.X[focus.best]).copy(), axes[agree[0]]
        x[axis] += constants.probe if x[axis] <= 0.5 else -constants.probe
        return domain.near(x)

    def _measured(self, rows: NDArray[np.intp]) -> Measured:
        """The measured values of these rows, for the local model under noise."""
        book, values = self._book, self._book.known.values[rows]
        slopes = [book.transform.variance(1.0, value) for value in values.tolist()]
        seen, noises = book.beliefs.seen()
        weights = noises[rows] / max(float(noises[rows].mean()), 1e-300)
        return Measured(values, seen[rows], 0.5 * np.log(np.maximum(slopes, 1e-300)), weights)

    # --- the small problem

    def _fences(
        self,
        model: LocalModel | ResidualModel,
        place: Place,
        failed: Array,
        region: TrustRegion,
    ) -> tuple[list[Fence], Callable[[Array, float], Predicted]]:
        """The limits of the climb, and what they predict for a point."""
        known, centre = self._book.known, place.here[place.axes]
        fences: list[Fence] = []
        if (edge := edge_of(model, failed - centre, self._constants)) is not None:
            normal: Array = np.asarray(np.linalg.solve(model.S.T, edge.w), dtype=float)

            def ahead(z: Array) -> Array:
                return np.array([normal @ (z - centre) + edge.b])

            fences.append(Fence(1, ahead, lambda z, weights: (ahead(z), normal[None], 0.0)))
        if (exactly := self._exactly(place)) is not None:
            fences.append(exactly)
        if not known.count:
            return fences, lambda x, far: Predicted(region, region.radius, far, np.empty(0), [])
        width = np.abs(model.S).sum(1)
        scales = np.maximum(width / width.max(), 1e-2)  # flatter ones cannot be told from rounding
        Z, columns = known.X[place.near][:, place.axes], list(known.C[place.near].T)
        models, seen = fitted(Z, columns, centre, scales)
        margins = self._shared.margins

        def derivatives(z: Array, weights: Array) -> tuple[Array, Array, Array]:
            values, slopes, hessian = models.derivatives(z, weights)
            return -(values + margins), -slopes, -hessian

        fences.append(Fence(known.count, lambda z: -(models.values(z) + margins), derivatives))
        return fences, lambda x, far: Predicted(
            region, region.radius, far, models.values(x[place.axes]), seen
        )

    def _exactly(self, place: Place) -> Fence | None:
        """The constraints known in advance; their slopes are differences."""
        region = self._domain.region
        if region is None or not region.smooth:
            return None

        def excess(Z: Array) -> Array:
            return np.clip(region.excess(place.put(Z)), -1e10, 1e10)  # as a solver can handle it

        def room(z: Array) -> Array:
            return np.asarray(-excess(z[None])[0])

        def derivatives(z: Array, _: Array) -> tuple[Array, Array, float]:
            steps = np.where(z < 0.5, 1e-7, -1e-7)
            Y = excess(z + np.vstack([np.zeros(len(z)), np.diag(steps)]))
            return -Y[0], np.ascontiguousarray((Y[0] - Y[1:]).T / steps), 0.0

        return Fence(len(room(place.here[place.axes])), room, derivatives)

    def _top(
        self,
        model: AnyModel,
        place: Place,
        radius: float,
        fences: list[Fence],
    ) -> tuple[Array, Array, bool]:
        """The highest point in the trust region, the cube and the fences, and whether it is new.

        The second array is the point in the frame of the model.
        """
        axes, constants = place.axes, self._constants
        centre, whole = place.here[axes], self._whole(axes)
        width = radius * np.abs(model.S).sum(1)
        low, high = np.maximum(centre - width, 0.0), np.minimum(centre + width, 1.0)
        if not fences:
            no_fences = np.empty(0), np.empty((0, len(axes)))

            def fall(z: Array, _: Array) -> Derivatives:
                height, gradient, hessian = model.derivatives(z)
                return Derivatives(-height, -gradient, -hessian, *no_fences)

            ends = np.full(len(axes), radius)
            z = solved(fall, np.zeros(len(axes)), -ends, ends, 0, 0.0)
            top = centre + model.S @ z
            if not np.all((top >= 0.0) & (top <= 1.0)):  # climb again, in the cube
                top = ClimbProblem(model, centre, [], low, high, 0.0).solve(top)
                z = np.asarray(np.linalg.solve(model.S, top - centre), dtype=float)
            x = place.put(top)
            if whole:  # without constraints, the nearest whole numbers are good enough
                x = self._domain.snap(x)
                z = np.asarray(np.linalg.solve(model.S, x[axes] - centre), dtype=float)
            return x, z, self._is_new(x, place, 0.0)
        constrained = self._regime.constrained
        least = constants.known * width if constrained else 0.0
        for j, axis in whole:
            width[j] = max(width[j], 1.01 / axis.count)  # reach at least the next one
        low, high = np.maximum(centre - width, 0.0), np.minimum(centre + width, 1.0)
        problem = ClimbProblem(model, centre, fences, low, high, constants.penalty)
        found: list[tuple[float, Array]] = []
        seen: list[tuple[float, Array]] = []
        starts = [centre]
        if constrained:  # the small problem may have several local solutions
            starts.append(low + (high - low) * self._rng.random(len(low)))
        relaxed = sorted((problem.solve(each) for each in starts), key=problem.merit)
        for each in relaxed:
            for settled in self._settled(problem, each, whole):
                if (x_ := self._allowed(place, settled)) is not None:
                    seen.append((problem.merit(x_[axes]), x_))
                    if self._is_new(x_, place, least):
                        found.append(seen[-1])
            if found:
                break
        _, x = min(found or seen, key=lambda each: each[0], default=(0.0, place.here))
        z = np.asarray(np.linalg.solve(model.S, x[axes] - centre), dtype=float)
        return x, z, bool(found)

    def _whole(self, axes: list[int]) -> list[tuple[int, Discrete]]:
        """The axes of whole numbers among these, with their places in the list."""
        whole = dict(self._domain.discrete)
        return [(j, whole[i]) for j, i in enumerate(axes) if i in whole]

    def _settled(
        self, problem: "ClimbProblem", z: Array, whole: list[tuple[int, Discrete]]
    ) -> list[Array]:
        """The solution with its whole numbers rounded, and the real numbers adjusted to them.

        There are up to two roundings: one that counts on the real numbers to make up for what it
        does to the constraints, and one that does not.
        """
        if not whole:
            return [z]
        fixed = [j for j, _ in whole]
        rounded = [_rounded(z, whole, score) for score in (problem.lagrangian(z), problem.merit)]
        if (rounded[0] == rounded[1]).all():
            del rounded[1]
        return [problem.solve(each, fixed) for each in rounded]

    def _allowed(self, place: Place, z: Array) -> Array | None:
        """The solution as a point of the space, moved a little if a known constraint forbids it.

        None if no allowed point is found close to it.
        """
        x = self._domain.snap(place.put(np.clip(z, 0.0, 1.0)))
        region = self._domain.region
        if region is None or region.allowed(x):
            return x
        reach = self._constants.reach
        low, high = np.maximum(x - reach, 0.0), np.minimum(x + reach, 1.0)
        for i, axis in self._domain.discrete:
            at = axis.at(float(x[i]))
            low[i], high[i] = axis.edge(at), axis.edge(at + 1)
        return region.find(low, high, x, 8).x  # a few tries, since the solution is on the boundary

    def _is_new(self, x: Array, place: Place, least: Array | float) -> bool:
        """Whether a point is new, in that it differs by more than rounding and than `least`.

        Points that differ by a few of an axis's smallest steps may be equal after rounding. Under
        noise, points may be evaluated again.
        """
        limits = 4.0 * self._domain.finest
        limits[place.axes] = np.maximum(limits[place.axes], least)
        return self._book.noisy or self._book.is_new(x, limits)


def wished(dim: int, constants: ClimbConstants) -> int:
    """The number of points that the wide model would need."""
    return int(constants.wide * (_terms(dim) + dim + 2))


def _terms(dim: int) -> int:
    """The number of coefficients of a quadratic function."""
    return (dim + 1) * (dim + 2) // 2


def _rounded(z: Array, whole: list[tuple[int, Discrete]], score: Callable[[Array], float]) -> Array:
    """The point with its whole numbers rounded to the side with the smaller score.

    They are rounded one after the other, those that are nearly whole first.
    """
    sides: list[tuple[float, int, list[float]]] = []
    for j, axis in whole:
        at = axis.at(float(z[j]))
        off = float(z[j]) - axis.centre(at)
        beside = at + (1 if off > 0.0 else -1)
        both = [axis.centre(i) for i in (at, beside) if 0 <= i < axis.count]
        sides.append((abs(off) / (axis.edge(at + 1) - axis.edge(at)), j, both))
    z = z.copy()
    for _, j, both in sorted(sides, key=lambda side: side[0]):
        scores = []
        for z[j] in both:
            scores.append(score(z))
        z[j] = both[int(np.argmin(scores))]
    return z


class ClimbProblem:
    """The small problem of a climb: maximise the model in a box, subject to fences."""

    def __init__(
        self,
        model: AnyModel,
        centre: Array,
        fences: list[Fence],
        low: Array,
        high: Array,
        penalty: float,
    ) -> None:
        self._model, self._centre, self._fences = model, centre, fences
        self._inverse = np.linalg.inv(model.S)
        self._low, self._high, self._penalty = low, high, penalty

    def _at(self, z: Array) -> tuple[float, Array]:
        """The cost of a point, and its fences, as numbers that must be >= 0."""
        cost = -self._model.height(self._inverse @ (z - self._centre))
        return cost, np.concatenate([np.empty(0), *(fence.room(z) for fence in self._fences)])

    def derivatives(self, z: Array, multipliers: Array) -> Derivatives:
        """The cost and the fences with their derivatives."""
        height, gradient, hessian = self._model.derivatives(self._inverse @ (z - self._centre))
        curvature: Array = -(self._inverse.T @ hessian @ self._inverse)
        room, rows, begin = [np.empty(0)], [np.empty((0, len(z)))], 0
        for fence in self._fences:
            end = begin + fence.count
            values, slopes, bends = fence.derivatives(z, multipliers[begin:end])
            room.append(values)
            rows.append(slopes)
            curvature -= bends
            begin = end
        slope = -(gradient @ self._inverse)
        return Derivatives(-height, slope, curvature, np.concatenate(room), np.vstack(rows))

    def merit(self, z: Array) -> float:
        """The cost of a point plus a penalty for its violations; smaller is better."""
        cost, room = self._at(z)
        return cost + self._penalty * float(np.maximum(-room, 0.0).sum())

    def lagrangian(self, z: Array) -> Callable[[Array], float]:
        """The cost near a solution, if constraints that are tight there can be kept tight.

        Each of these counts with its multiplier, by which the gradients of the tight ones add up to
        that of the cost along all axes that are not at an end. Violations of the others cost as
        much as in `merit`.
        """
        from scipy.optimize import nnls

        tight = self._at(z)[1] <= 1e-6  # up to the solver's tolerance
        free = (z > self._low) & (z < self._high)
        multipliers = np.zeros(len(tight))
        if tight.any() and free.any():
            there = self.derivatives(z, multipliers)
            multipliers[tight] = nnls(there.rows[tight][:, free].T, there.gradient[free])[0]

        def score(z: Array) -> float:
            cost, room = self._at(z)
            missed = np.maximum(-room[~tight], 0.0)
            return cost - float(multipliers @ room) + self._penalty * float(missed.sum())

        return score

    def solve(self, start: Array, fixed: list[int] = []) -> Array:  # noqa: B006 (never changed)
        """Solve the problem from a start. The axes in `fixed` keep their values."""
        low, high = self._low.copy(), self._high.copy()
        low[fixed] = high[fixed] = np.clip(start, low, high)[fixed]
        count = sum(fence.count for fence in self._fences)
        return solved(self.derivatives, start, low, high, count, self._penalty)


class Edge(NamedTuple):
    """A plane in a model's frame: evaluations succeed where w z + b >= 0."""

    w: Array
    b: float


def edge_of(
    model: LocalModel | ResidualModel, failed: Array, constants: ClimbConstants
) -> Edge | None:
    """A plane between the incumbent's side and the nearest failures; None if none separates them.

    The plane is half-way between the convex hulls of the two sides, perpendicular to the shortest
    line between them. So each step up to it halves what is unknown, as bisection does. The hulls
    come from least squares over convex combinations of points, in which the sums of the
    coefficients have a large weight.
    """
    from scipy.optimize import nnls

    if not len(failed):
        return None
    few = constants.failing * (len(model.lengths) + 1)
    bad = np.linalg.solve(model.S, failed.T).T
    bad = bad[np.argsort((bad**2).sum(1), kind="stable")[:few]]
    good = model.Z[np.argsort((model.Z**2).sum(1), kind="stable")[:few]]
    unit = max(sqrt(float((bad**2).sum(1).min())), 1e-300)  # the distance of the nearest failure
    while len(bad):
        m, n, weight = len(good), len(bad), 100.0  # outweighs the distances, which are about 1
        sums = np.zeros((2, m + n))
        sums[0, :m], sums[1, m:] = 1.0, 1.0
        A = np.vstack([np.hstack([good.T, -bad.T]) / unit, weight * sums])
        shares = nnls(A, np.append(np.zeros(good.shape[1]), [weight] * 2))[0]
        here, there = shares[:m] @ good, shares[m:] @ bad
        w = (here - there) / unit
        if float(w @ w) > 1e-4:  # otherwise the two sides overlap
            return Edge(w, max(-float(w @ (here + there)) / 2.0, 0.0))
        bad = bad[: n // 2]
    return None
