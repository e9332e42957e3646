"""The result of a run: what it stores, its views, and that it can be pickled."""

import builtins
import copy
import pickle
import struct
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pandas
import pytest
from mixed_result import mixed
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import OptimizeResult
from searches import same

import bamsoo
from bamsoo import Choice, Int, Optimizer, Result, problems
from bamsoo.record.events import Asked

branin = problems.branin
BOX = branin.bounds

__all__ = ["mixed"]  # a fixture

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


# --- direction and failures


@pytest.mark.parametrize(("budget", "violate"), [(1, "1 violates"), (3, "3 violate")])
def test_a_result_without_a_feasible_point_says_why(budget, violate):
    fun = lambda x: (x[0], {"never": 1.0})
    r = bamsoo.minimize(fun, [(0, 1)], budget, algorithm="soo", constraints=["never"])
    assert not r.success
    said = f"no feasible point was found; {violate} a constraint"
    assert r.nothing == f"{said}; trial 0 violates least: never by 1"


def test_the_direction_is_stored(mixed):
    assert isinstance(mixed, Result)
    assert isinstance(mixed, OptimizeResult)
    assert mixed.direction == "minimize"
    assert bamsoo.maximize(lambda x: x[0], [(0, 1)], 3).direction == "maximize"
    assert Optimizer([(0, 1)], "maximize").result.direction == "maximize"


def test_failures_say_why(mixed):
    failed = np.flatnonzero(np.isnan(mixed.F)).tolist()
    assert failed
    assert mixed.failures == [(i, "MemoryError: too large") for i in failed]


def test_a_misspelt_name_in_the_function_leaves_a_trace():
    r = bamsoo.minimize(lambda x: y, [(0, 1)], 5, on_error="fail")  # noqa: F821
    assert r.failures == [(i, "NameError: name 'y' is not defined") for i in range(5)]
    assert "5 failed" in repr(r)
    assert "no evaluation gave a value" in r._repr_html_()
    assert r.message == "the budget of 5 evaluations is spent; no evaluation gave a value"


def test_failures_of_asks_and_tells():
    opt = Optimizer([(0, 1)])
    opt.tell([0.9], None)
    opt.tell(opt.ask(), float("nan"))
    opt.tell(opt.ask(), None, "the licence server was down")
    assert opt.result.failures == [
        (None, "the value is None"),
        (0, "the value is nan"),
        (1, "the licence server was down"),
    ]


def test_an_earlier_result_stays_as_it_was():
    opt = Optimizer([(0, 1)])
    for _ in range(8):
        opt.tell(opt.ask(), 1.0)
    before = opt.result
    points = [[0.1], [0.77]]
    expected = before.predict(points)
    for i in range(30):
        opt.tell(opt.ask(), float(i))
    opt.tell(opt.ask(), None)
    assert before.failures == []
    assert len(before.to_dataframe()) == 8
    assert_array_equal(before.predict(points), expected)


# --- how it travels and how it looks


def test_a_result_can_be_pickled_and_copied(mixed):
    for again in (pickle.loads(pickle.dumps(mixed)), copy.deepcopy(mixed), copy.copy(mixed)):
        assert type(again) is Result
        assert (again.fun, again.params, again.direction) == (
            mixed.fun,
            mixed.params,
            mixed.direction,
        )
        assert again.failures == mixed.failures
        assert again.to_dataframe().equals(mixed.to_dataframe())
        point = {"rate": 0.01, "n": 3, "kind": "b"}
        assert_allclose(again.predict(point), mixed.predict(point), rtol=1e-9)


def test_the_keys_are_data_alone(mixed):
    assert "_details" not in mixed
    assert {"fun", "predict", "failures", "plot", "to_dataframe"} <= set(dir(mixed))


def test_the_representation_is_short(mixed):
    r = bamsoo.minimize(lambda x: float(x @ x), [(-1, 1)] * 3, 300, algorithm="soo")
    assert len(repr(r)) < 400
    assert repr(r).startswith("minimize: the budget of 300 evaluations is spent")
    assert "params: {'rate': " in repr(mixed)


def test_the_view_for_notebooks_escapes_what_others_wrote():
    r = bamsoo.minimize(lambda **p: 0.0, {"x<y": Choice(["<b>", "&"])}, 2)
    assert "<b>" not in r._repr_html_()
    assert "x&lt;y" in r._repr_html_()
    picture = r._repr_html_().split("data:image/png;base64,")[1].partition("'")[0]
    width, height = struct.unpack(">II", b64decode(picture)[16:24])
    assert (width, height) == (600, 300)  # leaves room for the table


def test_one_evaluation_is_not_evaluations():
    r = bamsoo.minimize(lambda x: 0.0, [(0, 1)], 1)
    assert r.message == "the budget of 1 evaluation is spent"
    assert "1 evaluation;" in r._repr_html_()


# --- tables


def test_a_data_frame_has_a_row_for_each_evaluation():
    opt = Optimizer({"x": (0, 1), "value": Int(0, 3), "kind": Choice(["a", None])})
    opt.tell({"x": 0.2, "value": 1, "kind": None}, 5.0)
    opt.tell(opt.ask(), 2.0)
    opt.tell(opt.ask(), None, "down")
    table = opt.result.to_dataframe()
    assert list(table) == ["trial", "state", "x", "param:value", "kind", "value", "origin", "error"]
    assert table["state"].tolist() == ["given", "done", "failed"]
    assert table["trial"].tolist() == [pandas.NA, 0, 1]
    assert table["error"].tolist() == [None, None, "down"]
    assert table["param:value"].dtype == int
    assert table["kind"][0] is None
    assert_array_equal(table["value"], [5.0, 2.0, np.nan])


def test_without_pandas_a_sentence_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(bamsoo.errors.SettingsError, match="pip install pandas"):
        Optimizer([(0, 1)]).result.to_dataframe()


def test_the_result_can_be_printed_and_pickled():
    r = bamsoo.minimize(branin, BOX, 15)
    assert "fun: " in repr(r)
    same(pickle.loads(pickle.dumps(r)), r)


def test_the_result_is_the_callers_own():
    opt = bamsoo.Optimizer(BOX)
    opt.tell(opt.ask(), 1.0)
    before = opt.result
    spoilt = opt.result
    spoilt.x[:], spoilt.X[:], spoilt.F[:] = np.nan, np.nan, np.nan
    spoilt.params.clear()
    same(opt.result, before)
    assert opt.result.params == before.params


def test_every_evaluation_says_which_part_of_the_search_asked_for_it(tmp_path):
    space = {"n": bamsoo.Int(1, 30), "x": (0.0, 1.0), "m": bamsoo.Choice(["a", "b"])}

    def fun(n, x, m):
        return (n - 20) ** 2 / 50 + (x - 0.3) ** 2 + (m == "a")

    first, known = {"n": 3, "x": 0.5, "m": "a"}, [({"n": 4, "x": 0.5, "m": "a"}, 6.16)]
    settings = {"x0": first, "known": known, "study": tmp_path / "run.db"}
    r = bamsoo.minimize(fun, space, 25, **settings)
    assert set(r.origins) == {"given", "tree", "local", "candidate"}
    assert sum(r.origins.values()) == 25
    assert r.origins["given"] == 1
    assert r.spent in repr(r)
    labels = [e.origin for e in r.evaluations]
    assert labels[:2] == ["given", "given"]
    assert r.to_dataframe()["origin"].tolist() == labels
    with bamsoo.Study.open(tmp_path / "run.db", readonly=True) as study:
        assert [e.origin for e in study.evaluations] == labels
        without = [replace(e, origin=None) if isinstance(e, Asked) else e for e in study._events]
        again = study._twin()
        again._follow(without, None)
        assert [e.origin for e in again.evaluations] == labels  # a replay knows it too
    assert bamsoo.minimize(fun, space, 9).origins["design"] == 3


def test_a_number_that_does_not_exist_everywhere_is_still_a_column_of_numbers():
    space = {"kind": Choice({"a": {"x": (0.0, 1.0), "n": Int(1, 5)}, "b": None})}
    opt = Optimizer(space, algorithm="random")
    opt.tell({"kind": "a", "x": 0.25, "n": 3}, 1.0)
    opt.tell({"kind": "b"}, 2.0)
    table = opt.result.to_dataframe()
    assert table["x"].dtype == float
    assert_array_equal(table["x"], [0.25, np.nan])
    assert table["n"].dtype == "Int64"
    assert table["n"].isna().tolist() == [False, True]


def test_bounds_need_a_model_and_a_value():
    r = bamsoo.minimize(lambda x: float(x @ x), [(-1, 1)] * 2, 12)
    assert_array_equal(r.most_promising, r.bounds.top)
    assert ((r.bounds.top >= 0.0) & (r.bounds.top <= 1.0)).all()
    failed = bamsoo.minimize(lambda x: None, [(-1, 1)] * 2, 12)
    model_free = bamsoo.minimize(lambda x: float(x @ x), [(-1, 1)] * 2, 12, algorithm="soo")
    assert failed.bounds is failed.most_promising is model_free.bounds is None


def test_a_data_frame_has_a_column_for_each_of_several_objectives():
    opt = Optimizer({"x": (0.0, 1.0), "cost": (0.0, 1.0)}, objectives=["loss", "cost"])
    opt.tell({"x": 0.25, "cost": 0.5}, (1.0, 9.0))
    opt.tell({"x": 0.75, "cost": 0.5}, (2.0, 9.5))
    table = opt.result.to_dataframe()
    assert table["loss"].tolist() == [1.0, 2.0]
    assert table["objective:cost"].tolist() == [9.0, 9.5]  # a parameter has this name
    assert table["cost"].tolist() == [0.5, 0.5]
    assert table["front"].tolist() == [True, False]
    assert "value" not in table


def test_hypervolumes_grow_to_that_of_the_front():
    opt = Optimizer([(0, 1)], objectives=["a", "b"], algorithm="random")
    opt.tell([0.1], None)
    assert opt.result.hypervolumes.tolist() == [0.0]
    for i, values in enumerate([(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), None, (0.5, 0.5)]):
        opt.tell([0.2 + i / 10], values)
    # the reference is (1.1, 1.1)
    assert_allclose(opt.result.hypervolumes, [0.0, 0.01, 0.11, 0.21, 0.21, 0.46])
    assert_allclose(opt.result.hypervolume(), 0.46)


def test_the_result_of_one_of_several_objectives_is_best_in_that_one():
    opt = Optimizer([(0, 1)], objectives={"loss": "min", "gain": "max"}, algorithm="random")
    for _ in range(9):
        trial = opt.ask()
        opt.tell(trial, [float(trial.x[0]), float(trial.x[0] ** 2)])
    x = opt.result.X[:, 0]
    assert opt.result.only("loss").fun == opt.result.only("loss").x[0] == x.min()
    assert opt.result.only("gain").fun == x.max() ** 2


def test_the_gap_of_several_objectives_is_known_once_there_is_a_front():
    opt = Optimizer([(0, 1)], objectives=["a", "b"])
    assert opt.result.gap == np.inf
    for _ in range(20):
        trial = opt.ask()
        opt.tell(trial, [float(trial.x[0] ** 2), float((trial.x[0] - 1.0) ** 2)])
    assert 0.0 <= opt.result.gap < 0.5
