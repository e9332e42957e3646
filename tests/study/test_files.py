"""A study in a file, as one of the places where a study can be."""

import bamsoo
from bamsoo.study.address import FileAddress
from bamsoo.study.files import BACKEND


def test_a_file_exists_is_open_and_changes(path):
    address = FileAddress(path)
    assert not BACKEND.exists(address)
    assert not BACKEND.is_open(address)
    with bamsoo.Study.open(path, space=[(0, 1)], algorithm="soo") as study:
        assert BACKEND.exists(address)
        assert BACKEND.is_open(address)
        before = BACKEND.signature(address)
        study.tell(study.ask(), 1.0)
        assert BACKEND.signature(address) != before
        assert len(BACKEND.readable(address).events) == 2
    assert not BACKEND.is_open(address)
