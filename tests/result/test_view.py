"""A result as text, and as HTML for notebooks."""

import sys

import pytest

import bamsoo
from bamsoo import Choice, Optimizer


def test_the_text_says_how_the_run_ended_and_what_is_best():
    r = bamsoo.minimize(lambda x: x, {"x": Choice([1, 2])}, 2, algorithm="random")
    ended, fun, params, nfev = repr(r).splitlines()
    assert ended == f"minimize: {r.message}"
    assert (fun, params) == ("   fun: 1.0", "params: {'x': 1}")
    assert nfev.startswith("  nfev: 2")


def test_without_any_value_nothing_is_best():
    r = Optimizer([(0, 1)]).result
    assert "params: none" in repr(r)
    page = r._repr_html_()
    assert r.nothing in page
    assert "<img" not in page


def test_while_nothing_is_feasible_the_least_violation_is_shown():
    opt = Optimizer({"x": (0.0, 1.0)}, algorithm="random", constraints=["c <= 1"])
    opt.tell({"x": 0.25}, 1.0, constraints={"c": 3.0})
    opt.tell({"x": 0.5}, 2.0, constraints={"c": 2.0})
    assert "params: none; " in repr(opt.result)
    assert "{'x': 0.5}" in repr(opt.result)
    assert "<td style='text-align:left'>0.5</td>" in opt.result._repr_html_()


def test_several_objectives_have_a_front_and_a_compromise():
    opt = Optimizer({"x": (0.0, 1.0)}, objectives=["cost", "loss"], algorithm="random")
    for x, values in ((0.25, (1.0, 3.0)), (0.5, (2.0, 2.0)), (0.75, (3.0, 3.0))):
        opt.tell({"x": x}, values)
    assert " front: " in repr(opt.result) and "a compromise is:" in repr(opt.result)
    page = opt.result._repr_html_()
    assert "a compromise is</p>" in page
    assert "<th style='text-align:left'>cost</th>" in page


def test_a_long_parameter_is_cut():
    r = bamsoo.minimize(lambda text: 0.0, {"text": Choice(["a" * 2000, "a" * 1999])}, 1)
    for shown in (repr(r), r._repr_html_()):
        assert "a" * 480 in shown and "…" in shown
        assert "a" * 501 not in shown


def test_the_picture_says_what_it_shows(monkeypatch):
    pytest.importorskip("matplotlib")
    r = bamsoo.minimize(lambda x: x, {"x": (0.0, 1.0)}, 3, algorithm="random")
    assert "<img alt='best value against evaluations' src='data:image/png;base64," in (
        r._repr_html_()
    )
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = r._repr_html_()
    assert "<img" not in page and "<table>" in page
