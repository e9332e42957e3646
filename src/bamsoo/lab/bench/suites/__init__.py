"""The suites of `bamsoo bench`, each in a module of its own.

A new suite is a module with a `Suite`, and its entry in `ALL`. Unless `report.REPORTS` says
otherwise, it is written up by scores between a random search and the best value that any method
found (`score.py`).
"""

from ..case import Case, Target
from . import bbob, coco, conditional, designs, inexact, overhead, paper, parallel, tuning
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
    )
}
"""Every suite by name."""


def target(case: Case) -> Target:
    """What a case stands for."""
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
    "inexact",
    "overhead",
    "paper",
    "parallel",
    "target",
    "tuning",
]
