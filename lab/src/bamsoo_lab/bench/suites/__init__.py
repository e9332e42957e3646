"""The suites of `bamsoo bench`, each in a module of its own.

To add a suite, write a module with a `Suite`, and add it to `ALL`. Unless `report.REPORTS` says
otherwise, it is reported by scores between a random search and the best value that any method
found (`score.py`).
"""

from ..case import Case, Target
from . import (
    bbob,
    coco,
    conditional,
    designs,
    fits,
    inexact,
    objectives,
    overhead,
    paper,
    parallel,
    real,
    simulators,
    steps,
    systems,
    tuning,
    yahpo,
)
from .suite import Selection, Suite

ALL = {
    suite.name: suite
    for suite in (
        paper.SUITE,
        bbob.SUITE,
        overhead.SUITE,
        parallel.SUITE,
        tuning.SUITE,
        coco.MIXINT,
        coco.NOISY,
        inexact.SUITE,
        coco.CONSTRAINED,
        designs.SUITE,
        conditional.SUITE,
        objectives.SUITE,
        yahpo.SUITE,
        steps.SUITE,
        simulators.SUITE,
        real.SUITE,
        systems.SUITE,
        fits.SUITE,
    )
}
"""Every suite by name."""


def target(case: Case) -> Target:
    """The problem that a case identifies."""
    find = ALL[case.suite].target
    assert find is not None, f"{case.suite} has no cases of its own"
    return find(case)


__all__ = [
    "ALL",
    "Selection",
    "Suite",
    "bbob",
    "coco",
    "conditional",
    "designs",
    "fits",
    "inexact",
    "objectives",
    "overhead",
    "paper",
    "parallel",
    "real",
    "simulators",
    "steps",
    "systems",
    "target",
    "tuning",
    "yahpo",
]
