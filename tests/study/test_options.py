"""A study stores the values and the types of options."""

from enum import Enum, IntEnum
from fractions import Fraction
from math import nan

import numpy as np
import pytest

import bamsoo
from bamsoo import Study
from bamsoo.errors import StudyError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


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
