"""`bamsoo bench --scoreboard`: make the missing runs, and print and write the table."""

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from ...jobs.pool import Batch, perform
from ...jobs.source import LABORATORY, Source, searches
from ...jobs.store import Store
from ...jobs.task import Finished, Task
from ..archive import DATA, read
from ..case import Case
from ..docs import find, rewrite
from ..errors import BenchError
from ..methods import ALL as METHODS
from ..parallel import runs as parallel
from ..runs import Measurement, case_of, key, measurement, task
from ..score import Runs
from ..tables import Table
from .rows import ALL, VIRTUAL, Marks, ScoreRow

OURS, REFERENCE = "bamsoo", "reference"

NAME = "scoreboard"
"""The part of the page that is written."""

GOLDEN = Path("tests", "golden", "traces.txt")
"""The points that golden runs ask for, below the root of the repository."""

HEADER = (
    *("suite", "kind of user", "runs", "now", "reference", "difference", "strongest peer"),
    "source",
)


@dataclass(frozen=True)
class ScoreLine:
    """What one row shows.

    Parameters
    ----------
    row : ScoreRow
    runs : int
        How many runs of ours were scored.
    now : float
        The mean score over the problems.
    before, difference, error : float, optional
        The reference, our score minus its score on the same cases, and the standard error of this
        difference over the problems.
    peer : str
        The strongest peer that has all of the cases, with its score; empty if none has.
    """

    row: ScoreRow
    runs: int
    now: float
    before: float | None = None
    difference: float | None = None
    error: float | None = None
    peer: str = ""

    @property
    def cells(self) -> list[str]:
        """The line as it is shown."""
        before = "" if self.before is None else f"{self.before:.3f}"
        gain = "" if self.difference is None else f"{self.difference:+.3f} ± {self.error:.3f}"
        worse = self.difference is not None and self.difference < -2.0 * (self.error or 0.0)
        name = f"{self.row.name} (fell)" if worse else self.row.name
        shown = [name, self.row.kind, f"{self.runs}", f"{self.now:.3f}", before, gain, self.peer]
        return [*shown, searches()]


def scoreboard(
    names: Sequence[str],
    against: str | None,
    out: Path,
    jobs: int,
    console: Console,
    page: Path | None = None,
) -> list[ScoreLine]:
    """Make the runs that are missing, print the table, and return its lines.

    Parameters
    ----------
    names : sequence of str
        Rows; all if empty.
    against : str, optional
        A revision of the repository that is run as the reference.
    out : Path
        Where finished runs are stored.
    jobs : int
        Number of processes.
    console : Console
    page : Path, optional
        A page in which the table is replaced.
    """
    if page is not None:
        find(page, NAME)  # fail now, and not after an hour
    wanted = [ALL[name] for name in names or ALL]
    planned = {row.name: row.cases() for row in wanted}
    empty = [name for name, cases in planned.items() if not cases]
    if empty:
        console.print(f"left out, because their data is not here (--data): {', '.join(empty)}")
    rows = [row for row in wanted if planned[row.name]]
    if not rows:
        raise BenchError("none of these suites can be run without their data (--data)")
    store = Store(out / "runs")
    commit = None if against is None else commit_of(against)
    ours = {row.name: [_ours(row, case) for case in planned[row.name]] for row in rows}
    peers = [run for run in read(DATA) if not METHODS[run["method"]].ours]
    stored = {key(run) for run in peers}
    drawn = [task("random", c) for row in rows if row.drawn for c in planned[row.name]]
    drawn = [one for one in drawn if key(one.settings) not in stored]
    perform([Batch([*drawn, *(t for row in rows for t in ours[row.name])], jobs)], store, console)
    earlier: list[Task] = []
    if commit is not None:
        with source_at(commit) as folder:
            earlier = [_at(commit, folder, t) for row in rows for t in ours[row.name]]
            perform([Batch(earlier, jobs)], store, console)
    peers += [measurement(done) for t in drawn if (done := store.get(t)) is not None]
    lines = []
    for row in rows:
        own, before = _found(store, ours[row.name]), Runs()
        if commit is not None and against is not None:
            before = _found(store, [_at(commit, "", t) for t in ours[row.name]])
        cases = {*planned[row.name]}
        others = [r for r in peers if not row.workers and case_of(r) in cases]
        lines.append(_line(row, own, before, others))
    shown = table(lines, against)
    shown.show(console)
    if page is not None:
        rewrite(page, NAME, _merged(shown, page), [])
    return lines


def _ours(row: ScoreRow, case: Case) -> Task:
    if row.workers:
        return parallel.task(OURS, case, row.workers, "exponential")
    return task(OURS, case)


def _at(commit: str, folder: str, now: Task) -> Task:
    """The same run of the default at a commit, whose package is in a folder."""
    return replace(
        now,
        function="bench.scoreboard.elsewhere:run",
        settings={**now.settings, "commit": commit},
        context={"package": folder},
        source=Source.NONE,
        group=f"{now.group}-{commit}",
    )


def _found(store: Store, tasks: Sequence[Task]) -> Runs:
    done: list[Finished] = [found for t in tasks if (found := store.get(t)) is not None]
    return {case_of(one.settings): measurement(one) for one in done}


def commit_of(revision: str) -> str:
    """The commit that a revision names."""
    found = _git("rev-parse", "--verify", f"{revision}^{{commit}}")
    if found.returncode:
        raise BenchError(
            f"{revision!r} is not a revision of the repository of the laboratory; expected a "
            "commit, a tag or a branch"
        )
    return found.stdout.decode().strip()[:12]


@contextmanager
def source_at(commit: str) -> Iterator[str]:
    """A temporary folder with the package `bamsoo` as it was at a commit."""
    with tempfile.TemporaryDirectory() as folder:
        packed = _git("archive", "--format=tar", commit, "src")
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
            files.extractall(folder, filter="data")
        yield str(Path(folder, "src"))


def _git(*words: str) -> "subprocess.CompletedProcess[bytes]":
    top = LABORATORY.parents[2]
    return subprocess.run(["git", "-C", str(top), *words], capture_output=True, check=False)


def _line(row: ScoreRow, own: Runs, before: Runs, others: Sequence[Measurement]) -> ScoreLine:
    methods: dict[str, Runs] = {OURS: own} | ({REFERENCE: before} if before else {})
    for run in others:
        methods.setdefault(run["method"], {})[case_of(run)] = run
    marks = row.marked(methods)
    ours = _problems(marks[OURS])
    found = ScoreLine(
        row, len(marks[OURS]), float(np.mean([*ours.values()])), peer=_strongest(marks)
    )
    if not before:
        return found
    theirs = _problems(marks[REFERENCE])
    gains = np.array([ours[problem] - theirs[problem] for problem in ours])
    error = float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
    mean = float(np.mean([*theirs.values()]))
    return replace(found, before=mean, difference=float(gains.mean()), error=error)


def _problems(marks: Any) -> dict[tuple[str, int], float]:
    """The mean score of each problem over its instances."""
    groups: dict[tuple[str, int], list[float]] = {}
    for case, mark in marks.items():
        groups.setdefault((case.problem, case.dim), []).append(mark)
    return {problem: float(np.mean(some)) for problem, some in groups.items()}


def _strongest(marks: Marks) -> str:
    """The peer with the highest score among those that have all of our cases."""
    peers = {
        name: float(np.mean([*_problems(some).values()]))
        for name, some in marks.items()
        if name not in (OURS, REFERENCE) and {*some} == {*marks[OURS]}
    }
    if not peers:
        return ""
    best = max(peers, key=lambda name: peers[name])
    label = best if best == VIRTUAL else METHODS[best].label
    return f"{label}: {peers[best]:.3f}"


def total(lines: Sequence[ScoreLine]) -> tuple[float, float | None, float | None]:
    """The mean over kinds of users of our scores, of the differences, and the error of the latter.

    The rows of one kind count together as much as those of another.
    """
    kinds = sorted({line.row.kind for line in lines})
    groups = [[line for line in lines if line.row.kind == kind] for kind in kinds]
    now = float(np.mean([np.mean([line.now for line in group]) for group in groups]))
    if any(line.difference is None for line in lines):
        return now, None, None
    gain = float(np.mean([np.mean([line.difference for line in group]) for group in groups]))
    weights = {line: 1.0 / (len(group) * len(groups)) for group in groups for line in group}
    error = sum((weights[line] * (line.error or 0.0)) ** 2 for line in lines) ** 0.5
    return now, gain, error


def table(lines: Sequence[ScoreLine], against: str | None) -> Table:
    """The scoreboard as a table; its last line is the mean over kinds of users."""
    return Table(
        NAME,
        "Scoreboard" + (f", compared with {against}" if against else ""),
        HEADER,
        [*(line.cells for line in lines), _mean(lines)],
        "Higher is better. The difference is that of the same runs of the two states, with its "
        "standard error over problems. “Fell” marks a suite that lost more than twice its error.",
    )


def _mean(lines: Sequence[ScoreLine]) -> list[str]:
    """The last line of the table."""
    now, gain, error = total(lines)
    kinds = len({line.row.kind for line in lines})
    mean = replace(lines[0], runs=sum(line.runs for line in lines), now=now, peer="")
    before = None if gain is None else now - gain
    cells = replace(mean, before=before, difference=gain, error=error).cells
    return ["mean", f"{kinds} kinds", *cells[2:]]


def golden(page: Path) -> str:
    """The digest of the golden runs of the repository that a page belongs to."""
    return sha256((page.parents[1] / GOLDEN).read_bytes()).hexdigest()[:12]


def _merged(shown: Table, page: Path) -> str:
    """The table with the lines of the page that were not run now, and the digest of golden runs.

    Each line says which source it belongs to. The mean is that of all lines, if none is missing.
    """
    found = {_name(row[0]): [*row] for row in shown.rows}
    text = page.read_text("utf-8")
    kept = [_cells(line) for line in text.splitlines() if line.startswith("| ")]
    known = {_name(cells[0]): cells for cells in kept if len(cells) == len(HEADER)}
    every = known | found
    rows = [every[name] for name in ALL if name in every]
    if {*ALL} <= {*every}:
        rows.append([*_mean([_read(cells) for cells in rows])[:-1], ""])
    return f"{replace(shown, rows=rows).markdown()}\n\nGolden runs: `{golden(page.resolve())}`"


def _read(cells: list[str]) -> ScoreLine:
    """A line of the page."""
    gain, _, error = cells[5].partition(" ± ")
    before, difference, of_it = (float(each) if each else None for each in (cells[4], gain, error))
    row, runs, now = ALL[_name(cells[0])], int(cells[2]), float(cells[3])
    return ScoreLine(row, runs, now, before, difference, of_it)


def _name(cell: str) -> str:
    return cell.partition(" ")[0]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line[1:-1].split("|")]
