"""Parameters: what is refused, how they compare, and which options they accept."""

import pytest

import bamsoo
from bamsoo import Choice, Int
from bamsoo.space import Space


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Int(3, 3), "low must be below high"),
        (lambda: Int(0.5, 3), "whole number"),
        (lambda: Int(0, 8, log=True), "log scale"),
        (lambda: Int(0, 2**60), "whole numbers are exact"),
        (lambda: Choice([]), "at least one option"),
        (lambda: Choice("abc"), "list of options"),
        (lambda: Choice(3), "list of options"),
        (lambda: Choice(["a", "b", "a"]), "twice"),
        (lambda: Space({"n": Int(1, 5)}).point({"n": 2.5}), "whole number"),
        (lambda: Space({"n": Int(1, 5)}).point({"n": 9}), "outside"),
        (lambda: Space({"m": Choice(["a", "b"])}).point({"m": "c"}), "expected one of"),
    ],
)
def test_an_invalid_space_or_point_is_refused_in_one_sentence(make, words):
    with pytest.raises(bamsoo.errors.SpaceError, match=words) as caught:
        make()
    assert len(str(caught.value).splitlines()) == 1
