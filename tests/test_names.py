"""Every name in backticks, in the documentation, is that of something that exists."""

import ast
import builtins
import importlib
import keyword
import re
from functools import cache
from pathlib import Path

import pytest

import bamsoo
from bamsoo.command.main import main

ROOT = Path(__file__).parent.parent
NAMED = ("README.md", "CONTRIBUTING.md", "AGENTS.md", "llms.txt")
PAGES = [*(ROOT / name for name in NAMED), *sorted((ROOT / "docs").rglob("*.md"))]
FOREIGN = set(
    re.sub("^#.*", "", (ROOT / "tests" / "foreign-names.txt").read_text(), flags=re.M).split()
)
"""Names of other libraries and programs."""

OBJECTS = {
    "r": "Result",
    "result": "Result",
    "opt": "Optimizer",
    "optimizer": "Optimizer",
    "study": "Study",
    "trial": "Trial",
    "book": "Book",
}
"""What the pages call an object of which class."""

LATER = {"R", "residuals"}
"""Fields of a result that no class has: only those of fits have them."""

PLACES = ["", "src/bamsoo", "tests", "docs", "docs/tutorials", "lab", "lab/src/bamsoo_lab"]
"""Folders in which a path in backticks is looked up."""


def spans(text):
    """What is in backticks outside blocks of code."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return sorted({span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", prose)})


def blocks(text):
    return "\n".join(re.findall(r"^```.*?\n(.*?)^```", text, re.S | re.M))


@cache
def sources():
    """The words of everything that is written in this repository except the pages."""
    folders = ["src", "lab", "tools", "examples", "tests", "hydra", "optunahub", "docs/gallery"]
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    files += [ROOT / "pyproject.toml", ROOT / "Makefile", *(ROOT / "src").rglob("*.js")]
    return set(re.findall(r"[A-Za-z_]\w*", "\n".join(file.read_text() for file in files)))


@cache
def classes():
    """Every class of the package by name, with the names of what its objects have."""
    own, bases = {}, {}
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                own.setdefault(node.name, set()).update(attributes(node))
                bases.setdefault(node.name, set()).update(map(ast.unparse, node.bases))

    def whole(name):
        return own.get(name, set()).union(
            *(whole(base) for base in bases.get(name, ()) if base != name)
        )

    return {name: whole(name) for name in own}


def attributes(node):
    """The names that the body of a class gives to its objects."""
    names = set()
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(each.name)
        elif isinstance(each, ast.Attribute) and ast.unparse(each.value) == "self":
            names.add(each.attr)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            names.add(each.id)
    return names


def exists(chain, words):
    """Whether `chain`, such as `opt.ask` or `Real`, names something."""
    if chain in FOREIGN or keyword.iskeyword(chain) or hasattr(builtins, chain):
        return True
    first, *rest = chain.split(".")
    if first in FOREIGN:
        return True
    if first == "bamsoo":
        thing = bamsoo
        for i, name in enumerate(rest):
            if not hasattr(thing, name):
                try:
                    thing = importlib.import_module(".".join(["bamsoo", *rest[: i + 1]]))
                except ImportError:
                    return False
            else:
                thing = getattr(thing, name)
        return True
    owner = OBJECTS.get(first, first)
    if rest and owner in classes():
        return rest[0] in classes()[owner] or (owner == "Result" and rest[0] in LATER)
    return all(name in words for name in (first, *rest))


def wrong_in(span, words):
    """What in a span names nothing, or None."""
    command = re.match(r"(?:python -m )?bamsoo ([a-z]\w+)", span)
    if command and command[1] not in {*main.list_commands(None), "bench", "reproduce", "terms"}:
        return f"bamsoo {command[1]}"
    if (target := re.match(r"make ([a-z-]+)", span)) and f"\n{target[1]}:" not in (
        ROOT / "Makefile"
    ).read_text():
        return span
    plain = re.sub(r"'[^']*'|\"[^\"]*\"|…|\.\.\.", " ", span)
    for path in re.findall(r"(?<![\w/.-])(?:[\w.-]+/)+[\w.-]+\.(?:py|md|txt|sh|csv)\b", plain):
        if not any((ROOT / place / path).exists() for place in PLACES) and path not in FOREIGN:
            return path
    plain = re.sub(
        r"[^\s=,]*/\S*|\S+\.(?:py|db|csv|md|html|toml|txt|json|inp|png|yaml)\b", " ", plain
    )
    for option in re.findall(r"(?<![\w-])--([a-z][\w-]+)", plain):
        if option.replace("-", "_") not in sources() and f"--{option}" not in FOREIGN:
            return f"--{option}"
    plain = re.sub(r"(?<![\w-])--?[a-z][\w-]*|\$\w+", " ", plain)
    plain = re.sub(r"\b(?=\w*\d)[0-9a-f]{12}\b", " ", plain)  # a digest
    for chain in re.findall(r"(?<![\w@%\\.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", plain):
        if not exists(chain, words):
            return chain
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_name_in_backticks_exists(page):
    text = page.read_text()
    words = sources() | set(re.findall(r"[A-Za-z_]\w*", blocks(text)))
    wrong = {span: name for span in spans(text) if (name := wrong_in(span, words))}
    assert not wrong, "correct them, or add those of other libraries to tests/foreign-names.txt"
