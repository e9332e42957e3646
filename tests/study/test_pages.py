"""What can be read of a study file, whatever has happened to it."""

import pytest

import bamsoo
from bamsoo.errors import StudyError
from bamsoo.study.address import FileAddress
from bamsoo.study.pages import readable
from bamsoo.study.sqlite import PAGE


def test_all_of_an_intact_file_can_be_read_and_most_of_a_damaged_one(path):
    bamsoo.minimize(lambda x: x[0], [(0, 1)], 60, algorithm="soo", study=path)
    found = readable(FileAddress(path))
    assert found.place == path
    assert (len(found.events), found.missing, found.lost) == (120, (), ())
    content = bytearray(path.read_bytes())
    content[-PAGE:] = bytes(PAGE)
    path.write_bytes(content)
    part = readable(FileAddress(path))
    assert part.missing
    assert len(part.events) + len(part.missing) == 120
    assert part.meta["settings"] == found.meta["settings"]


def test_what_is_no_study_is_refused(path):
    with pytest.raises(StudyError, match="there is no such study"):
        readable(FileAddress(path))
    path.write_bytes(b"nothing" * 1000)
    with pytest.raises(StudyError):
        readable(FileAddress(path))
