"""Fixed parameters: plain values in a space, and evaluations at values that they had before."""

import numpy as np
import pytest
import searches
from hypothesis import given, settings
from hypothesis import strategies as st

import bamsoo
from bamsoo import Choice, Fidelity, Int, Real
from bamsoo.algorithms import BY_NAME, planned, resolve
from bamsoo.errors import SpaceError
from bamsoo.space import Fixed, Space

WAS = {
    "d": Fixed(3.0, Real(1, 10, log=True)),
    "n": Fixed(3, Int(1, 9)),
    "mode": Fixed("exact", Choice(["fast", "exact", 1])),
}


def test_a_plain_value_is_passed_on_as_it_is():
    calls = []

    def fun(x, **rest):
        calls.append(rest)
        return x**2

    r = bamsoo.minimize(
        fun, {"d": 0.08, "n": np.int64(3), "mode": "fast", "on": True, "x": (-1, 2)}, 5
    )
    assert calls == [{"d": 0.08, "n": 3, "mode": "fast", "on": True}] * 5
    assert [type(v) for v in calls[0].values()] == [float, int, str, bool]
    assert r.params == {"x": r.params["x"], **calls[0]}


def test_a_fixed_parameter_without_a_past_changes_nothing():
    plain = bamsoo.minimize(lambda x, y: (x - 0.3) ** 2 + y, {"x": (0, 1), "y": (0, 1)}, 15)
    space = {"a": "b", "x": (0, 1), "d": 2.0, "y": (0, 1)}
    fixed = bamsoo.minimize(lambda x, y, a, d: (x - 0.3) ** 2 + y, space, 15)
    assert [{n: p[n] for n in "xy"} for p in fixed.X] == plain.X


def test_values_come_back_and_others_are_refused_or_moved():
    space = Space({"x": (0, 1), "a": 0.08, **WAS})
    assert space.names == ["x", "d", "n", "mode", "a"]
    point = {"x": 0.5, "a": 0.08, "d": 3.0, "n": 3, "mode": "exact"}
    x = space.point({"x": 0.5})
    assert space.params(x) == space.params(space.decode(space.encode(x))) == point
    assert space.moved(x) is None
    for other, words in (({"d": 7.0}, "d == 3.0"), ({"mode": 1}, "mode == 'exact'")):
        moved = space.point({"x": 0.5, **other})
        assert space.params(moved) == {**point, **other}
        assert space.moved(moved) == words
        there = space.encode(moved)
        assert (space.domain.snap(there) == space.encode(x)).all()
        assert (there != space.encode(x)).sum() == 1
    for bad in ({"a": 0.1}, {"d": 11}, {"mode": "no"}):
        with pytest.raises(SpaceError, match=r"is fixed at 0.08, got 0.1|outside|expected one of"):
            space.point({"x": 0.5, **bad})


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"a": 1, "b": "c"}, "'a', 'b': a plain value is a fixed parameter; the space needs"),
        ({"a": float("inf"), "x": (0, 1)}, "a: a fixed number must be finite"),
        ({"a": 2**60, "x": (0, 1)}, r"a: a fixed number must .* at most 2\*\*52"),
        ({"a": None, "x": (0, 1)}, "a: expected"),
        ([(0, 1), 0.5], "x1: expected"),
    ],
)
def test_what_cannot_be_fixed_is_refused(space, message):
    with pytest.raises(SpaceError, match=message):
        Space(space)


def test_it_may_exist_with_an_option_only_and_beside_a_fidelity():
    kinds = Choice({"svm": {"C": 2.0, "g": (0, 1)}, "none": None})
    space = Space({"kind": kinds, "rows": Fidelity(10, 100), "d": "e"})
    assert space.names[-1] == "rows"
    for point in ({"kind": "svm", "g": 0.5}, {"kind": "none"}):
        x = space.point(point)
        full = {**point, "rows": 100, "d": "e"} | ({"C": 2.0} if "g" in point else {})
        assert space.params(x) == space.params(space.decode(space.encode(x))) == full


@pytest.mark.parametrize("name", [n for n, kind in BY_NAME.items() if not kind.repeats])
def test_no_search_asks_for_another_value(name):
    space = {"x": (0, 1), "k": Choice(["a", "b"]), **WAS}
    if name == "mfdoo":
        space["rows"] = Fidelity(10, 100)
    opt = bamsoo.Optimizer(space, algorithm=planned(resolve(searches.QUICK.get(name, name)), 40))
    rng = np.random.default_rng(1)
    for _ in range(12):
        d, n = float(rng.uniform(1, 10)), int(rng.integers(1, 10))
        opt.tell({"x": rng.random(), "k": "a", "d": d, "n": n, "mode": "fast"}, -d * n)
    here = opt.space.encode(opt.space.point({"x": 0.5, "k": "a"}))[2:]
    for _ in range(12):
        try:
            trial = opt.ask()
        except bamsoo.errors.ExhaustedError:  # a search by shrinking boxes is short
            assert opt.told > 5
            break
        assert (trial.params["d"], trial.params["n"], trial.params["mode"]) == (3.0, 3, "exact")
        for x, _ in opt._course.book.out.values():
            assert (x[2:] == here).all()
        opt.tell(trial, (trial.params["x"] - 0.3) ** 2)
    best = opt.best  # None if all were below the top of the fidelity
    assert best is None or (best.params["mode"] == "exact" and best.value >= 0.0)
    assert opt.result.ninfeasible == 0


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(1, 10), st.floats(-5, 5) | st.none()),
        min_size=1, max_size=12,
    ),
    st.booleans(),
)  # fmt: skip
def test_no_value_is_lost_and_none_counts_where_it_was_not_measured(rows, several):
    objectives = ["a", "b"] if several else None
    opt = bamsoo.Optimizer(
        {"x": (0, 1), "d": Fixed(3.0, Real(1, 10))}, objectives=objectives, algorithm="random"
    )
    for x, d, value in rows:
        opt.tell({"x": x, "d": d}, value if value is None or not several else (value, -value))
    here = {value for _, d, value in rows if d == 3.0 and value is not None}
    r = opt.result
    assert len(r.evaluations) == len(rows)
    assert (r.nfev, r.nfailed, r.ninfeasible) == (0, 0, 0)
    assert {e.numbers[0] for e in r.front} <= here
    assert r.success == bool(here)
    if here and not several:
        assert r.fun == min(here)
    assert {p["d"] for p in r.X} == {d for _, d, _ in rows}


def test_the_options_of_a_fixed_parameter_are_those_that_it_had():
    assert WAS["mode"].options == ("fast", "exact", 1)
    assert Fixed("fast").options == ("fast",)
    assert Fixed(2.0).options is WAS["d"].options is None
