"""Simple values survive JSON with their types."""

import json
from enum import Enum

import numpy as np
import pytest

from bamsoo.base.simple import option_from_json, option_to_json, plain
from bamsoo.errors import StudyError


@pytest.mark.parametrize(
    "option", [None, True, 1, 1.5, "a", np.int8(3), np.float32(0.1), np.str_("b"), np.bool_(False)]
)
def test_an_option_comes_back_with_its_type(option):
    again = option_from_json(json.loads(json.dumps(option_to_json("m", option))))
    assert (type(again), again) == (type(option), option)


@pytest.mark.parametrize("option", [float("nan"), np.float64("inf"), (1, 2), [1], b"a"])
def test_another_option_is_refused(option):
    with pytest.raises(StudyError, match="m: a study stores strings, finite numbers"):
        option_to_json("m", option)


def test_a_member_of_an_enumeration_is_refused_with_a_hint():
    member = Enum("Colour", ["RED"]).RED
    with pytest.raises(StudyError, match="use the value of each member"):
        option_to_json("m", member)


@pytest.mark.parametrize("stored", [[1], {"numpy": "complex128", "value": 1}])
def test_an_option_of_an_unknown_type_is_refused(stored):
    with pytest.raises(StudyError, match="an option of an unknown type"):
        option_from_json(stored)


def test_plain_values():
    assert plain("a", (np.int64(1), np.float64(0.5), "b")) == [1, 0.5, "b"]
    with pytest.raises(StudyError, match="a: a study stores"):
        plain("a", float("nan"))
