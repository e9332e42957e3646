"""The rest of the package need not know where a study is."""

import sys
from types import ModuleType

import bamsoo
from bamsoo.study import backends
from bamsoo.study.journal import Backend
from bamsoo.study.sqlite import SqliteJournal


def test_a_new_kind_of_place_needs_one_module_and_one_line(path, monkeypatch):
    class Toy:
        """Its address: a name in the directory of the test."""

        def __init__(self, name):
            self.path = path.with_name(name)

    toy = ModuleType("toy")
    toy.BACKEND = Backend(
        lambda address, write, new: SqliteJournal(address.path, write, new),
        lambda address: address.path.exists(),
        lambda address: address.path.name == "open",
        lambda address: 7,
        lambda address: f"all of {address.path.name}",
    )
    monkeypatch.setitem(sys.modules, "toy", toy)
    monkeypatch.setitem(backends.MODULES, Toy, "toy")
    monkeypatch.setattr(backends, "parse", Toy)
    assert not backends.exists("one")
    with bamsoo.Study.open("one", space=[(0, 1)], algorithm="soo") as study:
        study.tell(study.ask(), 1.0)
        assert study.path == path.with_name("one")
    assert backends.exists("one")
    assert (backends.is_written("one"), backends.is_written("open")) == (False, True)
    assert backends.signature("one") == 7
    assert backends.readable("one") == "all of one"
