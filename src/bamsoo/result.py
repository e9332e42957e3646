"""The result of a search, in the caller's own sense: a scipy OptimizeResult with more in it."""

import dataclasses
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from html import escape
from io import BytesIO
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult

from . import plotting
from ._typing import Array
from .checks import brief, count, is_finite
from .errors import ModelError, SettingsError, ValueTypeError
from .gap import Bounds, left_to_gain
from .ledger import Evaluation, extra_names
from .objectives import Objectives
from .pareto import growth, hypervolume, reference_of
from .predictor import Predictor, Range, predictions
from .space import Choice, Int, Space

if TYPE_CHECKING:
    import pandas

_OURS = (
    "trial",
    "state",
    "origin",
    "value",
    "feasible",
    "error",
    "steps",
)  # columns of a data frame that are not parameters
_LONGEST = 500  # characters shown of a parameter's value in the text and HTML views


@dataclass(frozen=True)
class Details:
    """What a result needs for its methods but does not list among its fields."""

    space: Space
    objectives: Objectives
    evaluations: list[Evaluation]
    front: list[Evaluation]
    predictors: list[Predictor]
    """The model of each objective; empty if there is none."""
    no_predictor: str
    """Why there is no predictor, in a sentence."""
    bounds: list[Bounds]
    has_no_model: bool
    """Whether the algorithm works without a model."""
    constrained: bool = False
    """Whether there are constraints to meet."""
    steps: int | None = None
    """The number of steps of a full evaluation, if trials report their steps."""
    expected_ends: dict[int, tuple[float, float]] = field(default_factory=dict)
    """For each running trial, the mean and deviation of its final value."""
    replay: "Callable[[], Result] | None" = None
    """The same result with the search's model, of a study that was opened for reading only."""

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds no study, and so no model of one that was not replayed before."""
        return {**self.__dict__, "replay": None}


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
    curves: dict[int, list[float]]
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

    def end(self, status: int, message: str) -> None:
        """Record why the run ended, and note it if no feasible point was found."""
        self.status, self.message = status, message
        if not self.success and self.ninfeasible:
            self.message += "; none of the points evaluated is feasible"
        elif not self.success and self.nstopped:
            self.message += "; no evaluation was finished before that"

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
            return f"no feasible point was found; {self.ninfeasible} {violated} a constraint"
        return "no evaluation gave a value"

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
                bounds=found.bounds,
                has_no_model=found.has_no_model,
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

    def predict(self, points: Any) -> Any:
        """The mean and deviation of the search's own model at each point.

        Parameters
        ----------
        points : point or list of points
            A point is an array, or a dict for a named space.

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
        details = self._modelled
        return predictions(self.objectives, details.predictors, details.no_predictor, points)

    @property
    def predictor(self) -> Predictor:
        """The search's model of the (first) objective, as it was when this result was made."""
        return self.predictors[0]

    @property
    def predictors(self) -> list[Predictor]:
        """The search's model of each objective, as it was when this result was made."""
        if not self._modelled.predictors:
            raise ModelError(self._details.no_predictor)
        return self._details.predictors

    @property
    def objectives(self) -> Objectives:
        """The names and directions of the objectives."""
        return self._details.objectives

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
        signs = np.array(self.objectives.signs)
        front = signs * np.array([evaluation.numbers for evaluation in self.front])
        if reference is None:
            return hypervolume(front, self.reference)
        try:
            given = self.objectives.values(reference)
        except ValueTypeError as error:
            raise SettingsError(f"reference: {error}") from None
        if not given:
            raise SettingsError(f"reference must have finite numbers, got {brief(reference)}")
        return hypervolume(front, signs * np.array(given))

    @property
    def hypervolumes(self) -> Array:
        """The hypervolume after each evaluation, above the default reference of the whole run."""
        if not self.front:
            return np.zeros(len(self.evaluations))
        signs, lost = np.array(self.objectives.signs), (nan,) * len(self.objectives)
        rows = [e.numbers if e.feasible else lost for e in self.evaluations]
        return growth(signs * np.array(rows), self.reference)

    def only(self, name: str) -> "Result":
        """The result of one of several objectives, as if it had been the only one."""
        details, aim = self._details, self.objectives.only(name)
        j = self.objectives.names.index(name)

        def alone(some: list[Evaluation]) -> list[Evaluation]:
            return [e._replace(numbers=e.numbers[j : j + 1], objectives=aim) for e in some]

        told = alone(details.evaluations)
        good = alone(details.front) + [e for e in told if e.feasible]
        best = max(good, key=lambda e: aim.signs[0] * e.value, default=None)
        own = replace(
            details,
            objectives=aim,
            evaluations=told,
            front=[] if best is None else [best],
            predictors=details.predictors[j : j + 1],
            bounds=details.bounds[j : j + 1],
        )
        fields: dict[str, Any] = {**self, "F": np.array([e.value for e in told])}
        fields |= {"direction": aim.direction, "fun": nan, "x": None, "params": None}
        if best is not None:
            fields |= {"fun": best.value, "x": best.x.copy(), "params": best.params}
        return Result(own, **fields)

    @property
    def reference(self) -> Array:
        """The default reference of `hypervolume`, with the signs of values to be maximised."""
        signs = np.array(self.objectives.signs)
        known = [evaluation.numbers for evaluation in self.evaluations if evaluation.feasible]
        return reference_of(signs * np.array(known))

    @property
    def evaluations(self) -> list[Evaluation]:
        """Every evaluation, in the order of telling, with its number, x, value and error."""
        return self._details.evaluations

    @property
    def steps(self) -> int | None:
        """The number of steps of a full evaluation, if trials report their steps."""
        return self._details.steps

    @property
    def expected_ends(self) -> dict[int, tuple[float, float]]:
        """For each trial that was running, the mean and deviation of its final value.

        They are those of the model of curves; without steps there are none.
        """
        return self._details.expected_ends

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
        best = self.fun if self.direction == "maximize" else -self.fun
        return bounds.gain(best, bounds.top)

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
            the `options`, for which the model expects the value to stay within `within` of the best
            one while all other parameters have their best values. `sure` is the probability, by
            the model and on average over the range, that it does. Constraints are not considered.

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
                "ranges are around the best value, and there are several objectives"
            )
        if not is_finite(within) or within <= 0:
            raise SettingsError(f"within must be a number above 0, got {brief(within)}")
        if self.x is None:
            raise ModelError(self.nothing)
        best = self.space.point(self.x)
        return {
            slot.name: self.predictor.range(best, float(self.fun), float(within), i)
            for i, slot in enumerate(self.space.slots[: self.space.domain.dim])
            if best[i] == best[i]
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
        signs = np.array(self.objectives.signs)
        front = signs * np.array([evaluation.numbers for evaluation in self.front])
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
        constraints were met. With steps there is also ``steps``, the number of steps taken, and
        ``state`` is "finished", "stopped" (its value is missing), "failed" or "given". With a
        `Fidelity`, ``state`` is "finished" at the top and "cheap" below it.
        """
        try:
            import pandas
        except ImportError:
            raise SettingsError("to_dataframe needs pandas: pip install pandas") from None
        details = self._details
        told = details.evaluations
        space = details.space
        params = [space.columns(space.params(evaluation.x)) for evaluation in told]
        columns: dict[str, Any] = {
            "trial": pandas.array([e.number for e in told], dtype="Int64"),
            "state": [e.state for e in told],
        }
        for name, parameter in space.parameters.items():
            everywhere = all(name in each for each in params)
            values: Any = [each.get(name, pandas.NA) for each in params]
            if isinstance(parameter, Choice):  # keep options as they are, even None
                values = pandas.Series(values, dtype=object)
            elif isinstance(parameter, Int) and not everywhere:
                values = pandas.array(values, dtype="Int64")
            elif not everywhere:
                values = [each.get(name, nan) for each in params]
            columns[f"param:{name}" if name in _OURS else name] = values
        if self.objectives.several:
            aims = [objective_column(name, columns) for name in self.objectives.names]
            columns |= dict(zip(aims, self.F.T, strict=True))
            front = {(e.number, e.x.tobytes()) for e in self.front}
            columns["front"] = [(e.number, e.x.tobytes()) in front for e in told]
        else:
            columns["value"] = self.F
        if details.steps is not None:
            columns["steps"] = pandas.array([e.steps for e in told], dtype="Int64")
        if self._details.constrained:
            for name, numbers in self.C.items():
                columns[f"constraint:{name}"] = numbers
            columns["feasible"] = self.feasible
        for name in extra_names(told):
            cells = [e.extras.get(name) for e in told]
            mixed = len({type(each) for each in cells}) > 1 or isinstance(cells[0], str)
            columns[f"extra:{name}"] = pandas.Series(cells, dtype=object if mixed else None)
        columns["origin"] = pandas.Series([e.origin for e in told], dtype=object)
        columns["error"] = pandas.Series([e.error for e in told], dtype=object)
        return pandas.DataFrame(columns)

    def plot(self, kind: str = "convergence", ax: Any = None, **options: Any) -> Any:
        """Draw the run with matplotlib and return the axes.

        Parameters
        ----------
        kind : str, default "convergence"
            One of the names in `bamsoo.plotting.KINDS`.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        **options
            Passed to the function in `bamsoo.plotting` that draws this kind.
        """
        if kind == "partition":
            self._modelled  # noqa: B018 (it fills in the tree)
        return plotting.plot(self, kind, ax, **options)

    def __repr__(self) -> str:
        best = "none" if self.params is None else _brief(self.params)
        front = ""
        if self.objectives.several and self.front:
            front = f" front: {count(len(self.front), 'point')}, of which this is a compromise:\n"
        return (
            f"{self.direction}: {self.message}\n"
            f"{front}"
            f"   fun: {self.fun!r}\n"
            f"params: {best}\n"
            f"  nfev: {self.nfev}{self.not_counted}{': ' if self.spent else ''}{self.spent}"
        )

    def _repr_html_(self) -> str:
        """A view for notebooks: the picture of the run, and its best point."""
        total = f"{count(self.nfev, 'evaluation')}{self.not_counted}"
        head = f"{self.direction}: {total}; {self.message}"
        values = self.fun if self.objectives.several and self.success else {"value": self.fun}
        rows = [*((n, repr(v)) for n, v in values.items()), *((self.params or {}).items())]
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            f"<td style='text-align:left'>{escape(_brief(value))}</td></tr>"
            for name, value in rows
        )
        best = f"<table>{cells}</table>" if self.success else f"<p>{escape(self.nothing)}</p>"
        if self.objectives.several and self.success:
            said = f"{count(len(self.front), 'point')} on the front; a compromise is"
            best = f"<p>{said}</p>{best}"
        spent = f"<p>evaluations: {escape(self.spent)}</p>" if self.spent else ""
        return f"<div><p>{escape(head)}</p>{best}{spent}{self._picture()}</div>"

    def _picture(self) -> str:
        """The convergence plot as an embedded image; empty if matplotlib is not installed."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            return ""
        if not self.success:
            return ""
        figure, file = Figure(figsize=(6, 3), layout="constrained"), BytesIO()
        if self.objectives.several:
            plotting.plot_fronts(figure, self)
        else:
            plotting.plot_convergence(figure.subplots(), self)
        figure.savefig(file, format="png", dpi=100)
        data = b64encode(file.getvalue()).decode()
        what = "the front" if self.objectives.several else "best value against evaluations"
        return f"<img alt='{what}' src='data:image/png;base64,{data}'>"


def objective_column(name: str, taken: Iterable[str]) -> str:
    """The column of one of several objectives: its name, with a prefix if that is taken."""
    plain = name not in (*_OURS, "front", *taken) and ":" not in name
    return name if plain else f"objective:{name}"


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
