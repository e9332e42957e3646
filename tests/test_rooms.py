"""No function, class or folder becomes a room in which everything meets."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TRANSCRIPTIONS = {"algorithms/stosoo.py stosoo"}
"""Functions with more branches than others may have, because they follow a paper line by line."""


@pytest.fixture(scope="module")
def rooms():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import rooms
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return rooms


def test_hardly_any_function_has_many_branches(rooms):
    found = list(rooms.functions(rooms.now()))
    assert {name for value, name in found if value > 25} <= TRANSCRIPTIONS
    assert len([name for value, name in found if value > 15]) <= 20


def test_a_function_is_as_complex_as_its_branches(rooms):
    path = rooms.PACKAGE / "some.py"
    text = "def f(x):\n    if x and x > 1:\n        return [y for y in x]\n    return x or 1\n"
    assert list(rooms.functions({path: text})) == [(5, "some.py f")]


@pytest.mark.parametrize(
    ("measure", "most"),
    [
        ("modules in the root", 10),
        ("isinstance on kinds of parameters", 0),
        ("isinstance on axes", 2),
        ("factorisations of a covariance", 1),
        ("lines that multiply by the sign", 1),
        ("points turned into bytes or back", 2),
    ],
)
def test_what_belongs_together_is_done_in_few_modules(measure, most, rooms):
    found = rooms.MEASURES[measure](rooms.now())
    modules = found.partition(" in ")[2].removesuffix(" modules") or found
    assert int(modules) <= most
