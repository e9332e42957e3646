"""Every claim of absence in the docs is in a list that is checked by hand before each release.

The pages are compared with the list by `make test-long`, which is run before a release.
"""

import pytest

import bamsoo

import absence


@pytest.mark.long
def test_every_claim_of_absence_is_in_the_list_that_is_checked():
    _, *listed = absence.LIST.read_text("utf-8").splitlines()
    found = absence.claims()
    new = [each for each in found if each not in listed]
    assert not new, "see whether they are true, then run: python tests/absence.py"
    gone = [each for each in listed if each not in found]
    assert not gone, "run: python tests/absence.py"


def test_the_list_was_checked_for_this_version():
    heading = absence.LIST.read_text("utf-8").splitlines()[0]
    said = (
        "read each line of tests/absence.txt, see whether it is true, then correct its first line"
    )
    assert heading == f"{absence.HEADING}{bamsoo.__version__}", said
