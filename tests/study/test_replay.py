"""A study is resumed by replay, also on another type of processor."""

import json
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from numpy.testing import assert_array_equal

import bamsoo
from bamsoo import Study, problems
from bamsoo.algorithms.auto import climb
from bamsoo.errors import StudyError
from bamsoo.space import Space

branin = problems.branin
BOX = branin.bounds


def rounding(monkeypatch, size):
    """A processor on which climbs end at slightly different points."""
    there = climb.solved
    monkeypatch.setattr(climb, "solved", lambda *args: there(*args) * (1.0 - size))


@pytest.mark.slow
@pytest.mark.parametrize("size", [2e-16, 1e-13, 1e-8])
def test_points_that_agree_to_rounding_are_adopted_and_reported(size, path, monkeypatch):
    before = bamsoo.minimize(branin, BOX, 24, study=path)
    with Study.open(path) as study:
        assert study.replayed.adopted == ()
        assert str(study.replayed) == "24 trials were replayed"
    with monkeypatch.context() as other:
        rounding(other, size)
        with Study.open(path) as study:
            assert study.replayed.trials == 24
            assert len(study.replayed.adopted) > 3
            assert 0.0 < study.replayed.furthest <= 2e-5
            assert "because of rounding (by at most" in str(study.replayed)
            assert_array_equal(study.result.X, before.X)  # those that were evaluated
        r = bamsoo.minimize(branin, BOX, 32, study=path)
        assert_array_equal(r.X[:24], before.X)
        assert len({tuple(x) for x in r.X.tolist()}) == 32
    with Study.open(path) as study:  # and back again
        assert study.replayed.trials == 32
        assert_array_equal(study.result.X, r.X)


def test_a_real_difference_still_fails_loudly(path, monkeypatch):
    bamsoo.minimize(branin, BOX, 24, study=path)
    rounding(monkeypatch, 1e-3)
    content = path.read_bytes()
    with pytest.raises(StudyError, match=r"trial \d+ differs: it was at .* asks for"):
        Study.open(path)
    assert path.read_bytes() == content


def test_an_adopted_point_is_not_asked_for_again(path, monkeypatch):
    # a space so small that every point is asked for, on a log scale whose values are rounded
    space = {"x": bamsoo.Real(1e-3, 1.0, log=True)}

    def fun(x):
        return abs(x - 0.02)

    bamsoo.minimize(fun, space, 30, study=path)
    rounding(monkeypatch, 1e-14)
    r = bamsoo.minimize(fun, space, 45, study=path)
    # the best point may be evaluated again, to see whether values are exact
    seen = sorted(float(each.x[0]) for each in r.evaluations if each.origin != "repeat")
    apart = [b / a - 1.0 for a, b in pairwise(seen)]
    assert min(apart) > 1e-12


def test_a_stored_point_that_is_outside_by_rounding_is_accepted(path, monkeypatch):
    space = {"x": (0.0, 1.0), "y": (-2.0, 2.0)}

    def fun(x, y):
        return x + abs(y) if x <= 0.4 else None

    def slightly_outside(self, u):
        x = decode(self, u)
        x[x == 0.0] = -3e-20
        return x

    decode = Space.decode
    with monkeypatch.context() as earlier:
        earlier.setattr(Space, "decode", slightly_outside)
        before = bamsoo.minimize(fun, space, 30, study=path)
    assert min(params["x"] for params in before.X) < 0.0
    r = bamsoo.minimize(fun, space, 35, study=path)
    assert_array_equal(r.F[:30], before.F)
    assert min(params["x"] for params in r.X) == 0.0


# --- processors of several kinds: OpenBLAS has routines for each

CORES = ("Haswell", "SkylakeX", "Sandybridge", "Nehalem")

RUN = """
import json, sys
import bamsoo
from bamsoo.base.blas import kernels_in_use

fun = bamsoo.problems.hartmann6
with bamsoo.Study.open(sys.argv[1], space=fun.bounds) as study:
    bamsoo.minimize(fun, fun.bounds, int(sys.argv[2]), study=study)
    replayed, X = study.replayed, study.result.X.tolist()
json.dump([kernels_in_use(), replayed.trials, len(replayed.adopted), X], sys.stdout)
"""


@pytest.mark.long
def test_a_study_of_the_default_moves_from_processor_to_processor(path):
    seen, adopted, before = set(), 0, []
    for i, core in enumerate((*CORES, CORES[0])):
        ran = subprocess.run(
            [sys.executable, "-c", RUN, str(path), str(20 + 8 * i)],
            env={**os.environ, "OPENBLAS_CORETYPE": core},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stderr
        kernels, replayed, different, X = json.loads(ran.stdout)
        if "openblas" not in kernels:
            pytest.skip(f"numpy and scipy use {kernels} here")
        assert replayed == len(before)
        assert X[: len(before)] == before
        seen.add(kernels)
        adopted, before = adopted + different, X
    assert len(before) == 52
    if len(seen) < 3:
        pytest.skip(f"this processor has no other kinds of routines: {seen}")
    assert adopted > 0
