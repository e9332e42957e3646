"""The rows of the scoreboard: which cases each has, how they are scored, and whose they are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from bamsoo.base.typing import Array

from .. import fronts, reference, suites, tables
from ..case import Case
from ..runs import Measurement, trace
from ..score import Methods, auc, scores
from ..suites import Selection, bbob, inexact, paper
from ..suites import parallel as workers
from ..systems import SYSTEMS
from ..tuning.tasks import tasks as tuning_tasks

Marks: TypeAlias = Mapping[str, Mapping[Case, float]]
"""One number per method and case; higher is better."""

GAPS: Array = 10.0 ** np.arange(0.0, -6.5, -0.5)
"""Gaps to a known optimum that count as reached, relative to its size."""

FUNCTIONS, TUNING, LIMITS = "test functions", "tuning", "constraints"
"""Kinds of users that have several rows."""

VIRTUAL = "COCO's best, in hindsight"
"""How the table calls COCO's virtual best."""

SLOW = ("forest", "boosting")
"""Families of tuning tasks whose evaluations take most of the time; they are left out."""


@dataclass(frozen=True)
class ScoreRow:
    """A suite, or one dimension of it.

    Parameters
    ----------
    name : str
    kind : str
        The kind of user that it stands for.
    cases : callable
        The cases for development that can be run here.
    marked : callable
        Scores the runs of several methods.
    workers : int
        The number of workers, for simulated parallel runs.
    drawn : bool
        Whether the score needs runs of random search.
    """

    name: str
    kind: str
    cases: Callable[[], list[Case]]
    marked: Callable[[Methods], Marks]
    workers: int = 0
    drawn: bool = True


def develop(suite: str, every: int = 1, **selected: tuple[int, ...]) -> list[Case]:
    """Cases for development that can be run here; every second one, for example."""
    chosen = suites.ALL[suite]
    found = chosen.cases(Selection(part="develop", **selected))  # type: ignore[arg-type]
    return [case for case in found if chosen.available(case)][::every]


def _tuning() -> list[Case]:
    known = tuning_tasks()
    return [c for c in develop("tuning", instances=(0,)) if known[c.problem].family not in SLOW]


def _systems(noisy: bool) -> list[Case]:
    return [case for case in develop("systems") if SYSTEMS[case.problem].noisy == noisy]


def _marked(mark: Callable[[Case, Measurement], float]) -> Callable[[Methods], Marks]:
    """A score that is known for each run by itself."""
    return lambda methods: {
        name: {case: mark(case, run) for case, run in runs.items()}
        for name, runs in methods.items()
    }


def _scored(methods: Methods) -> Marks:
    """The mean of the scores at the numbers of evaluations of the suite."""
    at = tables.marks(methods)
    return {
        name: {case: float(np.mean([score[t - 1] for t in at])) for case, score in runs.items()}
        for name, runs in scores(methods).items()
    }


def _fronts(methods: Methods) -> Marks:
    """The mean share of the hypervolume at the numbers of evaluations of the suite."""
    at = fronts.marks(methods)
    return {
        name: {case: float(np.mean([share[t - 1] for t in at])) for case, share in runs.items()}
        for name, runs in fronts.shares(methods).items()
    }


def _area(case: Case, run: Measurement) -> float:
    return auc(trace(run))


def _gap(case: Case, run: Measurement) -> float:
    """The share of the gaps that are reached, over the evaluations."""
    size = abs(float(run["optimum"])) or 1.0
    return float((trace(run)[:, None] / size <= GAPS).mean())


def _rounds(case: Case, run: Measurement) -> float:
    """The share of the time that is left when a target is reached, over the targets."""
    total = case.budget / run["workers"]
    ends = [total if found is None else found[1] for found in run["reached"]]
    return float(np.mean([max(1.0 - end / total, 0.0) for end in ends]))


def _against_coco(methods: Methods) -> Marks:
    """The area under the curve, divided by the mean area of COCO's virtual best."""
    exact = {case: _exact(case) for runs in methods.values() for case in runs}
    best = {case: auc(trace(run)) for case, run in reference.runs(exact.values()).items()}
    scale = float(np.mean([best[case] for case in exact.values()]))
    found = {
        name: {case: auc(trace(run)) / scale for case, run in runs.items()}
        for name, runs in methods.items()
    }
    return found | {VIRTUAL: {case: best[same] / scale for case, same in exact.items()}}


def _exact(case: Case) -> Case:
    """The case of `bbob` that a case with inexact values is made from."""
    return replace(case, suite="bbob", problem=case.problem.partition("@")[0])


def _bbob(dim: int, *instances: int) -> ScoreRow:
    cases = partial(bbob.cases, dim, instances)
    return ScoreRow(f"bbob-{dim}", FUNCTIONS, cases, _against_coco, drawn=False)


def _parallel(number: int) -> ScoreRow:
    """The paper's functions in boxes for development, and the BBOB sample on such instances."""
    n = workers.budget(number)

    def cases() -> list[Case]:
        sample = [bbob.cases(d, (1, 2), [f], n) for f, d in workers.FUNCTIONS.items()]
        return [*paper.cases((100,), n), *(case for some in sample for case in some)]

    return ScoreRow(
        f"workers-{number}", "many workers", cases, _marked(_rounds), number, drawn=False
    )


ALL = {
    row.name: row
    for row in (
        _bbob(2, 1, 2, 3),
        _bbob(5, 1, 2),
        _bbob(10, 1, 2),
        _bbob(20, 1),
        ScoreRow(
            "inexact",
            FUNCTIONS,
            partial(inexact.cases, 5, ["1e-6"], (1, 2)),
            _against_coco,
            drawn=False,
        ),
        ScoreRow(
            "paper", FUNCTIONS, partial(paper.cases, (100, 101, 102)), _marked(_area), drawn=False
        ),
        ScoreRow("real", "engineering", partial(develop, "real"), _scored),
        ScoreRow("simulators", "engineering", partial(develop, "simulators"), _scored),
        ScoreRow("tuning", TUNING, _tuning, _scored),
        ScoreRow("yahpo", TUNING, partial(develop, "yahpo", every=4), _scored),
        ScoreRow("mixint-5", TUNING, partial(develop, "mixint", dims=(5,)), _scored),
        ScoreRow(
            "mixint-10", TUNING, partial(develop, "mixint", dims=(10,), instances=(1,)), _scored
        ),
        ScoreRow("conditional", TUNING, partial(develop, "conditional"), _scored),
        ScoreRow("designs", LIMITS, partial(develop, "designs"), _marked(_gap), drawn=False),
        ScoreRow("constrained", LIMITS, partial(develop, "constrained", dims=(5, 10)), _scored),
        ScoreRow("noisy", "noise", partial(develop, "noisy", instances=(1,)), _scored),
        ScoreRow("chance", "noise", partial(_systems, noisy=True), _scored),
        ScoreRow("architectures", TUNING, partial(_systems, noisy=False), _scored),
        ScoreRow("objectives", "several objectives", partial(develop, "objectives"), _fronts),
        ScoreRow("steps", "steps", partial(develop, "steps"), _scored),
        _parallel(8),
        _parallel(64),
    )
}
"""Every row by name."""
