"""Limits of measured numbers, as they are written in `constraints`."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis.strategies import floats, sampled_from

import bamsoo
from bamsoo.errors import SettingsError
from bamsoo.space import Constraints, Space
from bamsoo.space.limit import Limit, limits_of

SPACE = Space({"x": (0, 1), "T 0": (0, 1)})


def read(text):
    return list(limits_of(text, SPACE.names))


def test_a_name_alone_keeps_its_meaning():
    assert read("c") == [Limit("c", 1.0, 0.0, "c")]
    assert read(" peak stress ")[0].name == " peak stress "


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Tpeak <= 520", [("Tpeak", 1.0, 520.0, "Tpeak <= 520")]),
        ("Tpeak<=520.0", [("Tpeak", 1.0, 520.0, "Tpeak <= 520")]),
        ("520 >= Tpeak", [("Tpeak", 1.0, 520.0, "Tpeak <= 520")]),
        ("peak stress >= -1e-3", [("peak stress", -1.0, -0.001, "peak stress >= -0.001")]),
        ("3 <= a-b <= 5", [("a-b", -1.0, 3.0, "a-b >= 3"), ("a-b", 1.0, 5.0, "a-b <= 5")]),
        ("5 >= y >= 3", [("y", 1.0, 5.0, "y <= 5"), ("y", -1.0, 3.0, "y >= 3")]),
    ],
)
def test_a_limit_is_read_however_it_is_written(text, found):
    assert read(text) == [Limit(*each) for each in found]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("c < 1", "compares with something other than <= and >="),
        ("c == 1", "compares with something other"),
        ("c = 1", "compares with something other"),
        ("c <= d", "must have one name and a number on either side"),
        ("<= 1", "must have one name"),
        ("1 <= 2", "must have one name"),
        ("c <= 1 <= 2", "must have one name"),
        ("c <= nan", "must be finite, got 'nan'"),
        ("c <= inf", "must be finite"),
        ("x <= 0.5", r"about the parameter 'x', .* give bamsoo.Formula\('x <= 0.5'\)"),
        ("x + 2*y <= 3", r"give bamsoo.Formula\('x \+ 2\*y <= 3'\)"),
    ],
)
def test_what_is_no_limit_is_refused(text, why):
    with pytest.raises(SettingsError, match=why):
        Constraints(SPACE, [text])


def test_a_number_has_at_most_one_limit_on_each_side():
    assert Constraints(SPACE, ["c <= 1", "c >= 0"]).measured == ("c",)
    for wrong in (["c <= 1", "c <= 2"], ["c", "c <= 1"], ["c >= 0", "0 <= c <= 1"], ["c", "c"]):
        with pytest.raises(SettingsError, match="unique, non-empty name, or one upper and one"):
            Constraints(SPACE, wrong)


@given(
    number=floats(allow_nan=False),
    bound=floats(allow_nan=False, allow_infinity=False),
    sign=sampled_from([1.0, -1.0]),
)
def test_a_limit_is_met_exactly_if_the_number_is_within_it(number, bound, sign):
    limit = Limit("c", sign, bound)
    assert (limit.excess(number) <= 0) == (number <= bound if sign > 0 else number >= bound)
    assert not limit.excess(nan) <= 0


def test_the_numbers_of_a_result_are_as_they_were_measured():
    def fun(x):
        return x, {"T": 500 + 40 * x, "yield": x}

    limits = ["T <= 520", "yield >= 0.25"]
    r = bamsoo.minimize(fun, {"x": (0, 1)}, 25, constraints=limits)
    xs = [each["x"] for each in r.X]
    assert r.C["T"].tolist() == [500 + 40 * x for x in xs]
    assert r.feasible.tolist() == [0.25 <= x <= 0.5 for x in xs]
    assert 0.25 <= r.x[0] < 0.27

    def told(x):
        return x, {"T": 40 * x - 20, "yield": 0.25 - x}

    old = bamsoo.minimize(told, {"x": (0, 1)}, 25, constraints=["T", "yield"])
    assert [each["x"] for each in old.X] == pytest.approx(xs, abs=1e-6)


def test_both_sides_of_one_number():
    r = bamsoo.maximize(
        lambda x: (x, {"T": x}), {"x": (0, 1)}, 20, constraints=["0.2 <= T <= 0.6"], algorithm="soo"
    )
    assert list(r.C) == ["T"]
    assert r.feasible.tolist() == [0.2 <= x["x"] <= 0.6 for x in r.X]
    opt = bamsoo.Optimizer({"x": (0, 1)}, constraints=["T <= 1"])
    opt.tell({"x": 0.5}, 1.0, constraints={"T": inf})
    assert opt.best is None
