"""A variance for each value: what the model makes of it, what is refused, and what a file keeps."""

import copy
import json
import pickle
from contextlib import closing
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import bamsoo
from bamsoo.kernels import Matern52
from bamsoo.model.gp import GP
from bamsoo.model.learning import Evidence, fit
from bamsoo.model.warp import Bent, Linear
from bamsoo.problems import branin


def dense(gp, X, y, noises, at):
    """The posterior by the textbook."""
    K = gp.kernel(X, X) + np.diag(noises)
    k = gp.kernel(at, X)
    mu = gp.mean + k @ np.linalg.solve(K, y - gp.mean)
    return mu, np.sqrt(gp.kernel.variance - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T)))


# --- the model


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), late=st.integers(0, 5))
def test_rows_of_a_gp_have_noise_of_their_own(seed, late):
    rng = np.random.default_rng(seed)
    X, y, at = rng.random((9, 2)), rng.standard_normal(9), rng.random((4, 2))
    own = [None if rng.random() < 0.3 else float(rng.random()) for _ in range(9)]
    gp = GP(Matern52(0.4, 1.7), 2, mean=0.3, noise=0.2)
    for i, x in enumerate(X):
        gp.expect(i, x)
    watched = gp.at(at)
    order = [late, *(i for i in range(9) if i != late)]
    for i in order[:7]:
        gp.observe(i, float(y[i]), own[i])
    for i in order[7:]:
        gp.forget(i)
    some = order[:7]
    noises = np.array([0.2 if own[i] is None else own[i] for i in some])
    mu, sigma = dense(gp, X[some], y[some], noises, at)
    assert_allclose(gp.noises, noises)
    for found in (gp.posterior(at), np.transpose([watched.mean_std(i) for i in range(4)])):
        assert_allclose(found[0], mu, atol=1e-8)
        assert_allclose(found[1], sigma, atol=1e-6)
    assert_allclose(gp.smoothed(), dense(gp, X[some], y[some], noises, X[some])[0], atol=1e-8)


@pytest.mark.parametrize("noise", ["learn", 0.05])
def test_the_gradient_by_the_nugget_counts_the_weights(noise):
    rng = np.random.default_rng(1)
    X, weights, extra = rng.random((25, 2)), rng.random(25), 0.1 * rng.random(25)
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(25)
    evidence = Evidence(Matern52(1.0), X, y, noise=noise, weights=weights, extra=extra)
    theta = np.log([0.4, 0.7, 0.03])
    _, gradient, _, _ = evidence(theta)
    for d, h in enumerate(1e-6 * np.eye(3)):
        by_difference = (evidence(theta + h)[0] - evidence(theta - h)[0]) / 2e-6
        assert gradient[d] == pytest.approx(by_difference, rel=1e-5, abs=1e-6)


def test_a_fit_that_knows_the_variances_is_not_misled_by_the_worst_rows():
    rng = np.random.default_rng(4)
    X = rng.random((80, 1))
    noises = np.where(rng.random(80) < 0.5, 4.0, 1e-4)
    y = np.sin(6 * X[:, 0]) + np.sqrt(noises) * rng.standard_normal(80)
    known = fit(Matern52, X, y, [np.array([0.5, 0.5])], noise=2.0, weights=noises / 2.0)
    even = fit(Matern52, X, y, [np.array([0.5, 0.5])], noise=2.0)
    at = np.linspace(0, 1, 50)[:, None]
    errors = []
    for learned, rows in ((known, noises), (even, np.full(80, 2.0))):
        gp = GP(learned.kernel, 1, learned.mean)
        for i, x in enumerate(X):
            gp.expect(i, x)
            gp.observe(i, float(y[i]), float(rows[i]))
        errors.append(np.sqrt(np.mean((gp.posterior(at)[0] - np.sin(6 * at[:, 0])) ** 2)))
    assert errors[0] < 0.1 < errors[1]


def test_transforms_scale_a_variance_by_the_square_of_their_slope():
    linear = Linear(100.0, 0.25, 0.5)
    for transform in (linear, Bent(linear, 1.2, 0.1, 0.3, 2.0)):
        for value in (-80.0, 0.0, 60.0):
            slope = (transform(value + 1e-4) - transform(value - 1e-4)) / 2e-4
            assert transform.variance(9.0, value) == pytest.approx(9.0 * slope**2, rel=1e-5)


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
    assert opt.result.nfailed == 1


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
    assert told == [{"values": [1.0]}, {"values": [2.0], "variance": 0.5}]
