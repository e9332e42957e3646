"""Measure how much meets in one place: sizes, branches, and what is done in many places.

`python tools/rooms.py` prints a table of the package as it is. With `--before REF` it has a column
for an earlier commit too, whose source is read from git; with `--docs PAGE` the table goes to its
place on a page. Complexity is the number of branches of a function and of the functions inside it,
plus one.
"""

import argparse
import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = PurePosixPath("src/bamsoo")

BRANCHES = (
    ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.Assert,
    ast.With,
)  # fmt: skip

KINDS = "Real|Int|Choice|Fidelity|Fixed|Parameter"
AXES = "Continuous|Discrete|Steps|Options|Pinned|Axis"
IS_A = r"isinstance\([^)]*(?<!numbers\.)\b(?:{})\b"

Files = dict[PurePosixPath, str]


def now() -> Files:
    """The package in the work tree."""
    folder = ROOT / PACKAGE
    return {
        PACKAGE / path.relative_to(folder): path.read_text("utf-8") for path in folder.rglob("*.py")
    }


def at(ref: str) -> Files:
    """The package at a commit."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout

    names = git("ls-tree", "-r", "--name-only", ref, "--", str(PACKAGE)).split()
    return {PurePosixPath(n): git("show", f"{ref}:{n}") for n in names if n.endswith(".py")}


def complexity(function: ast.AST) -> int:
    """The number of branches plus one."""
    nodes = list(ast.walk(function))
    either = sum(len(each.values) - 1 for each in nodes if isinstance(each, ast.BoolOp))
    return 1 + either + sum(isinstance(each, BRANCHES) for each in nodes)


def functions(files: Files) -> Iterator[tuple[int, str]]:
    """The complexity and the name of each function."""
    for path, text in files.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield complexity(node), f"{path.relative_to(PACKAGE)} {node.name}"


def classes(files: Files) -> Iterator[tuple[int, int, str]]:
    """The numbers of methods and attributes of each class, and its name."""
    for text in files.values():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
                yield len(methods), len(attributes(node)), node.name


def attributes(node: ast.ClassDef) -> set[str]:
    """The fields of a class, and what its methods assign to `self`."""
    declared = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
    stored = (
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Store)
        and isinstance(each.value, ast.Name)
        and each.value.id == "self"
    )
    return {each.id for each in declared if isinstance(each, ast.Name)} | set(stored)


def not_blank(files: Files) -> str:
    """A count of lines."""
    return f"{sum(bool(line.strip()) for text in files.values() for line in text.splitlines()):,}"


def lines_with(pattern: str, outside: str = "$") -> Callable[[Files], str]:
    """A count of lines that match, in files whose paths do not start with `outside`."""

    def count(files: Files) -> str:
        found = {path: len(re.findall(pattern, text, re.MULTILINE)) for path, text in files.items()}
        hit = [n for path, n in found.items() if n and not re.match(outside, str(path))]
        return f"{sum(hit)} in {len(hit)} modules"

    return count


def largest(files: Files) -> str:
    """The three classes with the most methods and attributes."""
    found = sorted(classes(files), key=lambda each: -(each[0] + each[1]))[:3]
    return ", ".join(f"{name} {methods} and {own}" for methods, own, name in found)


def above(limit: int) -> Callable[[Files], str]:
    """A count of functions above a complexity."""
    return lambda files: str(sum(value > limit for value, _ in functions(files)))


MEASURES: dict[str, Callable[[Files], str]] = {
    "lines that are not blank": not_blank,
    "modules in the root": lambda files: str(sum(path.parent == PACKAGE for path in files)),
    "functions": lambda files: f"{sum(1 for _ in functions(files)):,}",
    "functions with a complexity above 15": above(15),
    "functions with a complexity above 25": above(25),
    "the most complex function": lambda files: "{} ({})".format(*max(functions(files))[::-1]),
    "largest classes (methods and attributes)": largest,
    "points turned into bytes or back": lines_with(r"\.tobytes\(\)|np\.frombuffer\("),
    "lines that multiply by the sign": lines_with(r"\bsigns? \*|\* (?:self\.)?\w*\.?_?signs?\b"),
    "isinstance on kinds of parameters": lines_with(IS_A.format(KINDS), r".*/space/parameters"),
    "isinstance on axes": lines_with(IS_A.format(AXES), r".*/space/axes"),
    "factorisations of a covariance": lines_with(r"\bdpotrf\(|\bcho_factor\(|\bcholesky\("),
}


BEGIN, END = "<!-- rooms written by tools/rooms.py -->", "<!-- end of rooms -->"


def table(states: dict[str, Files]) -> str:
    """All measures, with a column per state."""
    lines = ["| | " + " | ".join(states) + " |", "|---|" + "--:|" * len(states)]
    lines += [
        f"| {name} | " + " | ".join(map(measure, states.values())) + " |"
        for name, measure in MEASURES.items()
    ]
    return "\n".join(lines)


def write(page: Path, text: str) -> None:
    """Put the table between its marks on a page."""
    before, begin, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page}: expected the lines {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", "utf-8")


def main() -> None:
    """Print the table, or write it to a page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", metavar="REF", help="a commit to compare with")
    parser.add_argument("--docs", type=Path, metavar="PAGE", help="the page to write the table to")
    parser.add_argument(
        "--worst", type=int, default=0, metavar="N", help="list the N most complex functions too"
    )
    given = parser.parse_args()
    earlier = {given.before: at(given.before)} if given.before else {}
    found = table({**earlier, "now": now()})
    if given.docs:
        write(given.docs, found)
    else:
        print(found)
    for value, name in sorted(functions(now()), reverse=True)[: given.worst]:
        print(f"{value:4} {name}")


if __name__ == "__main__":
    main()
