"""A space with conditional parameters as a flat list, one entry per axis."""

import pytest

from bamsoo import Choice, Int, Real
from bamsoo.errors import SpaceError
from bamsoo.space.axes import Condition
from bamsoo.space.layout import flatten


def described(parameters):
    return [(slot.label, slot.condition, slot.when) for slot in flatten(parameters)]


def test_parameters_without_conditions_stay_as_they_are():
    assert described({"x": Real(0, 1), "n": Int(1, 5)}) == [("x", None, ""), ("n", None, "")]


def test_a_parameter_comes_after_the_choice_that_opens_it():
    inner = Choice({"rbf": {"gamma": Real(0, 1)}, "linear": {}})
    space = {"model": Choice({"svm": {"kernel": inner}, "tree": {}}), "seed": Int(0, 9)}
    assert described(space) == [
        ("model", None, ""),
        ("kernel", Condition(0, frozenset({0})), "model='svm'"),
        ("gamma", Condition(1, frozenset({0})), "kernel='rbf'"),
        ("seed", None, ""),
    ]


def test_equal_parameters_of_several_options_become_one():
    space = {"m": Choice({"a": {"C": Real(0, 1)}, "b": {}, "c": {"C": Real(0, 1)}})}
    assert described(space)[1:] == [("C", Condition(0, frozenset({0, 2})), "m='a' or 'c'")]


def test_parameters_with_one_name_and_other_ranges_get_labels_of_their_own():
    space = {"m": Choice({"a": {"C": Real(0, 1)}, "b": {"C": Real(0, 2)}})}
    labels = [slot.label for slot in flatten(space)]
    assert labels == ["m", "C (m='a')", "C (m='b')"]
    assert [slot.name for slot in flatten(space)] == ["m", "C", "C"]


def test_a_name_that_can_occur_twice_in_a_point_is_refused():
    with pytest.raises(SpaceError, match="'C' is the name of two parameters that can exist"):
        flatten({"C": Real(0, 1), "m": Choice({"a": {"C": Real(0, 2)}})})
    with pytest.raises(SpaceError, match="can exist together"):
        flatten({name: Choice({"a": {"C": Real(0, i)}}) for i, name in ((1, "m"), (2, "k"))})


def test_a_name_deep_inside_exclusive_options_may_occur_again():
    deep = Choice({"p": {"C": Real(0, 1)}})
    labels = [s.label for s in flatten({"m": Choice({"a": {"k": deep}, "b": {"C": Int(0, 5)}})})]
    assert labels == ["m", "k", "C (k='p')", "C (m='b')"]


def test_a_label_that_equals_a_name_is_refused():
    space = {"C (m='a')": Int(0, 1), "m": Choice({"a": {"C": Real(0, 1)}, "b": {"C": Real(0, 2)}})}
    with pytest.raises(SpaceError, match="two parameters have this name"):
        flatten(space)


def test_a_space_has_a_largest_number_of_parameters():
    assert len(flatten({f"x{i}": Real(0, 1) for i in range(1000)})) == 1000
    with pytest.raises(SpaceError, match="at most 1000 parameters"):
        flatten({"m": Choice({"a": {f"x{i}": Real(0, 1) for i in range(1000)}})})
