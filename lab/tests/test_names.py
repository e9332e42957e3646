"""A class of the laboratory has a name that no other class has, here or in bamsoo."""

import ast
from pathlib import Path

import bamsoo
import bamsoo_lab


def test_every_class_of_the_laboratory_has_a_name_of_its_own():
    owners = {}
    for package in (bamsoo, bamsoo_lab):
        for file in Path(package.__file__).parent.rglob("*.py"):
            for node in ast.parse(file.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    owners.setdefault(node.name, []).append((package.__name__, file.name))
    shared = {
        name: places
        for name, places in owners.items()
        if len(places) > 1 and any(package == "bamsoo_lab" for package, _ in places)
    }
    shared.pop("Objective", None)  # public as bamsoo_lab.terms.Objective
    assert shared == {}
