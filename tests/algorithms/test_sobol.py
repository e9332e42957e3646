"""Sobol sequences: as even as scipy's, and the same points with every version of it."""

import numpy as np
import pytest
from scipy.stats import qmc

import bamsoo
from bamsoo import Choice, Int


def points(budget, **given):
    space = given.pop("space", [(0, 1)] * 3)
    return bamsoo.minimize(lambda x: x[0], space, budget, algorithm="sobol", **given).X


@pytest.mark.parametrize("seed", [0, 7])
def test_each_axis_has_one_point_in_each_part(seed):
    for m in (4, 5):
        parts = np.sort((points(2**m, seed=seed) * 2**m).astype(int), axis=0)
        assert (parts == np.arange(2**m)[:, None]).all()
    assert qmc.discrepancy(points(32, seed=seed)) < 1.5 * qmc.discrepancy(
        qmc.Sobol(3, scramble=False).random(32)
    )


def test_another_seed_gives_other_points():
    assert not np.allclose(points(4), points(4, seed=1))


def test_a_finite_space_is_evaluated_once_and_then_ends():
    space = {"n": Int(0, 4), "c": Choice(["a", "b", "c"])}
    r = bamsoo.minimize(lambda n, c: n, space, 50, algorithm="sobol")
    assert len({tuple(p.items()) for p in r.X}) == r.nfev == 15


@pytest.mark.parametrize("limit", [0.5, 0.1])
def test_points_fill_what_known_constraints_allow(limit):
    space = {"x": (0, 1), "y": (0, 1)}
    known = [bamsoo.Formula(f"x + y <= {limit}")]
    r = bamsoo.minimize(lambda x, y: x, space, 20, algorithm="sobol", constraints=known)
    x, y = (np.array([p[name] for p in r.X]) / limit for name in "xy")
    assert (x + y <= 1).all()
    for some in (x, y):  # not along an edge
        assert (some > 0.5).any()
        assert (some < 0.2).any()
        assert len(set(some)) == 20


def test_a_space_without_allowed_points_ends():
    r = bamsoo.minimize(
        lambda x: x, {"x": (0, 1)}, 5, algorithm="sobol", constraints=[lambda x: False]
    )
    assert "no point was found that the constraints allow" in r.message
