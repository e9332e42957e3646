"""The best predicted point that meets every limit, on functions that the models know well."""

from dataclasses import replace

import numpy as np
import pytest

import bamsoo
from bamsoo import Choice, Int
from bamsoo.result.answers import scene_of


def scene(fun, space, budget=40, **settings):
    """The models after a run, with the limits of its constraints."""
    r = bamsoo.minimize(fun, space, budget, **settings)
    return scene_of(r.predictor, r._details.numbers)


def test_the_best_point_of_the_models_meets_measured_and_known_limits():
    found = scene(
        lambda x, y: ((x - 1) ** 2 + (y - 1) ** 2, {"s": x + y}), {"x": (0, 1), "y": (0, 1)},
        constraints=["s <= 1", bamsoo.Formula("x <= 0.3")],
    )  # fmt: skip
    best = found.best()
    assert found.decode(best[0]) == pytest.approx([0.3, 0.7], abs=1e-3)
    assert (found.slacks(best[:1]) >= -1e-6).all()
    marks = [found.worst(u, np.zeros((1, 2))) for u in best]
    assert marks == sorted(marks, reverse=True)


def test_whole_numbers_and_options_are_moved_too():
    space = {"x": (-1, 1), "n": Int(1, 30), "kind": Choice(["a", "b", "c"])}
    found = scene(
        lambda x, n, kind: (x**2 + 0.1 * abs(n - 12) + (kind != "c"), {"load": n + x}),
        space, 60, constraints=["load >= 14.5"],
    )  # fmt: skip
    params = found.space.params(found.decode(found.best()[0]))
    assert (params["n"], params["kind"]) in {(14, "c"), (15, "c")}
    assert params["n"] + params["x"] >= 14.5 - 1e-3


def test_the_worst_scenario_decides_and_all_scenarios_stay_inside():
    found = scene(lambda x: -x[0], [(0, 1)], 15)
    scenarios = np.array([[0.0], [-1.0], [1.0]])
    off = replace(found, low=np.array([0.1]), high=np.array([0.9]), tolerances={0: 0.1})
    assert off.worst(np.array([0.5]), scenarios) == pytest.approx(
        float(found.values(np.array([[0.4]]))[0])
    )
    assert off.best(scenarios)[0] == pytest.approx([0.9], abs=1e-6)
