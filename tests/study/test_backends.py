"""A study is a file or a name on a server, and the rest of the package need not know which."""

from pathlib import Path

import bamsoo
from bamsoo.study import backends

ADDRESS = "postgresql://me:secret@host/db?password=x&sslmode=require#my run"


def test_an_address_is_told_from_a_path_and_shown_without_its_password():
    assert backends.on_server(ADDRESS)
    assert not backends.on_server("postgresql.db")
    assert not backends.on_server(Path("postgresql:/x"))
    assert backends.shown(ADDRESS) == "postgresql://me@host/db?sslmode=require#my run"
    assert backends.shown(Path("a/run.db")) == "a/run.db"


def test_names_of_what_is_made_from_a_study_derive_from_it():
    assert backends.local_name(ADDRESS) == Path("my-run.db")
    assert backends.local_name("a/run.db") == Path("a/run.db")


def test_a_file_exists_is_open_and_changes(path):
    assert not backends.exists(path)
    assert not backends.is_written(path)
    with bamsoo.Study.open(path, space=[(0, 1)], algorithm="soo") as study:
        assert backends.exists(path)
        assert backends.is_written(path)
        before = backends.signature(path)
        study.tell(study.ask(), 1.0)
        assert backends.signature(path) != before
    assert not backends.is_written(path)
