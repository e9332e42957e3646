"""A study that has changed still asks for the stored points, also after a replay."""

import pytest

from golden.changes import CHANGES, alike, made, stored
from golden.runs import libraries

SURE = 2
"""The points that are compared with other libraries, which round differently."""


@pytest.mark.parametrize("run", CHANGES)
def test_a_changed_study_asks_for_the_stored_points(run):
    written_with, runs = stored()
    old, new = runs[run], made(run)
    if written_with != libraries():
        old, new = old[:SURE], new[:SURE]
    assert len(old) == len(new)
    for before, now in zip(old, new, strict=True):
        assert alike(before, now), f"{run}: {before}, now {now}; see tests/golden/write.py"


def test_the_file_has_all_changes_and_no_others():
    assert list(stored()[1]) == list(CHANGES)
