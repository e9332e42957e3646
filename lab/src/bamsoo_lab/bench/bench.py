"""The driver of `bamsoo bench`: make the runs that are missing, and write the report."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

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
        docs.find(page, name)
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
    pictured = [image(picture, caption) for picture, caption in drawn.items()]
    body = arranged(_made(asked), [table.markdown() for table in shown], pictured)
    output.section(asked.suite.place, name, f"## {asked.suite.title}\n\n{body}")
    if page is not None:
        docs.rewrite(page, name, body, [out / "pictures" / f"{picture}.png" for picture in drawn])
        summary.refresh(page.parent)
    return output.page("# bamsoo compared with other optimisers")


def arranged(made: str, tables: Sequence[str], pictures: Sequence[str]) -> str:
    """The part of a suite: its first table and its first picture, and all others folded away."""
    rest = docs.folded("All other tables and pictures", [*tables[1:], *pictures[1:]])
    return "\n\n".join([made, *tables[:1], *pictures[:1], *rest])


def _made(asked: Comparison) -> str:
    """A sentence on when the part was written, by which versions and on which cases."""
    text = docs.written(f"bamsoo bench --suite {asked.suite.name}")
    if asked.suite.about:
        return f"{text} {asked.suite.about}"
    found = sorted({case.instance for case in asked.cases})
    return f"{text} {asked.suite.instances} {', '.join(map(str, found))}."
