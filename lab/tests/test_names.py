"""A class, an alias of a type and a public function have a name that nothing else has."""

import ast
from pathlib import Path

import bamsoo
import bamsoo_lab

PUBLIC = {"Objective"}
"""Public as bamsoo_lab.terms.Objective."""

BACKENDS = {"backends.py", "lock.py", "pages.py", "postgresql.py", "sqlite.py"}
"""Each kind of place for studies has functions of these names, and so has the module that asks the
right one of them."""

ASKED = {"exists", "is_open", "readable", "signature"}


def modules(*packages):
    for package in packages:
        for file in Path(package.__file__).parent.rglob("*.py"):
            yield package.__name__, file, ast.parse(file.read_text("utf-8"))


def shared(owners, but=frozenset()):
    return {name: places for name, places in owners.items() if len(places) > 1 and name not in but}


def alias(node):
    """The name that a statement gives to a type, if it does: in capitals and small letters."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
        target = node.target
    else:
        return None
    name = target.id if isinstance(target, ast.Name) else ""
    return name if name[:1].isupper() and not name.isupper() else None


def test_every_class_and_alias_has_a_name_of_its_own():
    owners = {}
    for package, file, tree in modules(bamsoo, bamsoo_lab):
        names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        for name in [*names, *filter(None, map(alias, tree.body))]:
            owners.setdefault(name, []).append((package, file.name))
    assert shared(owners, PUBLIC) == {}


def is_decorated(function):
    """Whether it is a subcommand, whose name is for users, or one of several signatures."""
    words = " ".join(ast.unparse(each) for each in function.decorator_list)
    return "command" in words or "overload" in words


def test_every_public_function_of_the_package_has_a_name_of_its_own():
    owners = {}
    for _, file, tree in modules(bamsoo):
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            asked = file.name in BACKENDS and node.name in ASKED
            if node.name != "main" and not asked and not is_decorated(node):
                owners.setdefault(node.name, []).append(file.name)
    assert shared(owners) == {}
