"""Whether climbs deliver what they promise.

A climb goes to the top of a local model (`bamsoo.algorithms.auto.climb`). What it promises is how
far the model rises from the best point to that top. What it delivers is how much better the value
turns out to be than the best one before it, or 0 if it is worse. Both are in standard deviations of
the values that the model is made of, or of their logarithms where the model takes these. The
default is run on problems for development, and is only watched: it asks for the same points as
without this.

Each cell of the tables has three numbers: the share of the steps that succeeded; the sum of all
that was delivered, divided by the sum of all that was promised; and, among the steps that
succeeded, the median of delivered over promised. The first table also has the leave-one-out errors
of the models. Each of the D + 2 points nearest to the best one is predicted without its value, and
the square of the error is divided by the variance that the model expects of it. For a model that
knows how wrong it is, these numbers have a mean of 1, a median of 0.5 and a 90 % quantile of 2.7.

With `--real` and `--tuning`, the suites of these names are added: one copy of each real problem,
and the tuning tasks that have no noise and take at most about 10 ms for each evaluation.

Two minutes on one core: OPENBLAS_NUM_THREADS=1 python lab/benchmarks/promises.py --real --tuning
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from ablation import BBOB
from gap import QUICK

import bamsoo
from bamsoo.algorithms.auto.climb import Climb, Place, Predicted
from bamsoo.algorithms.auto.local import LocalConstants, LocalModel, quadratic
from bamsoo.algorithms.auto.schedule import Focus, Proposal
from bamsoo.base.typing import Array
from bamsoo.kernels import SquaredExponential
from bamsoo.model.conditioned import Factor
from bamsoo.model.warp import size_of, standardised
from bamsoo_lab.bench.case import Case
from bamsoo_lab.bench.suites import Selection, bbob, real, target, tuning

from common import versions

NUGGETS = (1e-12, 1e-10, 1e-8)
"""Added to the diagonal of a covariance matrix, as in the local models."""

SMALLEST = 1e-12
"""The smallest height below which logarithms of heights are linear, as in the local models."""

FAILURES = (0, 1, 4, 8, 16, 32)
"""The smallest numbers of failures in a row of the groups."""

RADII = (0.0, 0.1, 0.3, 1.0)
"""The smallest radii of the groups."""


class Step(NamedTuple):
    """A step of a climb whose point was evaluated."""

    climb: str
    """The climb that proposed it: "close" or "wide"."""
    radius: float
    """That of the trust region, where 1 is the box around the points of the model."""
    promised: float
    """0 if the model does not rise; its top is a local one, which may be below the best point."""
    delivered: float
    better: bool
    """Whether it succeeded, by the rule of the schedule."""
    failures: int
    """The number of steps in a row, of either climb, that had failed before it."""
    left_out: Array
    """Squared leave-one-out errors in units of the variance, at the points nearest to the best."""


class Promise(NamedTuple):
    """What is remembered of a step until its value arrives."""

    step: Proposal
    promised: float
    gain: Callable[[float], float]
    """What a value delivers."""
    left_out: Array


def gain_of(model: LocalModel, values: Array) -> Callable[[float], float]:
    """What a value gains over the best one, the first of these, on the scale that a model sees.

    It is in standard deviations of the values, or of the logarithms of their heights above the
    worst one. Since a model goes through its values, its heights tell which of the two it sees.
    """
    size, share = size_of(values), LocalConstants().bend
    assert share is not None
    plain, unit = standardised(values / size)
    heights = plain - plain.min()
    bend = max(float(np.quantile(heights, share)), SMALLEST)
    logs, scale = standardised(np.arcsinh(heights / bend))
    seen = np.array([model.height(each) for each in model.Z])
    bent = float((seen - logs).std()) < float((seen - plain).std())
    best, highest = float(values[0]), float(heights[0])

    def gain(value: float) -> float:
        better = max(value - best, 0.0) / size / unit
        if not bent:
            return better
        return (math.asinh((highest + better) / bend) - math.asinh(highest / bend)) / scale

    return gain


def left_out(model: LocalModel) -> Array:
    """Squared leave-one-out errors over their variances, at the D + 2 points nearest to the best.

    The error at point i is alpha_i / P_ii, and its variance is variance / P_ii, where P is the
    inverse of the covariance matrix.
    """
    K = SquaredExponential(model.lengths)(model.Z, model.Z)
    if model.trend.tau:
        K += quadratic(model.Z, model.trend)
    variance = max(float(model.alpha @ K @ model.alpha) / len(K), 0.0)
    precisions = Factor.with_nugget(K, NUGGETS).inverse.diagonal()
    squares = (model.Z**2).sum(1)
    near = np.argsort(squares, kind="stable")[: model.Z.shape[1] + 2]
    found: Array = model.alpha[near] ** 2 / (precisions[near] * variance)
    return found[np.isfinite(found)]


def observed(run: Callable[[], object]) -> list[Step]:
    """The steps of the climbs of a search, which `run` makes with one worker.

    Steps under noise are left out, because one value does not show what they delivered. So are
    those that end at a known point, which is not evaluated again.
    """
    steps: list[Step] = []
    tops: list[tuple[LocalModel, Place]] = []
    waiting: dict[int, Promise] = {}
    top, propose, judge = Climb._top, Climb.propose, Climb.judge

    def note_top(climb: Climb, model: Any, place: Place, *rest: Any, **more: Any) -> Any:
        tops.append((model, place))
        return top(climb, model, place, *rest, **more)

    def note_promise(climb: Climb, focus: Focus) -> Proposal | None:
        tops.clear()
        step = propose(climb, focus)
        if step is None or not isinstance(step.note, Predicted) or climb._book.noisy:
            return step
        (model, place), *_ = tops
        offset = (step.x - place.here)[place.axes]
        z: Array = np.asarray(np.linalg.solve(model.S, offset), dtype=float)
        promised = max(model.height(z) - model.height(np.zeros(len(z))), 0.0)
        gain = gain_of(model, climb._book.known.values[place.near])
        waiting[id(step)] = Promise(step, promised, gain, left_out(model))
        return step

    def note_result(climb: Climb, step: Proposal, better: bool, row: int | None) -> None:
        judge(climb, step, better, row)
        known, promise = climb._book.known, waiting.pop(id(step), None)
        evaluated = row is not None or any((step.x == x).all() for x in known.failed)
        if promise is None or not evaluated:
            return
        delivered = 0.0 if row is None else promise.gain(float(known.values[row]))
        last = steps[-1] if steps else None
        failures = 0 if last is None or last.better else last.failures + 1
        steps.append(
            Step(
                "wide" if climb._wide else "close", step.note.radius, promise.promised,
                delivered, better, failures, promise.left_out,
            )
        )  # fmt: skip

    with (
        patch.object(Climb, "_top", note_top),
        patch.object(Climb, "propose", note_promise),
        patch.object(Climb, "judge", note_result),
    ):
        run()
    return steps


def search(case: Case) -> bamsoo.Result:
    """One run of the default."""
    goal = target(case)
    return bamsoo.minimize(goal.fun, goal.space, case.budget, seed=case.instance)


def cell(steps: Sequence[Step]) -> str:
    """The three numbers of some steps."""
    if not steps:
        return ""
    ratios = [step.delivered / step.promised for step in steps if step.better and step.promised]
    median = f"{np.median(ratios):.2f}" if ratios else "none"
    share = sum(step.better for step in steps) / len(steps)
    ratio = sum(step.delivered for step in steps) / sum(step.promised for step in steps)
    return f"{100 * share:.0f} % / {ratio:.3f} / {median}"


def groups(numbers: Array, lows: Sequence[float], steps: Sequence[Step]) -> list[str]:
    """The cells of the steps whose numbers are at least each of these and less than the next."""
    found = np.searchsorted(np.array(lows[1:]), numbers, side="right")
    return [
        cell([step for step, at in zip(steps, found, strict=True) if at == i])
        for i in range(len(lows))
    ]


def summary(steps: Sequence[Step]) -> list[str]:
    """How many steps there are and promise nothing, three numbers, promises, errors left out."""
    promised = [step.promised for step in steps]
    counts = str(len(steps)), str(sum(each == 0.0 for each in promised))
    quartiles = ", ".join(f"{q:.2g}" for q in np.quantile(promised, [0.25, 0.5, 0.75]))
    errors = np.quantile(np.concatenate([step.left_out for step in steps]), [0.5, 0.9])
    return [*counts, cell(steps), quartiles, f"{errors[0]:.2f}, {errors[1]:.1f}"]


def by_promise(steps: Sequence[Step]) -> list[str]:
    promised = np.array([step.promised for step in steps])
    return groups(promised, [0.0, *np.quantile(promised, [0.25, 0.5, 0.75])], steps)


def by_failures(steps: Sequence[Step]) -> list[str]:
    return groups(np.array([step.failures for step in steps]), FAILURES, steps)


def by_radius(steps: Sequence[Step]) -> list[str]:
    return groups(np.array([step.radius for step in steps]), RADII, steps)


def by_climb(steps: Sequence[Step]) -> list[str]:
    return [cell([step for step in steps if step.climb == climb]) for climb in ("close", "wide")]


TABLES: Mapping[tuple[str, ...], Callable[[Sequence[Step]], list[str]]] = {
    (
        *("steps", "promise nothing", "all steps", "promise: quartiles"),
        "left-out errors: median, 90 %",
    ): summary,
    ("smallest promises", "second quarter", "third quarter", "largest promises"): by_promise,
    ("after 0 failures", "1 to 3", "4 to 7", "8 to 15", "16 to 31", "32 and more"): by_failures,
    ("radius below 0.1", "below 0.3", "below 1", "1"): by_radius,
    ("close climb", "wide climb"): by_climb,
}
"""The heads of each table, and the cells of one of its rows."""


def chosen_cases(chosen: argparse.Namespace) -> dict[str, list[Case]]:
    """The cases of each row."""
    found = {f"BBOB {dim}-D": bbob.cases(dim, BBOB[dim]) for dim in chosen.dims}
    first = Selection(part="develop", instances=(0,))
    if chosen.real:
        found["real"] = [case for case in real.cases(first) if real.available(case)]
    if chosen.tuning:
        found["tuning"] = [case for case in tuning.cases(first) if case.problem in QUICK]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--dims", nargs="*", type=int, choices=list(BBOB), default=list(BBOB))
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--tuning", action="store_true")
    chosen = parser.parse_args()
    print(versions(), flush=True)
    rows = {
        name: [step for case in cases for step in observed(partial(search, case))]
        for name, cases in chosen_cases(chosen).items()
    }
    for heads, cells in TABLES.items():
        print("\n| " + " | ".join(["", *heads]) + " |")
        print("|---" * (1 + len(heads)) + "|")
        for name, steps in rows.items():
            print("| " + " | ".join([name, *cells(steps)]) + " |")


if __name__ == "__main__":
    main()
