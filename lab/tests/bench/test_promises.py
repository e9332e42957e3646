"""What a benchmark notes of the steps of climbs, and that watching them changes nothing."""

import importlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import bamsoo

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def promises(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("promises")


def rosenbrock(x):
    return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


def peak(x):
    """A narrow one, of which climbs see logarithms."""
    return -float(np.exp(-40.0 * ((x - 0.37) ** 2).sum()))


def fails(x):
    return float("nan") if x[0] > 0.6 else rosenbrock(x)


@pytest.mark.parametrize("fun", [rosenbrock, peak, fails])
def test_steps_are_watched_and_not_changed(promises, fun):
    def run():
        return bamsoo.minimize(fun, [(-2.0, 3.0)] * 3, 40)

    found = []
    steps = promises.observed(lambda: found.append(run()))
    again = run()
    assert np.array_equal(found[0].X, again.X)
    assert np.array_equal(found[0].F, again.F, equal_nan=True)
    assert {step.climb for step in steps} == {"close", "wide"}
    local = sum(each.origin == "local" for each in again.evaluations)
    assert 0 < len(steps) <= local
    assert all((step.delivered > 0.0) == step.better for step in steps)
    assert all(step.promised >= 0.0 for step in steps)
    for before, step in pairwise(steps):
        assert step.failures == (0 if before.better else before.failures + 1)
    for table, cells in promises.TABLES.items():
        assert len(cells(steps)) == len(table)


def test_a_quadratic_function_delivers_what_is_promised(promises):
    """Once a model has seen enough of it, with a heavy trend."""

    def bowl(x):
        return float(((x - [0.3, 0.2, 0.6]) ** 2).sum())

    steps = promises.observed(lambda: bamsoo.minimize(bowl, [(-1.0, 1.5)] * 3, 20))
    ratios = [step.delivered / step.promised for step in steps if step.promised > 1e-3]
    assert any(abs(ratio - 1.0) < 1e-3 for ratio in ratios)
