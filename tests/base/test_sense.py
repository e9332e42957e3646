"""The sign is changed in one place."""

import ast
import re
from pathlib import Path

import numpy as np

import bamsoo
from bamsoo.base.sense import MAXIMISED, MINIMISED, Sense

PACKAGE = Path(bamsoo.__file__).parent


def test_turning_twice_changes_nothing():
    assert MINIMISED.turn(3.0) == -3.0
    assert MAXIMISED.turn(3.0) == 3.0
    rows = np.array([[1.0, 2.0], [3.0, -4.0]])
    both = Sense((1.0, -1.0))
    np.testing.assert_array_equal(both.turn(rows), [[1.0, -2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(both.turn(both.turn(rows)), rows)


def test_what_is_better():
    assert MINIMISED.better(1.0, 2.0)
    assert MAXIMISED.better(2.0, 1.0)
    assert not MINIMISED.better(1.0, 1.0)


def test_nothing_else_multiplies_by_a_sign():
    """Neither in the package nor under another name: `sense.sign` is only read to be shown."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                sides = (node.left, node.right)
                names = [ast.unparse(each) for each in sides if not isinstance(each, ast.Call)]
                if any(n.rpartition(".")[2].strip("_-") in ("sign", "signs") for n in names):
                    found.append(path.relative_to(PACKAGE).as_posix())
    assert found == ["base/sense.py"]


def test_nothing_else_decides_whether_to_negate_a_value():
    """Such as `value if maximised else -value`."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.IfExp) and re.search("maxi|mini", ast.unparse(node.test)):
                both = {ast.unparse(node.body), ast.unparse(node.orelse)}
                if any(f"-{each}" in both for each in both):
                    found.append((path.relative_to(PACKAGE).as_posix(), ast.unparse(node)))
    assert found == []
