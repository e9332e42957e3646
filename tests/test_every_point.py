"""Whatever is searched, and however: `fun` sees points of its space only, and no value is lost."""

from concurrent.futures import Executor, Future
from itertools import cycle
from math import isfinite, nan
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from conditional_spaces import ANY, MODELS, REALS, belongs, named
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from searches import QUICK

import bamsoo
from bamsoo.algorithms import BY_NAME, resolve

from memory import MEMORY

NOISY = ("auto", "bamsoo", "gp-ucb")  # those that accept noise=
BOX = {"x": bamsoo.Real(0.0, 1.0), "y": bamsoo.Real(-2.0, 2.0)}


class AtOnce(Executor):
    """Has room for several trials, which are all pending before the first value is known."""

    def __init__(self, size):
        self._max_workers = size

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def place(parameter, value):
    """Where a value lies in its range, from 0 to 1."""
    if isinstance(parameter, bamsoo.Choice):
        return parameter.options.index(value) / len(parameter.options)
    return (value - parameter.low) / (parameter.high - parameter.low)


@st.composite
def problems(draw):
    """The best value often lies on a bound, or on the edge of what fails or is not allowed."""
    algorithm = draw(st.sampled_from(sorted(BY_NAME)))
    noises = [None, None, 0.01] if algorithm in NOISY else [None]
    measured = [False] if resolve(algorithm).repeats else [False, True]
    return {
        "space": draw(ANY | st.lists(REALS, min_size=1, max_size=3).map(named)),
        "algorithm": algorithm,
        "noise": draw(st.sampled_from([*noises, "learn"] if algorithm == "auto" else noises)),
        "seed": draw(st.integers(0, 3)),
        "goals": draw(st.lists(st.sampled_from([0.0, 1.0, 0.37]), min_size=1, max_size=4)),
        "fails": draw(st.sampled_from([None, None, "nan", "inf", "raise"])),
        "edge": draw(st.floats(0.2, 0.9)),
        "known": draw(st.booleans()),
        "measured": draw(st.sampled_from(measured)),
        "at_once": draw(st.sampled_from([1, 1, 2, 5])),
    }


def runs(problem, budget):
    """Two calls on the same study, the second of which continues the first."""
    space = problem["space"]
    settings = {
        "algorithm": QUICK.get(problem["algorithm"], problem["algorithm"]),
        "noise": problem["noise"],
        "seed": problem["seed"],
    }
    luck, seen = np.random.default_rng(problem["seed"]), []

    def first(params):
        name = next(iter(space))
        return place(space[name], params[name])

    def allowed(**params):
        return first(params) <= 0.8

    def fun(**params):
        seen.append((params, None))
        u = [first(params), *(x for x in params.values() if isinstance(x, float))]
        value = sum(abs(np.arctan(x) - goal) for x, goal in zip(u, cycle(problem["goals"])))
        value += 0.0 if problem["noise"] is None else 0.1 * luck.normal()
        if problem["fails"] and first(params) > problem["edge"]:
            if problem["fails"] == "raise":
                raise ValueError("too large")
            value = float(problem["fails"])
        value = float(value)
        seen[-1] = params, value if isfinite(value) else None
        return (value, {"c": first(params) - 0.6}) if problem["measured"] else value

    constraints = [allowed] * problem["known"] + ["c"] * problem["measured"]
    with TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "run.db"
        for until in (budget // 2, budget):
            try:
                r = bamsoo.minimize(
                    fun, space, until, **settings, study=path, constraints=constraints or None,
                    workers=AtOnce(problem["at_once"]), on_error="fail",
                )  # fmt: skip
            except bamsoo.errors.SettingsError as error:
                assume("shrinking" not in str(error).lower())  # in too many dimensions
                raise
            assert r.nfev == len(seen) <= until
        with bamsoo.Study.open(path, readonly=True, constraints=constraints or None) as study:
            stored = [(record.params, record.value) for record in study.trials]
            again = study.result
    for params, _ in seen:
        assert belongs(space, params), params
        assert allowed(**params) or not problem["known"], params
    assert stored == seen
    told = sorted((repr(params), str(nan if value is None else value)) for params, value in seen)
    assert sorted(zip(map(repr, again.X), map(str, again.F.tolist()), strict=True)) == told


def on_a_bound(**changes):
    """The best value is on a bound, and next to it evaluations fail."""
    return {
        "space": BOX, "algorithm": "auto", "noise": None, "seed": 0, "goals": [0.0], "edge": 0.4,
        "fails": "nan", "known": False, "measured": False, "at_once": 1, **changes,
    }  # fmt: skip


few = settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
many = settings(few, max_examples=20)


@few
@given(problems())
@example(on_a_bound())
@example(on_a_bound(space=MODELS, at_once=3, fails=None))
def test_fun_sees_points_of_its_space_only_and_no_value_is_lost(problem):
    runs(problem, 20)


@pytest.mark.slow
@many
@given(problems())
@example(on_a_bound())
@example(on_a_bound(at_once=3))
@pytest.mark.long
def test_the_same_in_many_longer_runs(problem):
    runs(problem, 50)
