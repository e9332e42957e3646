"""The result of a search, in the caller's own sense: a scipy OptimizeResult with more in it."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, wraps
from math import inf, isinf, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult

from .. import plotting
from ..base.checks import brief, is_finite, shown
from ..base.pareto import growth, hypervolume, reference_of
from ..base.typing import Array
from ..base.words import RESULT, no_attribute
from ..errors import ModelError, SettingsError, ValueTypeError
from ..model.warp import deviation
from ..record.objectives import Objectives
from ..record.trials import Evaluation
from ..space import Constraints, Space
from .answers import (
    Active,
    Forecast,
    Robust,
    Violation,
    active,
    least_violating,
    robust,
    scene_of,
    what_if,
)
from .fits import Fitted
from .frame import frame_of
from .gap import Bounds, left_to_gain
from .measured import Numbers
from .predictor import Predictor, predictions
from .ranges import Range, range_of
from .scene import Scene
from .substitute import substitutes
from .view import html_of, text_of

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Details:
    """What a result needs for its methods but does not list among its fields."""

    space: Space
    objectives: Objectives
    record: list[Evaluation]
    """Every evaluation of the search, which goes on after this result was made."""
    told: int
    """The number of evaluations of this result, which are the first ones of `record`."""
    find_front: "Callable[[], list[Evaluation]]"
    predictors: list[Predictor]
    """The model of each objective; empty if there is none."""
    no_predictor: str
    """Why there is no predictor, in a sentence."""
    unlearned: float | str | None
    """The noise for a model that is fitted when somebody asks for it, because the search has not
    learned its own yet; None otherwise."""
    bounds: list[Bounds]
    has_no_model: bool
    """Whether the algorithm works without a model."""
    constraints: Constraints
    noisy: bool = False
    """Whether the search treats values as noisy."""
    steps: int | None = None
    """The number of steps of a full evaluation, if trials report their steps."""
    expected_ends: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    """For each running trial, the mean and deviation of its final value of each objective."""
    replay: "Callable[[], Result] | None" = None
    """The same result with the search's model, of a study that was opened for reading only."""
    tol: float | None = None
    """The smallest gain that matters, in units of the value."""
    later: "dict[str, Callable[[], Any]]" = field(default_factory=dict)
    """The fields of the result that take as long as there are evaluations, by name; each is
    computed when it is first looked at."""

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        """The evaluations of this result."""
        return self.record[: self.told]

    @cached_property
    def numbers(self) -> Numbers:
        """What the evaluations measured, with models."""
        return Numbers(self.space, self.constraints, self.evaluations, self.noisy)

    @cached_property
    def front(self) -> list[Evaluation]:
        """The evaluations that no other one dominates; with one objective, the best one."""
        return self.find_front()

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds no study, and so no model of one that was not replayed before."""
        kept = self.constraints.without_functions()
        own = {
            "record": self.evaluations,
            "constraints": kept,
            "find_front": partial(list[Evaluation], self.front),
        }
        return {**self.__dict__, **own, "replay": None, "later": {}}


def _complete(method: Any) -> Any:
    """A method of a dict, for a result: all of its fields are computed first."""

    @wraps(method)
    def of_all(self: "Result", *args: Any) -> Any:
        later = self._later
        for name in list(later):
            self[name]
            later.pop(name, None)  # a field that is deleted now stays so
        return method(self, *args)

    return of_all


class Result(OptimizeResult):  # type: ignore[misc]  # scipy comes without types
    """The result of a run or of a search so far; see `bamsoo.minimize` for its fields.

    It is a scipy OptimizeResult, that is, a dict whose keys are also attributes. It can be pickled.
    """

    x: Any  # an array; None if no evaluation gave a value
    fun: Any  # a number; with several objectives a dict by name
    params: Any
    direction: str
    seed: int
    nfev: int
    cost: float
    curves: dict[int, list[Any]]
    nfailed: int
    nstopped: int
    nrejected: int
    nexpanded: int
    success: bool
    status: int
    message: str
    X: Any
    F: Array
    C: dict[str, Array]
    feasible: NDArray[np.bool_]
    ninfeasible: int
    tree: Any
    _details: Details

    def __init__(self, details: Details, **fields: Any) -> None:
        super().__init__(**fields)
        self.__dict__["_details"] = details  # setting an attribute would make it a key of the dict

    # A callback is called after every evaluation and looks at few fields, so the larger ones are
    # computed when they are looked at.

    def __missing__(self, name: str) -> Any:
        if name not in self._later:
            raise KeyError(name)
        return self.setdefault(name, self._later[name]())

    @property
    def _later(self) -> "dict[str, Callable[[], Any]]":
        details = self.__dict__.get("_details")  # a copy has none before it is complete
        return {} if details is None else details.later

    if not TYPE_CHECKING:  # a checker would take it to mean that any attribute exists

        def __getattr__(self, name: str) -> Any:
            """A field, or an error that says what a name of another library means here."""
            try:
                return self[name]
            except KeyError:
                raise no_attribute(self, name, RESULT) from None

    __iter__ = _complete(dict.__iter__)
    __reversed__ = _complete(dict.__reversed__)
    __len__ = _complete(dict.__len__)
    __contains__ = _complete(dict.__contains__)
    __eq__ = _complete(dict.__eq__)
    __ne__ = _complete(dict.__ne__)
    __or__ = _complete(dict.__or__)
    __ror__ = _complete(dict.__ror__)
    __delitem__ = __delattr__ = _complete(dict.__delitem__)
    get = _complete(dict.get)
    keys = _complete(dict.keys)
    values = _complete(dict.values)
    items = _complete(dict.items)
    copy = _complete(dict.copy)
    pop = _complete(dict.pop)
    popitem = _complete(dict.popitem)
    __hash__ = None  # type: ignore[assignment]  # as for any dict

    def end(self, status: int, message: str, explained: bool = False) -> None:
        """Record why the run ended, and that there is no best point if this is not `explained`."""
        self.status, self.message = status, message
        if self.success or explained:
            return
        if self.ninfeasible:
            self.message += "; none of the points evaluated is feasible"
        elif self.nstopped:
            self.message += "; no evaluation was finished before that"
        elif self.nfev:
            self.message += f"; {self.nothing}"

    @property
    def not_counted(self) -> str:
        """For a message: how many evaluations failed or were infeasible; empty if none did."""
        what = [
            (self.nstopped, "stopped"),
            (self.nfailed, "failed"),
            (self.ninfeasible, "infeasible"),
        ]
        said = ", ".join(f"{number} {word}" for number, word in what if number)
        return f" ({said})" if said else ""

    @property
    def nothing(self) -> str:
        """Why there is no best point, in a sentence."""
        if self.ninfeasible:
            violated = "violates" if self.ninfeasible == 1 else "violate"
            said = f"no feasible point was found; {self.ninfeasible} {violated} a constraint"
            if (least := self.least_violating) is not None and least.by:
                said += f"; {least}"
            return said
        return f"no {'' if self.space.fidelity is None else 'full '}evaluation gave a value"

    def replay_with(self, replay: "Callable[[], Result]") -> None:
        """Take the model from this result, which takes long to compute, when it is needed."""
        self.__dict__["_details"] = dataclasses.replace(self._details, replay=replay)

    @property
    def _modelled(self) -> Details:
        """The details with the model, which takes a replay if a study was only read."""
        if (replay := self._details.replay) is not None:
            whole = replay()
            found = whole._details
            self.__dict__["_details"] = dataclasses.replace(
                self._details,
                predictors=found.predictors,
                no_predictor=found.no_predictor,
                unlearned=found.unlearned,
                bounds=found.bounds,
                has_no_model=found.has_no_model,
                noisy=found.noisy,
                replay=None,
            )
            for name in ("tree", "nrejected", "nexpanded"):
                self[name] = whole[name]
        return self._details

    def __dir__(self) -> list[str]:
        return sorted({*self.keys(), *object.__dir__(self)})

    @property
    def space(self) -> Space:
        """The space that was searched."""
        return self._details.space

    @property
    def failures(self) -> list[tuple[int | None, str]]:
        """The trial number and the reason of each failed evaluation, in the order of telling.

        The number is None for a point that was told without being asked for.
        """
        return [
            (evaluation.number, evaluation.error or "")
            for evaluation in self.evaluations
            if evaluation.failed
        ]

    def predict(self, points: Any, name: str | None = None) -> Any:
        """The mean and deviation of the search's own model at each point.

        Parameters
        ----------
        points : point or list of points
            A point is an array, or a dict for a named space.
        name : str, optional
            What to predict: a measured constraint, or a number that evaluations recorded. Each has
            a model of its own, which is fitted when it is first asked for. By default, it is the
            value.

        Returns
        -------
        mean, deviation : ndarray
            They describe the objective's value without noise, in its own units. If the model works
            on logarithms of the values (`Auto.warp`), they are the median and half the distance
            between the 16 % and 84 % quantiles. With several objectives, the result is a dict that
            maps the name of each to its mean and deviation.

        Raises
        ------
        ModelError
            If the algorithm has no model, or has not learned it yet.
        """
        if name is not None:
            return self._model_of(name).predict(points)
        return predictions(self.objectives, self.predictors, self._details.no_predictor, points)

    def _model_of(self, name: str) -> Predictor:
        """The model of an objective or of a measured number."""
        if name in self.objectives.names and self.objectives.named:
            return self.predictors[self.objectives.names.index(name)]
        return self._details.numbers.predictor(name)

    @property
    def importance(self) -> "Importance":
        """How much each parameter matters to the value: a dict of name and share.

        The share is that of the variance of the predictions over the whole space that involves the
        parameter (a total Sobol' index). `importance.near` has the shares near the best point: in
        the tenth of the space with the best predictions, of the points that are expected to meet
        the constraints. `importance.of(name)` is about a measured number instead of the value. With
        several objectives, it is about the first one, and `importance.of(name)` about another one.

        Examples
        --------
        >>> import bamsoo
        >>> r = bamsoo.minimize(lambda x, y: (x - 0.3) ** 2, {"x": (0, 1), "y": (0, 1)}, 20)
        >>> {name: round(share, 1) for name, share in r.importance.items()}
        {'x': 1.0, 'y': 0.0}
        """
        return Importance(self, self.predictor)

    @property
    def active(self) -> list[Active]:
        """What holds the best point: constraints and bounds of parameters, most expensive first.

        Each has `name`, `limit` (such as "Tpeak <= 520"), `slack`, `price` (how much the value
        would gain per unit by which the limit is relaxed, by the models around the best point) and
        `uncertainty` (the standard deviation of the price). Only real parameters are moved.
        """
        scene = self._scene("active")
        if self.x is None:
            raise ModelError(self.nothing)
        return active(scene, self.space.point(self.x))

    def what_if(self, changes: str | Sequence[str]) -> Forecast:
        """The best point and value that the models expect under other limits or bounds.

        Parameters
        ----------
        changes : str or list of str
            Limits of measured or recorded numbers, bounds of parameters, and limits of formulas or
            functions of parameters that are constraints, such as "Tpeak <= 530", "1 <= flow <= 4",
            "width + height <= 3", or "weight <= 2" for a function `weight`. They take the place of
            those of the same thing on the same side. With an empty list, the limits are the present
            ones.

        Returns
        -------
        Forecast
            It has `params`, `fun`, and the ends `low` and `high` of an interval of 90 % for the
            best value.
        """
        return what_if(self._scene("what_if"), changes)

    def robust(self, tolerances: Mapping[str, float]) -> Robust:
        """The point whose worst predicted value within tolerances is best, and feasible there.

        Parameters
        ----------
        tolerances : dict
            How far each parameter may be off, to both sides, such as ``{"d": 0.002, "T0": 1.0}``.

        Returns
        -------
        Robust
            It has `params`, `fun` (the worst value within the tolerances, which the models expect
            not to be exceeded with a probability of 90 %), `sure` (the probability that it is not,
            and that every constraint is met within the tolerances), and `checks`: the few points
            whose evaluation would tell most, for `enqueue`.
        """
        return robust(self._scene("robust"), tolerances)

    def _scene(self, what: str) -> Scene:
        """The models around the best point, or the reason why there are none."""
        if self.objectives.several:
            raise SettingsError(
                f"{what} is about the best value, and there are several objectives; use "
                f"result.only(name).{what}"
            )
        return scene_of(self.predictor, self._details.numbers)

    @property
    def least_violating(self) -> Violation | None:
        """While nothing is feasible: the evaluation that misses its limits by the least.

        It has `number`, `params`, `value`, and `by`: by how much each limit is missed. The limits
        are compared in units of their median size. It is None once a point is feasible.
        """
        if self.success:
            return None
        return least_violating(self._details.numbers)

    @property
    def predictor(self) -> Predictor:
        """The search's model of the (first) objective, as it was when this result was made."""
        return self.predictors[0]

    @property
    def predictors(self) -> list[Predictor]:
        """The search's model of each objective, as it was when this result was made.

        If the search has not learned one yet, a model is fitted to the values, as in a report.
        """
        details = self._modelled
        if not details.predictors and details.unlearned is not None:
            senses, told = details.objectives.senses, details.evaluations
            found = substitutes(details.space, senses, told, details.unlearned)
            details = dataclasses.replace(details, predictors=found, unlearned=None)
            self.__dict__["_details"] = details
        if not details.predictors:
            raise ModelError(details.no_predictor)
        return details.predictors

    @property
    def objectives(self) -> Objectives:
        """The names and directions of the objectives."""
        return self._details.objectives

    @property
    def tol(self) -> float | None:
        """The smallest gain that matters, in units of the value; None if nobody said."""
        return self._details.tol

    @property
    def front(self) -> list[Evaluation]:
        """The feasible evaluations that no other one dominates, ordered by the first objective.

        The best value of the first objective comes first. Each has `number`, `x`, `params` and
        `values`, a dict by name. Under noise, evaluations are compared by the model's means, which
        are then their values. With one objective, the front is the best point alone.
        """
        return self._details.front

    def hypervolume(self, reference: Any = None) -> float:
        """The volume that the front dominates, down to a reference point; it is exact.

        Parameters
        ----------
        reference : sequence or dict, optional
            One number for each objective, in its own sense. By default, it is the worst value of
            each objective over all feasible evaluations, moved out by a tenth of the range of
            these values. Volumes of different runs can only be compared with the same reference.
        """
        if not self.front:
            return 0.0
        front = self.objectives.turned([evaluation.numbers for evaluation in self.front])
        if reference is None:
            return hypervolume(front, self.reference)
        try:
            given = self.objectives.values(reference)
        except ValueTypeError as error:
            raise SettingsError(f"reference: {error}") from None
        if not given:
            raise SettingsError(f"reference must have finite numbers, got {brief(reference)}")
        return hypervolume(front, self.objectives.turned(given))

    @property
    def hypervolumes(self) -> Array:
        """The hypervolume after each evaluation, above the default reference of the whole run."""
        if not self.front:
            return np.zeros(len(self.evaluations))
        lost = (nan,) * len(self.objectives)
        rows = [e.numbers if e.feasible else lost for e in self.evaluations]
        return growth(self.objectives.turned(rows), self.reference)

    def only(self, name: str) -> "Result":
        """The result of one of several objectives, as if it had been the only one."""
        details, aim = self._details, self.objectives.only(name)
        j = self.objectives.names.index(name)

        def alone(some: list[Evaluation]) -> list[Evaluation]:
            return [e._replace(numbers=e.numbers[j : j + 1], objectives=aim) for e in some]

        told = alone(details.evaluations)
        good = alone(details.front) + [e for e in told if e.feasible]
        best = max(good, key=lambda e: aim.sense.turn(e.value), default=None)
        own = replace(
            details,
            objectives=aim,
            record=told,
            told=len(told),
            find_front=partial(list[Evaluation], () if best is None else (best,)),
            predictors=details.predictors[j : j + 1],
            bounds=details.bounds[j : j + 1],
            expected_ends={n: [ends[j]] for n, ends in details.expected_ends.items()},
        )
        curves = {number: [row[j] for row in rows] for number, rows in self.curves.items()}
        fields: dict[str, Any] = {**self, "F": np.array([e.value for e in told]), "curves": curves}
        fields |= {"direction": aim.direction, "fun": nan, "x": None, "params": None}
        if best is not None:
            fields |= {"fun": best.value, "x": best.x.copy(), "params": best.params}
        return Result(own, **fields)

    @property
    def reference(self) -> Array:
        """The default reference of `hypervolume`, as a value to be maximised."""
        known = [evaluation.numbers for evaluation in self.evaluations if evaluation.feasible]
        return reference_of(self.objectives.turned(known))

    @property
    def fitted(self) -> "Fitted":
        """Of a fit: the linear model of the residuals at the best point.

        It has the fields `names`, `slopes`, `covariance`, `deviations`, `correlations` and `band`,
        the standard deviation of each fitted value, and `remarks`, which say in words what the data
        do not determine.
        """
        if "_fitted" not in self.__dict__:
            best = next(iter(self.front), None)
            if best is None and self.objectives.squares is not None:
                raise ModelError(f"there is no best point: {self.nothing}")
            if best is None or not best.residuals:
                raise ModelError("there are no residuals; fit a model with bamsoo.least_squares")
            self.__dict__["_fitted"] = Fitted(self.evaluations, best)
        found: Fitted = self.__dict__["_fitted"]
        return found

    @property
    def covariance(self) -> Array:
        """Of a fit: the covariance matrix of the parameters, by a linear model of the residuals.

        The variance of the errors is the sum of squares divided by the number of residuals minus
        that of parameters. It is nan for parameters that are not real numbers, and everywhere if
        too few points around the best one are known.
        """
        return self.fitted.covariance

    @property
    def deviations(self) -> Array:
        """Of a fit: the standard deviation of each parameter, from the covariance."""
        return self.fitted.deviations

    @property
    def evaluations(self) -> list[Evaluation]:
        """Every evaluation, in the order of telling, with its number, x, value and error."""
        return self._details.evaluations

    @property
    def measured(self) -> tuple[str, ...]:
        """The names of the measured constraints."""
        return tuple(self._details.constraints.measured)

    @property
    def steps(self) -> int | None:
        """The number of steps of a full evaluation, if trials report their steps."""
        return self._details.steps

    @property
    def expected_ends(self) -> dict[int, Any]:
        """For each trial that was running, the mean and deviation of its final value.

        They are those of the model of curves; without steps there are none. With several
        objectives, there is such a pair for each, by name.
        """
        ends, names = self._details.expected_ends, self.objectives.names
        if not self.objectives.several:
            return {number: of_all[0] for number, of_all in ends.items()}
        return {n: dict(zip(names, of_all, strict=True)) for n, of_all in ends.items()}

    @property
    def bounds(self) -> Bounds | None:
        """The model's upper bounds; None without a model, or if it has learned nothing yet."""
        bounds = self._modelled.bounds
        if self.objectives.several or not bounds or not self.success or bounds[0].degenerate:
            return None
        return bounds[0]

    @property
    def has_no_model(self) -> bool:
        """Whether the algorithm works without a model."""
        return self._modelled.has_no_model

    @property
    def gap(self) -> float:
        """How much may still be gained: the model's largest upper bound minus the best value.

        It is in units of the objective, never negative, and computed on access. The upper bound of
        a cell of the tree is the largest value of mean + B * deviation anywhere in it; see
        docs/gap.md. The gap is inf if it is unknown: without a model, while the model has learned
        nothing (all values are equal, for example), and if its bound says less than the values
        alone.

        With several objectives, it is the hypervolume that the bounds leave, as a share of what has
        been reached, above the default reference of `hypervolume`.
        """
        if self.objectives.several:
            return self._left[0] if self._details.bounds and self.front else inf
        if (bounds := self.bounds) is None:
            return inf
        return bounds.gain(self.objectives.sense.turn(float(self.fun)), bounds.top)

    @property
    def shown_gap(self) -> float:
        """The gap as progress lines and the report show it.

        A prior that was given is taken as it is, so its bound is a number even if looking at the
        values says more. It is not shown then.
        """
        gap = self.gap
        if isinf(gap) or self.objectives.several:
            return gap
        values = np.asarray(self.F)
        return gap if gap <= deviation(values[np.isfinite(values)]) else inf

    def ranges(self, within: float) -> dict[str, Range]:
        """Where each parameter may lie so that the value stays close to the best one.

        Parameters
        ----------
        within : float
            By how much the value may be worse than the best one, in units of the objective.

        Returns
        -------
        dict of name -> Range
            For each parameter of the best point, the interval from `low` to `high` around it, or
            the `options`, in which the models are sure that the value stays within `within` of the
            best one and that every constraint is met, known in advance or measured, while all other
            parameters have their best values. They are sure if the probability of both is at
            least 0.9. `sure` is the smallest one in the range. If they are nowhere as sure, the
            range is the best point alone.

        Examples
        --------
        >>> import bamsoo
        >>> r = bamsoo.minimize(lambda x, y: (x - 0.3) ** 2 + y, {"x": (0, 1), "y": (0, 1)}, 40)
        >>> around = r.ranges(0.01)["x"]  # (x - 0.3) ** 2 <= 0.01
        >>> f"{around.low:.1f} to {around.high:.1f}"
        '0.2 to 0.4'
        """
        if self.objectives.several:
            raise SettingsError(
                "ranges are around the best value, and there are several objectives; use "
                "result.only(name).ranges"
            )
        if not is_finite(within) or within <= 0:
            raise SettingsError(f"within must be a number above 0, got {brief(within)}")
        if self.x is None:
            raise ModelError(self.nothing)
        best, space, predictor = self.space.point(self.x), self.space, self.predictor
        standing = self._details.numbers.standing(predictor, float(self.fun), float(within))
        return {
            slot.name: range_of(space, standing, best, i)
            for i, slot in enumerate(space.slots[: space.domain.dim])
            if best[i] == best[i] and i not in space.fixed
        }

    @property
    def origins(self) -> dict[str, int]:
        """The number of evaluations that each part of the search asked for, largest first.

        "tree" are cells of the tree, "local" steps near the best point, "candidate" the most
        promising of many points all over the space, "design" first points that are chosen before
        anything is known, "model" the best points of an acquisition function, and "given" points
        of `x0` or `enqueue`.
        """
        asked = (e.origin for e in self.evaluations if e.number is not None)
        counts = Counter(origin for origin in asked if origin)
        return dict(counts.most_common())

    @property
    def spent(self) -> str:
        """What the evaluations were spent on, such as "35 local, 21 tree"; empty if unknown."""
        return ", ".join(f"{number} {origin}" for origin, number in self.origins.items())

    @property
    def _left(self) -> tuple[float, Array]:
        """What the bounds of several objectives leave, and the point that could add the most."""
        front = self.objectives.turned([evaluation.numbers for evaluation in self.front])
        at = np.array([self.space.encode(evaluation.x) for evaluation in self.front])
        return left_to_gain(self._details.bounds, at, front, self.reference)

    @property
    def most_promising(self) -> Array | None:
        """The point of the cube with the largest bound, as a row; None without bounds."""
        if self.objectives.several:
            return self._left[1] if self._details.bounds and self.front else None
        return None if (bounds := self.bounds) is None else bounds.top

    def to_dataframe(self) -> "pandas.DataFrame":
        """Every evaluation as a row of a pandas DataFrame, in the order of `X` and `F`.

        The columns are ``trial`` (the number; missing for a point that was told without being
        asked for), ``state`` ("done", "failed" or "given"), one per parameter, ``value``,
        ``origin`` (see `origins`) and ``error`` (the reason of a failure). A parameter with the
        name of another column is called ``param:NAME``. If a parameter does not exist with the
        options of a trial, its cell is missing. With several objectives there is one column for
        each, called by its name (or ``objective:NAME`` if that is taken), instead of ``value``, and
        ``front`` says whether the row is on the front. With constraints there are also
        ``constraint:NAME``, the measured number, and ``feasible``, which says whether all
        constraints were met. With steps there are also ``steps``, the number of steps taken, and
        ``last:value`` (or ``last:NAME``), the value after the last of them; and ``state`` is
        "finished", "stopped" (its value is missing), "failed" or "given". With a
        `Fidelity`, ``state`` is "finished" at the top and "cheap" below it.
        """
        return frame_of(self)

    def plot(self, kind: str = "convergence", ax: Any = None, **options: Any) -> Any:
        """Draw the run with matplotlib and return the axes.

        Parameters
        ----------
        kind : str, default "convergence"
            - "convergence": each value, and the best so far
            - "partition": the cells of the tree over two parameters
            - "slices": the model along each parameter, through the best point
            - "importance": how much each parameter matters to the model
            - "parallel": every evaluation as a line across all parameters
            - "contour": the model over two parameters, ``x=`` and ``y=``
            - "failures": where evaluations failed, over two parameters
            - "fit": the residuals of `least_squares`, or with ``data=`` the fit itself
            - "front": the front of several objectives
            - "curves": the values of evaluations with steps
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **options
            Passed to the function in `bamsoo.plotting` that draws this kind.
        """
        if kind == "partition":
            self._modelled  # noqa: B018 (it fills in the tree)
        return plotting.plot(self, kind, ax, **options)

    @property
    def shown_fun(self) -> str:
        """The best value in words, with the digits that `tol` justifies."""
        return repr(self.fun) if self.tol is None else shown(self.fun, self.tol)

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        """A view for notebooks: the picture of the run, and its best point."""
        return html_of(self)


class Importance(dict[str, float]):
    """The share of each parameter; see `Result.importance`."""

    def __init__(self, result: Result, model: Predictor, near: bool = False) -> None:
        good = partial(result._details.numbers.near_best, result.predictor)
        shares = model.importance(good if near else None)
        super().__init__(zip(result.space.names, shares.tolist(), strict=False))
        self._result, self._model = result, model

    @property
    def near(self) -> "Importance":
        """The shares in the tenth of the space with the best predictions of the value.

        With constraints, only the part of the space counts where they are expected to be met.
        """
        return Importance(self._result, self._model, near=True)

    def of(self, name: str) -> "Importance":
        """The shares of the variance of a measured number, or of one of several objectives."""
        return Importance(self._result, self._result._model_of(name))
