"""What the callbacks for experiment trackers share: which evaluations are new."""

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..record.trials import Evaluation
    from ..result.result import Result


class Tracked(NamedTuple):
    """One evaluation as a tracker records it."""

    row: int
    name: str
    params: dict[str, Any]
    metrics: dict[str, float]
    """The values of the objectives, the measured constraints and the numbers among the extras."""
    texts: dict[str, str]
    """The state, and everything else that is not a number."""


class News:
    """The evaluations of a result that have not been seen yet.

    With several processes on one study, the result of each contains the evaluations of all, so a
    tracker belongs into one of them.
    """

    def __init__(self) -> None:
        self._seen = 0

    def of(self, result: "Result") -> Iterator[Tracked]:
        """Each evaluation that is new since the last call."""
        evaluations = result.evaluations
        for index in range(self._seen, len(evaluations)):
            self._seen = index + 1
            yield _tracked(index, evaluations[index], result.measured)


def _tracked(index: int, evaluation: "Evaluation", limits: tuple[str, ...]) -> Tracked:
    extras = evaluation.extras
    measured = dict(zip(limits, evaluation.measured, strict=False))  # a failure measured nothing
    numbers = {n: float(v) for n, v in extras.items() if isinstance(v, (int, float))}
    metrics = {**numbers, **measured, **evaluation.values}
    texts = {name: str(v) for name, v in extras.items() if name not in numbers}
    texts["state"] = evaluation.state
    if evaluation.error is not None:
        texts["error"] = evaluation.error
    number = evaluation.number
    return Tracked(
        index,
        "given" if number is None else f"trial {number}",
        dict(evaluation.params),
        {name: value for name, value in metrics.items() if isfinite(value)},
        texts,
    )


def best_of(result: "Result") -> dict[str, float]:
    """The best value so far, by the name of its metric; with several objectives there is none."""
    if result.objectives.several or not result.success:
        return {}
    return {"best": float(result.fun)}
