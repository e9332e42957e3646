"""A variance for each value: what the model makes of it, what is refused, and what a file keeps."""

import copy
import json
import pickle
from contextlib import closing
from math import inf, nan

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bamsoo
from bamsoo.problems import branin

# --- the search


def told(opt, f, count, variance):
    for i in range(count):
        trial = opt.ask()
        opt.tell(trial, f(trial.x), variance=variance(i))
    return opt


@pytest.mark.parametrize("algorithm", ["auto", "bamsoo", "gp-ucb"])
def test_one_variance_for_all_is_noise_of_that_variance(algorithm):
    if algorithm == "gp-ucb":
        algorithm = bamsoo.algorithms.GPUCB(direct_evaluations=50)
    rng = np.random.default_rng(0)
    values = (branin([-5 + 15 * a, 15 * b]) / 50 + 0.1 * c for a, b, c in rng.random((40, 3)))
    stored = list(values)
    runs = []
    for noise, own in ((0.01, None), (None, 0.01)):
        opt = bamsoo.Optimizer([(0, 1), (0, 1)], algorithm=algorithm, noise=noise)
        for i in range(16):
            opt.tell(opt.ask(), stored[i], variance=own)
        runs.append(opt)
    given, each = runs
    assert_allclose(each.result.X, given.result.X, atol=1e-5)
    assert each.result.fun == pytest.approx(given.result.fun, rel=1e-3)
    assert each.result.fun not in each.result.F


def test_a_variance_of_zero_is_an_exact_value():
    plain, zero = (bamsoo.Optimizer(branin.bounds, seed=1) for _ in range(2))
    told(plain, branin, 30, lambda i: None)
    told(zero, branin, 30, lambda i: 0.0)
    assert_array_equal(zero.result.X, plain.result.X)
    assert zero.result.fun == zero.result.F.min()


@pytest.mark.parametrize("noise", [None, "learn", 1.0])
def test_a_lucky_value_of_large_variance_is_not_the_best(noise):
    opt = bamsoo.Optimizer(branin.bounds, noise=noise)
    for i in range(30):
        trial = opt.ask()
        lucky = i == 12
        opt.tell(trial, -500.0 if lucky else branin(trial.x), variance=1e6 if lucky else 1e-6)
        if lucky:
            where = trial.x.copy()
    r = opt.result
    assert r.F.min() == -500.0
    assert r.fun > 0.0
    assert not np.array_equal(r.x, where)


@pytest.mark.parametrize("bad", [-1.0, nan, inf, -inf, "1", [1.0, 2.0], 1j, b"1"])
def test_an_invalid_variance_is_refused_in_one_sentence_and_changes_nothing(tmp_path, bad):
    with bamsoo.Study.open(tmp_path / "run.db", space=[(0, 1)]) as study:
        for opt in (bamsoo.Optimizer([(0, 1)]), study):
            trial = opt.ask()
            with pytest.raises(bamsoo.BamsooError, match="variance must be a finite number") as e:
                opt.tell(trial, 1.0, variance=bad)
            assert "\n" not in str(e.value)
            assert opt.told == 0
            opt.tell(trial, 1.0, variance=np.float32(0.25))
            assert opt.told == 1


@pytest.mark.parametrize("algorithm", ["soo", "random"])
def test_a_search_without_a_model_keeps_a_variance_and_goes_by_the_values(algorithm):
    opt = told(bamsoo.Optimizer([(0, 1)], algorithm=algorithm), lambda x: x[0], 9, lambda i: 0.1)
    assert opt.result.fun == opt.result.F.min()
    assert {e.variance for e in opt.evaluations} == {0.1}


def test_a_point_told_unasked_and_a_failure_may_have_one_too():
    opt = bamsoo.Optimizer(branin.bounds)
    opt.tell([0.0, 5.0], 20.0, variance=4.0)
    opt.tell([1.0, 5.0], None, variance=4.0)
    told(opt, branin, 12, lambda i: 1e-3)
    assert [e.variance for e in opt.evaluations[:2]] == [4.0, 4.0]
    assert len(opt.result.failures) == 1


def test_a_pickle_a_copy_and_a_prediction_know_the_variances():
    rng = np.random.default_rng(2)
    opt = bamsoo.Optimizer(branin.bounds)
    told(opt, branin, 25, lambda i: float(rng.random()))
    for again in (pickle.loads(pickle.dumps(opt)), copy.deepcopy(opt)):
        assert again.result.fun == opt.result.fun
        assert_array_equal(again.ask().x, copy.copy(opt).ask().x)
    r = opt.result
    back = pickle.loads(pickle.dumps(r))
    points = [[0.0, 1.0], [9.0, 3.0]]
    assert_allclose(back.predict(points), r.predict(points), rtol=1e-6)


# --- the file


def varied(i):
    return None if i % 3 == 0 else 0.5 * (i % 4)


def test_a_study_keeps_variances_and_goes_on_as_if_it_had_never_ended(tmp_path):
    whole = told(bamsoo.Optimizer(branin.bounds), branin, 30, varied)
    path, done = tmp_path / "run.db", 0
    for until in (7, 19, 30):
        with bamsoo.Study.open(path, space=branin.bounds) as study:
            if until == 19:
                study.tell([0.0, 5.0], branin([0.0, 5.0]), variance=2.0)
                whole = bamsoo.Optimizer(branin.bounds)
                told(whole, branin, 7, varied)
                whole.tell([0.0, 5.0], branin([0.0, 5.0]), variance=2.0)
                for i in range(7, 30):
                    trial = whole.ask()
                    whole.tell(trial, branin(trial.x), variance=varied(i))
            for i in range(done, until):
                trial = study.ask()
                study.tell(trial, branin(trial.x), variance=varied(i))
            done = until
    with bamsoo.Study.open(path) as study:
        assert_array_equal(study.result.X, whole.result.X)
        assert study.result.fun == whole.result.fun
        kept = [record.variance for record in study.trials if record.number is not None]
        assert kept == [varied(i) for i in range(30)]
        assert [r.variance for r in study.trials if r.number is None] == [2.0]


def test_a_study_stores_a_variance_where_there_is_one(tmp_path):
    import sqlite3

    path = tmp_path / "run.db"
    with bamsoo.Study.open(path, space=[(0, 1)]) as study:
        study.tell(study.ask(), 1.0)
        study.tell(study.ask(), 2.0, variance=0.5)
    with closing(sqlite3.connect(path)) as file:
        rows = file.execute("SELECT kind, body FROM events ORDER BY id").fetchall()
    assert [kind for kind, _ in rows] == ["ask", "tell", "ask", "tell"]
    told = [json.loads(body) for _, body in rows[1::2]]
    assert all(each.pop("took") >= 0.0 for each in told)
    assert told == [{"values": [1.0]}, {"values": [2.0], "variance": 0.5}]


def test_a_function_may_return_the_variance_of_its_value():
    r = bamsoo.minimize(lambda x: (x[0], {"variance": 0.25, "rows": 3}), [(0, 1)], 4)
    assert [e.variance for e in r.evaluations] == [0.25] * 4
    known = [([0.5], (1.0, {"variance": 0.5}))]
    r = bamsoo.minimize(lambda x: x[0], [(0, 1)], 1, known=known)
    assert [e.variance for e in r.evaluations] == [0.5, None]
    with pytest.raises(bamsoo.BamsooError, match="variance must be a finite number >= 0"):
        bamsoo.minimize(lambda x: (x[0], {"variance": -1}), [(0, 1)], 4)
