"""Make the runs that are missing and write them up."""

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.console import Console

from ... import __version__
from ..jobs.pool import perform, progress_bar
from ..paper.output import Output, image, pyplot
from . import (
    docs,
    goals,
    overhead,
    pictures,
    plan,
    tables,
)
from .errors import require
from .methods import ALL, OURS
from .pack import DATA
from .runs import (
    Job,
    Record,
    case_of,
    current,
    job,
    key,
    source,
    trace,
)
from .score import auc, by_method
from .store import Ledger, read
from .suites import Case
from .tables import Methods, Table


@dataclass(frozen=True)
class Request:
    """What the user asked for.

    Parameters
    ----------
    suite : {"paper", "bbob", "overhead"}
    cases : sequence of Case
        What is run.
    peers : sequence of str
        Methods to compare with, ours of other kinds among them.
    run_peers : bool
        Make the peers' runs here instead of reading stored ones.
    usual : bool
        Whether the cases are the suite's own, of which the goals speak.
    long : bool
        For "overhead": ours with 5,000 evaluations too.
    """

    suite: str
    cases: Sequence[Case]
    peers: Sequence[str]
    run_peers: bool = False
    usual: bool = True
    long: bool = False


def bench(request: Request, out: Path, jobs: int, console: Console, page: Path | None) -> Path:
    """Run a suite, print its tables, and return the page that holds them.

    Runs found in `out` are not made again; each new one is kept there when it is finished.
    """
    pyplot()  # refuse now, not after an hour, what cannot be drawn or written
    if page is not None:
        docs.split(page, request.suite)
    output = Output(out)
    write = _overhead if request.suite == "overhead" else _compare
    shown, drawn = write(request, output, jobs, console)
    for table in shown:
        table.show(console)
        output.csv(f"{request.suite}-{table.name}", table.header, table.rows)
    order, title = SECTIONS[request.suite]
    body = "\n\n".join(
        [
            _made(request),
            *(table.markdown() for table in shown),
            *(image(name, caption) for name, caption in drawn.items()),
        ]
    )
    output.section(order, request.suite, f"## {title}\n\n{body}")
    if page is not None:
        docs.rewrite(
            page, request.suite, body, [out / "pictures" / f"{name}.png" for name in drawn]
        )
    return output.page("# bamsoo beside other optimisers")


SECTIONS = {
    "paper": (1, "The paper's functions"),
    "bbob": (2, "BBOB"),
    "overhead": (3, "Overhead side by side"),
}
"""Place and title on the page."""

Written = tuple[list[Table], dict[str, str]]
"""Tables, and captions of pictures by name."""


def _compare(request: Request, output: Output, jobs: int, console: Console) -> Written:
    records = _records(request, output.folder, jobs, console)
    methods = by_method(records)
    for name in request.peers:
        if name not in methods:
            console.print(
                f"{ALL[name].label}: no stored runs of these cases; --run-peers makes some"
            )
    output.csv(
        f"{request.suite}-runs", list(_line(records[0])), (list(_line(r).values()) for r in records)
    )
    written = _paper if request.suite == "paper" else _bbob
    return written(methods, request, output)


def _records(request: Request, folder: Path, jobs: int, console: Console) -> list[Record]:
    """The runs of the request: ours made now or before, the peers' stored or made."""
    ours = ["bamsoo", *(name for name in request.peers if name in OURS and name != "bamsoo")]
    todo = [job(name, case) for name in ours for case in request.cases]
    if request.run_peers:
        todo += plan.chosen([name for name in request.peers if name not in OURS], request.cases)
    _check_packages(todo)
    ledger = Ledger(folder / "runs")
    with progress_bar(sum(one.cost for one in todo), console) as advance:
        perform(todo, ledger, jobs, advance)
    found = {key(r): r for r in (*read(DATA), *ledger.records())}
    wanted, cases = {*ours, *request.peers}, set(request.cases)
    return [
        r for r in found.values() if r["method"] in wanted and case_of(r) in cases and current(r)
    ]


def _check_packages(jobs: Sequence[Job]) -> None:
    """Refuse before the first run if a package is missing."""
    for name in {one.settings["method"] for one in jobs}:
        for module in ALL[name].modules:
            require(module)
    if any(one.settings["suite"] != "paper" for one in jobs):
        require("ioh")


def _line(r: Record) -> dict[str, object]:
    """A run as a row of a table."""
    best = trace(r)
    names = ("suite", "method", "problem", "dim", "instance", "seed", "budget", "evaluations")
    times = ("cpu", "wall", "slowest", "slowest_cpu")
    return {
        **{name: r[name] for name in names},
        "area": auc(best),
        "regret_half": best[(len(best) - 1) // 2],
        "regret": best[-1],
        **{name: r[name] for name in times},
        "ended": r.get("ended", ""),
    }


def _paper(methods: Methods, request: Request, output: Output) -> Written:
    shown = [tables.paper(methods)]
    if request.usual:
        shown.append(goals.table(goals.paper(methods["bamsoo"])))
    shown.append(tables.versions(methods))
    pictures.regret(methods, output)
    return shown, {"regret": "Regret against evaluations: median and quartiles over the boxes"}


def _bbob(methods: Methods, request: Request, output: Output) -> Written:
    dims = sorted({case.dim for case in request.cases})
    shown = [tables.area(methods, dim) for dim in dims]
    shown += [tables.overhead(methods), tables.slowest(methods["bamsoo"])]
    if request.usual:
        peers = [name for name in methods if name not in OURS]
        shown.append(goals.table(goals.bbob(methods, peers)))
    shown.append(tables.versions(methods))
    captions = {
        "solved": "Share of (function, target) pairs solved against evaluations, over the runs "
        "that all methods shown have",
        "functions": "Area under the curve by function, bamsoo's less the peer's: above zero "
        "bamsoo is ahead",
        "overhead": "Overhead so far against evaluations, medians: processor time, one thread",
    }
    draw: dict[str, Callable[[Methods, Output], bool]] = {
        "solved": pictures.curves,
        "functions": pictures.bars,
        "overhead": pictures.overhead,
    }
    drawn = [name for name, picture in draw.items() if picture(methods, output)]
    return shown, {name: captions[name] for name in drawn}


def _overhead(request: Request, output: Output, jobs: int, console: Console) -> Written:
    turns = overhead.jobs(request.peers, request.cases)
    alone = overhead.long_jobs(request.long) if request.usual else []
    _check_packages([*turns, *alone])
    with progress_bar(sum(one.cost for one in (*turns, *alone)), console) as advance:
        records = overhead.measure(turns, alone, output.folder / "overhead", advance)
    shown = [overhead.side_by_side(records, request.cases)]
    if request.usual:
        shown.append(overhead.alone(records))
        shown.append(goals.table(overhead.goals(records, request.cases)))
    return [*shown, tables.versions(by_method(records))], {}


def _made(request: Request) -> str:
    """When, with what and on which cases."""
    today = datetime.now(UTC).date().isoformat()
    text = (
        f"Written {today} by `bamsoo bench --suite {request.suite}` (bamsoo {__version__}, source "
        f"{source()}, Python {platform.python_version()}, numpy {np.__version__})."
    )
    if request.suite == "overhead":
        return text
    found = sorted({case.instance for case in request.cases})
    word = "Boxes" if request.suite == "paper" else "Instances"
    return f"{text} {word} {', '.join(map(str, found))}."
