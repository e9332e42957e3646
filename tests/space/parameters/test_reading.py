"""What is a parameter or a space, and what is refused."""

from math import nan

import pytest

import bamsoo
from bamsoo.space import Choice, Int, Real, Space


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Choice({"a", "b"}), "Choice: a set has no order, .* give a list"),
        (lambda: Choice(frozenset("ab")), "Choice: a set has no order"),
        (lambda: Choice([1, True]), "Choice: the option True is listed twice"),
        (lambda: Choice([nan, float("nan")]), "Choice: the option nan is listed twice"),
        (lambda: Int(0, 2**62), r"Int: high must be between -2\*\*52 and 2\*\*52, .* use Real"),
        (lambda: Int(0, 10**400), "Int: bounds must be finite floating-point numbers, got low=0"),
        (lambda: Real(-(10**400), 0), "Real: bounds must be finite floating-point numbers"),
        (lambda: Real(0, 1j), "Real: bounds must be numbers, got low=0, high=1j"),
        (lambda: Real(1, 2, log="no"), "Real: log must be True or False, got 'no'"),
        (lambda: Space({"x": {0, 1}}), r"x: expected \(low, high\), Real, Int or Choice, got {0"),
        (lambda: Space({"x": {"low": 0, "high": 1}}), r"x: expected \(low, high\), Real, Int or"),
        (
            lambda: Space({"x": "01"}),
            r"'x': a plain value is a fixed parameter; the space needs another one",
        ),
        (lambda: Space({(0, 1), (2, 3)}), "a space must be a sequence of"),
        (lambda: Space({"x": (2, 2), "y": (0, 1)}), "a plain value fixes a parameter: 2$"),
        (lambda: Space([(0, 1), 0.5]), "in a space with names, a plain value is a fixed parameter"),
    ],
)
def test_invalid_spaces_are_refused_in_one_sentence(make, message):
    with pytest.raises(bamsoo.errors.SpaceError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)
