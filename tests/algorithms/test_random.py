"""Random search: independent uniform points, as numpy draws them."""

import numpy as np
import pytest

import bamsoo
from bamsoo import Choice, Int
from bamsoo.errors import ExhaustedError


def test_points_are_those_of_the_generator():
    opt = bamsoo.Optimizer([(0, 1), (0, 1)], algorithm="random", seed=5)
    rng = np.random.default_rng(5)
    for _ in range(20):
        trial = opt.ask()
        assert trial.x.tolist() == rng.random(2).tolist()
        opt.tell(trial, 0.0)


def test_a_finite_space_is_evaluated_once_and_then_ends():
    space = {"n": Int(0, 3), "c": Choice(["a", "b"])}
    opt, seen = bamsoo.Optimizer(space, algorithm="random"), []
    for _ in range(8):
        trial = opt.ask()
        seen.append((trial.params["n"], trial.params["c"]))
        opt.tell(trial, 1.0)
    assert len(set(seen)) == 8
    with pytest.raises(ExhaustedError, match="every point of the space has been evaluated"):
        opt.ask()


def test_a_space_without_allowed_points_ends_before_the_first_evaluation():
    opt = bamsoo.Optimizer({"x": (0, 1)}, algorithm="random", constraints=[lambda x: False])
    with pytest.raises(ExhaustedError, match="no point was found that the constraints allow"):
        opt.ask()
