"""A class of the laboratory has a name that no other class of the package has."""

import ast
from pathlib import Path

import bamsoo

PACKAGE = Path(bamsoo.__file__).parent


def test_every_class_of_the_laboratory_has_a_name_of_its_own():
    owners = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.parse(file.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                owners.setdefault(node.name, []).append(file.relative_to(PACKAGE).as_posix())
    shared = {
        name: files
        for name, files in owners.items()
        if len(files) > 1 and any(file.startswith("lab/") for file in files)
    }
    shared.pop("Objective", None)  # public as bamsoo.terms.Objective
    assert shared == {}
