"""The comparison that `bamsoo bench` was asked for, and its runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ..jobs.pool import Batch, perform
from ..jobs.store import Store
from ..jobs.task import Task
from . import plan
from .archive import DATA, read
from .case import Case
from .errors import require
from .methods import ALL
from .runs import Measurement, case_of, key, measurement, task
from .suites import Suite


@dataclass(frozen=True)
class Comparison:
    """What the user asked for.

    Parameters
    ----------
    suite : Suite
    cases : sequence of Case
        The cases that are run.
    peers : sequence of str
        Methods to compare with; some may be other methods of this package.
    run_peers : bool
        Make the peers' runs here instead of reading stored ones.
    usual : bool
        Whether the cases are the usual ones of the suite, for which goals are set.
    long : bool
        For the suite `overhead`: also run ours with 5,000 evaluations.
    """

    suite: Suite
    cases: Sequence[Case]
    peers: Sequence[str]
    run_peers: bool = False
    usual: bool = True
    long: bool = False


def measure(asked: Comparison, folder: Path, jobs: int, console: Console) -> list[Measurement]:
    """The runs of a comparison: ours made now or earlier, the peers' stored ones or made now."""
    ours = ["bamsoo", *(n for n in asked.peers if ALL[n].ours and n != "bamsoo")]
    takes = asked.suite.takes
    todo = [task(name, case) for name in ours for case in asked.cases if takes(name, case)]
    if asked.run_peers:
        todo += plan.chosen([n for n in asked.peers if not ALL[n].ours], asked.cases)
    check_packages(asked.suite, todo)
    store = Store(folder / "runs")
    perform([Batch(todo, jobs)], store, console)
    made = [measurement(finished) for finished in store.finished()]
    found = {key(run): run for run in (*read(DATA), *made)}
    wanted, cases = {*ours, *asked.peers}, set(asked.cases)
    return [r for r in found.values() if r["method"] in wanted and case_of(r) in cases]


def check_packages(suite: Suite, tasks: Iterable[Task]) -> None:
    """Raise an error before the first run if a package is missing."""
    methods = {task.settings["method"] for task in tasks}
    for module in (*suite.modules, *(m for name in methods for m in ALL[name].modules)):
        require(module)
