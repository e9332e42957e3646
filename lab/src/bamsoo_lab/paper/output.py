"""What a reproduction writes: tables, pictures, and a page that shows them."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bamsoo.errors import BamsooError

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#777777"
"""From the palette of Okabe and Ito, which colour-blind readers can tell apart."""

COLOURS = {"BaMSOO": BLUE, "GP-UCB": ORANGE, "SOO": GREEN}
MARKS = {"BaMSOO": "o", "GP-UCB": "s", "SOO": "^"}

_STYLE = {
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


class PlotError(BamsooError, ImportError):
    """Pictures were asked for, but matplotlib is not installed."""


@dataclass(frozen=True)
class Assertion:
    """Something the paper says, what was measured, and whether the two agree."""

    words: str
    measured: str
    holds: bool | None

    @staticmethod
    def of(words: str, measured: str, cases: Sequence[bool]) -> "Assertion":
        """A claim about several cases; it stays open if only some of them agree with it."""
        return Assertion(words, measured, all(cases) if all(cases) or not any(cases) else None)

    def row(self) -> list[str]:
        """The claim as a row of a table; `holds=None` means that the figures do not decide it."""
        verdict = {True: "holds", False: "does not hold", None: "open"}[self.holds]
        return [self.words, self.measured, verdict]


class Output:
    """The folder a reproduction writes to: `data/*.csv`, `pictures/*`, and `page.md`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("data", "pictures", "sections"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def csv(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write a tidy table, one observation per row."""
        with (self.folder / "data" / f"{name}.csv").open("w", newline="", encoding="utf-8") as f:
            table = csv.writer(f, lineterminator="\n")
            table.writerow(header)
            table.writerows(rows)

    @contextmanager
    def picture(self, name: str, width: float, height: float, **grid: Any) -> Iterator[Any]:
        """Axes to draw on (`grid` goes to matplotlib's subplots), saved as PNG and PDF."""
        plt = pyplot()
        with plt.rc_context(_STYLE):
            figure, axes = plt.subplots(figsize=(width, height), **grid)
            yield axes
            for suffix in ("png", "pdf"):
                figure.savefig(self.folder / "pictures" / f"{name}.{suffix}", dpi=110)
            plt.close(figure)

    def section(self, order: int, name: str, text: str) -> str:
        """Store a part of the page; `order` is its position."""
        (self.folder / "sections" / f"{order}-{name}.md").write_text(text, "utf-8")
        return text

    def page(self, head: str) -> Path:
        """Put the page together from all parts stored so far, also by earlier calls."""
        parts = sorted((self.folder / "sections").glob("*.md"))
        page = self.folder / "page.md"
        page.write_text("\n\n".join([head, *(p.read_text("utf-8") for p in parts)]), "utf-8")
        return page


def pyplot() -> Any:
    """Matplotlib's pyplot, if it is installed; it draws to files, never to a screen."""
    try:
        import matplotlib
    except ImportError:
        raise PlotError(
            "the pictures need matplotlib, which is not installed; "
            "pip install 'bamsoo[plot]' brings it"
        ) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def claims(items: Iterable[Assertion]) -> str:
    """The claims as a table in Markdown."""
    return table(["the paper", "measured", "verdict"], [item.row() for item in items])


def image(name: str, caption: str) -> str:
    """A picture in Markdown, as seen from the page."""
    return f"![{caption}](pictures/{name}.png)\n\n*{caption}*"
