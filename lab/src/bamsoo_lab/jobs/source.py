"""Which state of the source a stored run belongs to.

The version of the package does not change with every edit, and the bytes of a file change with
every comment. So the digest is computed from what Python executes: the parsed source, without
comments, docstrings and layout.

A run of a search depends on the layers that decide which points are asked for: the space, the
model, the algorithms, and the optimiser with its ledger. An experiment also depends on its own
module and on what that module imports from the laboratory.
"""

import ast
from collections.abc import Iterable
from enum import Enum
from functools import cache
from hashlib import sha256
from pathlib import Path

import bamsoo

PACKAGE = Path(bamsoo.__file__).parent
"""The folder of the package `bamsoo`."""

LABORATORY = Path(__file__).parents[1]
"""The folder of this package."""

SEARCHES = (
    "space",
    "model",
    "algorithms",
    "base/defaults.py",
    "base/pareto.py",
    "record",
    "search",
)
"""The layers that decide which points are asked for."""

_UNUSED = ("jobs", "paper/experiment.py", "paper/scale.py", "paper/output.py")
"""What experiments import although runs do not depend on it: how they are planned and shown."""

_OWN, _PROBLEMS = "bamsoo_lab.", "bamsoo.problems"

_DIGITS = 12


class Source(Enum):
    """What a result depends on."""

    MODULE = "module"
    """The searches, and the function's own module with what it imports from the laboratory."""

    SEARCHES = "searches"
    """The searches alone: a benchmark of this package."""

    NONE = "none"
    """Nothing in this package: a benchmark of another optimiser."""


def digest(source: Source, module: str) -> str | None:
    """The state of a task's source; `module` is the task's module inside `bamsoo_lab`."""
    if source is Source.NONE:
        return None
    return _module(module) if source is Source.MODULE else searches()


@cache
def searches(package: Path = PACKAGE) -> str:
    """The state of the layers that decide which points are asked for."""
    return state_of(SEARCHES, package)


@cache
def state_of(places: tuple[str, ...], package: Path = PACKAGE) -> str:
    """The state of only these files and folders of the package.

    It is for tasks that should outlive changes elsewhere in the searches: they have no source
    (`Source.NONE`), and this state among their settings.
    """
    return _digest((_below(places, package), package))


@cache
def _module(module: str, package: Path = PACKAGE, laboratory: Path = LABORATORY) -> str:
    """The state of the searches together with a module of the laboratory."""
    needed = _needed(module, laboratory)
    searched = _below(SEARCHES, package)
    if any(_PROBLEMS in _imported(file, laboratory) for file in needed):
        searched.append(package / "problems.py")
    return _digest((searched, package), (needed, laboratory))


def _below(names: Iterable[str], package: Path) -> list[Path]:
    places = [package / name for name in names]
    return [f for place in places for f in (place.rglob("*.py") if place.is_dir() else [place])]


def _needed(module: str, laboratory: Path) -> set[Path]:
    """Files of a module of the laboratory and, recursively, of what it imports from there."""
    found: set[Path] = set()
    waiting = _files(module, laboratory)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            for name in _imported(file, laboratory):
                if name.startswith(_OWN):
                    waiting += _files(name.removeprefix(_OWN), laboratory)
    return found


def _imported(file: Path, laboratory: Path) -> set[str]:
    """The full names of everything that a file of the laboratory imports."""
    here = ("bamsoo_lab", *file.relative_to(laboratory).parts[:-1])
    found: set[str] = set()
    for node in ast.walk(_parsed(file)):
        if isinstance(node, ast.ImportFrom):
            base = ".".join(here[: len(here) - node.level + 1]) if node.level else ""
            start = ".".join(part for part in (base, node.module) if part)
            found |= {start, *(f"{start}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def _files(name: str, laboratory: Path) -> list[Path]:
    """The file of a module, or of a package's ``__init__``; none for any other name."""
    place = laboratory.joinpath(*name.split("."))
    files = [f for f in (place.with_suffix(".py"), place / "__init__.py") if f.exists()]
    return [f for f in files if not f.relative_to(laboratory).as_posix().startswith(_UNUSED)]


def _digest(*parts: tuple[Iterable[Path], Path]) -> str:
    """The state of some files of each folder; it does not depend on where the folders are."""
    total = sha256()
    for files, folder in parts:
        for file in sorted(files):
            executed = _executed(file.read_text("utf-8"))
            total.update(f"{file.relative_to(folder).as_posix()}\n{executed}\n".encode())
    return total.hexdigest()[:_DIGITS]


@cache
def _executed(text: str) -> str:
    """A file's source as Python executes it: no comments, no docstrings, one layout."""
    return ast.unparse(_WithoutText().visit(ast.parse(text)))


def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


class _WithoutText(ast.NodeTransformer):
    """Drops statements that are only a string: docstrings, and the remarks below constants."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if text else node
