"""Draw the import graph of the layers, and write the tables of docs/architecture.md.

The layers come from the contract in pyproject.toml; their imports, modules and lines come from the
source. Lines are rounded to two digits, and classes and constants to multiples of five, so that a
small edit does not change the page. The places of a value come from a run that is observed.
`make architecture` runs this script. With `--check` it only compares the page with the source, and
fails if they differ. With `--count FOLDER` it counts the package in that folder, such as one of an
earlier commit.
"""

import argparse
import ast
import os
import re
import sys
import tempfile
import tomllib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

import grimp
import numpy as np

ROOT = Path(__file__).parent.parent
SOURCES = {"bamsoo": ROOT / "src" / "bamsoo", "bamsoo_lab": ROOT / "lab" / "src" / "bamsoo_lab"}
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "images" / "architecture.png"
BEGIN, END = "<!-- {} written by tools/draw_architecture.py -->", "<!-- end of {} -->"

FOUNDATIONS, PUBLIC, LABORATORY = "foundations", "__init__", "lab"
LAST_PURE = "search"  # the layers below it in the picture use files, clocks and processes
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


def with_part(page: str, name: str, text: str) -> str:
    """Put a text between the markers of this name on the page."""
    begin, end = BEGIN.format(name), END.format(name)
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n{end}{after}"


# --- before and after


FOLDERS = ("space", "model", "algorithms", "study", "run", "report", "integrations", "command")
OTHERS, LAB = "the root, base, record, search, result", "laboratory"

BEFORE: dict[str, tuple[int, ...]] = {
    "space": (8, 1889, 19, 19),
    "model": (8, 1358, 20, 37),
    "algorithms": (33, 4507, 59, 104),
    "study": (9, 1860, 12, 3),
    "run": (11, 1259, 14, 5),
    "report": (7, 932, 6, 7),
    "integrations": (4, 831, 5, 4),
    "command": (19, 1835, 8, 5),
    "the root, base, record, search, result": (17, 2355, 24, 14),
    "laboratory": (112, 11361, 64, 73),
}
"""Modules, lines, classes and constants as `--count` printed them for commit e480634, the last one
before the rebuild. The laboratory was a folder of the package then."""


def counted(source: Path, laboratory: Path | None) -> dict[str, tuple[int, ...]]:
    """For each folder: its modules, lines that are not blank, classes and constants.

    Constants are names in capitals outside of classes and functions that are numbers or tuples of
    numbers, and the numbers in classes of constants.
    """
    found = {name: [0, 0, 0, 0] for name in (*FOLDERS, OTHERS, LAB)}
    files = [(path, path.relative_to(source).parts) for path in source.rglob("*.py")]
    files += [(path, ("lab",)) for path in laboratory.rglob("*.py")] if laboratory else []
    for path, (first, *_) in files:
        text = path.read_text("utf-8")
        name = first if first in FOLDERS else LAB if first in ("lab", "terms.py") else OTHERS
        tree = ast.parse(text)
        classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        sizes = 1, sum(bool(line.strip()) for line in text.splitlines()), len(classes)
        numbers = sum(map(is_constant, tree.body))
        for each in classes:
            if each.name.endswith("Constants") or each.name == "Learning":
                numbers += sum(is_number(node) for node in each.body)
        for i, size in enumerate((*sizes, numbers)):
            found[name][i] += size
    return {name: tuple(numbers) for name, numbers in found.items()}


def is_constant(node: ast.stmt) -> bool:
    """Whether a statement gives a name in capitals to a number, or to several."""
    if isinstance(node, ast.Assign):
        names = [each.id for each in ast.walk(node.targets[0]) if isinstance(each, ast.Name)]
        return all(name.strip("_").isupper() for name in names) and is_number(node)
    return (
        isinstance(node, ast.AnnAssign) and ast.unparse(node.target).isupper() and is_number(node)
    )


def is_number(node: ast.stmt) -> bool:
    """Whether a statement assigns a number, or a tuple of numbers."""
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    parts = value.elts if isinstance(value, ast.Tuple) and value.elts else [value]
    return all(isinstance(computed(part), (int, float)) for part in parts)


def computed(node: ast.expr | None) -> object:
    """The value of an expression of numbers alone; None if it is anything else."""
    allowed = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop)
    if node is None or not all(isinstance(each, allowed) for each in ast.walk(node)):
        return None
    value: object = eval(compile(ast.Expression(node), "", "eval"))  # numbers alone
    return None if isinstance(value, (bool, str, bytes)) else value


def rounded(sizes: Iterable[int]) -> tuple[int, ...]:
    """Modules, lines to two digits, classes and constants to multiples of five."""
    modules, lines, classes, constants = sizes
    return (modules, int(float(f"{lines:.1e}")), 5 * round(classes / 5), 5 * round(constants / 5))


def comparison() -> str:
    """The sizes of all folders before the rebuild and now, as a Markdown table."""
    now = counted(SOURCES["bamsoo"], SOURCES["bamsoo_lab"])
    rows = ["| | modules | lines | classes | constants |", "|---|--:|--:|--:|--:|"]
    pairs = [(name, rounded(BEFORE[name]), rounded(now[name])) for name in BEFORE]
    whole = [
        rounded(sum(of[name][i] for name in BEFORE if name != LAB) for i in range(4))
        for of in (BEFORE, now)
    ]
    pairs.insert(-1, ("the package", whole[0], whole[1]))
    for name, old, new in pairs:
        both = zip(old, new, strict=True)
        label = f"`{name}/`" if name in FOLDERS else name
        rows.append(" | ".join([f"| {label}", *(f"{a:,} to {b:,}" for a, b in both)]) + " |")
    return "\n".join(rows)


# --- one evaluation, observed

VALUE = 0.1234567890625
"""The value that is followed; no other number of the run equals it."""

HOMES = {
    "events.body": "the row of the event in the study file",
    "Told.values": "the list of events; an `Evaluation` has the same tuple",
    "Columns._F": "the column of the results",
    "Known._F": "the column of what the search knows, to be maximised",
}
DERIVED = {
    "Known._G": "the same column as the GP sees it",
    "Book.f_plus": "the best value so far",
    "Tree._g": "the value of the node",
    "Tree._heaps": "the nodes of each depth by value",
}


def holds(thing: Any, depth: int = 0) -> bool:
    """Whether something holds the value."""
    if isinstance(thing, float):
        return abs(thing) == VALUE
    if isinstance(thing, (np.ndarray, array)):
        return bool((np.abs(np.asarray(thing)) == VALUE).any())
    if depth > 3:
        return False
    if is_dataclass(thing) and not isinstance(thing, type):
        thing = [getattr(thing, field.name, None) for field in fields(thing)]
    if isinstance(thing, dict):
        thing = list(thing.values())
    return isinstance(thing, (tuple, list)) and any(holds(each, depth + 1) for each in thing)


def places(thing: Any, name: str, seen: set[int]) -> Iterator[str]:
    """The attributes of the package's objects, from this one on, that hold the value themselves."""
    if id(thing) in seen or isinstance(thing, (str, bytes, int, type)):
        return
    seen.add(id(thing))
    if isinstance(thing, (float, np.ndarray, array)):
        if holds(thing):
            yield name
    elif isinstance(thing, dict):
        for each in thing.values():
            yield from places(each, name, seen)
    elif type(thing).__module__.startswith("bamsoo"):
        slots = [slot for kind in type(thing).__mro__ for slot in getattr(kind, "__slots__", ())]
        named = getattr(thing, "_fields", ()) if isinstance(thing, tuple) else ()
        for attribute in (*named, *getattr(thing, "__dict__", ()), *slots):
            inner = getattr(thing, attribute, None)
            yield from places(inner, f"{type(thing).__name__}.{attribute}", seen)
    elif isinstance(thing, (list, tuple, set)):
        for each in thing:
            yield from places(each, name, seen)


def observed() -> tuple[list[str], list[str]]:
    """The modules that the value of an evaluation goes through, in order, and where it stays."""
    import bamsoo

    root, modules = f"{Path(bamsoo.__file__).parent}{os.sep}", []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root):
            given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            if any(holds(frame.f_locals.get(name)) for name in given if name != "self"):
                modules.append(code.co_filename.removeprefix(root))

    algorithm = bamsoo.algorithms.BaMSOO()
    with tempfile.TemporaryDirectory() as folder:
        path, space = Path(folder, "run.db"), [(0.0, 1.0)]
        with bamsoo.Study.open(path, space=space, algorithm=algorithm) as study:
            values = iter([VALUE, 7.0])
            bamsoo.minimize(lambda x: x[0], space, 2, algorithm=algorithm)  # imports all it needs
            before = sys.getprofile()
            sys.setprofile(note)
            try:
                bamsoo.minimize(lambda x: next(values), space, 2, study=study, algorithm=algorithm)
            finally:
                sys.setprofile(before)
            found = list(dict.fromkeys(places(study, "", set())))
        if repr(VALUE).encode() in path.read_bytes():
            found.insert(0, "events.body")
    told = modules.index("algorithms/known.py") + 1  # what follows makes the result
    return [module for module, _ in groupby(modules[:told])], found


def trace() -> str:
    """The way and the homes of a value, as Markdown."""
    modules, found = observed()
    unknown = set(found) - HOMES.keys() - DERIVED.keys()
    if unknown:
        sys.exit(f"a value has another home: {', '.join(sorted(unknown))}; see {__file__}")
    rows = [f"| `{name}` | {HOMES[name]} |" for name in HOMES if name in found]
    derived = [f"`{name}` ({DERIVED[name]})" for name in DERIVED if name in found]
    way = ", ".join(f"`{module}`" for module in modules)
    return "\n".join(
        [
            f"A value on its way, observed: {way}.",
            "",
            f"| its {len(rows)} homes | |",
            "|---|---|",
            *rows,
            "",
            f"Derived from the last one: {', '.join(derived)}.",
        ]
    )


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
        axes.text(-11, y, label(layer), va="center", color=INK, fontsize=10, weight="bold")
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
    parser.add_argument("--count", type=Path, help="print the sizes of the package in this folder")
    given = parser.parse_args(arguments)
    if given.count:
        for name, sizes in counted(given.count, None).items():
            print(f'    "{name}": {sizes},')
        return 0
    layers, arrows = measure()
    page = PAGE.read_text()
    parts = {"layers": lambda: table(layers), "sizes": comparison, "trace": trace}
    for name, text in parts.items():
        wanted = with_part(page, name, text())
        if given.check and page != wanted:  # the parts that take longer are last
            print("docs/architecture.md is out of date: run `make architecture`")
            return 1
        page = wanted
    if given.check:
        return 0
    PAGE.write_text(page)
    draw(layers, arrows).savefig(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
