"""Draw the import graph of the layers, and write its table into docs/architecture.md.

The layers come from the contract in pyproject.toml; their imports, modules and lines come from the
source. Lines are rounded to two digits, so that a small edit does not change the page.
`make architecture` runs this script. With `--check` it only compares the page with the source, and
fails if they differ.
"""

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grimp

ROOT = Path(__file__).parent.parent
SOURCES = {"bamsoo": ROOT / "src" / "bamsoo", "bamsoo_lab": ROOT / "lab" / "src" / "bamsoo_lab"}
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "images" / "architecture.png"
BEGIN, END = "<!-- written by tools/draw_architecture.py -->", "<!-- end of the table -->"

FOUNDATIONS, PUBLIC, LABORATORY = "foundations", "__init__", "lab"
LAST_PURE = "optimizer"  # the layers below it in the picture use files, clocks and processes
INK, FAINT, PURE, IMPURE = "#222222", "#dddddd", "#0072b2", "#d55e00"


@dataclass(frozen=True)
class Layer:
    """One row: some modules of the package's root, one of its folders, or the laboratory."""

    name: str
    members: tuple[str, ...]
    modules: int
    lines: int
    imports: tuple[str, ...]  # the layers it imports from, nearest first


def rows(contract: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """(name, members) of each row, from the modules that all others use down to the laboratory.

    The small modules that every layer uses are one row. Each of the other folders and modules is a
    row of its own. The package's root, which is outside the contract, collects the public names of
    all rows up to `run`.
    """
    groups = [re.split(r"\s*[|:]\s*", line) for line in reversed(contract)]
    space = groups.index(["space"])
    found = [(FOUNDATIONS, tuple(sorted(name for group in groups[:space] for name in group)))]
    for group in groups[space:]:
        found += [(name, (name,)) for name in group]
        if "run" in group:
            found.append((PUBLIC, (PUBLIC,)))
    return [*found, (LABORATORY, (LABORATORY,))]


def measure() -> tuple[list[Layer], Counter[tuple[str, str]]]:
    """Read the layers, and count the imports from one to another."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (contract,) = (c["layers"] for c in contracts if c["id"] == "layers")
    graph = grimp.build_graph(*SOURCES, cache_dir=None)
    named = rows(contract)
    row_of = {member: name for name, members in named for member in members}

    def row(module: str) -> str:
        package, *inside = module.split(".")
        return row_of[inside[0] if inside else PUBLIC] if package == "bamsoo" else LABORATORY

    arrows: Counter[tuple[str, str]] = Counter()
    modules: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    for module in graph.modules:
        modules[row(module)] += 1
        lines[row(module)] += count_lines(module)
        for imported in graph.find_modules_directly_imported_by(module):
            if row(imported) != row(module):
                arrows[row(module), row(imported)] += 1
    order = [name for name, _ in named]
    return [
        Layer(
            name,
            members,
            modules[name],
            int(float(f"{lines[name]:.1e}")),  # rounded to two digits
            tuple(other for other in reversed(order) if (name, other) in arrows),
        )
        for name, members in named
    ], arrows


def count_lines(module: str) -> int:
    """Count the lines of a module that are not blank."""
    package, *inside = module.split(".")
    path = SOURCES[package].joinpath(*inside)
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return sum(bool(line.strip()) for line in file.read_text().splitlines())


def label(layer: Layer) -> str:
    """The name of a layer as a path."""
    if len(layer.members) > 1:
        return layer.name
    folder = layer.name == LABORATORY or (SOURCES["bamsoo"] / layer.name).is_dir()
    return f"{layer.name}/" if folder else f"{layer.name}.py"


def table(layers: Iterable[Layer]) -> str:
    """The layers as a Markdown table."""
    lines = ["| layer | modules | lines | imports from |", "|---|--:|--:|---|"]
    for layer in layers:
        name = f"`{label(layer)}`" if len(layer.members) == 1 else layer.name
        lines.append(
            f"| {name} | {layer.modules} | {layer.lines:,} | {', '.join(layer.imports) or 'none'} |"
        )
    return "\n".join(lines)


def with_table(page: str, text: str) -> str:
    """Put the table between its markers on the page."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def draw(layers: list[Layer], arrows: Counter[tuple[str, str]]) -> Any:
    """One row and one column per layer; a dot where the row imports from the column.

    A layer imports only from those above it, so every dot lies below the diagonal.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.6), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    place = {layer.name: i for i, layer in enumerate(layers)}
    border = place[LAST_PURE]
    most = max(layer.lines for layer in layers)
    for y, layer in enumerate(layers):
        colour = PURE if y <= border else IMPURE
        axes.plot([-0.5, y], [y, y], color=FAINT, linewidth=0.8, zorder=0)
        axes.text(-11, y, label(layer), va="center", color=INK, fontsize=12, weight="bold")
        modules = f"{layer.modules} module{'s' if layer.modules > 1 else ''}"
        axes.text(-5.5, y, modules, va="center", ha="right", color=INK, fontsize=9)
        axes.barh(y, 2.3 * layer.lines / most, 0.5, left=-5.2, color=colour, alpha=0.6)
        axes.text(
            -5.1 + 2.3 * layer.lines / most, y, f"{layer.lines:,} lines", va="center", fontsize=9
        )
        axes.plot(y, y, marker="s", markersize=11, color=colour)
        axes.text(y + 0.35, y - 0.1, label(layer), color=colour, fontsize=9, va="center")
        below = [place[importer] for importer, imported in arrows if imported == layer.name]
        axes.plot([y, y], [y, max(below, default=y)], color=colour, linewidth=1, zorder=0)
    for (importer, imported), count in arrows.items():
        at, of = place[importer], place[imported]
        colour = PURE if of <= border else IMPURE
        axes.plot(of, at, marker="o", markersize=15, color="white", markeredgecolor=colour)
        axes.text(of, at, str(count), ha="center", va="center", color=INK, fontsize=8)
    axes.axhline(border + 0.5, color=INK, linestyle="--", linewidth=1)
    axes.text(len(layers) + 1, border + 0.42, "above: numpy and scipy only", ha="right")
    axes.text(
        len(layers) + 1, border + 0.58, "below: files, clocks, processes", ha="right", va="top"
    )
    axes.set(xlim=(-11.2, len(layers) + 1), ylim=(len(layers) - 0.4, -0.6))
    axes.set_axis_off()
    axes.set_title("Number of imports by the layer of a row from the layer of a column")
    return figure


def main(arguments: list[str] | None = None) -> int:
    """Write the page and the picture, or check the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
    check = parser.parse_args(arguments).check
    layers, arrows = measure()
    page = PAGE.read_text()
    wanted = with_table(page, table(layers))
    if check:
        if page == wanted:
            return 0
        print("docs/architecture.md is out of date: run `make architecture`")
        return 1
    PAGE.write_text(wanted)
    draw(layers, arrows).savefig(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
