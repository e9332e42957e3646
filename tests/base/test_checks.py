"""Checks of settings: what each accepts, and the sentence for what it does not."""

from decimal import Decimal
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bamsoo.base.checks import (
    LONGEST,
    brief,
    check_between,
    check_callable,
    check_kind,
    check_noise,
    check_whole,
    count,
    is_finite,
    readable,
    storable,
    without_numbers,
)
from bamsoo.errors import SettingsError


@pytest.mark.slow
@given(st.recursive(st.none() | st.text() | st.integers(), st.lists))
def test_a_brief_text_is_one_short_line(value):
    text = brief(value)
    assert len(text) <= 80 and "\n" not in text


@pytest.mark.parametrize(
    "texts",
    [
        ("z=1.64 m", "z=0.44 m"),
        ("at -1e-5", "at 3.2E+04"),
        ("free(): 0x7ffe12ab", "free(): 0x55deadbe"),
        ("runs/12-2/case", "runs/7/case"),
        ("2026-11-19T20:00:01 x", "2026-12-01T21:10:07 x"),
    ],
)
def test_reasons_that_differ_in_numbers_alone_are_the_same(texts):
    assert len(set(map(without_numbers, texts))) == 1
    assert without_numbers(f"{texts[0]} a") != without_numbers(f"{texts[0]} b")


def test_a_brief_text_keeps_what_fits():
    assert brief({"x": 1.5}) == "{'x': 1.5}"
    assert brief("a\nb") == "'a\\nb'"
    assert brief(10**10_000) == "a whole number of about 10000 digits"
    assert brief([10**9] * 80).endswith("...]")


def test_a_storable_text_is_valid_unicode():
    assert storable("as it is") == "as it is"
    assert storable("half \ud800 a character") == "half \\ud800 a character"


def test_the_middle_of_a_long_text_is_left_out():
    text = "a" * LONGEST
    assert storable(text) == text
    kept = storable(text + "z")
    assert len(kept) <= LONGEST
    assert kept.startswith("aaa") and kept.endswith("aaz")
    left = int(kept.split("[")[1].split()[0])
    assert left + kept.count("a") - "characters left out".count("a") + 1 == LONGEST + 1


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 trials"), (1, "1 trial"), (2, "2 trials"), (-1, "-1 trials")]
)
def test_only_one_is_singular(number, said):
    assert count(number, "trial") == said


@pytest.mark.parametrize("value", [0, -1.5, np.float64(2), np.int64(3), Fraction(1, 3), 1e300])
def test_finite_numbers(value):
    assert is_finite(value)


@pytest.mark.parametrize("value", [nan, inf, -inf, True, "1", None, 1j, 10**400, [1], Decimal(1)])
def test_not_finite_numbers(value):
    assert not is_finite(value)


@pytest.mark.parametrize(
    ("value", "limits", "said"),
    [
        (0.0, (0.0, 1.0), "A: b must be strictly between 0 and 1, got 0.0"),
        (1.0, (0.0, 1.0), "A: b must be strictly between 0 and 1, got 1.0"),
        (nan, (), "A: b must be finite, got nan"),
        (0, (0.0,), "A: b must be positive and finite, got 0"),
        ("1", (0.0, 2.0), "A: b must be strictly between 0 and 2, got '1'"),
    ],
)
def test_a_number_outside_its_limits_is_refused(value, limits, said):
    with pytest.raises(SettingsError) as caught:
        check_between("A", "b", value, *limits)
    assert str(caught.value) == said


def test_a_number_inside_its_limits_is_accepted():
    check_between("A", "b", 0.5, 0.0, 1.0)
    check_between("A", "b", -5)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (2, "A: b must be a whole number >= 3, got 2"),
        (3.0, "A: b must be a whole number >= 3, got 3.0"),
        (True, "A: b must be a whole number >= 3, got True"),
        (11, "A: b must be at most 10, got 11"),
    ],
)
def test_what_is_no_whole_number_in_its_range_is_refused(value, said):
    with pytest.raises(SettingsError) as caught:
        check_whole("A", "b", value, 3, 10)
    assert str(caught.value) == said


def test_whole_numbers_in_their_range_are_accepted():
    for value in (3, np.int32(7), 10):
        check_whole("A", "b", value, 3, 10)


def test_what_cannot_be_called_or_has_another_type_is_refused():
    check_callable("A", "b", print)
    check_kind("A", "b", "text", str)
    with pytest.raises(SettingsError, match="A: b must be callable, got 3"):
        check_callable("A", "b", 3)
    with pytest.raises(SettingsError, match="A: b must be a str, got 3"):
        check_kind("A", "b", 3, str)


def test_noise_is_a_variance_and_only_some_algorithms_learn_it():
    for variance in (0, 0.0, 2.5):
        check_noise("A", variance)
    check_noise("A", "learn", learn=True)
    with pytest.raises(SettingsError, match=r">= 0 \(only Auto can learn it\), got 'learn'"):
        check_noise("A", "learn")
    with pytest.raises(SettingsError, match=">= 0 or 'learn', got -1"):
        check_noise("A", -1, learn=True)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.1 + 0.2, "0.3"),
        (0.09999999999999984, "0.1"),
        (15233.123456, "15233.12"),
        (123456789.0, "123456789.0"),  # whole digits stay
        (1.2345678e-15, "1.234568e-15"),
        (float("inf"), "inf"),
        (3, "3"),
        ({"rate": 0.1 + 0.2, "kind": "a"}, "{'rate': 0.3, 'kind': 'a'}"),
        ((0.1 + 0.2,), "(0.3,)"),
        ((1, 0.1 + 0.2), "(1, 0.3)"),
    ],
)
def test_a_readable_number_has_no_needless_digits(value, said):
    assert readable(value) == said
