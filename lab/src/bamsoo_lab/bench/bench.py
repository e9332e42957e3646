"""The driver of `bamsoo bench`: make the runs that are missing, and write the report."""

import platform
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from rich.console import Console

from bamsoo._version import __version__

from ..jobs.source import searches
from ..paper.output import Output, image, pyplot
from . import docs, summary
from .comparison import Comparison
from .methods import ALL
from .report import REPORTS, SCORES


def bench(asked: Comparison, out: Path, jobs: int, console: Console, page: Path | None) -> Path:
    """Run a suite, print its tables, and return the page that holds them.

    Runs that are already in `out` are not made again. Each new run is stored when it finishes.
    """
    name = asked.suite.name
    pyplot()  # fail now, and not after an hour, if pictures or the page cannot be written
    if page is not None:
        docs.split(page, name)
    output = Output(out)
    report = REPORTS.get(name, SCORES)
    runs = report.measure(asked, out, jobs, console)
    ran = {run["method"] for run in runs}
    for peer in asked.peers:
        if peer not in ran:
            console.print(
                f"{ALL[peer].label}: no stored runs of these cases; --run-peers runs it here"
            )
    shown, drawn = report.write(asked, runs, output)
    for table in shown:
        table.show(console)
        output.csv(f"{name}-{table.name}", table.header, table.rows)
    body = "\n\n".join(
        [
            _made(asked),
            *(table.markdown() for table in shown),
            *(image(picture, caption) for picture, caption in drawn.items()),
        ]
    )
    output.section(asked.suite.place, name, f"## {asked.suite.title}\n\n{body}")
    if page is not None:
        docs.rewrite(page, name, body, [out / "pictures" / f"{picture}.png" for picture in drawn])
        summary.refresh(page)
    return output.page("# bamsoo compared with other optimisers")


def _made(asked: Comparison) -> str:
    """A sentence on when the part was written, by which versions and on which cases."""
    today = datetime.now(UTC).date().isoformat()
    text = (
        f"Written on {today} by `bamsoo bench --suite {asked.suite.name}` (bamsoo {__version__}, "
        f"source {searches()}, Python {platform.python_version()}, numpy {np.__version__})."
    )
    if asked.suite.about:
        return f"{text} {asked.suite.about}"
    found = sorted({case.instance for case in asked.cases})
    return f"{text} {asked.suite.instances} {', '.join(map(str, found))}."
