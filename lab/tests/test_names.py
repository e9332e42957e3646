"""Every class has a name that no other class has, here or in bamsoo."""

import ast
from pathlib import Path

import bamsoo
import bamsoo_lab

PUBLIC = {"Objective"}
"""Public as bamsoo_lab.terms.Objective."""


def test_every_class_has_a_name_of_its_own():
    owners = {}
    for package in (bamsoo, bamsoo_lab):
        for file in Path(package.__file__).parent.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    owners.setdefault(node.name, []).append((package.__name__, file.name))
    assert {n: places for n, places in owners.items() if len(places) > 1 and n not in PUBLIC} == {}
