"""The fields of a result are computed when they are looked at, and are those of its moment."""

import copy
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import bamsoo

PAIR: Any = {"objectives": ["a", "b"]}


def pair(x: Any) -> list[float]:
    return [float(x[0]), float((x[0] - 0.6) ** 2 + x[1])]


def sphere(x: Any) -> float:
    return float(((np.asarray(x) - 0.3) ** 2).sum())


def limited(x: Any) -> Any:
    return sphere(x), {"c": float(x[0]) - 0.4}


def curve(x: Any) -> Any:
    for i in range(5):
        yield sphere(x) + 1.0 / (i + 1)


RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "plain": (sphere, {}),
    "noise": (sphere, {"noise": 0.1}),
    "several": (pair, PAIR),
    "noise in several": (pair, {**PAIR, "noise": "learn"}),
    "repeated": (sphere, {"algorithm": "stosoo"}),
    "constraints": (limited, {"constraints": ["c"]}),
    "steps": (curve, {"steps": 5}),
}


def plain(result: Any) -> dict[str, Any]:
    fields = {name: value for name, value in result.items() if name not in ("tree", "message")}
    return {**fields, "front": [e[:3] for e in result.front], "all": len(result.evaluations)}


def test_a_callback_that_looks_at_little_leaves_the_rest_uncomputed():
    kept = []

    def look(r: Any) -> None:
        kept.append((r.nfev, r.fun))
        assert {"X", "F", "C", "feasible", "curves", "x", "params"}.isdisjoint(dict.keys(r))

    bamsoo.minimize(sphere, [(0, 1)] * 2, 8, callback=look)
    assert [n for n, _ in kept] == list(range(1, 9))


@pytest.mark.parametrize("run", RUNS)
def test_a_result_that_is_looked_at_late_is_that_of_its_moment(run):
    fun, settings = RUNS[run]
    early, late = [], []

    def at_once(r: Any) -> None:
        early.append(plain(r))

    for look in (at_once, late.append):
        bamsoo.minimize(fun, [(0, 1)] * 2, 14, callback=look, **settings)
    assert len(early) == len(late)
    for one, other in zip(early, map(plain, late), strict=True):
        np.testing.assert_equal(other, one)


@pytest.mark.parametrize(
    "whole", [pickle.dumps, copy.copy, copy.deepcopy], ids=lambda f: f.__name__
)
def test_a_copy_of_a_result_is_complete(whole):
    opt = bamsoo.Optimizer({"a": (0, 1), "b": (0, 1)})
    for _ in range(4):
        trial = opt.ask()
        opt.tell(trial, trial.params["a"])
    same = whole(opt.result)
    same = pickle.loads(same) if isinstance(same, bytes) else same
    opt.tell(opt.ask(), 2.0)
    assert len(same.X) == len(same.F) == len(same.evaluations) == 4
    assert len(same.front) == 1 and same.front[0].value == same.fun


def test_a_result_is_a_dict_of_all_its_fields():
    opt = bamsoo.Optimizer([(0, 1)])
    opt.tell(opt.ask(), 1.0)
    fields = set(opt.result.keys())
    assert {"x", "fun", "params", "X", "F", "C", "feasible", "curves", "tree"} <= fields
    for ask in (
        set,
        lambda r: set(dict(r)),
        lambda r: set({**r}),
        lambda r: set(r | {}),
        lambda r: {name for name, _ in r.items()},
        lambda r: set(r.copy()),
        lambda r: fields if len(r) == len(fields) else r,
        lambda r: fields if "X" in r and r.get("F") is not None else r,
    ):
        assert ask(opt.result) == fields, ask


def test_a_field_that_was_set_or_deleted_stays_so():
    opt = bamsoo.Optimizer([(0, 1)])
    opt.tell(opt.ask(), 1.0)
    r = opt.result
    r.x = "mine"
    del r.X
    assert r.x == "mine" and "X" not in r and not hasattr(r, "X")
    assert r["fun"] == 1.0 and r.pop("F").tolist() == [1.0] and "F" not in r


def test_later_fields_survive_an_interrupt():
    opt = bamsoo.Optimizer([(0, 1)])
    for _ in range(3):
        opt.tell(opt.ask(), 1.0)
    r, _repair = opt.result, partial(opt._take_up, opt._events)
    _repair()
    assert len(r.X) == 3 and r.x is not None
