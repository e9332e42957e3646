"""Settings, spaces and options as a study stores them."""

import json
from enum import Enum, IntEnum
from fractions import Fraction
from math import nan

import numpy as np
import pytest
from conditional_spaces import ANY
from hypothesis import given

import bamsoo
from bamsoo import Choice, Study, problems
from bamsoo.errors import StudyError
from bamsoo.study import settings as stored

branin = problems.branin
BOX = branin.bounds
NAMED = {"rate": bamsoo.Real(1e-4, 1.0, log=True), "size": (1, 9)}
OTHERS = [
    ({"seed": 1}, "the study's seed is 0, got 1"),
    ({"direction": "maximize"}, "the study's direction is 'minimize', got 'maximize'"),
    (
        {"algorithm": bamsoo.algorithms.SOO(k=2)},
        r"the study's algorithm is SOO\(k=3\), got SOO\(k=2\)",
    ),
    ({"algorithm": "random"}, r"the study's algorithm is SOO\(k=3\), got Random\(\)"),
    ({"space": [(0, 1)]}, "the study's space is a named space, got an unnamed space"),
    ({"space": {"rate": (0, 1)}}, r"the study's parameters are \['rate', 'size'\], got \['rate'\]"),
    (
        {"space": {**NAMED, "size": (1, 8)}},
        r"size is Real\(low=1.0, high=9.0, log=False\), got Real\(low=1.0, high=8.0",
    ),
]


@pytest.mark.parametrize(("other", "message"), OTHERS)
def test_other_settings_are_refused_by_name(other, message, path):
    Study.open(path, space=NAMED, algorithm="soo").close()
    before = path.read_bytes()
    with pytest.raises(StudyError, match=message) as caught:
        Study.open(path, **other)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


class MyKernel(bamsoo.kernels.Matern52):
    pass


class MySearch(bamsoo.algorithms.SOO):
    pass


CANNOT = [
    (
        {"algorithm": bamsoo.algorithms.SOO(h_max=lambda n: 9)},
        "SOO: a study cannot store the function h_max",
    ),
    ({"algorithm": bamsoo.algorithms.BaMSOO(kernel=MyKernel())}, "only the library's own kernels"),
    ({"algorithm": MySearch()}, "only the library's own algorithms"),
    ({"space": {"m": bamsoo.Choice([(1, 2), "a"])}}, "m: a study stores strings, finite numbers"),
    ({"space": {"m": bamsoo.Choice([print, len])}}, "m: a study stores strings, finite numbers"),
]


@pytest.mark.parametrize(("setting", "message"), CANNOT)
def test_what_cannot_be_stored_is_refused_and_leaves_no_file(setting, message, path):
    with pytest.raises(StudyError, match=message):
        Study.open(path, **{"space": BOX, **setting})
    assert not path.exists()


class Colour(Enum):
    RED = 1


class Whole(IntEnum):
    ONE = 1


class Name(str):
    pass


@pytest.mark.parametrize(
    "option",
    [Colour.RED, Whole.ONE, Name("a"), Fraction(1, 3), 1j, b"a", nan, np.float32("inf"),
     np.longdouble(1), np.datetime64("2020-01-01"), (1, 2)],
    ids=repr,
)  # fmt: skip
def test_an_option_whose_type_would_be_lost_is_refused(option, path):
    with pytest.raises(StudyError, match="p: a study stores strings, finite numbers") as caught:
        Study.open(path, space={"p": bamsoo.Choice(["a string", option])})
    assert "\n" not in str(caught.value)
    assert not path.exists()


KEPT = ["a", "", 3, 2.5, False, None, -0.5, 10**30, np.float32(0.1), np.float64(0.25), np.int8(7),
        np.uint64(2**64 - 1), np.str_("b")]  # fmt: skip


def test_options_come_back_with_their_type(path):
    space = {"p": bamsoo.Choice(KEPT)}
    first = bamsoo.minimize(lambda p: KEPT.index(p), space, 5, study=path, algorithm="soo")
    with Study.open(path) as study:
        assert [(type(o), o) for o in study.space.parameters["p"].options] == [
            (type(o), o) for o in KEPT
        ]
        while True:
            try:
                trial = study.ask()
            except bamsoo.errors.ExhaustedError:
                break
            study.tell(trial, KEPT.index(trial.params["p"]))
        assert {type(t.params["p"]) for t in study.trials} == {type(o) for o in KEPT}
    assert first.nfev == 5


def test_true_is_not_one(path):
    Study.open(path, space={"p": bamsoo.Choice([0, 1])}).close()
    with pytest.raises(StudyError, match=r"p is Choice\(options=\[0, 1\]\), got"):
        Study.open(path, space={"p": bamsoo.Choice([False, True])})


@given(ANY)
def test_a_space_is_stored_and_comes_back(parameters):
    space = bamsoo.space.Space(parameters)
    text = json.dumps(stored.space_to_json(space))
    again = bamsoo.space.Space(stored.space_from_json(json.loads(text)))
    assert again.given == space.given
    assert again.domain == space.domain


def test_a_plain_choice_is_stored_as_before():
    space = bamsoo.space.Space({"c": Choice({"a": None, "b": {}})})
    (parameter,) = stored.space_to_json(space)["parameters"]
    assert parameter == {"name": "c", "kind": "Choice", "options": ["a", "b"]}


def test_options_that_cannot_be_stored_are_refused_at_any_depth(tmp_path):
    space = {"a": Choice({"x": {"n": Choice([object(), 1])}})}
    with pytest.raises(StudyError, match="n: a study stores strings"):
        Study.open(tmp_path / "run.db", space=space)


def test_limits_of_measured_numbers_are_settings(path):
    space, limits = {"x": (0.0, 1.0)}, ["T<=5", "c"]
    with bamsoo.Study.open(path, space=space, constraints=limits, algorithm="soo") as study:
        study.tell(study.ask(), 1.0, constraints={"T": 4.5, "c": 0.0})
        assert study.trials[0].feasible
    with bamsoo.Study.open(path, constraints=["T <= 5.0", "c"]) as study:  # written otherwise
        assert study.trials[0].measured == {"T": 4.5, "c": 0.0}
        assert study.best is not None
    with pytest.raises(StudyError, match="constraints are"):
        bamsoo.Study.open(path, constraints=["T <= 4", "c"])
